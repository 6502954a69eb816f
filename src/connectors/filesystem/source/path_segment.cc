#include "connectors/filesystem/source/path_segment.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace sluice::connectors::filesystem {

namespace {

// "SPG1", u32 count, u32 low bits, then a block's first hash (u64) and first byte (u32) each, the
// blocks, and eight bytes to read beyond the last.
constexpr std::string_view kMagic = "SPG1";
constexpr size_t kHeaderBytes = 12;
constexpr size_t kIndexBytes = 12;
constexpr size_t kPaddingBytes = 8;
// Entering a block costs decoding half of it; an index entry costs 12 bytes: 0.1 byte a path.
constexpr size_t kBlockEntries = 128;
constexpr int kTailBits = 32;  // more_hash and mark.

template <typename T>
void PutNumber(T value, std::string* out) {
  for (size_t i = 0; i < sizeof(T); ++i) out->push_back(static_cast<char>(value >> (8 * i)));
}

template <typename T>
T GetNumber(const char* bytes) {
  if constexpr (std::endian::native == std::endian::little) {
    T value;
    std::memcpy(&value, bytes, sizeof value);
    return value;
  }
  T value = 0;
  for (size_t i = sizeof(T); i-- > 0;)
    value = static_cast<T>(value << 8 | static_cast<unsigned char>(bytes[i]));
  return value;
}

class BitWriter {
 public:
  explicit BitWriter(std::string* out) : out_(out) {}
  void Put(uint64_t value, int bits) {  // At most 56 a call.
    pending_ |= value << count_;
    count_ += bits;
    for (; count_ >= 8; count_ -= 8, pending_ >>= 8) out_->push_back(static_cast<char>(pending_));
  }
  void PutWide(uint64_t value, int bits) {
    if (bits > 32) {
      Put(value & 0xFFFFFFFF, 32);
      value >>= 32;
      bits -= 32;
    }
    Put(value, bits);
  }
  void PutUnary(uint64_t value) {
    for (; value >= 48; value -= 48) Put(0, 48);
    Put(uint64_t{1} << value, static_cast<int>(value) + 1);
  }
  void Align() {
    if (count_ > 0) out_->push_back(static_cast<char>(pending_));
    pending_ = 0;
    count_ = 0;
  }

 private:
  std::string* const out_;
  uint64_t pending_ = 0;
  int count_ = 0;  // Below 8 between calls.
};

// At least 57 bits from `bit` on.
uint64_t Peek(const std::string& bytes, uint64_t bit) {
  return GetNumber<uint64_t>(bytes.data() + bit / 8) >> (bit % 8);
}

uint64_t TakeBits(const std::string& bytes, int count, uint64_t* bit) {
  uint64_t value = 0;
  int shift = 0;
  if (count > 32) {
    value = Peek(bytes, *bit) & 0xFFFFFFFF;
    *bit += 32;
    shift = 32;
    count -= 32;
  }
  if (count == 0) return value;
  const uint64_t mask = ~uint64_t{0} >> (64 - count);
  value |= (Peek(bytes, *bit) & mask) << shift;
  *bit += static_cast<uint64_t>(count);
  return value;
}

// The largest power of two at most the mean difference: within 0.1 bit of the best.
int LowBits(size_t count) {
  return count < 2 ? 63 : 64 - static_cast<int>(std::bit_width(count - 1));
}

}  // namespace

PathSegment::PathSegment(std::shared_ptr<const std::string> bytes) : bytes_(std::move(bytes)) {
  count_ = GetNumber<uint32_t>(bytes_->data() + 4);
  low_bits_ = static_cast<int>(GetNumber<uint32_t>(bytes_->data() + 8));
  block_count_ = (count_ + kBlockEntries - 1) / kBlockEntries;
}

uint64_t PathSegment::FirstHash(size_t block) const {
  return GetNumber<uint64_t>(bytes_->data() + kHeaderBytes + block * kIndexBytes);
}

uint64_t PathSegment::FirstBit(size_t block) const {
  return 8 * uint64_t{GetNumber<uint32_t>(bytes_->data() + kHeaderBytes + block * kIndexBytes + 8)};
}

PathSegment PathSegment::Make(std::span<const PathEntry> entries) {
  const int low_bits = LowBits(entries.size());
  const size_t block_count = (entries.size() + kBlockEntries - 1) / kBlockEntries;
  const size_t begin = kHeaderBytes + block_count * kIndexBytes;
  std::string blocks;
  blocks.reserve(entries.size() * static_cast<size_t>(low_bits + kTailBits + 2) / 8 + 64);
  std::string bytes(kMagic);
  bytes.reserve(begin + blocks.capacity());
  PutNumber(static_cast<uint32_t>(entries.size()), &bytes);
  PutNumber(static_cast<uint32_t>(low_bits), &bytes);
  BitWriter writer(&blocks);
  for (size_t i = 0; i < entries.size(); ++i) {
    if (i % kBlockEntries == 0) {
      writer.Align();
      PutNumber(entries[i].key.hash, &bytes);
      PutNumber(static_cast<uint32_t>(begin + blocks.size()), &bytes);
    } else {
      const uint64_t difference = entries[i].key.hash - entries[i - 1].key.hash;
      writer.PutUnary(difference >> low_bits);
      writer.PutWide(difference & ((uint64_t{1} << low_bits) - 1), low_bits);
    }
    writer.Put(uint64_t{entries[i].key.more_hash} | uint64_t{entries[i].mark} << 16, kTailBits);
  }
  writer.Align();
  bytes += blocks;
  bytes.append(kPaddingBytes, '\0');
  bytes.shrink_to_fit();
  return PathSegment(std::make_shared<const std::string>(std::move(bytes)));
}

Result<PathSegment> PathSegment::Decode(std::string bytes) {
  const Status damaged =
      Status::Corrupt("A part of the set of files already read is damaged in the checkpoint (" +
                      std::to_string(bytes.size()) +
                      " bytes). Restore it from a copy, or start over with --fresh.");
  if (bytes.size() < kHeaderBytes + kPaddingBytes || !bytes.starts_with(kMagic)) return damaged;
  const uint64_t count = GetNumber<uint32_t>(bytes.data() + 4);
  const uint64_t blocks = (count + kBlockEntries - 1) / kBlockEntries;
  const uint64_t begin = kHeaderBytes + blocks * kIndexBytes;
  if (count == 0 || begin + kPaddingBytes > bytes.size() ||
      GetNumber<uint32_t>(bytes.data() + 8) != static_cast<uint32_t>(LowBits(count))) {
    return damaged;
  }
  PathSegment segment(std::make_shared<const std::string>(std::move(bytes)));
  for (size_t block = 0; block < blocks; ++block) {
    const uint64_t first = segment.FirstBit(block) / 8;
    if (first < begin || first + kPaddingBytes > segment.bytes().size()) return damaged;
  }
  Cursor cursor(segment);
  PathKey last;
  for (size_t i = 0; i < count; ++i) {
    const PathEntry* const entry = cursor.Next();
    if (entry == nullptr || (i > 0 && !(last < entry->key))) return damaged;
    last = entry->key;
  }
  return segment;
}

void PathSegment::Cursor::EnterBlock(size_t block) {
  index_ = block * kBlockEntries;
  bit_ = segment_->FirstBit(block);
}

const PathEntry* PathSegment::Cursor::Next() {
  if (index_ >= segment_->count_ || failed_) return nullptr;
  const std::string& bytes = segment_->bytes();
  const uint64_t end = 8 * (bytes.size() - kPaddingBytes);
  if (index_ % kBlockEntries == 0) {
    EnterBlock(index_ / kBlockEntries);
    entry_.key.hash = segment_->FirstHash(index_ / kBlockEntries);
  } else {
    uint64_t quotient = 0;
    constexpr uint64_t kSeen = (uint64_t{1} << 48) - 1;
    while (bit_ < end && (Peek(bytes, bit_) & kSeen) == 0) {
      quotient += 48;
      bit_ += 48;
    }
    if (bit_ >= end) {
      failed_ = true;
      return nullptr;
    }
    const int zeros = std::countr_zero(Peek(bytes, bit_));
    quotient += static_cast<uint64_t>(zeros);
    bit_ += static_cast<uint64_t>(zeros) + 1;
    const int low_bits = segment_->low_bits_;
    if (bit_ + static_cast<uint64_t>(low_bits) > end) {
      failed_ = true;
      return nullptr;
    }
    entry_.key.hash += quotient << low_bits | TakeBits(bytes, low_bits, &bit_);
  }
  if (bit_ + kTailBits > end) {
    failed_ = true;
    return nullptr;
  }
  const uint64_t tail = TakeBits(bytes, kTailBits, &bit_);
  entry_.key.more_hash = static_cast<uint16_t>(tail);
  entry_.mark = static_cast<uint16_t>(tail >> 16);
  ++index_;
  return &entry_;
}

std::optional<uint16_t> PathSegment::Find(const PathKey& key) const {
  // The last block that begins below the hash: equal hashes may begin before a block does.
  size_t low = 0;
  size_t high = block_count_;
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (FirstHash(middle) < key.hash) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  Cursor cursor(*this);
  cursor.index_ = (low == 0 ? 0 : low - 1) * kBlockEntries;
  while (const PathEntry* const entry = cursor.Next()) {
    if (entry->key == key) return entry->mark;
    if (key < entry->key) break;
  }
  return std::nullopt;
}

}  // namespace sluice::connectors::filesystem
