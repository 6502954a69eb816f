// Files and values of state: whatever bytes are read, the answer is a value or a reason, and what
// was written is read back.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/check.h"
#include "runtime/checkpoint/checkpoint_file.h"
#include "runtime/checkpoint/record_file.h"
#include "runtime/state.h"

namespace {

using namespace sluice::runtime;  // NOLINT: one small file.

/// Pieces of the input between 0xFF bytes.
std::vector<std::string> Pieces(std::string_view text) {
  std::vector<std::string> pieces;
  while (true) {
    const size_t at = text.find('\xFF');
    pieces.emplace_back(text.substr(0, at));
    if (at == std::string_view::npos) return pieces;
    text.remove_prefix(at + 1);
  }
}

void RoundTrip(const std::vector<std::string>& records) {
  const sluice::Result<std::string> file = EncodeRecordFile(records);
  SLUICE_CHECK(file.ok(), "records that cannot be written");
  const auto read = DecodeRecordFile(*file, "fuzz");
  SLUICE_CHECK(read.ok() && read->size() == records.size(), "records that cannot be read back");
  for (size_t i = 0; i < records.size(); ++i)
    SLUICE_CHECK((*read)[i] == records[i], "a record changed");
  // The same file with one byte changed is refused, or its records are untouched.
  std::string damaged = *file;
  damaged[damaged.size() / 2] ^= 0x20;
  SLUICE_CHECK(!DecodeRecordFile(damaged, "fuzz").ok(), "a damaged file was taken");
  SLUICE_CHECK(!DecodeRecordFile(std::string_view(*file).substr(0, file->size() - 1), "fuzz").ok(),
               "a cut file was taken");
}

void ReadFields(const std::vector<std::string>& values) {
  StateFields fields;
  for (size_t i = 0; i < values.size() && i < 8; ++i) fields["f" + std::to_string(i)] = values[i];
  const StateReader reader("fuzz", fields);
  for (const auto& [name, value] : fields) {
    (void)reader.GetI64(name).ok();
    (void)reader.GetBytes(name).ok();
    const auto strings = reader.GetStrings(name);
    if (!strings.ok()) continue;
    StateWriter writer;
    writer.PutStrings("again", *strings);
    const StateFields again = std::move(writer).Take();
    const auto read = StateReader("fuzz", again).GetStrings("again");
    SLUICE_CHECK(read.ok() && *read == *strings, "a list of texts changed");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view input(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::vector<std::string> pieces = Pieces(input);
  switch (data[0] % 4) {
    case 0:
      (void)DecodeRecordFile(input, "fuzz").ok();
      break;
    case 1:
      RoundTrip(pieces);
      break;
    case 2:
      ReadFields(pieces);
      break;
    default: {
      // Checksums that fit, so that what stands behind them is reached.
      const size_t half = pieces.size() / 2;
      const auto metadata =
          EncodeRecordFile({pieces.begin(), pieces.begin() + static_cast<std::ptrdiff_t>(half)});
      const auto state =
          EncodeRecordFile({pieces.begin() + static_cast<std::ptrdiff_t>(half), pieces.end()});
      (void)DecodeCheckpoint(*metadata, *state, "fuzz").ok();
      (void)DecodeCheckpoint(input, *state, "fuzz").ok();
    }
  }
  return 0;
}
