// One value as a cell of a printed table, CSV field or JSON value.
#pragma once

#include <string>
#include <string_view>

#include <arrow/array/array_base.h>

#include "types/sql_type.h"
#include "types/time_zone.h"

namespace sluice::cli {

/// Appends the value as query results show it: CAST to STRING, bytes as x'78'. The value must not
/// be NULL.
void AppendCellText(const SqlType& type, const arrow::Array& values, int64_t row,
                    const TimeZone& zone, std::string* out);

/// Appends the value as JSON: numbers, booleans, strings; DECIMAL and times as text in CAST's form;
/// bytes base64; nested values as arrays and objects; null.
void AppendJson(const SqlType& type, const arrow::Array& values, int64_t row, const TimeZone& zone,
                std::string* out);

/// Appends `text` as a JSON string with its quotes.
void AppendJsonString(std::string_view text, std::string* out);

/// Cells of a terminal that `text` takes: wide East Asian characters and emoji two, combining marks
/// none.
int CellWidth(std::string_view text);

/// `text` cut to at most `width` cells, ending in "..." when cut.
std::string FitCells(std::string_view text, int width);

}  // namespace sluice::cli
