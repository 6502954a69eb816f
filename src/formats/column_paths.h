// Names of all columns of a schema, nested ones as "a.b": what a file holds that a table does not
// name.
#pragma once

#include <string>
#include <vector>

#include <arrow/type.h>

namespace sluice::formats {

/// Elements of arrays, keys and values of maps have the path of what they are in.
std::vector<std::string> ColumnPaths(const arrow::Schema& schema);

/// "a.b", or "b" below no column.
std::string ColumnPath(const std::string& parent, const std::string& name);

}  // namespace sluice::formats
