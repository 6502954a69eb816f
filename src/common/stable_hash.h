// Hashes that name things on disk: they never change.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace sluice {

/// FNV-1a over 64 bits, from a start that may be seeded.
inline uint64_t Fnv1a(std::string_view text, uint64_t start = 0xCBF29CE484222325ull) {
  uint64_t hash = start;
  for (const char c : text) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001B3ull;
  return hash;
}

/// Sixteen lower-case digits.
inline std::string Hex16(uint64_t value) {
  char text[17];
  std::snprintf(text, sizeof(text), "%016llx", static_cast<unsigned long long>(value));
  return text;
}

}  // namespace sluice
