// Container files in memory for tests: tables from JSON texts, written and read by any bulk format.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <arrow/api.h>
#include <arrow/compute/initialize.h>
#include <arrow/io/memory.h>
#include <arrow/json/from_string.h>

#include "common/check.h"
#include "formats/format.h"
#include "types/value_text.h"

namespace sluice::formats::testing {

/// Columns c0, c1, …
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
    SLUICE_CHECK(array.ok(), array.status().ToString());
    arrays.push_back(*array);
  }
  const int64_t length = arrays[0]->length();
  return Batch(arrow::RecordBatch::Make(schema.ToArrow(), length, std::move(arrays)));
}

inline FormatOptions BulkOptions(const Format& format, const OptionMap& options) {
  return {options, std::string(format.name) + "."};
}

inline Result<std::string> WriteBulk(const Format& format, const Schema& schema,
                                     const std::vector<Batch>& batches,
                                     const OptionMap& options = {}, bool flush_each = false) {
  auto stream = arrow::io::BufferOutputStream::Create().ValueOrDie();
  SLUICE_ASSIGN_OR_RETURN(
      const auto writer,
      format.make_bulk_writer(BulkOptions(format, options), schema, stream, FormatContext()));
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

inline Result<std::unique_ptr<BulkFile>> OpenBulk(const Format& format, const std::string& bytes,
                                                  const Schema& schema, std::vector<int> projection,
                                                  const OptionMap& options = {},
                                                  const FormatContext& context = {}) {
  auto file = std::make_shared<arrow::io::BufferReader>(arrow::Buffer::FromString(bytes));
  return format.open_bulk_file(BulkOptions(format, options), {schema, std::move(projection)}, file,
                               context);
}

/// All rows of all parts as one batch, checked to be what a batch must be.
inline Result<Batch> ReadBulk(const Format& format, const std::string& bytes, const Schema& schema,
                              const OptionMap& options = {}, const FormatContext& context = {}) {
  SLUICE_ASSIGN_OR_RETURN(const auto file,
                          OpenBulk(format, bytes, schema, AllColumns(schema), options, context));
  arrow::RecordBatchVector batches;
  for (int part = 0; part < file->part_count(); ++part) {
    SLUICE_ASSIGN_OR_RETURN(const auto rows, file->ReadPart(part));
    while (true) {
      SLUICE_ASSIGN_OR_RETURN(std::optional<Batch> batch, rows->Next());
      if (!batch) break;
      const arrow::RecordBatch& read = *batch->rows();
      SLUICE_CHECK(read.schema()->Equals(schema.ToArrow()), read.schema()->ToString());
      SLUICE_CHECK(read.ValidateFull().ok(), read.ValidateFull().ToString());
      batches.push_back(batch->rows());
    }
  }
  const auto table = arrow::Table::FromRecordBatches(schema.ToArrow(), batches).ValueOrDie();
  return Batch(table->CombineChunksToBatch().ValueOrDie());
}

/// The values of a column as CAST(… AS STRING) shows them.
inline std::vector<std::string> Texts(const Schema& schema, const Batch& batch, int column) {
  std::vector<std::string> texts;
  for (int64_t row = 0; row < batch.row_count(); ++row) {
    AppendValueText(schema.column(column).type, *batch.column(column), row, TimeZone(),
                    &texts.emplace_back());
  }
  return texts;
}

}  // namespace sluice::formats::testing
