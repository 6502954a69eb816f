#include "formats/parquet/small_dictionary.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "common/varint.h"

namespace sluice::formats::parquet_format {

namespace {

// Values that show whether they repeat (ValuesRarelyRepeat in parquet_writer.cc asks the same).
constexpr size_t kSampleValues = 256;

uint64_t Mix(uint64_t hash, uint64_t word) {
  const auto product = static_cast<unsigned __int128>(hash ^ word) * 0x9E3779B97F4A7C15U;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

uint64_t Hash(std::string_view bytes) {
  uint64_t hash = 0x2545F4914F6CDD1DU ^ bytes.size();
  for (; bytes.size() > 8; bytes.remove_prefix(8)) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data(), 8);
    hash = Mix(hash, word);
  }
  uint64_t word = 0;
  std::memcpy(&word, bytes.data(), bytes.size());
  return Mix(hash, word);
}

}  // namespace

bool SmallDictionary::Build(const PlainValues& values) {
  entries_.clear();
  indices_.clear();
  const auto count = static_cast<size_t>(values.count());
  const size_t most = count - count / 4;
  slots_.assign(std::bit_ceil(2 * count + 1), 0);
  indices_.reserve(count);
  size_t dictionary_bytes = 0;
  for (size_t i = 0; i < count; ++i) {
    if (entries_.size() > most) return false;
    if (i == kSampleValues && entries_.size() > kSampleValues * 3 / 4) return false;
    const std::string_view value = values.At(static_cast<int64_t>(i));
    size_t slot = Hash(value) & (slots_.size() - 1);
    while (slots_[slot] != 0 && entries_[slots_[slot] - 1] != value) {
      slot = (slot + 1) & (slots_.size() - 1);
    }
    if (slots_[slot] == 0) {
      entries_.push_back(value);
      slots_[slot] = static_cast<uint32_t>(entries_.size());
      dictionary_bytes += value.size();
    }
    indices_.push_back(slots_[slot] - 1);
  }
  // A page of its own has a header, too.
  constexpr size_t kPageBytes = 24;
  return dictionary_bytes + count * static_cast<size_t>(BitWidth()) / 8 + kPageBytes <
         values.bytes().size();
}

int SmallDictionary::BitWidth() const {
  return std::max(1, static_cast<int>(std::bit_width(entries_.size() - 1)));
}

void SmallDictionary::AppendValues(std::string* out) const {
  for (const std::string_view entry : entries_) out->append(entry);
}

void SmallDictionary::AppendIndices(std::string* out) const {
  const int width = BitWidth();
  out->push_back(static_cast<char>(width));
  if (entries_.size() == 1) {  // One run of the same.
    AppendVarint(indices_.size() << 1, out);
    out->push_back(0);
    return;
  }
  AppendVarint((indices_.size() + 7) / 8 << 1 | 1, out);  // One run of packed groups of eight.
  uint64_t bits = 0;
  int filled = 0;
  const auto put = [&](uint64_t index) {
    bits |= index << filled;
    for (filled += width; filled >= 8; filled -= 8, bits >>= 8) {
      out->push_back(static_cast<char>(bits));
    }
  };
  for (const uint32_t index : indices_) put(index);
  for (size_t i = indices_.size(); i % 8 != 0; ++i) put(0);
}

}  // namespace sluice::formats::parquet_format
