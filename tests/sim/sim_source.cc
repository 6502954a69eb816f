#include "sim_source.h"

#include <algorithm>

#include <arrow/array/builder_binary.h>
#include <arrow/array/builder_primitive.h>

#include "runtime/watermark.h"
#include "types/arrow_status.h"

namespace sluice::sim {
namespace {

using runtime::Barrier;
using runtime::StateWriter;

constexpr int64_t kFirstRowMs = 1'704'067'200'000;  // 2024-01-01 00:00:00.
constexpr int64_t kHourMs = 3'600'000;

std::string Two(int64_t number) {
  return number < 10 ? "0" + std::to_string(number) : std::to_string(number);
}

std::string DayOf(int64_t id, int64_t step_ms) {
  return "2024-01-" + Two(1 + id * step_ms / (24 * kHourMs));
}

std::string HourOf(int64_t id, int64_t step_ms) { return Two(id * step_ms / kHourMs % 24); }

Result<Batch> MakeRows(const std::vector<int64_t>& ids, int64_t step_ms) {
  arrow::Int64Builder id_builder;
  arrow::StringBuilder payload;
  arrow::StringBuilder day;
  arrow::StringBuilder hour;
  for (const int64_t id : ids) {
    SLUICE_RETURN_ARROW(id_builder.Append(id));
    SLUICE_RETURN_ARROW(payload.Append(PayloadOf(id)));
    SLUICE_RETURN_ARROW(day.Append(DayOf(id, step_ms)));
    SLUICE_RETURN_ARROW(hour.Append(HourOf(id, step_ms)));
  }
  arrow::ArrayVector columns(4);
  SLUICE_RETURN_ARROW(id_builder.Finish(&columns[0]));
  SLUICE_RETURN_ARROW(payload.Finish(&columns[1]));
  SLUICE_RETURN_ARROW(day.Finish(&columns[2]));
  SLUICE_RETURN_ARROW(hour.Finish(&columns[3]));
  return Batch(arrow::RecordBatch::Make(RowSchema().ToArrow(), static_cast<int64_t>(ids.size()),
                                        std::move(columns)));
}

// A split and the number of its next row: split s holds the ids s, s + splits, …
struct Position {
  int split = 0;
  int64_t next = 0;
};

class SimSource final : public runtime::Source {
 public:
  explicit SimSource(const SourceShape& shape) : shape_(shape) {}

  bool bounded() const override { return true; }

  Status Open(const runtime::SourceContext&,
              const runtime::RestoredSourceState* restored) override {
    std::map<int, int64_t> positions;
    if (restored == nullptr) {
      for (int split = 0; split < shape_.splits; ++split) positions[split] = split;
    } else {
      SLUICE_RETURN_NOT_OK(ReadPositions(*restored, &positions));
    }
    for (const auto& [split, next] : positions) waiting_.push_back({split, next});
    if (!shape_.dynamic_splits) {
      for (const Position& position : std::exchange(waiting_, {})) {
        fixed_[position.split % shape_.readers].push_back(position);
      }
    }
    return {};
  }
  int reader_count() const override { return shape_.readers; }
  Result<std::unique_ptr<runtime::SourceReader>> MakeReader(int subtask) override;

  void FreezeSplits() override { frozen_ = true; }
  void ThawSplits() override {
    frozen_ = false;
    for (const auto& wake : std::exchange(hungry_, {})) wake();
  }
  Status Snapshot(const Barrier&, StateWriter& state) override {
    if (!frozen_) return Status::Internal("the source was asked for its state while not frozen");
    std::vector<std::string> waiting;
    for (const Position& position : waiting_) {
      waiting.push_back(std::to_string(position.split) + ":" + std::to_string(position.next));
    }
    state.PutStrings("splits", waiting);
    return {};
  }

  enum class Claim { kGot, kFrozen, kNone };
  Claim ClaimSplit(Position* position, const std::function<void()>& wake) {
    if (frozen_) {
      hungry_.push_back(wake);
      return Claim::kFrozen;
    }
    if (waiting_.empty()) return Claim::kNone;
    *position = waiting_.front();
    waiting_.pop_front();
    return Claim::kGot;
  }

 private:
  Status ReadPositions(const runtime::RestoredSourceState& restored,
                       std::map<int, int64_t>* positions) {
    std::vector<runtime::StateReader> all = restored.readers;
    if (restored.coordinator) all.push_back(*restored.coordinator);
    for (const runtime::StateReader& reader : all) {
      if (!reader.Has("splits")) continue;
      SLUICE_ASSIGN_OR_RETURN(const auto splits, reader.GetStrings("splits"));
      for (const std::string& text : splits) {
        const int split = std::stoi(text);
        if (positions->contains(split)) {
          return Status::Internal("split " + text + " is in the checkpoint twice");
        }
        (*positions)[split] = std::stoll(text.substr(text.find(':') + 1));
      }
    }
    return {};
  }

  const SourceShape shape_;
  bool frozen_ = false;
  std::deque<Position> waiting_;
  std::map<int, std::vector<Position>> fixed_;  // By reader.
  std::vector<std::function<void()>> hungry_;
};

class SimReader final : public runtime::SourceReader {
 public:
  SimReader(SimSource* source, const SourceShape& shape, std::vector<Position> positions)
      : source_(*source), shape_(shape), positions_(std::move(positions)) {}

  Status Open(runtime::TaskContext& context) override {
    context_ = &context;
    runtime::WatermarkSettings settings{.enabled = shape_.watermarks && !shape_.dynamic_splits};
    marks_ = std::make_unique<runtime::SplitWatermarks>(settings, context.clock);
    for (const Position& position : positions_) marks_->AddSplit(std::to_string(position.split));
    return {};
  }

  Result<PollResult> Poll(runtime::Output& out) override {
    const int64_t now = context_->clock->NowMillis();
    if (now < next_ms_) {
      context_->wake_at(next_ms_);
      return PollResult::kWaiting;
    }
    if (positions_.empty() && shape_.dynamic_splits) {
      Position position;
      const SimSource::Claim claim = source_.ClaimSplit(&position, context_->wake);
      if (claim == SimSource::Claim::kFrozen) return PollResult::kWaiting;
      if (claim == SimSource::Claim::kGot) positions_.push_back(position);
    }
    if (positions_.empty()) return PollResult::kFinished;
    turn_ = (turn_ + 1) % positions_.size();
    SLUICE_RETURN_NOT_OK(EmitFrom(&positions_[turn_], out));
    if (positions_[turn_].next >= shape_.row_count) {
      marks_->RemoveSplit(std::to_string(positions_[turn_].split));
      positions_.erase(positions_.begin() + static_cast<std::ptrdiff_t>(turn_));
      turn_ = 0;
    }
    if (!positions_.empty()) SLUICE_RETURN_NOT_OK(marks_->EmitDue(out).status());
    next_ms_ = now + shape_.pause_ms;
    return PollResult::kEmitted;
  }

  Status Snapshot(const Barrier&, StateWriter& state) override {
    std::vector<std::string> splits;
    for (const Position& position : positions_) {
      splits.push_back(std::to_string(position.split) + ":" + std::to_string(position.next));
    }
    state.PutStrings("splits", splits);
    return {};
  }

 private:
  Status EmitFrom(Position* position, runtime::Output& out) {
    std::vector<int64_t> ids;
    while (static_cast<int64_t>(ids.size()) < shape_.batch_rows &&
           position->next < shape_.row_count) {
      ids.push_back(position->next);
      position->next += shape_.splits;
    }
    if (ids.empty()) return {};
    SLUICE_ASSIGN_OR_RETURN(Batch rows, MakeRows(ids, shape_.row_step_ms));
    SLUICE_RETURN_NOT_OK(out.Emit(std::move(rows)));
    marks_->Observe(std::to_string(position->split),
                    kFirstRowMs + ids.back() * shape_.row_step_ms - 1);
    return {};
  }

  SimSource& source_;
  const SourceShape shape_;
  std::vector<Position> positions_;
  runtime::TaskContext* context_ = nullptr;
  std::unique_ptr<runtime::SplitWatermarks> marks_;
  size_t turn_ = 0;
  int64_t next_ms_ = 0;
};

Result<std::unique_ptr<runtime::SourceReader>> SimSource::MakeReader(int subtask) {
  return std::make_unique<SimReader>(this, shape_, fixed_[subtask]);
}

}  // namespace

Schema RowSchema() {
  return Schema({{"id", SqlType::Bigint()},
                 {"payload", SqlType::String()},
                 {"dt", SqlType::String()},
                 {"hour", SqlType::String()}});
}

std::string PayloadOf(int64_t id) {
  std::string text = "p";
  for (int64_t i = 0; i < 3 + id % 17; ++i) text += static_cast<char>('a' + (id * 7 + i * 3) % 26);
  return text;
}

std::string PartitionOf(int64_t id, int64_t row_step_ms) {
  return "dt=" + DayOf(id, row_step_ms) + "/hour=" + HourOf(id, row_step_ms);
}

std::shared_ptr<runtime::Source> MakeSimSource(const SourceShape& shape) {
  return std::make_shared<SimSource>(shape);
}

}  // namespace sluice::sim
