#include "connectors/filesystem/source/processed_paths.h"

#include <algorithm>
#include <optional>

namespace sluice::connectors::filesystem {

namespace {

constexpr std::string_view kField = "processed";
constexpr std::string_view kFirstMagic = "SPP1";
constexpr size_t kFirstEntryBytes = 16;
constexpr std::string_view kMagic = "SPP2";
constexpr size_t kEntryBytes = 12;

// 48 KB that each checkpoint writes anew, at most.
constexpr size_t kRecentLimit = 4096;

constexpr uint16_t kAbsent = 0x8000;

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

uint64_t TakeNumber(size_t count, std::string_view* bytes) {
  uint64_t value = 0;
  for (size_t i = count; i-- > 0;) value = value << 8 | static_cast<unsigned char>((*bytes)[i]);
  bytes->remove_prefix(count);
  return value;
}

bool Before(const PathEntry& a, const PathEntry& b) { return a.key < b.key; }

// Sorted lists into one; of the same key the newer counts.
std::vector<PathEntry> Merged(std::span<const PathEntry> older, std::span<const PathEntry> newer) {
  std::vector<PathEntry> merged;
  merged.reserve(older.size() + newer.size());
  size_t i = 0;
  size_t j = 0;
  while (i < older.size() || j < newer.size()) {
    if (j == newer.size() || (i < older.size() && older[i].key < newer[j].key)) {
      merged.push_back(older[i++]);
    } else {
      if (i < older.size() && older[i].key == newer[j].key) ++i;
      merged.push_back(newer[j++]);
    }
  }
  return merged;
}

std::vector<PathEntry> EntriesOf(const PathSegment& run) {
  std::vector<PathEntry> entries;
  entries.reserve(run.size());
  PathSegment::Cursor cursor(run);
  while (const PathEntry* const entry = cursor.Next()) entries.push_back(*entry);
  return entries;
}

// Steps through a run behind ascending keys.
class Follower {
 public:
  explicit Follower(const PathSegment& run) : cursor_(run), entry_(cursor_.Next()) {}
  std::optional<uint16_t> Find(const PathKey& key) {
    while (entry_ != nullptr && entry_->key < key) entry_ = cursor_.Next();
    if (entry_ == nullptr || key < entry_->key) return std::nullopt;
    return entry_->mark;
  }

 private:
  PathSegment::Cursor cursor_;
  const PathEntry* entry_;
};

Status Damaged(size_t size) {
  return Status::Corrupt("The set of files already read is damaged in the checkpoint (" +
                         std::to_string(size) +
                         " bytes), or of a newer release. Resume with the release that wrote it, "
                         "or start over with --fresh.");
}

}  // namespace

PathEntry ProcessedPaths::EntryOf(const fs::FileInfo& file) const {
  const uint64_t version =
      Mix(Mix(static_cast<uint64_t>(file.size_bytes)) ^ static_cast<uint64_t>(file.modified_ms));
  PathEntry entry;
  const uint64_t seed = identity_ == FileIdentity::kPath ? 0 : version << 2;
  entry.key.hash = HashBytes(file.path, seed ^ 1);
  entry.key.more_hash = static_cast<uint16_t>(HashBytes(file.path, seed ^ 2));
  entry.mark = static_cast<uint16_t>(version) & static_cast<uint16_t>(~kAbsent);
  return entry;
}

std::vector<std::optional<uint16_t>> ProcessedPaths::MarksOf(
    std::span<const PathEntry> sorted) const {
  std::vector<std::optional<uint16_t>> marks(sorted.size());
  for (size_t i = 0; i < sorted.size(); ++i) {
    const auto it = std::lower_bound(recent_.begin(), recent_.end(), sorted[i], &Before);
    if (it != recent_.end() && it->key == sorted[i].key) marks[i] = it->mark;
  }
  for (auto run = runs_.rbegin(); run != runs_.rend(); ++run) {
    // Looking one up costs about as much as stepping over 100.
    if (sorted.size() * 100 < run->size()) {
      for (size_t i = 0; i < sorted.size(); ++i) {
        if (!marks[i]) marks[i] = run->Find(sorted[i].key);
      }
      continue;
    }
    Follower follower(*run);
    for (size_t i = 0; i < sorted.size(); ++i) {
      const std::optional<uint16_t> found = follower.Find(sorted[i].key);
      if (!marks[i]) marks[i] = found;
    }
  }
  return marks;
}

std::vector<ProcessedPaths::Seen> ProcessedPaths::Look(std::span<const fs::FileInfo* const> files) {
  std::vector<std::pair<PathEntry, uint32_t>> entries;  // With the place in `files`.
  entries.reserve(files.size());
  for (const fs::FileInfo* const file : files) {
    entries.emplace_back(EntryOf(*file), static_cast<uint32_t>(entries.size()));
  }
  std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
    return a.first.key != b.first.key ? a.first.key < b.first.key : a.second < b.second;
  });
  std::vector<PathEntry> sorted;
  sorted.reserve(files.size());
  for (const auto& [entry, place] : entries) sorted.push_back(entry);
  const std::vector<std::optional<uint16_t>> marks = MarksOf(sorted);
  std::vector<Seen> answers(files.size(), Seen::kSame);
  std::vector<PathEntry> added;
  for (size_t i = 0; i < sorted.size(); ++i) {
    std::optional<uint16_t> mark = marks[i];
    if (!added.empty() && added.back().key == sorted[i].key) mark = added.back().mark;
    if (mark == sorted[i].mark) continue;
    Seen& answer = answers[entries[i].second];
    if (!mark) {
      answer = Seen::kNew;
    } else if ((*mark & ~kAbsent) != sorted[i].mark) {
      answer = Seen::kChanged;
    }
    if (!added.empty() && added.back().key == sorted[i].key) {
      added.back() = sorted[i];
    } else {
      added.push_back(sorted[i]);
    }
  }
  if (!added.empty()) Add(std::move(added));
  return answers;
}

ProcessedPaths::Seen ProcessedPaths::Look(const fs::FileInfo& file) {
  const fs::FileInfo* const one = &file;
  return Look(std::span(&one, 1)).front();
}

void ProcessedPaths::Add(std::vector<PathEntry> entries) {
  recent_ = Merged(recent_, entries);
  if (recent_.size() < kRecentLimit) return;
  runs_.push_back(PathSegment::Make(recent_));
  recent_ = {};
  MergeRuns();
}

void ProcessedPaths::MergeRuns() {
  // As in a binary counter: a run joins those behind it once they are as many. A million paths are
  // in eight runs at most, and each is written eight times on its way into the largest.
  size_t first = runs_.size() - 1;
  size_t behind = runs_[first].size();
  while (first > 0 && runs_[first - 1].size() <= behind + behind / 2) {
    behind += runs_[--first].size();
  }
  if (runs_.size() - first < 2) return;
  std::vector<PathEntry> merged = EntriesOf(runs_[first]);
  for (size_t i = first + 1; i < runs_.size(); ++i) merged = Merged(merged, EntriesOf(runs_[i]));
  runs_.resize(first, runs_.front());
  runs_.push_back(PathSegment::Make(merged));
}

size_t ProcessedPaths::ForgetAbsent(std::span<const fs::FileInfo* const> present) {
  std::vector<PathKey> keys;
  keys.reserve(present.size());
  for (const fs::FileInfo* const file : present) keys.push_back(EntryOf(*file).key);
  std::sort(keys.begin(), keys.end());
  std::vector<PathEntry> all;
  for (const PathSegment& run : runs_) all = Merged(all, EntriesOf(run));
  all = Merged(all, recent_);
  size_t forgotten = 0;
  size_t next = 0;
  std::vector<PathEntry> kept;
  kept.reserve(all.size());
  for (PathEntry& entry : all) {
    while (next < keys.size() && keys[next] < entry.key) ++next;
    const bool there = next < keys.size() && keys[next] == entry.key;
    if (!there && (entry.mark & kAbsent) != 0) {
      ++forgotten;
      continue;
    }
    entry.mark = there ? static_cast<uint16_t>(entry.mark & ~kAbsent)
                       : static_cast<uint16_t>(entry.mark | kAbsent);
    kept.push_back(entry);
  }
  runs_.clear();
  recent_.clear();
  if (kept.size() < kRecentLimit) {
    recent_ = std::move(kept);
  } else {
    runs_.push_back(PathSegment::Make(kept));
  }
  return forgotten;
}

size_t ProcessedPaths::size() const {
  size_t count = recent_.size();
  for (const PathSegment& run : runs_) count += run.size();
  return count;
}

size_t ProcessedPaths::byte_size() const {
  size_t bytes = recent_.capacity() * sizeof(PathEntry);
  for (const PathSegment& run : runs_) bytes += run.bytes().capacity();
  return bytes;
}

void ProcessedPaths::Snapshot(runtime::StateWriter* state) const {
  std::string bytes(kMagic);
  PutNumber(static_cast<uint64_t>(identity_), 4, &bytes);
  PutNumber(static_cast<uint64_t>(swept_ms_), 8, &bytes);
  PutNumber(runs_.size(), 4, &bytes);
  for (const PathEntry& entry : recent_) {
    PutNumber(entry.key.hash, 8, &bytes);
    PutNumber(entry.key.more_hash, 2, &bytes);
    PutNumber(entry.mark, 2, &bytes);
  }
  state->PutBytes(kField, std::move(bytes));
  for (size_t i = 0; i < runs_.size(); ++i) {
    state->PutBlob(std::string(kField) + "-" + std::to_string(i), runs_[i].bytes());
  }
}

Status ProcessedPaths::Restore(const runtime::StateReader& state) {
  runs_.clear();
  recent_.clear();
  if (!state.Has(kField)) return {};
  SLUICE_ASSIGN_OR_RETURN(const std::string bytes, state.GetBytes(kField));
  if (bytes.starts_with(kFirstMagic)) return RestoreFirstVersion(bytes);
  constexpr size_t kHeaderBytes = kMagic.size() + 16;
  if (!bytes.starts_with(kMagic) || bytes.size() < kHeaderBytes ||
      (bytes.size() - kHeaderBytes) % kEntryBytes != 0) {
    return Damaged(bytes.size());
  }
  std::string_view rest = std::string_view(bytes).substr(kMagic.size());
  if (TakeNumber(4, &rest) != static_cast<uint64_t>(identity_)) {
    return Status::InvalidArgument(
        "The checkpoint was made with another value of 'source.file.identity', by which its files "
        "are known. Set the option back, or start over with --fresh.");
  }
  swept_ms_ = static_cast<int64_t>(TakeNumber(8, &rest));
  const uint64_t run_count = TakeNumber(4, &rest);
  while (!rest.empty()) {
    PathEntry& entry = recent_.emplace_back();
    entry.key.hash = TakeNumber(8, &rest);
    entry.key.more_hash = static_cast<uint16_t>(TakeNumber(2, &rest));
    entry.mark = static_cast<uint16_t>(TakeNumber(2, &rest));
  }
  if (!std::is_sorted(recent_.begin(), recent_.end(), &Before)) return Damaged(bytes.size());
  for (uint64_t i = 0; i < run_count; ++i) {
    SLUICE_ASSIGN_OR_RETURN(std::string run,
                            state.GetBlob(std::string(kField) + "-" + std::to_string(i)));
    SLUICE_ASSIGN_OR_RETURN(PathSegment segment, PathSegment::Decode(std::move(run)));
    runs_.push_back(std::move(segment));
  }
  return {};
}

// Until 2026: 96 bits of hash, 32 of size and time, sorted; ours are bits of those.
Status ProcessedPaths::RestoreFirstVersion(std::string_view bytes) {
  if (identity_ != FileIdentity::kPath) {
    return Status::InvalidArgument(
        "The checkpoint knows files by their path: 'source.file.identity' must be 'path', or start "
        "over with --fresh.");
  }
  const size_t size = bytes.size();
  bytes.remove_prefix(kFirstMagic.size());
  if (bytes.size() % kFirstEntryBytes != 0) return Damaged(size);
  std::vector<PathEntry> entries;
  entries.reserve(bytes.size() / kFirstEntryBytes);
  while (!bytes.empty()) {
    PathEntry& entry = entries.emplace_back();
    entry.key.hash = TakeNumber(8, &bytes);
    entry.key.more_hash = static_cast<uint16_t>(TakeNumber(4, &bytes));
    entry.mark = static_cast<uint16_t>(TakeNumber(4, &bytes)) & static_cast<uint16_t>(~kAbsent);
  }
  std::sort(entries.begin(), entries.end(), &Before);
  entries.erase(std::unique(entries.begin(), entries.end(),
                            [](const PathEntry& a, const PathEntry& b) { return a.key == b.key; }),
                entries.end());
  Add(std::move(entries));
  return {};
}

}  // namespace sluice::connectors::filesystem
