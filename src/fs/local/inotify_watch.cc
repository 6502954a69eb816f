#include "fs/local/inotify_watch.h"

#include <dirent.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <vector>

#include "fs/local/disk.h"

namespace sluice::fs {

namespace {

// 100,000 names of 100 bytes are 20 MB: beyond it listing once is cheaper than remembering.
constexpr size_t kToldLimit = 200'000;
constexpr size_t kBeingWrittenLimit = 100'000;

constexpr uint32_t kEvents = IN_CREATE | IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE |
                             IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR | IN_EXCL_UNLINK;

// File systems whose every change passes this kernel (statfs(2)). Any other may be changed from
// elsewhere without a word.
constexpr std::array<uint32_t, 16> kLocalKinds = {
    0xEF53,      // ext2, ext3, ext4
    0x58465342,  // xfs
    0x9123683E,  // btrfs
    0x01021994,  // tmpfs
    0x858458F6,  // ramfs
    0x794C7630,  // overlayfs
    0xF2F52010,  // f2fs
    0x2FC12FC1,  // zfs
    0xCA451A4E,  // bcachefs
    0x52654973,  // reiserfs
    0x3153464A,  // jfs
    0x2011BAB0,  // exfat
    0x4D44,      // fat
    0x7366746E,  // ntfs3
    0x3434,      // nilfs2
    0x24051905,  // ubifs
};

Status CheckKind(const std::string& path) {
  struct statfs info;
  if (statfs(path.c_str(), &info) < 0) return DiskError(errno, "look at", path);
  const auto kind = static_cast<uint32_t>(info.f_type);
  if (std::find(kLocalKinds.begin(), kLocalKinds.end(), kind) != kLocalKinds.end()) return {};
  char text[16];
  std::snprintf(text, sizeof text, "0x%x", kind);
  return Status::Unsupported(path + " is on a file system (type " + text +
                             ") that other machines may change without this one hearing of it.");
}

}  // namespace

Result<std::unique_ptr<TreeWatch>> InotifyWatch::Start(const std::string& root,
                                                       std::function<void()> wake) {
  std::unique_ptr<InotifyWatch> watch(new InotifyWatch(root, std::move(wake)));
  SLUICE_RETURN_NOT_OK(watch->Open());
  watch->thread_ = std::thread([raw = watch.get()] { raw->Run(); });
  return std::unique_ptr<TreeWatch>(std::move(watch));
}

InotifyWatch::~InotifyWatch() {
  if (thread_.joinable()) {
    const uint64_t one = 1;
    (void)!write(stop_, &one, sizeof one);
    thread_.join();
  }
  if (inotify_ >= 0) close(inotify_);
  if (stop_ >= 0) close(stop_);
}

Status InotifyWatch::Open() {
  inotify_ = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
  if (inotify_ < 0) {
    return Status::Unavailable(
        std::string("The system gives no inotify instance: ") + std::strerror(errno) +
        ". Raise fs.inotify.max_user_instances, or the limit of open files (ulimit -n).");
  }
  stop_ = eventfd(0, EFD_CLOEXEC);
  if (stop_ < 0) return DiskError(errno, "make an eventfd for", root_);
  SLUICE_RETURN_NOT_OK(AddTree(root_, false));
  // Only the folders were wanted: files are found by the listing that follows.
  return {};
}

Status InotifyWatch::AddOne(const std::string& path) {
  SLUICE_RETURN_NOT_OK(CheckKind(path));
  const int descriptor = inotify_add_watch(inotify_, path.c_str(), kEvents);
  if (descriptor >= 0) {
    folders_[descriptor] = path;
    if (path == root_) root_descriptor_ = descriptor;
    return {};
  }
  if (errno == ENOSPC) {
    return Status::Unavailable(
        "All " + std::to_string(folders_.size()) +
        " folders watched so far are as many as the system allows this user: "
        "raise fs.inotify.max_user_watches.");
  }
  return DiskError(errno, "watch", path);
}

Status InotifyWatch::AddTree(const std::string& path, bool tell_files) {
  std::vector<std::string> waiting = {path};
  while (!waiting.empty()) {
    const std::string current = std::move(waiting.back());
    waiting.pop_back();
    const Status added = AddOne(current);
    // Gone meanwhile; the root must be there.
    if (current != root_ && added.code() == StatusCode::kNotFound) continue;
    SLUICE_RETURN_NOT_OK(added);
    DIR* const stream = opendir(current.c_str());
    if (stream == nullptr) {
      if (current != root_ && errno == ENOENT) continue;
      return DiskError(errno, "list", current);
    }
    while (const dirent* const entry = readdir(stream)) {
      if (IsHiddenName(entry->d_name)) continue;
      std::string below = JoinPath(current, entry->d_name);
      bool is_directory = entry->d_type == DT_DIR;
      if (entry->d_type == DT_UNKNOWN || entry->d_type == DT_LNK) {
        struct stat status;
        if (stat(below.c_str(), &status) < 0 || IsFolderAbove(status, current)) continue;
        is_directory = S_ISDIR(status.st_mode);
      }
      if (is_directory) {
        waiting.push_back(std::move(below));
      } else if (tell_files) {
        Tell(below);
      }
    }
    closedir(stream);
  }
  return {};
}

void InotifyWatch::RemoveTree(const std::string& path) {
  const std::string below = path + "/";
  for (auto it = folders_.begin(); it != folders_.end();) {
    if (it->second != path && !it->second.starts_with(below)) {
      ++it;
      continue;
    }
    (void)inotify_rm_watch(inotify_, it->first);
    it = folders_.erase(it);
  }
  const std::lock_guard lock(mutex_);
  std::erase_if(being_written_, [&](const std::string& file) { return file.starts_with(below); });
}

void InotifyWatch::Run() {
  std::array<pollfd, 2> waits = {pollfd{inotify_, POLLIN, 0}, pollfd{stop_, POLLIN, 0}};
  while (true) {
    if (poll(waits.data(), waits.size(), -1) < 0 && errno != EINTR) return;
    if (waits[1].revents != 0) return;
    ReadEvents();
    {
      const std::lock_guard lock(mutex_);
      if (!trouble_.ok()) return;
    }
  }
}

void InotifyWatch::ReadEvents() {
  alignas(::inotify_event) std::array<char, 64 << 10> buffer;
  while (true) {
    const ssize_t count = read(inotify_, buffer.data(), buffer.size());
    if (count <= 0) return;
    for (ssize_t at = 0; at < count;) {
      const auto* const event = reinterpret_cast<const ::inotify_event*>(buffer.data() + at);
      OnEvent(*event);
      at += static_cast<ssize_t>(sizeof(::inotify_event)) + event->len;
    }
  }
}

void InotifyWatch::OnEvent(const ::inotify_event& event) {
  if ((event.mask & IN_Q_OVERFLOW) != 0) {
    Fail(Status::Unavailable(
        "More happened below " + root_ +
        " than the system kept for this program (fs.inotify.max_queued_events)."));
    return;
  }
  const auto folder = folders_.find(event.wd);
  if (folder == folders_.end()) return;  // Of a folder that was moved away.
  const bool is_root = event.wd == root_descriptor_;
  if ((event.mask & IN_UNMOUNT) != 0 ||
      (is_root && (event.mask & (IN_DELETE_SELF | IN_MOVE_SELF)) != 0)) {
    Fail(Status::Unavailable(folder->second + " was removed, moved or unmounted."));
    return;
  }
  if ((event.mask & IN_IGNORED) != 0) {
    folders_.erase(folder);
    return;
  }
  if (event.len == 0 || IsHiddenName(event.name)) return;
  const std::string path = JoinPath(folder->second, event.name);
  if ((event.mask & IN_ISDIR) != 0) {
    OnDirectory(path, event.mask);
  } else {
    OnFile(path, event.mask);
  }
}

void InotifyWatch::OnDirectory(const std::string& path, uint32_t mask) {
  if ((mask & IN_MOVED_FROM) != 0) RemoveTree(path);
  if ((mask & (IN_CREATE | IN_MOVED_TO)) == 0) return;
  Status added = AddTree(path, true);
  if (!added.ok() && added.code() != StatusCode::kNotFound) Fail(std::move(added));
}

void InotifyWatch::OnFile(const std::string& path, uint32_t mask) {
  if ((mask & (IN_DELETE | IN_MOVED_FROM)) != 0) {
    const std::lock_guard lock(mutex_);
    being_written_.erase(path);
    told_.erase(path);
    return;
  }
  if ((mask & (IN_CLOSE_WRITE | IN_MOVED_TO)) != 0) {
    {
      const std::lock_guard lock(mutex_);
      being_written_.erase(path);
    }
    Tell(path);
    return;
  }
  if ((mask & IN_CREATE) == 0) return;
  struct stat status;
  if (lstat(path.c_str(), &status) < 0) return;
  if (S_ISLNK(status.st_mode)) {
    struct stat target;
    if (stat(path.c_str(), &target) == 0 && S_ISDIR(target.st_mode)) {
      if (!IsFolderAbove(target, ParentPath(path))) OnDirectory(path, IN_CREATE);
      return;
    }
  }
  // A link has no writer that will close it.
  if (S_ISLNK(status.st_mode) || status.st_nlink > 1) {
    Tell(path);
    return;
  }
  const std::lock_guard lock(mutex_);
  if (being_written_.size() < kBeingWrittenLimit) being_written_.insert(path);
}

void InotifyWatch::Tell(const std::string& path) {
  bool first = false;
  bool full = false;
  {
    const std::lock_guard lock(mutex_);
    first = told_.empty();
    full = told_.size() >= kToldLimit;
    if (!full) told_.insert(path);
  }
  if (full) {
    Fail(Status::Unavailable("More than " + std::to_string(kToldLimit) + " files below " + root_ +
                             " wait to be looked at."));
  } else if (first) {
    wake_();
  }
}

void InotifyWatch::Fail(Status trouble) {
  {
    const std::lock_guard lock(mutex_);
    if (!trouble_.ok()) return;
    trouble_ = std::move(trouble);
  }
  wake_();
}

TreeWatch::News InotifyWatch::Take() {
  const std::lock_guard lock(mutex_);
  News news;
  news.paths.assign(told_.begin(), told_.end());
  told_.clear();
  news.trouble = trouble_;
  return news;
}

bool InotifyWatch::BeingWritten(const std::string& path) const {
  const std::lock_guard lock(mutex_);
  return being_written_.contains(path);
}

}  // namespace sluice::fs
