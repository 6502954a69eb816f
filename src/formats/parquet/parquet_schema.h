// The Parquet schema of a table's columns, as Flink writes it (formats.md §4.2).
#pragma once

#include <memory>

#include <parquet/schema.h>

#include "common/result.h"
#include "formats/parquet/parquet_options.h"
#include "types/schema.h"

namespace sluice::formats::parquet_format {

/// Fails with kUnsupported naming the column for types that Parquet files of tables do not hold
/// (intervals, NULL).
Status CheckColumnTypes(const Schema& schema);

/// Message "flink_schema"; nullable columns are optional, 3-level lists, decimals as fixed-length
/// bytes of least size.
std::shared_ptr<::parquet::schema::GroupNode> MakeParquetSchema(const Schema& schema,
                                                                const ParquetOptions& options);

/// False for columns that never get a dictionary.
bool MayHaveDictionary(const SqlType& type);

/// Bytes that hold `precision` decimal digits in two's complement.
int DecimalByteCount(int precision);

}  // namespace sluice::formats::parquet_format
