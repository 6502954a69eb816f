#include "expr/digest.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace sluice::expr {

namespace {

/// The message with its padding: 0x80, zeros, and the length in bits in `length_bytes` bytes, to a
/// multiple of `block`.
std::string Padded(std::string_view bytes, size_t block, size_t length_bytes, bool little) {
  std::string text(bytes);
  text.push_back('\x80');
  while (text.size() % block != block - length_bytes) text.push_back('\0');
  const uint64_t bits = static_cast<uint64_t>(bytes.size()) * 8;
  for (size_t i = 0; i < length_bytes; ++i) {
    const size_t place = little ? i : length_bytes - 1 - i;
    text.push_back(place < 8 ? static_cast<char>(bits >> (8 * place) & 0xFF) : '\0');
  }
  return text;
}

template <typename Word>
Word LoadBig(const char* from) {
  Word value = 0;
  for (size_t i = 0; i < sizeof(Word); ++i) {
    value = static_cast<Word>(value << 8 | static_cast<unsigned char>(from[i]));
  }
  return value;
}

template <typename Word>
std::string StoreBig(const Word* words, size_t bytes) {
  std::string out;
  for (size_t i = 0; i < bytes; ++i) {
    out.push_back(static_cast<char>(
        words[i / sizeof(Word)] >> (8 * (sizeof(Word) - 1 - i % sizeof(Word))) & 0xFF));
  }
  return out;
}

}  // namespace

std::string Md5(std::string_view bytes) {
  static constexpr int kShifts[4][4] = {
      {7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};
  static const auto kSines = [] {
    struct Table {
      uint32_t values[64];
    } table{};
    for (int i = 0; i < 64; ++i) {
      table.values[i] =
          static_cast<uint32_t>(std::floor(std::fabs(std::sin(i + 1.0)) * 4294967296.0));
    }
    return table;
  }();
  uint32_t state[4] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
  const std::string text = Padded(bytes, 64, 8, true);
  for (size_t block = 0; block < text.size(); block += 64) {
    uint32_t words[16];
    std::memcpy(words, text.data() + block, 64);  // Little endian, as this machine.
    uint32_t a = state[0];
    uint32_t b = state[1];
    uint32_t c = state[2];
    uint32_t d = state[3];
    for (int i = 0; i < 64; ++i) {
      uint32_t mixed = 0;
      int index = 0;
      switch (i / 16) {
        case 0:
          mixed = (b & c) | (~b & d);
          index = i;
          break;
        case 1:
          mixed = (d & b) | (~d & c);
          index = (5 * i + 1) % 16;
          break;
        case 2:
          mixed = b ^ c ^ d;
          index = (3 * i + 5) % 16;
          break;
        default:
          mixed = c ^ (b | ~d);
          index = 7 * i % 16;
      }
      mixed += a + kSines.values[i] + words[index];
      a = d;
      d = c;
      c = b;
      b += std::rotl(mixed, kShifts[i / 16][i % 4]);
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
  }
  return std::string(reinterpret_cast<const char*>(state), 16);
}

std::string Sha1(std::string_view bytes) {
  uint32_t state[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
  const std::string text = Padded(bytes, 64, 8, false);
  for (size_t block = 0; block < text.size(); block += 64) {
    uint32_t words[80];
    for (size_t i = 0; i < 16; ++i) words[i] = LoadBig<uint32_t>(text.data() + block + 4 * i);
    for (size_t i = 16; i < 80; ++i) {
      words[i] = std::rotl(words[i - 3] ^ words[i - 8] ^ words[i - 14] ^ words[i - 16], 1);
    }
    uint32_t v[5];
    std::memcpy(v, state, sizeof(v));
    for (int i = 0; i < 80; ++i) {
      uint32_t mixed = 0;
      uint32_t constant = 0;
      if (i < 20) {
        mixed = (v[1] & v[2]) | (~v[1] & v[3]);
        constant = 0x5a827999;
      } else if (i < 40) {
        mixed = v[1] ^ v[2] ^ v[3];
        constant = 0x6ed9eba1;
      } else if (i < 60) {
        mixed = (v[1] & v[2]) | (v[1] & v[3]) | (v[2] & v[3]);
        constant = 0x8f1bbcdc;
      } else {
        mixed = v[1] ^ v[2] ^ v[3];
        constant = 0xca62c1d6;
      }
      const uint32_t next = std::rotl(v[0], 5) + mixed + v[4] + constant + words[i];
      v[4] = v[3];
      v[3] = v[2];
      v[2] = std::rotl(v[1], 30);
      v[1] = v[0];
      v[0] = next;
    }
    for (int i = 0; i < 5; ++i) state[i] += v[i];
  }
  return StoreBig(state, 20);
}

namespace {

/// The first 64 bits of the fractional parts of the cube roots of the first 80 primes; SHA-256 uses
/// the upper halves of 64 of them.
constexpr uint64_t kRoundConstants[80] = {
    0x428a2f98d728ae22, 0x7137449123ef65cd, 0xb5c0fbcfec4d3b2f, 0xe9b5dba58189dbbc,
    0x3956c25bf348b538, 0x59f111f1b605d019, 0x923f82a4af194f9b, 0xab1c5ed5da6d8118,
    0xd807aa98a3030242, 0x12835b0145706fbe, 0x243185be4ee4b28c, 0x550c7dc3d5ffb4e2,
    0x72be5d74f27b896f, 0x80deb1fe3b1696b1, 0x9bdc06a725c71235, 0xc19bf174cf692694,
    0xe49b69c19ef14ad2, 0xefbe4786384f25e3, 0x0fc19dc68b8cd5b5, 0x240ca1cc77ac9c65,
    0x2de92c6f592b0275, 0x4a7484aa6ea6e483, 0x5cb0a9dcbd41fbd4, 0x76f988da831153b5,
    0x983e5152ee66dfab, 0xa831c66d2db43210, 0xb00327c898fb213f, 0xbf597fc7beef0ee4,
    0xc6e00bf33da88fc2, 0xd5a79147930aa725, 0x06ca6351e003826f, 0x142929670a0e6e70,
    0x27b70a8546d22ffc, 0x2e1b21385c26c926, 0x4d2c6dfc5ac42aed, 0x53380d139d95b3df,
    0x650a73548baf63de, 0x766a0abb3c77b2a8, 0x81c2c92e47edaee6, 0x92722c851482353b,
    0xa2bfe8a14cf10364, 0xa81a664bbc423001, 0xc24b8b70d0f89791, 0xc76c51a30654be30,
    0xd192e819d6ef5218, 0xd69906245565a910, 0xf40e35855771202a, 0x106aa07032bbd1b8,
    0x19a4c116b8d2d0c8, 0x1e376c085141ab53, 0x2748774cdf8eeb99, 0x34b0bcb5e19b48a8,
    0x391c0cb3c5c95a63, 0x4ed8aa4ae3418acb, 0x5b9cca4f7763e373, 0x682e6ff3d6b2b8a3,
    0x748f82ee5defb2fc, 0x78a5636f43172f60, 0x84c87814a1f0ab72, 0x8cc702081a6439ec,
    0x90befffa23631e28, 0xa4506cebde82bde9, 0xbef9a3f7b2c67915, 0xc67178f2e372532b,
    0xca273eceea26619c, 0xd186b8c721c0c207, 0xeada7dd6cde0eb1e, 0xf57d4f7fee6ed178,
    0x06f067aa72176fba, 0x0a637dc5a2c898a6, 0x113f9804bef90dae, 0x1b710b35131c471b,
    0x28db77f523047d84, 0x32caab7b40c72493, 0x3c9ebe0a15c9bebc, 0x431d67c49c100d4c,
    0x4cc5d4becb3e42b6, 0x597f299cfc657e2a, 0x5fcb6fab3ad6faec, 0x6c44198c4a475817};

template <typename Word>
struct Sha2Shape;
template <>
struct Sha2Shape<uint32_t> {
  static constexpr int kRounds = 64;
  static constexpr int kBig0[3] = {2, 13, 22};
  static constexpr int kBig1[3] = {6, 11, 25};
  static constexpr int kSmall0[3] = {7, 18, 3};
  static constexpr int kSmall1[3] = {17, 19, 10};
  static uint32_t Constant(int i) { return static_cast<uint32_t>(kRoundConstants[i] >> 32); }
};
template <>
struct Sha2Shape<uint64_t> {
  static constexpr int kRounds = 80;
  static constexpr int kBig0[3] = {28, 34, 39};
  static constexpr int kBig1[3] = {14, 18, 41};
  static constexpr int kSmall0[3] = {1, 8, 7};
  static constexpr int kSmall1[3] = {19, 61, 6};
  static uint64_t Constant(int i) { return kRoundConstants[i]; }
};

template <typename Word>
std::string Sha2Digest(std::string_view bytes, Word (&state)[8], size_t digest_bytes) {
  using Shape = Sha2Shape<Word>;
  constexpr size_t kBlock = sizeof(Word) * 16;
  const auto big = [](Word x, const int(&r)[3]) {
    return std::rotr(x, r[0]) ^ std::rotr(x, r[1]) ^ std::rotr(x, r[2]);
  };
  const auto small = [](Word x, const int(&r)[3]) {
    return std::rotr(x, r[0]) ^ std::rotr(x, r[1]) ^ (x >> r[2]);
  };
  const std::string text = Padded(bytes, kBlock, sizeof(Word) * 2, false);
  for (size_t block = 0; block < text.size(); block += kBlock) {
    Word words[Shape::kRounds];
    for (size_t i = 0; i < 16; ++i)
      words[i] = LoadBig<Word>(text.data() + block + sizeof(Word) * i);
    for (int i = 16; i < Shape::kRounds; ++i) {
      words[i] = small(words[i - 2], Shape::kSmall1) + words[i - 7] +
                 small(words[i - 15], Shape::kSmall0) + words[i - 16];
    }
    Word v[8];
    std::memcpy(v, state, sizeof(v));
    for (int i = 0; i < Shape::kRounds; ++i) {
      const Word first = v[7] + big(v[4], Shape::kBig1) + ((v[4] & v[5]) ^ (~v[4] & v[6])) +
                         Shape::Constant(i) + words[i];
      const Word second = big(v[0], Shape::kBig0) + ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
      for (int j = 7; j > 0; --j) v[j] = v[j - 1];
      v[4] += first;
      v[0] = first + second;
    }
    for (int i = 0; i < 8; ++i) state[i] += v[i];
  }
  return StoreBig(state, digest_bytes);
}

}  // namespace

std::string Sha2(std::string_view bytes, int bits) {
  switch (bits) {
    case 224: {
      uint32_t state[8] = {0xc1059ed8, 0x367cd507, 0x3070dd17, 0xf70e5939,
                           0xffc00b31, 0x68581511, 0x64f98fa7, 0xbefa4fa4};
      return Sha2Digest(bytes, state, 28);
    }
    case 384: {
      uint64_t state[8] = {0xcbbb9d5dc1059ed8, 0x629a292a367cd507, 0x9159015a3070dd17,
                           0x152fecd8f70e5939, 0x67332667ffc00b31, 0x8eb44a8768581511,
                           0xdb0c2e0d64f98fa7, 0x47b5481dbefa4fa4};
      return Sha2Digest(bytes, state, 48);
    }
    case 512: {
      uint64_t state[8] = {0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b,
                           0xa54ff53a5f1d36f1, 0x510e527fade682d1, 0x9b05688c2b3e6c1f,
                           0x1f83d9abfb41bd6b, 0x5be0cd19137e2179};
      return Sha2Digest(bytes, state, 64);
    }
    default: {
      uint32_t state[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                           0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
      return Sha2Digest(bytes, state, 32);
    }
  }
}

}  // namespace sluice::expr
