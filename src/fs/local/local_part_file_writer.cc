#include "fs/local/local_part_file_writer.h"

#include "fs/publish_handle.h"

namespace sluice::fs {

namespace {

// One system call per 256 KiB; while all writers together hold more than 32 MiB, smaller ones
// rather than more memory.
constexpr size_t kBufferBytes = 256 << 10;
constexpr size_t kCrowdedBufferBytes = 4 << 10;
constexpr int64_t kBufferedBytesLimit = 32 << 20;
// Less is not worth a call; what a sync then has to write itself is less than this for each file.
constexpr int64_t kWriteBackBytes = 128 << 10;
constexpr int64_t kPageBytes = 4 << 10;

}  // namespace

LocalPartFileWriter::~LocalPartFileWriter() {
  ClearBuffer();
  (void)publisher_->files_.Close(&file_);
}

void LocalPartFileWriter::ClearBuffer() {
  publisher_->buffered_bytes_ -= static_cast<int64_t>(buffer_.size());
  buffer_.clear();
}

Status LocalPartFileWriter::Append(std::string_view bytes) {
  if (closed_) return Status::Internal("Append to the closed part file " + info_.hidden_path + ".");
  SLUICE_RETURN_NOT_OK(sync_failure_);
  const bool crowded = publisher_->buffered_bytes_.load() > kBufferedBytesLimit;
  const size_t limit = crowded ? kCrowdedBufferBytes : kBufferBytes;
  if (buffer_.size() + bytes.size() < limit) {
    buffer_.append(bytes);
    publisher_->buffered_bytes_ += static_cast<int64_t>(bytes.size());
    return {};
  }
  SLUICE_RETURN_NOT_OK(FlushBuffer());
  return WriteOut(bytes);
}

Status LocalPartFileWriter::FlushBuffer() {
  if (buffer_.empty()) return {};
  const int64_t start = written_bytes_;
  const Status written = WriteOut(buffer_);
  if (!written.ok()) {
    written_bytes_ =
        start;  // The buffer still holds it all: the next flush writes the same place again.
    return written;
  }
  ClearBuffer();
  if (buffer_.capacity() > kCrowdedBufferBytes &&
      publisher_->buffered_bytes_.load() > kBufferedBytesLimit) {
    buffer_.shrink_to_fit();
  }
  return {};
}

Status LocalPartFileWriter::WriteOut(std::string_view bytes) {
  const int64_t start = written_bytes_;
  SLUICE_ASSIGN_OR_RETURN(const OpenFileCache::Use use,
                          publisher_->files_.Acquire(&file_, OpenFileCache::Mode::kExisting));
  while (!bytes.empty()) {
    const int64_t count = publisher_->disk_.WriteAt(use.descriptor(), written_bytes_, bytes);
    if (count < 0) {
      written_bytes_ = start;
      return DiskError(static_cast<int>(-count), "write to", info_.hidden_path);
    }
    written_bytes_ += count;
    bytes.remove_prefix(static_cast<size_t>(count));
  }
  BeginWriteBack(use.descriptor());
  return {};
}

// Whole pages: the last one is written to again.
void LocalPartFileWriter::BeginWriteBack(int descriptor) {
  const int64_t end = written_bytes_ / kPageBytes * kPageBytes;
  if (end - write_back_begun_ < kWriteBackBytes) return;
  publisher_->disk_.BeginWriteBack(descriptor, write_back_begun_, end - write_back_begun_);
  write_back_begun_ = end;
}

Result<std::string> LocalPartFileWriter::Persist() { return Finish(true); }

Result<std::string> LocalPartFileWriter::PersistInBatch(SyncBatch& batch) {
  // Only our own publisher begins batches that come here.
  if (!static_cast<LocalSyncBatch&>(batch).Cover(ParentPath(info_.hidden_path))) return Persist();
  return Finish(false);
}

// Brings everything to the file; `durable`: and to the disk.
Result<std::string> LocalPartFileWriter::Finish(bool durable) {
  if (closed_)
    return Status::Internal("Persist of the closed part file " + info_.hidden_path + ".");
  SLUICE_RETURN_NOT_OK(sync_failure_);
  SLUICE_RETURN_NOT_OK(FlushBuffer());
  Status names_durable;
  {
    SLUICE_ASSIGN_OR_RETURN(const OpenFileCache::Use use,
                            publisher_->files_.Acquire(&file_, OpenFileCache::Mode::kExisting));
    const int result = durable
                           ? publisher_->directories_.SyncFileWithNames(
                                 use.descriptor(), ParentPath(info_.hidden_path), &names_durable)
                           : 0;
    if (result < 0) {
      sync_failure_ = DiskError(-result, "make durable", info_.hidden_path);
      return sync_failure_;
    }
    const int64_t size = publisher_->disk_.Size(use.descriptor());
    if (size != written_bytes_) {
      // A write that failed in the middle may have left more behind; less means that somebody else
      // cut the file.
      if (size < written_bytes_) {
        return Status::Corrupt("Part file " + info_.hidden_path + " has " + std::to_string(size) +
                               " bytes where " + std::to_string(written_bytes_) +
                               " were written: something else changes it.");
      }
      const int cut = publisher_->disk_.Truncate(use.descriptor(), written_bytes_);
      if (cut < 0) return DiskError(-cut, "cut back", info_.hidden_path);
    }
  }
  SLUICE_RETURN_NOT_OK(names_durable);
  info_.length_bytes = written_bytes_;
  return EncodePublishHandle(info_);
}

Result<std::string> LocalPartFileWriter::Close() {
  SLUICE_ASSIGN_OR_RETURN(std::string handle, Persist());
  SLUICE_RETURN_NOT_OK(publisher_->files_.Close(&file_));
  closed_ = true;
  buffer_.shrink_to_fit();
  return handle;
}

Result<std::string> LocalPartFileWriter::CloseInBatch(SyncBatch& batch) {
  if (!static_cast<LocalSyncBatch&>(batch).Cover(ParentPath(info_.hidden_path))) return Close();
  SLUICE_ASSIGN_OR_RETURN(std::string handle, Finish(false));
  SLUICE_RETURN_NOT_OK(publisher_->files_.Close(&file_));
  closed_ = true;
  buffer_.shrink_to_fit();
  return handle;
}

Status LocalPartFileWriter::Discard() {
  ClearBuffer();
  closed_ = true;
  (void)publisher_->files_.Close(&file_);
  const int result = publisher_->disk_.Unlink(info_.hidden_path);
  if (result < 0 && result != -ENOENT) return DiskError(-result, "remove", info_.hidden_path);
  return {};
}

}  // namespace sluice::fs
