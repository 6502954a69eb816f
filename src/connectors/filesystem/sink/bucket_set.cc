#include "connectors/filesystem/sink/bucket_set.h"

#include <algorithm>
#include <limits>

#include "common/log.h"
#include "connectors/filesystem/compression/compressed_part.h"
#include "connectors/filesystem/sink/overwrite.h"
#include "connectors/filesystem/sink/sink_names.h"

namespace sluice::connectors::filesystem {

/// A file on its way to disk.
struct BucketSet::Closing {
  std::unique_ptr<PartFile> file;
  FileCommittable committable;
  Status status;
};

/// Files that one job on the I/O pool writes.
struct BucketSet::WholeJob {
  WholeJob(MemoryBudget* budget, HeldBytes* held) : share(budget, held) {}

  Status Write(const BucketSet& set, fs::FileSystem& file_system);
  Status MakeEncoders(const BucketSet& set);
  Result<FileCommittable> WriteOne(const BucketSet& set, fs::FileSystem& file_system, size_t index);
  /// A file from beginning to end, not closed yet.
  Result<std::unique_ptr<PartFile>> Fill(const BucketSet& set, const WholeFile& file,
                                         std::unique_ptr<fs::PartFileWriter> writer);
  /// The file's bytes where they are made without a bulk writer; they go with the next call.
  Result<std::optional<std::string_view>> Encode(const Batch& rows);

  std::vector<WholeFile> files;
  std::vector<std::string> paths;
  std::shared_ptr<fs::SyncBatch> batch;
  BudgetShare share;
  std::unique_ptr<formats::RowEncoder> row_encoder;          // Of row formats.
  std::unique_ptr<formats::WholeFileEncoder> whole_encoder;  // Of containers, where there is one.
  std::string text;
  std::vector<FileCommittable> written;
  Status status;
};

BucketSet::BucketSet(const FileSinkPlan* plan, runtime::TaskContext* context, HeldBytes* held,
                     std::shared_ptr<fs::FileSystem> file_system, std::string root,
                     WriterNames names)
    : plan_(*plan),
      context_(*context),
      file_system_(std::move(file_system)),
      root_(std::move(root)),
      names_(std::move(names)),
      held_(*held),
      open_files_metric_(context->metrics->Counter(runtime::metric::kOpenFiles)),
      early_rolls_metric_(context->metrics->Counter(runtime::metric::kEarlyRolls)),
      io_(std::make_unique<IoScope>(context->io_pool, context->wake)) {}

BucketSet::~BucketSet() {
  if (counted_uploads_ != 0) context_.budget->Return(counted_uploads_);
  io_.reset();  // First: what runs there uses the files.
  open_files_metric_ -= open_files_;
  DiscardUnnamed();
}

void BucketSet::DiscardUnnamed() {
  // Best effort on the way out: what stays is hidden, and swept when the job starts again.
  bool discarded = false;
  const auto abandon = [&](const std::string& handle) {
    (void)file_system_->publisher().Abandon(handle);
    discarded = true;
  };
  for (auto& [directory, bucket] : buckets_) {
    if (!bucket->file || bucket->file->named()) continue;
    (void)bucket->file->Discard();
    discarded = true;
  }
  for (const auto& closing : closing_) {
    if (closing->committable.named) continue;
    if (closing->file) {
      (void)closing->file->Discard();
      discarded = true;
    } else if (!closing->committable.handle.empty()) {
      abandon(closing->committable.handle);
    }
  }
  for (const auto& job : whole_jobs_) {
    for (const FileCommittable& file : job->written) abandon(file.handle);
  }
  for (const FileCommittable& file : closed_) {
    if (!file.named) abandon(file.handle);
  }
  if (!discarded) return;  // The committer is renaming files there at this moment.
  for (const std::string& directory : staging_) {
    // By name alone: a file that is renamed between being named and being looked at is left out.
    const auto entries = file_system_->ListNames(directory);
    if (entries.ok() && entries->empty()) (void)file_system_->DeleteTree(directory);
  }
}

Bucket* BucketSet::Get(const PartitionRef& partition, int64_t now_ms) {
  auto& slot = buckets_[partition.directory];
  if (slot == nullptr) {
    slot = std::make_unique<Bucket>(partition, now_ms, context_.budget, &held_);
    slot->recency = recency_.insert(recency_.end(), slot.get());
  } else {
    recency_.splice(recency_.end(), recency_, slot->recency);
    if (slot->file) open_recency_.splice(open_recency_.end(), open_recency_, slot->open_recency);
  }
  return slot.get();
}

Bucket* BucketSet::Find(const std::string& directory) {
  const auto it = buckets_.find(directory);
  return it == buckets_.end() ? nullptr : it->second.get();
}

std::vector<std::string> BucketSet::Directories() const {
  std::vector<std::string> directories;
  directories.reserve(buckets_.size());
  for (const Bucket* bucket : recency_) directories.push_back(bucket->partition.directory);
  return directories;
}

void BucketSet::Erase(Bucket* bucket) {
  recency_.erase(bucket->recency);
  buckets_.erase(buckets_.find(bucket->partition.directory));
}

Status BucketSet::OpenFileOf(Bucket* bucket, int64_t now_ms) {
  if (bucket->file && plan_.rolling.ShouldRollOnWrite(bucket->file->info())) {
    StartClosing(bucket);
  }
  if (bucket->file) return {};
  if (open_files_ >= plan_.limits.open_files) CloseColdest(bucket);
  BeginDisk();
  const std::string final_path = NewPath(bucket->partition);
  SLUICE_ASSIGN_OR_RETURN(auto writer, file_system_->publisher().Open(final_path, names_.tag));
  writer = CompressPart(std::move(writer), plan_.compression);
  if (std::exchange(bucket->rows_have_waited, false)) now_ms = bucket->first_row_ms;
  if (plan_.layout.format->encoding == formats::Encoding::kRow) {
    SetFile(bucket, std::make_unique<PartFile>(std::move(writer), now_ms, context_.budget, &held_));
  } else {
    SLUICE_ASSIGN_OR_RETURN(auto file,
                            PartFile::MakeBulk(std::move(writer), MakerOf(plan_.layout, {}), now_ms,
                                               context_.budget, &held_));
    SetFile(bucket, std::move(file));
  }
  return {};
}

std::string BucketSet::NewPath(const PartitionRef& partition) {
  std::string directory = partition.directory;
  if (plan_.overwrite && file_system_->has_directories()) {
    directory = StagingDirectory(directory, names_.lineage);
    staging_.insert(directory);
  }
  return fs::JoinPath(directory, names_.prefix + std::to_string(next_number_++) +
                                     plan_.part_suffix + std::string(SuffixOf(plan_.compression)));
}

BulkWriterMaker BucketSet::MakerOf(const FileLayout& layout, std::string state) const {
  return [&layout, state = std::move(state), spans = plan_.spans_checkpoints || !state.empty(),
          zone = plan_.session_zone,
          pool = context_.memory_pool](std::shared_ptr<arrow::io::OutputStream> stream)
             -> Result<std::unique_ptr<formats::BulkWriter>> {
    const formats::FormatContext format_context{.session_zone = zone, .pool = pool};
    if (!spans) {
      return layout.format->make_bulk_writer(layout.options, layout.schema, std::move(stream),
                                             format_context);
    }
    SLUICE_ASSIGN_OR_RETURN(
        auto writer, layout.operations->resume_writer(layout.options, layout.schema,
                                                      std::move(stream), state, format_context));
    return std::unique_ptr<formats::BulkWriter>(std::move(writer));
  };
}

void BucketSet::SetFile(Bucket* bucket, std::unique_ptr<PartFile> file) {
  bucket->file = std::move(file);
  bucket->open_recency = open_recency_.insert(open_recency_.end(), bucket);
  ++open_files_;
  ++open_files_metric_;
}

Result<size_t> BucketSet::AppendText(Bucket* bucket, std::string_view text,
                                     std::span<const size_t> row_ends, int64_t now_ms) {
  size_t row = 0;
  size_t begin = 0;
  while (row < row_ends.size() && !busy()) {
    SLUICE_RETURN_NOT_OK(OpenFileOf(bucket, now_ms));
    // Through the first row that takes the file over its limit: the next one goes into a new file.
    const int64_t room = plan_.rolling.file_size_bytes() - bucket->file->info().size_bytes;
    size_t end_row = row_ends.size();
    if (room < static_cast<int64_t>(row_ends.back() - begin)) {
      const auto first = row_ends.begin() + static_cast<std::ptrdiff_t>(row);
      const auto over = std::upper_bound(first, row_ends.end(),
                                         begin + static_cast<size_t>(std::max<int64_t>(room, 0)));
      if (over != row_ends.end()) end_row = static_cast<size_t>(over - row_ends.begin()) + 1;
    }
    const size_t end = row_ends[end_row - 1];
    SLUICE_RETURN_NOT_OK(bucket->file->AppendText(text.substr(begin, end - begin),
                                                  static_cast<int64_t>(end_row - row), now_ms));
    row = end_row;
    begin = end;
    CheckRoom();
  }
  bucket->last_row_ms = now_ms;
  return row;
}

Status BucketSet::AppendRows(Bucket* bucket, const Batch& rows, int64_t now_ms) {
  bucket->last_row_ms = now_ms;
  const int64_t wanted_rows = GatheredRows(*bucket);
  if (bucket->waiting.row_count() + rows.row_count() < wanted_rows) {
    return bucket->waiting.Add(rows, context_.memory_pool);
  }
  if (rows.row_count() < wanted_rows) {
    SLUICE_RETURN_NOT_OK(bucket->waiting.Add(rows, context_.memory_pool));
    return WriteWaiting(bucket, now_ms);
  }
  SLUICE_RETURN_NOT_OK(WriteWaiting(bucket, now_ms));
  return WriteBulk(bucket, rows, now_ms);
}

int64_t BucketSet::GatheredRows(const Bucket& bucket) const {
  // Waiting rows must stay a small part of a file, or files would grow past their size.
  const bool much = bucket.waiting.held_bytes() >= plan_.rolling.file_size_bytes() / 8;
  return much ? plan_.limits.least_gathered_rows : plan_.limits.gathered_rows;
}

Status BucketSet::WriteWaiting(Bucket* bucket, int64_t now_ms) {
  if (bucket->waiting.row_count() == 0) return {};
  SLUICE_ASSIGN_OR_RETURN(const Batch rows, bucket->waiting.Take());
  return WriteBulk(bucket, rows, now_ms);
}

Status BucketSet::WriteBulk(Bucket* bucket, const Batch& rows, int64_t now_ms) {
  SLUICE_RETURN_NOT_OK(OpenFileOf(bucket, now_ms));
  SLUICE_RETURN_NOT_OK(bucket->file->AppendRows(rows, now_ms));
  CheckRoom();
  return {};
}

void BucketSet::CheckRoom() {
  fs::Publisher& publisher = file_system_->publisher();
  CountUploads();
  const int64_t at_most = MostUploadBytes();
  if (waiting_for_room_ || publisher.HasRoom(at_most)) return;
  waiting_for_room_ = true;
  io_->Submit([&publisher, at_most] { publisher.WaitForRoom(at_most); },
              [this]() -> Status {
                waiting_for_room_ = false;
                return {};
              });
}

// Uploads belong to the file system; one writer of the job counts them for all.
void BucketSet::CountUploads() {
  if (context_.budget == nullptr || context_.subtask != 0) return;
  const int64_t now = file_system_->publisher().bytes_under_way();
  context_.budget->Take(now - counted_uploads_);
  counted_uploads_ = now;
}

void BucketSet::StartClosing(Bucket* bucket) {
  open_recency_.erase(bucket->open_recency);
  StartClosing(std::move(bucket->file), bucket->partition, bucket->first_row_ms);
}

void BucketSet::StartClosing(std::unique_ptr<PartFile> file, PartitionRef partition,
                             int64_t first_row_ms) {
  --open_files_;
  --open_files_metric_;
  auto closing = std::make_shared<Closing>();
  closing->committable = {.handle = {},
                          .partition = std::move(partition),
                          .row_count = file->row_count(),
                          .size_bytes = 0,
                          .first_row_ms = first_row_ms,
                          .named = file->named()};
  closing->file = std::move(file);
  closing_.push_back(closing);
  io_->Submit(
      [closing, batch = batch_] {
        auto handle = closing->file->Close(batch.get());
        if (!handle.ok()) {
          closing->status = handle.status();
          return;
        }
        closing->committable.handle = std::move(*handle);
        closing->committable.size_bytes = closing->file->info().size_bytes;
        closing->file.reset();
      },
      [this, at = std::prev(closing_.end())]() -> Status {
        const Status status = (*at)->status;
        if (!status.ok()) return status;  // Stays in the list, to be discarded with the rest.
        closed_.push_back(std::move((*at)->committable));
        closing_.erase(at);
        return {};
      });
}

int64_t BucketSet::MostUploadBytes() const {
  return context_.budget == nullptr ? std::numeric_limits<int64_t>::max()
                                    : context_.budget->limit_bytes() / 4;
}

Status BucketSet::WholeJob::MakeEncoders(const BucketSet& set) {
  const FileLayout& layout = set.plan_.layout;
  const formats::FormatContext format_context{.session_zone = set.plan_.session_zone,
                                              .pool = set.context_.memory_pool};
  if (layout.format->encoding == formats::Encoding::kRow) {
    SLUICE_ASSIGN_OR_RETURN(row_encoder,
                            layout.format->make_encoder(layout.options, layout.schema,
                                                        formats::Framing::kFile, format_context));
  } else if (layout.operations->make_whole_file_encoder != nullptr) {
    SLUICE_ASSIGN_OR_RETURN(whole_encoder, layout.operations->make_whole_file_encoder(
                                               layout.options, layout.schema, format_context));
  }
  return {};
}

Result<std::optional<std::string_view>> BucketSet::WholeJob::Encode(const Batch& rows) {
  if (whole_encoder != nullptr) return whole_encoder->Encode(rows);
  if (row_encoder == nullptr) return std::nullopt;
  text.clear();
  std::vector<size_t> row_ends;
  SLUICE_RETURN_NOT_OK(row_encoder->Encode(rows, &text, &row_ends));
  return std::string_view(text);
}

Result<std::unique_ptr<PartFile>> BucketSet::WholeJob::Fill(
    const BucketSet& set, const WholeFile& file, std::unique_ptr<fs::PartFileWriter> writer) {
  const int64_t now_ms = file.first_row_ms;  // Nobody asks for the age of a file that ends at once.
  auto encoded = Encode(file.rows);
  if (!encoded.ok()) {
    (void)writer->Discard();
    return encoded.status();
  }
  std::unique_ptr<PartFile> part;
  Status status;
  if (encoded->has_value()) {
    part = std::make_unique<PartFile>(std::move(writer), now_ms, set.context_.budget, &set.held_);
    status = part->AppendText(**encoded, file.rows.row_count(), now_ms);
  } else {
    SLUICE_ASSIGN_OR_RETURN(
        part, PartFile::MakeBulk(std::move(writer), set.MakerOf(set.plan_.layout, {}), now_ms,
                                 set.context_.budget, &set.held_));
    status = part->AppendRows(file.rows, now_ms);
  }
  if (status.ok()) return part;
  (void)part->Discard();
  return status;
}

Result<FileCommittable> BucketSet::WholeJob::WriteOne(const BucketSet& set,
                                                      fs::FileSystem& file_system, size_t index) {
  const WholeFile& file = files[index];
  fs::Publisher& publisher = file_system.publisher();
  publisher.WaitForRoom(set.MostUploadBytes());
  SLUICE_ASSIGN_OR_RETURN(auto writer, publisher.Open(paths[index], set.names_.tag));
  SLUICE_ASSIGN_OR_RETURN(const auto part,
                          Fill(set, file, CompressPart(std::move(writer), set.plan_.compression)));
  auto handle = part->Close(batch.get());
  if (!handle.ok()) {
    (void)part->Discard();
    return handle.status();
  }
  return FileCommittable{.handle = std::move(*handle),
                         .partition = file.partition,
                         .row_count = file.rows.row_count(),
                         .size_bytes = part->info().size_bytes,
                         .first_row_ms = file.first_row_ms};
}

Status BucketSet::WholeJob::Write(const BucketSet& set, fs::FileSystem& file_system) {
  SLUICE_RETURN_NOT_OK(MakeEncoders(set));
  for (size_t i = 0; i < files.size(); ++i) {
    SLUICE_ASSIGN_OR_RETURN(auto committable, WriteOne(set, file_system, i));
    written.push_back(std::move(committable));
  }
  return {};
}

void BucketSet::WriteWhole(std::vector<WholeFile> files) {
  if (files.empty()) return;
  auto job = std::make_shared<WholeJob>(context_.budget, &held_);
  int64_t bytes = 0;
  for (const WholeFile& file : files) {
    bytes += file.rows.byte_size();
    job->paths.push_back(NewPath(file.partition));
  }
  job->share.Set(bytes);
  job->files = std::move(files);
  job->batch = batch_;
  whole_jobs_.push_back(job);
  io_->Submit(
      [this, job] {
        job->status = job->Write(*this, *file_system_);
        job->files.clear();
        job->share.Set(0);
      },
      [this, at = std::prev(whole_jobs_.end())]() -> Status {
        const Status status = (*at)->status;
        if (!status.ok()) return status;  // Stays in the list, to be discarded with the rest.
        for (FileCommittable& file : (*at)->written) closed_.push_back(std::move(file));
        whole_jobs_.erase(at);
        return {};
      });
}

void BucketSet::BeginDisk() {
  if (disk_begun_) return;
  disk_begun_ = true;
  constexpr int64_t kMany = std::numeric_limits<int64_t>::max();
  disk_ = file_system_->publisher().BeginBatch(root_, kMany);
}

void BucketSet::BeginBatch(int64_t file_count) {
  if (batch_ != nullptr) return;
  BeginDisk();
  const auto files = file_count + static_cast<int64_t>(buckets_.size());
  if (file_system_->publisher().SyncsTogether(files)) batch_ = disk_;
}

bool BucketSet::EndBatch() {
  if (batch_ == nullptr) return true;
  auto status = std::make_shared<Status>();
  io_->Submit([status, batch = std::exchange(batch_, nullptr)] { *status = batch->Sync(); },
              [status]() -> Status { return *status; });
  return false;
}

Status BucketSet::Close(Bucket* bucket, int64_t now_ms) {
  SLUICE_RETURN_NOT_OK(WriteWaiting(bucket, now_ms));
  if (bucket->file) StartClosing(bucket);
  Erase(bucket);
  return {};
}

void BucketSet::CloseColdest(const Bucket* spared) {
  Bucket* coldest = open_recency_.front();
  if (coldest == spared) return;  // The only one: it is about to be written.
  ++early_rolls_metric_;
  // Rows that still wait stay: writing them here would take room again.
  StartClosing(coldest);
  if (coldest->waiting.row_count() == 0) Erase(coldest);
}

void BucketSet::Persist(Bucket* bucket) {
  PartFile* file = bucket->file.get();
  if (file == nullptr || !file->dirty()) return;
  auto handle = std::make_shared<Result<std::string>>(Status::Internal("not persisted"));
  // The file stays in its bucket meanwhile: the writer takes no rows before everything is durable.
  io_->Submit([file, handle, batch = batch_] { *handle = file->Persist(batch.get()); },
              [file, handle]() -> Status {
                if (!handle->ok()) return handle->status();
                file->set_resume_handle(std::move(**handle));
                return {};
              });
}

Result<std::unique_ptr<PartFile>> BucketSet::Reopen(const ResumedFile& file) {
  const std::string& handle = file.file.handle;
  auto writer = file_system_->publisher().Resume(handle);
  if (writer.ok()) {
    const FileLayout& layout = file.same_layout ? plan_.layout : *file.old_layout;
    if (layout.format->encoding == formats::Encoding::kRow) {
      // In another layout it is closed as it is.
      if (file.same_layout) *writer = CompressPart(std::move(*writer), plan_.compression);
      return std::make_unique<PartFile>(std::move(*writer), file.info.opened_ms, context_.budget,
                                        &held_);
    }
    if (layout.operations->resume_writer == nullptr) {
      return Status::Corrupt("An open part file in the checkpoint is of format '" +
                             std::string(layout.format->name) +
                             "', which this program cannot continue.");
    }
    return PartFile::ResumeBulk(std::move(*writer), MakerOf(layout, file.bulk_state),
                                file.info.opened_ms, context_.budget, &held_);
  }
  // A checkpoint older than the newest was chosen, and the run that followed it has published the
  // file.
  auto described = file_system_->publisher().Describe(handle);
  if (!described.ok()) return writer.status();
  auto published = file_system_->Stat(described->final_path);
  if (!published.ok() || published->size_bytes < described->length_bytes) return writer.status();
  Log(LogLevel::kWarning,
      "Part file " + described->final_path + " was open at the restored checkpoint with " +
          std::to_string(described->length_bytes) +
          " bytes, but a later run has finished it with " + std::to_string(published->size_bytes) +
          ". It is kept as it is; the rows behind that length are read again and will be there "
          "twice.");
  return std::unique_ptr<PartFile>();
}

void BucketSet::Resume(ResumedFile file) {
  BeginDisk();
  using Reopened = Result<std::unique_ptr<PartFile>>;
  auto part = std::make_shared<Reopened>(Status::Internal("not resumed"));
  auto shared_file = std::make_shared<ResumedFile>(std::move(file));
  io_->Submit([this, shared_file, part] { *part = Reopen(*shared_file); },
              [this, shared_file, part] { return TakeResumed(*shared_file, std::move(*part)); });
}

Status BucketSet::TakeResumed(const ResumedFile& resumed,
                              Result<std::unique_ptr<PartFile>> result) {
  if (!result.ok()) return result.status();
  std::unique_ptr<PartFile> part = std::move(*result);
  if (part == nullptr) return {};
  const OpenFile& file = resumed.file;
  part->SetHistory(resumed.info.opened_ms, resumed.info.last_write_ms, resumed.row_count);
  part->set_bulk_state(resumed.bulk_state);
  part->set_resume_handle(file.handle);
  part->set_named();
  Bucket* existing = Find(file.partition.directory);
  const bool can_continue =
      resumed.same_layout && (existing == nullptr || existing->file == nullptr);
  if (!can_continue) {
    ++open_files_;
    ++open_files_metric_;
    StartClosing(std::move(part), file.partition, file.first_row_ms);
    return {};
  }
  Bucket* bucket = Get(file.partition, file.first_row_ms);
  bucket->first_row_ms = std::min(bucket->first_row_ms, file.first_row_ms);
  bucket->last_row_ms = resumed.info.last_write_ms;
  SetFile(bucket, std::move(part));
  return {};
}

Status BucketSet::RollOnTimer(int64_t now_ms) {
  for (const std::string& directory : Directories()) {
    Bucket* bucket = Find(directory);
    if (bucket == nullptr) continue;
    // Rows that wait for a file count as in it since the first of them came.
    const PartFileInfo info{
        .size_bytes = 0,
        .opened_ms = bucket->file ? bucket->file->info().opened_ms : bucket->first_row_ms,
        .last_write_ms = bucket->last_row_ms};
    if (plan_.rolling.ShouldRollOnTimer(info, now_ms)) {
      SLUICE_RETURN_NOT_OK(Close(bucket, now_ms));
    }
  }
  return {};
}

namespace {

/// Those with at least `least_bytes`, most first. `bytes_of`: const PartFile& -> int64_t.
template <typename Buckets, typename BytesOf>
std::vector<Bucket*> LargestFirst(const Buckets& buckets, int64_t least_bytes, BytesOf bytes_of) {
  std::vector<Bucket*> large;
  for (const auto& [directory, bucket] : buckets) {
    if (bucket->file && bytes_of(*bucket->file) >= least_bytes) large.push_back(bucket.get());
  }
  std::ranges::sort(large, std::greater<>(),
                    [&](const Bucket* bucket) { return bytes_of(*bucket->file); });
  return large;
}

}  // namespace

Status BucketSet::LimitEncoderState() {
  const auto state_bytes = [](const PartFile& file) { return file.state_bytes(); };
  const std::vector<Bucket*> large = LargestFirst(buckets_, 1, state_bytes);
  int64_t bytes = 0;
  for (const Bucket* bucket : large) bytes += bucket->file->state_bytes();
  for (Bucket* bucket : large) {
    if (bytes <= plan_.limits.encoder_state_bytes) return {};
    bytes -= bucket->file->state_bytes();
    SLUICE_RETURN_NOT_OK(bucket->file->EndRowGroup());
  }
  return {};
}

Status BucketSet::ShrinkToBudget(int64_t now_ms) {
  MemoryBudget* budget = context_.budget;
  if (budget == nullptr || !budget->over()) return {};
  // Others may be what is over: a writer that holds little has nothing to give.
  const int64_t share = budget->limit_bytes() / (16 * std::max(context_.parallelism, 1));
  // Down to three quarters, so that the next batch does not begin it all again.
  const int64_t target = std::max(share, std::min(held_.load(), budget->limit_bytes()) / 4 * 3);
  const std::vector<Bucket*> large =
      LargestFirst(buckets_, plan_.limits.early_row_group_bytes,
                   [](const PartFile& file) { return file.buffered_bytes(); });
  for (Bucket* bucket : large) {
    if (held_.load() <= target) return {};
    SLUICE_RETURN_NOT_OK(bucket->file->EndRowGroup());
    ++early_rolls_metric_;
  }
  while (held_.load() > target && !recency_.empty()) {
    if (busy()) {
      SLUICE_RETURN_NOT_OK(Collect());
      if (busy()) return {};  // Closing gives memory back; the writer takes no rows meanwhile.
    }
    ++early_rolls_metric_;
    SLUICE_RETURN_NOT_OK(Close(recency_.front(), now_ms));
  }
  return {};
}

std::vector<OpenFile> BucketSet::OpenFiles() const {
  std::vector<OpenFile> files;
  for (const Bucket* bucket : recency_) {
    if (bucket->file == nullptr) continue;
    files.push_back({.handle = bucket->file->resume_handle(),
                     .partition = bucket->partition,
                     .first_row_ms = bucket->first_row_ms});
  }
  return files;
}

}  // namespace sluice::connectors::filesystem
