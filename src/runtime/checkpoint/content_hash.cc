#include "runtime/checkpoint/content_hash.h"

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

namespace sluice::runtime {
namespace {

constexpr uint64_t kFirst = 0x9E3779B185EBCA87ull;
constexpr uint64_t kSecond = 0xC2B2AE3D27D4EB4Full;

uint64_t Word(const char* bytes) {
  uint64_t word;
  std::memcpy(&word, bytes, sizeof word);
  if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap64(word);
  return word;
}

uint64_t Turn(uint64_t lane, uint64_t word) {
  return std::rotl(lane + word * kSecond, 31) * kFirst;
}

uint64_t Finish(uint64_t value) {
  value = (value ^ value >> 33) * kSecond;
  value = (value ^ value >> 29) * kFirst;
  return value ^ value >> 32;
}

void AppendHex(uint64_t value, std::string* text) {
  for (int shift = 60; shift >= 0; shift -= 4)
    text->push_back("0123456789abcdef"[value >> shift & 15]);
}

}  // namespace

std::string ContentHash(std::string_view bytes) {
  // Four lanes that do not wait for each other.
  std::array<uint64_t, 4> lanes = {kFirst, kSecond, ~kFirst, ~kSecond};
  const uint64_t size = bytes.size();
  for (; bytes.size() >= 32; bytes.remove_prefix(32)) {
    for (size_t i = 0; i < 4; ++i) lanes[i] = Turn(lanes[i], Word(bytes.data() + 8 * i));
  }
  std::array<char, 32> rest{};
  bytes.copy(rest.data(), bytes.size());
  for (size_t i = 0; i < 4; ++i) lanes[i] = Turn(lanes[i], Word(rest.data() + 8 * i));
  uint64_t first = Finish(size);
  uint64_t second = Finish(~size);
  for (size_t i = 0; i < 4; ++i) {
    first = Finish(first ^ Turn(lanes[i], i));
    second = Finish(second + std::rotl(Finish(lanes[i] ^ kSecond), static_cast<int>(7 * i + 1)));
  }
  std::string text;
  AppendHex(first, &text);
  AppendHex(second, &text);
  return text;
}

}  // namespace sluice::runtime
