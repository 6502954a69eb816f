// Bloom filters of ORC: which values a stride may hold (ORC specification v1, "Bloom Filter
// Index").
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <arrow/util/decimal.h>

#include "formats/orc/metadata.h"
#include "formats/orc/wire.h"

namespace sluice::formats::orc_format {

/// Hashes of values as every ORC library computes them: whole numbers and days, reals (floats as
/// doubles), texts and bytes.
uint64_t HashOfInteger(int64_t value);
uint64_t HashOfReal(double value);
uint64_t HashOfBytes(std::string_view bytes);
/// Times: milliseconds toward the past, of a wall time as if it were UTC.
uint64_t HashOfMoment(const Moment& moment);
/// Decimals: the text without zeros at its end. `scale` is above 0: for whole numbers the libraries
/// of Java and C++ differ ("100" and "1").
uint64_t HashOfDecimal(const arrow::Decimal128& value, int scale);

class BloomFilter {
 public:
  /// For writing: holds up to `values` values with a share of `wrong` false answers.
  BloomFilter(int64_t values, double wrong);
  /// One stride's message; nullopt when it is damaged or in a form that is not read.
  static std::optional<BloomFilter> Parse(std::string_view message);

  void Add(uint64_t hash);
  /// False only when no value with this hash was added.
  bool MayContain(uint64_t hash) const;
  void Write(WireWriter* out) const;

 private:
  BloomFilter(std::vector<uint64_t> words, uint32_t functions)
      : words_(std::move(words)), functions_(functions) {}
  /// Bit `number` (from 1) of those that stand for `hash`.
  uint64_t Bit(uint64_t hash, uint32_t number) const;

  std::vector<uint64_t> words_;
  uint32_t functions_;
};

}  // namespace sluice::formats::orc_format
