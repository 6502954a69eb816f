// The partitions that got rows and wait for their commit, by checkpoint.
//
// Invariants:
//  - A partition is offered for commit at checkpoint N only if all its files up to N are published
//  (the caller asks after that) and no writer had a file of it open at the barrier of N.
//  - Rows behind the barrier of N keep the partition pending for a later checkpoint.
// State: everything, in one field.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "connectors/filesystem/sink/commit_trigger.h"
#include "connectors/filesystem/sink/committable.h"

namespace sluice::connectors::filesystem {

class PendingPartitions {
 public:
  void AddFile(const PartitionRef& partition, runtime::CheckpointId checkpoint,
               int64_t first_row_ms, int64_t row_count);
  /// A visible file that the partition gets with the checkpoint, for policies that tell of it.
  void AddVisible(const std::string& directory, runtime::CheckpointId checkpoint,
                  const NewFile& file, bool keep_name);
  void AddOpen(const PartitionRef& partition, runtime::CheckpointId checkpoint,
               int64_t first_row_ms);

  struct Due {
    PartitionRef partition;
    bool again = false;     // It was committed before: late rows came.
    int64_t row_count = 0;  // Since its last commit.
    std::vector<NewFile> files;
  };
  /// Those to commit at `checkpoint`, which is complete, ordered by directory. `trigger` null: all
  /// that have files. Partitions without a time are counted and appended to `untimed` once.
  std::vector<Due> FindDue(runtime::CheckpointId checkpoint, const CommitTrigger* trigger,
                           int64_t watermark_ms, int64_t now_ms,
                           std::vector<PartitionRef>* untimed);
  /// What FindDue would give now, and the partitions without a time that have files; changes
  /// nothing.
  struct Preview {
    std::vector<std::string> due;
    std::vector<std::string> untimed;
  };
  Preview Peek(runtime::CheckpointId checkpoint, const CommitTrigger* trigger, int64_t watermark_ms,
               int64_t now_ms) const;
  /// The partition is done as of `checkpoint`.
  void Committed(const std::string& directory, runtime::CheckpointId checkpoint);

  /// When each got its first row since its last commit.
  std::unordered_map<std::string, int64_t> FirstRows() const;
  /// The one that waits with the smallest name, for status texts; null when none waits.
  const PartitionRef* First(int64_t* first_row_ms) const;
  bool empty() const { return pending_.empty(); }
  /// True for a partition that was committed, however long ago within the last 16,384.
  bool WasCommitted(const std::string& directory) const;
  const std::unordered_set<uint64_t>& committed() const { return committed_; }

  /// What waits, for those who ask why.
  struct Waiting {
    PartitionRef partition;
    int64_t first_row_ms = 0;
    int64_t row_count = 0;
    int64_t file_count = 0;
    bool open = false;       // A writer has a file of it open.
    bool committed = false;  // Before: late rows wait.
  };
  std::vector<Waiting> List() const;

  std::string Encode() const;
  Status Decode(std::string_view bytes);
  /// No first row came later than `now_ms`: where the clock has been set back since, partitions
  /// would wait until it is there again.
  void ComeFromAtMost(int64_t now_ms);

 private:
  struct Touch {
    int64_t first_row_ms = 0;
    bool has_files = false;
    bool open = false;  // At the barrier of this checkpoint.
    int64_t row_count = 0;
    int64_t file_count = 0;  // Visible ones.
    std::vector<NewFile> files;
  };
  /// Adds what another touch has to `touch`.
  static void Merge(const Touch& more, Touch* touch);
  struct Entry {
    PartitionRef partition;
    std::map<runtime::CheckpointId, Touch> touches;
    bool untimed_reported = false;
  };
  /// Everything up to the checkpoint as one touch; nullopt when there is none.
  static std::optional<Touch> MergedTouch(const Entry& entry, runtime::CheckpointId checkpoint);
  Touch& TouchOf(const PartitionRef& partition, runtime::CheckpointId checkpoint,
                 int64_t first_row_ms);
  void Remember(uint64_t hash);

  std::map<std::string, Entry> pending_;
  // Hashes of the directories committed last, to know late rows; bounded, oldest first.
  std::deque<uint64_t> committed_order_;
  std::unordered_set<uint64_t> committed_;
};

}  // namespace sluice::connectors::filesystem
