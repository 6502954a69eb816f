// Compressed text: whatever bytes stand in such a file, it is read or refused, and what was
// compressed comes back.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <arrow/buffer.h>
#include <arrow/io/memory.h>

#include "common/check.h"
#include "connectors/filesystem/compression/compressed_input.h"
#include "connectors/filesystem/compression/compressed_part.h"

namespace {

using namespace sluice::connectors::filesystem;  // NOLINT: one small file.

constexpr size_t kMostBytes = 1 << 20;  // A bomb is read no further.

/// The decompressed bytes, or nothing when the stream is damaged.
std::optional<std::string> Decompress(Compression compression, std::string_view bytes,
                                      size_t piece) {
  auto file =
      std::make_shared<arrow::io::BufferReader>(arrow::Buffer::FromString(std::string(bytes)));
  auto stream = MakeDecompressedStream(file, compression);
  SLUICE_CHECK(stream.ok(), stream.status().ToString());
  std::string text;
  std::string buffer(piece, '\0');
  while (text.size() < kMostBytes) {
    const auto count = (*stream)->Read(buffer.data(), buffer.size());
    if (!count.ok()) return std::nullopt;
    SLUICE_CHECK(*count <= piece, "more was read than there is room");
    if (*count == 0) return text;
    text.append(buffer, 0, *count);
  }
  return std::nullopt;
}

std::string Compress(Compression compression, std::string_view text) {
  auto encoder = MakeMemberEncoder(compression);
  SLUICE_CHECK(encoder.ok(), encoder.status().ToString());
  std::string bytes;
  SLUICE_CHECK((*encoder)->Encode(text.substr(0, text.size() / 2), false, &bytes).ok(), "encode");
  SLUICE_CHECK((*encoder)->Encode(text.substr(text.size() / 2), true, &bytes).ok(), "end");
  return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static constexpr Compression kAll[] = {Compression::kDeflate, Compression::kGzip,
                                         Compression::kBzip2, Compression::kXz, Compression::kZstd};
  if (size < 2) return 0;
  const Compression compression = kAll[data[0] % 5];
  const size_t piece = size_t{1} << data[1] % 16;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 2, size - 2);
  (void)Decompress(compression, bytes, piece);
  if ((data[0] & 0x80) == 0) return 0;  // Compressors take most of the time.
  const std::string once = Compress(compression, bytes);
  SLUICE_CHECK(Decompress(compression, once, piece) == bytes, "what was compressed is lost");
  if (!CanBeContinued(compression)) return 0;
  const auto twice = Decompress(compression, once + once, piece);
  SLUICE_CHECK(twice && twice->size() == 2 * bytes.size(), "the second member is lost");
  return 0;
}
