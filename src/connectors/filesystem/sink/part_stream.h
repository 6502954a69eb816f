// A part file as an Arrow stream.
#pragma once

#include <arrow/io/interfaces.h>
#include <arrow/result.h>
#include <arrow/status.h>

#include "connectors/filesystem/sink/rate_limit.h"
#include "fs/file_system.h"

namespace sluice::connectors::filesystem {

/// Hands what is written to the part file, which must outlive it. Keeps our own error, which says
/// more than Arrow's.
class PartStream final : public arrow::io::OutputStream {
 public:
  /// `rate`, which may be null, bounds how fast; it must outlive the stream as well.
  explicit PartStream(fs::PartFileWriter* writer, RateLimit* rate = nullptr)
      : writer_(writer), rate_(rate) {
    set_mode(arrow::io::FileMode::WRITE);
  }
  arrow::Status Write(const void* data, int64_t nbytes) override {
    if (rate_ != nullptr) rate_->Take(nbytes);
    error_ = writer_->Append({static_cast<const char*>(data), static_cast<size_t>(nbytes)});
    return error_.ok() ? arrow::Status::OK() : arrow::Status::IOError(error_.message());
  }
  using arrow::io::OutputStream::Write;
  arrow::Status Close() override {
    closed_ = true;
    return arrow::Status::OK();
  }
  bool closed() const override { return closed_; }
  arrow::Result<int64_t> Tell() const override { return writer_->size_bytes(); }

  /// The failure behind `status`, if it came from here.
  Status Explain(Status status) const { return !status.ok() && !error_.ok() ? error_ : status; }

 private:
  fs::PartFileWriter* const writer_;
  RateLimit* const rate_;
  bool closed_ = false;
  Status error_;
};

}  // namespace sluice::connectors::filesystem
