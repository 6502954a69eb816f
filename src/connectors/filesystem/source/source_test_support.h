// Shared by the tests of this folder: a format of plain lines, directories, and a driver for a
// source without a job.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <arrow/api.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/io_pool.h"
#include "connectors/filesystem/source/file_source.h"
#include "connectors/filesystem/source/file_table_source.h"
#include "types/value_text.h"

namespace sluice::connectors::filesystem {

/// Cuts at '\n'; with kAnyLineEnd also at "\r\n" and '\r', as csv does without quoting.
class LineFramer final : public formats::RowFramer {
 public:
  explicit LineFramer(bool any_line_end, bool splittable)
      : any_line_end_(any_line_end), splittable_(splittable) {}
  size_t CompletePrefix(std::string_view bytes, bool at_end_of_file) override {
    if (at_end_of_file) return bytes.size();
    for (size_t i = bytes.size(); i-- > 0;) {
      if (bytes[i] == '\n') return i + 1;
      if (any_line_end_ && bytes[i] == '\r' && i + 1 < bytes.size()) return i + 1;
    }
    return 0;
  }
  bool splittable() const override { return splittable_; }

 private:
  bool any_line_end_;
  bool splittable_;
};

/// One STRING column; a line that begins with "bad" is a bad record.
class LineDecoder final : public formats::RowDecoder {
 public:
  LineDecoder(const formats::ReadSchema& schema, bool any_line_end, bool ignore_errors)
      : schema_(schema), any_line_end_(any_line_end), ignore_errors_(ignore_errors) {}

  Result<formats::DecodedRows> DecodeChunk(std::string_view chunk, bool) override {
    formats::DecodedRows rows;
    arrow::StringBuilder builder;
    size_t begin = 0;
    while (begin < chunk.size() && !rows.failed) {
      size_t end = chunk.find_first_of(any_line_end_ ? "\r\n" : "\n", begin);
      end = std::min(end, chunk.size());
      const std::string_view line = chunk.substr(begin, end - begin);
      if (line.starts_with("bad")) {
        ++rows.bad_count;
        rows.failed = !ignore_errors_;
        rows.bad.push_back({.record = rows.record_count,
                            .line = rows.line_count,
                            .byte_offset = static_cast<int64_t>(begin),
                            .column = "line",
                            .reason = "It is bad. Set 'lines.ignore-parse-errors'.",
                            .text = std::string(line)});
      } else {
        EXPECT_TRUE(builder.Append(line).ok());
      }
      ++rows.record_count;
      ++rows.line_count;
      const bool crlf = any_line_end_ && chunk.substr(end).starts_with("\r\n");
      begin = end + (crlf ? 2 : 1);
    }
    const auto array = builder.Finish().ValueOrDie();
    arrow::ArrayVector columns;
    if (!schema_.projection.empty()) columns.push_back(array);
    rows.rows = Batch(
        arrow::RecordBatch::Make(schema_.output().ToArrow(), array->length(), std::move(columns)));
    return rows;
  }
  Result<formats::DecodedRows> DecodeMessages(std::span<const std::string_view>) override {
    return Status::Unsupported("lines");
  }

 private:
  formats::ReadSchema schema_;
  bool any_line_end_;
  bool ignore_errors_;
};

inline const formats::Format& LinesFormat() {
  static const formats::Format kFormat = [] {
    formats::Format format;
    format.name = "lines";
    format.make_decoder =
        [](const formats::FormatOptions& options, const formats::ReadSchema& schema,
           const formats::FormatContext&) -> Result<std::unique_ptr<formats::RowDecoder>> {
      return std::make_unique<LineDecoder>(schema, options.options.contains("any-line-end"),
                                           options.options.contains("ignore-parse-errors"));
    };
    format.make_framer =
        [](const formats::FormatOptions& options) -> Result<std::unique_ptr<formats::RowFramer>> {
      return std::make_unique<LineFramer>(options.options.contains("any-line-end"),
                                          !options.options.contains("whole"));
    };
    return format;
  }();
  return kFormat;
}

class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string pattern = std::filesystem::temp_directory_path() / "sluice-source-XXXXXX";
    path_ = mkdtemp(pattern.data());
  }
  ~TemporaryDirectory() { std::filesystem::remove_all(path_); }
  std::string Path(std::string_view name) const { return fs::JoinPath(path_, name); }
  const std::string& path() const { return path_; }
  void Write(std::string_view name, std::string_view bytes) const {
    const std::string path = Path(name);
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  }

 private:
  std::string path_;
};

/// Collects what a reader emits, one text a row, columns joined by '|'.
class CollectingOutput final : public runtime::Output {
 public:
  Status Emit(Batch batch) override {
    for (int64_t row = 0; row < batch.row_count(); ++row) {
      std::string text;
      for (int column = 0; column < batch.rows()->num_columns(); ++column) {
        if (column > 0) text += "|";
        const auto scalar = batch.column(column)->GetScalar(row).ValueOrDie();
        text += scalar->is_valid ? scalar->ToString() : "NULL";
      }
      rows.push_back(std::move(text));
    }
    return {};
  }
  Status EmitWatermark(int64_t) override { return {}; }
  Status EmitIdle(bool) override { return {}; }
  Status StopInput() override { return {}; }

  std::vector<std::string> rows;
};

/// Drives one source with its readers on the calling thread.
class SourceDriver {
 public:
  SourceDriver(TableSource& table_source, int parallelism, const Clock* clock = &Clock::System())
      : parallelism_(parallelism), clock_(clock) {
    runtime::SourceRuntimeOptions options;
    options.transform = [](Batch batch) -> Result<runtime::SourceBatch> {
      return runtime::SourceBatch{std::move(batch), std::nullopt, 0};
    };
    auto made = table_source.MakeSource(options);
    EXPECT_TRUE(made.ok()) << made.status().ToString();
    source_ = *made;
  }

  struct State {
    runtime::StateFields coordinator;
    std::vector<runtime::StateFields> readers;
  };

  Status Start(const State* state = nullptr) {
    runtime::SourceContext context;
    context.operator_id = "source";
    context.parallelism = parallelism_;
    context.clock = clock_;
    context.io_pool = &pool_;
    context.metrics = &metrics_;
    context.durable_checkpoints = true;
    std::optional<runtime::RestoredSourceState> restored;
    if (state != nullptr) {
      restored.emplace();
      restored->coordinator.emplace("source", state->coordinator);
      for (const auto& fields : state->readers) restored->readers.emplace_back("source", fields);
    }
    SLUICE_RETURN_NOT_OK(source_->Open(context, restored ? &*restored : nullptr));
    contexts_.resize(static_cast<size_t>(source_->reader_count()));
    for (int i = 0; i < source_->reader_count(); ++i) {
      SLUICE_ASSIGN_OR_RETURN(auto reader, source_->MakeReader(i));
      runtime::TaskContext& task = contexts_[static_cast<size_t>(i)];
      task.subtask = i;
      task.parallelism = parallelism_;
      task.clock = clock_;
      task.io_pool = &pool_;
      task.compute_pool = &pool_;
      task.memory_pool = arrow::default_memory_pool();
      task.metrics = &metrics_;
      task.wake = [] {};
      task.wake_at = [](int64_t) {};
      SLUICE_RETURN_NOT_OK(reader->Open(task));
      readers_.push_back(std::move(reader));
    }
    return {};
  }

  /// Polls the readers in turn until all are finished or wait, at most `polls` times.
  Status Run(int polls = 1'000'000) {
    size_t quiet = 0;
    for (int i = 0; i < polls && quiet < 3 * readers_.size(); ++i) {
      SLUICE_ASSIGN_OR_RETURN(const auto result,
                              readers_[next_++ % readers_.size()]->Poll(output_));
      quiet = result == runtime::SourceReader::PollResult::kEmitted ? 0 : quiet + 1;
      finished_ = result == runtime::SourceReader::PollResult::kFinished;
    }
    return {};
  }

  /// What the job hears once the checkpoint is on disk.
  void Complete(runtime::CheckpointId id) {
    for (const auto& reader : readers_) EXPECT_TRUE(reader->CheckpointComplete(id).ok());
  }

  State Checkpoint(runtime::CheckpointId id = 1) {
    State state;
    const runtime::Barrier barrier{.id = id};
    source_->FreezeSplits();
    for (const auto& reader : readers_) {
      runtime::StateWriter writer;
      EXPECT_TRUE(reader->Snapshot(barrier, writer).ok());
      state.readers.push_back(std::move(writer).Take());
      // Polling goes on between the snapshots; nothing may change hands.
      EXPECT_TRUE(readers_[0]->Poll(late_output_).ok());
    }
    runtime::StateWriter writer;
    EXPECT_TRUE(source_->Snapshot(barrier, writer).ok());
    state.coordinator = std::move(writer).Take();
    source_->ThawSplits();
    return state;
  }

  std::vector<std::string>& rows() { return output_.rows; }
  bool finished() const { return finished_; }
  runtime::Metrics& metrics() { return metrics_; }
  int reader_count() const { return source_->reader_count(); }

 private:
  const int parallelism_;
  const Clock* clock_;
  InlineIoPool pool_;
  runtime::Metrics metrics_;
  std::shared_ptr<runtime::Source> source_;
  std::vector<runtime::TaskContext> contexts_;
  std::vector<std::unique_ptr<runtime::SourceReader>> readers_;
  CollectingOutput output_;
  CollectingOutput late_output_;
  size_t next_ = 0;
  bool finished_ = false;
};

/// A table of lines with optional partition columns.
inline TableInfo LinesTable(const std::string& path,
                            const std::vector<Column>& partition_columns = {},
                            const OptionMap& more = {}) {
  TableInfo table;
  table.identifier = "t";
  std::vector<Column> columns = {{"line", SqlType::String()}};
  for (const Column& column : partition_columns) {
    columns.push_back(column);
    table.partition_keys.push_back(column.name);
  }
  table.physical = Schema(columns);
  table.options = {{"connector", "filesystem"}, {"path", path}, {"format", "lines"}};
  for (const auto& [key, value] : more) table.options[key] = value;
  return table;
}

inline std::unique_ptr<TableSource> OpenTable(const TableInfo& table,
                                              std::vector<std::string> metadata = {},
                                              const formats::Format& format = LinesFormat(),
                                              const ConnectorContext& context = {}) {
  auto source = MakeFileTableSource(table, context, format);
  EXPECT_TRUE(source.ok()) << source.status().ToString();
  std::vector<int> all;
  for (int i = 0; i < table.physical.column_count(); ++i) all.push_back(i);
  EXPECT_TRUE((*source)->ApplyProjection(all, std::move(metadata)).ok());
  return std::move(*source);
}

}  // namespace sluice::connectors::filesystem
