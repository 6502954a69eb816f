// Writes Avro's binary encoding.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sluice::formats::avro {

/// The most that a number takes.
constexpr size_t kMaxLongBytes = 10;

/// A zigzag number; returns the end. Up to kMaxLongBytes are written.
inline char* PutLong(int64_t value, char* out) {
  uint64_t bits = static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63);
  while (bits >= 0x80) {
    *out++ = static_cast<char>(bits | 0x80);
    bits >>= 7;
  }
  *out++ = static_cast<char>(bits);
  return out;
}

inline void PutLong(int64_t value, std::string* out) {
  char bytes[kMaxLongBytes];
  out->append(bytes, PutLong(value, bytes));
}

/// Bytes behind their length.
inline void PutSized(std::string_view bytes, std::string* out) {
  PutLong(static_cast<int64_t>(bytes.size()), out);
  out->append(bytes);
}

}  // namespace sluice::formats::avro
