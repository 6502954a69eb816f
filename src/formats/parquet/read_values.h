// Columns of Parquet files as the columns that a table declares: which types are compatible, and
// how they are converted.
#pragma once

#include <memory>
#include <span>
#include <string>

#include <arrow/array/array_base.h>
#include <arrow/memory_pool.h>

#include "common/result.h"
#include "formats/parquet/int96_source.h"
#include "formats/parquet/timestamp_values.h"
#include "types/sql_type.h"

namespace sluice::formats::parquet_format {

/// True when values of the file's type (as Arrow reads it) can become values of `type`, value by
/// value.
bool CanRead(const arrow::DataType& file_type, const SqlType& type);

/// What the Arrow type of a file's column does not tell.
struct SourceTraits {
  // Leaves of the file whose 16 bytes are a UUID: its text form for character columns. Must outlive
  // the conversion.
  std::span<const int> uuid_leaves;
  // Values of the INT96 leaves of a nested column, null when there are none. They are instants, to
  // be shifted to the wall clock.
  Int96Source* int96 = nullptr;
  int first_leaf = 0;  // Of the column in the file.
};

/// Converts arrays of one file. Not thread-safe.
class ReadConverter {
 public:
  ReadConverter(WallClock* wall_clock, arrow::MemoryPool* pool)
      : wall_clock_(wall_clock), pool_(pool) {}

  /// An array of type.ToArrow(). CanRead must hold. Fails with kDataError for a value that does not
  /// fit or text that is not UTF-8; `*bad_row` receives its row when it is known, else -1.
  Result<std::shared_ptr<arrow::Array>> Convert(const std::shared_ptr<arrow::Array>& values,
                                                const SqlType& type, const SourceTraits& traits,
                                                int64_t* bad_row);

 private:
  using ArrayPtr = std::shared_ptr<arrow::Array>;
  Result<ArrayPtr> ConvertScalars(const ArrayPtr& values, const SqlType& type,
                                  const SourceTraits& traits);
  Result<ArrayPtr> ToTimestamps(const ArrayPtr& values, const SqlType& type,
                                const SourceTraits& traits);
  Result<ArrayPtr> ToText(const ArrayPtr& values, const SourceTraits& traits);
  Result<ArrayPtr> ToDecimal(const ArrayPtr& values, const SqlType& type);
  Result<ArrayPtr> ToTime(const ArrayPtr& values, const SqlType& type);
  Result<ArrayPtr> ConvertList(const ArrayPtr& values, const SqlType& type,
                               const SourceTraits& traits);
  Result<ArrayPtr> ConvertMap(const ArrayPtr& values, const SqlType& type,
                              const SourceTraits& traits);
  Result<ArrayPtr> ConvertRow(const ArrayPtr& values, const SqlType& type,
                              const SourceTraits& traits);
  Result<ArrayPtr> Cast(const ArrayPtr& values, std::shared_ptr<arrow::DataType> type);
  Result<ArrayPtr> ConvertInner(const ArrayPtr& values, const SqlType& type,
                                const SourceTraits& traits);

  WallClock* const wall_clock_;
  arrow::MemoryPool* const pool_;
  int64_t bad_row_ = -1;
};

}  // namespace sluice::formats::parquet_format
