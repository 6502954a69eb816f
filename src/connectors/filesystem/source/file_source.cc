#include "connectors/filesystem/source/file_source.h"

#include "connectors/filesystem/source/file_reader.h"

namespace sluice::connectors::filesystem {

namespace {

// News is gathered for so long: a writer of many files costs a look each 10 ms, not one a file.
constexpr int64_t kNewsGapMs = 10;

// A backlog is taken up by and by: what waits in the pool is written into every checkpoint.
constexpr size_t kPoolRefillSplits = 8'192;

}  // namespace

FileSource::~FileSource() {
  if (bell_) bell_->Detach();
}

Status FileSource::Open(const runtime::SourceContext& context,
                        const runtime::RestoredSourceState* restored) {
  context_ = context;
  limit_left_ = spec_->limit_rows.value_or(0);
  discovery_ = std::make_unique<FileDiscovery>(spec_, context.clock, context.parallelism);
  if (restored != nullptr) SLUICE_RETURN_NOT_OK(Restore(*restored));
  if (spec_->bad_records.active()) {
    SLUICE_ASSIGN_OR_RETURN(
        quarantine_, Quarantine::Open(spec_->bad_records, spec_->table_identifier, restored));
  }
  // Changes take effect one after another, from file to file as well.
  const bool keeps_order = !spec_->format->read_kinds.insert_only();
  if (!bounded()) {
    bell_ = std::make_shared<NewsBell>([this] { pool_.WakeAll(); });
    SLUICE_RETURN_NOT_OK(OpenDoneFiles(restored));
    StartWatch();
    // The first look is part of the start: a directory that cannot be read is told at once.
    SLUICE_ASSIGN_OR_RETURN(std::vector<FileSplit> splits,
                            discovery_->FindNew(&processed_, watch_.get()));
    if (done_files_) done_files_->OnFound(splits);
    pool_.Add(std::move(splits));
    watching_ = watch_ != nullptr;
    Schedule(Look::kEverything, true);
    reader_count_ = keeps_order ? 1 : context.parallelism;
    if (spec_->files_join()) pool_.AllowGroups(reader_count_, SplitPool::Groups::kSmallFiles);
    return {};
  }
  if (restored == nullptr) {
    SLUICE_ASSIGN_OR_RETURN(std::vector<FileSplit> splits, discovery_->FindAll());
    pool_.Add(std::move(splits));
  }
  const auto most = static_cast<size_t>(keeps_order ? 1 : context.parallelism);
  reader_count_ = static_cast<int>(std::clamp<size_t>(pool_.size(), 1, most));
  if (spec_->aggregates && spec_->aggregates->told_by_files) {
    pool_.AllowGroups(reader_count_, SplitPool::Groups::kAny);
  } else if (spec_->files_join()) {
    pool_.AllowGroups(reader_count_, SplitPool::Groups::kSmallFiles);
  }
  return {};
}

Status FileSource::Restore(const runtime::RestoredSourceState& restored) {
  std::vector<FileSplit> splits;
  const auto take = [&](const runtime::StateReader& state, std::string_view field) -> Status {
    SLUICE_ASSIGN_OR_RETURN(const std::vector<std::string> encoded, state.GetStrings(field));
    for (const std::string& bytes : encoded) {
      SLUICE_ASSIGN_OR_RETURN(FileSplit split, DecodeSplit(bytes));
      splits.push_back(std::move(split));
    }
    return {};
  };
  for (const runtime::StateReader& reader : restored.readers)
    SLUICE_RETURN_NOT_OK(take(reader, "splits"));
  if (restored.coordinator) {
    SLUICE_RETURN_NOT_OK(take(*restored.coordinator, "pending"));
    if (!bounded()) SLUICE_RETURN_NOT_OK(processed_.Restore(*restored.coordinator));
  }
  pool_.AddFirst(std::move(splits));
  return {};
}

Status FileSource::OpenDoneFiles(const runtime::RestoredSourceState* restored) {
  if (spec_->options.when_done == WhenDone::kNone) return {};
  if (!context_.durable_checkpoints) {
    Log(LogLevel::kInfo, "Files of table " + spec_->table_identifier +
                             " stay where they are: 'source.file.when-done' is for jobs that keep "
                             "their checkpoints, not for queries.");
    return {};
  }
  done_files_ =
      std::make_shared<DoneFiles>(spec_, context_.io_pool, [bell = bell_] { bell->Wake(); });
  done_files_->OnFound(pool_.Pending());
  if (restored == nullptr || !restored->coordinator) return {};
  return done_files_->Restore(*restored->coordinator, restored->checkpoint_id);
}

void FileSource::StartWatch() {
  watch_.reset();
  next_watch_try_ms_ = context_.clock->NowMillis() + spec_->options.full_listing_interval_ms;
  discovery_->KeepYoung(false);
  if (!spec_->options.notifications || !spec_->file_system->has_directories()) return;
  bell_->Silence();
  auto watch =
      spec_->file_system->WatchTree(spec_->listing->root(), [bell = bell_] { bell->Ring(); });
  if (watch.ok()) {
    watch_ = std::move(*watch);
    told_no_watch_ = false;
    discovery_->KeepYoung(true);
    return;
  }
  const bool expected = watch.status().code() == StatusCode::kUnsupported;
  if (!std::exchange(told_no_watch_, true)) {
    Log(expected ? LogLevel::kInfo : LogLevel::kWarning,
        "The directory of table " + spec_->table_identifier +
            " is listed every 'source.monitor-interval', the system does not tell what is new in "
            "it: " +
            watch.status().ToString());
  }
}

Result<std::unique_ptr<runtime::SourceReader>> FileSource::MakeReader(int subtask) {
  return std::unique_ptr<runtime::SourceReader>(std::make_unique<FileReader>(
      shared_from_this(), subtask, reader_count_, context_.parallelism));
}

Status FileSource::Snapshot(const runtime::Barrier&, runtime::StateWriter& state) {
  // The set first: what a look adds meanwhile is in the pool when it is in the set, because it adds
  // to both under the lock.
  const std::lock_guard lock(mutex_);
  std::vector<std::string> pending;
  for (const FileSplit& split : pool_.Pending()) pending.push_back(EncodeSplit(split));
  state.PutStrings("pending", pending);
  if (!bounded()) processed_.Snapshot(&state);
  if (done_files_) done_files_->Snapshot(&state);
  return {};
}

std::optional<FileSource::Look> FileSource::DueLook(int64_t now_ms) const {
  if (backlog_) {
    // Listing again would only find the same files.
    if (pool_.size() < kPoolRefillSplits) return Look::kBacklog;
  } else {
    if (now_ms >= next_listing_ms_) return Look::kEverything;
    if (spec_->options.listing_cursor && now_ms >= next_cursor_ms_) return Look::kBehindCursor;
  }
  const bool young = next_young_ms_ && now_ms >= *next_young_ms_;
  if (watching_ && (young || (bell_->rung() && now_ms >= next_news_ms_))) return Look::kNews;
  return std::nullopt;
}

// Readers ask each time that they have taken splits, so that a backlog needs no time.
std::optional<int64_t> FileSource::NextLookMs() const {
  std::optional<int64_t> next;
  const auto at = [&next](int64_t time_ms) { next = std::min(next.value_or(time_ms), time_ms); };
  if (!backlog_) at(next_listing_ms_);
  if (!backlog_ && spec_->options.listing_cursor) at(next_cursor_ms_);
  if (watching_ && next_young_ms_) at(*next_young_ms_);
  if (watching_ && bell_->rung()) at(next_news_ms_);
  return next;
}

// When the next look of each kind is due, behind one that has ended.
void FileSource::Schedule(Look look, bool ok) {
  const int64_t now = context_.clock->NowMillis();
  const int64_t interval = *spec_->options.monitor_interval_ms;
  const bool told = watching_ || spec_->options.listing_cursor;
  if (look == Look::kEverything || !ok) {
    const int64_t full =
        told && ok ? std::max(interval, spec_->options.full_listing_interval_ms) : interval;
    next_listing_ms_ = now + full;
  } else if (!told) {
    next_listing_ms_ = std::min(next_listing_ms_, now + interval);
  }
  next_cursor_ms_ = now + interval;
  next_news_ms_ = now + std::min(interval, kNewsGapMs);
  next_young_ms_ = discovery_->NextYoungMs();
  backlog_ = discovery_->has_backlog();
}

Result<std::optional<int64_t>> FileSource::DiscoverIfDue() {
  if (bounded()) return std::optional<int64_t>();
  Look look = Look::kEverything;
  {
    const std::lock_guard lock(mutex_);
    SLUICE_RETURN_NOT_OK(discovery_failure_);
    if (discovering_) return std::optional<int64_t>();  // Wakes the readers when it ends.
    const std::optional<Look> due = DueLook(context_.clock->NowMillis());
    if (!due) return NextLookMs();
    look = *due;
    discovering_ = true;
  }
  context_.io_pool->Submit([weak = weak_from_this(), look] {
    if (const auto self = weak.lock()) self->Discover(look);
  });
  const std::lock_guard lock(mutex_);
  if (discovering_) return std::optional<int64_t>();
  return NextLookMs();
}

std::vector<std::string> FileSource::TakeNews(Look* look) {
  // What the system refused is tried again now and then.
  if (watch_ == nullptr && context_.clock->NowMillis() >= next_watch_try_ms_) StartWatch();
  if (watch_ == nullptr) return {};
  bell_->Silence();
  fs::TreeWatch::News news = watch_->Take();
  if (news.trouble.ok()) return std::move(news.paths);
  discovery_log_.Warn("The watch of table " + spec_->table_identifier +
                      " begins anew and the directory is listed: " + news.trouble.ToString());
  *look = Look::kEverything;
  StartWatch();
  return {};
}

Result<std::vector<FileSplit>> FileSource::LookForNew(Look look, ProcessedPaths* seen) {
  std::vector<std::string> news;
  if (look != Look::kBacklog) news = TakeNews(&look);
  if (look == Look::kBacklog) return discovery_->TakeFromBacklog(seen);
  if (look == Look::kBehindCursor) return discovery_->FindNewBehindCursor(seen);
  if (look == Look::kNews) return discovery_->FindNewAmong(std::move(news), seen, watch_.get());
  return discovery_->FindNew(seen, watch_.get());
}

void FileSource::Discover(Look look) {
  // Listing goes on without the lock; only one look runs at a time, and the set is copied for it: a
  // snapshot must not see a path in the set whose split is not in the pool yet.
  ProcessedPaths seen;
  {
    const std::lock_guard lock(mutex_);
    seen = processed_;
  }
  auto splits = LookForNew(look, &seen);
  {
    const std::lock_guard lock(mutex_);
    discovering_ = false;
    watching_ = watch_ != nullptr;
    Schedule(look, splits.ok());
    if (splits.ok()) {
      processed_ = std::move(seen);
      if (done_files_) done_files_->OnFound(*splits);
      pool_.Add(std::move(*splits));
    } else if (splits.status().code() == StatusCode::kDataError) {
      discovery_failure_ = splits.status();
    } else {
      // An outage: nothing is lost by looking again.
      discovery_log_.Warn("Cannot look for new files of table " + spec_->table_identifier + ": " +
                          splits.status().ToString() +
                          " The next look is after 'source.monitor-interval'.");
    }
  }
  pool_.WakeAll();
}

bool FileSource::TakeFromLimit(int64_t rows) {
  if (!spec_->limit_rows) return false;
  return limit_left_.fetch_sub(rows) - rows <= 0;
}

}  // namespace sluice::connectors::filesystem
