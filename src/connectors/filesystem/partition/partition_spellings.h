// Partitions whose directories other programs have named: with other characters escaped, with their
// keys in another order, or with another text of the same value (a DATE as Flink's day number).
// Readers take such a directory for the partition that it names, so what replaces, merges or drops
// a partition has to find it too.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "connectors/connector.h"
#include "fs/file_system.h"
#include "types/sql_type.h"

namespace sluice::connectors::filesystem {

struct OtherSpelling {
  std::string own;   // Where our writers put the partition; it need not be there.
  std::string path;  // Another directory of the same partition.
};

/// Those of the partitions `wanted` below `root`. With the types of the keys other texts of the
/// same value count as well; without them texts are compared. Blocking; lists each directory once
/// that leads to one of them.
Result<std::vector<OtherSpelling>> FindOtherSpellings(fs::FileSystem& file_system,
                                                      const std::string& root,
                                                      const std::vector<std::string>& keys,
                                                      std::string_view default_name,
                                                      const std::vector<PartitionValues>& wanted,
                                                      const std::vector<SqlType>& types = {});

}  // namespace sluice::connectors::filesystem
