// Shared by the tests of this folder: files made of bytes by hand, and their rows as texts.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <arrow/api.h>
#include <arrow/io/memory.h>
#include <gtest/gtest.h>

#include "formats/avro/avro_file.h"
#include "formats/avro/avro_format.h"
#include "formats/avro/binary_output.h"
#include "formats/testing/bulk_files.h"
#include "formats/testing/render.h"

namespace sluice::formats::avro {

using testing::BatchFromJson;

inline Result<std::string> WriteFile(const Schema& schema, const std::vector<Batch>& batches,
                                     const OptionMap& options = {}, bool flush_each = false) {
  return testing::WriteBulk(kAvroFormat, schema, batches, options, flush_each);
}

inline Result<std::unique_ptr<BulkFile>> OpenFile(const std::string& bytes, ReadSchema schema,
                                                  int64_t part_bytes = kPartBytes) {
  auto file = std::make_shared<arrow::io::BufferReader>(arrow::Buffer::FromString(bytes));
  return AvroFile::Open(std::move(schema), std::move(file), FormatContext(), part_bytes);
}

/// All rows of all parts.
inline Result<std::vector<Batch>> ReadBatches(BulkFile& file) {
  std::vector<Batch> batches;
  for (int part = 0; part < file.part_count(); ++part) {
    SLUICE_ASSIGN_OR_RETURN(const auto rows, file.ReadPart(part));
    int64_t count = 0;
    while (true) {
      SLUICE_ASSIGN_OR_RETURN(std::optional<Batch> batch, rows->Next());
      if (!batch) break;
      EXPECT_TRUE(batch->rows()->ValidateFull().ok()) << batch->rows()->ValidateFull().ToString();
      count += batch->row_count();
      batches.push_back(std::move(*batch));
    }
    EXPECT_EQ(file.row_count(part), count);
  }
  return batches;
}

inline Result<std::vector<std::string>> ReadRows(const std::string& bytes, ReadSchema schema,
                                                 int64_t part_bytes = kPartBytes) {
  SLUICE_ASSIGN_OR_RETURN(const auto file, OpenFile(bytes, std::move(schema), part_bytes));
  SLUICE_ASSIGN_OR_RETURN(const std::vector<Batch> batches, ReadBatches(*file));
  std::vector<std::string> rows;
  for (const Batch& batch : batches) {
    for (std::string& row : testing::RenderRows(batch)) rows.push_back(std::move(row));
  }
  return rows;
}

inline Result<std::vector<std::string>> ReadRows(const std::string& bytes, const Schema& schema) {
  return ReadRows(bytes, testing::AllOf(schema));
}

inline std::string Long(int64_t value) {
  std::string bytes;
  PutLong(value, &bytes);
  return bytes;
}

inline std::string Sized(std::string_view text) {
  std::string bytes;
  PutSized(text, &bytes);
  return bytes;
}

/// A file of one block without compression: `data` holds `rows` records.
inline std::string FileOf(const std::string& schema_json, int64_t rows, const std::string& data) {
  ContainerHeader header;
  header.schema_json = schema_json;
  header.sync = "0123456789abcdef";
  return EncodeHeader(header) + Long(rows) + Sized(data) + header.sync;
}

/// The schema of a record with one field `v` of that type.
inline std::string RecordOf(const std::string& type_json) {
  return R"({"type":"record","name":"r","fields":[{"name":"v","type":)" + type_json + "}]}";
}

/// The value of one record with one field, read into a column of `type`; else the message.
inline std::string ReadOne(const std::string& type_json, const std::string& data,
                           const SqlType& type) {
  const auto rows = ReadRows(FileOf(RecordOf(type_json), 1, data), Schema({{"v", type}}));
  if (!rows.ok()) return rows.status().ToString();
  return rows->size() == 1 ? rows->front() : std::to_string(rows->size()) + " rows";
}

}  // namespace sluice::formats::avro
