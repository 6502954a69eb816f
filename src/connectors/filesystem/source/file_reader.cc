#include "connectors/filesystem/source/file_reader.h"

#include "common/text.h"

namespace sluice::connectors::filesystem {

FileReader::~FileReader() {
  source_->splits().SetWake(subtask_, [] {});
}

Status FileReader::Open(runtime::TaskContext& context) {
  context_ = &context;
  rows_in_ = &context.metrics->Counter(runtime::metric::kRowsIn);
  rows_skipped_ = &context.metrics->Counter(runtime::metric::kRowsSkipped);
  bytes_in_ = &context.metrics->Counter(runtime::metric::kBytesIn);
  bad_records_ = &context.metrics->Counter(runtime::metric::kBadRecords);
  PipelineSettings settings;
  settings.io_pool = context.io_pool;
  settings.memory_pool = context.memory_pool;
  settings.wake = context.wake;
  if (reader_count_ < parallelism_) {
    settings.compute_pool = context.compute_pool;
    settings.window = static_cast<size_t>(2 * (parallelism_ / reader_count_) + 2);
  }
  pipeline_ = std::make_shared<ReadPipeline>(
      std::shared_ptr<const FileSourceSpec>(source_, &source_->spec()), std::move(settings));
  watermarks_ =
      std::make_unique<runtime::SplitWatermarks>(source_->spec().watermark, context.clock);
  source_->splits().SetWake(subtask_, context.wake);
  if (source_->quarantine()) quarantine_.emplace(source_->quarantine(), &context);
  return {};
}

std::vector<FileSplit> FileReader::TakeSplits() {
  if (source_->LimitReached()) return {};
  SplitPool::Taken taken = source_->splits().Take(subtask_);
  frozen_ = taken.frozen;
  for (const FileSplit& split : taken.splits) {
    watermarks_->AddWaitingSplit(split.id());  // They are read one after another.
    held_.push_back(split);
  }
  return std::move(taken.splits);
}

Result<runtime::SourceReader::PollResult> FileReader::Poll(runtime::Output& out) {
  if (source_->LimitReached()) return PollResult::kFinished;
  frozen_ = false;
  const auto take = [this] { return TakeSplits(); };
  pipeline_->Advance(take);
  const std::shared_ptr<ReadUnit> unit = pipeline_->TakeReady();
  if (unit != nullptr) {
    SLUICE_RETURN_NOT_OK(Emit(unit, out));
    pipeline_->Advance(take);  // There is room for another one.
  }
  SLUICE_RETURN_NOT_OK(ScheduleWakes(out));
  if (unit != nullptr) return PollResult::kEmitted;
  const bool done =
      source_->bounded() && !frozen_ && pipeline_->Idle() && source_->splits().size() == 0;
  return done ? PollResult::kFinished : PollResult::kWaiting;
}

std::string FileReader::ProgressName(const FileSplit& split) {
  return split.file.path + ":[" + std::to_string(split.begin) + "," + std::to_string(split.end) +
         ")";
}

Status FileReader::Emit(const std::shared_ptr<ReadUnit>& unit, runtime::Output& out) {
  FileSplit& split = held_.front();
  if (!unit->status.ok() || unit->failed) {
    if (!unit->vanished || source_->bounded()) return Failure(*unit);
    source_->bad_record_log().Warn("File " + split.file.path + " was gone before it was read.");
  }
  if (unit->bad_count > 0) CountBadRecords(*unit);
  if (unit->ignored_count > 0) {
    context_->metrics->Counter("ignored_records") += unit->ignored_count;
  }
  if (quarantine_) {
    SLUICE_RETURN_NOT_OK(
        quarantine_->Add(split.file.path, unit->record_count, unit->bad_count, unit->taken_out));
  }
  *bytes_in_ += unit->fetched.bytes_read;
  *rows_skipped_ += unit->fetched.rows_skipped;
  const int64_t rows = unit->out.rows.row_count();
  if (rows > 0) {
    *rows_in_ += rows;
    SLUICE_RETURN_NOT_OK(out.Emit(std::move(unit->out.rows)));
    watermarks_->Observe(split.id(), unit->out.watermark_ms);
    if (unit->out.null_row_times > 0) {
      context_->metrics->Counter(runtime::metric::kRowTimeNull) += unit->out.null_row_times;
    }
    source_->TakeFromLimit(rows);
  }
  split.started = true;
  split.position = unit->fetched.position;
  if (source_->spec().is_bulk()) {
    split.records = unit->fetched.records;
  } else {
    split.records += unit->record_count;
    split.lines += unit->line_count;
  }
  if (!unit->fetched.last) {
    progress_[ProgressName(split)] = {.position = split.position};
  } else {
    for (size_t i = 0; i < unit->split_count; ++i) {
      progress_[ProgressName(held_.front())] = {.position = held_.front().end, .read = true};
      watermarks_->RemoveSplit(held_.front().id());
      if (source_->done_files()) read_.push_back(std::move(held_.front()));
      held_.pop_front();
    }
  }
  return {};
}

Status FileReader::Failure(const ReadUnit& unit) const {
  if (unit.vanished) {
    return Status(unit.status)
        .WithContext("Cannot read " + held_.front().file.path +
                     ", which was there when the table was listed: INSERT OVERWRITE, COMPACT TABLE "
                     "or another program has replaced or removed it since. Run the query again.");
  }
  if (!unit.status.ok()) return Unreadable(held_.front().file.path, unit.status);
  return Status::DataError("Cannot read " + Describe(unit, unit.bad.front()));
}

std::string FileReader::Describe(const ReadUnit& unit, const formats::BadRecord& bad) const {
  const FileSplit& split = held_.front();
  std::string text = split.file.path;
  // Lines are known from the start of the file only; inside a range the byte says where.
  if (split.begin == 0) text += ", line " + std::to_string(split.lines + bad.line + 1);
  text += ", byte " + std::to_string(unit.fetched.begin + bad.byte_offset);
  if (!bad.column.empty()) text += ", column '" + bad.column + "'";
  text += ": " + bad.reason;
  if (!bad.text.empty()) text += " Text: '" + Printable(bad.text) + "'.";
  return text;
}

std::string FileReader::WhatBecameOf(const formats::BadRecord& bad) const {
  const BadRecordOptions& options = source_->spec().bad_records;
  if (bad.field_only && (!options.puts_aside() || options.keep_rows_with_nulled_fields))
    return "Set a field to NULL: ";
  return options.puts_aside() ? "Put a record aside: " : "Skipped a record: ";
}

void FileReader::CountBadRecords(const ReadUnit& unit) {
  *bad_records_ += unit.bad_count;
  // The log lets a few through and counts the rest: there is no use in describing a thousand.
  constexpr size_t kDescribed = 3;
  for (size_t i = 0; i < std::min(unit.bad.size(), kDescribed); ++i) {
    source_->bad_record_log().Warn(WhatBecameOf(unit.bad[i]) + Describe(unit, unit.bad[i]));
  }
}

Status FileReader::ScheduleWakes(runtime::Output& out) {
  SLUICE_ASSIGN_OR_RETURN(const std::optional<int64_t> watermark_at, watermarks_->EmitDue(out));
  SLUICE_ASSIGN_OR_RETURN(const std::optional<int64_t> discovery_at, source_->DiscoverIfDue());
  std::optional<int64_t> at = watermark_at;
  if (discovery_at && (!at || *discovery_at < *at)) at = discovery_at;
  if (at) context_->wake_at(*at);
  return {};
}

Status FileReader::Snapshot(const runtime::Barrier& barrier, runtime::StateWriter& state) {
  std::vector<std::string> splits;
  for (const FileSplit& split : held_) splits.push_back(EncodeSplit(split));
  state.PutStrings("splits", splits);
  if (source_->done_files()) source_->done_files()->OnRead(barrier.id, std::exchange(read_, {}));
  std::map<std::string, int64_t> positions;
  for (auto& [name, progress] : progress_) {
    if (progress.reported_at == 0) progress.reported_at = barrier.id;
    positions[name] = progress.position;
  }
  context_->metrics->SetPositions(context_->operator_id + "/" + std::to_string(subtask_),
                                  std::move(positions));
  if (quarantine_) quarantine_->Snapshot(barrier.id, &state);
  return {};
}

Status FileReader::CheckpointComplete(runtime::CheckpointId id) {
  std::erase_if(progress_, [id](const auto& entry) {
    const Progress& progress = entry.second;
    return progress.reported_at != 0 && progress.reported_at <= id;
  });
  if (quarantine_) quarantine_->CheckpointComplete(id);
  if (source_->done_files()) source_->done_files()->CheckpointComplete(id);
  return {};
}

Result<bool> FileReader::Drained() {
  if (source_->done_files() && !source_->done_files()->Drained()) return false;
  if (!quarantine_) return true;
  return quarantine_->Drained();
}

}  // namespace sluice::connectors::filesystem
