// Which rows a generator makes, and the random numbers that belong to them.
//
// A random value is a function of (seed, column, row), not of what was made before: with a seed
// given, a table holds the same rows whatever the parallelism, the size of batches and the number
// of restarts.
#pragma once

#include <cstdint>
#include <string_view>

namespace sluice::connectors {

/// Rows first, first + stride, first + 2 * stride, …; `count` of them in all. For elements of
/// nested values each row stands for `inner` consecutive element numbers: row * inner, row * inner
/// + 1, …
struct RowRange {
  int64_t first = 0;
  int64_t stride = 1;
  int64_t row_count = 0;
  int64_t inner = 1;

  int64_t count() const { return row_count * inner; }
  /// The range of elements when each of these has `length` of them.
  RowRange Elements(int64_t length) const { return {first, stride, row_count, inner * length}; }
};

/// Calls `function(position, number)` for each element of `range`: position counts from 0, number
/// identifies the element in the table.
template <typename Function>
void ForEach(const RowRange& range, Function function) {
  auto number = static_cast<uint64_t>(range.first) * static_cast<uint64_t>(range.inner);
  const uint64_t step = static_cast<uint64_t>(range.stride) * static_cast<uint64_t>(range.inner);
  if (range.inner == 1) {
    for (int64_t i = 0; i < range.row_count; ++i, number += step) function(i, number);
    return;
  }
  int64_t position = 0;
  for (int64_t row = 0; row < range.row_count; ++row, number += step) {
    for (int64_t i = 0; i < range.inner; ++i)
      function(position++, number + static_cast<uint64_t>(i));
  }
}

/// splitmix64's finaliser (Steele, Lea and Flood): 64 well-mixed bits of any number.
constexpr uint64_t MixBits(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

/// Random numbers of one purpose (the values of a column, its NULLs, its lengths).
class RandomStream {
 public:
  RandomStream(uint64_t seed, std::string_view purpose) : base_(seed) {
    for (const char c : purpose) base_ = MixBits(base_ + static_cast<unsigned char>(c) + kStep);
  }
  uint64_t At(uint64_t number) const { return MixBits(base_ + (number + 1) * kStep); }

 private:
  static constexpr uint64_t kStep =
      0x9E3779B97F4A7C15ull;  // 2^64 / golden ratio: visits all numbers evenly.
  uint64_t base_;
};

/// `bits` spread over [0, span); span 0 stands for 2^64.
constexpr uint64_t ScaleTo(uint64_t bits, uint64_t span) {
  return span == 0 ? bits
                   : static_cast<uint64_t>((static_cast<unsigned __int128>(bits) * span) >> 64);
}

/// In the open interval (0, 1).
constexpr double ScaleToUnit(uint64_t bits) {
  return (static_cast<double>(bits >> 11) + 0.5) * 0x1.0p-53;
}

}  // namespace sluice::connectors
