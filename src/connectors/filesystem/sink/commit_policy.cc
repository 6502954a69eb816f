#include "connectors/filesystem/sink/commit_policy.h"

#include "common/crash_point.h"

namespace sluice::connectors::filesystem {
namespace {

/// An old marker goes first: for a moment the partition, which has got rows since, has none.
/// Writing it anew beside the old one and replacing that would leave files behind that nobody can
/// claim.
Status WriteMarker(fs::FileSystem& file_system, const std::string& path, const std::string& tag) {
  if (!file_system.has_directories()) return file_system.WriteWhole(path, "");  // Replaces at once.
  SLUICE_RETURN_NOT_OK(file_system.DeleteFile(path));
  SLUICE_ASSIGN_OR_RETURN(const auto writer, file_system.publisher().Open(path, tag));
  SLUICE_ASSIGN_OR_RETURN(const std::string handle, writer->Close());
  return file_system.publisher().Publish({handle}).front();
}

Status RunPolicy(fs::FileSystem& file_system, const PartitionCommitOptions& options,
                 PolicyKind policy, const std::string& directory, const std::string& tag) {
  switch (policy) {
    case PolicyKind::kMetastore:
      return {};  // A plain table has no metastore; as in Flink the other policies still run.
    case PolicyKind::kSuccessFile:
      return WriteMarker(file_system, fs::JoinPath(directory, options.success_file_name), tag);
  }
  return {};
}

}  // namespace

Status CommitPartition(fs::FileSystem& file_system, const PartitionCommitOptions& options,
                       const std::string& directory, const std::string& tag) {
  SLUICE_CRASH_POINT("sink.before_partition_commit");
  bool first = true;
  for (const PolicyKind policy : options.policies) {
    if (!first) SLUICE_CRASH_POINT("sink.between_policies");
    first = false;
    SLUICE_RETURN_NOT_OK(RunPolicy(file_system, options, policy, directory, tag)
                             .WithContext("While committing the partition " + directory + "."));
  }
  SLUICE_CRASH_POINT("sink.after_partition_commit");
  return {};
}

}  // namespace sluice::connectors::filesystem
