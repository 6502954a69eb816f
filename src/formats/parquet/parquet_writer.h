// Writes one Parquet file.
//
// Columns go through Parquet's column writers directly, not through Arrow's FileWriter: the schema
// is Flink's to the letter, and the bytes held for the open row group are known, which the sink's
// rolling and memory budget need. Invariant: rows of the open row group are in memory; those of
// ended ones are in the stream. State: none yet. A file that spans checkpoints will keep (footer of
// ended row groups, rows of the open one) in the checkpoint: row groups are therefore begun and
// ended in one place each.
#pragma once

#include <memory>
#include <vector>

#include <arrow/io/interfaces.h>
#include <parquet/file_writer.h>
#include <parquet/properties.h>

#include "formats/format.h"
#include "formats/parquet/nested_levels.h"
#include "formats/parquet/parquet_options.h"
#include "formats/parquet/timestamp_values.h"

namespace sluice::formats::parquet_format {

/// Stands between the library and the caller's stream: once detached, what the library still writes
/// (its destructor writes a footer) is dropped.
class StreamGate final : public arrow::io::OutputStream {
 public:
  explicit StreamGate(std::shared_ptr<arrow::io::OutputStream> stream)
      : stream_(std::move(stream)) {}
  void Detach() { stream_.reset(); }
  arrow::Status Write(const void* data, int64_t length) override {
    position_ += length;
    return stream_ == nullptr ? arrow::Status::OK() : stream_->Write(data, length);
  }
  arrow::Result<int64_t> Tell() const override { return position_; }
  arrow::Status Close() override { return arrow::Status::OK(); }
  bool closed() const override { return false; }

 private:
  std::shared_ptr<arrow::io::OutputStream> stream_;
  int64_t position_ = 0;
};

class ParquetWriter final : public BulkWriter {
 public:
  static Result<std::unique_ptr<BulkWriter>> Make(ParquetOptions options, const Schema& schema,
                                                  std::shared_ptr<arrow::io::OutputStream> stream,
                                                  const FormatContext& context);
  ~ParquetWriter() override;

  Status Write(const Batch& batch) override;
  int64_t estimated_file_bytes() const override;
  int64_t buffered_bytes() const override;
  Status Flush() override;
  Status Finish() override;

 private:
  ParquetWriter(ParquetOptions options, const Schema& schema,
                std::shared_ptr<arrow::io::OutputStream> stream, arrow::MemoryPool* pool);
  Status WriteSlice(const Batch& batch);
  /// Opens the file with the properties that fit its first rows; nothing happens when it is open.
  Status Begin(const Batch* first);
  Status BeginRowGroup();
  Status EndRowGroup();

  const ParquetOptions options_;
  const Schema schema_;
  const std::shared_ptr<StreamGate> stream_;
  arrow::MemoryPool* const pool_;
  WallClock wall_clock_;
  std::shared_ptr<::parquet::ArrowWriterProperties> arrow_properties_;
  ::parquet::ArrowWriteContext write_context_;
  std::unique_ptr<::parquet::ParquetFileWriter> file_;
  ::parquet::RowGroupWriter* row_group_ = nullptr;  // Owned by file_; null between row groups.
  bool finished_ = false;
};

}  // namespace sluice::formats::parquet_format
