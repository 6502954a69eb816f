// Which files are merged into which: a pure function, so that what is planned at a barrier is the
// same wherever it is looked at.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace sluice::connectors::filesystem {

struct PackedFile {
  std::string path;
  int64_t size_bytes = 0;
};

/// Flink's packing (filesystem.md 12.3): in the order of their paths each file goes into the oldest
/// of at most 10 open bins in which it has room; an 11th bin ends the oldest. Returns indices into
/// `files`, a file larger than `target_bytes` alone.
std::vector<std::vector<size_t>> PackFiles(std::span<const PackedFile> files, int64_t target_bytes);

/// For whole partitions: as few bins as first-fit in falling order of size finds, at most 11/9 of
/// the best.
std::vector<std::vector<size_t>> PackFewest(std::span<const PackedFile> files,
                                            int64_t target_bytes);

}  // namespace sluice::connectors::filesystem
