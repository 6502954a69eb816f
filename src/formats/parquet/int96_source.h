// The values of INT96 columns inside nested types. Arrow's reader gives their structure, but wraps
// nanoseconds and takes Flink's negative times of day for the year 2554: the values are read once
// more without it.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include <parquet/column_reader.h>

#include "common/result.h"

namespace sluice::formats::parquet_format {

/// Not thread-safe. May throw what the Parquet library throws.
class Int96Source {
 public:
  void Add(int leaf, std::shared_ptr<::parquet::ColumnReader> reader);
  bool Has(int leaf) const { return leaves_.contains(leaf); }
  /// The next `count` values of a leaf, NULLs left out. Fails with kDataError when there are fewer.
  Result<std::vector<::parquet::Int96>> Take(int leaf, int64_t count);

 private:
  struct Leaf {
    std::shared_ptr<::parquet::Int96Reader> reader;
    std::vector<::parquet::Int96> pending;  // Read and not yet taken.
  };
  std::map<int, Leaf> leaves_;
};

}  // namespace sluice::formats::parquet_format
