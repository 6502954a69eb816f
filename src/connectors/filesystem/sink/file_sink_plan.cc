#include "connectors/filesystem/sink/file_sink_plan.h"

#include "connectors/filesystem/partition/partition_path.h"

namespace sluice::connectors::filesystem {

std::string FileSinkPlan::Directory(const std::string& root, const PartitionValues& values) const {
  if (partition_keys.empty()) return root;
  return fs::JoinPath(root, PartitionPath(partition_keys, values, default_partition_name));
}

}  // namespace sluice::connectors::filesystem
