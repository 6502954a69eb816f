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

Status FileWriter::Open(runtime::TaskContext& context) {
  SLUICE_RETURN_NOT_OK(Operator::Open(context));
  SLUICE_ASSIGN_OR_RETURN(auto located, plan_->file_systems->Locate(plan_->path));
  file_system_ = std::move(located.file_system);
  root_ = std::move(located.path);
  if (plan_->commit.late_rows == LateRows::kAside) {
    SLUICE_ASSIGN_OR_RETURN(auto aside, plan_->file_systems->Locate(plan_->commit.late_rows_path));
    late_root_ = std::move(aside.path);
  }
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
  name_prefix_ = PartNamePrefix(uuid, context().subtask, plan_->streaming);
  const std::string file_prefix =
      (plan_->compaction.enabled ? std::string(kRawPrefix) : std::string()) + name_prefix_;
  buckets_ = std::make_unique<BucketSet>(plan_.get(), &context(), file_system_,
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
    SLUICE_ASSIGN_OR_RETURN(bulk_states, state.GetStrings("bulk_states"));
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
  for (size_t i = 0; i < encoded.size(); ++i) {
    SLUICE_ASSIGN_OR_RETURN(OpenFileState open, DecodeOpenFile(encoded[i]));
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
  SLUICE_RETURN_NOT_OK(CheckFence(context()));
  context().metrics->Counter(runtime::metric::kRowsOut) += batch.row_count();
  // Rows of the batch before may still wait for the disk: they keep their text and go first.
  for (Group& group : groups_) {
    if (group.whole) group.text = text_;
    group.whole = false;
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
      auto slices,
      expr::SplitByKey(batch, dynamic_columns_, plan_->file_columns, context().memory_pool));
  groups_.reserve(groups_.size() + slices.size());
  for (expr::KeySlice& slice : slices) {
    Group& group = groups_.emplace_back();
    SLUICE_ASSIGN_OR_RETURN(group.partition, PartitionOf(*batch.rows(), slice.key_row));
    group.rows = std::move(slice.rows);
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
  Bucket* bucket = buckets_->Get(group->partition, now_ms);
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
  return phase_ == Phase::kRunning && groups_.empty() && !buckets_->busy();
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
  SLUICE_RETURN_NOT_OK(DrainGroups());
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

bool FileWriter::IsDue(const Bucket& bucket, int64_t now_ms) const {
  if (!plan_->trigger) return false;
  const std::string& attempt = context().attempt_id;
  const auto pending_since_ms = plan_->view->first_row_ms(attempt, bucket.partition.directory);
  const int64_t first_row_ms =
      std::min(bucket.first_row_ms, pending_since_ms.value_or(bucket.first_row_ms));
  const int64_t watermark_ms = std::max(watermark_ms_, plan_->view->watermark_ms(attempt));
  return plan_->trigger->Ask(bucket.partition.values, first_row_ms, watermark_ms, now_ms) ==
         CommitTrigger::Answer::kDue;
}

bool FileWriter::MustClose(const Bucket& bucket, int64_t now_ms) const {
  if (phase_ == Phase::kFinishing || barrier_.stopping || barrier_.final) return true;
  if (!encoder_ && !plan_->spans_checkpoints) return true;
  if (bucket.file == nullptr && bucket.waiting.row_count() == 0) return true;
  const PartFileInfo info = bucket.file ? bucket.file->info() : PartFileInfo();
  return plan_->rolling.ShouldRollOnCheckpoint(info) || IsDue(bucket, now_ms);
}

Status FileWriter::PrepareSnapshot(const runtime::Barrier& barrier, runtime::Output& out) {
  SLUICE_RETURN_NOT_OK(CheckFence(context()));
  barrier_ = barrier;
  phase_ = Phase::kPreparing;
  to_close_ = buckets_->Directories();
  next_to_close_ = 0;
  next_to_persist_ = 0;
  return AdvanceClosing(out);
}

Status FileWriter::FinishInput(runtime::Output& out) {
  phase_ = Phase::kFinishing;
  to_close_ = buckets_->Directories();
  next_to_close_ = 0;
  next_to_persist_ = 0;
  return AdvanceClosing(out);
}

Status FileWriter::AdvanceClosing(runtime::Output& out) {
  const int64_t now_ms = context().clock->NowMillis();
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
  // Only now: room for a new file may be made by closing another one.
  for (; next_to_persist_ < to_close_.size(); ++next_to_persist_) {
    if (buckets_->busy()) SLUICE_RETURN_NOT_OK(buckets_->Collect());
    if (buckets_->busy()) return {};
    Bucket* bucket = buckets_->Find(to_close_[next_to_persist_]);
    if (bucket != nullptr) buckets_->Persist(bucket);
  }
  SLUICE_RETURN_NOT_OK(buckets_->Collect());
  if (!buckets_->idle()) return {};
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
  state.PutStrings("bulk_states", bulk_states);
  state.PutBytes("layout", EncodeLayout(plan_->layout));
  return {};
}

}  // namespace sluice::connectors::filesystem
