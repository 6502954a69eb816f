// What one reader has under way: fetches on the I/O pool, decodes on the compute pool, results in
// order.
//
// Splits are read one after another, chunk by chunk; the next split is opened while chunks of the
// last are still decoded. Fetching is one at a time; decoding of text is inline when every core has
// a reader of its own, else in parallel. Thread: Advance and TakeReady by the reader's task; jobs
// run on the pools and touch only what the mutex guards.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "common/io_pool.h"
#include "connectors/filesystem/source/split_columns.h"
#include "connectors/filesystem/source/split_reader.h"
#include "connectors/quarantine/quarantine.h"

namespace sluice::connectors::filesystem {

/// A piece of a split, on its way to being emitted.
struct ReadUnit {
  FetchedUnit fetched;
  std::shared_ptr<SplitColumns> columns;  // Null for a split that could not be opened.
  // Once ready:
  Status status;
  runtime::SourceBatch out;
  int64_t record_count = 0;
  int64_t line_count = 0;
  std::vector<formats::BadRecord> bad;
  int64_t bad_count = 0;
  int64_t ignored_count = 0;
  std::vector<QuarantinedRecord> taken_out;  // Positions are bytes of the file.
  bool failed = false;                       // bad[0] fails the read.
  bool vanished = false;                     // The file was gone.
  /// Splits that end with this unit, and where their bytes begin in it: several for small files
  /// that are decoded as one text.
  size_t split_count = 1;
  std::vector<size_t> file_begins;
  bool decode_singly = false;  // A record is bad: which file it is in must be found out.

  enum class State { kFetched, kDecoding, kReady };
  State state = State::kFetched;
};

struct PipelineSettings {
  IoPool* io_pool = nullptr;
  IoPool* compute_pool = nullptr;  // Null: decode inline.
  arrow::MemoryPool* memory_pool = nullptr;
  size_t window = 2;  // Units under way.
  std::function<void()> wake;
};

class ReadPipeline : public std::enable_shared_from_this<ReadPipeline> {
 public:
  ReadPipeline(std::shared_ptr<const FileSourceSpec> spec, PipelineSettings settings)
      : spec_(std::move(spec)), settings_(std::move(settings)) {}

  /// Starts whatever can be started. `next_splits` is asked when one is needed; several are small
  /// files (SplitPool::Take).
  void Advance(const std::function<std::vector<FileSplit>()>& next_splits);
  /// The oldest unit when it is ready.
  std::shared_ptr<ReadUnit> TakeReady();
  /// Nothing is under way and no split is open.
  bool Idle() const;

 private:
  struct OpenSplitState {
    std::vector<FileSplit> splits;
    std::unique_ptr<SplitReader> reader;
    std::shared_ptr<SplitColumns> columns;
  };
  void StartFetch();
  void Fetch(std::shared_ptr<OpenSplitState> open);
  Status FetchInto(OpenSplitState* open, ReadUnit* unit);
  std::shared_ptr<ReadUnit> FetchOne(OpenSplitState* open);
  std::vector<std::shared_ptr<ReadUnit>> FetchGroup(OpenSplitState* open);
  /// The aggregates of all splits in one unit; a split that fails gets one of its own behind it.
  std::vector<std::shared_ptr<ReadUnit>> FetchAggregates(const OpenSplitState& open);
  Status OpenColumns(OpenSplitState* open);
  /// Puts a unit for each file in the place of `unit`.
  void SplitUp(const std::shared_ptr<ReadUnit>& unit);
  void StartDecodes();
  void Finish(const std::shared_ptr<ReadUnit>& unit);
  Status Decode(ReadUnit* unit);
  Status TakeOutBad(formats::DecodedRows* rows, ReadUnit* unit) const;
  Result<std::unique_ptr<formats::RowDecoder>> TakeDecoder();

  const std::shared_ptr<const FileSourceSpec> spec_;
  const PipelineSettings settings_;

  mutable std::mutex mutex_;
  std::deque<std::shared_ptr<ReadUnit>> units_;
  std::shared_ptr<OpenSplitState> open_;
  bool fetching_ = false;
  std::vector<std::unique_ptr<formats::RowDecoder>> decoders_;  // Idle ones.
};

}  // namespace sluice::connectors::filesystem
