// COMPACT TABLE over many partitions at once.
//
// Each partition goes its own way (table_compaction.h): what is visible of it changes in one step,
// and nothing that one does depends on another. Most of a partition's time is waiting for the disk
// to make names and contents durable, so that more of them are under way than merge at a time.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "connectors/filesystem/sink/table_compaction.h"

namespace sluice::connectors::filesystem {

/// Compacts one partition; thread-safe.
using CompactOne = std::function<Result<CompactedPartition>(const PartitionValues&)>;

/// Blocking. Answers in the order of `partitions`. After a failure no partition is begun any more,
/// and those under way are finished; the first failure in that order is returned, and tells how
/// many partitions are done. `name_of` names one in a message.
Result<std::vector<CompactedPartition>> CompactPartitions(
    std::span<const PartitionValues> partitions, int workers, const CompactOne& compact,
    const std::function<std::string(const PartitionValues&)>& name_of);

}  // namespace sluice::connectors::filesystem
