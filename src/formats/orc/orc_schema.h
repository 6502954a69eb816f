// The ORC types of a table's columns, and which columns of a file are the table's (formats.md
// §5.2).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/result.h"
#include "formats/format.h"
#include "formats/orc/metadata.h"

namespace sluice::formats::orc_format {

/// Fails with kUnsupported in Flink's words, naming type and column, for types that ORC files of
/// tables do not hold (TIME, MULTISET, intervals, NULL) at any depth.
Status CheckColumnTypes(const Schema& schema);

/// The type tree of a file with these columns; node 0 is the root struct.
std::vector<OrcType> MakeOrcTypes(const Schema& schema);

/// Fails with kInvalidArgument, naming the column and the nearest one, when a column of
/// 'orc.bloom.filter.columns' is not in the table or has a type that bloom filters are not written
/// for: they are for whole numbers, reals, dates, STRING, VARCHAR and binary.
Status CheckBloomColumns(const std::vector<std::string>& columns, const Schema& schema);

/// How one column, element or field is read.
struct ReadNode {
  SqlType type;
  int64_t column = -1;  // Id in the file; -1: not there, all NULL.
  std::vector<ReadNode> children;
};

/// The wanted columns in the order of the output. Top-level columns match by name, or by position
/// when every name of the file is "_colN"; fields of nested types by name. Fails with kDataError
/// naming column and both types when values cannot be converted.
Result<std::vector<ReadNode>> PlanColumns(const ReadSchema& schema,
                                          const std::vector<OrcType>& types);

/// Position in the root struct of the table's column `index`, -1 when the file does not have it.
int FindField(const Schema& physical, int index, const OrcType& root);

/// Marks the ids of all columns that reading `nodes` touches, their parents included.
std::vector<bool> TouchedColumns(const std::vector<ReadNode>& nodes, size_t column_count);

}  // namespace sluice::formats::orc_format
