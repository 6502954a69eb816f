// Shared by the tests of this folder: files in memory.
#pragma once

#include <string>
#include <vector>

#include "formats/parquet/parquet_format.h"
#include "formats/testing/bulk_files.h"

namespace sluice::formats::parquet_format {

using testing::AllColumns;
using testing::BatchFromJson;
using testing::NumberedSchema;
using testing::Texts;

inline Result<std::string> WriteFile(const Schema& schema, const std::vector<Batch>& batches,
                                     const OptionMap& options = {}, bool flush_each = false) {
  return testing::WriteBulk(kParquetFormat, schema, batches, options, flush_each);
}

inline Result<std::unique_ptr<BulkFile>> OpenFile(const std::string& bytes, const Schema& schema,
                                                  std::vector<int> projection,
                                                  const OptionMap& options = {}) {
  return testing::OpenBulk(kParquetFormat, bytes, schema, std::move(projection), options);
}

inline Result<Batch> ReadFile(const std::string& bytes, const Schema& schema,
                              const OptionMap& options = {}) {
  return testing::ReadBulk(kParquetFormat, bytes, schema, options);
}

}  // namespace sluice::formats::parquet_format
