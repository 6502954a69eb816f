// What a file tells of a row group without reading its rows: statistics, page index, bloom filters.
#pragma once

#include <span>

#include <arrow/type_fwd.h>
#include <parquet/file_reader.h>

#include "expr/expr.h"
#include "formats/format.h"
#include "formats/parquet/parquet_options.h"
#include "formats/pruning/row_ranges.h"
#include "types/schema.h"

namespace sluice::formats::parquet_format {

/// A row group and how its columns are to be seen. Borrows everything.
struct RowGroupView {
  const ParquetOptions& options;
  const Schema& physical;
  const arrow::Schema& file_columns;  // As Arrow sees the top-level fields.
  ::parquet::ParquetFileReader& reader;
  int part;
  arrow::MemoryPool* pool;
};

/// The rows that may pass all `filters` (over indices of `physical`): none when statistics of the
/// column chunks or, for equalities, bloom filters say so, else those of the pages that may match
/// each filter. Reads the latter two only when the first do not decide. May throw what the Parquet
/// library throws.
pruning::RowRanges MatchingRows(const RowGroupView& view, std::span<const expr::ExprPtr> filters);

/// What the footer tells exactly of a column of `physical`. Bounds only of columns stored as
/// integers, and of INT96 ones of our own files: those of floating numbers leave out NaN, those of
/// texts may be cut short. May throw what the Parquet library throws.
ColumnFacts ExactFacts(const RowGroupView& view, int column);

/// Keys of a column chunk under which our writer keeps the bounds of INT96 columns, for which
/// Parquet has no order: "seconds nanoseconds" of the instant.
constexpr const char* kInt96MinKey = "sluice.int96.min";
constexpr const char* kInt96MaxKey = "sluice.int96.max";
std::string Int96BoundText(int64_t value, int64_t units_per_second);

}  // namespace sluice::formats::parquet_format
