// File systems as sources and sinks see them. Paths are absolute within the file system,
// '/'-separated and opaque: nothing is decoded in them. Local ones are "/a/b"; those of object
// stores keep their scheme and bucket ("s3://bucket/a/b"), so that every message names them in
// full.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/io/interfaces.h>

#include "common/result.h"

namespace sluice::fs {

/// What is behind the last '/' of a path: all of it where there is none.
constexpr std::string_view NameOf(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

struct FileInfo {
  std::string path;
  bool is_directory = false;
  int64_t size_bytes = 0;
  int64_t modified_ms = 0;  // Wall clock, ms since the epoch.
  std::string_view name() const { return NameOf(path); }
};

/// Many files that become durable together. Thread-safe.
class SyncBatch {
 public:
  virtual ~SyncBatch() = default;
  /// Makes durable what was closed in this batch; until it succeeds the handles are worth nothing.
  /// Blocking.
  virtual Status Sync() = 0;
};

/// A part file on its way: invisible to every reader until its handle is published (design.md §5).
/// Not thread-safe.
class PartFileWriter {
 public:
  virtual ~PartFileWriter() = default;  // A writer that was neither closed nor persisted leaves a
                                        // hidden file for the sweep.
  virtual Status Append(std::string_view bytes) = 0;
  virtual int64_t size_bytes() const = 0;
  /// Of these, bytes that this writer still keeps in memory and that closing gives back.
  virtual int64_t buffered_bytes() const { return 0; }
  /// Makes everything appended durable; the file stays open. Returns the handle from which Resume
  /// continues at this length. Blocking (fsync): call it on the I/O pool.
  virtual Result<std::string> Persist() = 0;
  /// Like Persist, durable only with `batch` where the file system can do that for many files at
  /// once. The batch was begun before this process first wrote to the file, or a failure of the
  /// disk may have been reported to somebody else.
  virtual Result<std::string> PersistInBatch(SyncBatch& batch) {
    (void)batch;
    return Persist();
  }
  /// Makes everything durable and closes. Returns the handle to publish. Blocking.
  virtual Result<std::string> Close() = 0;
  /// Like Close, durable only with `batch` where the file system can do that for many files at
  /// once.
  virtual Result<std::string> CloseInBatch(SyncBatch& batch) {
    (void)batch;
    return Close();
  }
  /// Closes and removes the hidden file.
  virtual Status Discard() = 0;
};

/// Writes hidden, publishes atomically, resumes after a crash. Thread-safe. Handles are opaque,
/// versioned bytes for checkpoint state.
class Publisher {
 public:
  virtual ~Publisher() = default;
  /// Starts a file that will be published as `final_path`; `attempt` makes the hidden name unique:
  /// ".<name>.inprogress.<attempt>" beside the final place. Creates missing directories. Fails with
  /// kAlreadyExists if either is there.
  virtual Result<std::unique_ptr<PartFileWriter>> Open(const std::string& final_path,
                                                       const std::string& attempt) = 0;
  /// Cuts back to the recorded length and continues. Shorter or missing: kCorrupt naming both
  /// lengths.
  virtual Result<std::unique_ptr<PartFileWriter>> Resume(const std::string& handle) = 0;
  /// Publishes each handle and makes it durable; result i belongs to handle i, one failure never
  /// stops the rest. Idempotent: hidden file there: longer is cut, shorter is kCorrupt, then
  /// renamed (an existing final name is kAlreadyExists); hidden file gone: final there with that
  /// length is OK, anything else kCorrupt "data is missing".
  virtual std::vector<Status> Publish(const std::vector<std::string>& handles) = 0;
  /// Whether about `file_count` files are worth a batch.
  virtual bool SyncsTogether(int64_t file_count) const {
    (void)file_count;
    return false;
  }
  /// Begins a batch of about `file_count` files below `directory`, to be called before they are
  /// opened. nullptr: files are made durable one by one, as they are so few, or as there is no
  /// other way.
  virtual std::unique_ptr<SyncBatch> BeginBatch(const std::string& directory, int64_t file_count) {
    (void)directory;
    (void)file_count;
    return nullptr;
  }
  /// Removes the hidden file of a resume or pending handle; a missing one is OK.
  virtual Status Abandon(const std::string& handle) = 0;

  struct HandleInfo {
    std::string final_path;
    /// Where the bytes are until then: a hidden file, or "<final path>?uploadId=<id>" for an upload
    /// to an object store. Empty where nothing is stored yet.
    std::string hidden_path;
    int64_t length_bytes = 0;
    int64_t begun_ms = 0;  // Of what ListUnfinished finds; 0: not known.
  };
  virtual Result<HandleInfo> Describe(const std::string& handle) const = 0;

  /// Files on their way below `directory` that List does not show: uploads to an object store.
  /// Their length is not known. Blocking.
  virtual Result<std::vector<HandleInfo>> ListUnfinished(const std::string& directory) {
    (void)directory;
    return std::vector<HandleInfo>();
  }
  /// Bytes that the store keeps for one of them; kNotFound when it is gone. Blocking.
  virtual Result<int64_t> UnfinishedBytes(const HandleInfo& unfinished) {
    return unfinished.length_bytes;
  }
  /// Removes one of them; a missing one is OK. Blocking.
  virtual Status DropUnfinished(const HandleInfo& unfinished) {
    (void)unfinished;
    return {};
  }

  /// False while so much is on its way to the store that writers should wait before they append
  /// more: what bounds memory when the store is slower than the job.
  /// `at_most_bytes` bounds it further, for a job with little memory.
  virtual bool HasRoom(int64_t at_most_bytes) const {
    (void)at_most_bytes;
    return true;
  }
  /// Returns when there is room again. Blocking.
  virtual void WaitForRoom(int64_t at_most_bytes) { (void)at_most_bytes; }
  /// Bytes in memory on their way to the store, which no writer counts any more.
  virtual int64_t bytes_under_way() const { return 0; }
};

/// Tells which files come into being below a directory, so that it need not be listed again and
/// again. Thread-safe; none of the calls blocks for long.
class TreeWatch {
 public:
  virtual ~TreeWatch() = default;
  struct News {
    /// Files that have been completed: closed by their writer, or renamed or linked into place.
    /// Each once, in no order; they may be gone again.
    std::vector<std::string> paths;
    /// Not OK: something was missed, or will be. Drop this watch, make a new one and list.
    Status trouble;
  };
  /// What has happened since the last call.
  virtual News Take() = 0;
  /// True while the writer that has created `path` has it open. Files that were there before the
  /// watch are not known.
  virtual bool BeingWritten(const std::string& path) const = 0;
};

/// Thread-safe. Blocking calls: operators go through the I/O pool.
class FileSystem {
 public:
  virtual ~FileSystem() = default;
  virtual std::string_view scheme() const = 0;
  /// False for object stores: a directory is there as long as an object is below it, renaming is
  /// copying, and what is being written is seen by nobody and has no hidden name.
  virtual bool has_directories() const { return true; }
  /// Fails when nothing could be written below `directory` (no such bucket, wrong credentials);
  /// asked when a job starts, so that it does not first read its whole input. Blocking.
  virtual Status CheckAccess(const std::string& directory) {
    (void)directory;
    return {};
  }

  /// kNotFound when nothing is there.
  virtual Result<FileInfo> Stat(const std::string& path) = 0;
  /// Entries of one directory, sorted by name, "." and ".." left out, hidden ones included.
  /// kNotFound when it is not there.
  virtual Result<std::vector<FileInfo>> List(const std::string& directory) = 0;
  /// The same with `size_bytes` and `modified_ms` left at 0 where the file system tells names and
  /// kinds for less than the whole.
  virtual Result<std::vector<FileInfo>> ListNames(const std::string& directory) {
    return List(directory);
  }
  /// All files below a directory, at every level, sorted by path; no directories. kNotFound when it
  /// is not there. What vanishes meanwhile is left out.
  virtual Result<std::vector<FileInfo>> ListTree(const std::string& directory);
  /// The files of ListTree whose path is above `after`, in the order of bytes: what has been added
  /// behind the end of a directory that grows in order. kNotFound when there is none.
  virtual Result<std::vector<FileInfo>> ListTreeAfter(const std::string& directory,
                                                      const std::string& after);
  /// Watches `directory` and everything visible below it; `wake` is called on another thread when
  /// Take has something to give after it had nothing. kUnsupported where the system does not tell:
  /// network disks, object stores; other failures (limits of the system) say what to raise.
  virtual Result<std::unique_ptr<TreeWatch>> WatchTree(const std::string& directory,
                                                       std::function<void()> wake) {
    (void)wake;
    return Status::Unsupported("Nothing tells what is new in " + directory + ".");
  }
  virtual Result<std::shared_ptr<arrow::io::RandomAccessFile>> OpenRead(
      const std::string& path) = 0;
  /// The same for a file that List or Stat has found: saves asking for its size again.
  virtual Result<std::shared_ptr<arrow::io::RandomAccessFile>> OpenFound(const FileInfo& file) {
    return OpenRead(file.path);
  }
  /// The first `file.size_bytes` bytes of a small file that List or Stat has found, or what is left
  /// of them.
  virtual Result<std::string> ReadWhole(const FileInfo& file);
  /// All bytes of a small file.
  Result<std::string> ReadAll(const std::string& path);
  /// Creates a file with these bytes, durably, replacing an old one atomically (marker files).
  virtual Status WriteWhole(const std::string& path, std::string_view bytes) = 0;
  virtual Status CreateDirectories(const std::string& path) = 0;
  /// A missing file is OK.
  virtual Status DeleteFile(const std::string& path) = 0;
  virtual Status DeleteFiles(const std::vector<std::string>& paths) {
    for (const std::string& path : paths) SLUICE_RETURN_NOT_OK(DeleteFile(path));
    return {};
  }
  /// Removes a directory and everything below; missing is OK. Never follows symbolic links.
  virtual Status DeleteTree(const std::string& path) = 0;
  /// Atomic within the file system, durable; fails with kAlreadyExists when `to` is there.
  virtual Status Rename(const std::string& from, const std::string& to) = 0;
  struct Move {
    std::string from;
    std::string to;
  };
  /// Renames many files; answer i belongs to move i, one failure never stops the rest. Makes
  /// missing directories. Durable when it returns.
  virtual std::vector<Status> RenameMany(const std::vector<Move>& moves);
  /// Swaps two existing directories in one step (local: renameat2 RENAME_EXCHANGE). kUnsupported
  /// where that is not possible.
  virtual Status ExchangeDirectories(const std::string& a, const std::string& b) = 0;
  virtual Publisher& publisher() = 0;
  /// Requests that were sent again because the store did not answer or refused for the moment.
  virtual int64_t retries() const { return 0; }
};

/// Finds the file system of a URI. Thread-safe; a simulation hands over its own.
class FileSystems {
 public:
  virtual ~FileSystems() = default;
  struct Located {
    std::shared_ptr<FileSystem> file_system;
    std::string path;  // Absolute; a relative path is resolved against the working directory.
  };
  /// "file:///a/b", "/a/b", "a/b". An unknown scheme fails with kInvalidArgument and lists the
  /// known ones.
  virtual Result<Located> Locate(std::string_view uri) = 0;

  /// The real ones without any configuration; lives for ever. See all_file_systems.h.
  static FileSystems& Default();
};

/// The parts of "scheme://authority/path"; text without "scheme://" or "file:/" is a path,
/// whatever colons it has. The scheme is in lower case.
struct UriParts {
  std::string scheme;
  std::string authority;
  std::string_view path;  // Of the text given.
};
UriParts SplitUri(std::string_view uri);
/// Resolves "", "." and ".." components by text alone, as Flink's Path does. "/" when none is left.
std::string NormalizeAbsolute(std::string_view path);
/// A path without scheme and authority: what 'source.path.regex-pattern' and file.path see.
std::string_view PathOfUri(std::string_view uri);

/// "dir/name" with exactly one separator.
std::string JoinPath(std::string_view directory, std::string_view name);
/// Everything before the last '/'.
std::string ParentPath(std::string_view path);
/// True when the last component begins with '.' or '_'.
bool IsHiddenName(std::string_view name);
/// True when any component does: nothing below a hidden directory is visible.
bool HasHiddenName(std::string_view path);

}  // namespace sluice::fs
