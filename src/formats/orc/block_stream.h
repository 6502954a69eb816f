// Streams of an ORC file: bytes cut into blocks, each compressed when that makes it smaller.
//
// A block is a header of three bytes (length * 2, plus 1 when stored as it is) and its bytes. Files
// without compression have neither blocks nor headers.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/util/compression.h>

#include "common/result.h"
#include "common/varint.h"
#include "formats/orc/metadata.h"

namespace sluice::formats::orc_format {

/// Compresses and decompresses blocks. Thread-safe once made.
class BlockCodec {
 public:
  /// Fails with kDataError for codecs that are not at hand (LZO, Brotli) and for blocks of more
  /// than 8 MiB, which a header cannot tell.
  /// `thorough`: smaller rather than soon.
  static Result<std::shared_ptr<const BlockCodec>> Make(Compression compression,
                                                        uint64_t block_bytes,
                                                        bool thorough = false);

  bool compresses() const { return codec_ != nullptr; }
  size_t block_bytes() const { return block_bytes_; }

  /// Appends header and content of one block of at most block_bytes().
  Status AppendBlock(std::string_view content, std::string* out) const;
  /// Takes the first block off `bytes` and puts its content into `content`. With no compression all
  /// bytes are one block. Fails with kDataError.
  Status TakeBlock(std::string_view* bytes, std::string* content) const;
  /// All blocks of a short stream, at most `most_bytes` of content.
  Result<std::string> DecodeAll(std::string_view bytes, size_t most_bytes) const;
  /// The bytes of a short stream as blocks.
  Result<std::string> EncodeAll(std::string_view content) const;

 private:
  BlockCodec(std::unique_ptr<arrow::util::Codec> codec, bool is_zstd, size_t block_bytes)
      : codec_(std::move(codec)), is_zstd_(is_zstd), block_bytes_(block_bytes) {}
  Result<size_t> Decompress(std::string_view stored, std::string* content) const;

  const std::unique_ptr<arrow::util::Codec> codec_;  // Null: no compression.
  const bool is_zstd_;
  const size_t block_bytes_;
};

class PositionCursor;

/// Reads a stream from its start. After a failure every read gives zeros and status() tells what
/// was wrong: the loops of decoders stay free of checks.
class StreamInput {
 public:
  StreamInput(std::shared_ptr<arrow::Buffer> bytes, std::shared_ptr<const BlockCodec> codec);

  const Status& status() const { return status_; }
  bool failed() const { return !status_.ok(); }

  /// Goes where the next numbers of a row index tell.
  void Seek(PositionCursor* positions);
  /// How many they are: byte of the block and byte in its content; without compression one.
  size_t position_count() const { return codec_->compresses() ? 2 : 1; }

  uint8_t ReadByte() {
    if (at_ == block_.size() && !NextBlock()) return 0;
    return static_cast<uint8_t>(block_[at_++]);
  }
  /// A number without a sign, of as many bits as its type has.
  template <typename Number = uint64_t>
  Number ReadVarint() {
    Number value = 0;
    const char* at = block_.data() + at_;
    VarintRead read = sluice::ReadVarint(&at, block_.data() + block_.size(), &value);
    at_ = static_cast<size_t>(at - block_.data());
    if (read == VarintRead::kCut) {  // It goes on in the next block.
      char bytes[kMaxVarintBytes<Number>];
      at = bytes;
      read = sluice::ReadVarint(&at, bytes + TakeVarint(bytes, sizeof(bytes)), &value);
    }
    if (read != VarintRead::kWhole)
      Fail("a number has more than " + std::to_string(sizeof(Number) * 8) + " bits");
    return value;
  }
  void Read(uint8_t* out, size_t count);
  /// Appends `count` bytes, no more memory than bytes are there.
  void AppendTo(std::string* out, size_t count);
  void Fail(std::string reason) {
    if (status_.ok()) status_ = Status::DataError(std::move(reason));
  }

 private:
  bool NextBlock();
  /// Takes bytes up to the last one of a number, `most` at most; returns their count.
  size_t TakeVarint(char* bytes, size_t most);

  const std::shared_ptr<arrow::Buffer> bytes_;
  const std::shared_ptr<const BlockCodec> codec_;
  std::string_view rest_;  // Blocks not yet taken.
  std::string scratch_;    // Content of the current block, when it had to be decompressed.
  std::string_view block_;
  size_t at_ = 0;
  Status status_;
};

/// Gathers a stream for writing.
class StreamOutput {
 public:
  explicit StreamOutput(const BlockCodec* codec) : codec_(codec) {}

  Status Append(std::string_view bytes);
  /// Where the next byte will be, as row indexes tell it: offset of the block and offset in its
  /// content; without compression one offset.
  void AppendPosition(std::vector<uint64_t>* positions) const;
  /// Bytes held.
  size_t size() const { return done_.size() + open_.size(); }
  /// Hands the bytes out and begins anew.
  Result<std::string> Finish();

 private:
  const BlockCodec* const codec_;
  std::string done_;  // Ended blocks.
  std::string open_;  // Content of the block that is not full yet.
};

}  // namespace sluice::formats::orc_format
