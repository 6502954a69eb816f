#include "connectors/filesystem/source/processed_paths.h"

#include <algorithm>
#include <cstring>

namespace sluice::connectors::filesystem {

namespace {

constexpr std::string_view kMagic = "SPP1";
constexpr size_t kEntryBytes = 16;
constexpr size_t kRecentLimit = 1024;

uint64_t Mix(uint64_t value) {
  value ^= value >> 32;
  value *= 0xD6E8FEB86659FD93ull;
  value ^= value >> 29;
  value *= 0xA0761D6478BD642Full;
  return value ^ value >> 32;
}

// Stable over releases: the values are in checkpoints.
uint64_t HashBytes(std::string_view bytes, uint64_t seed) {
  uint64_t hash = Mix(seed ^ bytes.size());
  while (!bytes.empty()) {
    const size_t count = std::min<size_t>(bytes.size(), 8);
    uint64_t word = 0;
    for (size_t i = 0; i < count; ++i)
      word |= uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
    hash = Mix(hash ^ word) + 0x9E3779B97F4A7C15ull;
    bytes.remove_prefix(count);
  }
  return Mix(hash);
}

void PutNumber(uint64_t value, int bytes, std::string* out) {
  for (int i = 0; i < bytes; ++i) out->push_back(static_cast<char>(value >> (8 * i)));
}

uint64_t GetNumber(std::string_view bytes) {
  uint64_t value = 0;
  for (size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

}  // namespace

ProcessedPaths::Entry ProcessedPaths::EntryOf(const fs::FileInfo& file) {
  Entry entry;
  entry.hash = HashBytes(file.path, 1);
  entry.more_hash = static_cast<uint32_t>(HashBytes(file.path, 2));
  entry.version = static_cast<uint32_t>(
      Mix(Mix(static_cast<uint64_t>(file.size_bytes)) ^ static_cast<uint64_t>(file.modified_ms)));
  return entry;
}

ProcessedPaths::Entry* ProcessedPaths::Find(std::vector<Entry>& entries, const Entry& wanted) {
  const auto it = std::lower_bound(entries.begin(), entries.end(), wanted, &Before);
  return it != entries.end() && !Before(wanted, *it) ? &*it : nullptr;
}

ProcessedPaths::Seen ProcessedPaths::Look(const fs::FileInfo& file) {
  const Entry entry = EntryOf(file);
  Entry* known = Find(sorted_, entry);
  if (known == nullptr) known = Find(recent_, entry);
  if (known != nullptr) {
    if (known->version == entry.version) return Seen::kSame;
    known->version = entry.version;
    return Seen::kChanged;
  }
  recent_.insert(std::lower_bound(recent_.begin(), recent_.end(), entry, &Before), entry);
  if (recent_.size() >= kRecentLimit) Merge();
  return Seen::kNew;
}

void ProcessedPaths::Merge() {
  const auto middle = static_cast<std::ptrdiff_t>(sorted_.size());
  sorted_.insert(sorted_.end(), recent_.begin(), recent_.end());
  std::inplace_merge(sorted_.begin(), sorted_.begin() + middle, sorted_.end(), &Before);
  recent_.clear();
}

std::string ProcessedPaths::Encode() {
  Merge();
  std::string bytes(kMagic);
  bytes.reserve(kMagic.size() + sorted_.size() * kEntryBytes);
  for (const Entry& entry : sorted_) {
    PutNumber(entry.hash, 8, &bytes);
    PutNumber(entry.more_hash, 4, &bytes);
    PutNumber(entry.version, 4, &bytes);
  }
  return bytes;
}

Result<ProcessedPaths> ProcessedPaths::Decode(std::string_view bytes) {
  if (!bytes.starts_with(kMagic) || (bytes.size() - kMagic.size()) % kEntryBytes != 0) {
    return Status::Corrupt("The set of files already read is damaged in the checkpoint (" +
                           std::to_string(bytes.size()) + " bytes), or of a newer release.");
  }
  bytes.remove_prefix(kMagic.size());
  ProcessedPaths paths;
  paths.sorted_.reserve(bytes.size() / kEntryBytes);
  for (; !bytes.empty(); bytes.remove_prefix(kEntryBytes)) {
    paths.sorted_.push_back({GetNumber(bytes.substr(0, 8)),
                             static_cast<uint32_t>(GetNumber(bytes.substr(8, 4))),
                             static_cast<uint32_t>(GetNumber(bytes.substr(12, 4)))});
  }
  if (!std::is_sorted(paths.sorted_.begin(), paths.sorted_.end(), &Before)) {
    return Status::Corrupt(
        "The set of files already read is damaged in the checkpoint (not in order).");
  }
  return paths;
}

}  // namespace sluice::connectors::filesystem
