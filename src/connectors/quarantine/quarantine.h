// Puts bad records aside, exactly once, and stops the job when there are too many.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "connectors/quarantine/bad_record_options.h"
#include "formats/format.h"
#include "runtime/operator.h"
#include "runtime/source.h"

namespace sluice::connectors {

/// A record that is put aside.
struct QuarantinedRecord {
  std::string raw;       // As it came, without line end.
  int64_t position = 0;  // Byte of the file, or offset of the message.
  std::string column;    // Empty when the whole record is at fault.
  std::string reason;
};

/// Takes the records that were bad out of `decoded` and describes them; `raw_of` gives a bad
/// record's bytes, `position_of` its QuarantinedRecord::position. With `keep_nulled` rows in which
/// only fields became NULL stay and are not described.
Result<std::vector<QuarantinedRecord>> TakeOutBadRecords(
    formats::DecodedRows* decoded, bool keep_nulled,
    const std::function<std::string_view(const formats::BadRecord&)>& raw_of,
    const std::function<int64_t(const formats::BadRecord&)>& position_of);

/// The bytes of the first record of `rest`, line end left out.
std::string_view FirstRecord(std::string_view rest, formats::RowFramer* framer);

/// What the readers of one source share. Thread-safe.
class Quarantine {
 public:
  /// Finishes what the restored checkpoint still owed. Blocking.
  static Result<std::shared_ptr<Quarantine>> Open(BadRecordOptions options,
                                                  std::string table_identifier,
                                                  const runtime::RestoredSourceState* restored);

  /// Fails with kDataError once the limits are passed.
  Status Count(int64_t records, int64_t bad_records);
  /// Makes the file or replaces an equal one. Blocking.
  Status WriteFile(const std::string& name, const std::string& content) const;
  Status Explained(Status status) const;

  const BadRecordOptions& options() const { return options_; }
  const std::string& table_identifier() const { return table_identifier_; }
  int64_t restored_records() const { return restored_records_; }
  int64_t restored_bad_records() const { return restored_bad_records_; }

 private:
  Quarantine(BadRecordOptions options, std::string table_identifier)
      : options_(std::move(options)), table_identifier_(std::move(table_identifier)) {}
  Status Restore(const runtime::RestoredSourceState& restored);

  const BadRecordOptions options_;
  const std::string table_identifier_;
  int64_t restored_records_ = 0;
  int64_t restored_bad_records_ = 0;
  std::atomic<int64_t> records_{0};
  std::atomic<int64_t> bad_records_{0};
};

/// One reader's part. State: "quarantine_files" (name and content of files not known to be
/// written), "quarantine_records", "quarantine_bad_records". Not thread-safe: called by the
/// reader's task.
class QuarantineBuffer {
 public:
  QuarantineBuffer(std::shared_ptr<Quarantine> quarantine, const runtime::TaskContext* context);

  /// Notes what was emitted: `records` seen, `bad_records` of them bad, `taken_out` to be put
  /// aside. `source`: file path or "topic-partition". Fails when a limit is passed or the records
  /// of one checkpoint take more than their share of the memory.
  Status Add(const std::string& source, int64_t records, int64_t bad_records,
             const std::vector<QuarantinedRecord>& taken_out);

  void Snapshot(runtime::CheckpointId id, runtime::StateWriter* state);
  void CheckpointComplete(runtime::CheckpointId id);
  /// True when nothing is being written. Fails with what a write failed with.
  Result<bool> Drained() const;

 private:
  struct File {
    runtime::CheckpointId checkpoint = 0;
    std::string name;
    std::string content;
    std::atomic<bool> written{false};
  };
  struct Progress {
    std::mutex mutex;
    Status failure;
    std::atomic<int> under_way{0};
  };
  void AppendLine(const std::string& source, const QuarantinedRecord& record);

  const std::shared_ptr<Quarantine> quarantine_;
  const runtime::TaskContext* const context_;
  const int64_t max_pending_bytes_;
  int64_t records_ = 0;
  int64_t bad_records_ = 0;
  std::string pending_;  // Lines since the last barrier.
  std::deque<std::shared_ptr<File>> files_;
  std::shared_ptr<Progress> progress_ = std::make_shared<Progress>();
};

}  // namespace sluice::connectors
