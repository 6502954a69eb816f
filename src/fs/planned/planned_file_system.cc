#include "fs/planned/planned_file_system.h"

#include "common/text.h"

namespace sluice::fs {
namespace {

class PlannedPublisher final : public Publisher {
 public:
  explicit PlannedPublisher(Status refusal) : refusal_(std::move(refusal)) {}
  Result<std::unique_ptr<PartFileWriter>> Open(const std::string&, const std::string&) override {
    return refusal_;
  }
  Result<std::unique_ptr<PartFileWriter>> Resume(const std::string&) override { return refusal_; }
  std::vector<Status> Publish(const std::vector<std::string>& handles) override {
    return std::vector<Status>(handles.size(), refusal_);
  }
  Status Abandon(const std::string&) override { return refusal_; }
  Result<HandleInfo> Describe(const std::string&) const override { return refusal_; }

 private:
  const Status refusal_;
};

class PlannedFileSystem final : public FileSystem {
 public:
  explicit PlannedFileSystem(std::string_view scheme)
      : scheme_(scheme),
        refusal_(Status::Unsupported("File system " + ToUpperAscii(scheme) + " (" +
                                     std::string(scheme) +
                                     "://) is a later feature of Sluice: tables on it can be "
                                     "created and explained, not read "
                                     "or written. Use a local path, s3://, s3a:// or oss://.")),
        publisher_(refusal_) {}

  std::string_view scheme() const override { return scheme_; }
  Status CheckAccess(const std::string&) override { return refusal_; }
  Result<FileInfo> Stat(const std::string&) override { return refusal_; }
  Result<std::vector<FileInfo>> List(const std::string&) override { return refusal_; }
  Result<std::shared_ptr<arrow::io::RandomAccessFile>> OpenRead(const std::string&) override {
    return refusal_;
  }
  Status WriteWhole(const std::string&, std::string_view) override { return refusal_; }
  Status CreateDirectories(const std::string&) override { return refusal_; }
  Status DeleteFile(const std::string&) override { return refusal_; }
  Status DeleteTree(const std::string&) override { return refusal_; }
  Status Rename(const std::string&, const std::string&) override { return refusal_; }
  Status ExchangeDirectories(const std::string&, const std::string&) override { return refusal_; }
  Publisher& publisher() override { return publisher_; }

 private:
  const std::string scheme_;
  const Status refusal_;
  PlannedPublisher publisher_;
};

}  // namespace

Result<std::shared_ptr<FileSystem>> MakePlannedFileSystem(std::string_view scheme,
                                                          const OptionMap&) {
  return std::make_shared<PlannedFileSystem>(scheme);
}

}  // namespace sluice::fs
