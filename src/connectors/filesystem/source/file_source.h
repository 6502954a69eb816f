// The coordinator of a file source: finds splits, hands them out, watches the directory.
//
// Invariants:
//  - A file is in exactly one place: not found yet, in the pool, with a reader, or read. The
//  checkpoint holds the pool (here) and what
//    readers have begun (there), taken while no split changes hands.
//  - Watching: a path that was found once is never found again, restarts included.
// State: "pending" splits and, when watching, the set of "processed" paths, 16 bytes each.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>

#include "common/log.h"
#include "connectors/filesystem/source/file_discovery.h"
#include "connectors/filesystem/source/file_source_spec.h"
#include "connectors/filesystem/source/split_pool.h"
#include "connectors/quarantine/quarantine.h"
#include "runtime/source.h"

namespace sluice::connectors::filesystem {

class FileSource final : public runtime::Source, public std::enable_shared_from_this<FileSource> {
 public:
  explicit FileSource(std::shared_ptr<const FileSourceSpec> spec) : spec_(std::move(spec)) {}

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
  /// Watching: looks for new files when it is time, on the I/O pool. Returns when to ask again
  /// (wall clock), or the failure of the last look when it is one that does not pass.
  Result<std::optional<int64_t>> DiscoverIfDue();
  /// Best effort over all readers: true once the rows of a pushed-down LIMIT are out.
  bool TakeFromLimit(int64_t rows);
  bool LimitReached() const { return spec_->limit_rows && limit_left_.load() <= 0; }

 private:
  Status Restore(const runtime::RestoredSourceState& restored);
  void Discover();

  const std::shared_ptr<const FileSourceSpec> spec_;
  SplitPool pool_;
  std::shared_ptr<Quarantine> quarantine_;
  LimitedLog bad_record_log_;
  LimitedLog discovery_log_{3, 60'000};
  runtime::SourceContext context_;
  int reader_count_ = 1;
  std::atomic<int64_t> limit_left_{0};

  std::mutex mutex_;  // Guards what follows.
  std::unique_ptr<FileDiscovery> discovery_;
  ProcessedPaths processed_;
  bool discovering_ = false;
  int64_t next_discovery_ms_ = 0;
  Status discovery_failure_;
};

}  // namespace sluice::connectors::filesystem
