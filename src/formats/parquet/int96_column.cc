#include "formats/parquet/int96_column.h"

namespace sluice::formats::parquet_format {

Result<std::shared_ptr<arrow::Array>> Int96Column::Read(int64_t row_count, WallClock* wall_clock,
                                                        arrow::MemoryPool* pool) {
  const bool optional = reader_->descr()->max_definition_level() > 0;
  levels_.resize(static_cast<size_t>(row_count));
  values_.resize(static_cast<size_t>(row_count));
  int64_t rows = 0;
  int64_t values = 0;
  while (rows < row_count) {
    int64_t values_read = 0;
    // A call returns at most what is left of a page.
    const int64_t rows_read =
        reader_->ReadBatch(row_count - rows, optional ? levels_.data() + rows : nullptr, nullptr,
                           values_.data() + values, &values_read);
    if (rows_read == 0) {
      return Status::DataError("The column ends after " + std::to_string(rows) + " of " +
                               std::to_string(row_count) + " rows: the file is damaged");
    }
    rows += rows_read;
    values += values_read;
  }
  return Int96ToTimestamps(values_.data(), optional ? levels_.data() : nullptr, row_count, target_,
                           wall_clock, pool);
}

}  // namespace sluice::formats::parquet_format
