#include "connectors/filesystem/source/file_source.h"

#include "connectors/filesystem/source/file_reader.h"

namespace sluice::connectors::filesystem {

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
    // The first look is part of the start: a directory that cannot be read is told at once.
    SLUICE_ASSIGN_OR_RETURN(std::vector<FileSplit> splits, discovery_->FindNew(&processed_));
    pool_.Add(std::move(splits));
    next_discovery_ms_ = context.clock->NowMillis() + *spec_->options.monitor_interval_ms;
    reader_count_ = keeps_order ? 1 : context.parallelism;
    return {};
  }
  if (restored == nullptr) {
    SLUICE_ASSIGN_OR_RETURN(std::vector<FileSplit> splits, discovery_->FindAll());
    pool_.Add(std::move(splits));
  }
  const auto most = static_cast<size_t>(keeps_order ? 1 : context.parallelism);
  reader_count_ = static_cast<int>(std::clamp<size_t>(pool_.size(), 1, most));
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
    if (restored.coordinator->Has("processed")) {
      SLUICE_ASSIGN_OR_RETURN(const std::string bytes, restored.coordinator->GetBytes("processed"));
      SLUICE_ASSIGN_OR_RETURN(processed_, ProcessedPaths::Decode(bytes));
    }
  }
  pool_.AddFirst(std::move(splits));
  return {};
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
  if (!bounded()) state.PutBytes("processed", processed_.Encode());
  return {};
}

Result<std::optional<int64_t>> FileSource::DiscoverIfDue() {
  if (bounded()) return std::optional<int64_t>();
  {
    const std::lock_guard lock(mutex_);
    SLUICE_RETURN_NOT_OK(discovery_failure_);
    if (discovering_ || context_.clock->NowMillis() < next_discovery_ms_)
      return std::optional<int64_t>(next_discovery_ms_);
    discovering_ = true;
    next_discovery_ms_ = context_.clock->NowMillis() + *spec_->options.monitor_interval_ms;
  }
  context_.io_pool->Submit([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->Discover();
  });
  const std::lock_guard lock(mutex_);
  return std::optional<int64_t>(next_discovery_ms_);
}

void FileSource::Discover() {
  // Listing goes on without the lock; only one look runs at a time, and the set is copied for it: a
  // snapshot must not see a path in the set whose split is not in the pool yet.
  ProcessedPaths seen;
  {
    const std::lock_guard lock(mutex_);
    seen = processed_;
  }
  auto splits = discovery_->FindNew(&seen);
  {
    const std::lock_guard lock(mutex_);
    discovering_ = false;
    next_discovery_ms_ = std::max(
        next_discovery_ms_, context_.clock->NowMillis() + *spec_->options.monitor_interval_ms / 2);
    if (splits.ok()) {
      processed_ = std::move(seen);
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
