// What the committer lets the writers of the same job know: which partitions wait for their commit
// since when, and how far its watermark is.
//
// Why: a writer closes the files of a partition that is due. By its own view alone it may come
// later than the committer's (it got its first row later; its source is idle) and keep a file open
// at every barrier that the others have closed theirs, so that the commit never comes. The view
// only makes files close earlier, never later; correctness does not depend on it.
// Thread-safe. Lives with the plan; an attempt that begins forgets what the one before said.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "connectors/filesystem/sink/sink_names.h"
#include "runtime/element.h"

namespace sluice::connectors::filesystem {

class CommitView {
 public:
  /// True when another attempt has begun before.
  bool Begin(const std::string& attempt_id) {
    const std::lock_guard lock(mutex_);
    const bool again = !attempt_id_.empty() && attempt_id_ != attempt_id;
    attempt_id_ = attempt_id;
    first_row_ms_.clear();
    committed_.clear();
    watermark_ms_ = runtime::kMinWatermarkMs;
    return again;
  }
  void SetWatermark(const std::string& attempt_id, int64_t watermark_ms) {
    const std::lock_guard lock(mutex_);
    if (attempt_id == attempt_id_) watermark_ms_ = watermark_ms;
  }
  void SetPending(const std::string& attempt_id,
                  std::unordered_map<std::string, int64_t> first_row_ms) {
    const std::lock_guard lock(mutex_);
    if (attempt_id == attempt_id_) first_row_ms_ = std::move(first_row_ms);
  }

  /// Partitions that were committed: rows that come for them are late.
  void SetCommitted(const std::string& attempt_id, std::unordered_set<uint64_t> hashes) {
    const std::lock_guard lock(mutex_);
    if (attempt_id == attempt_id_) committed_ = std::move(hashes);
  }
  void AddCommitted(const std::string& attempt_id, const std::string& directory) {
    const std::lock_guard lock(mutex_);
    if (attempt_id == attempt_id_) committed_.insert(StableHash(directory));
  }
  bool WasCommitted(const std::string& attempt_id, const std::string& directory) const {
    const std::lock_guard lock(mutex_);
    return attempt_id == attempt_id_ && committed_.contains(StableHash(directory));
  }

  /// A partition got rows that is due above this watermark.
  void AddDueAfter(const std::string& attempt_id, int64_t watermark_ms) {
    const std::lock_guard lock(mutex_);
    // A writer may be there before the committer, which begins an attempt.
    if (attempt_id != due_attempt_id_) due_after_.clear();
    due_attempt_id_ = attempt_id;
    due_after_.insert(watermark_ms);
  }
  /// True when there are such below `watermark_ms`; they are forgotten.
  bool TakeDue(const std::string& attempt_id, int64_t watermark_ms) {
    const std::lock_guard lock(mutex_);
    if (attempt_id != due_attempt_id_) return false;
    const auto end = due_after_.lower_bound(watermark_ms);
    const bool any = end != due_after_.begin();
    due_after_.erase(due_after_.begin(), end);
    return any;
  }

  int64_t watermark_ms(const std::string& attempt_id) const {
    const std::lock_guard lock(mutex_);
    return attempt_id == attempt_id_ ? watermark_ms_ : runtime::kMinWatermarkMs;
  }
  /// nullopt: the committer does not wait for this directory.
  std::optional<int64_t> first_row_ms(const std::string& attempt_id,
                                      const std::string& directory) const {
    const std::lock_guard lock(mutex_);
    if (attempt_id != attempt_id_) return std::nullopt;
    const auto it = first_row_ms_.find(directory);
    return it == first_row_ms_.end() ? std::nullopt : std::optional(it->second);
  }

 private:
  mutable std::mutex mutex_;
  std::string attempt_id_;
  std::unordered_map<std::string, int64_t> first_row_ms_;
  std::unordered_set<uint64_t> committed_;
  std::set<int64_t> due_after_;  // Watermarks; partitions of one hour share theirs.
  std::string due_attempt_id_;
  int64_t watermark_ms_ = runtime::kMinWatermarkMs;
};

}  // namespace sluice::connectors::filesystem
