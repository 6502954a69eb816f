// The files that Sluice leaves in tables for itself and the values it keeps in checkpoints about
// them: whatever bytes are read, the answer is a value or a reason, and a value that was read is
// written and read again to the same.
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/check.h"
#include "connectors/filesystem/partition/merge_journal.h"
#include "connectors/filesystem/partition/overwrite_marker.h"
#include "connectors/filesystem/sink/table_record.h"
#include "connectors/filesystem/sink/writer_state.h"
#include "connectors/filesystem/source/file_split.h"
#include "connectors/filesystem/source/processed_paths.h"
#include "runtime/state.h"

namespace {

using namespace sluice::connectors::filesystem;  // NOLINT: one small file.
using sluice::runtime::StateFields;
using sluice::runtime::StateReader;
using sluice::runtime::StateWriter;

/// `decode` gives a Result of what `encode` takes.
template <typename Decode, typename Encode>
void CheckComesBack(std::string_view bytes, Decode decode, Encode encode) {
  const auto value = decode(bytes);
  if (!value.ok()) return;
  const std::string once = encode(*value);
  const auto again = decode(once);
  SLUICE_CHECK(again.ok(), "what was written is not read: " + again.status().ToString());
  SLUICE_CHECK(encode(*again) == once, "what was written changes");
}

std::string EncodeRecords(const std::vector<TableRecord>& records) {
  std::string lines;
  for (const TableRecord& record : records) lines += EncodeRecord(record);
  return lines;
}

void CheckSegment(std::string_view bytes) {
  const auto segment = PathSegment::Decode(std::string(bytes));
  if (!segment.ok()) return;
  PathSegment::Cursor cursor(*segment);
  size_t count = 0;
  while (const PathEntry* const entry = cursor.Next()) {
    SLUICE_CHECK(segment->Find(entry->key) == entry->mark, "a key is not found");
    ++count;
  }
  SLUICE_CHECK(count == segment->size() && !cursor.failed(), "entries are missing");
}

/// Keys close to each other and far apart, from bytes that no checksum guards.
void CheckMadeSegment(std::string_view bytes) {
  std::map<PathKey, uint16_t> entries;
  PathKey key;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    key.hash += uint64_t{byte} << byte % 57;
    key.more_hash = static_cast<uint16_t>(key.more_hash + byte);
    entries.emplace(key, byte);
  }
  if (entries.empty()) return;
  std::vector<PathEntry> sorted;
  for (const auto& [one, mark] : entries) sorted.push_back({one, mark});
  const PathSegment segment = PathSegment::Make(sorted);
  SLUICE_CHECK(PathSegment::Decode(segment.bytes()).ok(), "a made segment is not read");
  for (const PathEntry& entry : sorted)
    SLUICE_CHECK(segment.Find(entry.key) == entry.mark, "a made key is not found");
  CheckSegment(segment.bytes());
}

void CheckPaths(std::string_view bytes) {
  StateWriter writer;
  ProcessedPaths().Snapshot(&writer);
  StateFields fields = std::move(writer).Take();
  // Bytes for one field after the other: what is beside it stays what it should be.
  for (const auto& [name, value] : fields) {
    StateFields changed = fields;
    changed[name] = bytes;
    ProcessedPaths paths;
    if (!paths.Restore(StateReader("fuzz", changed)).ok()) continue;
    sluice::fs::FileInfo file;
    file.path = "/table/file";
    (void)paths.Look(file);
    SLUICE_CHECK(paths.Look(file) == ProcessedPaths::Seen::kSame, "a path is forgotten");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 8) {
    case 0:
      CheckComesBack(bytes, &ParseJournal, &EncodeJournal);
      break;
    case 1:
      CheckComesBack(bytes, &DecodeOverwriteMarker, &EncodeOverwriteMarker);
      break;
    case 2:
      CheckComesBack(bytes, &ParseRecords, &EncodeRecords);
      break;
    case 3:
      CheckComesBack(bytes, &DecodeOpenFile, &EncodeOpenFile);
      break;
    case 4:
      CheckComesBack(bytes, &DecodeSplit, &EncodeSplit);
      break;
    case 5:
      CheckPaths(bytes);
      break;
    case 6:
      CheckSegment(bytes);
      break;
    default:
      CheckMadeSegment(bytes);
  }
  return 0;
}
