// The coordinator of a file source: finds splits, hands them out, watches the directory.
//
// Invariants:
//  - A file is in exactly one place: not found yet, in the pool, with a reader, or read. The
//  checkpoint holds the pool (here) and what
//    readers have begun (there), taken while no split changes hands.
//  - Watching: a path that was found once is never found again, restarts included.
//  - Watching with the system's notifications: they only say where to look sooner; a listing of
//  everything at long intervals finds what they miss.
// State: "pending" splits and, when watching, the set of "processed" paths, some 10 bytes each, and
// files "done" that are still to be moved or deleted.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>

#include "common/log.h"
#include "connectors/filesystem/source/done_files.h"
#include "connectors/filesystem/source/file_discovery.h"
#include "connectors/filesystem/source/file_source_spec.h"
#include "connectors/filesystem/source/news_bell.h"
#include "connectors/filesystem/source/split_pool.h"
#include "connectors/quarantine/quarantine.h"
#include "runtime/source.h"

namespace sluice::connectors::filesystem {

class FileSource final : public runtime::Source, public std::enable_shared_from_this<FileSource> {
 public:
  explicit FileSource(std::shared_ptr<const FileSourceSpec> spec)
      : spec_(std::move(spec)), processed_(spec_->options.identity) {}
  ~FileSource() override;

  bool bounded() const override { return spec_->bounded(); }
  Status Open(const runtime::SourceContext& context,
              const runtime::RestoredSourceState* restored) override;
  int reader_count() const override { return reader_count_; }
  Result<std::unique_ptr<runtime::SourceReader>> MakeReader(int subtask) override;
  void FreezeSplits() override { pool_.Freeze(); }
  void ThawSplits() override { pool_.Thaw(); }
  Status Snapshot(const runtime::Barrier& barrier, runtime::StateWriter& state) override;

  // For readers; thread-safe.
  const FileSourceSpec& spec() const { return *spec_; }
  SplitPool& splits() { return pool_; }
  LimitedLog& bad_record_log() { return bad_record_log_; }
  /// Null when the table has no bad-records.* options.
  const std::shared_ptr<Quarantine>& quarantine() const { return quarantine_; }
  /// Null unless files that are read are to be moved or deleted.
  const std::shared_ptr<DoneFiles>& done_files() const { return done_files_; }
  /// Watching: looks for new files when it is time or there is news, on the I/O pool. Returns when
  /// to ask again (wall clock), or the failure of the last look when it is one that does not pass.
  Result<std::optional<int64_t>> DiscoverIfDue();
  /// Best effort over all readers: true once the rows of a pushed-down LIMIT are out.
  bool TakeFromLimit(int64_t rows);
  bool LimitReached() const { return spec_->limit_rows && limit_left_.load() <= 0; }

 private:
  enum class Look { kEverything, kBehindCursor, kNews, kBacklog };
  Status Restore(const runtime::RestoredSourceState& restored);
  Status OpenDoneFiles(const runtime::RestoredSourceState* restored);
  void StartWatch();
  /// What the watch tells; a watch in trouble is replaced and everything is looked at.
  std::vector<std::string> TakeNews(Look* look);
  Result<std::vector<FileSplit>> LookForNew(Look look, ProcessedPaths* seen);
  std::optional<Look> DueLook(int64_t now_ms) const;
  std::optional<int64_t> NextLookMs() const;
  void Schedule(Look look, bool ok);
  void Discover(Look look);

  const std::shared_ptr<const FileSourceSpec> spec_;
  SplitPool pool_;
  std::shared_ptr<Quarantine> quarantine_;
  LimitedLog bad_record_log_;
  LimitedLog discovery_log_{3, 60'000};
  runtime::SourceContext context_;
  int reader_count_ = 1;
  std::atomic<int64_t> limit_left_{0};

  std::shared_ptr<DoneFiles> done_files_;
  std::shared_ptr<NewsBell> bell_;

  // Of the look that is under way, one at a time.
  std::unique_ptr<FileDiscovery> discovery_;
  std::unique_ptr<fs::TreeWatch> watch_;  // Null: listing only.
  bool told_no_watch_ = false;
  int64_t next_watch_try_ms_ = 0;

  std::mutex mutex_;  // Guards what follows.
  ProcessedPaths processed_;
  bool discovering_ = false;
  bool watching_ = false;        // The last look left a watch behind it.
  int64_t next_listing_ms_ = 0;  // Of everything.
  int64_t next_cursor_ms_ = 0;
  int64_t next_news_ms_ = 0;  // News is looked at no earlier.
  std::optional<int64_t> next_young_ms_;
  bool backlog_ = false;  // The discovery has found more than the pool was to hold.
  Status discovery_failure_;
};

}  // namespace sluice::connectors::filesystem
