// The buckets of one writer: one for each partition that has an open file or waiting rows.
//
// Invariants:
//  - A file that leaves its bucket is closed on the I/O pool and comes out of TakeClosed once.
//  - At most limits.closing_files closings run at once, or busy() says so and the caller waits.
//  - Over the memory budget the largest row groups are ended, then the coldest buckets closed.
// Thread: the owning subtask. State: the writer keeps the files that stay open over a barrier; all
// others are closed at it. When destroyed, files that no checkpoint can name are removed.
#pragma once

#include <list>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "connectors/filesystem/sink/committable.h"
#include "connectors/filesystem/sink/file_sink_plan.h"
#include "connectors/filesystem/sink/io_scope.h"
#include "connectors/filesystem/sink/part_file.h"
#include "connectors/filesystem/sink/row_buffer.h"
#include "runtime/operator.h"

namespace sluice::connectors::filesystem {

/// Rows of one partition that are all that it gets before the barrier: a file from beginning to
/// end.
struct WholeFile {
  PartitionRef partition;
  Batch rows;
  int64_t first_row_ms = 0;
};

struct Bucket {
  Bucket(PartitionRef partition_ref, int64_t now_ms, MemoryBudget* budget, HeldBytes* held)
      : partition(std::move(partition_ref)), first_row_ms(now_ms), waiting(budget, held) {}

  PartitionRef partition;
  int64_t first_row_ms;
  std::unique_ptr<PartFile> file;
  RowBuffer waiting;  // Bulk formats only.
  int64_t last_row_ms = 0;
  /// Its rows have waited since first_row_ms: the file that they open counts as open since then.
  bool rows_have_waited = false;
  std::list<Bucket*>::iterator recency;
  std::list<Bucket*>::iterator open_recency;  // Valid while there is a file.

  int64_t held_bytes() const { return waiting.held_bytes() + (file ? file->held_bytes() : 0); }
};

/// Whose names the files bear.
struct WriterNames {
  std::string lineage;  // In names of staging directories.
  std::string tag;      // In hidden names.
  std::string prefix;   // Of final names, a number follows.
};

/// A file of a restored checkpoint.
struct ResumedFile {
  OpenFile file;
  PartFileInfo info;
  int64_t row_count = 0;
  /// What its encoder held; empty for row formats.
  std::string bulk_state;
  /// It was written as this sink writes. Otherwise it is finished as it is, a container by
  /// `old_layout`.
  bool same_layout = true;
  std::shared_ptr<const FileLayout> old_layout;
};

class BucketSet {
 public:
  /// `held` outlives the set.
  BucketSet(const FileSinkPlan* plan, runtime::TaskContext* context, HeldBytes* held,
            std::shared_ptr<fs::FileSystem> file_system, std::string root, WriterNames names);
  ~BucketSet();

  /// Finds or makes the bucket and counts it as used now.
  Bucket* Get(const PartitionRef& partition, int64_t now_ms);
  Bucket* Find(const std::string& directory);
  std::vector<std::string> Directories() const;

  /// Appends encoded rows; `row_ends` are offsets into `text` behind each row. Stops early when
  /// busy: returns the rows taken.
  Result<size_t> AppendText(Bucket* bucket, std::string_view text, std::span<const size_t> row_ends,
                            int64_t now_ms);
  Status AppendRows(Bucket* bucket, const Batch& rows, int64_t now_ms);
  /// Rows that wait in a bucket before the encoder sees them.
  int64_t GatheredRows(const Bucket& bucket) const;

  /// Writes waiting rows and starts to close the file; the bucket is gone afterwards.
  Status Close(Bucket* bucket, int64_t now_ms);
  /// Hands waiting rows to the encoder; opens a file for them where there is none.
  Status WriteWaiting(Bucket* bucket, int64_t now_ms);
  /// Starts to write files of partitions that have no bucket, each from beginning to end.
  void WriteWhole(std::vector<WholeFile> files);
  /// About `file_count` files, and those that are open, become durable together from here to
  /// EndBatch, where the file system does that and they are many.
  void BeginBatch(int64_t file_count);
  /// False while the batch is being made durable; to be called when idle().
  bool EndBatch();
  /// Runs blocking work of the owner, as IoScope::Submit.
  void RunIo(std::function<void()> work, std::function<Status()> done) {
    io_->Submit(std::move(work), std::move(done));
  }
  /// Ends row groups, the largest first, until what encoders would add to a checkpoint is bounded.
  Status LimitEncoderState();
  /// Starts to make the open file durable as far as it is written.
  void Persist(Bucket* bucket);
  /// Starts to reopen a file of a restored checkpoint; one that cannot be continued by this layout
  /// is closed as it is.
  void Resume(ResumedFile file);
  Status RollOnTimer(int64_t now_ms);
  /// Gives memory back while the job's budget is exceeded and this writer holds much of it.
  Status ShrinkToBudget(int64_t now_ms);

  /// Takes in what the I/O pool has finished.
  Status Collect() { return io_->Collect(); }
  bool busy() const {
    return waiting_for_room_ || io_->in_flight() >= plan_.limits.closing_files ||
           whole_jobs_.size() >= kWholeJobs;
  }
  bool idle() const { return io_->in_flight() == 0; }
  bool empty() const { return buckets_.empty(); }

  std::vector<FileCommittable> TakeClosed() { return std::exchange(closed_, {}); }
  std::vector<OpenFile> OpenFiles() const;
  int64_t next_number() const { return next_number_; }
  const std::unordered_map<std::string, std::unique_ptr<Bucket>>& buckets() const {
    return buckets_;
  }

 private:
  struct Closing;
  struct WholeJob;
  /// What waits to be sent to a store may take a quarter of a job's memory.
  int64_t MostUploadBytes() const;
  /// Jobs of whole files at once: each holds up to a piece of rows and an encoder.
  static constexpr size_t kWholeJobs = 16;

  void BeginDisk();
  /// The path of a new file of a partition; takes a number for it.
  std::string NewPath(const PartitionRef& partition);
  Status OpenFileOf(Bucket* bucket, int64_t now_ms);
  Status WriteBulk(Bucket* bucket, const Batch& rows, int64_t now_ms);
  void SetFile(Bucket* bucket, std::unique_ptr<PartFile> file);
  void StartClosing(Bucket* bucket);
  void StartClosing(std::unique_ptr<PartFile> file, PartitionRef partition, int64_t first_row_ms);
  void CloseColdest(const Bucket* spared);
  void Erase(Bucket* bucket);
  BulkWriterMaker MakerOf(const FileLayout& layout, std::string state) const;
  Result<std::unique_ptr<PartFile>> Reopen(const ResumedFile& file);
  Status TakeResumed(const ResumedFile& file, Result<std::unique_ptr<PartFile>> part);
  void DiscardUnnamed();
  /// Makes the set busy while the store is slower than the rows come.
  void CheckRoom();
  void CountUploads();

  const FileSinkPlan& plan_;
  runtime::TaskContext& context_;
  const std::shared_ptr<fs::FileSystem> file_system_;
  const std::string root_;  // The table's.
  const WriterNames names_;
  HeldBytes& held_;
  std::unordered_map<std::string, std::unique_ptr<Bucket>> buckets_;
  std::list<Bucket*> recency_;       // Coldest first.
  std::list<Bucket*> open_recency_;  // The same, of those with a file.
  std::list<std::shared_ptr<Closing>> closing_;
  std::list<std::shared_ptr<WholeJob>> whole_jobs_;
  /// Begun before any file is opened: what fails on the disk from then on is reported to it.
  std::shared_ptr<fs::SyncBatch> disk_;
  bool disk_begun_ = false;
  std::shared_ptr<fs::SyncBatch> batch_;  // disk_ while files are closed that it makes durable.
  std::set<std::string> staging_;         // Directories made for INSERT OVERWRITE.
  std::vector<FileCommittable> closed_;
  int64_t next_number_ = 0;
  int64_t open_files_ = 0;
  bool waiting_for_room_ = false;
  int64_t counted_uploads_ = 0;  // In the budget, for all writers.
  std::atomic<int64_t>& open_files_metric_;
  std::atomic<int64_t>& early_rolls_metric_;
  std::unique_ptr<IoScope> io_;
};

}  // namespace sluice::connectors::filesystem
