// Known rows for the simulation: row n is a pure function of n, so the oracle needs no list.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/source.h"
#include "types/schema.h"

namespace sluice::sim {

struct SourceShape {
  int64_t row_count = 400;
  int splits = 4;
  /// False: as Kafka, every split has its reader from the start. True: as files, readers take the
  /// next split when they are done with one; no watermarks then.
  bool dynamic_splits = false;
  int readers = 1;
  int64_t batch_rows = 10;
  int64_t pause_ms = 0;          // Between batches of a reader.
  int64_t row_step_ms = 60'000;  // Event time from row to row.
  bool watermarks = true;
};

/// Columns (id BIGINT, payload STRING, dt STRING, hour STRING).
Schema RowSchema();
std::string PayloadOf(int64_t id);
/// "dt=2024-01-01/hour=03".
std::string PartitionOf(int64_t id, int64_t row_step_ms);

std::shared_ptr<runtime::Source> MakeSimSource(const SourceShape& shape);

}  // namespace sluice::sim
