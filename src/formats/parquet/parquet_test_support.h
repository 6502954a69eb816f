// Shared by the tests of this folder: tables from JSON texts, files in memory.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <arrow/api.h>
#include <arrow/compute/initialize.h>
#include <arrow/io/memory.h>
#include <arrow/json/from_string.h>
#include <gtest/gtest.h>

#include "formats/parquet/parquet_format.h"
#include "types/value_text.h"

namespace sluice::formats::parquet_format {

inline Schema NumberedSchema(const std::vector<SqlType>& types) {
  std::vector<Column> columns;
  for (const SqlType& type : types) {
    std::string name = "c";
    name += std::to_string(columns.size());
    columns.push_back({name, type});
  }
  return Schema(columns);
}

/// One JSON array of values a column.
inline Batch BatchFromJson(const Schema& schema, const std::vector<std::string>& columns) {
  arrow::ArrayVector arrays;
  for (size_t i = 0; i < columns.size(); ++i) {
    auto array = arrow::json::ArrayFromJSONString(schema.column(static_cast<int>(i)).type.ToArrow(),
                                                  columns[i]);
    EXPECT_TRUE(array.ok()) << array.status().ToString();
    arrays.push_back(*array);
  }
  const int64_t length = arrays[0]->length();
  return Batch(arrow::RecordBatch::Make(schema.ToArrow(), length, std::move(arrays)));
}

inline Result<std::string> WriteFile(const Schema& schema, const std::vector<Batch>& batches,
                                     const OptionMap& options = {}, bool flush_each = false) {
  auto stream = arrow::io::BufferOutputStream::Create().ValueOrDie();
  SLUICE_ASSIGN_OR_RETURN(
      const auto writer,
      kParquetFormat.make_bulk_writer({options, "parquet."}, schema, stream, FormatContext()));
  for (const Batch& batch : batches) {
    SLUICE_RETURN_NOT_OK(writer->Write(batch));
    if (flush_each) SLUICE_RETURN_NOT_OK(writer->Flush());
  }
  SLUICE_RETURN_NOT_OK(writer->Finish());
  return stream->Finish().ValueOrDie()->ToString();
}

inline std::vector<int> AllColumns(const Schema& schema) {
  std::vector<int> all;
  for (int i = 0; i < schema.column_count(); ++i) all.push_back(i);
  return all;
}

inline Result<std::unique_ptr<BulkFile>> OpenFile(const std::string& bytes, const Schema& schema,
                                                  std::vector<int> projection,
                                                  const OptionMap& options = {}) {
  auto file = std::make_shared<arrow::io::BufferReader>(arrow::Buffer::FromString(bytes));
  return kParquetFormat.open_bulk_file({options, "parquet."}, {schema, std::move(projection)}, file,
                                       FormatContext());
}

/// All rows of all parts as one batch.
inline Result<Batch> ReadFile(const std::string& bytes, const Schema& schema,
                              const OptionMap& options = {}) {
  SLUICE_ASSIGN_OR_RETURN(const auto file, OpenFile(bytes, schema, AllColumns(schema), options));
  arrow::RecordBatchVector batches;
  for (int part = 0; part < file->part_count(); ++part) {
    SLUICE_ASSIGN_OR_RETURN(const auto rows, file->ReadPart(part));
    while (true) {
      SLUICE_ASSIGN_OR_RETURN(std::optional<Batch> batch, rows->Next());
      if (!batch) break;
      EXPECT_TRUE(batch->rows()->schema()->Equals(schema.ToArrow()))
          << batch->rows()->schema()->ToString();
      EXPECT_TRUE(batch->rows()->ValidateFull().ok()) << batch->rows()->ValidateFull().ToString();
      batches.push_back(batch->rows());
    }
  }
  const auto table = arrow::Table::FromRecordBatches(schema.ToArrow(), batches).ValueOrDie();
  return Batch(table->CombineChunksToBatch().ValueOrDie());
}

inline std::vector<std::string> Texts(const Schema& schema, const Batch& batch, int column) {
  std::vector<std::string> texts;
  for (int64_t row = 0; row < batch.row_count(); ++row) {
    AppendValueText(schema.column(column).type, *batch.column(column), row, TimeZone(),
                    &texts.emplace_back());
  }
  return texts;
}

}  // namespace sluice::formats::parquet_format
