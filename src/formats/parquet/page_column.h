// A flat column of numbers as arrays that lie in its pages: what is PLAIN and has no NULL is not
// copied. Other encodings are decoded, NULLs spread.
#pragma once

#include <memory>

#include <arrow/array/array_base.h>
#include <arrow/memory_pool.h>
#include <arrow/type_fwd.h>
#include <parquet/file_reader.h>
#include <parquet/schema.h>

namespace sluice::formats::parquet_format {

/// True for leaves whose values are those of the Arrow type as they stand in the file.
bool HasPlainNumbers(const ::parquet::ColumnDescriptor& leaf, const arrow::DataType& type);

/// Not thread-safe. May throw what the Parquet library throws.
class PageColumn {
 public:
  virtual ~PageColumn() = default;
  /// Of a leaf that HasPlainNumbers. `row_group` is one of a paged file (paged_file.h).
  static std::unique_ptr<PageColumn> Make(::parquet::RowGroupReader* row_group, int leaf,
                                          std::shared_ptr<arrow::DataType> type,
                                          arrow::MemoryPool* pool);
  /// The values of the next page that has any; null when there is none.
  virtual std::shared_ptr<arrow::Array> Next() = 0;
};

}  // namespace sluice::formats::parquet_format
