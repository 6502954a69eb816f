#include "fs/local/disk.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <pwd.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <set>

#include <arrow/io/file.h>

#include "common/log.h"
#include "common/run_at_once.h"
#include "common/text.h"
#include "fs/local/write_back.h"

namespace sluice::fs {

namespace {

int OrErrno(int result) { return result < 0 ? -errno : result; }

// glibc has a wrapper since 2.28, other C libraries do not.
int RenameWithFlags(const std::string& from, const std::string& to, unsigned flags) {
  return OrErrno(static_cast<int>(
      syscall(SYS_renameat2, AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), flags)));
}

void FillInfo(const struct stat& status, FileInfo* info) {
  info->is_directory = S_ISDIR(status.st_mode);
  info->size_bytes = S_ISREG(status.st_mode) ? status.st_size : 0;
  info->modified_ms =
      static_cast<int64_t>(status.st_mtim.tv_sec) * 1000 + status.st_mtim.tv_nsec / 1'000'000;
}

constexpr size_t kSyncThreads = 16;

// Links that lead nowhere are named once each, and not more of them than anybody would read.
constexpr size_t kMostLinksTold = 20;

class PosixDisk final : public Disk {
 public:
  int OpenNew(const std::string& path) override {
    return OrErrno(open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666));
  }

  int OpenExisting(const std::string& path) override {
    return OrErrno(open(path.c_str(), O_WRONLY | O_NOFOLLOW | O_CLOEXEC));
  }

  int64_t WriteAt(int descriptor, int64_t offset, std::string_view bytes) override {
    while (true) {
      const ssize_t written = pwrite(descriptor, bytes.data(), bytes.size(), offset);
      if (written >= 0) return written;
      if (errno != EINTR) return -errno;
    }
  }

  void BeginWriteBack(int descriptor, int64_t offset, int64_t length_bytes) override {
    write_back_.Begin(descriptor, offset, length_bytes);
  }

  int64_t Size(int descriptor) override {
    struct stat status;
    return fstat(descriptor, &status) < 0 ? -static_cast<int64_t>(errno) : status.st_size;
  }

  int Truncate(int descriptor, int64_t length_bytes) override {
    return OrErrno(ftruncate(descriptor, length_bytes));
  }

  int SyncData(int descriptor) override { return OrErrno(fdatasync(descriptor)); }
  int Close(int descriptor) override { return OrErrno(close(descriptor)); }

  int Stat(const std::string& path, FileInfo* info) override {
    struct stat status;
    if (stat(path.c_str(), &status) < 0) return -errno;
    info->path = path;
    FillInfo(status, info);
    return 0;
  }

  int List(const std::string& directory, std::vector<FileInfo>* entries) override {
    return ListEntries(directory, true, entries);
  }

  int ListNames(const std::string& directory, std::vector<FileInfo>* entries) override {
    return ListEntries(directory, false, entries);
  }

  int ListEntries(const std::string& directory, bool with_status, std::vector<FileInfo>* entries) {
    const int descriptor = open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) return -errno;
    DIR* const stream = fdopendir(descriptor);
    if (stream == nullptr) {
      const int error = errno;
      close(descriptor);
      return -error;
    }
    int result = 0;
    while (true) {
      errno = 0;
      const dirent* const entry = readdir(stream);
      if (entry == nullptr) {
        result = -errno;
        break;
      }
      const std::string_view name = entry->d_name;
      if (name == "." || name == "..") continue;
      FileInfo info;
      info.path = JoinPath(directory, name);
      if (!with_status && (entry->d_type == DT_DIR || entry->d_type == DT_REG)) {
        info.is_directory = entry->d_type == DT_DIR;
      } else {
        struct stat status;
        if (fstatat(descriptor, entry->d_name, &status, 0) < 0) {
          const int error = errno;
          // A name that is read must not go missing because the system would not say what it is.
          if (!IsPassedBy(*entry, error)) {
            result = -error;
            break;
          }
          if (entry->d_type == DT_LNK) {
            TellOfLink(info.path, error == ELOOP ? "it goes round in a circle"
                                                 : "what it points at is not there");
          }
          continue;
        }
        if (entry->d_type != DT_DIR && IsFolderAbove(status, directory)) {
          TellOfLink(info.path, "it leads back to a folder that it is in");
          continue;
        }
        FillInfo(status, &info);
      }
      entries->push_back(std::move(info));
    }
    closedir(stream);
    return result;
  }

  // Gone meanwhile, a link to nothing, or a name that readers do not look at.
  static bool IsPassedBy(const dirent& entry, int error) {
    return error == ENOENT || error == ELOOP || IsHiddenName(entry.d_name);
  }

  void TellOfLink(const std::string& path, std::string_view why) {
    if (IsHiddenName(path)) return;
    {
      const std::lock_guard lock(told_mutex_);
      if (told_links_.size() >= kMostLinksTold || !told_links_.insert(path).second) return;
    }
    Log(LogLevel::kWarning, "The symbolic link " + Printable(path, PATH_MAX) +
                                " is not followed: " + std::string(why) + ".");
  }

  int MakeDirectory(const std::string& path) override { return OrErrno(mkdir(path.c_str(), 0777)); }

  int CheckWritable(const std::string& directory) override {
    struct stat status {};
    if (stat(directory.c_str(), &status) != 0) return -errno;
    if (!S_ISDIR(status.st_mode)) return -ENOTDIR;
    return OrErrno(faccessat(AT_FDCWD, directory.c_str(), W_OK | X_OK, AT_EACCESS));
  }

  int SyncDirectory(const std::string& path) override {
    const int descriptor = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) return -errno;
    int result = OrErrno(fsync(descriptor));
    if (result == -EINVAL || result == -EROFS) result = 0;  // The file system has no such notion.
    close(descriptor);
    return result;
  }

  // One after another each sync waits for a commit of the journal of its own; at once they wait for
  // the same one. Measured on ext4: two files and two directories 27 ms after each other, 12 at
  // once, one file alone 12. Blocks are given to the files first, or that would be a later commit.
  int SyncTogether(const std::vector<int>& descriptors, const std::vector<std::string>& directories,
                   size_t* failed) override {
    std::vector<int> results(descriptors.size() + directories.size());
    if (results.size() > 1) {
      for (const int descriptor : descriptors) {
        (void)sync_file_range(descriptor, 0, 0, SYNC_FILE_RANGE_WRITE);
      }
    }
    RunAtOnce(results.size(), kSyncThreads, [&](size_t i) {
      results[i] = i < descriptors.size() ? SyncData(descriptors[i])
                                          : SyncDirectory(directories[i - descriptors.size()]);
    });
    for (size_t i = 0; i < results.size(); ++i) {
      if (results[i] >= 0) continue;
      *failed = i;
      return results[i];
    }
    return 0;
  }

  int OpenFileSystem(const std::string& directory) override {
    return OrErrno(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  }
  int SyncFileSystem(int descriptor) override { return OrErrno(syncfs(descriptor)); }
  int64_t FileSystemOf(const std::string& path) override {
    struct stat status;
    if (stat(path.c_str(), &status) < 0) return -errno;
    return static_cast<int64_t>(status.st_dev);
  }

  int Unlink(const std::string& path) override { return OrErrno(unlink(path.c_str())); }

  int RemoveTree(const std::string& path) override {
    std::error_code error;
    std::filesystem::remove_all(path,
                                error);  // Removes links themselves, never what they point at.
    return error ? -error.value() : 0;
  }

  int RenameNoReplace(const std::string& from, const std::string& to) override {
    const int result = RenameWithFlags(from, to, RENAME_NOREPLACE);
    if (result != -EINVAL && result != -ENOSYS) return result;
    // Old kernels and some network file systems: a hard link refuses an existing name just as well.
    struct stat status;
    if (stat(from.c_str(), &status) == 0 && !S_ISDIR(status.st_mode)) {
      if (link(from.c_str(), to.c_str()) == 0) return Unlink(from);
      if (errno != EPERM && errno != EOPNOTSUPP && errno != ENOSYS) return -errno;
    }
    // Neither: names are unique to a writer, so that looking first is as good as it gets.
    if (lstat(to.c_str(), &status) == 0) return -EEXIST;
    return OrErrno(rename(from.c_str(), to.c_str()));
  }

  int RenameReplacing(const std::string& from, const std::string& to) override {
    return OrErrno(rename(from.c_str(), to.c_str()));
  }

  int Link(const std::string& from, const std::string& to) override {
    return OrErrno(link(from.c_str(), to.c_str()));
  }

  int Exchange(const std::string& a, const std::string& b) override {
    return RenameWithFlags(a, b, RENAME_EXCHANGE);
  }

  int OpenRead(const std::string& path,
               std::shared_ptr<arrow::io::RandomAccessFile>* file) override {
    // O_NONBLOCK: a named pipe must not hang the open; it has no effect on regular files.
    const int descriptor = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0) return -errno;
    struct stat status;
    int error = fstat(descriptor, &status) < 0 ? errno : 0;
    if (error == 0 && S_ISDIR(status.st_mode)) error = EISDIR;
    if (error == 0 && !S_ISREG(status.st_mode)) error = ESPIPE;
    if (error != 0) {
      close(descriptor);
      return -error;
    }
    (void)posix_fadvise(descriptor, 0, 0, POSIX_FADV_SEQUENTIAL);
    auto opened = arrow::io::ReadableFile::Open(descriptor);  // Owns the descriptor from here on.
    if (!opened.ok()) {
      close(descriptor);
      return -EIO;
    }
    *file = std::move(opened).ValueUnsafe();
    return 0;
  }

  // Three calls of the system; a stream of Arrow's takes seven.
  int ReadWhole(const std::string& path, std::string* bytes) override {
    const int descriptor = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0) return -errno;
    size_t filled = 0;
    int error = 0;
    while (filled < bytes->size()) {
      const ssize_t count = read(descriptor, bytes->data() + filled, bytes->size() - filled);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) error = errno;
      if (count <= 0) break;
      filled += static_cast<size_t>(count);
    }
    close(descriptor);
    bytes->resize(filled);
    return -error;
  }

  bool is_real() const override { return true; }

  int open_file_limit() const override {
    // Half of what the process may open, the rest is for readers, state, sockets and libraries.
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return 4096;
    return static_cast<int>(
        std::clamp<int64_t>(static_cast<int64_t>(limit.rlim_cur) / 2 - 16, 16, 4096));
  }

 private:
  WriteBack write_back_;
  std::mutex told_mutex_;
  std::set<std::string> told_links_;
};

std::string UserName() {
  std::array<char, 4096> buffer;
  passwd entry;
  passwd* found = nullptr;
  const uid_t user = geteuid();
  if (getpwuid_r(user, &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr)
    return found->pw_name;
  return std::to_string(user);
}

std::string Advice(int error) {
  switch (error) {
    case ENOSPC:
      return "The disk is full: free space there, or write to another one.";
    case EDQUOT:
      return "The quota of this user is used up: free space there, or have it raised.";
    case EACCES:
    case EPERM:
      return "Give the user who runs this program the right to it (and search permission on the "
             "folders above): it is '" +
             UserName() + "'.";
    case EROFS:
      return "The file system is mounted read-only: mount it writable, or write to another one.";
    case EMFILE:
      return "This process has too many files open: raise its limit (ulimit -n).";
    case ENFILE:
      return "The machine has too many files open: raise fs.file-max.";
    case ENAMETOOLONG:
      return "A name may have 255 bytes and a path 4,096: shorten the partition value or the path.";
    case EFBIG:
      return "Files may not grow further here: raise the limit (ulimit -f), or end them earlier "
             "('sink.rolling-policy.file-size').";
    case ELOOP:
      return "A symbolic link on this path goes round in a circle: remove it.";
    case EILSEQ:
      return "The file system does not take these bytes in a name.";
    case ENOTDIR:
      return "A part of this path is a file, where a folder is needed.";
    case EISDIR:
      return "It is a folder, where a file is needed.";
    case ESPIPE:
      return "It is no regular file (a pipe, socket or device).";
    case ESTALE:
      return "The network file system has lost it: mount it again.";
    case EIO:
      return "The disk reported a fault: look at the kernel's log.";
    default:
      return "";
  }
}

}  // namespace

bool IsFolderAbove(const struct stat& folder, const std::string& path) {
  if (!S_ISDIR(folder.st_mode)) return false;
  for (std::string above = path;; above = ParentPath(above)) {
    struct stat status;
    if (stat(above.empty() ? "/" : above.c_str(), &status) == 0 && status.st_dev == folder.st_dev &&
        status.st_ino == folder.st_ino) {
      return true;
    }
    if (above.empty() || above == "/") return false;
  }
}

int Disk::SyncTogether(const std::vector<int>& descriptors,
                       const std::vector<std::string>& directories, size_t* failed) {
  *failed = 0;
  for (const int descriptor : descriptors) {
    if (const int result = SyncData(descriptor); result < 0) return result;
    ++*failed;
  }
  for (const std::string& directory : directories) {
    if (const int result = SyncDirectory(directory); result < 0) return result;
    ++*failed;
  }
  return 0;
}

Disk& RealDisk() {
  static auto* const disk = new PosixDisk;
  return *disk;
}

Status DiskError(int error, std::string_view what, std::string_view path) {
  std::string text = "Cannot ";
  text.append(what).append(" ").append(path).append(": ").append(
      error == ESPIPE ? "Not a regular file" : std::strerror(error));
  const std::string advice = Advice(error);
  if (!advice.empty()) text.append(". ").append(advice);
  const Status plain = Status::FromErrno(error, "");  // For the code and whether a retry can help.
  return Status(plain.code(), std::move(text)).Retriable(plain.retriable());
}

}  // namespace sluice::fs
