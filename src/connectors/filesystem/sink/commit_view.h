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
  int64_t watermark_ms_ = runtime::kMinWatermarkMs;
};

}  // namespace sluice::connectors::filesystem
