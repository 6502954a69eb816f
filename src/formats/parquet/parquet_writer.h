// Writes one Parquet file.
//
// Columns go through Parquet's column writers directly, not through Arrow's FileWriter: the schema
// is Flink's to the letter, and the bytes held for the open row group are known, which the sink's
// rolling and memory budget need. Invariant: rows of the open row group are in memory; those of
// ended ones are in the stream.
//
// A file that spans checkpoints is written by several generations of the library's writer, one for
// each row group (so that its page indexes and bloom filters are in the stream with it); the footer
// of a generation is kept here and not written, and the one at the end joins all.
// State (Save): that footer, and the rows of the open row group as Arrow IPC.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/io/interfaces.h>
#include <parquet/file_writer.h>
#include <parquet/properties.h>

#include "formats/file_operations.h"
#include "formats/format.h"
#include "formats/parquet/nested_levels.h"
#include "formats/parquet/parquet_footer.h"
#include "formats/parquet/parquet_options.h"
#include "formats/parquet/timestamp_values.h"

namespace sluice::formats::parquet_format {

/// Stands between the library and the caller's stream. Once detached, what the library still writes
/// (its destructor writes a footer) is dropped.
class StreamGate final : public arrow::io::OutputStream {
 public:
  /// `position`: bytes that the stream holds already.
  StreamGate(std::shared_ptr<arrow::io::OutputStream> stream, int64_t position)
      : stream_(std::move(stream)), position_(position) {}
  void Detach() { stream_.reset(); }
  /// The library begins a file at position 0 only, and with the magic: until that has come, the
  /// position is 0, and the magic is dropped, as the file has it already.
  void PretendStart() { pretending_ = true; }
  /// Holds back what comes from here on, until TakeFooter.
  void Hold() { holding_ = true; }
  /// Takes the footer off the end of what was held back and lets the rest through.
  Result<std::string> TakeFooter();

  arrow::Status Write(const void* data, int64_t length) override;
  arrow::Result<int64_t> Tell() const override { return pretending_ ? 0 : position_; }
  arrow::Status Close() override { return arrow::Status::OK(); }
  bool closed() const override { return false; }

 private:
  std::shared_ptr<arrow::io::OutputStream> stream_;
  int64_t position_;
  bool pretending_ = false;
  bool holding_ = false;
  std::string held_;
};

class ParquetWriter final : public SpanningWriter {
 public:
  static Result<std::unique_ptr<BulkWriter>> Make(ParquetOptions options, const Schema& schema,
                                                  std::shared_ptr<arrow::io::OutputStream> stream,
                                                  const FormatContext& context);
  /// Of a file that may stay open over checkpoints; `state` from Save, empty for a new file.
  static Result<std::unique_ptr<SpanningWriter>> MakeSpanning(
      ParquetOptions options, const Schema& schema, std::shared_ptr<arrow::io::OutputStream> stream,
      std::string_view state, const FormatContext& context);
  ~ParquetWriter() override;

  Status Write(const Batch& batch) override;
  int64_t estimated_file_bytes() const override;
  int64_t buffered_bytes() const override;
  Status Flush() override;
  Status Finish() override;
  Result<std::string> Save() override;
  int64_t state_bytes() const override { return too_many_rows_ ? 0 : kept_bytes_; }

 private:
  ParquetWriter(ParquetOptions options, const Schema& schema,
                std::shared_ptr<arrow::io::OutputStream> stream, int64_t position, bool spanning,
                arrow::MemoryPool* pool);
  Status WriteSlice(const Batch& batch);
  /// Widens the bounds of flat column `index`, whose values are instants to be written as INT96.
  void NoteInt96(int index, const arrow::Array& values);
  /// Leaves the bounds of the open row group beside its column chunks.
  void PutInt96Bounds();
  /// Opens the file with the properties that fit its first rows; nothing happens when it is open.
  Status Begin(const Batch* first);
  Status BeginRowGroup();
  Status EndRowGroup();
  /// Closes the library's writer and keeps its footer.
  Status EndGeneration();
  void KeepRows(const Batch& batch);
  Status Restore(std::string_view state);

  const ParquetOptions options_;
  const Schema schema_;
  const std::shared_ptr<StreamGate> stream_;
  arrow::MemoryPool* const pool_;
  WallClock wall_clock_;
  std::shared_ptr<::parquet::ArrowWriterProperties> arrow_properties_;
  ::parquet::ArrowWriteContext write_context_;
  std::unique_ptr<::parquet::ParquetFileWriter> file_;
  struct Int96Range {
    int leaf = 0;
    bool known = false;
    int64_t min = 0;  // In the unit of the column's Arrow type.
    int64_t max = 0;
  };
  std::map<int, Int96Range> int96_ranges_;          // Of the open row group, by column.
  ::parquet::RowGroupWriter* row_group_ = nullptr;  // Owned by file_; null between row groups.
  bool finished_ = false;

  const bool spanning_;
  const std::shared_ptr<arrow::Schema> arrow_schema_;
  std::optional<ParquetFooter> footer_;  // Of all ended generations.
  // Rows of the open row group, as long as they are few enough to be kept in a checkpoint.
  std::vector<std::shared_ptr<arrow::RecordBatch>> kept_rows_;
  int64_t kept_bytes_ = 0;
  bool too_many_rows_ = false;  // The open row group has more than what is kept.
};

}  // namespace sluice::formats::parquet_format
