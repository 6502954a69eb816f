#include "connectors/filesystem/sink/part_file.h"

#include "common/crash_point.h"

namespace sluice::connectors::filesystem {
namespace {

// An idle Parquet writer of three columns was measured at 81 KiB of pool.
constexpr int64_t kBulkWriterOverheadBytes = 80 << 10;
constexpr int64_t kRowFileOverheadBytes = 1 << 10;

}  // namespace

PartFile::PartFile(std::unique_ptr<fs::PartFileWriter> writer, int64_t now_ms, MemoryBudget* budget,
                   HeldBytes* held)
    : writer_(std::move(writer)),
      share_(budget, held),
      size_bytes_(writer_->size_bytes()),
      opened_ms_(now_ms),
      last_write_ms_(now_ms) {
  share_.Set(kRowFileOverheadBytes);
}

PartFile::~PartFile() = default;

Result<std::unique_ptr<PartFile>> PartFile::MakeBulk(std::unique_ptr<fs::PartFileWriter> writer,
                                                     const BulkWriterMaker& make_bulk,
                                                     int64_t now_ms, MemoryBudget* budget,
                                                     HeldBytes* held) {
  auto file = std::make_unique<PartFile>(std::move(writer), now_ms, budget, held);
  const Status begun = file->BeginBulk(make_bulk);
  if (begun.ok()) return file;
  (void)file->Discard();
  return begun;
}

Result<std::unique_ptr<PartFile>> PartFile::ResumeBulk(std::unique_ptr<fs::PartFileWriter> writer,
                                                       const BulkWriterMaker& make_bulk,
                                                       int64_t now_ms, MemoryBudget* budget,
                                                       HeldBytes* held) {
  auto file = std::make_unique<PartFile>(std::move(writer), now_ms, budget, held);
  SLUICE_RETURN_NOT_OK(file->BeginBulk(make_bulk));
  return file;
}

Status PartFile::BeginBulk(const BulkWriterMaker& make_bulk) {
  stream_ = std::make_shared<PartStream>(writer_.get());
  auto bulk = make_bulk(stream_);
  if (!bulk.ok()) return stream_->Explain(bulk.status());
  bulk_ = std::move(*bulk);
  spanning_ = dynamic_cast<formats::SpanningWriter*>(bulk_.get());
  return Measure();
}

Status PartFile::Measure() {
  if (bulk_ == nullptr) {
    size_bytes_ = writer_->size_bytes();
    share_.Set(kRowFileOverheadBytes + writer_->buffered_bytes());
    return {};
  }
  size_bytes_ = bulk_->estimated_file_bytes();
  share_.Set(kBulkWriterOverheadBytes + bulk_->buffered_bytes() + writer_->buffered_bytes());
  return {};
}

Status PartFile::AppendText(std::string_view text, int64_t row_count, int64_t now_ms) {
  dirty_ = true;
  SLUICE_RETURN_NOT_OK(writer_->Append(text));
  row_count_ += row_count;
  last_write_ms_ = now_ms;
  return Measure();
}

Status PartFile::AppendRows(const Batch& rows, int64_t now_ms) {
  dirty_ = true;
  SLUICE_RETURN_NOT_OK(stream_->Explain(bulk_->Write(rows)));
  row_count_ += rows.row_count();
  last_write_ms_ = now_ms;
  return Measure();
}

Status PartFile::EndRowGroup() {
  if (bulk_ == nullptr) return {};
  SLUICE_RETURN_NOT_OK(stream_->Explain(bulk_->Flush()));
  return Measure();
}

int64_t PartFile::buffered_bytes() const { return bulk_ ? bulk_->buffered_bytes() : 0; }

Result<std::string> PartFile::Persist(fs::SyncBatch* batch) {
  SLUICE_CRASH_POINT("sink.before_persist");
  if (bulk_ != nullptr) {
    if (spanning_ == nullptr) return Status::Internal("a container that cannot stay open");
    auto state = spanning_->Save();
    if (!state.ok()) return stream_->Explain(state.status());
    bulk_state_ = std::move(*state);
    SLUICE_RETURN_NOT_OK(Measure());
  }
  SLUICE_ASSIGN_OR_RETURN(std::string handle,
                          batch == nullptr ? writer_->Persist() : writer_->PersistInBatch(*batch));
  SLUICE_CRASH_POINT("sink.after_persist");
  return handle;
}

Result<std::string> PartFile::Close(fs::SyncBatch* batch) {
  SLUICE_CRASH_POINT("sink.before_persist");
  if (bulk_ != nullptr) {
    SLUICE_RETURN_NOT_OK(stream_->Explain(bulk_->Finish()));
    bulk_.reset();
    (void)stream_->Close();
  }
  SLUICE_ASSIGN_OR_RETURN(std::string handle,
                          batch == nullptr ? writer_->Close() : writer_->CloseInBatch(*batch));
  size_bytes_ = writer_->size_bytes();
  SLUICE_CRASH_POINT("sink.after_persist");
  return handle;
}

Status PartFile::Discard() {
  bulk_.reset();
  return writer_->Discard();
}

void PartFile::SetHistory(int64_t opened_ms, int64_t last_write_ms, int64_t row_count) {
  opened_ms_ = opened_ms;
  last_write_ms_ = last_write_ms;
  row_count_ = row_count;
}

}  // namespace sluice::connectors::filesystem
