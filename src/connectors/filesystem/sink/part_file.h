// One open part file: bytes of a row format, or a container behind a bulk writer.
//
// Life cycle: Open or Resume, appends, then Close (its handle is published after the checkpoint),
// or Persist at each barrier while it stays open, or Discard. A file that is just destroyed leaves
// its hidden file to the sweep.
// Thread: one at a time; Close and Persist block and belong on the I/O pool.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "connectors/filesystem/sink/budget_share.h"
#include "connectors/filesystem/sink/part_stream.h"
#include "connectors/filesystem/sink/rolling_policy.h"
#include "formats/file_operations.h"
#include "formats/format.h"
#include "fs/file_system.h"
#include "types/batch.h"

namespace sluice::connectors::filesystem {

/// Makes the bulk writer of a new file over its stream.
using BulkWriterMaker = std::function<Result<std::unique_ptr<formats::BulkWriter>>(
    std::shared_ptr<arrow::io::OutputStream>)>;

class PartFile {
 public:
  /// A file of a row format, new or resumed.
  PartFile(std::unique_ptr<fs::PartFileWriter> writer, int64_t now_ms, MemoryBudget* budget,
           HeldBytes* held);
  /// A container; the hidden file is removed when it cannot be begun.
  static Result<std::unique_ptr<PartFile>> MakeBulk(std::unique_ptr<fs::PartFileWriter> writer,
                                                    const BulkWriterMaker& make_bulk,
                                                    int64_t now_ms, MemoryBudget* budget,
                                                    HeldBytes* held);
  /// A container that stayed open over a checkpoint. Nothing is removed on failure.
  static Result<std::unique_ptr<PartFile>> ResumeBulk(std::unique_ptr<fs::PartFileWriter> writer,
                                                      const BulkWriterMaker& make_bulk,
                                                      int64_t now_ms, MemoryBudget* budget,
                                                      HeldBytes* held);
  ~PartFile();

  /// Encoded records of a row format.
  Status AppendText(std::string_view text, int64_t row_count, int64_t now_ms);
  /// Rows of a bulk format.
  Status AppendRows(const Batch& rows, int64_t now_ms);
  /// Moves what the encoder holds to the stream (ends the row group).
  Status EndRowGroup();

  /// Also saves what a container's encoder holds: see bulk_state().
  /// With `batch` it is durable when that is (PartFileWriter::PersistInBatch).
  Result<std::string> Persist(fs::SyncBatch* batch = nullptr);
  /// With `batch` it is durable when that is (PartFileWriter::CloseInBatch).
  Result<std::string> Close(fs::SyncBatch* batch = nullptr);
  Status Discard();

  PartFileInfo info() const { return {size_bytes_, opened_ms_, last_write_ms_}; }
  int64_t row_count() const { return row_count_; }
  /// Bytes of the encoder that EndRowGroup gives back.
  int64_t buffered_bytes() const;
  /// About what Persist would add to bulk_state(); EndRowGroup takes it to nearly nothing.
  int64_t state_bytes() const { return spanning_ ? spanning_->state_bytes() : 0; }
  int64_t held_bytes() const { return share_.bytes(); }

  /// What a restored file brings along.
  void SetHistory(int64_t opened_ms, int64_t last_write_ms, int64_t row_count);
  /// The newest handle from Persist, "" before the first; valid while !dirty().
  const std::string& resume_handle() const { return resume_handle_; }
  void set_resume_handle(std::string handle) {
    resume_handle_ = std::move(handle);
    dirty_ = false;
  }
  /// What the encoder of a container held at the newest Persist; belongs to resume_handle().
  const std::string& bulk_state() const { return bulk_state_; }
  void set_bulk_state(std::string state) { bulk_state_ = std::move(state); }
  bool dirty() const { return dirty_; }
  /// A checkpoint that may complete names this file: it must not be removed any more.
  bool named() const { return named_; }
  void set_named() { named_ = true; }

 private:
  Status BeginBulk(const BulkWriterMaker& make_bulk);
  Status Measure();

  std::unique_ptr<fs::PartFileWriter> writer_;
  std::shared_ptr<PartStream> stream_;  // Bulk only.
  std::unique_ptr<formats::BulkWriter> bulk_;
  formats::SpanningWriter* spanning_ = nullptr;  // The same, of a file that may stay open.
  BudgetShare share_;
  int64_t size_bytes_ = 0;
  int64_t opened_ms_;
  int64_t last_write_ms_;
  int64_t row_count_ = 0;
  std::string resume_handle_;
  std::string bulk_state_;
  bool dirty_ = true;
  bool named_ = false;
};

}  // namespace sluice::connectors::filesystem
