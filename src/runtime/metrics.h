// Counters and short texts of a job that the live line, the log and the metrics endpoint read.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>

namespace sluice::runtime {

/// Names in use, so that reader and writer agree. Units last.
namespace metric {
inline constexpr std::string_view kRowsIn = "rows_in";  // Rows that sources emitted.
inline constexpr std::string_view kRowsSkipped =
    "rows_skipped";  // Rows of files that no filter of the query can pass, left unread.
inline constexpr std::string_view kBytesIn = "bytes_in";    // Bytes that sources read.
inline constexpr std::string_view kRowsOut = "rows_out";    // Rows that sinks took.
inline constexpr std::string_view kBytesOut = "bytes_out";  // Bytes of published files.
inline constexpr std::string_view kBadRecords =
    "bad_records";  // Records dropped or fields nulled by ignore-parse-errors.
inline constexpr std::string_view kNullMessages =
    "null_messages";  // Kafka tombstones in insert-only formats.
inline constexpr std::string_view kRowTimeNull = "rowtime_null";
inline constexpr std::string_view kOpenFiles = "open_files";
inline constexpr std::string_view kPublishedFiles = "published_files";
inline constexpr std::string_view kCommittedPartitions = "committed_partitions";
inline constexpr std::string_view kLateCommits =
    "late_commits";  // Partitions committed again because late rows came.
inline constexpr std::string_view kEarlyRolls =
    "early_rolls";  // Files or row groups ended for want of memory or handles.
inline constexpr std::string_view kUntimedPartitions =
    "untimed_partitions";  // Whose values give no time to commit by.
inline constexpr std::string_view kCheckpoint = "checkpoint_id";  // Newest complete one.
inline constexpr std::string_view kCheckpointMs = "checkpoint_ms";
inline constexpr std::string_view kRestarts = "restarts";
inline constexpr std::string_view kStoreRetries =
    "store_retries";  // Requests to object stores that were sent again.
inline constexpr std::string_view kWatermarkMs =
    "watermark_ms";  // At the sink's committer; kMinWatermarkMs before the first.
}  // namespace metric

/// Values by the names of counters.
using Counts = std::map<std::string, int64_t>;

/// True for counters of what is read, written or published anew when a job restarts from a
/// checkpoint: such a restart takes back what was counted since.
bool CountsAgain(std::string_view name);

/// Thread-safe. Counters live as long as the object.
///
/// A job has one for all its attempts, and each task of an attempt one of its own that counts what
/// CountsAgain() says and leaves everything else to the job's. The job's shows the sums. Life cycle
/// of a task's count: counted -> told with the task's answer to a barrier, kept by the master with
/// the checkpoint -> part of the job's own count when the attempt ends -> the next one begins with
/// what belongs to the checkpoint that it restores.
class Metrics {
 public:
  Metrics() = default;
  /// Of a task. `job` must live longer.
  explicit Metrics(Metrics* job);
  ~Metrics() { End(); }
  /// The task is over: its counts become the job's. Not again.
  void End();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  /// The counter of that name, made on first use. Keep the reference: the look-up takes a lock.
  std::atomic<int64_t>& Counter(std::string_view name);
  /// Of the whole job, asked of a task too: a committer tells where the sources stand.
  int64_t Value(std::string_view name) const;
  Counts Snapshot() const;
  /// What this object, without its tasks, has counted of what CountsAgain().
  Counts OwnCounts() const;
  /// The job, without tasks: goes back, or on, to these; what they do not name is 0.
  void BeginWith(const Counts& counts);

  /// What an operator waits for right now ("broker 127.0.0.1:9092: connection refused, retry 3"),
  /// "" = nothing.
  void SetWaiting(std::string_view who, std::string_view what);
  /// who -> what.
  std::map<std::string, std::string> Waiting() const;

  /// Where reader `who` stands at the barrier at hand: split -> position behind its last row, of
  /// the splits that have moved since the barrier before. Replaces what the reader said before.
  void SetPositions(std::string_view who, std::map<std::string, int64_t> positions);
  /// Of all readers together.
  std::map<std::string, int64_t> Positions() const;

 private:
  int64_t OwnValue(std::string_view name) const;
  int64_t SumOfTasks(std::string_view name) const;  // Under mutex_.

  Metrics* const job_ = nullptr;
  bool ended_ = false;
  mutable std::mutex mutex_;
  std::set<const Metrics*> tasks_;
  std::map<std::string, std::unique_ptr<std::atomic<int64_t>>, std::less<>> counters_;
  std::map<std::string, std::string, std::less<>> waiting_;
  std::map<std::string, std::map<std::string, int64_t>, std::less<>> positions_;
};

}  // namespace sluice::runtime
