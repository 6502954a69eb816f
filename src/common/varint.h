// Whole numbers in groups of seven bits, least first, as Thrift, ORC, Parquet and Kafka write them.
#pragma once

#include <cstdint>
#include <string>

namespace sluice {

inline void AppendVarint(uint64_t value, std::string* out) {
  for (; value >= 0x80; value >>= 7) out->push_back(static_cast<char>(value | 0x80));
  out->push_back(static_cast<char>(value));
}

/// Numbers with a sign as numbers without one, those near zero small: 0, -1, 1, -2 …
constexpr uint64_t Zigzag(int64_t value) {
  return static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63);
}

}  // namespace sluice
