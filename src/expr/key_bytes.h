// Keys as bytes and as hashes. Both are the same on every machine and in every release: state and
// routing depend on them.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>

#include <arrow/array/array_base.h>

namespace sluice::expr {

inline uint64_t MixHash(uint64_t a, uint64_t b) {
  const unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

// Odd constants with about as many ones as zeros.
constexpr uint64_t kHashSeed = 0x9E3779B97F4A7C15;
constexpr uint64_t kHashSecond = 0xD6E8FEB86659FD93;
constexpr uint64_t kNullHash = 0xA0761D6478BD642F;

inline uint64_t HashWord(uint64_t value) { return MixHash(value ^ kHashSeed, kHashSecond); }

inline uint64_t LoadWord(const char* from) {
  uint64_t word;
  std::memcpy(&word, from, 8);
  return word;
}

/// Bytes in blocks of sixteen; the rest is read with zeros behind it.
inline uint64_t HashBytes(std::string_view bytes) {
  const char* at = bytes.data();
  size_t left = bytes.size();
  uint64_t hash = kHashSeed ^ (left * kHashSecond);
  for (; left > 16; at += 16, left -= 16) {
    hash = MixHash(LoadWord(at) ^ kHashSecond, LoadWord(at + 8) ^ hash);
  }
  uint64_t first = 0;
  uint64_t second = 0;
  if (left >= 8) {
    first = LoadWord(at);
    std::memcpy(&second, at + 8, left - 8);
  } else {
    std::memcpy(&first, at, left);
  }
  return MixHash(first ^ kHashSecond ^ hash, second ^ kHashSeed ^ (hash << 1));
}

/// Joins the hash of one more key column.
inline uint64_t CombineHash(uint64_t hash, uint64_t column) {
  return MixHash(hash ^ column, kHashSecond) + kHashSeed;
}

/// The bits of a floating number as a key: every NaN is one, and -0.0 is 0.0.
template <typename T>
inline uint64_t FloatKey(T value) {
  if (value == 0) value = 0;
  if (std::isnan(value)) value = std::numeric_limits<T>::quiet_NaN();
  using Word = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  return std::bit_cast<Word>(value);
}

/// Appends values[row] so that equal values, and only those, give equal bytes. NULL is a value of
/// its own. Any type.
void AppendKeyBytes(const arrow::Array& values, int64_t row, std::string* out);

}  // namespace sluice::expr
