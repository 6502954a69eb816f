// SQL values as JSON.
#pragma once

#include <cstdint>
#include <string>

#include <arrow/array/array_base.h>

#include "types/sql_type.h"

namespace sluice::expr {

/// Appends `values[row]` as JSON: times as ISO 8601 text, TIMESTAMP_LTZ in UTC with Z, bytes as
/// Base64, MAP and ROW as objects.
void AppendJsonValue(const SqlType& type, const arrow::Array& values, int64_t row,
                     std::string* out);

}  // namespace sluice::expr
