#include "connectors/filesystem/sink/pending_partitions.h"

#include <algorithm>

#include "connectors/filesystem/sink/sink_names.h"

namespace sluice::connectors::filesystem {
namespace {

// 2 adds rows and files of each touch.
constexpr uint8_t kVersion = 2;
// 8 bytes each in every checkpoint: 128 KiB. A partition older than the last 16,384 committed that
// gets late rows is committed again all the same, only not counted as late.
constexpr size_t kCommittedRemembered = 16'384;

}  // namespace

PendingPartitions::Touch& PendingPartitions::TouchOf(const PartitionRef& partition,
                                                     runtime::CheckpointId checkpoint,
                                                     int64_t first_row_ms) {
  Entry& entry = pending_[partition.directory];
  if (entry.touches.empty()) entry.partition = partition;
  const auto [it, fresh] =
      entry.touches.try_emplace(checkpoint, Touch{.first_row_ms = first_row_ms});
  it->second.first_row_ms = std::min(it->second.first_row_ms, first_row_ms);
  return it->second;
}

void PendingPartitions::AddFile(const PartitionRef& partition, runtime::CheckpointId checkpoint,
                                int64_t first_row_ms, int64_t row_count) {
  Touch& touch = TouchOf(partition, checkpoint, first_row_ms);
  touch.has_files = true;
  touch.row_count += row_count;
}

void PendingPartitions::AddVisible(const std::string& directory, runtime::CheckpointId checkpoint,
                                   const NewFile& file, bool keep_name) {
  const auto it = pending_.find(directory);
  if (it == pending_.end()) return;
  // A merged file may be planned behind the checkpoint of its rows: it counts with them.
  auto touch = it->second.touches.upper_bound(checkpoint);
  if (touch == it->second.touches.begin()) return;
  --touch;
  ++touch->second.file_count;
  if (keep_name) touch->second.files.push_back(file);
}

void PendingPartitions::Merge(const Touch& more, Touch* touch) {
  touch->first_row_ms = std::min(touch->first_row_ms, more.first_row_ms);
  touch->has_files = touch->has_files || more.has_files;
  touch->row_count += more.row_count;
  touch->file_count += more.file_count;
  touch->files.insert(touch->files.end(), more.files.begin(), more.files.end());
}

bool PendingPartitions::WasCommitted(const std::string& directory) const {
  return committed_.contains(StableHash(directory));
}

std::vector<PendingPartitions::Waiting> PendingPartitions::List() const {
  std::vector<Waiting> list;
  for (const auto& [directory, entry] : pending_) {
    Touch all{.first_row_ms = std::numeric_limits<int64_t>::max()};
    for (const auto& [checkpoint, touch] : entry.touches) Merge(touch, &all);
    const bool open = !entry.touches.empty() && entry.touches.rbegin()->second.open;
    list.push_back({entry.partition, all.first_row_ms, all.row_count, all.file_count, open,
                    WasCommitted(directory)});
  }
  return list;
}

void PendingPartitions::AddOpen(const PartitionRef& partition, runtime::CheckpointId checkpoint,
                                int64_t first_row_ms) {
  TouchOf(partition, checkpoint, first_row_ms).open = true;
}

std::optional<PendingPartitions::Touch> PendingPartitions::MergedTouch(
    const Entry& entry, runtime::CheckpointId checkpoint) {
  std::optional<Touch> merged;
  for (const auto& [at, touch] : entry.touches) {
    if (at > checkpoint) break;
    if (!merged) merged = Touch{.first_row_ms = touch.first_row_ms};
    Merge(touch, &*merged);
    merged->open = at == checkpoint && touch.open;
  }
  return merged;
}

PendingPartitions::Preview PendingPartitions::Peek(runtime::CheckpointId checkpoint,
                                                   const CommitTrigger* trigger,
                                                   int64_t watermark_ms, int64_t now_ms) const {
  Preview preview;
  for (const auto& [directory, entry] : pending_) {
    const std::optional<Touch> touch = MergedTouch(entry, checkpoint);
    if (!touch || !touch->has_files) continue;
    const auto answer =
        trigger == nullptr
            ? CommitTrigger::Answer::kDue
            : trigger->Ask(entry.partition.values, touch->first_row_ms, watermark_ms, now_ms);
    if (answer == CommitTrigger::Answer::kNever) preview.untimed.push_back(directory);
    if (answer == CommitTrigger::Answer::kDue && !touch->open) preview.due.push_back(directory);
  }
  return preview;
}

std::vector<PendingPartitions::Due> PendingPartitions::FindDue(runtime::CheckpointId checkpoint,
                                                               const CommitTrigger* trigger,
                                                               int64_t watermark_ms, int64_t now_ms,
                                                               std::vector<PartitionRef>* untimed) {
  std::vector<Due> due;
  for (auto& [directory, entry] : pending_) {
    const std::optional<Touch> touched = MergedTouch(entry, checkpoint);
    if (!touched) continue;
    // One touch from here on: a partition may wait over thousands of checkpoints.
    const Touch merged = *touched;
    entry.touches.erase(entry.touches.begin(), entry.touches.upper_bound(checkpoint));
    entry.touches.emplace(checkpoint, merged);
    if (!merged.has_files || merged.open) continue;
    if (trigger != nullptr) {
      const auto answer =
          trigger->Ask(entry.partition.values, merged.first_row_ms, watermark_ms, now_ms);
      if (answer == CommitTrigger::Answer::kNever && !entry.untimed_reported) {
        entry.untimed_reported = true;
        untimed->push_back(entry.partition);
      }
      if (answer != CommitTrigger::Answer::kDue) continue;
    }
    due.push_back({.partition = entry.partition,
                   .again = WasCommitted(directory),
                   .row_count = merged.row_count,
                   .files = merged.files});
  }
  return due;
}

void PendingPartitions::Committed(const std::string& directory, runtime::CheckpointId checkpoint) {
  Remember(StableHash(directory));
  const auto it = pending_.find(directory);
  if (it == pending_.end()) return;
  auto& touches = it->second.touches;
  touches.erase(touches.begin(), touches.upper_bound(checkpoint));
  if (touches.empty()) pending_.erase(it);
}

void PendingPartitions::Remember(uint64_t hash) {
  if (!committed_.insert(hash).second) return;
  committed_order_.push_back(hash);
  if (committed_order_.size() <= kCommittedRemembered) return;
  committed_.erase(committed_order_.front());
  committed_order_.pop_front();
}

std::unordered_map<std::string, int64_t> PendingPartitions::FirstRows() const {
  std::unordered_map<std::string, int64_t> first_rows;
  for (const auto& [directory, entry] : pending_) {
    int64_t first_ms = std::numeric_limits<int64_t>::max();
    for (const auto& [checkpoint, touch] : entry.touches) {
      first_ms = std::min(first_ms, touch.first_row_ms);
    }
    first_rows.emplace(directory, first_ms);
  }
  return first_rows;
}

const PartitionRef* PendingPartitions::First(int64_t* first_row_ms) const {
  if (pending_.empty()) return nullptr;
  const Entry& entry = pending_.begin()->second;
  *first_row_ms = entry.touches.begin()->second.first_row_ms;
  return &entry.partition;
}

std::string PendingPartitions::Encode() const {
  ByteWriter out;
  out.PutU8(kVersion);
  out.PutU64(pending_.size());
  for (const auto& [directory, entry] : pending_) {
    PutPartition(entry.partition, &out);
    out.PutU8(entry.untimed_reported ? 1 : 0);
    out.PutU64(entry.touches.size());
    for (const auto& [checkpoint, touch] : entry.touches) {
      out.PutI64(checkpoint);
      out.PutI64(touch.first_row_ms);
      out.PutU8(static_cast<uint8_t>((touch.has_files ? 1 : 0) | (touch.open ? 2 : 0)));
      out.PutI64(touch.row_count);
      out.PutI64(touch.file_count);
      out.PutU64(touch.files.size());
      for (const NewFile& file : touch.files) {
        out.PutText(file.name);
        out.PutI64(file.row_count);
      }
    }
  }
  out.PutU64(committed_order_.size());
  for (const uint64_t hash : committed_order_) out.PutU64(hash);
  return std::move(out).Take();
}

void PendingPartitions::ComeFromAtMost(int64_t now_ms) {
  for (auto& [directory, entry] : pending_) {
    for (auto& [checkpoint, touch] : entry.touches) {
      touch.first_row_ms = std::min(touch.first_row_ms, now_ms);
    }
  }
}

Status PendingPartitions::Decode(std::string_view bytes) {
  ByteReader in(bytes);
  const uint8_t version = in.U8();
  if (version < 1 || version > kVersion) {
    return Status::Corrupt("The pending partitions in the checkpoint have an unknown form.");
  }
  for (size_t count = in.Count(); count > 0 && in.ok(); --count) {
    Entry entry;
    entry.partition = ReadPartition(&in);
    entry.untimed_reported = in.U8() != 0;
    for (size_t touches = in.Count(); touches > 0 && in.ok(); --touches) {
      const runtime::CheckpointId checkpoint = in.I64();
      const int64_t first_row_ms = in.I64();
      const uint8_t flags = in.U8();
      Touch& touch = entry.touches[checkpoint];
      touch.first_row_ms = first_row_ms;
      touch.has_files = (flags & 1) != 0;
      touch.open = (flags & 2) != 0;
      if (version < 2) continue;
      touch.row_count = in.I64();
      touch.file_count = in.I64();
      for (size_t files = in.Count(); files > 0 && in.ok(); --files) {
        NewFile& file = touch.files.emplace_back();
        file.name = in.Text();
        file.row_count = in.I64();
      }
    }
    if (!entry.touches.empty()) pending_[entry.partition.directory] = std::move(entry);
  }
  for (size_t count = in.Count(); count > 0 && in.ok(); --count) Remember(in.U64());
  if (in.AtEnd()) return {};
  return Status::Corrupt("The pending partitions in the checkpoint are cut short or too long.");
}

}  // namespace sluice::connectors::filesystem
