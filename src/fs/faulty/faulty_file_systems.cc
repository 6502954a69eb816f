#include "fs/faulty/faulty_file_systems.h"

#include "fs/local/local_file_system.h"

namespace sluice::fs {

struct FaultyFileSystems::Run {
  explicit Run(std::unique_ptr<Disk> session) : disk(std::move(session)), file_system(*disk) {}
  std::unique_ptr<Disk> disk;
  LocalFileSystem file_system;
};

FaultyFileSystems::FaultyFileSystems(uint64_t seed, const Clock* clock) : disk_(seed, clock) {
  StartRun();
}
FaultyFileSystems::~FaultyFileSystems() = default;

void FaultyFileSystems::StartRun() { runs_.push_back(std::make_shared<Run>(disk_.NewSession())); }

FileSystem& FaultyFileSystems::current() { return runs_.back()->file_system; }

Result<FileSystems::Located> FaultyFileSystems::Locate(std::string_view uri) {
  if (uri.starts_with("file://")) uri.remove_prefix(7);
  if (uri.empty()) return Status::InvalidArgument("Can not create a Path from an empty string.");
  const std::shared_ptr<Run>& run = runs_.back();
  return Located{std::shared_ptr<FileSystem>(run, &run->file_system),
                 uri.starts_with("/") ? std::string(uri) : JoinPath("/", uri)};
}

void FaultyFileSystems::Crash() {
  disk_.Crash();
  StartRun();
}

void FaultyFileSystems::Kill() {
  disk_.Kill();
  StartRun();
}

}  // namespace sluice::fs
