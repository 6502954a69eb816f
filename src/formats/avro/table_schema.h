// The Avro schema of a table's rows, as Flink names it (formats.md §3.2, §3.3).
#pragma once

#include <string>

#include "common/result.h"
#include "formats/avro/avro_options.h"
#include "types/schema.h"

namespace sluice::formats::avro {

/// Fails with kInvalidArgument when Avro cannot hold a column's type or name.
Status CheckColumns(const Schema& schema);

/// The schema as JSON in Flink's order of members: record "record", nested rows "record_field";
/// a nullable column is a union of null and its type with default null. Needs CheckColumns.
std::string TableSchemaJson(const Schema& schema, const AvroOptions& options);

/// Columns whose type Flink refuses under `options`, and which are written with the exact logical
/// type here: for a warning. Empty when there are none.
std::string BeyondFlink(const Schema& schema, const AvroOptions& options);

}  // namespace sluice::formats::avro
