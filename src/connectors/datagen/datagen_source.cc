#include "connectors/datagen/datagen_source.h"

#include <algorithm>
#include <charconv>
#include <map>

#include <arrow/record_batch.h>

#include "common/text.h"
#include "runtime/watermark.h"

namespace sluice::connectors {
namespace {

using runtime::Barrier;
using runtime::Output;
using runtime::SourceReader;
using runtime::StateReader;
using runtime::StateWriter;
using runtime::TaskContext;

constexpr std::string_view kSplitsField = "splits";
/// A batch waits this long for more rows when the rate is low: half of the greatest age allowed.
constexpr int64_t kGatherMicros = 50'000;
/// After a pause (back-pressure) at most this much is caught up with at once.
constexpr int64_t kCatchUpMicros = 1'000'000;

/// Row numbers next, next + stride, … below the table's limit.
struct RowSplit {
  int64_t next = 0;
  int64_t stride = 1;

  /// Rows left below `limit`.
  int64_t Remaining(int64_t limit) const {
    return next >= limit ? 0 : (limit - 1 - next) / stride + 1;
  }
  std::string ToText() const { return std::to_string(next) + "," + std::to_string(stride); }
};

Result<RowSplit> ParseSplit(const std::string& text) {
  const std::vector<std::string_view> parts = Split(text, ',');
  if (parts.size() == 2) {
    const std::optional<int64_t> next = ParseInt64(parts[0]);
    const std::optional<int64_t> stride = ParseInt64(parts[1]);
    if (next && stride && *next >= 0 && *stride > 0) return RowSplit{*next, *stride};
  }
  return Status::Corrupt("The state of a datagen source holds the split '" + text +
                         "', which is not of the form 'next,stride'. Start with --fresh.");
}

/// Spreads `splits` over `reader_count` readers; divides progressions when there are too few of
/// them.
std::vector<std::vector<RowSplit>> Distribute(std::vector<RowSplit> splits, int reader_count) {
  const auto readers = static_cast<size_t>(reader_count);
  if (splits.size() < readers) {
    const auto factor = static_cast<int64_t>((readers + splits.size() - 1) / splits.size());
    std::vector<RowSplit> divided;
    for (const RowSplit& split : splits) {
      for (int64_t i = 0; i < factor; ++i) {
        divided.push_back({split.next + i * split.stride, split.stride * factor});
      }
    }
    splits = std::move(divided);
  }
  std::vector<std::vector<RowSplit>> assigned(readers);
  for (size_t i = 0; i < splits.size(); ++i) assigned[i % readers].push_back(splits[i]);
  return assigned;
}

/// Says how many rows may have been emitted by now. Row n (from 0) of a table is due n / rate after
/// the start.
class Pacer {
 public:
  /// This reader's share: of the table's rows, those with number % readers == subtask.
  Pacer(int64_t rows_per_second, int subtask, int readers)
      : rate_(rows_per_second), subtask_(subtask), readers_(readers) {}

  void Start(int64_t now_us) { start_us_ = now_us; }

  /// Rows due and not yet emitted. Never more than a second's worth behind.
  int64_t Due(int64_t now_us) {
    const int64_t due = ShareOf(now_us - start_us_) - emitted_;
    const int64_t most = ShareOf(kCatchUpMicros) + 1;
    if (due <= most) return due;
    emitted_ += due - most;  // Forgives the rest.
    return most;
  }
  void Emitted(int64_t rows) { emitted_ += rows; }

  /// When the next row is due.
  int64_t NextDueMicros() const {
    const __int128 table_row = static_cast<__int128>(emitted_) * readers_ + subtask_;
    return start_us_ + static_cast<int64_t>((table_row * 1'000'000 + rate_ - 1) / rate_);
  }

 private:
  int64_t ShareOf(int64_t elapsed_us) const {
    const __int128 table_rows = static_cast<__int128>(elapsed_us) * rate_ / 1'000'000 + 1;
    return static_cast<int64_t>((table_rows - subtask_ + readers_ - 1) / readers_);
  }

  const int64_t rate_;
  const int64_t subtask_;
  const int64_t readers_;
  int64_t start_us_ = 0;
  int64_t emitted_ = 0;
};

class DatagenReader final : public SourceReader {
 public:
  DatagenReader(std::shared_ptr<const DatagenScan> scan, runtime::SourceRuntimeOptions options,
                std::vector<RowSplit> splits, int subtask, int reader_count)
      : scan_(std::move(scan)),
        options_(std::move(options)),
        splits_(std::move(splits)),
        subtask_(subtask),
        limit_(scan_->plan.row_limit.value_or(INT64_MAX)),
        pacer_(scan_->plan.rows_per_second, subtask, reader_count),
        schema_(scan_->schema.Select(scan_->projection).ToArrow()) {
    batch_rows_ =
        std::clamp<int64_t>(kTargetBatchBytes / scan_->plan.row_bytes, 1, kTargetBatchRows);
  }

  Status Open(TaskContext& context) override {
    context_ = &context;
    for (const RowSplit& split : splits_) {
      // Progressions that differ have names that differ, whatever the number of readers. The name
      // of one that has ended is not known any more; it does not move either.
      names_.push_back(split.next >= limit_
                           ? ""
                           : "datagen rows " + std::to_string(split.next % split.stride) + " of " +
                                 std::to_string(split.stride));
    }
    seed_ = scan_->plan.seed.value_or(MixBits(context.random_seed));
    rows_in_ = &context.metrics->Counter(runtime::metric::kRowsIn);
    row_time_null_ = &context.metrics->Counter(runtime::metric::kRowTimeNull);
    watermarks_.emplace(options_.watermark, context.clock);
    if (HasRows()) watermarks_->AddSplit(kWatermarkSplit);
    const int64_t now_us = context.clock->MonotonicMicros();
    pacer_.Start(now_us);
    last_emit_us_ = now_us - kGatherMicros;
    return {};
  }

  Result<PollResult> Poll(Output& out) override {
    RowSplit* split = NextSplit();
    if (split == nullptr) return Finish(out);
    const int64_t now_us = context_->clock->MonotonicMicros();
    const int64_t due = pacer_.Due(now_us);
    const int64_t wanted = std::min(batch_rows_, split->Remaining(limit_));
    if (due < wanted && (due <= 0 || now_us - last_emit_us_ < kGatherMicros)) {
      return Wait(now_us, due, out);
    }
    const int64_t rows = std::min(due, wanted);
    SLUICE_RETURN_NOT_OK(EmitRows(*split, rows, out));
    split->next = split->Remaining(limit_) > rows ? split->next + rows * split->stride : limit_;
    pacer_.Emitted(rows);
    last_emit_us_ = now_us;
    SLUICE_RETURN_NOT_OK(EmitWatermark(out));
    return PollResult::kEmitted;
  }

  Status Snapshot(const Barrier& barrier, StateWriter& state) override {
    (void)barrier;
    std::vector<std::string> texts;
    for (const RowSplit& split : splits_) texts.push_back(split.ToText());
    state.PutStrings(kSplitsField, texts);
    std::map<std::string, int64_t> positions;
    for (size_t i = 0; i < splits_.size(); ++i) {
      if (!names_[i].empty()) positions[names_[i]] = splits_[i].next;
    }
    context_->metrics->SetPositions(context_->operator_id + "/" + std::to_string(subtask_),
                                    std::move(positions));
    return {};
  }

 private:
  static constexpr const char* kWatermarkSplit = "datagen";

  bool HasRows() const {
    return std::any_of(splits_.begin(), splits_.end(),
                       [&](const RowSplit& split) { return split.Remaining(limit_) > 0; });
  }

  /// The next split in turn with rows left, nullptr when there is none.
  RowSplit* NextSplit() {
    for (size_t i = 0; i < splits_.size(); ++i) {
      current_ = (current_ + 1) % splits_.size();
      if (splits_[current_].Remaining(limit_) > 0) return &splits_[current_];
    }
    return nullptr;
  }

  Result<PollResult> Finish(Output& out) {
    if (!finished_) {
      finished_ = true;
      watermarks_->RemoveSplit(kWatermarkSplit);
      SLUICE_RETURN_NOT_OK(EmitWatermark(out));
    }
    return PollResult::kFinished;
  }

  Result<PollResult> Wait(int64_t now_us, int64_t due, Output& out) {
    SLUICE_RETURN_NOT_OK(EmitWatermark(out));
    int64_t at_us = last_emit_us_ + kGatherMicros;
    if (due <= 0) at_us = std::max(at_us, pacer_.NextDueMicros());
    const int64_t wait_ms = std::max<int64_t>(1, (at_us - now_us + 999) / 1000);
    context_->wake_at(context_->clock->NowMillis() + wait_ms);
    return PollResult::kWaiting;
  }

  Status EmitRows(const RowSplit& split, int64_t rows, Output& out) {
    const RowRange range{.first = split.next, .stride = split.stride, .row_count = rows};
    GenerateContext generate;
    generate.seed = seed_;
    generate.now_ms = context_->clock->NowMillis();
    generate.local_now_ms = scan_->session_zone.InstantToLocalMillis(generate.now_ms);
    if (context_->memory_pool != nullptr) generate.pool = context_->memory_pool;
    arrow::ArrayVector arrays;
    for (const int column : scan_->projection) {
      SLUICE_ASSIGN_OR_RETURN(
          std::shared_ptr<arrow::Array> array,
          scan_->plan.columns[static_cast<size_t>(column)]->Generate(range, generate));
      arrays.push_back(std::move(array));
    }
    SLUICE_ASSIGN_OR_RETURN(
        runtime::SourceBatch batch,
        options_.transform(Batch(arrow::RecordBatch::Make(schema_, rows, std::move(arrays)))));
    rows_in_->fetch_add(rows, std::memory_order_relaxed);
    if (batch.null_row_times > 0) row_time_null_->fetch_add(batch.null_row_times);
    SLUICE_RETURN_NOT_OK(out.Emit(std::move(batch.rows)));
    watermarks_->Observe(kWatermarkSplit, batch.watermark_ms);
    return {};
  }

  Status EmitWatermark(Output& out) {
    SLUICE_ASSIGN_OR_RETURN(const std::optional<int64_t> again, watermarks_->EmitDue(out));
    if (again) context_->wake_at(*again);
    return {};
  }

  const std::shared_ptr<const DatagenScan> scan_;
  const runtime::SourceRuntimeOptions options_;
  std::vector<RowSplit> splits_;
  std::vector<std::string> names_;  // For Metrics::SetPositions.
  const int subtask_;
  const int64_t limit_;
  Pacer pacer_;
  const std::shared_ptr<arrow::Schema> schema_;
  int64_t batch_rows_ = kTargetBatchRows;
  size_t current_ = 0;
  uint64_t seed_ = 0;
  int64_t last_emit_us_ = 0;
  bool finished_ = false;
  TaskContext* context_ = nullptr;
  std::atomic<int64_t>* rows_in_ = nullptr;
  std::atomic<int64_t>* row_time_null_ = nullptr;
  std::optional<runtime::SplitWatermarks> watermarks_;
};

class DatagenSource final : public runtime::Source {
 public:
  DatagenSource(DatagenScan scan, runtime::SourceRuntimeOptions options)
      : scan_(std::make_shared<const DatagenScan>(std::move(scan))), options_(std::move(options)) {}

  bool bounded() const override { return scan_->plan.row_limit.has_value(); }

  Status Open(const runtime::SourceContext& context,
              const runtime::RestoredSourceState* restored) override {
    const int wanted = scan_->plan.parallelism.value_or(context.parallelism);
    reader_count_ = std::max(1, std::min(wanted, context.parallelism));
    std::vector<RowSplit> splits;
    if (restored != nullptr) {
      for (const StateReader& reader : restored->readers) {
        SLUICE_ASSIGN_OR_RETURN(const std::vector<std::string> texts,
                                reader.GetStrings(kSplitsField));
        for (const std::string& text : texts) {
          SLUICE_ASSIGN_OR_RETURN(RowSplit split, ParseSplit(text));
          splits.push_back(split);
        }
      }
    }
    if (splits.empty()) splits.push_back({});
    assigned_ = Distribute(std::move(splits), reader_count_);
    return {};
  }

  int reader_count() const override { return reader_count_; }

  Result<std::unique_ptr<SourceReader>> MakeReader(int subtask) override {
    return std::make_unique<DatagenReader>(scan_, options_, assigned_[static_cast<size_t>(subtask)],
                                           subtask, reader_count_);
  }

 private:
  const std::shared_ptr<const DatagenScan> scan_;
  const runtime::SourceRuntimeOptions options_;
  int reader_count_ = 1;
  std::vector<std::vector<RowSplit>> assigned_;
};

}  // namespace

std::shared_ptr<runtime::Source> MakeDatagenSource(DatagenScan scan,
                                                   runtime::SourceRuntimeOptions options) {
  return std::make_shared<DatagenSource>(std::move(scan), std::move(options));
}

}  // namespace sluice::connectors
