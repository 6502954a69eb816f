#include "formats/orc/run_length.h"

#include <algorithm>
#include <bit>

#include "common/varint.h"

namespace sluice::formats::orc_format {

namespace {

int64_t AddWrapping(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

// Widths in bits by their code of five bits (specification, "Run Length Encoding v2").
constexpr std::array<int, 32> kWidths = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11,
                                         12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22,
                                         23, 24, 26, 28, 30, 32, 40, 48, 56, 64};

// Writers tell of values of runs that are still open, at most a few hundred.
constexpr size_t kMostSkippedValues = 4096;

int BitCount(uint64_t value) { return static_cast<int>(std::bit_width(value)); }

// Least code whose width holds `bits`.
uint32_t WidthCode(int bits) {
  return static_cast<uint32_t>(std::lower_bound(kWidths.begin(), kWidths.end(), bits) -
                               kWidths.begin());
}

// Values of a fixed number of bits, most significant first.
class BitUnpacker {
 public:
  explicit BitUnpacker(StreamInput* input) : input_(input) {}
  uint64_t Next(int width) {
    uint64_t value = 0;
    while (width > 0) {
      if (bits_left_ == 0) {
        byte_ = input_->ReadByte();
        bits_left_ = 8;
      }
      const int taken = std::min(width, bits_left_);
      bits_left_ -= taken;
      value = value << taken | (byte_ >> bits_left_ & ((1U << taken) - 1));
      width -= taken;
    }
    return value;
  }

 private:
  StreamInput* const input_;
  uint32_t byte_ = 0;
  int bits_left_ = 0;
};

class IntegerDecoderV1 final : public IntegerDecoder {
 public:
  IntegerDecoderV1(StreamInput* input, bool is_signed) : IntegerDecoder(input, is_signed) {}

 private:
  void NextRun() override {
    const auto control = static_cast<int8_t>(input_->ReadByte());
    if (control < 0) {
      run_length_ = static_cast<size_t>(-control);
      for (size_t i = 0; i < run_length_; ++i) run_[i] = ReadValue();
      return;
    }
    run_length_ = static_cast<size_t>(control) + 3;
    const auto step = static_cast<int8_t>(input_->ReadByte());
    int64_t value = ReadValue();
    for (size_t i = 0; i < run_length_; ++i) {
      run_[i] = value;
      value = AddWrapping(value, step);
    }
  }
};

class IntegerDecoderV2 final : public IntegerDecoder {
 public:
  IntegerDecoderV2(StreamInput* input, bool is_signed) : IntegerDecoder(input, is_signed) {}

 private:
  void NextRun() override {
    const uint8_t first = input_->ReadByte();
    switch (first >> 6) {
      case 0:
        return ShortRepeat(first);
      case 1:
        return Direct(first);
      case 2:
        return PatchedBase(first);
      default:
        return Delta(first);
    }
  }

  int64_t Decoded(uint64_t value) const {
    return is_signed_ ? FromZigzag(value) : static_cast<int64_t>(value);
  }

  uint64_t ReadBigEndian(int bytes) {
    uint64_t value = 0;
    for (int i = 0; i < bytes; ++i) value = value << 8 | input_->ReadByte();
    return value;
  }

  void ReadLength(uint8_t first) {
    run_length_ = (static_cast<size_t>(first & 1) << 8 | input_->ReadByte()) + 1;
  }

  void ShortRepeat(uint8_t first) {
    const int bytes = (first >> 3 & 7) + 1;
    run_length_ = static_cast<size_t>(first & 7) + 3;
    const int64_t value = Decoded(ReadBigEndian(bytes));
    std::fill_n(run_.begin(), run_length_, value);
  }

  void Direct(uint8_t first) {
    const int width = kWidths[first >> 1 & 31];
    ReadLength(first);
    BitUnpacker bits(input_);
    for (size_t i = 0; i < run_length_; ++i) run_[i] = Decoded(bits.Next(width));
  }

  void PatchedBase(uint8_t first) {
    const int width = kWidths[first >> 1 & 31];
    ReadLength(first);
    const uint8_t third = input_->ReadByte();
    const uint8_t fourth = input_->ReadByte();
    const int base_bytes = (third >> 5) + 1;
    const int patch_width = kWidths[third & 31];
    const int gap_width = (fourth >> 5) + 1;
    const int patch_count = fourth & 31;
    // The first bit of the base is its sign.
    const uint64_t stored = ReadBigEndian(base_bytes);
    const uint64_t sign = uint64_t{1} << (base_bytes * 8 - 1);
    const auto magnitude = static_cast<int64_t>(stored & (sign - 1));
    const int64_t base = (stored & sign) != 0 ? -magnitude : magnitude;
    BitUnpacker bits(input_);
    for (size_t i = 0; i < run_length_; ++i) run_[i] = static_cast<int64_t>(bits.Next(width));
    ApplyPatches(width, patch_width, gap_width, patch_count);
    for (size_t i = 0; i < run_length_; ++i) run_[i] = AddWrapping(run_[i], base);
  }

  void ApplyPatches(int width, int patch_width, int gap_width, int patch_count) {
    if (patch_width + gap_width > 64 || width + patch_width > 64) {
      return input_->Fail("a patched run has patches of more than 64 bits");
    }
    const int entry_width = kWidths[WidthCode(patch_width + gap_width)];
    BitUnpacker bits(input_);
    size_t at = 0;
    for (int i = 0; i < patch_count; ++i) {
      const uint64_t entry = bits.Next(entry_width);
      at += static_cast<size_t>(entry >> patch_width & ((uint64_t{1} << gap_width) - 1));
      const uint64_t patch = patch_width == 64 ? entry : entry & ((uint64_t{1} << patch_width) - 1);
      if (at >= run_length_) return input_->Fail("a patched run has a patch behind its end");
      run_[at] |= static_cast<int64_t>(patch << width);
    }
  }

  void Delta(uint8_t first) {
    const uint32_t code = first >> 1 & 31;
    const int width = code == 0 ? 0 : kWidths[code];
    ReadLength(first);
    int64_t value = ReadValue();
    const int64_t first_step = ReadSignedVarint();
    run_[0] = value;
    if (run_length_ == 1) return;
    run_[1] = value = AddWrapping(value, first_step);
    BitUnpacker bits(input_);
    for (size_t i = 2; i < run_length_; ++i) {
      if (width == 0) {
        value = AddWrapping(value, first_step);
      } else {
        const uint64_t step = bits.Next(width);
        value = static_cast<int64_t>(first_step < 0 ? static_cast<uint64_t>(value) - step
                                                    : static_cast<uint64_t>(value) + step);
      }
      run_[i] = value;
    }
  }
};

}  // namespace

void ByteRunDecoder::Seek(PositionCursor* positions) {
  input_->Seek(positions);
  left_ = 0;
  const uint64_t skipped = positions->Next();
  if (skipped > kMostSkippedValues) return input_->Fail("the row index points far into a run");
  for (uint64_t i = 0; i < skipped; ++i) Next();
}

void BitDecoder::Seek(PositionCursor* positions) {
  bytes_.Seek(positions);
  const auto taken = static_cast<int>(std::min<uint64_t>(positions->Next(), 8));
  bits_left_ = 0;
  if (taken == 0) return;
  byte_ = bytes_.Next();
  bits_left_ = 8 - taken;
}

uint8_t ByteRunDecoder::Next() {
  if (left_ == 0) {
    const auto control = static_cast<int8_t>(input_->ReadByte());
    repeats_ = control >= 0;
    left_ = repeats_ ? control + 3 : -control;
    if (repeats_) value_ = input_->ReadByte();
  }
  --left_;
  return repeats_ ? value_ : input_->ReadByte();
}

int64_t IntegerDecoder::ReadSignedVarint() { return FromZigzag(input_->ReadVarint()); }

void IntegerDecoder::Seek(PositionCursor* positions) {
  input_->Seek(positions);
  run_length_ = 0;
  run_at_ = 0;
  const uint64_t skipped = positions->Next();
  if (skipped > kMostSkippedValues) return input_->Fail("the row index points far into a run");
  std::array<int64_t, kMostSkippedValues> values;
  Read(values.data(), static_cast<int64_t>(skipped));
}

void IntegerDecoder::Read(int64_t* out, int64_t count) {
  while (count > 0) {
    if (run_at_ == run_length_) {
      if (input_->failed()) {
        std::fill_n(out, count, 0);
        return;
      }
      run_at_ = 0;
      NextRun();
    }
    const auto piece = std::min<int64_t>(count, static_cast<int64_t>(run_length_ - run_at_));
    std::copy_n(run_.begin() + static_cast<std::ptrdiff_t>(run_at_), piece, out);
    run_at_ += static_cast<size_t>(piece);
    out += piece;
    count -= piece;
  }
}

std::unique_ptr<IntegerDecoder> MakeIntegerDecoder(StreamInput* input, EncodingKind encoding,
                                                   bool is_signed) {
  if (encoding == EncodingKind::kDirect || encoding == EncodingKind::kDictionary)
    return std::make_unique<IntegerDecoderV1>(input, is_signed);
  return std::make_unique<IntegerDecoderV2>(input, is_signed);
}

namespace {

constexpr size_t kLeastRepeats = 3;
constexpr size_t kMostByteRepeats = 130;
constexpr size_t kMostByteLiterals = 128;

// Bytes equal to the first of `bytes`.
size_t EqualBytes(std::string_view bytes) {
  const size_t end = bytes.find_first_not_of(bytes[0]);
  return std::min(end == std::string_view::npos ? bytes.size() : end, kMostByteRepeats);
}

}  // namespace

Status ByteRunEncoder::Append(uint8_t value) {
  pending_.push_back(static_cast<char>(value));
  constexpr size_t kPendingBytes = 4096;
  return pending_.size() < kPendingBytes ? Status() : Flush();
}

Status ByteRunEncoder::Flush() {
  std::string out;
  std::string_view rest = pending_;
  while (!rest.empty()) {
    const size_t repeats = EqualBytes(rest);
    if (repeats >= kLeastRepeats) {
      out.push_back(static_cast<char>(repeats - kLeastRepeats));
      out.push_back(rest[0]);
      rest.remove_prefix(repeats);
      continue;
    }
    size_t count = repeats;
    while (count < rest.size() && count < kMostByteLiterals &&
           EqualBytes(rest.substr(count)) < kLeastRepeats) {
      ++count;
    }
    count = std::min(count, kMostByteLiterals);
    out.push_back(static_cast<char>(-static_cast<int>(count)));
    out += rest.substr(0, count);
    rest.remove_prefix(count);
  }
  pending_.clear();
  return output_->Append(out);
}

Status BitEncoder::Append(bool value) {
  byte_ = static_cast<uint8_t>(byte_ << 1 | (value ? 1 : 0));
  if (++bits_ < 8) return {};
  bits_ = 0;
  return bytes_.Append(std::exchange(byte_, uint8_t{0}));
}

Status BitEncoder::AppendRun(bool value, int64_t count) {
  for (; count > 0 && bits_ != 0; --count) SLUICE_RETURN_NOT_OK(Append(value));
  for (; count >= 8; count -= 8) SLUICE_RETURN_NOT_OK(bytes_.Append(value ? 0xFF : 0));
  for (; count > 0; --count) SLUICE_RETURN_NOT_OK(Append(value));
  return {};
}

Status BitEncoder::AppendPosition(std::vector<uint64_t>* positions) {
  SLUICE_RETURN_NOT_OK(bytes_.Flush());
  output_.AppendPosition(positions);
  positions->push_back(0);  // The byte that follows begins a run.
  positions->push_back(static_cast<uint64_t>(bits_));
  return {};
}

Result<std::string> BitEncoder::Finish() {
  if (bits_ > 0) {
    SLUICE_RETURN_NOT_OK(bytes_.Append(static_cast<uint8_t>(byte_ << (8 - bits_))));
    byte_ = 0;
    bits_ = 0;
  }
  SLUICE_RETURN_NOT_OK(bytes_.Flush());
  return output_.Finish();
}

namespace {

constexpr size_t kMostShortRepeats = 10;
constexpr size_t kMostRunValues = 512;
// A run of equal values or of constant steps pays off from here on inside packed values.
constexpr size_t kLeastSteps = 8;

uint8_t HeaderByte(uint32_t encoding, uint32_t width_code, size_t count) {
  return static_cast<uint8_t>(encoding << 6 | width_code << 1 | (count - 1) >> 8);
}

}  // namespace

size_t IntegerEncoder::RepeatsAt(size_t at) const {
  const size_t limit = std::min(pending_.size(), at + kMostRunValues);
  size_t end = at + 1;
  while (end < limit && pending_[end] == pending_[at]) ++end;
  return end - at;
}

size_t IntegerEncoder::StepsAt(size_t at) const {
  const size_t limit = std::min(pending_.size(), at + kMostRunValues);
  if (at + 1 >= limit) return 1;
  int64_t step = 0;
  if (__builtin_sub_overflow(pending_[at + 1], pending_[at], &step)) return 1;
  size_t end = at + 2;
  int64_t next = 0;
  while (end < limit && !__builtin_add_overflow(pending_[end - 1], step, &next) &&
         next == pending_[end]) {
    ++end;
  }
  return end - at;
}

void IntegerEncoder::AppendRepeats(int64_t value, size_t count, std::string* out) const {
  const uint64_t coded = Coded(value);
  const int bytes = std::max(1, (BitCount(coded) + 7) / 8);
  out->push_back(static_cast<char>((bytes - 1) << 3 | static_cast<int>(count - kLeastRepeats)));
  for (int i = bytes - 1; i >= 0; --i) out->push_back(static_cast<char>(coded >> (8 * i)));
}

void IntegerEncoder::AppendSteps(size_t at, size_t count, std::string* out) const {
  out->push_back(static_cast<char>(HeaderByte(3, 0, count)));
  out->push_back(static_cast<char>(count - 1));
  AppendVarint(Coded(pending_[at]), out);
  const int64_t step = pending_[at + 1] - pending_[at];
  AppendVarint(Zigzag(step), out);
}

void IntegerEncoder::AppendPacked(size_t at, size_t count, std::string* out) const {
  uint64_t all = 0;
  for (size_t i = at; i < at + count; ++i) all |= Coded(pending_[i]);
  const uint32_t code = WidthCode(std::max(1, BitCount(all)));
  const int width = kWidths[code];
  out->push_back(static_cast<char>(HeaderByte(1, code, count)));
  out->push_back(static_cast<char>(count - 1));
  uint32_t byte = 0;
  int room = 8;
  for (size_t i = at; i < at + count; ++i) {
    const uint64_t value = Coded(pending_[i]);
    for (int left = width; left > 0;) {
      const int taken = std::min(left, room);
      left -= taken;
      room -= taken;
      byte |= static_cast<uint32_t>(value >> left & ((1U << taken) - 1)) << room;
      if (room > 0) continue;
      out->push_back(static_cast<char>(byte));
      byte = 0;
      room = 8;
    }
  }
  if (room < 8) out->push_back(static_cast<char>(byte));
}

size_t IntegerEncoder::AppendRun(size_t at, std::string* out) const {
  const size_t repeats = RepeatsAt(at);
  if (repeats >= kLeastRepeats && repeats <= kMostShortRepeats) {
    AppendRepeats(pending_[at], repeats, out);
    return repeats;
  }
  const size_t steps = std::max(repeats, StepsAt(at));
  if (steps >= kLeastSteps) {
    AppendSteps(at, steps, out);
    return steps;
  }
  const size_t limit = std::min(pending_.size() - at, kMostRunValues);
  size_t count = 1;
  while (count < limit && RepeatsAt(at + count) < kLeastSteps && StepsAt(at + count) < kLeastSteps)
    ++count;
  AppendPacked(at, count, out);
  return count;
}

Status IntegerEncoder::Flush() {
  std::string out;
  for (size_t at = 0; at < pending_.size();) at += AppendRun(at, &out);
  pending_.clear();
  return output_.Append(out);
}

Status IntegerEncoder::AppendPosition(std::vector<uint64_t>* positions) {
  SLUICE_RETURN_NOT_OK(Flush());
  output_.AppendPosition(positions);
  positions->push_back(0);  // The value that follows begins a run.
  return {};
}

Result<std::string> IntegerEncoder::Finish() {
  SLUICE_RETURN_NOT_OK(Flush());
  return output_.Finish();
}

}  // namespace sluice::formats::orc_format
