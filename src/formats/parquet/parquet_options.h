// The options of 'parquet' as values (formats.md §4.1).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>

#include <arrow/type_fwd.h>
#include <arrow/util/type_fwd.h>

#include "common/options.h"
#include "common/result.h"
#include "formats/format.h"
#include "types/time_zone.h"

namespace sluice::formats::parquet_format {

struct BloomFilterOptions {
  bool enabled = false;
  std::map<std::string, bool> enabled_of_column;
  std::map<std::string, int64_t> distinct_of_column;
  std::map<std::string, double> false_positives_of_column;
};

struct ParquetOptions {
  /// Zone in which a TIMESTAMP in INT96 is turned into an instant and back: the process's, or UTC.
  TimeZone wall_clock_zone;
  arrow::TimeUnit::type int64_unit = arrow::TimeUnit::MICRO;
  bool write_int64 = false;
  int64_t batch_rows = kTargetBatchRows;
  arrow::Compression::type compression = arrow::Compression::SNAPPY;
  int zstd_level = 3;
  int64_t row_group_bytes = 128 << 20;
  int64_t page_bytes = 1 << 20;
  int64_t dictionary_page_bytes = 1 << 20;
  bool dictionary = true;
  bool version_2 = false;
  BloomFilterOptions bloom_filter;
};

std::span<const OptionSpec> OptionSpecs();

/// Fails with kInvalidArgument naming the option with its prefix, and the nearest known name of an
/// unknown one.
Result<ParquetOptions> ParseOptions(const FormatOptions& options);

}  // namespace sluice::formats::parquet_format
