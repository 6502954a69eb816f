// For tests of the file sink: drives its operators by hand over a disk in memory that can be
// killed, as the runtime would, with two small formats of its own.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <arrow/array/array_binary.h>
#include <arrow/array/array_primitive.h>
#include <arrow/array/builder_binary.h>
#include <arrow/array/builder_primitive.h>

#include "connectors/connector.h"
#include "connectors/filesystem/sink/file_table_sink.h"
#include "fs/faulty/faulty_file_systems.h"
#include "runtime/operator.h"

namespace sluice::connectors::filesystem {

/// Columns joined by commas, a line feed behind each row.
class LineEncoder final : public formats::RowEncoder {
 public:
  Status Encode(const Batch& batch, std::string* out, std::vector<size_t>* row_ends) override {
    for (int64_t row = 0; row < batch.row_count(); ++row) {
      for (int column = 0; column < batch.rows()->num_columns(); ++column) {
        if (column > 0) *out += ',';
        const auto& array = *batch.column(column);
        if (array.type_id() == arrow::Type::INT64) {
          *out += std::to_string(static_cast<const arrow::Int64Array&>(array).Value(row));
        } else {
          *out += static_cast<const arrow::StringArray&>(array).GetString(row);
        }
      }
      *out += '\n';
      if (row_ends != nullptr) row_ends->push_back(out->size());
    }
    return {};
  }
};

/// The same lines, held back until Flush, with a last line "END".
class PackWriter final : public formats::SpanningWriter {
 public:
  explicit PackWriter(std::shared_ptr<arrow::io::OutputStream> stream, std::string_view state = {})
      : stream_(std::move(stream)), buffer_(state), written_(*stream_->Tell()) {}
  Status Write(const Batch& batch) override {
    ++writes_;
    return LineEncoder().Encode(batch, &buffer_, nullptr);
  }
  int64_t estimated_file_bytes() const override {
    return written_ + static_cast<int64_t>(buffer_.size());
  }
  int64_t buffered_bytes() const override { return static_cast<int64_t>(buffer_.size()); }
  Status Flush() override {
    const auto status = stream_->Write(buffer_.data(), static_cast<int64_t>(buffer_.size()));
    if (!status.ok()) return Status::IoError(status.message());
    written_ += static_cast<int64_t>(buffer_.size());
    buffer_.clear();
    return {};
  }
  Status Finish() override {
    buffer_ += "END\n";
    return Flush();
  }
  /// Longer ones are flushed, shorter ones kept in the state.
  Result<std::string> Save() override {
    if (buffer_.size() > 40) SLUICE_RETURN_NOT_OK(Flush());
    return buffer_;
  }
  int64_t state_bytes() const override { return static_cast<int64_t>(buffer_.size()); }

 private:
  std::shared_ptr<arrow::io::OutputStream> stream_;
  std::string buffer_;
  int64_t written_;
  int64_t writes_ = 0;
};

inline const formats::Format kLines{
    .name = "lines",
    .encoding = formats::Encoding::kRow,
    .rolls_on_checkpoint = false,
    .make_encoder = [](const formats::FormatOptions&, const Schema&, formats::Framing,
                       const formats::FormatContext&)
        -> Result<std::unique_ptr<formats::RowEncoder>> { return std::make_unique<LineEncoder>(); },
};
inline const formats::Format kPack{
    .name = "pack",
    .encoding = formats::Encoding::kBulk,
    .make_bulk_writer =
        [](const formats::FormatOptions&, const Schema&,
           std::shared_ptr<arrow::io::OutputStream> stream,
           const formats::FormatContext&) -> Result<std::unique_ptr<formats::BulkWriter>> {
      return std::make_unique<PackWriter>(std::move(stream));
    },
};
inline const formats::FileOperations kPackOperations{
    .resume_writer =
        [](const formats::FormatOptions&, const Schema&,
           std::shared_ptr<arrow::io::OutputStream> stream, std::string_view state,
           const formats::FormatContext&) -> Result<std::unique_ptr<formats::SpanningWriter>> {
      return std::make_unique<PackWriter>(std::move(stream), state);
    },
};
/// A container that cannot stay open over a checkpoint.
inline const formats::Format kSealed{
    .name = "sealed",
    .encoding = formats::Encoding::kBulk,
    .make_bulk_writer = kPack.make_bulk_writer,
};

/// Runs work when told to, or at once.
class ManualIoPool final : public IoPool {
 public:
  void Submit(std::function<void()> work) override {
    if (immediate) {
      work();
    } else {
      queue_.push_back(std::move(work));
    }
  }
  void RunAll() {
    while (!queue_.empty()) {
      const auto work = std::move(queue_.front());
      queue_.pop_front();
      work();
    }
  }
  size_t size() const { return queue_.size(); }
  bool immediate = false;

 private:
  std::deque<std::function<void()>> queue_;
};

/// A row (id, k): the table is (id BIGINT, k STRING) PARTITIONED BY (k), or without partitions.
struct TestRow {
  int64_t id;
  std::optional<std::string> key;
};

inline Batch MakeRows(const std::vector<TestRow>& rows) {
  arrow::Int64Builder ids;
  arrow::StringBuilder keys;
  for (const TestRow& row : rows) {
    (void)ids.Append(row.id);
    (void)(row.key ? keys.Append(*row.key) : keys.AppendNull());
  }
  const Schema schema({{"id", SqlType::Bigint()}, {"k", SqlType::String()}});
  return Batch(arrow::RecordBatch::Make(schema.ToArrow(), static_cast<int64_t>(rows.size()),
                                        {*ids.Finish(), *keys.Finish()}));
}

struct HarnessOptions {
  OptionMap table_options;
  bool partitioned = true;
  bool streaming = true;
  bool overwrite = false;
  std::vector<std::pair<std::string, std::string>> static_partition;
  const formats::Format* format = &kLines;
  int parallelism = 1;
  int64_t memory_bytes = 1 << 30;
  OptionMap configuration;
};

class SinkHarness {
 public:
  static constexpr std::string_view kRoot = "/table";

  explicit SinkHarness(HarnessOptions options, uint64_t seed = 1)
      : options(std::move(options)), files(seed, &clock) {}
  ~SinkHarness() { Stop(); }

  Status Plan() {
    TableInfo table;
    table.identifier = "c.d.t";
    table.physical = Schema({{"id", SqlType::Bigint()}, {"k", SqlType::String()}});
    if (options.partitioned) table.partition_keys = {"k"};
    table.options = options.table_options;
    table.options.emplace("path", root);
    ConnectorContext context;
    context.streaming = options.streaming;
    context.file_systems = &files;
    context.clock = &clock;
    context.configuration = &options.configuration;
    SLUICE_ASSIGN_OR_RETURN(
        auto sink, MakeFileTableSink(table, context, *options.format,
                                     options.format == &kPack ? &kPackOperations : nullptr));
    SinkRequest request;
    request.overwrite = options.overwrite;
    request.static_partition = options.static_partition;
    request.operator_id = "sink:c.d.t";
    SLUICE_ASSIGN_OR_RETURN(plan, sink->MakePlan(request));
    return {};
  }

  /// Starts an attempt; `checkpoint` 0: without state.
  Status Start(int64_t checkpoint = 0) {
    if (plan.stages.empty()) SLUICE_RETURN_NOT_OK(Plan());
    if (budget == nullptr) budget = std::make_unique<MemoryBudget>(options.memory_bytes);
    ++attempt;
    contexts.clear();
    for (int i = 0; i <= options.parallelism; ++i) {
      auto context = std::make_unique<runtime::TaskContext>();
      context->job_id = job_id;
      context->attempt_id = "attempt-" + std::to_string(attempt);
      context->subtask = i < options.parallelism ? i : 0;
      context->parallelism = i < options.parallelism ? options.parallelism : 1;
      context->clock = &clock;
      context->io_pool = &pool;
      context->memory_pool = arrow::default_memory_pool();
      context->budget = budget.get();
      context->metrics = &metrics;
      context->wake = [] {};
      context->wake_at = [this](int64_t at_ms) { timer_ms = at_ms; };
      contexts.push_back(std::move(context));
    }
    for (int i = 0; i <= options.parallelism; ++i) {
      const auto& spec = plan.stages[i < options.parallelism ? 0 : 1].operator_spec;
      SLUICE_ASSIGN_OR_RETURN(auto op, spec.make(contexts[static_cast<size_t>(i)]->subtask));
      contexts[static_cast<size_t>(i)]->operator_id = spec.id;
      SLUICE_RETURN_NOT_OK(op->Open(*contexts[static_cast<size_t>(i)]));
      operators.push_back(std::move(op));
    }
    if (checkpoint == 0) return {};
    const Saved& saved = checkpoints.at(checkpoint);
    for (size_t i = 0; i < operators.size(); ++i) {
      runtime::RestoredState state;
      state.checkpoint_id = checkpoint;
      const bool writer = i + 1 < operators.size();
      for (const auto& fields : writer ? saved.writers : saved.committer) {
        state.subtasks.emplace_back("op", fields);
      }
      SLUICE_RETURN_NOT_OK(operators[i]->Restore(state));
      SLUICE_RETURN_NOT_OK(Settle(i));
    }
    return Complete(checkpoint);
  }

  /// The process dies here: what runs is lost, files stay as the system has them.
  void Kill() {
    files.Kill();
    Stop();
  }
  void PowerLoss() {
    files.Crash();
    Stop();
  }
  /// The job fails or is cancelled: operators go in good order.
  void Stop() { operators.clear(); }

  Status Write(int writer, const std::vector<TestRow>& rows) {
    const auto i = static_cast<size_t>(writer);
    SLUICE_RETURN_NOT_OK(operators[i]->Process(MakeRows(rows), out_of(i)));
    return Settle(i);
  }
  Status Watermark(int64_t millis) {
    for (size_t i = 0; i + 1 < operators.size(); ++i) {
      SLUICE_RETURN_NOT_OK(operators[i]->ProcessWatermark(millis, out_of(i)));
    }
    return operators.back()->ProcessWatermark(millis, out_of(operators.size() - 1));
  }
  Status Finish() {
    for (size_t i = 0; i < operators.size(); ++i) {
      SLUICE_RETURN_NOT_OK(operators[i]->FinishInput(out_of(i)));
      SLUICE_RETURN_NOT_OK(Settle(i));
    }
    return {};
  }
  /// Lets timers fire that are due.
  Status Tick(int64_t millis) {
    clock.AdvanceMillis(millis);
    for (size_t i = 0; i + 1 < operators.size(); ++i) {
      SLUICE_RETURN_NOT_OK(operators[i]->Poll(out_of(i)));
      SLUICE_RETURN_NOT_OK(Settle(i));
    }
    return {};
  }

  /// Everything up to the durable state; returns its id.
  Result<int64_t> TakeCheckpoint(runtime::Barrier barrier = {}) {
    barrier.id = ++last_checkpoint;
    Saved saved;
    for (size_t i = 0; i < operators.size(); ++i) {
      SLUICE_RETURN_NOT_OK(operators[i]->PrepareSnapshot(barrier, out_of(i)));
      SLUICE_RETURN_NOT_OK(Settle(i));
      runtime::StateWriter state;
      SLUICE_RETURN_NOT_OK(operators[i]->Snapshot(barrier, state));
      (i + 1 < operators.size() ? saved.writers : saved.committer)
          .push_back(std::move(state).Take());
    }
    checkpoints[barrier.id] = std::move(saved);
    return barrier.id;
  }
  Status Complete(int64_t id) {
    for (size_t i = 0; i < operators.size(); ++i) {
      SLUICE_RETURN_NOT_OK(operators[i]->CheckpointComplete(id, out_of(i)));
      SLUICE_RETURN_NOT_OK(Settle(i));
    }
    return {};
  }
  Status Checkpoint(runtime::Barrier barrier = {}) {
    SLUICE_ASSIGN_OR_RETURN(const int64_t id, TakeCheckpoint(barrier));
    return Complete(id);
  }
  Status FinishAndCommit() {
    SLUICE_RETURN_NOT_OK(Watermark(runtime::kMaxWatermarkMs));
    SLUICE_RETURN_NOT_OK(Finish());
    return Checkpoint({.final = true});
  }

  /// Polls until the operator is ready and drained.
  Status Settle(size_t i) {
    for (int round = 0; round < 100'000; ++round) {
      pool.RunAll();
      SLUICE_RETURN_NOT_OK(operators[i]->Poll(out_of(i)));
      if (operators[i]->Ready() && operators[i]->Drained() && pool.size() == 0) return {};
    }
    return Status::Internal("an operator never gets ready");
  }

  /// Visible files below the table, by their path from its root.
  std::map<std::string, std::string> Visible() {
    std::map<std::string, std::string> found;
    for (auto& [path, content] : files.disk().VisibleFiles(root)) {
      found[path.substr(root.size() + 1)] = content;
    }
    // Markers count as visible to those who look for them.
    for (auto& [path, content] : files.disk().AllFiles(root)) {
      if (fs::FileInfo{.path = path}.name() == "_SUCCESS") {
        found[path.substr(root.size() + 1)] = content;
      }
    }
    return found;
  }
  /// Hidden files and directories of sinks that are still there.
  std::vector<std::string> Hidden() {
    std::vector<std::string> found;
    for (auto& [path, content] : files.disk().AllFiles("/")) {
      if (path.find("/.") != std::string::npos) found.push_back(path);
    }
    return found;
  }
  /// How often each id is in visible files.
  std::map<int64_t, int> Ids() {
    std::map<int64_t, int> counts;
    for (const auto& [path, content] : Visible()) {
      for (size_t begin = 0; begin < content.size();) {
        const size_t end = content.find('\n', begin);
        const std::string line = content.substr(begin, end - begin);
        if (line != "END" && !line.empty()) ++counts[std::stoll(line)];
        begin = end + 1;
      }
    }
    return counts;
  }

  struct Saved {
    std::vector<runtime::StateFields> writers;
    std::vector<runtime::StateFields> committer;
  };

  HarnessOptions options;
  std::string root{kRoot};
  VirtualClock clock{1'600'000'000'000};
  fs::FaultyFileSystems files;
  ManualIoPool pool;
  runtime::Metrics metrics;
  std::unique_ptr<MemoryBudget> budget;
  SinkPlan plan;
  std::string job_id = "0123456789abcdef0123456789abcdef";
  int attempt = 0;
  int64_t last_checkpoint = 0;
  int64_t timer_ms = 0;
  std::map<int64_t, Saved> checkpoints;
  std::vector<std::unique_ptr<runtime::TaskContext>> contexts;
  std::vector<std::unique_ptr<runtime::Operator>> operators;  // Writers, then the committer.

 private:
  /// Hands reports of the writers to the committer at once.
  class ToCommitter final : public runtime::Output {
   public:
    explicit ToCommitter(SinkHarness* harness) : harness_(*harness) {}
    Status Emit(Batch batch) override {
      return harness_.operators.back()->Process(std::move(batch), *this);
    }
    Status EmitWatermark(int64_t) override { return {}; }
    Status EmitIdle(bool) override { return {}; }
    Status StopInput() override { return {}; }

   private:
    SinkHarness& harness_;
  };
  ToCommitter& out_of(size_t) { return out_; }
  ToCommitter out_{this};
};

}  // namespace sluice::connectors::filesystem
