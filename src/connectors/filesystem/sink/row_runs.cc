#include "connectors/filesystem/sink/row_runs.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>

#include <arrow/io/memory.h>
#include <arrow/ipc/dictionary.h>
#include <arrow/ipc/reader.h>
#include <arrow/ipc/writer.h>

#include "fs/local/disk.h"
#include "types/arrow_status.h"
#include "types/batch.h"

namespace sluice::connectors::filesystem {

namespace {

// What a spilled run is read back by: a piece of each run is in memory while they are merged.
constexpr int64_t kChunkBytes = 128 << 10;
// Up to so many runs are merged at once in the end, for less than joining some of them before: a
// slice of each for every partition, and a chunk of each in memory.
constexpr size_t kRunsApart = 16;
constexpr int32_t kNoPartition = std::numeric_limits<int32_t>::max();

int64_t BytesOf(const SortedRows& run) {
  return Batch(run.rows).byte_size() +
         static_cast<int64_t>(run.segments.capacity() * sizeof(Segment));
}

}  // namespace

// Rows in order of partition, taken from the front.
class RowRuns::Run {
 public:
  explicit Run(std::vector<Segment> segments, int64_t row_count)
      : segments_(std::move(segments)), row_count_(row_count) {}
  virtual ~Run() = default;

  /// kNoPartition at the end.
  int32_t partition() const {
    return at_ < segments_.size() ? segments_[at_].partition : kNoPartition;
  }
  int64_t rows_left() const { return EndOf(at_) - row_; }
  const std::vector<Segment>& segments() const { return segments_; }
  int64_t row_count() const { return row_count_; }

  /// Up to `limit` rows of the partition at hand, as batches; goes on behind them.
  Status Take(int64_t limit, std::vector<std::shared_ptr<arrow::RecordBatch>>* out) {
    const int64_t end = std::min(EndOf(at_), row_ + limit);
    while (row_ < end) {
      SLUICE_ASSIGN_OR_RETURN(auto rows, Read(row_, end - row_));
      row_ += rows->num_rows();
      out->push_back(std::move(rows));
    }
    if (row_ == EndOf(at_)) ++at_;
    return {};
  }

 protected:
  /// Rows from `begin`, at least one, at most `count`.
  virtual Result<std::shared_ptr<arrow::RecordBatch>> Read(int64_t begin, int64_t count) = 0;

 private:
  int64_t EndOf(size_t segment) const {
    return segment + 1 < segments_.size() ? segments_[segment + 1].begin : row_count_;
  }

  const std::vector<Segment> segments_;
  const int64_t row_count_;
  size_t at_ = 0;
  int64_t row_ = 0;
};

class RowRuns::MemoryRun final : public RowRuns::Run {
 public:
  explicit MemoryRun(SortedRows run)
      : Run(std::move(run.segments), run.rows->num_rows()), rows_(std::move(run.rows)) {}
  const arrow::RecordBatch& rows() const { return *rows_; }

 protected:
  Result<std::shared_ptr<arrow::RecordBatch>> Read(int64_t begin, int64_t count) override {
    return rows_->Slice(begin, count);
  }

 private:
  const std::shared_ptr<arrow::RecordBatch> rows_;
};

class RowRuns::SpilledRun final : public RowRuns::Run {
 public:
  struct Chunk {
    int64_t offset = 0;
    int64_t length = 0;
    int64_t end_row = 0;
  };
  SpilledRun(std::vector<Segment> segments, int64_t row_count, std::vector<Chunk> chunks,
             std::shared_ptr<arrow::Schema> schema, const int* descriptor, arrow::MemoryPool* pool)
      : Run(std::move(segments), row_count),
        chunks_(std::move(chunks)),
        schema_(std::move(schema)),
        descriptor_(descriptor),
        pool_(pool) {}

 protected:
  Result<std::shared_ptr<arrow::RecordBatch>> Read(int64_t begin, int64_t count) override {
    if (rows_ == nullptr || begin >= chunks_[next_ - 1].end_row) {
      first_row_ = begin;
      SLUICE_RETURN_NOT_OK(Load(chunks_[next_++]));
    }
    const int64_t at = begin - first_row_;
    return rows_->Slice(at, std::min(count, rows_->num_rows() - at));
  }

 private:
  Status Load(const Chunk& chunk) {
    SLUICE_ASSIGN_ARROW(std::shared_ptr<arrow::Buffer> bytes,
                        arrow::AllocateBuffer(chunk.length, pool_));
    int64_t done = 0;
    while (done < chunk.length) {
      const ssize_t got = pread(*descriptor_, bytes->mutable_data() + done,
                                static_cast<size_t>(chunk.length - done), chunk.offset + done);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return fs::DiskError(got < 0 ? errno : EIO, "read", "a temporary file");
      done += got;
    }
    arrow::io::BufferReader input(std::move(bytes));
    arrow::ipc::DictionaryMemo memo;
    arrow::ipc::IpcReadOptions options = arrow::ipc::IpcReadOptions::Defaults();
    options.memory_pool = pool_;
    options.use_threads = false;
    SLUICE_ASSIGN_ARROW(rows_, arrow::ipc::ReadRecordBatch(schema_, &memo, options, &input));
    return {};
  }

  const std::vector<Chunk> chunks_;
  const std::shared_ptr<arrow::Schema> schema_;
  const int* const descriptor_;
  arrow::MemoryPool* const pool_;
  size_t next_ = 0;
  int64_t first_row_ = 0;  // Of rows_ within the run.
  std::shared_ptr<arrow::RecordBatch> rows_;
};

RowRuns::RowRuns(MemoryBudget* budget, HeldBytes* held, arrow::MemoryPool* pool,
                 std::string directory)
    : pool_(pool), directory_(std::move(directory)), share_(budget, held) {}

RowRuns::~RowRuns() {
  if (descriptor_ >= 0) close(descriptor_);
}

bool RowRuns::Holds(int32_t partition) const {
  const auto index = static_cast<size_t>(partition);
  return index < held_partitions_.size() && held_partitions_[index];
}

void RowRuns::Add(SortedRows run) {
  if (run.row_count() == 0) return;
  const auto last = static_cast<size_t>(run.segments.back().partition);
  if (last >= held_partitions_.size()) held_partitions_.resize(last + 1);
  for (const Segment& segment : run.segments) {
    auto held = held_partitions_[static_cast<size_t>(segment.partition)];
    if (!held) ++partition_count_;
    held = true;
  }
  row_count_ += run.row_count();
  const int64_t bytes = BytesOf(run);
  data_bytes_ += bytes;
  share_.Set(share_.bytes() + bytes);
  runs_.push_back(std::make_unique<MemoryRun>(std::move(run)));
}

Result<RowRuns::Piece> RowRuns::Next(int64_t bytes) {
  SLUICE_ASSIGN_OR_RETURN(Piece piece, Merge(runs_, bytes));
  if (piece.rows.row_count() > 0) {
    piece.continued = piece.rows.segments.front().partition == unfinished_;
    unfinished_ = piece.unfinished ? piece.rows.segments.back().partition : -1;
    return piece;
  }
  runs_.clear();
  spilled_runs_ = 0;
  held_partitions_.clear();
  partition_count_ = 0;
  row_count_ = 0;
  data_bytes_ = 0;
  spilled_bytes_ = 0;
  share_.Set(0);
  if (descriptor_ >= 0 && ftruncate(descriptor_, 0) == 0) file_bytes_ = 0;
  return piece;
}

Result<RowRuns::Piece> RowRuns::Merge(std::vector<std::unique_ptr<Run>>& runs, int64_t bytes) {
  Piece piece;
  const int64_t row_bytes = std::max<int64_t>(data_bytes_ / std::max<int64_t>(row_count_, 1), 1);
  const int64_t limit = std::max<int64_t>(bytes / row_bytes, 1);
  std::vector<std::shared_ptr<arrow::RecordBatch>> batches;
  int64_t rows = 0;
  while (rows < limit) {
    int32_t partition = kNoPartition;
    for (const auto& run : runs) partition = std::min(partition, run->partition());
    if (partition == kNoPartition) break;
    piece.rows.segments.push_back({.partition = partition, .begin = static_cast<int32_t>(rows)});
    for (const auto& run : runs) {
      if (run->partition() != partition) continue;
      const int64_t take = std::min(run->rows_left(), limit - rows);
      if (take == 0) break;
      SLUICE_RETURN_NOT_OK(run->Take(take, &batches));
      rows += take;
      if (run->partition() == partition) break;
    }
    piece.unfinished = std::any_of(runs.begin(), runs.end(), [partition](const auto& run) {
      return run->partition() == partition;
    });
  }
  if (batches.empty()) return piece;
  SLUICE_ASSIGN_OR_RETURN(piece.rows.rows, JoinBatches(batches, pool_));
  return piece;
}

Status RowRuns::OpenFile() {
  if (descriptor_ >= 0) return {};
  descriptor_ = open(directory_.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (descriptor_ >= 0) return {};
  // File systems without unnamed files: the name goes at once.
  std::string name = directory_ + "/sluice-spill-XXXXXX";
  descriptor_ = mkostemp(name.data(), O_CLOEXEC);
  if (descriptor_ < 0) return fs::DiskError(errno, "create a temporary file in", directory_);
  unlink(name.c_str());
  return {};
}

Status RowRuns::Append(const arrow::RecordBatch& rows, int64_t* offset, int64_t* length) {
  arrow::ipc::IpcWriteOptions options = arrow::ipc::IpcWriteOptions::Defaults();
  options.memory_pool = pool_;
  options.use_threads = false;
  SLUICE_ASSIGN_ARROW(const auto bytes, arrow::ipc::SerializeRecordBatch(rows, options));
  int64_t done = 0;
  while (done < bytes->size()) {
    const ssize_t written = pwrite(descriptor_, bytes->data() + done,
                                   static_cast<size_t>(bytes->size() - done), file_bytes_ + done);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      return fs::DiskError(written < 0 ? errno : EIO, "write to a temporary file in", directory_);
    }
    done += written;
  }
  *offset = file_bytes_;
  *length = bytes->size();
  file_bytes_ += bytes->size();
  return {};
}

Status RowRuns::Spill() {
  if (spilled_runs_ == runs_.size()) return {};
  SLUICE_RETURN_NOT_OK(OpenFile());
  std::vector<std::unique_ptr<Run>> in_memory;
  for (size_t i = spilled_runs_; i < runs_.size(); ++i) in_memory.push_back(std::move(runs_[i]));
  runs_.resize(spilled_runs_);
  if (runs_.size() + in_memory.size() > kRunsApart) {
    SLUICE_RETURN_NOT_OK(SpillJoined(in_memory));
  } else {
    for (const auto& run : in_memory) {
      SLUICE_RETURN_NOT_OK(SpillAsItIs(static_cast<const MemoryRun&>(*run)));
    }
  }
  spilled_runs_ = runs_.size();
  share_.Set(0);
  return {};
}

Status RowRuns::SpillAsItIs(const MemoryRun& run) {
  const int64_t rows = run.row_count();
  const int64_t row_bytes = std::max<int64_t>(data_bytes_ / std::max<int64_t>(row_count_, 1), 1);
  const int64_t chunk_rows = std::max<int64_t>(kChunkBytes / row_bytes, 1);
  std::vector<SpilledRun::Chunk> chunks;
  for (int64_t begin = 0; begin < rows; begin += chunk_rows) {
    const auto slice = run.rows().Slice(begin, chunk_rows);
    SpilledRun::Chunk& chunk = chunks.emplace_back();
    chunk.end_row = begin + slice->num_rows();
    SLUICE_RETURN_NOT_OK(Append(*slice, &chunk.offset, &chunk.length));
    spilled_bytes_ += chunk.length;
  }
  runs_.push_back(std::make_unique<SpilledRun>(run.segments(), rows, std::move(chunks),
                                               run.rows().schema(), &descriptor_, pool_));
  return {};
}

Status RowRuns::SpillJoined(std::vector<std::unique_ptr<Run>>& runs) {
  std::vector<Segment> segments;
  std::vector<SpilledRun::Chunk> chunks;
  std::shared_ptr<arrow::Schema> schema;
  int64_t rows = 0;
  while (true) {
    SLUICE_ASSIGN_OR_RETURN(const Piece piece, Merge(runs, kChunkBytes));
    if (piece.rows.row_count() == 0) break;
    for (const Segment& segment : piece.rows.segments) {
      if (!segments.empty() && segments.back().partition == segment.partition) continue;
      segments.push_back({segment.partition, static_cast<int32_t>(rows + segment.begin)});
    }
    schema = piece.rows.rows->schema();
    rows += piece.rows.row_count();
    SpilledRun::Chunk& chunk = chunks.emplace_back();
    chunk.end_row = rows;
    SLUICE_RETURN_NOT_OK(Append(*piece.rows.rows, &chunk.offset, &chunk.length));
    spilled_bytes_ += chunk.length;
  }
  segments.shrink_to_fit();
  runs_.push_back(std::make_unique<SpilledRun>(std::move(segments), rows, std::move(chunks),
                                               std::move(schema), &descriptor_, pool_));
  return {};
}

}  // namespace sluice::connectors::filesystem
