#include "common/snappy.h"

#include <array>
#include <bit>
#include <cstring>

#include "common/varint.h"

namespace sluice {

namespace {

static_assert(std::endian::native == std::endian::little);

// The low two bits of an element's first byte (github.com/google/snappy, format_description.txt).
constexpr uint32_t kLiteral = 0;
constexpr uint32_t kCopyFourByteOffset = 3;
constexpr size_t kLongestShortLiteral = 60;  // Of longer ones the length stands in bytes behind.

/// By the first byte of a copy: its length, at 0x700 what the byte has of the offset.
constexpr std::array<uint16_t, 256> MakeCopies() {
  std::array<uint16_t, 256> copies{};
  for (uint32_t tag = 0; tag < 256; ++tag) {
    const bool is_short = (tag & 3) == 1;
    copies[tag] =
        static_cast<uint16_t>(is_short ? (tag >> 2 & 7) + 4 + (tag >> 5 << 8) : (tag >> 2) + 1);
  }
  return copies;
}

constexpr std::array<uint16_t, 256> kCopies = MakeCopies();
constexpr size_t LengthOf(size_t copy) { return copy & 0xFF; }
constexpr size_t OffsetHighOf(size_t copy) { return copy & 0x700; }
// By kind: what stands behind the first byte.
constexpr uint64_t kOffsetMasks[] = {0, 0xFF, 0xFFFF, 0xFFFFFFFF};
constexpr size_t kOffsetBytes[] = {0, 1, 2, 4};

inline uint64_t Word(const uint8_t* at) {
  uint64_t word = 0;
  std::memcpy(&word, at, sizeof(word));
  return word;
}

inline void Copy8(uint8_t* to, const uint8_t* from) {
  const uint64_t word = Word(from);
  std::memcpy(to, &word, sizeof(word));
}

inline void Copy16(uint8_t* to, const uint8_t* from) {
  unsigned __int128 wide = 0;
  std::memcpy(&wide, from, sizeof(wide));
  std::memcpy(to, &wide, sizeof(wide));
}

/// 64 bytes in steps of 16: what a step writes, a later one may read.
inline void Copy64(uint8_t* to, const uint8_t* from) {
  for (int i = 0; i < 64; i += 16) Copy16(to + i, from + i);
}

/// What repeats every `offset` (1 to 15) bytes. Writes up to seven bytes more.
inline void CopyPattern(uint8_t* to, size_t offset, size_t length) {
  uint8_t* const end = to + length;
  const uint8_t* const from = to - offset;
  while (offset < 8) {  // What is there twice repeats as well every two offsets.
    Copy8(to, from);
    to += offset;
    offset *= 2;
  }
  for (; to < end; to += 8) Copy8(to, to - offset);
}

struct Cursor {
  explicit Cursor(const SnappyBlock& block)
      : in(reinterpret_cast<const uint8_t*>(block.compressed.data())),
        in_end(in + block.compressed.size()),
        out_begin(block.out),
        out(block.out),
        out_end(block.out + block.size) {}

  void Move(const Cursor& to) {
    in = to.in;
    out = to.out;
  }

  const uint8_t* in;
  const uint8_t* const in_end;
  uint8_t* const out_begin;
  uint8_t* out;
  uint8_t* const out_end;

  size_t in_left() const { return static_cast<size_t>(in_end - in); }
  size_t out_left() const { return static_cast<size_t>(out_end - out); }
  bool Reaches(size_t offset) const {  // 0 becomes the greatest number.
    return offset - 1 < static_cast<size_t>(out - out_begin);
  }

  bool Literal(size_t length) {
    if (length > in_left() || length > out_left()) return false;
    std::memcpy(out, in, length);
    in += length;
    out += length;
    return true;
  }
};

// How far from the ends one round of FastElements may be: it reads and writes in large steps. A
// literal and a copy write 60 + 64 + 7 bytes at most, a round reads 1 + 64 + 8.
constexpr size_t kInMargin = 80;
constexpr size_t kOutMargin = 144;

/// A literal whose length stands behind its first byte, which `word` begins with.
inline bool LongLiteral(Cursor& at, uint64_t word, size_t code) {
  const size_t length_bytes = code - kLongestShortLiteral;
  const uint64_t length = (word >> 8 & ((uint64_t{1} << 8 * length_bytes) - 1)) + 1;
  at.in += 1 + length_bytes;
  return at.Literal(length);
}

/// The literal that `word` begins with, of more than four bytes.
__attribute__((always_inline)) inline bool Literal(Cursor& at, uint64_t word) {
  const size_t length = (word >> 2 & 0x3F) + 1;
  if (length > kLongestShortLiteral) [[unlikely]]
    return LongLiteral(at, word, length);
  length <= 16 ? Copy16(at.out, at.in + 1) : Copy64(at.out, at.in + 1);
  at.in += 1 + length;
  at.out += length;
  return true;
}

/// The next element. A literal of up to four bytes and the copy behind it come out of one word: the
/// way from the first byte of such a pair to that of the next is what the time is spent on, ten
/// cycles here. False when it is damaged.
__attribute__((always_inline)) inline bool FastElement(Cursor& at) {
  uint64_t word = Word(at.in);
  if ((word & 0xF3) == kLiteral) {
    const uint64_t bytes = word >> 8;
    std::memcpy(at.out, &bytes, sizeof(bytes));
    const size_t bits = (word & 0x0C) * 2;  // Of all bytes but one.
    word >>= bits + 16;                     // Leaves three bytes, which most copies have.
    at.in += bits / 8 + 2;
    at.out += bits / 8 + 1;
    if ((word & 3) == kLiteral) return true;
  } else if ((word & 3) == kLiteral) {
    return Literal(at, word);
  }
  const size_t copy = kCopies[word & 0xFF];
  const size_t kind = word & 3;
  size_t offset = (word >> 8 & kOffsetMasks[kind]) + OffsetHighOf(copy);
  if (kind == kCopyFourByteOffset) [[unlikely]] {
    offset = Word(at.in) >> 8 & kOffsetMasks[kind];
    ++at.in;
  }
  at.in += 1 + kind;  // Not by a table: that would be longer a way.
  if (!at.Reaches(offset)) [[unlikely]]
    return false;
  if (offset < 16) [[unlikely]] {
    CopyPattern(at.out, offset, LengthOf(copy));
  } else {
    LengthOf(copy) <= 16 ? Copy16(at.out, at.out - offset) : Copy64(at.out, at.out - offset);
  }
  at.out += LengthOf(copy);
  return true;
}

/// Where FastElement must end.
struct Limits {
  explicit Limits(const Cursor& at)
      : in(at.in_left() > kInMargin ? at.in_end - kInMargin : at.in),
        out(at.out_left() > kOutMargin ? at.out_end - kOutMargin : at.out) {}
  bool Has(const Cursor& at) const { return at.in < in && at.out < out; }

  const uint8_t* const in;
  const uint8_t* const out;
};

/// Elements as long as both ends are far away.
__attribute__((always_inline)) inline bool FastElements(Cursor* cursor) {
  Cursor at = *cursor;  // Lives in registers.
  const Limits limits(at);
  while (limits.Has(at)) {
    if (!FastElement(at)) return false;
  }
  cursor->Move(at);
  return true;
}

/// The same of two blocks in turn: while one waits for its next element, the other goes on.
__attribute__((always_inline)) inline bool FastElements(Cursor* first, Cursor* second) {
  Cursor one = *first;
  Cursor two = *second;
  const Limits limits_one(one);
  const Limits limits_two(two);
  while (limits_one.Has(one) && limits_two.Has(two)) {
    if (!FastElement(one) || !FastElement(two)) return false;
  }
  first->Move(one);
  second->Move(two);
  return true;
}

bool Baseline(Cursor* at) { return FastElements(at); }
bool Baseline(Cursor* first, Cursor* second) { return FastElements(first, second); }

#if defined(__x86_64__)
#define SLUICE_TARGET_BMI2 __attribute__((target("bmi,bmi2")))

/// Shifts by a register take one instruction instead of three.
SLUICE_TARGET_BMI2 bool WithBmi2(Cursor* at) { return FastElements(at); }
SLUICE_TARGET_BMI2 bool WithBmi2(Cursor* first, Cursor* second) {
  return FastElements(first, second);
}
#endif

template <typename... Cursors>
bool FastElementsHere(Cursors... cursors) {
#if defined(__x86_64__)
  static const bool has_bmi2 =
      __builtin_cpu_supports("bmi") != 0 && __builtin_cpu_supports("bmi2") != 0;
  if (has_bmi2) return WithBmi2(cursors...);
#endif
  return Baseline(cursors...);
}

/// The rest, checked byte by byte.
bool LastElements(Cursor& at) {
  while (at.in < at.in_end) {
    const uint8_t tag = *at.in++;
    uint32_t behind = 0;
    if ((tag & 3) == kLiteral) {
      size_t length = static_cast<size_t>(tag >> 2) + 1;
      if (length > kLongestShortLiteral) {
        const size_t length_bytes = length - kLongestShortLiteral;
        if (length_bytes > at.in_left()) return false;
        std::memcpy(&behind, at.in, length_bytes);
        at.in += length_bytes;
        length = static_cast<size_t>(behind) + 1;
      }
      if (!at.Literal(length)) return false;
      continue;
    }
    const size_t copy = kCopies[tag];
    const size_t offset_bytes = kOffsetBytes[tag & 3];
    if (offset_bytes > at.in_left()) return false;
    std::memcpy(&behind, at.in, offset_bytes);
    at.in += offset_bytes;
    const size_t offset = size_t{behind} + OffsetHighOf(copy);
    if (!at.Reaches(offset) || LengthOf(copy) > at.out_left()) return false;
    for (const uint8_t* const end = at.out + LengthOf(copy); at.out < end; ++at.out)
      *at.out = *(at.out - offset);
  }
  return at.out == at.out_end;
}

/// Takes the size that a block begins with; false when it is another one.
bool TakeSize(Cursor& at) {
  uint32_t size = 0;
  return ReadVarint(&at.in, at.in_end, &size) == VarintRead::kWhole && size == at.out_left();
}

}  // namespace

bool DecompressSnappy(const SnappyBlock& block) {
  Cursor at(block);
  return TakeSize(at) && FastElementsHere(&at) && LastElements(at);
}

bool DecompressSnappyPair(const SnappyBlock& first, const SnappyBlock& second) {
  Cursor one(first);
  Cursor two(second);
  // The longer one has elements left.
  return TakeSize(one) && TakeSize(two) && FastElementsHere(&one, &two) && FastElementsHere(&one) &&
         LastElements(one) && FastElementsHere(&two) && LastElements(two);
}

}  // namespace sluice
