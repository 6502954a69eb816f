#include "runtime/checkpoint/crc32c.h"

#include <array>
#include <cstring>

namespace sluice::runtime {
namespace {

// Four tables, four bytes a turn: about 1 GB/s, for processors without an instruction for it.
using Tables = std::array<std::array<uint32_t, 256>, 4>;

constexpr Tables MakeTables() {
  constexpr uint32_t kReversedPolynomial = 0x82f63b78;
  Tables tables{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = value >> 1 ^ (value & 1 ? kReversedPolynomial : 0);
    tables[0][i] = value;
  }
  for (uint32_t i = 0; i < 256; ++i) {
    for (size_t t = 1; t < 4; ++t) {
      tables[t][i] = tables[t - 1][i] >> 8 ^ tables[0][tables[t - 1][i] & 0xff];
    }
  }
  return tables;
}

constexpr Tables kTables = MakeTables();

uint32_t WithTables(uint32_t crc, const unsigned char* data, size_t left) {
  for (; left >= 4; left -= 4, data += 4) {
    crc ^= static_cast<uint32_t>(data[0]) | static_cast<uint32_t>(data[1]) << 8 |
           static_cast<uint32_t>(data[2]) << 16 | static_cast<uint32_t>(data[3]) << 24;
    crc = kTables[3][crc & 0xff] ^ kTables[2][crc >> 8 & 0xff] ^ kTables[1][crc >> 16 & 0xff] ^
          kTables[0][crc >> 24];
  }
  for (; left > 0; --left, ++data) crc = crc >> 8 ^ kTables[0][(crc ^ *data) & 0xff];
  return crc;
}

#if defined(__x86_64__)
/// Eight bytes an instruction: about 8 GB/s. The batches of a Kafka topic pass through here.
__attribute__((target("sse4.2"))) uint32_t WithInstruction(uint32_t crc, const unsigned char* data,
                                                           size_t left) {
  uint64_t wide = crc;
  for (; left >= 8; left -= 8, data += 8) {
    uint64_t word = 0;
    std::memcpy(&word, data, sizeof(word));
    wide = __builtin_ia32_crc32di(wide, word);
  }
  crc = static_cast<uint32_t>(wide);
  for (; left > 0; --left, ++data) crc = __builtin_ia32_crc32qi(crc, *data);
  return crc;
}
#endif

}  // namespace

uint32_t Crc32c(std::string_view bytes, uint32_t crc) {
  const auto* const data = reinterpret_cast<const unsigned char*>(bytes.data());
#if defined(__x86_64__)
  static const bool has_instruction = __builtin_cpu_supports("sse4.2") != 0;
  if (has_instruction) return ~WithInstruction(~crc, data, bytes.size());
#endif
  return ~WithTables(~crc, data, bytes.size());
}

}  // namespace sluice::runtime
