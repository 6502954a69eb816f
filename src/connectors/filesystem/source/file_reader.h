// One subtask of a file source.
//
// State: "splits", those taken and not yet read to the end, each with the position behind its last
// emitted row. What is under way in the pipeline is read again after a restart.
#pragma once

#include <deque>
#include <map>
#include <memory>

#include "connectors/filesystem/source/file_source.h"
#include "connectors/filesystem/source/read_pipeline.h"
#include "runtime/source.h"
#include "runtime/watermark.h"

namespace sluice::connectors::filesystem {

class FileReader final : public runtime::SourceReader {
 public:
  FileReader(std::shared_ptr<FileSource> source, int subtask, int reader_count, int parallelism)
      : source_(std::move(source)),
        subtask_(subtask),
        reader_count_(reader_count),
        parallelism_(parallelism) {}
  ~FileReader() override;

  Status Open(runtime::TaskContext& context) override;
  Result<PollResult> Poll(runtime::Output& out) override;
  Status Snapshot(const runtime::Barrier& barrier, runtime::StateWriter& state) override;
  Status CheckpointComplete(runtime::CheckpointId id) override;
  Result<bool> Drained() override;

 private:
  std::vector<FileSplit> TakeSplits();
  Status Emit(const std::shared_ptr<ReadUnit>& unit, runtime::Output& out);
  Status Failure(const ReadUnit& unit) const;
  std::string WhatBecameOf(const formats::BadRecord& bad) const;
  void CountBadRecords(const ReadUnit& unit);
  /// "/a/b.csv, line 17, column 'c': reason Text: '…'."
  std::string Describe(const ReadUnit& unit, const formats::BadRecord& bad) const;
  Status ScheduleWakes(runtime::Output& out);

  const std::shared_ptr<FileSource> source_;
  const int subtask_;
  const int reader_count_;
  const int parallelism_;
  runtime::TaskContext* context_ = nullptr;
  std::shared_ptr<ReadPipeline> pipeline_;
  std::unique_ptr<runtime::SplitWatermarks> watermarks_;
  std::optional<QuarantineBuffer> quarantine_;
  std::deque<FileSplit> held_;   // In the order in which they are read.
  std::vector<FileSplit> read_;  // To their ends, since the last snapshot; for DoneFiles.
  /// How far a split has come, for Metrics::SetPositions: until a complete checkpoint says so.
  struct Progress {
    int64_t position = 0;
    bool read = false;                      // To its end.
    runtime::CheckpointId reported_at = 0;  // First barrier that told it.
  };
  static std::string ProgressName(const FileSplit& split);
  std::map<std::string, Progress> progress_;
  bool frozen_ = false;  // The last split asked for was refused for the time of a checkpoint.
  std::atomic<int64_t>* rows_in_ = nullptr;
  std::atomic<int64_t>* rows_skipped_ = nullptr;
  std::atomic<int64_t>* bytes_in_ = nullptr;
  std::atomic<int64_t>* bad_records_ = nullptr;
};

}  // namespace sluice::connectors::filesystem
