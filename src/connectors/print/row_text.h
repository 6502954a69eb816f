// The text of a row as Flink's print sink writes it: the toString of the Java objects that its rows
// are made of.
#pragma once

#include <string>

#include <arrow/array/array_base.h>

#include "types/batch.h"
#include "types/schema.h"

namespace sluice::connectors {

/// Appends "+I[1, a, null]" for `row` of `batch`, whose columns are those of `schema`.
void AppendRowText(const Schema& schema, const Batch& batch, int64_t row, std::string* out);

/// Appends one value: "null", "1.50", "2020-05-20T12:34:56.700", "[1, 2]", "{a=1}", "+I[1, y]".
void AppendPrintedValue(const SqlType& type, const arrow::Array& values, int64_t row,
                        std::string* out);

}  // namespace sluice::connectors
