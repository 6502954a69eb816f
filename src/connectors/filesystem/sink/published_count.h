// Files that have become visible, on their way into the job's counters.
#pragma once

#include <cstdint>

#include "runtime/metrics.h"

namespace sluice::connectors::filesystem {

/// Counts what is published and told when its files leave the operator's state: from a checkpoint
/// before that a restart publishes them again, and must count them then.
class PublishedCount {
 public:
  void Add(int64_t file_count, int64_t size_bytes) {
    file_count_ += file_count;
    size_bytes_ += size_bytes;
  }
  void TellTo(runtime::Metrics* metrics) {
    metrics->Counter(runtime::metric::kPublishedFiles) += file_count_;
    metrics->Counter(runtime::metric::kBytesOut) += size_bytes_;
    *this = {};
  }

 private:
  int64_t file_count_ = 0;
  int64_t size_bytes_ = 0;
};

}  // namespace sluice::connectors::filesystem
