#include "common/snappy.h"

#include <array>
#include <bit>
#include <cstring>

namespace sluice {

namespace {

static_assert(std::endian::native == std::endian::little);

// The low two bits of an element's first byte (github.com/google/snappy, format_description.txt).
constexpr uint32_t kLiteral = 0;
constexpr uint32_t kCopyFourByteOffset = 3;
constexpr size_t kLongestShortLiteral = 60;  // Of longer ones the length stands in bytes behind.

struct CopyTag {
  uint8_t length;
  uint8_t offset_bytes;  // Behind the first byte.
  uint16_t offset_high;  // What the first byte has of the offset.
};

constexpr std::array<CopyTag, 256> MakeCopyTags() {
  std::array<CopyTag, 256> tags{};
  for (uint32_t tag = 0; tag < 256; ++tag) {
    const uint32_t kind = tag & 3;
    if (kind == 1) {
      tags[tag] = {static_cast<uint8_t>((tag >> 2 & 7) + 4), 1,
                   static_cast<uint16_t>(tag >> 5 << 8)};
    } else if (kind != kLiteral) {
      tags[tag] = {static_cast<uint8_t>((tag >> 2) + 1), static_cast<uint8_t>(kind == 2 ? 2 : 4),
                   0};
    }
  }
  return tags;
}

constexpr std::array<CopyTag, 256> kCopyTags = MakeCopyTags();

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

/// Elements as long as both ends are far away. What comes next is found in a register, for a short
/// literal and the copy behind it in the same one: the way from an element's first byte to that of
/// the next is what the time is spent on.
__attribute__((always_inline)) inline bool FastElements(Cursor& cursor) {
  Cursor at = cursor;  // Lives in registers.
  const uint8_t* const in_limit = at.in_end - kInMargin;
  const uint8_t* const out_limit = at.out_end - kOutMargin;
  while (at.in < in_limit && at.out < out_limit) {
    uint64_t word = Word(at.in);
    uint32_t tag = word & 0xFF;
    if ((tag & 3) == kLiteral) {
      const size_t length = (tag >> 2) + 1;
      if (length > kLongestShortLiteral) {
        if (!LongLiteral(at, word, length)) return false;
        continue;
      }
      if (length <= 4) {
        Copy8(at.out, at.in + 1);
        word >>= 8 * (1 + length);  // Leaves three bytes, which most copies have.
      } else {
        length <= 16 ? Copy16(at.out, at.in + 1) : Copy64(at.out, at.in + 1);
        word = Word(at.in + 1 + length);
      }
      at.in += 1 + length;
      at.out += length;
      tag = word & 0xFF;
      if ((tag & 3) == kLiteral) continue;
    }
    const CopyTag copy = kCopyTags[tag];
    size_t offset_bytes = tag & 3;  // Not by the table: a look-up more on that way.
    if (offset_bytes == kCopyFourByteOffset) [[unlikely]] {
      word = Word(at.in);
      offset_bytes = 4;
    }
    const size_t offset = (word >> 8 & ((uint64_t{1} << 8 * offset_bytes) - 1)) + copy.offset_high;
    at.in += 1 + offset_bytes;
    if (!at.Reaches(offset)) return false;
    if (offset < 16) [[unlikely]] {
      CopyPattern(at.out, offset, copy.length);
    } else {
      copy.length <= 16 ? Copy16(at.out, at.out - offset) : Copy64(at.out, at.out - offset);
    }
    at.out += copy.length;
  }
  cursor.in = at.in;
  cursor.out = at.out;
  return true;
}

bool FastElementsBaseline(Cursor& at) { return FastElements(at); }

#if defined(__x86_64__)
/// Shifts by a register take one instruction instead of three.
__attribute__((target("bmi,bmi2"))) bool FastElementsBmi2(Cursor& at) { return FastElements(at); }
#endif

bool FastElementsHere(Cursor& at) {
#if defined(__x86_64__)
  static const bool has_bmi2 =
      __builtin_cpu_supports("bmi") != 0 && __builtin_cpu_supports("bmi2") != 0;
  if (has_bmi2) return FastElementsBmi2(at);
#endif
  return FastElementsBaseline(at);
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
    const CopyTag copy = kCopyTags[tag];
    if (copy.offset_bytes > at.in_left()) return false;
    std::memcpy(&behind, at.in, copy.offset_bytes);
    at.in += copy.offset_bytes;
    const size_t offset = size_t{behind} + copy.offset_high;
    if (!at.Reaches(offset) || copy.length > at.out_left()) return false;
    for (const uint8_t* const end = at.out + copy.length; at.out < end; ++at.out)
      *at.out = *(at.out - offset);
  }
  return at.out == at.out_end;
}

/// The size that a block begins with; false when it is none.
bool TakeSize(Cursor& at, uint64_t* size) {
  *size = 0;
  for (int shift = 0; shift < 35; shift += 7) {
    if (at.in == at.in_end) return false;
    const uint8_t byte = *at.in++;
    *size |= static_cast<uint64_t>(byte & 0x7F) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

}  // namespace

bool DecompressSnappy(std::string_view compressed, uint8_t* out, size_t size) {
  const auto* const in = reinterpret_cast<const uint8_t*>(compressed.data());
  Cursor at{in, in + compressed.size(), out, out, out + size};
  uint64_t stated = 0;
  if (!TakeSize(at, &stated) || stated != size) return false;
  if (at.in_left() > kInMargin && size > kOutMargin && !FastElementsHere(at)) return false;
  return LastElements(at);
}

}  // namespace sluice
