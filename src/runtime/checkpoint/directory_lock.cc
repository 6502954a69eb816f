#include "runtime/checkpoint/directory_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <system_error>
#include <thread>

#include "common/text.h"
#include "fs/local/disk.h"

namespace sluice::runtime {
namespace {

constexpr const char* kFileName = "/lock";
constexpr int kTries = 5;

std::string HolderOf(int descriptor) {
  char bytes[32] = {};
  const ssize_t got = ::pread(descriptor, bytes, sizeof bytes - 1, 0);
  const std::string_view text = TrimAscii({bytes, static_cast<size_t>(got < 0 ? 0 : got)});
  return ParseInt64(text) ? "process " + std::string(text) : "another process";
}

// True when the file behind `descriptor` is still the one under `path`: its last holder may have
// removed it in between.
bool IsStillThere(int descriptor, const std::string& path) {
  struct stat opened {};
  struct stat named {};
  return ::fstat(descriptor, &opened) == 0 && ::stat(path.c_str(), &named) == 0 &&
         opened.st_ino == named.st_ino && opened.st_dev == named.st_dev;
}

}  // namespace

Result<std::unique_ptr<DirectoryLock>> DirectoryLock::Acquire(const std::string& directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) {
    const Status reason = fs::DiskError(error.value(), "create the state folder", directory);
    return Status(reason.code(),
                  reason.message() + " 'execution.checkpointing.dir' chooses another place for it.")
        .Retriable(reason.retriable());
  }
  const std::string path = directory + kFileName;
  while (true) {
    const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (descriptor < 0) return Status::FromErrno(errno, "Cannot open " + path);
    int reason = 0;
    for (int i = 0; i < kTries; ++i) {
      reason = ::flock(descriptor, LOCK_EX | LOCK_NB) == 0 ? 0 : errno;
      if (reason != EWOULDBLOCK) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));  // IsHeld may be looking.
    }
    if (reason != 0) {
      const std::string holder = HolderOf(descriptor);
      ::close(descriptor);
      if (reason != EWOULDBLOCK) return Status::FromErrno(reason, "Cannot lock " + path);
      return Status::AlreadyExists("The state folder " + directory + " is in use by " + holder +
                                   ", which runs the same job. Wait until it has ended or stop "
                                   "it; give this job another pipeline.name to run both.");
    }
    if (!IsStillThere(descriptor, path)) {
      ::close(descriptor);
      continue;
    }
    const std::string pid = std::to_string(::getpid()) + "\n";
    // Only for the message above: a failure here changes nothing.
    if (::ftruncate(descriptor, 0) == 0) {
      [[maybe_unused]] const ssize_t written = ::pwrite(descriptor, pid.data(), pid.size(), 0);
    }
    return std::unique_ptr<DirectoryLock>(new DirectoryLock(directory, descriptor));
  }
}

bool DirectoryLock::IsHeld(const std::string& directory) {
  const int descriptor = ::open((directory + kFileName).c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return false;
  const bool held = ::flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  ::close(descriptor);
  return held;
}

void DirectoryLock::ReleaseAndRemove() {
  if (descriptor_ < 0) return;
  ::unlink((directory_ + kFileName).c_str());
  ::close(descriptor_);
  descriptor_ = -1;
  ::rmdir(directory_.c_str());  // Fails when something is left in it, and then it stays.
}

DirectoryLock::~DirectoryLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace sluice::runtime
