#include "formats/orc/block_stream.h"

#include <algorithm>
#include <cstring>

#include <zstd.h>

#include "formats/orc/stride_positions.h"
#include "types/arrow_status.h"

namespace sluice::formats::orc_format {

namespace {

constexpr uint64_t kMostBlockBytes = 8 << 20;
constexpr size_t kHeaderBytes = 3;
// How much memory a length in a file is trusted for before its bytes have been seen.
constexpr size_t kTrustedBytes = 1 << 20;

Result<std::unique_ptr<arrow::util::Codec>> MakeCodec(Compression compression, bool thorough) {
  using Codec = arrow::Compression;
  switch (compression) {
    case Compression::kZlib: {
      arrow::util::GZipCodecOptions options;
      options.gzip_format = arrow::util::GZipFormat::DEFLATE;
      options.compression_level = thorough ? 6 : 2;  // As ORC's Java library does.
      return FromArrow(arrow::util::Codec::Create(Codec::GZIP, options));
    }
    case Compression::kSnappy:
      return FromArrow(arrow::util::Codec::Create(Codec::SNAPPY));
    case Compression::kLz4:
      return FromArrow(arrow::util::Codec::Create(Codec::LZ4));
    case Compression::kZstd:
      return FromArrow(arrow::util::Codec::Create(Codec::ZSTD, thorough ? 9 : 3));
    case Compression::kNone:
      return std::unique_ptr<arrow::util::Codec>();
    default:
      return Status::DataError(std::string("The ORC file is compressed with ") +
                               (compression == Compression::kLzo ? "LZO" : "Brotli") +
                               ", which is not available. Write it with NONE, ZLIB, SNAPPY, LZ4 or "
                               "ZSTD.");
  }
}

const uint8_t* Data(std::string_view bytes) {
  return reinterpret_cast<const uint8_t*>(bytes.data());
}

}  // namespace

Result<std::shared_ptr<const BlockCodec>> BlockCodec::Make(Compression compression,
                                                           uint64_t block_bytes, bool thorough) {
  SLUICE_ASSIGN_OR_RETURN(auto codec, MakeCodec(compression, thorough));
  if (codec != nullptr && (block_bytes == 0 || block_bytes > kMostBlockBytes)) {
    return Status::DataError("The ORC file is damaged: it tells of compression blocks of " +
                             std::to_string(block_bytes) + " bytes.");
  }
  return std::shared_ptr<const BlockCodec>(new BlockCodec(
      std::move(codec), compression == Compression::kZstd, static_cast<size_t>(block_bytes)));
}

Result<size_t> BlockCodec::Decompress(std::string_view stored, std::string* content) const {
  auto* const out = reinterpret_cast<uint8_t*>(content->data());
  // Arrow's wants to know the size of the content, which blocks do not tell.
  if (is_zstd_) {
    const size_t size = ZSTD_decompress(out, content->size(), stored.data(), stored.size());
    if (ZSTD_isError(size) == 0) return size;
    return Status::DataError(std::string("zstd says: ") + ZSTD_getErrorName(size));
  }
  SLUICE_ASSIGN_ARROW(const int64_t size,
                      codec_->Decompress(static_cast<int64_t>(stored.size()), Data(stored),
                                         static_cast<int64_t>(content->size()), out));
  return static_cast<size_t>(std::max<int64_t>(size, 0));
}

Status BlockCodec::AppendBlock(std::string_view content, std::string* out) const {
  if (codec_ == nullptr) {
    *out += content;
    return {};
  }
  const auto length = static_cast<int64_t>(content.size());
  const size_t header = out->size();
  const auto room = static_cast<size_t>(codec_->MaxCompressedLen(length, Data(content)));
  out->resize(header + kHeaderBytes + room);
  auto* const target = reinterpret_cast<uint8_t*>(out->data() + header);
  SLUICE_ASSIGN_ARROW(
      const int64_t compressed,
      codec_->Compress(length, Data(content), static_cast<int64_t>(room), target + kHeaderBytes));
  const bool stored = compressed >= length;
  if (stored) std::memcpy(target + kHeaderBytes, content.data(), content.size());
  const auto kept = static_cast<uint32_t>(stored ? length : compressed);
  const uint32_t tag = kept << 1 | (stored ? 1 : 0);
  for (size_t i = 0; i < kHeaderBytes; ++i) target[i] = static_cast<uint8_t>(tag >> (8 * i));
  out->resize(header + kHeaderBytes + kept);
  return {};
}

Status BlockCodec::TakeBlock(std::string_view* bytes, std::string* content) const {
  if (codec_ == nullptr) {
    content->assign(*bytes);
    bytes->remove_prefix(bytes->size());
    return {};
  }
  if (bytes->size() < kHeaderBytes) return Status::DataError("a block is cut off");
  const uint8_t* const header = Data(*bytes);
  const uint32_t tag = header[0] | uint32_t{header[1]} << 8 | uint32_t{header[2]} << 16;
  const size_t length = tag >> 1;
  bytes->remove_prefix(kHeaderBytes);
  if (length > bytes->size()) return Status::DataError("a block is cut off");
  const std::string_view stored = bytes->substr(0, length);
  bytes->remove_prefix(length);
  if ((tag & 1) != 0) {
    content->assign(stored);
    return {};
  }
  content->resize(block_bytes_);
  const Result<size_t> size = Decompress(stored, content);
  if (!size.ok())
    return Status::DataError("a block cannot be decompressed: " + size.status().message());
  content->resize(std::min(*size, block_bytes_));
  return {};
}

Result<std::string> BlockCodec::DecodeAll(std::string_view bytes, size_t most_bytes) const {
  std::string all;
  std::string block;
  while (!bytes.empty()) {
    SLUICE_RETURN_NOT_OK(TakeBlock(&bytes, &block));
    if (all.size() + block.size() > most_bytes)
      return Status::DataError("its content has more than " + std::to_string(most_bytes) +
                               " bytes");
    all += block;
  }
  return all;
}

Result<std::string> BlockCodec::EncodeAll(std::string_view content) const {
  StreamOutput output(this);
  SLUICE_RETURN_NOT_OK(output.Append(content));
  return output.Finish();
}

StreamInput::StreamInput(std::shared_ptr<arrow::Buffer> bytes,
                         std::shared_ptr<const BlockCodec> codec)
    : bytes_(std::move(bytes)), codec_(std::move(codec)) {
  if (bytes_ != nullptr) rest_ = {bytes_->data_as<char>(), static_cast<size_t>(bytes_->size())};
}

void StreamInput::Seek(PositionCursor* positions) {
  const uint64_t offset = positions->Next();
  const uint64_t in_block = codec_->compresses() ? positions->Next() : 0;
  const std::string_view all =
      bytes_ == nullptr
          ? std::string_view()
          : std::string_view(bytes_->data_as<char>(), static_cast<size_t>(bytes_->size()));
  block_ = {};
  at_ = 0;
  rest_ = {};
  if (offset > all.size()) return Fail("the row index points behind a stream");
  rest_ = all.substr(offset);
  if (in_block == 0 || !NextBlock()) return;
  if (in_block > block_.size()) return Fail("the row index points behind a block");
  at_ = in_block;
}

bool StreamInput::NextBlock() {
  at_ = 0;
  block_ = {};
  while (block_.empty()) {
    if (failed()) return false;
    if (rest_.empty()) {
      Fail("a stream ends too early");
      return false;
    }
    if (!codec_->compresses()) {
      block_ = std::exchange(rest_, {});
      break;
    }
    Status status = codec_->TakeBlock(&rest_, &scratch_);
    if (!status.ok()) {
      status_ = std::move(status);
      return false;
    }
    block_ = scratch_;
  }
  return true;
}

size_t StreamInput::TakeVarint(char* bytes, size_t most) {
  for (size_t count = 0; count < most;) {
    const uint8_t byte = ReadByte();
    bytes[count++] = static_cast<char>(byte);
    if (byte < 0x80) return count;
  }
  return most;
}

void StreamInput::Read(uint8_t* out, size_t count) {
  while (count > 0) {
    if (at_ == block_.size() && !NextBlock()) {
      std::memset(out, 0, count);
      return;
    }
    const size_t piece = std::min(count, block_.size() - at_);
    std::memcpy(out, block_.data() + at_, piece);
    at_ += piece;
    out += piece;
    count -= piece;
  }
}

void StreamInput::AppendTo(std::string* out, size_t count) {
  out->reserve(out->size() + std::min(count, kTrustedBytes));
  while (count > 0) {
    if (at_ == block_.size() && !NextBlock()) return;
    const size_t piece = std::min(count, block_.size() - at_);
    out->append(block_.data() + at_, piece);
    at_ += piece;
    count -= piece;
  }
}

Status StreamOutput::Append(std::string_view bytes) {
  if (!codec_->compresses()) {
    done_ += bytes;
    return {};
  }
  while (!bytes.empty()) {
    const size_t piece = std::min(bytes.size(), codec_->block_bytes() - open_.size());
    open_ += bytes.substr(0, piece);
    bytes.remove_prefix(piece);
    if (open_.size() < codec_->block_bytes()) break;
    SLUICE_RETURN_NOT_OK(codec_->AppendBlock(open_, &done_));
    open_.clear();
  }
  return {};
}

void StreamOutput::AppendPosition(std::vector<uint64_t>* positions) const {
  positions->push_back(done_.size());
  if (codec_->compresses()) positions->push_back(open_.size());
}

Result<std::string> StreamOutput::Finish() {
  if (!open_.empty()) SLUICE_RETURN_NOT_OK(codec_->AppendBlock(open_, &done_));
  open_.clear();
  return std::exchange(done_, {});
}

}  // namespace sluice::formats::orc_format
