// The run-length encodings of ORC: bytes, bits, and integers in both versions.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "formats/orc/block_stream.h"
#include "formats/orc/stride_positions.h"

namespace sluice::formats::orc_format {

/// Runs of equal bytes and literal bytes.
class ByteRunDecoder {
 public:
  explicit ByteRunDecoder(StreamInput* input) : input_(input) {}
  uint8_t Next();
  void Seek(PositionCursor* positions);
  size_t position_count() const { return input_->position_count() + 1; }

 private:
  StreamInput* const input_;
  int left_ = 0;
  bool repeats_ = false;
  uint8_t value_ = 0;
};

/// Bits, most significant first, in byte runs.
class BitDecoder {
 public:
  explicit BitDecoder(StreamInput* input) : bytes_(input) {}
  bool Next() {
    if (bits_left_ == 0) {
      byte_ = bytes_.Next();
      bits_left_ = 8;
    }
    return (byte_ >> --bits_left_ & 1) != 0;
  }
  void Seek(PositionCursor* positions);
  size_t position_count() const { return bytes_.position_count() + 1; }

 private:
  ByteRunDecoder bytes_;
  uint8_t byte_ = 0;
  int bits_left_ = 0;
};

/// Integers in runs. Values of a failed input are zeros.
class IntegerDecoder {
 public:
  virtual ~IntegerDecoder() = default;
  /// Fills `out` with the next `count` values.
  void Read(int64_t* out, int64_t count);
  void Seek(PositionCursor* positions);
  size_t position_count() const { return input_->position_count() + 1; }

 protected:
  IntegerDecoder(StreamInput* input, bool is_signed) : input_(input), is_signed_(is_signed) {}
  static constexpr size_t kLongestRun = 512;
  /// Decodes the next run into run_ and sets run_length_ (above zero).
  virtual void NextRun() = 0;
  int64_t ReadSignedVarint();
  int64_t ReadValue() {
    return is_signed_ ? ReadSignedVarint() : static_cast<int64_t>(input_->ReadVarint());
  }

  StreamInput* const input_;
  const bool is_signed_;
  std::array<int64_t, kLongestRun> run_;
  size_t run_length_ = 0;

 private:
  size_t run_at_ = 0;
};

/// The decoder of a column's encoding: version 1 for kDirect and kDictionary, 2 for the others.
std::unique_ptr<IntegerDecoder> MakeIntegerDecoder(StreamInput* input, EncodingKind encoding,
                                                   bool is_signed);

/// Encodes bytes in runs.
class ByteRunEncoder {
 public:
  explicit ByteRunEncoder(StreamOutput* output) : output_(output) {}
  Status Append(uint8_t value);
  /// Ends the open run, so that the next value begins one.
  Status Flush();

 private:
  StreamOutput* const output_;
  std::string pending_;
};

/// Encodes bits.
class BitEncoder {
 public:
  explicit BitEncoder(const BlockCodec* codec) : output_(codec), bytes_(&output_) {}
  Status Append(bool value);
  Status AppendRun(bool value, int64_t count);
  /// Position of the next bit: stream, place in the run of bytes, bit.
  Status AppendPosition(std::vector<uint64_t>* positions);
  size_t size() const { return output_.size(); }
  Result<std::string> Finish();

 private:
  StreamOutput output_;
  ByteRunEncoder bytes_;
  uint8_t byte_ = 0;
  int bits_ = 0;
};

/// Encodes integers in runs of version 2: repeats, constant steps and packed values.
class IntegerEncoder {
 public:
  IntegerEncoder(const BlockCodec* codec, bool is_signed) : output_(codec), is_signed_(is_signed) {}
  Status Append(int64_t value) {
    pending_.push_back(value);
    return pending_.size() < kPendingValues ? Status() : Flush();
  }
  /// Ends the open run and appends the position of the next value.
  Status AppendPosition(std::vector<uint64_t>* positions);
  size_t size() const { return output_.size() + pending_.size() * sizeof(int64_t); }
  Result<std::string> Finish();

 private:
  static constexpr size_t kPendingValues = 4096;
  Status Flush();
  size_t AppendRun(size_t at, std::string* out) const;
  size_t RepeatsAt(size_t at) const;
  size_t StepsAt(size_t at) const;
  void AppendRepeats(int64_t value, size_t count, std::string* out) const;
  void AppendSteps(size_t at, size_t count, std::string* out) const;
  void AppendPacked(size_t at, size_t count, std::string* out) const;
  uint64_t Coded(int64_t value) const {
    const auto bits = static_cast<uint64_t>(value);
    return is_signed_ ? bits << 1 ^ static_cast<uint64_t>(value >> 63) : bits;
  }

  StreamOutput output_;
  const bool is_signed_;
  std::vector<int64_t> pending_;
};

}  // namespace sluice::formats::orc_format
