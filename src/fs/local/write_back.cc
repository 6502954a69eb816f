#include "fs/local/write_back.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <climits>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "fs/file_system.h"

namespace sluice::fs {

namespace {

// Ranges that come within this time are begun together; each holds a descriptor until then.
constexpr std::chrono::milliseconds kGathering{20};
constexpr size_t kMostRanges = 256;

// What a disk takes into its own cache is as long to wait for at the end: 400 MB took 200 ms.
constexpr int64_t kFlushBytes = 64 << 20;

std::string PathOf(int descriptor) {
  const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
  std::array<char, PATH_MAX> path;
  const ssize_t length = readlink(link.c_str(), path.data(), path.size());
  return length < 0 ? "" : std::string(path.data(), static_cast<size_t>(length));
}

// The topmost folder of the file system that the file is on.
std::string TopFolder(int descriptor) {
  struct stat file;
  if (fstat(descriptor, &file) < 0) return "";
  std::string top;
  for (std::string path = ParentPath(PathOf(descriptor)); !path.empty();) {
    struct stat folder;
    if (stat(path.c_str(), &folder) < 0 || folder.st_dev != file.st_dev) break;
    top = path;
    if (path == "/") break;
    path = ParentPath(path);
    if (path.empty()) path = "/";
  }
  return top;
}

// By a sync of a folder that hardly ever changes: one of the file itself would hold up whoever
// makes files next to it, and take in errors that are the sink's to learn of.
void FlushCacheOfDisk(int descriptor) {
  const std::string top = TopFolder(descriptor);
  const int folder = top.empty() ? -1 : open(top.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;
  (void)fsync(folder);
  (void)close(folder);
}

}  // namespace

void WriteBack::Begin(int descriptor, int64_t offset, int64_t length_bytes) {
  const std::lock_guard lock(mutex_);
  if (ranges_.size() >= kMostRanges || !EnsureThread()) return;
  const int own = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  if (own < 0) return;
  ranges_.push_back({own, offset, length_bytes});
  if (ranges_.size() == 1) has_some_.notify_one();
}

bool WriteBack::EnsureThread() {
  if (started_) return true;
  try {
    std::thread([this] { Work(); }).detach();
    started_ = true;
  } catch (const std::system_error&) {
    // No thread to be had: the sync does it all.
  }
  return started_;
}

std::vector<WriteBack::Range> WriteBack::Gather() {
  {
    std::unique_lock lock(mutex_);
    has_some_.wait(lock, [this] { return !ranges_.empty(); });
  }
  std::this_thread::sleep_for(kGathering);
  const std::lock_guard lock(mutex_);
  return std::exchange(ranges_, {});
}

void WriteBack::Work() {
  int64_t begun_bytes = 0;
  while (true) {
    for (const Range& range : Gather()) {
      // Waits while the queue of the disk is full, not for the writes themselves.
      (void)sync_file_range(range.descriptor, range.offset, range.length_bytes,
                            SYNC_FILE_RANGE_WRITE);
      begun_bytes += range.length_bytes;
      if (begun_bytes >= kFlushBytes) {
        FlushCacheOfDisk(range.descriptor);
        begun_bytes = 0;
      }
      (void)close(range.descriptor);
    }
  }
}

}  // namespace sluice::fs
