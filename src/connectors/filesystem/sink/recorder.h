// Gathers, in the committer, what the next record of a table says (table_record.h).
//
// State: the last record written and what has happened since, by checkpoint. After a restart a
// record may be written again, or one that covers what an abandoned one said.
// Thread: the committer's task.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/byte_codec.h"
#include "connectors/filesystem/sink/committable.h"
#include "connectors/filesystem/sink/table_record.h"

namespace sluice::connectors::filesystem {

class Recorder {
 public:
  explicit Recorder(std::string root) : root_(std::move(root)) {}

  void AddFile(runtime::CheckpointId checkpoint, const std::string& path, int64_t row_count,
               int64_t size_bytes);
  void AddMerge(runtime::CheckpointId checkpoint, const std::string& target, int64_t row_count,
                int64_t size_bytes, const std::vector<std::string>& inputs);
  /// Where the sources stood at a barrier, and how many files stayed open over it.
  void AddBarrier(runtime::CheckpointId checkpoint, std::map<std::string, int64_t> positions,
                  int64_t open_files);

  /// What there is to say of all checkpoints up to `upto`; nullopt when that is nothing that cannot
  /// wait. The caller fills in who, when, and what was committed or replaced.
  std::optional<TableRecord> Make(runtime::CheckpointId upto, bool anything_else) const;
  /// The record is durable.
  void Written(const TableRecord& record);

  std::string Encode() const;
  Status Decode(std::string_view bytes);
  /// The restored state was written without a recorder.
  void BeginAt(runtime::CheckpointId restored) { since_ = restored; }

  /// Relative to the table's root; the whole path where it lies elsewhere.
  std::string NameOf(const std::string& path) const;

 private:
  struct Epoch {
    std::vector<RecordedFile> files;
    std::vector<RecordedMerge> merged;
    std::map<std::string, int64_t> positions;
    int64_t open_files = 0;
  };

  const std::string root_;
  runtime::CheckpointId last_ = 0;
  int64_t last_branch_ = 0;
  runtime::CheckpointId since_ = 0;
  std::map<std::string, int64_t> last_positions_;  // Of counters that go on for ever: not of files.
  std::map<runtime::CheckpointId, Epoch> epochs_;
};

}  // namespace sluice::connectors::filesystem
