// What is done to commit a partition whose files are published (filesystem.md §13.5). Every policy
// may be called again for the same partition after a crash and for late rows.
//
// A new policy is one class and one line in MakeCommitPolicies.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "connectors/filesystem/sink/committable.h"
#include "connectors/filesystem/sink/sink_options.h"
#include "fs/file_system.h"

namespace sluice::connectors::filesystem {

/// What a policy is told.
struct PartitionCommit {
  std::string table;  // "default_catalog.default_database.t"
  std::vector<std::string> keys;
  PartitionRef partition;  // Without values for a table without partitions.
  runtime::CheckpointId checkpoint = 0;
  bool again = false;
  /// What the partition has got since its last commit.
  int64_t row_count = 0;
  std::vector<NewFile> files;
  /// Where the sources stood at the checkpoint: "topic orders: orders-0@123"; may be empty.
  std::vector<std::string> source_positions;
};

/// {"table": …, "path": …, "partition": {"dt": …}, "checkpoint": …, "again": …, "rows": …,
/// "files": [{"name": …, "rows": …}], "sources": […]}.
std::string ToJson(const PartitionCommit& commit);

/// Blocking; thread-safe. Errors: kUnavailable for what a retry may heal.
class CommitPolicy {
 public:
  virtual ~CommitPolicy() = default;
  /// `tag` goes into hidden names, so that what a crash leaves behind is known as ours.
  virtual Status Commit(fs::FileSystem& file_system, const PartitionCommit& commit,
                        const std::string& tag) = 0;
  /// The same for several partitions. One that can do what many of them need at once overrides it.
  virtual Status CommitAll(fs::FileSystem& file_system, std::span<const PartitionCommit> commits,
                           const std::string& tag);
};
using CommitPolicies = std::vector<std::shared_ptr<CommitPolicy>>;

/// In the order of the option. Loads libraries; fails with kInvalidArgument naming the option.
Result<CommitPolicies> MakeCommitPolicies(const PartitionCommitOptions& options);

/// Runs the policies in their order for one partition after the other. Fails at the first that
/// fails.
Status CommitPartitions(fs::FileSystem& file_system, const CommitPolicies& policies,
                        std::span<const PartitionCommit> commits, const std::string& tag);

}  // namespace sluice::connectors::filesystem
