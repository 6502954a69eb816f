// One open part file of LocalPublisher.
#pragma once

#include <string>

#include "fs/local/local_publisher.h"

namespace sluice::fs {

class LocalPartFileWriter final : public PartFileWriter {
 public:
  /// `info.length_bytes`: what the file holds already. The file is there.
  LocalPartFileWriter(LocalPublisher* publisher, Publisher::HandleInfo info)
      : publisher_(publisher),
        info_(std::move(info)),
        file_(info_.hidden_path),
        written_bytes_(info_.length_bytes),
        write_back_begun_(info_.length_bytes) {}
  ~LocalPartFileWriter() override;

  Status Append(std::string_view bytes) override;
  int64_t size_bytes() const override {
    return written_bytes_ + static_cast<int64_t>(buffer_.size());
  }
  Result<std::string> Persist() override;
  Result<std::string> PersistInBatch(SyncBatch& batch) override;
  Result<std::string> Close() override;
  Result<std::string> CloseInBatch(SyncBatch& batch) override;
  Status Discard() override;

 private:
  friend class LocalPublisher;

  Result<std::string> Finish(bool durable);
  Status FlushBuffer();
  Status WriteOut(std::string_view bytes);
  void BeginWriteBack(int descriptor);
  void ClearBuffer();

  LocalPublisher* const publisher_;
  Publisher::HandleInfo info_;
  OpenFileCache::Entry file_;
  int64_t written_bytes_;
  int64_t write_back_begun_;  // Bytes from the start that are on their way to the disk, or there.
  std::string buffer_;
  bool closed_ = false;
  // After a failed fsync the system may have dropped the pages: a second fsync would tell a lie.
  Status sync_failure_;
};

}  // namespace sluice::fs
