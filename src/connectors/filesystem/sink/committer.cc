#include "connectors/filesystem/sink/committer.h"

#include <algorithm>

#include "common/crash_point.h"
#include "common/log.h"
#include "common/text.h"
#include "connectors/filesystem/partition/partition_spellings.h"
#include "connectors/filesystem/sink/commit_policy.h"
#include "connectors/filesystem/sink/fence_check.h"
#include "connectors/filesystem/sink/overwrite.h"
#include "connectors/filesystem/sink/publish_job.h"
#include "connectors/filesystem/sink/sink_names.h"
#include "connectors/filesystem/sink/source_status.h"

namespace sluice::connectors::filesystem {
namespace {

// Files that one job on the I/O pool publishes: enough directories in parallel, few hand-overs; but
// of many files so many that the directories of each half are worth one sync together.
constexpr size_t kFilesPerJob = 32;
constexpr size_t kManyFiles = 1'024;
constexpr size_t kJobsOfMany = 2;
// Markers that are written without looking whether this process is still the job's.
constexpr size_t kCommitsPerFenceCheck = 1'024;
// A directory of one small file a checkpoint would grow by 1,440 a day.
constexpr size_t kRecordsFolded = 100;
// One entry for each attempt and subtask; older ones only lose the message about newer files.
constexpr size_t kNamesKept = 1'024;

bool IsMissing(fs::FileSystem& file_system, const std::string& path) {
  return file_system.Stat(path).status().code() == StatusCode::kNotFound;
}

void PutNames(const std::deque<std::string>& order, const std::map<std::string, int64_t>& next,
              ByteWriter* out) {
  out->PutU64(order.size());
  for (const std::string& prefix : order) {
    out->PutText(prefix);
    out->PutI64(next.at(prefix));
  }
}

}  // namespace

FileCommitter::~FileCommitter() {
  if (compactor_) compactor_->StopWaiting();
  io_.reset();
  if (file_system_ == nullptr) return;
  // What no checkpoint can name is of no use to anybody; what stays is hidden, and swept later.
  for (size_t i = pending_files_.first_unnamed(); i < pending_files_.size(); ++i) {
    const FileCommittable file = pending_files_[i].Read();
    if (!file.named) (void)file_system_->publisher().Abandon(file.handle);
  }
}

Status FileCommitter::Open(runtime::TaskContext& context) {
  SLUICE_RETURN_NOT_OK(Operator::Open(context));
  SLUICE_ASSIGN_OR_RETURN(auto place, plan_->Locate());
  file_system_ = std::move(place.file_system);
  root_ = std::move(place.root);
  late_root_ = std::move(place.late_root);
  lineage_ = MakeLineage(context.job_id, plan_->sink_id);
  tag_ = MakeTag(lineage_, context.attempt_id);
  pending_share_ = std::make_unique<BudgetShare>(context.budget, &held_);
  io_ = std::make_unique<IoScope>(context.io_pool, context.wake);
  compactor_ = std::make_unique<Compactor>(plan_.get(), &context, file_system_.get(), io_.get());
  compactor_->set_tag(tag_);
  if (plan_->record) {
    recorder_ = std::make_unique<Recorder>(root_);
    compactor_->set_recorder(recorder_.get());
  }
  context.metrics->Counter(runtime::metric::kWatermarkMs) = runtime::kMinWatermarkMs;
  sweep_wanted_ = plan_->view->Begin(context.attempt_id) || context.begun_before;
  if (!file_system_->has_directories()) {
    StartCheck();
    return {};
  }
  // A disk answers at once. The first row may be hours away, and that it cannot be written is told
  // before. Directories of partitions may be open to us where that of the table is not.
  Status access = file_system_->CheckAccess(root_);
  if (access.ok() || (!plan_->partition_keys.empty() && file_system_->Stat(root_).ok())) return {};
  return std::move(access).WithContext("Table " + plan_->table + " cannot be written.");
}

void FileCommitter::StartCheck() {
  auto status = std::make_shared<Status>();
  io_->Submit([file_system = file_system_, root = root_,
               status] { *status = file_system->CheckAccess(root); },
              [status, table = plan_->table]() -> Status {
                return std::move(*status).WithContext("Table " + table + " cannot be written.");
              });
}

Status FileCommitter::Restore(const runtime::RestoredState& state) {
  for (const runtime::StateReader& subtask : state.subtasks) {
    SLUICE_ASSIGN_OR_RETURN(const int64_t version, subtask.GetI64("version"));
    if (version < 1 || version > kCommitterStateVersion) {
      return Status::Corrupt("The state of the file committer of " + plan_->table +
                             " has version " + std::to_string(version) +
                             ", this program knows versions up to " +
                             std::to_string(kCommitterStateVersion) +
                             ". Resume with the release that wrote it, or a newer one.");
    }
    SLUICE_ASSIGN_OR_RETURN(lineage_, subtask.GetBytes("lineage"));
    tag_ = MakeTag(lineage_, context().attempt_id);
    compactor_->set_tag(tag_);
    if (version >= 2) {
      SLUICE_ASSIGN_OR_RETURN(const std::string compaction, subtask.GetBytes("compaction"));
      SLUICE_RETURN_NOT_OK(compactor_->Decode(compaction));
    }
    SLUICE_RETURN_NOT_OK(pending_files_.Restore(subtask));
    SLUICE_ASSIGN_OR_RETURN(const std::string partitions, subtask.GetBytes("partitions"));
    SLUICE_RETURN_NOT_OK(partitions_.Decode(partitions));
    partitions_.ComeFromAtMost(context().clock->NowMillis());
    SLUICE_ASSIGN_OR_RETURN(watermarks_[state.checkpoint_id], subtask.GetI64("watermark_ms"));
    if (version >= 2) {
      SLUICE_ASSIGN_OR_RETURN(positions_[state.checkpoint_id],
                              subtask.GetStrings("source_positions"));
    }
    SLUICE_ASSIGN_OR_RETURN(final_checkpoint_, subtask.GetI64("final_checkpoint"));
    if (recorder_ && subtask.Has("record")) {
      SLUICE_ASSIGN_OR_RETURN(const std::string record, subtask.GetBytes("record"));
      SLUICE_RETURN_NOT_OK(recorder_->Decode(record));
    } else if (recorder_) {
      recorder_->BeginAt(state.checkpoint_id);
    }
    SLUICE_ASSIGN_OR_RETURN(const auto open_handles, subtask.GetStrings("open_handles"));
    SLUICE_RETURN_NOT_OK(SpareFiles(open_handles));
    SLUICE_ASSIGN_OR_RETURN(const std::string names, subtask.GetBytes("names"));
    ByteReader in(names);
    for (size_t count = in.Count(); count > 0 && in.ok(); --count) {
      std::string prefix = in.Text();
      names_used_[prefix] = in.I64();
      names_order_.push_back(std::move(prefix));
    }
    if (!in.AtEnd()) return Status::Corrupt("The names used in the checkpoint are damaged.");
  }
  if (state.published && plan_->streaming) {
    // Stopped in good order. What was published may have been moved away since. (A batch job
    // publishes at its end only: what it had pending when it stopped still is.)
    pending_files_.DropFirst(pending_files_.CountUpTo(state.checkpoint_id));
    compactor_->SkipMerged(state.checkpoint_id);
    published_before_ = state.checkpoint_id;
  }
  CountPending();
  sweep_.known_names = names_used_;
  sweep_wanted_ = true;
  plan_->view->SetCommitted(context().attempt_id, partitions_.committed());
  for (const PendingPartitions::Waiting& waiting : partitions_.List()) {
    NoteDue(waiting.partition);
  }
  ShareView();
  return {};
}

Status FileCommitter::SpareFiles(const std::vector<std::string>& open_handles) {
  const auto spare = [this](const std::string& handle) -> Status {
    SLUICE_ASSIGN_OR_RETURN(const auto info, file_system_->publisher().Describe(handle));
    sweep_.spared.insert(StableHash(info.hidden_path));
    return {};
  };
  for (const std::string& handle : open_handles) SLUICE_RETURN_NOT_OK(spare(handle));
  for (size_t i = 0; i < pending_files_.size(); ++i) {
    SLUICE_RETURN_NOT_OK(spare(std::string(pending_files_[i].handle())));
  }
  return {};
}

// Each is here, and once more in a checkpoint that is being written. Half of the budget is left to
// the writers, whatever waits: with less they would close files early, and more would wait.
void FileCommitter::CountPending() {
  if (context().budget == nullptr) return;
  pending_share_->Set(
      std::min(2 * pending_files_.held_bytes(), context().budget->limit_bytes() / 2));
}

Status FileCommitter::Process(Batch batch, runtime::Output& out) {
  (void)out;
  SLUICE_RETURN_NOT_OK(DecodeReports(batch, this));
  CountPending();
  return Advance();
}

Status FileCommitter::AddFile(ReceivedFile received) {
  const runtime::CheckpointId checkpoint = received.checkpoint;
  const FileCommittable& file = received.file;
  pending_files_.Add(checkpoint, received.bytes, std::move(received.owner));
  SLUICE_ASSIGN_OR_RETURN(auto info, file_system_->publisher().Describe(file.handle));
  const bool raw = Compactor::IsRaw(info.final_path);
  if (recorder_) {
    // An overwriting statement publishes into another directory first.
    recorder_->AddFile(checkpoint,
                       fs::JoinPath(file.partition.directory, fs::NameOf(info.final_path)),
                       file.row_count, file.size_bytes);
  }
  if (plan_->trigger && IsOwn(file.partition.directory)) {
    partitions_.AddFile(file.partition, checkpoint, file.first_row_ms, file.row_count);
    if (!raw) {
      partitions_.AddVisible(file.partition.directory, checkpoint,
                             {std::string(fs::NameOf(info.final_path)), file.row_count},
                             plan_->policies_tell_files);
    }
  }
  if (raw) compactor_->Add(checkpoint, file, std::move(info.final_path));
  return {};
}

Status FileCommitter::AddReport(const WriterReport& report) {
  if (report.checkpoint != open_files_checkpoint_) {
    open_files_.clear();
    open_files_checkpoint_ = report.checkpoint;
  }
  for (const OpenFile& file : report.open_files) {
    open_files_.push_back(file);
    if (!IsOwn(file.partition.directory)) continue;
    if (plan_->trigger) partitions_.AddOpen(file.partition, report.checkpoint, file.first_row_ms);
  }
  if (report.next_number > 0) {
    const auto [it, fresh] = names_used_.try_emplace(report.name_prefix, 0);
    it->second = report.next_number;
    if (fresh) names_order_.push_back(report.name_prefix);
    if (names_order_.size() > kNamesKept) {
      names_used_.erase(names_order_.front());
      names_order_.pop_front();
    }
  }
  return {};
}

Status FileCommitter::ProcessWatermark(int64_t millis, runtime::Output& out) {
  watermark_ms_ = millis;
  context().metrics->Counter(runtime::metric::kWatermarkMs) = millis;
  plan_->view->SetWatermark(context().attempt_id, millis);
  // A checkpoint whose barrier comes behind this watermark commits them.
  if (plan_->trigger && plan_->commit.early_checkpoint && millis != runtime::kMaxWatermarkMs &&
      plan_->view->TakeDue(context().attempt_id, millis) && context().request_checkpoint) {
    context().request_checkpoint();
  }
  return out.EmitWatermark(millis);
}

Status FileCommitter::Poll(runtime::Output& out) {
  (void)out;
  ShowRetries();
  return Advance();
}

Status FileCommitter::Snapshot(const runtime::Barrier& barrier, runtime::StateWriter& state) {
  watermarks_[barrier.id] = watermark_ms_;
  positions_[barrier.id] = SourcePositions(*context().metrics);
  if (barrier.final && final_checkpoint_ == 0) final_checkpoint_ = barrier.id;
  if (open_files_checkpoint_ != barrier.id) open_files_.clear();
  PlanCompaction(barrier);
  if (recorder_) {
    recorder_->AddBarrier(barrier.id, PositionsAtBarrier(*context().metrics),
                          static_cast<int64_t>(open_files_.size()));
    state.PutBytes("record", recorder_->Encode());
  }
  std::vector<std::string> open_handles;
  for (const OpenFile& file : open_files_) open_handles.push_back(file.handle);
  ByteWriter names;
  PutNames(names_order_, names_used_, &names);
  state.PutI64("version", kCommitterStateVersion);
  state.PutBytes("lineage", lineage_);
  pending_files_.Save(&state);
  state.PutBytes("partitions", partitions_.Encode());
  state.PutI64("watermark_ms", watermark_ms_);
  state.PutStrings("source_positions", positions_[barrier.id]);
  state.PutBytes("held_back_by", SlowestSplit(*context().metrics));
  state.PutI64("final_checkpoint", final_checkpoint_);
  state.PutStrings("open_handles", open_handles);
  state.PutBytes("names", std::move(names).Take());
  state.PutBytes("compaction", compactor_->Encode(barrier.id));
  ShareView();
  return {};
}

void FileCommitter::PlanCompaction(const runtime::Barrier& barrier) {
  const bool by_partition = plan_->compaction.enabled && plan_->trigger &&
                            plan_->compaction.scope == CompactionScope::kPartition;
  if (!by_partition) return AddPlanned(barrier.id, compactor_->PlanAll(barrier.id));
  const auto preview = partitions_.Peek(barrier.id, barrier.final ? nullptr : &*plan_->trigger,
                                        watermark_ms_, context().clock->NowMillis());
  for (const std::string& directory : preview.due) {
    AddPlanned(barrier.id, compactor_->PlanDirectory(barrier.id, directory));
  }
  for (const std::string& directory : compactor_->UnplannedDirectories()) {
    if (IsOwn(directory)) continue;
    AddPlanned(barrier.id, compactor_->PlanDirectory(barrier.id, directory));
  }
  // They are never committed before the end of the input: their rows are not kept from view.
  for (const std::string& directory : preview.untimed) {
    AddPlanned(barrier.id, compactor_->PlanDirectory(barrier.id, directory));
  }
}

void FileCommitter::AddPlanned(runtime::CheckpointId checkpoint,
                               const std::vector<Compactor::Planned>& planned) {
  for (const Compactor::Planned& file : planned) {
    partitions_.AddVisible(file.directory, checkpoint, file.file, plan_->policies_tell_files);
  }
}

void FileCommitter::NoteDue(const PartitionRef& partition) {
  if (!plan_->trigger) return;
  const auto due = plan_->trigger->DueAfterWatermark(partition.values);
  if (due) plan_->view->AddDueAfter(context().attempt_id, *due);
}

void FileCommitter::ShareView() {
  if (plan_->trigger) plan_->view->SetPending(context().attempt_id, partitions_.FirstRows());
}

void FileCommitter::ShowRetries() {
  if (file_system_->has_directories()) return;
  context().metrics->Counter(runtime::metric::kStoreRetries) = file_system_->retries();
}

Status FileCommitter::CheckpointComplete(runtime::CheckpointId id, runtime::Output& out) {
  (void)out;
  ShowRetries();
  completed_ = std::max(completed_, id);
  compactor_->CheckpointComplete(id);
  return Advance();
}

bool FileCommitter::Drained() const {
  return phase_ == Phase::kIdle && io_->in_flight() == 0 && completed_ <= done_;
}

Status FileCommitter::Advance() {
  while (true) {
    SLUICE_RETURN_NOT_OK(io_->Collect());
    if (sweep_wanted_) StartSweep();
    if (phase_ != Phase::kIdle || completed_ <= done_) return {};
    SLUICE_RETURN_NOT_OK(StartPublishing());
  }
}

Status FileCommitter::StartPublishing() {
  working_on_ = completed_;
  // In batch mode nothing is visible before the whole input is in.
  if (!plan_->streaming && !final_complete()) {
    done_ = working_on_;
    return {};
  }
  phase_ = Phase::kPublishing;
  publishing_count_ = pending_files_.CountUpTo(working_on_);
  touched_.clear();
  if (plan_->overwrite) {
    SLUICE_RETURN_NOT_OK(ReplaceDirectories(publishing_count_));
  } else {
    PublishFiles(publishing_count_);
  }
  SLUICE_RETURN_NOT_OK(io_->Collect());
  // Nothing to wait for: either all ran at once, or there was nothing.
  if (phase_ == Phase::kPublishing && publishing_jobs_ == 0) return FilesPublished();
  return {};
}

void FileCommitter::PublishFiles(size_t count) {
  std::vector<size_t> order(count);
  for (size_t i = 0; i < count; ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [this](size_t a, size_t b) {
    return pending_files_[a].directory() < pending_files_[b].directory();
  });
  if (!plan_->streaming) {
    for (const size_t i : order) TouchInBatch(pending_files_[i].Read());
  }
  const size_t files_per_job =
      count < kManyFiles ? kFilesPerJob : (count + kJobsOfMany - 1) / kJobsOfMany;
  publishing_jobs_ = 1;  // Held until all are handed over.
  size_t begin = 0;
  for (size_t end = 1; end <= count; ++end) {
    const bool more =
        end < count && (end - begin < files_per_job || pending_files_[order[end - 1]].directory() ==
                                                           pending_files_[order[end]].directory());
    if (more) continue;  // Directories stay together.
    PublishGroup(std::span(order).subspan(begin, end - begin));
    begin = end;
  }
  --publishing_jobs_;
}

void FileCommitter::TouchInBatch(const FileCommittable& file) {
  if (plan_->streaming || plan_->policies.empty()) return;
  PendingPartitions::Due& due = touched_[file.partition.directory];
  due.partition = file.partition;
  due.row_count += file.row_count;
  const auto info = file_system_->publisher().Describe(file.handle);
  if (info.ok()) due.files.push_back({std::string(fs::NameOf(info->final_path)), file.row_count});
}

void FileCommitter::PublishGroup(std::span<const size_t> files) {
  auto job = std::make_shared<PublishJob>();
  for (const size_t i : files) {
    const FileCommittable file = pending_files_[i].Read();
    std::string merged;
    if (compactor_->has_restored_targets()) {
      const auto info = file_system_->publisher().Describe(file.handle);
      if (info.ok()) merged = compactor_->RestoredTargetOf(info->final_path);
    }
    job->Add(pending_files_[i], file, std::move(merged));
  }
  ++publishing_jobs_;
  io_->Submit(
      [job, file_system = file_system_, fence = context().fence] { job->Run(*file_system, fence); },
      [this, job]() -> Status {
        if (!job->status().ok()) {
          return Status(job->status())
              .WithContext("While publishing files of checkpoint " + std::to_string(working_on_) +
                           " of " + plan_->table + ".");
        }
        if (!plan_->compaction.enabled) {
          published_.Add(job->file_count(), job->size_bytes());
        }
        return --publishing_jobs_ == 0 ? FilesPublished() : Status();
      });
}

Status FileCommitter::FilesPublished() {
  phase_ = Phase::kMerging;
  pending_files_.DropFirst(publishing_count_);
  published_.TellTo(context().metrics);
  CountPending();
  return compactor_->Start(working_on_, [this] { return StartCommitting(); });
}

Status FileCommitter::ReplaceDirectories(size_t count) {
  std::map<std::string, Replacement> replacements;
  std::map<std::string, int64_t> sizes;
  auto replaced = std::make_shared<std::set<PartitionValues>>();
  for (size_t i = 0; i < count; ++i) {
    const FileCommittable file = pending_files_[i].Read();
    const std::string& directory = file.partition.directory;
    Replacement& replacement = replacements[directory];
    replacement.directory = directory;
    replacement.staging = StagingDirectory(directory, lineage_);
    replacement.handles.push_back(file.handle);
    replaced->insert(file.partition.values);
    TouchInBatch(file);
    sizes[directory] += file.size_bytes;
  }
  if (replacements.empty() && plan_->fully_static()) {
    // No rows: the partition named, or the whole table, becomes empty.
    const PartitionValues values(plan_->static_values.begin(), plan_->static_values.end());
    const std::string directory = plan_->Directory(root_, values);
    replacements[directory] = {directory, StagingDirectory(directory, lineage_), {}};
    replaced->insert(values);
    touched_[directory].partition = {directory,
                                     plan_->partition_keys.empty() ? PartitionValues() : values};
  }
  publishing_jobs_ = 1;
  for (auto& [directory, replacement] : replacements) {
    if (recorder_) replaced_.push_back(recorder_->NameOf(directory));
    ++publishing_jobs_;
    auto status = std::make_shared<Status>();
    const auto file_count = static_cast<int64_t>(replacement.handles.size());
    io_->Submit(
        [file_system = file_system_, replacement = std::move(replacement), status,
         fence = context().fence] {
          *status = CheckFence(fence);
          if (status->ok()) *status = ReplaceDirectory(*file_system, replacement);
        },
        [this, status, file_count, replaced, size_bytes = sizes[directory]]() -> Status {
          if (!status->ok()) return *status;
          published_.Add(file_count, size_bytes);
          if (--publishing_jobs_ == 0) RemoveOtherSpellings(*replaced);
          return {};
        });
  }
  --publishing_jobs_;
  return {};
}

void FileCommitter::RemoveOtherSpellings(const std::set<PartitionValues>& replaced) {
  publishing_jobs_ = 1;
  auto status = std::make_shared<Status>();
  io_->Submit(
      [file_system = file_system_, plan = plan_, root = root_, status, fence = context().fence,
       replaced = std::vector<PartitionValues>(replaced.begin(), replaced.end())] {
        *status = CheckFence(fence);
        if (!status->ok()) return;
        const auto others =
            FindOtherSpellings(*file_system, root, plan->partition_keys,
                               plan->default_partition_name, replaced, plan->partition_types);
        *status = others.status();
        for (size_t i = 0; status->ok() && i < others->size(); ++i)
          *status = file_system->DeleteTree((*others)[i].path);
      },
      [this, status]() -> Status {
        SLUICE_RETURN_NOT_OK(*status);
        publishing_jobs_ = 0;
        return FilesPublished();
      });
}

Status FileCommitter::StartCommitting() {
  phase_ = Phase::kCommitting;
  auto due = std::make_shared<const std::vector<PendingPartitions::Due>>(FindDue());
  if (due->empty()) return StartRecording(std::move(due));
  auto commits = std::make_shared<std::vector<PartitionCommit>>();
  for (const PendingPartitions::Due& partition : *due) commits->push_back(MakeCommit(partition));
  auto status = std::make_shared<Status>();
  io_->Submit(
      [commits, status, file_system = file_system_, plan = plan_, tag = tag_,
       fence = context().fence, moved = working_on_ == published_before_] {
        // Committed before the stop, and moved away since: no directory is made for a marker.
        if (moved) {
          std::erase_if(*commits, [&](const PartitionCommit& commit) {
            return IsMissing(*file_system, commit.partition.directory);
          });
        }
        for (size_t begin = 0; status->ok() && begin < commits->size();
             begin += kCommitsPerFenceCheck) {
          *status = CheckFence(fence);
          if (!status->ok()) return;
          const size_t count = std::min(commits->size() - begin, kCommitsPerFenceCheck);
          const auto some = std::span<const PartitionCommit>(*commits).subspan(begin, count);
          *status = CommitPartitions(*file_system, plan->policies, some, tag);
        }
      },
      [this, due, status]() -> Status {
        if (!status->ok()) return *status;
        return StartRecording(due);
      });
  return {};
}

Status FileCommitter::StartRecording(
    std::shared_ptr<const std::vector<PendingPartitions::Due>> committed) {
  const bool at_end = final_checkpoint_ != 0 && working_on_ >= final_checkpoint_;
  std::optional<TableRecord> made;
  if (recorder_) made = recorder_->Make(working_on_, at_end || !committed->empty());
  if (!made) return FinishCheckpoint(*committed);
  const auto record = std::make_shared<TableRecord>(std::move(*made));
  record->lineage = lineage_;
  record->format = std::string(plan_->layout.format->name);
  record->final = at_end;
  record->time_ms = context().clock->NowMillis();
  record->replaced = std::exchange(replaced_, {});
  for (const auto& partition : *committed) {
    record->committed.push_back(recorder_->NameOf(partition.partition.directory));
  }
  for (const PolicyKind kind : plan_->commit.policies) {
    if (kind == PolicyKind::kSuccessFile) record->marker = plan_->commit.success_file_name;
  }
  std::vector<std::string> fold;
  if (record_paths_.size() + 1 >= kRecordsFolded) fold = std::exchange(record_paths_, {});
  const bool folded = !fold.empty();
  auto status = std::make_shared<Status>();
  io_->Submit(
      [file_system = file_system_, root = root_, record, fold = std::move(fold), status,
       fence = context().fence, first = std::exchange(first_record_, false)]() mutable {
        SLUICE_CRASH_POINT("sink.before_record");
        *status = CheckFence(fence);
        if (!status->ok()) return;
        *status = first ? WriteFirstRecord(*file_system, root, record.get())
                        : WriteRecord(*file_system, root, *record);
        if (status->ok() && !fold.empty()) {
          fold.push_back(RecordPath(root, *record));
          *status = FoldRecords(*file_system, fold);
        }
        SLUICE_CRASH_POINT("sink.after_record");
      },
      [this, record, committed, status, folded]() -> Status {
        if (!status->ok()) return *status;
        if (!folded) record_paths_.push_back(RecordPath(root_, *record));
        recorder_->Written(*record);
        return FinishCheckpoint(*committed);
      });
  return {};
}

PartitionCommit FileCommitter::MakeCommit(PendingPartitions::Due due) const {
  PartitionCommit commit{.table = plan_->table,
                         .keys = plan_->partition_keys,
                         .partition = std::move(due.partition),
                         .checkpoint = working_on_,
                         .again = due.again,
                         .row_count = due.row_count,
                         .files = std::move(due.files),
                         .source_positions = {}};
  for (const auto& [checkpoint, positions] : positions_) {
    if (checkpoint <= working_on_) commit.source_positions = positions;
  }
  return commit;
}

std::vector<PendingPartitions::Due> FileCommitter::FindDue() {
  std::vector<PendingPartitions::Due> due;
  if (plan_->commit.policies.empty()) return due;
  if (!plan_->streaming) {
    for (const auto& [directory, partition] : touched_) due.push_back(partition);
    return due;
  }
  if (!plan_->trigger) return due;  // Without partitions a stream commits nothing.
  int64_t watermark_ms = runtime::kMinWatermarkMs;
  for (const auto& [checkpoint, at_barrier] : watermarks_) {
    if (checkpoint <= working_on_) watermark_ms = at_barrier;
  }
  // At the end of the input everything is complete.
  const bool all = final_checkpoint_ != 0 && working_on_ >= final_checkpoint_;
  std::vector<PartitionRef> untimed;
  due = partitions_.FindDue(working_on_, all ? nullptr : &*plan_->trigger, watermark_ms,
                            context().clock->NowMillis(), &untimed);
  ReportUntimed(untimed);
  // Due since the barrier only: its files are merged with the next checkpoint, and then it is
  // committed.
  std::erase_if(due, [this](const PendingPartitions::Due& partition) {
    return compactor_->HasUnplanned(partition.partition.directory, working_on_);
  });
  return due;
}

void FileCommitter::ReportUntimed(const std::vector<PartitionRef>& untimed) {
  if (untimed.empty()) return;
  context().metrics->Counter(runtime::metric::kUntimedPartitions) +=
      static_cast<int64_t>(untimed.size());
  constexpr size_t kNamed = 5;
  std::vector<std::string> names;
  for (size_t i = 0; i < std::min(untimed.size(), kNamed); ++i) {
    names.push_back(
        untimed[i].directory.substr(std::min(root_.size() + 1, untimed[i].directory.size())));
  }
  Log(LogLevel::kWarning,
      "Table " + plan_->table + ": " + std::to_string(untimed.size()) +
          " partition(s) have no time in their values: " + Join(names, ", ") +
          (untimed.size() > kNamed ? ", …" : "") +
          ". Their files are written and visible; they are committed only when the input ends. See "
          "'partition.time-extractor.timestamp-pattern' and "
          "'partition.time-extractor.timestamp-formatter'.");
}

Status FileCommitter::FinishCheckpoint(const std::vector<PendingPartitions::Due>& committed) {
  for (const auto& partition : committed) {
    partitions_.Committed(partition.partition.directory, working_on_);
    plan_->view->AddCommitted(context().attempt_id, partition.partition.directory);
    if (partition.again) ++context().metrics->Counter(runtime::metric::kLateCommits);
  }
  context().metrics->Counter(runtime::metric::kCommittedPartitions) +=
      static_cast<int64_t>(committed.size());
  // The watermark at the newest complete checkpoint stays: a restart may ask again.
  while (watermarks_.size() > 1 && std::next(watermarks_.begin())->first <= working_on_) {
    watermarks_.erase(watermarks_.begin());
  }
  while (positions_.size() > 1 && std::next(positions_.begin())->first <= working_on_) {
    positions_.erase(positions_.begin());
  }
  if (plan_->trigger) {
    ShareView();
    int64_t first_row_ms = 0;
    const PartitionRef* waiting = partitions_.First(&first_row_ms);
    context().metrics->SetWaiting(
        "partition commit of " + plan_->table,
        waiting == nullptr
            ? ""
            : waiting->directory + " " +
                  plan_->trigger->Explain(waiting->values, first_row_ms, watermark_ms_));
  }
  if (plan_->overwrite && !sweep_.lineage.empty() && !sweep_.remove_staging) {
    // Earlier attempts may have staged partitions that this one got no rows for.
    sweep_.remove_staging = true;
    sweep_wanted_ = true;
  }
  ShowRetries();
  done_ = working_on_;
  phase_ = Phase::kIdle;
  if (final_complete()) compactor_->DeleteExpired();
  return {};
}

void FileCommitter::StartSweep() {
  sweep_wanted_ = false;
  sweep_.root = root_;
  sweep_.lineage = lineage_;
  sweep_.current_tag = tag_;
  sweep_.current_uuid = AttemptUuid(lineage_, context().job_id, context().attempt_id);
  sweep_.remove_newer = plan_->remove_abandoned;
  auto result = std::make_shared<Result<SweepResult>>(SweepResult());
  // Only an overwriting job sweeps again. What is spared may be much.
  SweepRequest request = plan_->overwrite ? sweep_ : std::exchange(sweep_, {});
  io_->Submit(
      [file_system = file_system_, request = std::move(request), late_root = late_root_,
       result]() mutable {
        *result = SweepLeftovers(*file_system, request);
        if (!result->ok() || late_root.empty()) return;
        request.root = late_root;
        auto aside = SweepLeftovers(*file_system, request);
        if (!aside.ok()) {
          *result = aside.status();
          return;
        }
        (*result)->removed += aside->removed;
        for (std::string& path : aside->newer_files) {
          (*result)->newer_files.push_back(std::move(path));
        }
      },
      [this, result]() -> Status {
        if (result->ok()) {
          SweepDone(**result);
        } else {
          // Left-overs are hidden: they do no harm, and the next start looks again.
          Log(LogLevel::kWarning, "Cannot clean up after earlier attempts in " + root_ + ": " +
                                      result->status().ToString());
        }
        return {};
      });
}

void FileCommitter::SweepDone(const SweepResult& result) {
  if (result.removed > 0) {
    Log(LogLevel::kInfo, "Table " + plan_->table + ": removed " + std::to_string(result.removed) +
                             " hidden left-over(s) of earlier attempts of this job.");
  }
  if (result.newer_files.empty()) return;
  constexpr size_t kNamed = 10;
  std::vector<std::string> names(
      result.newer_files.begin(),
      result.newer_files.begin() +
          static_cast<std::ptrdiff_t>(std::min(result.newer_files.size(), kNamed)));
  Log(LogLevel::kWarning,
      "Table " + plan_->table + ": " + std::to_string(result.newer_files.size()) +
          " file(s) were published after the restored checkpoint by a run that is now abandoned; "
          "their rows are read and written again. " +
          (plan_->remove_abandoned
               ? "They were removed: "
               : "Remove them, or restore with 'sluice.remove-abandoned' = 'true': ") +
          Join(names, ", ") + (result.newer_files.size() > kNamed ? ", …" : ""));
}

}  // namespace sluice::connectors::filesystem
