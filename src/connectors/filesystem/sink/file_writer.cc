#include "connectors/filesystem/sink/file_writer.h"

#include <algorithm>

#include "connectors/filesystem/partition/partition_path.h"
#include "connectors/filesystem/sink/fence_check.h"
#include "connectors/filesystem/sink/sink_metrics.h"
#include "connectors/filesystem/sink/sink_names.h"
#include "connectors/filesystem/sink/writer_state.h"
#include "expr/key_split.h"
#include "types/arrow_status.h"

namespace sluice::connectors::filesystem {

namespace {

// Files that one job on the I/O pool writes.
constexpr size_t kFilesOfJob = 64;

/// A file of its own in the checkpoint: rows of unfinished row groups, which may be many, are not
/// copied once more into the file of everything else.
std::string BulkStatesField() { return std::string(runtime::kBlobPrefix) + "bulk_states"; }

}  // namespace

Status FileWriter::Open(runtime::TaskContext& context) {
  SLUICE_RETURN_NOT_OK(Operator::Open(context));
  SLUICE_ASSIGN_OR_RETURN(auto place, plan_->Locate());
  file_system_ = std::move(place.file_system);
  root_ = std::move(place.root);
  late_root_ = std::move(place.late_root);
  for (size_t key = 0; key < plan_->partition_keys.size(); ++key) {
    if (!plan_->static_values[key]) dynamic_columns_.push_back(plan_->partition_columns[key]);
  }
  if (plan_->layout.format->encoding == formats::Encoding::kRow) {
    const formats::FormatContext format_context{.session_zone = plan_->session_zone,
                                                .pool = context.memory_pool};
    SLUICE_ASSIGN_OR_RETURN(
        encoder_, plan_->layout.format->make_encoder(plan_->layout.options, plan_->layout.schema,
                                                     formats::Framing::kFile, format_context));
  }
  lineage_ = MakeLineage(context.job_id, plan_->sink_id);
  return MakeBuckets();
}

Status FileWriter::MakeBuckets() {
  const std::string uuid = AttemptUuid(lineage_, context().job_id, context().attempt_id);
  name_prefix_ = PartNamePrefix(plan_->part_prefix, uuid, context().subtask, plan_->streaming);
  const std::string file_prefix =
      (plan_->compaction.enabled ? std::string(kRawPrefix) : std::string()) + name_prefix_;
  sorter_ = std::make_unique<PartitionSorter>(plan_.get(), &context(), &held_);
  buckets_ = std::make_unique<BucketSet>(plan_.get(), &context(), &held_, file_system_, root_,
                                         WriterNames{.lineage = lineage_,
                                                     .tag = MakeTag(lineage_, context().attempt_id),
                                                     .prefix = file_prefix});
  return {};
}

Status FileWriter::Restore(const runtime::RestoredState& state) {
  std::vector<ResumedFile> files;
  for (const runtime::StateReader& subtask : state.subtasks) {
    SLUICE_RETURN_NOT_OK(ReadState(subtask, &files));
  }
  SLUICE_RETURN_NOT_OK(MakeBuckets());  // Under the restored lineage.
  const auto parallelism = static_cast<size_t>(std::max(context().parallelism, 1));
  for (size_t i = static_cast<size_t>(context().subtask); i < files.size(); i += parallelism) {
    buckets_->Resume(std::move(files[i]));
  }
  first_rows_wanted_ = true;
  phase_ = Phase::kRestoring;
  SLUICE_RETURN_NOT_OK(buckets_->Collect());
  if (buckets_->idle()) phase_ = Phase::kRunning;
  ScheduleTimer();
  return {};
}

Status FileWriter::ReadState(const runtime::StateReader& state, std::vector<ResumedFile>* files) {
  SLUICE_ASSIGN_OR_RETURN(const int64_t version, state.GetI64("version"));
  if (version < 1 || version > kWriterStateVersion) {
    return Status::Corrupt("The state of the file writer of " + plan_->table + " has version " +
                           std::to_string(version) + ", this program knows versions up to " +
                           std::to_string(kWriterStateVersion) +
                           ". Resume with the release that wrote it, or a newer one.");
  }
  SLUICE_ASSIGN_OR_RETURN(lineage_, state.GetBytes("lineage"));
  SLUICE_ASSIGN_OR_RETURN(const auto encoded, state.GetStrings("open_files"));
  std::vector<std::string> bulk_states(encoded.size());
  // Files of row formats are finished without their layout.
  static const formats::Format kText{.name = "text", .encoding = formats::Encoding::kRow};
  auto layout = std::make_shared<FileLayout>();
  layout->format = &kText;
  if (version >= 2) {
    SLUICE_ASSIGN_OR_RETURN(bulk_states,
                            state.GetStrings(version >= 3 ? BulkStatesField() : "bulk_states"));
    if (bulk_states.size() != encoded.size()) {
      return Status::Corrupt("The open part files in the checkpoint are damaged.");
    }
    const bool containers = std::any_of(bulk_states.begin(), bulk_states.end(),
                                        [](const std::string& bulk) { return !bulk.empty(); });
    SLUICE_ASSIGN_OR_RETURN(const std::string bytes, state.GetBytes("layout"));
    if (containers && bytes != EncodeLayout(plan_->layout)) {
      SLUICE_ASSIGN_OR_RETURN(*layout, DecodeLayout(bytes));
    }
  }
  const int64_t now_ms = context().clock->NowMillis();
  for (size_t i = 0; i < encoded.size(); ++i) {
    SLUICE_ASSIGN_OR_RETURN(OpenFileState open, DecodeOpenFile(encoded[i]));
    // Of a clock that has been set back since: the file would stay open until it is there again.
    for (int64_t* when : {&open.file.first_row_ms, &open.info.opened_ms, &open.info.last_write_ms})
      *when = std::min(*when, now_ms);
    files->push_back({.file = std::move(open.file),
                      .info = open.info,
                      .row_count = open.row_count,
                      .bulk_state = std::move(bulk_states[i]),
                      .same_layout = open.layout == plan_->layout_text,
                      .old_layout = layout});
  }
  return {};
}

Result<PartitionRef> FileWriter::PartitionOf(const arrow::RecordBatch& rows, int64_t row) const {
  PartitionRef partition;
  for (size_t key = 0; key < plan_->partition_keys.size(); ++key) {
    const auto& fixed = plan_->static_values[key];
    if (fixed) {
      // The empty text is the default partition, as for a dynamic value.
      partition.values.push_back(fixed->empty() ? std::nullopt : fixed);
    } else {
      partition.values.push_back(PartitionText(plan_->partition_types[key],
                                               *rows.column(plan_->partition_columns[key]), row));
    }
  }
  partition.directory = plan_->Directory(root_, partition.values);
  return partition;
}

Status FileWriter::Process(Batch batch, runtime::Output& out) {
  (void)out;
  if (batch.row_count() == 0) return {};
  // What was lost is made up for soon, whatever the interval.
  if (std::exchange(first_rows_wanted_, false) && context().request_checkpoint) {
    context().request_checkpoint();
  }
  SLUICE_RETURN_NOT_OK(CheckFence(context()));
  context().metrics->Counter(runtime::metric::kRowsOut) += batch.row_count();
  // Rows of the batch before may still wait for the disk: they keep their text and go first.
  for (Group& group : groups_) {
    if (group.whole) group.text = text_;
    group.whole = false;
  }
  if (!sorting_) {
    SLUICE_ASSIGN_OR_RETURN(sorting_, HasManyPartitions(batch));
  }
  if (sorting_) {
    SLUICE_RETURN_NOT_OK(AddToSorter(batch));
    return Advance(out);
  }
  const size_t first_group = groups_.size();
  SLUICE_RETURN_NOT_OK(encoder_ ? SplitText(batch) : SplitRows(batch));
  if (plan_->trigger && plan_->commit.late_rows != LateRows::kAppend) SortOutLateRows(first_group);
  return Advance(out);
}

Status FileWriter::SplitText(const Batch& batch) {
  text_.clear();
  row_ends_.clear();
  const auto& rows = *batch.rows();
  SLUICE_ASSIGN_ARROW(auto selected, rows.SelectColumns(plan_->file_columns));
  SLUICE_RETURN_NOT_OK(
      encoder_->Encode(Batch(std::move(selected), batch.row_kinds()), &text_, &row_ends_));
  if (static_cast<int64_t>(row_ends_.size()) != batch.row_count()) {
    return Status::Internal("the encoder of format " + std::string(plan_->layout.format->name) +
                            " gave " + std::to_string(row_ends_.size()) + " row ends for " +
                            std::to_string(batch.row_count()) + " rows");
  }
  expr::KeyIds ids;
  if (!dynamic_columns_.empty()) {
    SLUICE_ASSIGN_OR_RETURN(ids, expr::IdentifyKeys(rows, dynamic_columns_));
  }
  last_partitions_ = static_cast<int64_t>(ids.first_row.size());
  if (ids.first_row.size() <= 1) {
    Group& group = groups_.emplace_back();
    SLUICE_ASSIGN_OR_RETURN(group.partition, PartitionOf(rows, 0));
    group.whole = true;
    group.row_ends = row_ends_;
    return {};
  }
  const size_t base = groups_.size();
  groups_.resize(base + ids.first_row.size());
  for (size_t id = 0; id < ids.first_row.size(); ++id) {
    SLUICE_ASSIGN_OR_RETURN(groups_[base + id].partition, PartitionOf(rows, ids.first_row[id]));
  }
  size_t begin = 0;
  for (size_t row = 0; row < row_ends_.size(); ++row) {
    Group& group = groups_[base + static_cast<size_t>(ids.id_of_row[row])];
    group.text.append(text_, begin, row_ends_[row] - begin);
    group.row_ends.push_back(group.text.size());
    begin = row_ends_[row];
  }
  return {};
}

Status FileWriter::SplitRows(const Batch& batch) {
  SLUICE_ASSIGN_OR_RETURN(
      const expr::KeySplit split,
      expr::SplitByKey(batch, dynamic_columns_, plan_->file_columns, context().memory_pool));
  last_partitions_ = static_cast<int64_t>(split.ranges.size());
  groups_.reserve(groups_.size() + split.ranges.size());
  for (const expr::KeySplit::Range& range : split.ranges) {
    Group& group = groups_.emplace_back();
    SLUICE_ASSIGN_OR_RETURN(group.partition, PartitionOf(*batch.rows(), range.key_row));
    group.rows = split.RowsOf(range);
  }
  return {};
}

void FileWriter::SortOutLateRows(size_t first) {
  std::vector<Group> kept;
  for (size_t i = first; i < groups_.size(); ++i) {
    Group& group = groups_[i];
    if (!plan_->view->WasCommitted(context().attempt_id, group.partition.directory)) {
      kept.push_back(std::move(group));
      continue;
    }
    const int64_t rows =
        encoder_ ? static_cast<int64_t>(group.row_ends.size()) : group.rows.row_count();
    if (plan_->commit.late_rows == LateRows::kDrop) {
      context().metrics->Counter(sink_metric::kLateRowsDropped) += rows;
      continue;
    }
    context().metrics->Counter(sink_metric::kLateRowsAside) += rows;
    group.partition.directory = plan_->Directory(late_root_, group.partition.values);
    kept.push_back(std::move(group));
  }
  groups_.resize(first);
  for (Group& group : kept) groups_.push_back(std::move(group));
}

Status FileWriter::AppendGroup(Group* group, bool* done) {
  const int64_t now_ms = context().clock->NowMillis();
  if (plan_->trigger && buckets_->Find(group->partition.directory) == nullptr) {
    NoteDue(group->partition);
  }
  Bucket* bucket = buckets_->Get(group->partition, group->waits_since_ms.value_or(now_ms));
  if (group->waits_since_ms && bucket->file == nullptr && bucket->waiting.row_count() == 0) {
    bucket->rows_have_waited = true;
  }
  if (!encoder_) {
    *done = true;
    return buckets_->AppendRows(bucket, group->rows, now_ms);
  }
  // The rest of the text, with the ends counted from its start.
  const std::string_view text = group->whole ? text_ : group->text;
  const size_t begin = group->taken_rows == 0 ? 0 : group->row_ends[group->taken_rows - 1];
  std::span<const size_t> ends = std::span(group->row_ends).subspan(group->taken_rows);
  std::vector<size_t> shifted;
  if (begin > 0) {
    shifted.assign(ends.begin(), ends.end());
    for (size_t& end : shifted) end -= begin;
    ends = shifted;
  }
  SLUICE_ASSIGN_OR_RETURN(const size_t taken,
                          buckets_->AppendText(bucket, text.substr(begin), ends, now_ms));
  group->taken_rows += taken;
  *done = group->taken_rows == group->row_ends.size();
  return {};
}

Status FileWriter::DrainGroups() {
  while (next_group_ < groups_.size()) {
    if (buckets_->busy()) {
      SLUICE_RETURN_NOT_OK(buckets_->Collect());
      if (buckets_->busy()) return {};
    }
    bool done = false;
    SLUICE_RETURN_NOT_OK(AppendGroup(&groups_[next_group_], &done));
    if (done) ++next_group_;
  }
  groups_.clear();
  next_group_ = 0;
  return {};
}

Status FileWriter::ProcessWatermark(int64_t millis, runtime::Output& out) {
  watermark_ms_ = millis;
  return out.EmitWatermark(millis);
}

bool FileWriter::Ready() const {
  return phase_ == Phase::kRunning && groups_.empty() && !sorter_waits_ && !buckets_->busy();
}

Status FileWriter::Poll(runtime::Output& out) {
  SLUICE_RETURN_NOT_OK(CheckFence(context()));
  if (!reported_) SLUICE_RETURN_NOT_OK(Advance(out));
  return reported_ ? Status() : RollOnTimer();
}

Status FileWriter::Advance(runtime::Output& out) {
  SLUICE_RETURN_NOT_OK(buckets_->Collect());
  if (phase_ == Phase::kRestoring && buckets_->idle()) phase_ = Phase::kRunning;
  if (phase_ == Phase::kPreparing || phase_ == Phase::kFinishing) return AdvanceClosing(out);
  if (!sorter_waits_ && sorter_->full()) SLUICE_RETURN_NOT_OK(SortStaged());
  SLUICE_RETURN_NOT_OK(DrainGroups());
  SpillIfCrowded();
  SLUICE_RETURN_NOT_OK(buckets_->ShrinkToBudget(context().clock->NowMillis()));
  ScheduleTimer();
  return {};
}

void FileWriter::ScheduleTimer() {
  const int64_t interval_ms = plan_->rolling.check_interval_ms();
  if (interval_ms == 0 || next_check_ms_ != 0 || buckets_->empty()) return;
  next_check_ms_ = context().clock->NowMillis() + interval_ms;
  if (context().wake_at) context().wake_at(next_check_ms_);
}

Status FileWriter::RollOnTimer() {
  const int64_t now_ms = context().clock->NowMillis();
  if (next_check_ms_ == 0 || phase_ != Phase::kRunning || !groups_.empty()) return {};
  if (now_ms < next_check_ms_) {
    // Another wake-up may have replaced ours.
    if (context().wake_at) context().wake_at(next_check_ms_);
    return {};
  }
  next_check_ms_ = 0;
  SLUICE_RETURN_NOT_OK(buckets_->RollOnTimer(now_ms));
  SLUICE_RETURN_NOT_OK(buckets_->Collect());
  ScheduleTimer();
  return {};
}

bool FileWriter::IsDue(const PartitionRef& partition, int64_t bucket_since_ms,
                       int64_t now_ms) const {
  if (!plan_->trigger) return false;
  const std::string& attempt = context().attempt_id;
  const auto pending_since_ms = plan_->view->first_row_ms(attempt, partition.directory);
  const int64_t first_row_ms =
      std::min(bucket_since_ms, pending_since_ms.value_or(bucket_since_ms));
  const int64_t watermark_ms = std::max(watermark_ms_, plan_->view->watermark_ms(attempt));
  return plan_->trigger->Ask(partition.values, first_row_ms, watermark_ms, now_ms) ==
         CommitTrigger::Answer::kDue;
}

bool FileWriter::MustClose(const Bucket& bucket, int64_t now_ms) const {
  if (phase_ == Phase::kFinishing || barrier_.stopping || barrier_.final) return true;
  if (!encoder_ && !plan_->spans_checkpoints) return true;
  if (bucket.file == nullptr && bucket.waiting.row_count() == 0) return true;
  const PartFileInfo info = bucket.file ? bucket.file->info() : PartFileInfo();
  // Rows that waited in the sorter met no timer meanwhile.
  if (bucket.file && info.opened_ms == bucket.first_row_ms &&
      plan_->rolling.check_interval_ms() > 0 && plan_->rolling.ShouldRollOnTimer(info, now_ms)) {
    return true;
  }
  return plan_->rolling.ShouldRollOnCheckpoint(info) ||
         IsDue(bucket.partition, bucket.first_row_ms, now_ms);
}

bool FileWriter::EndsAtOnce(const PartitionSorter::Entry& entry, int64_t bytes,
                            int64_t now_ms) const {
  // Encoded it may be larger: a file that might have to roll goes the long way.
  constexpr int64_t kEncodedFactor = 16;
  if (bytes * kEncodedFactor > plan_->rolling.file_size_bytes()) return false;
  if (phase_ == Phase::kFinishing || barrier_.stopping || barrier_.final) return true;
  if (!encoder_ && !plan_->spans_checkpoints) return true;
  const PartFileInfo info{
      .size_bytes = 0, .opened_ms = entry.first_row_ms, .last_write_ms = entry.first_row_ms};
  const bool old =
      plan_->rolling.check_interval_ms() > 0 && plan_->rolling.ShouldRollOnTimer(info, now_ms);
  return old || plan_->rolling.ShouldRollOnCheckpoint(info) ||
         IsDue(entry.partition, entry.first_row_ms, now_ms);
}

void FileWriter::NoteDue(const PartitionRef& partition) {
  if (!plan_->trigger || !plan_->commit.early_checkpoint) return;
  const auto due = plan_->trigger->DueAfterWatermark(partition.values);
  // Late rows wait for the next periodic checkpoint.
  if (due && watermark_ms_ <= *due) plan_->view->AddDueAfter(context().attempt_id, *due);
}

Result<bool> FileWriter::HasManyPartitions(const Batch& batch) const {
  constexpr int64_t kSampleRows = 1024;
  const WriterLimits& limits = plan_->limits;
  if (plan_->sort_rows == SortRows::kAlways) return plan_->may_sort();
  if (batch.row_count() < limits.many_partitions || !plan_->may_sort()) return false;
  // Neighbouring batches are alike: where the one before had few, this one is not looked at twice.
  if (last_partitions_ < limits.many_partitions) return false;
  const auto sample = batch.rows()->Slice(0, std::min(batch.row_count(), kSampleRows));
  SLUICE_ASSIGN_OR_RETURN(const expr::KeyIds ids, expr::IdentifyKeys(*sample, dynamic_columns_));
  const auto keys = static_cast<int64_t>(ids.first_row.size());
  return keys >= limits.many_partitions && sample->num_rows() < keys * limits.few_rows;
}

Status FileWriter::AddToSorter(const Batch& batch) {
  const auto& rows = *batch.rows();
  SLUICE_ASSIGN_ARROW(auto selected, rows.SelectColumns(plan_->file_columns));
  SLUICE_RETURN_NOT_OK(
      sorter_->Add(std::move(selected), rows, dynamic_columns_, context().clock->NowMillis(),
                   [&](int64_t row) -> Result<PartitionRef> {
                     SLUICE_ASSIGN_OR_RETURN(PartitionRef partition, PartitionOf(rows, row));
                     NoteDue(partition);
                     return partition;
                   }));
  return {};
}

Status FileWriter::SortStaged() {
  SLUICE_ASSIGN_OR_RETURN(const SortedRows large, sorter_->Sort());
  for (size_t i = 0; i < large.segments.size(); ++i) {
    SLUICE_RETURN_NOT_OK(AddSortedGroup(large.segments[i].partition, large.RowsOf(i)));
  }
  return {};
}

Status FileWriter::AddSortedGroup(int32_t partition, std::shared_ptr<arrow::RecordBatch> rows) {
  const PartitionSorter::Entry& entry = sorter_->entry(partition);
  Group& group = groups_.emplace_back();
  group.partition = entry.partition;
  group.waits_since_ms = entry.first_row_ms;
  group.rows = Batch(std::move(rows));
  return encoder_ ? encoder_->Encode(std::exchange(group.rows, {}), &group.text, &group.row_ends)
                  : Status();
}

void FileWriter::SpillIfCrowded() {
  if (sorter_waits_ || !sorter_->MustSpill()) return;
  sorter_waits_ = true;
  auto status = std::make_shared<Status>();
  buckets_->RunIo([sorter = sorter_.get(), status] { *status = sorter->Spill(); },
                  [this, status]() -> Status {
                    sorter_waits_ = false;
                    return *status;
                  });
}

Result<bool> FileWriter::DrainSorter() {
  if (sorter_waits_) SLUICE_RETURN_NOT_OK(buckets_->Collect());
  if (sorter_waits_) return false;
  if (!sorting_) return true;
  if (sorter_->has_staged()) SLUICE_RETURN_NOT_OK(SortStaged());
  buckets_->BeginBatch(sorter_->waiting_partitions());
  while (true) {
    SLUICE_RETURN_NOT_OK(DrainGroups());
    if (!groups_.empty()) return false;
    SLUICE_RETURN_NOT_OK(CloseFinished());
    if (buckets_->busy()) SLUICE_RETURN_NOT_OK(buckets_->Collect());
    if (buckets_->busy() || sorter_waits_) return false;
    if (!piece_read_) {
      if (sorter_->empty()) break;
      ReadPiece();
      SLUICE_RETURN_NOT_OK(buckets_->Collect());
    } else {
      SLUICE_RETURN_NOT_OK(WritePiece());
      SLUICE_RETURN_NOT_OK(buckets_->ShrinkToBudget(context().clock->NowMillis()));
    }
  }
  sorter_->Clear();
  sorting_ = false;
  return true;
}

void FileWriter::ReadPiece() {
  auto piece = std::make_shared<Result<RowRuns::Piece>>(RowRuns::Piece());
  const auto take = [this, piece]() -> Status {
    sorter_waits_ = false;
    SLUICE_ASSIGN_OR_RETURN(piece_, std::move(*piece));
    piece_read_ = piece_.rows.row_count() > 0;
    next_segment_ = 0;
    return {};
  };
  sorter_waits_ = true;
  buckets_->RunIo([sorter = sorter_.get(), piece] { *piece = sorter->ReadPiece(); }, take);
}

// Whole partitions become files of their own on the I/O pool; the first other one goes to its
// bucket before it is gone on with.
Status FileWriter::WritePiece() {
  const int64_t now_ms = context().clock->NowMillis();
  const SortedRows& sorted = piece_.rows;
  const int64_t row_bytes = std::max<int64_t>(
      Batch(sorted.rows).byte_size() / std::max<int64_t>(sorted.row_count(), 1), 1);
  std::vector<WholeFile> whole;
  while (next_segment_ < sorted.segments.size() && whole.size() < kFilesOfJob) {
    const size_t segment = next_segment_++;
    const int32_t partition = sorted.segments[segment].partition;
    const PartitionSorter::Entry& entry = sorter_->entry(partition);
    auto rows = sorted.RowsOf(segment);
    const bool goes_on = segment + 1 == sorted.segments.size() && piece_.unfinished;
    const bool came_before = segment == 0 && piece_.continued;
    if (!goes_on && !came_before && buckets_->Find(entry.partition.directory) == nullptr &&
        EndsAtOnce(entry, rows->num_rows() * row_bytes, now_ms)) {
      whole.push_back({entry.partition, Batch(std::move(rows)), entry.first_row_ms});
      continue;
    }
    SLUICE_RETURN_NOT_OK(AddSortedGroup(partition, std::move(rows)));
    if (!goes_on) finished_directory_ = entry.partition.directory;
    break;
  }
  buckets_->WriteWhole(std::move(whole));
  piece_read_ = next_segment_ < sorted.segments.size();
  if (!piece_read_) piece_ = {};
  return {};
}

// A partition whose last rows are in its bucket need not wait for the others to be closed.
Status FileWriter::CloseFinished() {
  if (finished_directory_.empty()) return {};
  const int64_t now_ms = context().clock->NowMillis();
  Bucket* bucket = buckets_->Find(std::exchange(finished_directory_, {}));
  return bucket != nullptr && MustClose(*bucket, now_ms) ? buckets_->Close(bucket, now_ms)
                                                         : Status();
}

Status FileWriter::PrepareSnapshot(const runtime::Barrier& barrier, runtime::Output& out) {
  SLUICE_RETURN_NOT_OK(CheckFence(context()));
  barrier_ = barrier;
  phase_ = Phase::kPreparing;
  return AdvanceClosing(out);
}

Status FileWriter::FinishInput(runtime::Output& out) {
  phase_ = Phase::kFinishing;
  return AdvanceClosing(out);
}

Status FileWriter::AdvanceClosing(runtime::Output& out) {
  SLUICE_ASSIGN_OR_RETURN(const bool drained, DrainSorter());
  if (!drained) return {};
  const int64_t now_ms = context().clock->NowMillis();
  if (!std::exchange(listed_, true)) {
    to_close_ = buckets_->Directories();
    next_to_close_ = 0;
    next_to_persist_ = 0;
    buckets_->BeginBatch(0);
  }
  for (; next_to_close_ < to_close_.size(); ++next_to_close_) {
    if (buckets_->busy()) SLUICE_RETURN_NOT_OK(buckets_->Collect());
    if (buckets_->busy()) return {};
    Bucket* bucket = buckets_->Find(to_close_[next_to_close_]);
    if (bucket == nullptr) continue;  // Closed for want of room meanwhile.
    if (MustClose(*bucket, now_ms)) {
      SLUICE_RETURN_NOT_OK(buckets_->Close(bucket, now_ms));
    } else {
      SLUICE_RETURN_NOT_OK(buckets_->WriteWaiting(bucket, now_ms));
    }
  }
  if (next_to_persist_ == 0) SLUICE_RETURN_NOT_OK(buckets_->LimitEncoderState());
  // Only now: room for a new file may be made by closing another one.
  for (; next_to_persist_ < to_close_.size(); ++next_to_persist_) {
    if (buckets_->busy()) SLUICE_RETURN_NOT_OK(buckets_->Collect());
    if (buckets_->busy()) return {};
    Bucket* bucket = buckets_->Find(to_close_[next_to_persist_]);
    if (bucket != nullptr) buckets_->Persist(bucket);
  }
  SLUICE_RETURN_NOT_OK(buckets_->Collect());
  if (!buckets_->idle()) return {};
  if (!buckets_->EndBatch()) {
    SLUICE_RETURN_NOT_OK(buckets_->Collect());
    if (!buckets_->idle()) return {};
  }
  listed_ = false;
  to_close_.clear();
  if (phase_ == Phase::kPreparing) SLUICE_RETURN_NOT_OK(EmitReport(out));
  phase_ = Phase::kRunning;
  return {};
}

Status FileWriter::EmitReport(runtime::Output& out) {
  reported_ = true;
  return out.Emit(EncodeReport({.checkpoint = barrier_.id,
                                .subtask = context().subtask,
                                .name_prefix = name_prefix_,
                                .next_number = buckets_->next_number(),
                                .files = buckets_->TakeClosed(),
                                .open_files = buckets_->OpenFiles()}));
}

Status FileWriter::Snapshot(const runtime::Barrier& barrier, runtime::StateWriter& state) {
  (void)barrier;
  reported_ = false;
  std::vector<std::string> open_files;
  std::vector<std::string> bulk_states;
  for (const auto& [directory, bucket] : buckets_->buckets()) {
    PartFile* file = bucket->file.get();
    if (file == nullptr) continue;
    file->set_named();
    open_files.push_back(EncodeOpenFile({.file = {.handle = file->resume_handle(),
                                                  .partition = bucket->partition,
                                                  .first_row_ms = bucket->first_row_ms},
                                         .info = file->info(),
                                         .row_count = file->row_count(),
                                         .layout = plan_->layout_text}));
    bulk_states.push_back(file->bulk_state());
  }
  state.PutI64("version", kWriterStateVersion);
  state.PutBytes("lineage", lineage_);
  state.PutStrings("open_files", open_files);
  state.PutStrings(BulkStatesField(), bulk_states);
  state.PutBytes("layout", EncodeLayout(plan_->layout));
  return {};
}

}  // namespace sluice::connectors::filesystem
