#include "connectors/kafka/fetch/unpack.h"

#include <algorithm>

#include <arrow/util/compression.h>

#include "connectors/kafka/fetch/wire.h"
#include "types/arrow_status.h"

namespace sluice::connectors::kafka::fetch {
namespace {

using BufferPtr = std::unique_ptr<arrow::ResizableBuffer>;

Status Damaged(std::string_view codec, std::string_view why) {
  return Status::DataError("The " + std::string(codec) +
                           " data of a record batch is damaged: " + std::string(why) + ".");
}

Status TooLarge(std::string_view codec, int64_t limit_bytes) {
  return Damaged(codec, "it unpacks to more than " + std::to_string(limit_bytes) + " bytes");
}

const uint8_t* BytesOf(std::string_view text) {
  return reinterpret_cast<const uint8_t*>(text.data());
}

/// gzip, lz4 and zstd: frames, possibly several. The output grows with what is really there.
Result<std::shared_ptr<arrow::Buffer>> UnpackFrames(arrow::Compression::type type,
                                                    std::string_view name, std::string_view packed,
                                                    arrow::MemoryPool* pool, int64_t limit_bytes) {
  SLUICE_ASSIGN_ARROW(const auto codec, arrow::util::Codec::Create(type));
  SLUICE_ASSIGN_ARROW(const auto stream, codec->MakeDecompressor());
  const int64_t first =
      std::clamp<int64_t>(static_cast<int64_t>(packed.size()) * 4, 4 << 10, limit_bytes + 1);
  SLUICE_ASSIGN_ARROW(BufferPtr out, arrow::AllocateResizableBuffer(first, pool));
  int64_t used = 0;
  while (!packed.empty() || !stream->IsFinished()) {
    if (stream->IsFinished()) SLUICE_RETURN_ARROW(stream->Reset());
    const int64_t room = out->size() - used;
    if (room == 0) {
      if (used > limit_bytes) return TooLarge(name, limit_bytes);
      SLUICE_RETURN_ARROW(out->Resize(std::min(used * 2, limit_bytes + 1), false));
      continue;
    }
    const auto step = stream->Decompress(static_cast<int64_t>(packed.size()), BytesOf(packed), room,
                                         out->mutable_data() + used);
    if (!step.ok()) return Damaged(name, "it holds other bytes");
    packed.remove_prefix(static_cast<size_t>(step->bytes_read));
    used += step->bytes_written;
    const bool stuck = step->bytes_read == 0 && step->bytes_written == 0;
    if (stuck && !stream->IsFinished()) return Damaged(name, "it ends early");
  }
  if (used > limit_bytes) return TooLarge(name, limit_bytes);
  SLUICE_RETURN_ARROW(out->Resize(used, false));
  return std::shared_ptr<arrow::Buffer>(std::move(out));
}

/// The length that plain snappy data begins with; -1 when it cannot be.
int64_t SnappyLength(std::string_view packed) {
  uint64_t length = 0;
  for (size_t i = 0; i < packed.size() && i < 5; ++i) {
    const auto byte = static_cast<uint8_t>(packed[i]);
    length |= static_cast<uint64_t>(byte & 0x7f) << (7 * i);
    if (byte >= 0x80) continue;
    // Three bytes of input give at most 64 of output.
    const bool possible = length <= packed.size() * 32 + 64;
    return possible ? static_cast<int64_t>(length) : -1;
  }
  return -1;
}

Status AppendSnappy(arrow::util::Codec& codec, std::string_view packed, int64_t limit_bytes,
                    arrow::ResizableBuffer* out) {
  const int64_t length = SnappyLength(packed);
  if (length < 0) return Damaged("snappy", "its length cannot be");
  const int64_t used = out->size();
  if (used + length > limit_bytes) return TooLarge("snappy", limit_bytes);
  SLUICE_RETURN_ARROW(out->Resize(used + length, false));
  const auto written = codec.Decompress(static_cast<int64_t>(packed.size()), BytesOf(packed),
                                        length, out->mutable_data() + used);
  if (!written.ok() || *written != length) return Damaged("snappy", "it holds other bytes");
  return {};
}

Result<std::shared_ptr<arrow::Buffer>> UnpackSnappy(std::string_view packed,
                                                    arrow::MemoryPool* pool, int64_t limit_bytes) {
  // "snappy-java" puts this and two version numbers before blocks of its own.
  constexpr std::string_view kJavaMagic("\x82SNAPPY\0", 8);
  constexpr size_t kJavaHeaderBytes = 16;
  SLUICE_ASSIGN_ARROW(const auto codec, arrow::util::Codec::Create(arrow::Compression::SNAPPY));
  SLUICE_ASSIGN_ARROW(BufferPtr out, arrow::AllocateResizableBuffer(0, pool));
  if (!packed.starts_with(kJavaMagic) || packed.size() < kJavaHeaderBytes) {
    SLUICE_RETURN_NOT_OK(AppendSnappy(*codec, packed, limit_bytes, out.get()));
    return std::shared_ptr<arrow::Buffer>(std::move(out));
  }
  WireReader reader(packed.substr(kJavaHeaderBytes));
  while (reader.left() > 0) {
    const std::string_view block = reader.Bytes(reader.I32());
    if (!reader.ok()) return Damaged("snappy", "it ends early");
    SLUICE_RETURN_NOT_OK(AppendSnappy(*codec, block, limit_bytes, out.get()));
  }
  return std::shared_ptr<arrow::Buffer>(std::move(out));
}

}  // namespace

Result<std::shared_ptr<arrow::Buffer>> Unpack(Compression compression, std::string_view packed,
                                              arrow::MemoryPool* pool, int64_t limit_bytes) {
  switch (compression) {
    case Compression::kGzip:
      return UnpackFrames(arrow::Compression::GZIP, "gzip", packed, pool, limit_bytes);
    case Compression::kSnappy:
      return UnpackSnappy(packed, pool, limit_bytes);
    case Compression::kLz4:
      return UnpackFrames(arrow::Compression::LZ4_FRAME, "lz4", packed, pool, limit_bytes);
    case Compression::kZstd:
      return UnpackFrames(arrow::Compression::ZSTD, "zstd", packed, pool, limit_bytes);
    case Compression::kNone:
      break;
  }
  return Status::DataError("Record batch with the unknown compression " +
                           std::to_string(static_cast<int>(compression)) + ".");
}

}  // namespace sluice::connectors::kafka::fetch
