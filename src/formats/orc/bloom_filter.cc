#include "formats/orc/bloom_filter.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <string>

namespace sluice::formats::orc_format {

namespace {

constexpr uint64_t kSeed = 104729;
constexpr uint64_t kC1 = 0x87c37b91114253d5;
constexpr uint64_t kC2 = 0x4cf5ad432745937f;
constexpr uint32_t kMostFunctions = 64;

uint64_t Mixed(uint64_t k) { return std::rotl(k * kC1, 31) * kC2; }

uint64_t Finished(uint64_t hash) {
  hash ^= hash >> 33;
  hash *= 0xff51afd7ed558ccd;
  hash ^= hash >> 33;
  hash *= 0xc4ceb9fe1a85ec53;
  return hash ^ hash >> 33;
}

}  // namespace

// Thomas Wang's hash of 64 bits; the shifts to the right keep the sign.
uint64_t HashOfInteger(int64_t value) {
  const auto shifted = [](uint64_t key, int bits) {
    return static_cast<uint64_t>(static_cast<int64_t>(key) >> bits);
  };
  auto key = static_cast<uint64_t>(value);
  key = ~key + (key << 21);
  key ^= shifted(key, 24);
  key = key + (key << 3) + (key << 8);
  key ^= shifted(key, 14);
  key = key + (key << 2) + (key << 4);
  key ^= shifted(key, 28);
  return key + (key << 31);
}

uint64_t HashOfReal(double value) { return HashOfInteger(std::bit_cast<int64_t>(value)); }

// The 64 bit form of MurmurHash3 that ORC took from Hive.
uint64_t HashOfBytes(std::string_view bytes) {
  static_assert(std::endian::native == std::endian::little);
  uint64_t hash = kSeed;
  std::string_view rest = bytes;
  for (; rest.size() >= 8; rest.remove_prefix(8)) {
    uint64_t k = 0;
    std::memcpy(&k, rest.data(), 8);
    hash = std::rotl(hash ^ Mixed(k), 27) * 5 + 0x52dce729;
  }
  if (!rest.empty()) {
    uint64_t k = 0;
    std::memcpy(&k, rest.data(), rest.size());
    hash ^= Mixed(k);
  }
  return Finished(hash ^ bytes.size());
}

uint64_t HashOfMoment(const Moment& moment) {
  return HashOfInteger(moment.seconds * 1000 + moment.nanos / 1'000'000);
}

uint64_t HashOfDecimal(const arrow::Decimal128& value, int scale) {
  std::string digits = arrow::Decimal128(arrow::BasicDecimal128::Abs(value)).ToIntegerString();
  const auto fraction = static_cast<size_t>(scale);
  if (digits.size() <= fraction) digits.insert(0, fraction + 1 - digits.size(), '0');
  digits.insert(digits.size() - fraction, 1, '.');
  const size_t last = digits.find_last_not_of('0');
  digits.resize(digits[last] == '.' ? last : last + 1);
  if (value < 0) digits.insert(0, 1, '-');
  return HashOfBytes(digits);
}

BloomFilter::BloomFilter(int64_t values, double wrong) {
  const auto count = static_cast<double>(std::max<int64_t>(values, 1));
  const double ln2 = std::log(2.0);
  const auto bits = static_cast<int64_t>(-count * std::log(wrong) / (ln2 * ln2));
  const int64_t rounded = bits + (64 - bits % 64);
  words_.resize(static_cast<size_t>(rounded / 64));
  functions_ = static_cast<uint32_t>(std::clamp<int64_t>(
      std::lround(static_cast<double>(rounded) / count * ln2), 1, kMostFunctions));
}

std::optional<BloomFilter> BloomFilter::Parse(std::string_view message) {
  uint64_t functions = 0;
  std::string_view bits;
  WireReader reader(message);
  while (reader.Next()) {
    if (reader.field() == 1) functions = reader.number();
    if (reader.field() == 3) bits = reader.bytes();
  }
  if (!reader.ok() || functions == 0 || functions > kMostFunctions || bits.empty() ||
      bits.size() % 8 != 0) {
    return std::nullopt;
  }
  std::vector<uint64_t> words(bits.size() / 8);
  std::memcpy(words.data(), bits.data(), bits.size());
  return BloomFilter(std::move(words), static_cast<uint32_t>(functions));
}

uint64_t BloomFilter::Bit(uint64_t hash, uint32_t number) const {
  const auto low = static_cast<uint32_t>(hash);
  const auto high = static_cast<uint32_t>(hash >> 32);
  uint32_t combined = low + number * high;
  if (static_cast<int32_t>(combined) < 0) combined = ~combined;
  return combined % (words_.size() * 64);
}

void BloomFilter::Add(uint64_t hash) {
  for (uint32_t i = 1; i <= functions_; ++i) {
    const uint64_t bit = Bit(hash, i);
    words_[bit / 64] |= uint64_t{1} << bit % 64;
  }
}

bool BloomFilter::MayContain(uint64_t hash) const {
  for (uint32_t i = 1; i <= functions_; ++i) {
    const uint64_t bit = Bit(hash, i);
    if ((words_[bit / 64] >> bit % 64 & 1) == 0) return false;
  }
  return true;
}

void BloomFilter::Write(WireWriter* out) const {
  out->Number(1, functions_);
  out->Bytes(3, {reinterpret_cast<const char*>(words_.data()), words_.size() * 8});
}

}  // namespace sluice::formats::orc_format
