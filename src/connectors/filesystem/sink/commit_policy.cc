#include "connectors/filesystem/sink/commit_policy.h"

#include "common/crash_point.h"

namespace sluice::connectors::filesystem {
namespace {

Status RunPolicy(fs::FileSystem& file_system, const PartitionCommitOptions& options,
                 PolicyKind policy, const std::string& directory) {
  switch (policy) {
    case PolicyKind::kMetastore:
      return {};  // A plain table has no metastore; as in Flink the other policies still run.
    case PolicyKind::kSuccessFile:
      // The directory may not be there: an empty result was written over an empty partition.
      SLUICE_RETURN_NOT_OK(file_system.CreateDirectories(directory));
      return file_system.WriteWhole(fs::JoinPath(directory, options.success_file_name), "");
  }
  return {};
}

}  // namespace

Status CommitPartition(fs::FileSystem& file_system, const PartitionCommitOptions& options,
                       const std::string& directory) {
  SLUICE_CRASH_POINT("sink.before_partition_commit");
  bool first = true;
  for (const PolicyKind policy : options.policies) {
    if (!first) SLUICE_CRASH_POINT("sink.between_policies");
    first = false;
    SLUICE_RETURN_NOT_OK(RunPolicy(file_system, options, policy, directory)
                             .WithContext("While committing the partition " + directory + "."));
  }
  SLUICE_CRASH_POINT("sink.after_partition_commit");
  return {};
}

}  // namespace sluice::connectors::filesystem
