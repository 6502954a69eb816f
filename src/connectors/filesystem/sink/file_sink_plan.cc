#include "connectors/filesystem/sink/file_sink_plan.h"

#include "connectors/filesystem/partition/partition_path.h"

namespace sluice::connectors::filesystem {

Result<FileSinkPlan::Place> FileSinkPlan::Locate() const {
  SLUICE_ASSIGN_OR_RETURN(auto located, file_systems->Locate(path));
  Place place{std::move(located.file_system), std::move(located.path), {}};
  if (commit.late_rows == LateRows::kAside) {
    SLUICE_ASSIGN_OR_RETURN(auto aside, file_systems->Locate(commit.late_rows_path));
    place.late_root = std::move(aside.path);
  }
  return place;
}

std::string FileSinkPlan::Directory(const std::string& root, const PartitionValues& values) const {
  if (partition_keys.empty()) return root;
  return fs::JoinPath(root, PartitionPath(partition_keys, values, default_partition_name));
}

}  // namespace sluice::connectors::filesystem
