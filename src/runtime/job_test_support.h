// Sources and sinks of a few lines for tests of the runtime: numbers in, numbers published once or
// not.
#pragma once

#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include <arrow/api.h>

#include "runtime/job_graph.h"
#include "runtime/watermark.h"

namespace sluice::runtime::testing {

inline Batch NumberBatch(const std::vector<int64_t>& numbers) {
  arrow::Int64Builder builder;
  (void)builder.AppendValues(numbers);
  std::shared_ptr<arrow::Array> array = builder.Finish().ValueOrDie();
  return Batch(arrow::RecordBatch::Make(arrow::schema({arrow::field("n", arrow::int64())}),
                                        array->length(), {array}));
}

inline std::vector<int64_t> Numbers(const Batch& batch) {
  const auto& array = static_cast<const arrow::Int64Array&>(*batch.column(0));
  return {array.raw_values(), array.raw_values() + array.length()};
}

inline std::vector<int64_t> Range(int64_t count) {
  std::vector<int64_t> numbers(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) numbers[static_cast<size_t>(i)] = i;
  return numbers;
}

struct NumbersOptions {
  int64_t count = 1000;  // Per job; below 0: without end.
  int readers = 1;
  int64_t batch_rows = 10;
  int64_t pause_ms = 0;  // Between batches of a reader.
  bool watermarks = false;
  int open_failures = 0;  // So many attempts fail when the source opens.
};

/// 0, 1, 2, … in four splits (n mod 4), spread over the readers. The number is its event time.
class NumbersSource final : public Source {
 public:
  static constexpr int kSplits = 4;
  explicit NumbersSource(NumbersOptions options, std::shared_ptr<int> opened = nullptr)
      : options_(options), opened_(std::move(opened)) {}

  bool bounded() const override { return options_.count >= 0; }
  Status Open(const SourceContext&, const RestoredSourceState* restored) override {
    if (opened_ && (*opened_)++ < options_.open_failures) {
      return Status::Unavailable("the broker is down");
    }
    for (int split = 0; split < kSplits; ++split) next_[split] = split;
    if (restored == nullptr) return {};
    for (const StateReader& reader : restored->readers) {
      for (int split = 0; split < kSplits; ++split) {
        const std::string name = "split" + std::to_string(split);
        if (!reader.Has(name)) continue;
        SLUICE_ASSIGN_OR_RETURN(next_[split], reader.GetI64(name));
      }
    }
    return {};
  }
  int reader_count() const override { return options_.readers; }
  Result<std::unique_ptr<SourceReader>> MakeReader(int subtask) override {
    std::map<int, int64_t> mine;
    for (const auto& [split, next] : next_) {
      if (split % options_.readers == subtask) mine[split] = next;
    }
    return std::make_unique<Reader>(options_, std::move(mine));
  }
  void FreezeSplits() override { ++frozen; }
  void ThawSplits() override { --frozen; }
  int frozen = 0;

 private:
  class Reader final : public SourceReader {
   public:
    Reader(NumbersOptions options, std::map<int, int64_t> next)
        : options_(options), next_(std::move(next)) {}
    Status Open(TaskContext& context) override {
      context_ = &context;
      return {};
    }
    Result<PollResult> Poll(Output& out) override {
      const int64_t now = context_->clock->NowMillis();
      if (now < next_time_ms_) {
        context_->wake_at(next_time_ms_);
        return PollResult::kWaiting;
      }
      if (next_.empty()) return PollResult::kFinished;
      auto split = next_.upper_bound(last_split_);
      if (split == next_.end()) split = next_.begin();
      last_split_ = split->first;
      std::vector<int64_t> numbers;
      while (static_cast<int64_t>(numbers.size()) < options_.batch_rows &&
             (options_.count < 0 || split->second < options_.count)) {
        numbers.push_back(split->second);
        split->second += kSplits;
      }
      const bool done =
          options_.count >= 0 && std::all_of(next_.begin(), next_.end(),
                                             [&](auto& s) { return s.second >= options_.count; });
      context_->metrics->Counter(metric::kRowsIn) += static_cast<int64_t>(numbers.size());
      if (!numbers.empty()) SLUICE_RETURN_NOT_OK(out.Emit(NumberBatch(numbers)));
      if (options_.watermarks && !done) {
        int64_t lowest = kMaxWatermarkMs;
        for (const auto& [id, next] : next_) lowest = std::min(lowest, next - 1);
        SLUICE_RETURN_NOT_OK(out.EmitWatermark(lowest));
      }
      next_time_ms_ = now + options_.pause_ms;
      return done ? PollResult::kFinished : PollResult::kEmitted;
    }
    Status Snapshot(const Barrier&, StateWriter& state) override {
      for (const auto& [split, next] : next_) state.PutI64("split" + std::to_string(split), next);
      return {};
    }

   private:
    NumbersOptions options_;
    std::map<int, int64_t> next_;
    TaskContext* context_ = nullptr;
    int last_split_ = -1;
    int64_t next_time_ms_ = 0;
  };

  NumbersOptions options_;
  std::shared_ptr<int> opened_;
  std::map<int, int64_t> next_;
};

/// What a ModelSink has published: content by file name, so that publishing again is seen as such.
struct Published {
  std::mutex mutex;
  std::map<std::string, std::vector<int64_t>> files;

  std::vector<int64_t> Sorted() {
    const std::lock_guard lock(mutex);
    std::vector<int64_t> all;
    for (const auto& [name, numbers] : files) all.insert(all.end(), numbers.begin(), numbers.end());
    std::sort(all.begin(), all.end());
    return all;
  }
};

/// Collects numbers, cuts them into a file at each checkpoint, and publishes through the I/O pool
/// once the checkpoint is complete.
class ModelSink final : public Operator {
 public:
  explicit ModelSink(std::shared_ptr<Published> published) : published_(std::move(published)) {}

  Status Restore(const RestoredState& state) override {
    if (context().subtask != 0) return {};
    for (const StateReader& reader : state.subtasks) {
      SLUICE_ASSIGN_OR_RETURN(const std::vector<std::string> names, reader.GetStrings("names"));
      for (const std::string& name : names) {
        SLUICE_ASSIGN_OR_RETURN(const std::string bytes, reader.GetBytes("file:" + name));
        std::vector<int64_t> numbers(bytes.size() / 8);
        std::copy(bytes.begin(), bytes.end(), reinterpret_cast<char*>(numbers.data()));
        AddFile(state.checkpoint_id, name, std::move(numbers));
      }
    }
    return {};
  }
  Status Process(Batch batch, Output&) override {
    const std::vector<int64_t> numbers = Numbers(batch);
    context().metrics->Counter(metric::kRowsOut) += batch.row_count();
    open_.insert(open_.end(), numbers.begin(), numbers.end());
    return {};
  }
  Status PrepareSnapshot(const Barrier& barrier, Output&) override {
    if (!open_.empty()) {
      AddFile(barrier.id,
              context().attempt_id + "-" + std::to_string(context().subtask) + "-" +
                  std::to_string(counter_++),
              std::move(open_));
      open_.clear();
    }
    *flushing_ = true;  // As if the file had to be synced first.
    context().io_pool->Submit([flushing = flushing_, wake = context().wake] {
      *flushing = false;
      wake();
    });
    return {};
  }
  bool Ready() const override { return !*flushing_; }
  // A file stays in the state until its publishing is known to be done, not only begun.
  Status Snapshot(const Barrier&, StateWriter& state) override {
    Forget();
    std::vector<std::string> names;
    for (const auto& file : files_) {
      names.push_back(file->name);
      state.PutBytes("file:" + file->name,
                     std::string(reinterpret_cast<const char*>(file->numbers.data()),
                                 file->numbers.size() * 8));
    }
    state.PutStrings("names", names);
    return {};
  }
  Status CheckpointComplete(CheckpointId id, Output&) override {
    for (const auto& file : files_) {
      if (file->checkpoint_id > id || file->begun) continue;
      file->begun = true;
      context().io_pool->Submit([file, published = published_, wake = context().wake] {
        {
          const std::lock_guard lock(published->mutex);
          published->files[file->name] = file->numbers;
        }
        file->done = true;
        wake();
      });
    }
    return {};
  }
  Status Poll(Output&) override {
    Forget();
    return {};
  }
  bool Drained() const override { return files_.empty(); }

 private:
  struct File {
    CheckpointId checkpoint_id = 0;
    std::string name;
    std::vector<int64_t> numbers;
    bool begun = false;
    std::atomic<bool> done{false};
  };
  void AddFile(CheckpointId id, std::string name, std::vector<int64_t> numbers) {
    auto file = std::make_shared<File>();
    file->checkpoint_id = id;
    file->name = std::move(name);
    file->numbers = std::move(numbers);
    files_.push_back(std::move(file));
  }
  void Forget() {
    std::erase_if(files_, [](const auto& file) { return file->done.load(); });
  }

  std::shared_ptr<Published> published_;
  std::vector<int64_t> open_;
  std::vector<std::shared_ptr<File>> files_;
  int counter_ = 0;
  std::shared_ptr<std::atomic<bool>> flushing_ = std::make_shared<std::atomic<bool>>(false);
};

/// Passes rows on and fails, or does something else, at a given row.
class Meddler final : public Operator {
 public:
  using Hook = std::function<Status(int subtask, const Batch&)>;
  explicit Meddler(Hook hook) : hook_(std::move(hook)) {}
  Status Process(Batch batch, Output& out) override {
    SLUICE_RETURN_NOT_OK(hook_(context().subtask, batch));
    return out.Emit(std::move(batch));
  }

 private:
  Hook hook_;
};

inline OperatorSpec SinkSpec(std::shared_ptr<Published> published) {
  return {"sink", "ModelSink", [published](int) -> Result<std::unique_ptr<Operator>> {
            return std::make_unique<ModelSink>(published);
          }};
}

inline OperatorSpec MeddlerSpec(Meddler::Hook hook) {
  return {"", "Meddler", [hook](int) -> Result<std::unique_ptr<Operator>> {
            return std::make_unique<Meddler>(hook);
          }};
}

inline Vertex SourceVertex(NumbersOptions options, int parallelism,
                           std::shared_ptr<int> opened = nullptr) {
  Vertex vertex;
  vertex.name = "numbers";
  vertex.parallelism = parallelism;
  vertex.source_id = "source";
  vertex.make_source = [options, opened]() -> Result<std::shared_ptr<Source>> {
    return std::make_shared<NumbersSource>(options, opened);
  };
  return vertex;
}

}  // namespace sluice::runtime::testing
