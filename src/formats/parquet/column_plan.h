// How each wanted column is read from one file: by name, per file.
#pragma once

#include <memory>
#include <vector>

#include <arrow/type_fwd.h>
#include <parquet/metadata.h>
#include <parquet/schema.h>

#include "common/result.h"
#include "formats/format.h"
#include "formats/parquet/read_values.h"

namespace sluice::formats::parquet_format {

struct ColumnPlan {
  enum class How {
    kMissing,  // Not in the file: NULL.
    kInt96,    // A top-level INT96 column: read without Arrow, which cannot take all its values.
    kNumbers,  // A flat column of numbers: arrays that lie in the pages.
    kArrow,
  };
  How how = How::kMissing;
  std::string name;
  SqlType type;
  int first_leaf = 0;
  int leaf_count = 0;
  std::vector<int> uuid_leaves;                // Those of `SourceTraits`.
  std::shared_ptr<arrow::DataType> file_type;  // As Arrow sees it; kNumbers.
  std::vector<int> int96_leaves;               // kArrow: those read beside Arrow.
};

struct ReadPlan {
  std::vector<ColumnPlan> columns;  // In the order of the output.
};

/// `file_columns`: the top-level fields as Arrow sees them. Fails with kDataError naming column and
/// both types.
Result<ReadPlan> MakeReadPlan(const ReadSchema& schema, const ::parquet::SchemaDescriptor& file,
                              const arrow::Schema& file_columns);

/// True for 16 bytes that stand for a UUID.
bool IsUuid(const ::parquet::ColumnDescriptor& leaf);

/// Index of the top-level field of that exact name, -1 if there is none.
int FindField(const ::parquet::SchemaDescriptor& file, std::string_view name);

}  // namespace sluice::formats::parquet_format
