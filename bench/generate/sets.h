#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "record_writer.h"

namespace sluice::bench {

/// A set of data: how its row number `row` of `rows` is written.
struct DataSet {
  std::string_view name;
  void (*write_row)(RecordWriter& out, uint64_t seed, uint64_t row, uint64_t rows);
};

/// orders, skew, bids, wide. bench/harness/data.py has their columns as SQL.
std::span<const DataSet> DataSets();

}  // namespace sluice::bench
