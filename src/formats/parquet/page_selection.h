// Which data pages of a row group are read for the rows that are wanted, by the offset index.
#pragma once

#include <map>
#include <vector>

#include <arrow/io/interfaces.h>
#include <parquet/file_reader.h>
#include <parquet/page_index.h>

#include "formats/pruning/row_ranges.h"

namespace sluice::formats::parquet_format {

/// What is read of one leaf.
struct SelectedPages {
  std::vector<arrow::io::ReadRange>
      bytes;                        // Dictionary page and data pages; neighbours are joined.
  std::vector<int64_t> row_counts;  // Of the data pages, in order.
};

/// By leaf; those that are not here are read whole.
using PageSelection = std::map<int, SelectedPages>;

/// Where the pages of a chunk begin in the file.
int64_t ChunkBegin(const ::parquet::ColumnChunkMetaData& chunk);

/// Selects pages of the `leaf_count` leaves of one field from `first_leaf` on and returns the rows
/// that they hold, which are the same for all of them and have the `wanted` ones among them: all
/// rows of the row group when a leaf has no offset index, or one that contradicts itself. May throw
/// what the Parquet library throws.
pruning::RowRanges SelectPages(const ::parquet::RowGroupMetaData& row_group,
                               ::parquet::RowGroupPageIndexReader* indexes, int first_leaf,
                               int leaf_count, const pruning::RowRanges& wanted,
                               PageSelection* selection);

}  // namespace sluice::formats::parquet_format
