// Writes Avro's binary encoding.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/varint.h"

namespace sluice::formats::avro {

/// The most that a number takes.
constexpr size_t kMaxLongBytes = kMaxVarintBytes<uint64_t>;

/// A zigzag number; returns the end. Up to kMaxLongBytes are written.
inline char* PutLong(int64_t value, char* out) { return PutVarint(Zigzag(value), out); }

inline void PutLong(int64_t value, std::string* out) { AppendVarint(Zigzag(value), out); }

/// Bytes behind their length.
inline void PutSized(std::string_view bytes, std::string* out) {
  PutLong(static_cast<int64_t>(bytes.size()), out);
  out->append(bytes);
}

}  // namespace sluice::formats::avro
