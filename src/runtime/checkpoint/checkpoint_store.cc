#include "runtime/checkpoint/checkpoint_store.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <mutex>
#include <set>

#include "common/crash_point.h"
#include "common/log.h"
#include "common/text.h"
#include "runtime/checkpoint/attempt_claim.h"
#include "runtime/checkpoint/checkpoint_file.h"
#include "types/arrow_status.h"

namespace sluice::runtime {
namespace {

constexpr std::string_view kPrefix = "chk-";
constexpr std::string_view kMetadata = "_metadata";
constexpr std::string_view kState = "state";
constexpr std::string_view kJobFile = "job";
/// All that the checkpoint names is published and committed.
constexpr std::string_view kPublished = "_published";
const std::string kRoot = "/";
/// Of what nobody comes back to later, where a disk fails now and then.
constexpr int kLastTries = 10;

Result<std::string> ReadWholeFile(const std::string& path, fs::Disk* disk) {
  std::shared_ptr<arrow::io::RandomAccessFile> file;
  if (const int result = disk->OpenRead(path, &file); result < 0) {
    return fs::DiskError(-result, "read", path);
  }
  SLUICE_ASSIGN_ARROW(const int64_t size, file->GetSize());
  std::string bytes(static_cast<size_t>(size), '\0');
  SLUICE_ASSIGN_ARROW(const int64_t got, file->ReadAt(0, size, bytes.data()));
  if (got != size) return Status::IoError("Cannot read " + path + ": it became shorter.");
  return bytes;
}

class DiskCheckpointStore final : public CheckpointStore {
 public:
  DiskCheckpointStore(std::string directory, fs::Disk* disk, bool guarded)
      : directory_(std::move(directory)), disk_(*disk), guarded_(guarded) {}
  ~DiskCheckpointStore() override {
    if (claim_)
      (void)disk_.RemoveTree(claim_->folder());  // In good order: nobody need wait for us.
  }

  const Fence* fence() const override { return guarded_ ? &fence_ : nullptr; }

  Result<JobId> ClaimJobId(const std::string& fresh) override {
    const std::lock_guard lock(mutex_);
    const bool claimed_before = claim_ != nullptr;
    SLUICE_RETURN_NOT_OK(Claim());
    const std::string path = Join(directory_, kJobFile);
    fs::FileInfo info;
    const int found = disk_.Stat(path, &info);
    if (found < 0 && found != -ENOENT && found != -ENOTDIR) {
      return fs::DiskError(-found, "look at", path);
    }
    if (found >= 0) {
      SLUICE_ASSIGN_OR_RETURN(std::string id, ReadWholeFile(path, &disk_));
      // Written before the rename: an empty one was never ours.
      if (!id.empty()) {
        // The rename may be one that was reported as failed, or not synced. If a power loss undid
        // it, nobody would know the files of this job any more.
        if (claimed_before) {
          SLUICE_RETURN_NOT_OK(Check(disk_.SyncDirectory(directory_), "sync", directory_));
        }
        return JobId{std::move(id), true};
      }
    }
    SLUICE_RETURN_NOT_OK(MakeDirectoryOnce());
    const std::string hidden = Join(directory_, ".job.inprogress");
    const int unlinked = disk_.Unlink(hidden);
    if (unlinked < 0 && unlinked != -ENOENT) return fs::DiskError(-unlinked, "remove", hidden);
    SLUICE_RETURN_NOT_OK(WriteFile(hidden, fresh));
    SLUICE_RETURN_NOT_OK(Check(disk_.RenameReplacing(hidden, path), "rename", hidden));
    SLUICE_RETURN_NOT_OK(Check(disk_.SyncDirectory(directory_), "sync", directory_));
    return JobId{fresh, false};
  }

  Result<Loaded> LoadNewest() override {
    const std::lock_guard lock(mutex_);
    SLUICE_RETURN_NOT_OK(StillOurs());
    Loaded loaded;
    SLUICE_ASSIGN_OR_RETURN(const std::vector<Folder> folders, List());
    for (const Folder& folder : folders) loaded.highest_id = std::max(loaded.highest_id, folder.id);
    for (auto it = folders.rbegin(); it != folders.rend(); ++it) {
      if (!it->complete) {
        SLUICE_RETURN_NOT_OK(RemoveTree(it->path));
      } else if (!loaded.data) {
        // A rename that was seen but not synced could be undone by a power loss after its files
        // were published.
        if (it->path != synced_by_claim_) {
          SLUICE_RETURN_NOT_OK(Check(disk_.SyncDirectory(it->path), "sync", it->path));
          SLUICE_RETURN_NOT_OK(Check(disk_.SyncDirectory(directory_), "sync", directory_));
        }
        SLUICE_ASSIGN_OR_RETURN(CheckpointData data, ReadCheckpointFolder(it->path, &disk_));
        loaded.data = std::make_shared<const CheckpointData>(std::move(data));
        loaded.path = it->path;
        SLUICE_RETURN_NOT_OK(RememberBlobs(it->path));
      }
    }
    synced_by_claim_.clear();
    return loaded;
  }

  Status Write(std::shared_ptr<const CheckpointData> data) override {
    SLUICE_ASSIGN_OR_RETURN(const CheckpointFiles files, EncodeCheckpoint(*data));
    const std::lock_guard lock(mutex_);
    SLUICE_RETURN_NOT_OK(MakeDirectoryOnce());
    SLUICE_RETURN_NOT_OK(Claim());
    const std::string name = std::string(kPrefix) + std::to_string(data->id);
    const Status written = WriteFolder(Join(claim_->folder(), name), PathOf(data->id), files);
    if (written.ok()) return written;
    // Whatever failed: that the job is somebody else's now is what the user must know. A disk that
    // fails to tell says nothing, least of all that the checkpoint was written.
    const Status ours = StillOurs();
    return ours.code() == StatusCode::kAlreadyExists ? ours : written;
  }

  /// A savepoint: nobody else writes below `directory_` under that name.
  Status WriteSavepoint(const std::string& name, const CheckpointData& data) {
    SLUICE_ASSIGN_OR_RETURN(const CheckpointFiles files, EncodeCheckpoint(data));
    const std::lock_guard lock(mutex_);
    SLUICE_RETURN_NOT_OK(MakeDirectoryOnce());
    return WriteFolder(Join(directory_, "." + name + ".inprogress"), Join(directory_, name), files);
  }

  Status MarkPublished(CheckpointId id, const std::string& copy) override {
    const std::lock_guard lock(mutex_);
    SLUICE_RETURN_NOT_OK(StillOurs());
    for (const std::string& folder : {PathOf(id), copy}) {
      if (folder.empty()) continue;
      const Status marked = WriteFile(Join(folder, kPublished), "");
      if (!marked.ok() && marked.code() != StatusCode::kAlreadyExists) return marked;
      SLUICE_RETURN_NOT_OK(Check(disk_.SyncDirectory(folder), "sync", folder));
    }
    return {};
  }

  Status Retain(int64_t count) override {
    const std::lock_guard lock(mutex_);
    SLUICE_RETURN_NOT_OK(StillOurs());
    std::vector<std::string> leftovers;
    SLUICE_ASSIGN_OR_RETURN(std::vector<Folder> folders, List(&leftovers));
    for (const std::string& path : leftovers) (void)RemoveTree(path);  // Or with the next one.
    std::erase_if(folders, [](const Folder& folder) { return !folder.complete; });
    const size_t keep = static_cast<size_t>(std::max<int64_t>(count, 1));
    if (folders.size() <= keep) return {};
    SLUICE_CRASH_POINT("checkpoint.before_old_delete");
    folders.resize(folders.size() - keep);
    for (const Folder& folder : folders) SLUICE_RETURN_NOT_OK(Remove(folder));
    return {};
  }

  Status RemoveAll() override {
    const std::lock_guard lock(mutex_);
    SLUICE_RETURN_NOT_OK(StillOurs());
    SLUICE_ASSIGN_OR_RETURN(const std::vector<Folder> folders, List());
    // Oldest first: while one is left it is the newest, which publishes nothing anew.
    for (const Folder& folder : folders) SLUICE_RETURN_NOT_OK(Remove(folder));
    Status clean;
    for (int i = 0; i < kLastTries && (i == 0 || !clean.ok()); ++i) clean = RemoveLeftovers();
    if (!clean.ok())
      Log(LogLevel::kWarning, "The state of a job that has ended left files: " + clean.ToString());
    const int result = disk_.Unlink(Join(directory_, kJobFile));
    if (result < 0 && result != -ENOENT) {
      Log(LogLevel::kWarning,
          fs::DiskError(-result, "remove", Join(directory_, kJobFile)).ToString());
    }
    return {};
  }

 private:
  /// Asks the claim, which is made when the job is claimed.
  class ClaimFence final : public Fence {
   public:
    explicit ClaimFence(const DiskCheckpointStore* store) : store_(*store) {}
    Status Check() const override {
      const AttemptClaim* claim = store_.claim_shared_.load();
      return claim == nullptr ? Status() : claim->Check();
    }

   private:
    const DiskCheckpointStore& store_;
  };

  struct Folder {
    CheckpointId id;
    std::string path;
    bool complete;
  };
  struct Container {
    std::string path;
    bool had_entry;  // Before this process.
  };
  struct OpenFile {
    int descriptor;
    std::string path;
  };

  Status Claim() {
    if (claim_) return {};
    std::vector<Container> containers;
    if (!directory_is_durable_) SLUICE_RETURN_NOT_OK(MakeDirectories(directory_, &containers));
    SLUICE_ASSIGN_OR_RETURN(claim_, AttemptClaim::Make(directory_, &disk_, guarded_,
                                                       [&] { return SyncStart(containers); }));
    claim_shared_ = claim_.get();
    directory_is_durable_ = true;
    return {};
  }

  /// All that a start wants durable before it goes on from what it finds, at one go: the claim, the
  /// folders above it, and the newest checkpoint that LoadNewest will find.
  Status SyncStart(const std::vector<Container>& containers) {
    SLUICE_ASSIGN_OR_RETURN(const std::vector<Folder> folders, List());
    const auto newest = std::find_if(folders.rbegin(), folders.rend(),
                                     [](const Folder& folder) { return folder.complete; });
    std::vector<std::string> directories = {directory_};
    if (newest != folders.rend()) directories.push_back(newest->path);
    SLUICE_RETURN_NOT_OK(SyncDirectories(containers, std::move(directories)));
    if (newest != folders.rend()) synced_by_claim_ = newest->path;
    return {};
  }
  Status StillOurs() const { return claim_ ? claim_->Look() : Status(); }

  /// Into `staging`, and from there to `folder` in one step.
  Status WriteFolder(const std::string& staging, const std::string& folder,
                     const CheckpointFiles& files) {
    SLUICE_CRASH_POINT("checkpoint.before_state_write");
    // Leftovers of an attempt whose write failed half-way.
    SLUICE_RETURN_NOT_OK(RemoveTree(staging));
    SLUICE_RETURN_NOT_OK(Check(disk_.MakeDirectory(staging), "create", staging));
    // All is written before the first sync, and synced at one go: a journal takes it in one commit.
    std::vector<OpenFile> open;
    const Status written = WriteFiles(staging, files, &open);
    const Status synced = written.ok() ? SyncFiles(open, staging) : Status();
    const Status closed = CloseFiles(open);
    SLUICE_RETURN_NOT_OK(written);
    SLUICE_RETURN_NOT_OK(synced);
    SLUICE_RETURN_NOT_OK(closed);
    SLUICE_CRASH_POINT("checkpoint.before_metadata_rename");
    SLUICE_RETURN_NOT_OK(Check(disk_.RenameNoReplace(staging, folder), "rename", staging));
    SLUICE_RETURN_NOT_OK(Check(disk_.SyncDirectory(directory_), "sync", directory_));
    SLUICE_CRASH_POINT("checkpoint.after_metadata_rename");
    blobs_.clear();
    for (const CheckpointBlob& blob : files.blobs) blobs_.insert(blob.file_name);
    blob_folder_ = folder;
    return {};
  }

  static std::string Join(const std::string& folder, std::string_view name) {
    return folder + "/" + std::string(name);
  }
  std::string PathOf(CheckpointId id) const {
    return Join(directory_, std::string(kPrefix) + std::to_string(id));
  }
  static Status Check(int result, std::string_view what, const std::string& path) {
    return result < 0 ? fs::DiskError(-result, what, path) : Status();
  }

  // A disk that fails gets some chances to say whether the file is there.
  bool IsThere(const std::string& path) {
    fs::FileInfo info;
    int result = disk_.Stat(path, &info);
    for (int i = 0; i < kLastTries && result < 0 && result != -ENOENT; ++i) {
      result = disk_.Stat(path, &info);
    }
    return result != -ENOENT;
  }

  Status RemoveTree(const std::string& path) {
    const int result = disk_.RemoveTree(path);
    return result == -ENOENT ? Status() : Check(result, "remove", path);
  }

  // The newest checkpoint's blobs, which the next one may share.
  Status RememberBlobs(const std::string& folder) {
    std::vector<fs::FileInfo> entries;
    SLUICE_RETURN_NOT_OK(Check(disk_.List(folder, &entries), "list", folder));
    blobs_.clear();
    for (const fs::FileInfo& entry : entries) {
      if (entry.name().starts_with(kBlobFilePrefix)) blobs_.emplace(entry.name());
    }
    blob_folder_ = folder;
    return {};
  }

  // A second name for the same file, where the disk can; each folder stays whole by itself.
  Status WriteBlob(const std::string& folder, const CheckpointBlob& blob,
                   std::vector<OpenFile>* open) {
    const std::string path = Join(folder, blob.file_name);
    if (blobs_.contains(blob.file_name) &&
        disk_.Link(Join(blob_folder_, blob.file_name), path) >= 0) {
      return {};
    }
    const int removed = disk_.Unlink(path);  // A link that failed may be there all the same.
    if (removed < 0 && removed != -ENOENT) return Check(removed, "remove", path);
    return WriteUnsynced(path, blob.bytes, open);
  }

  Status WriteFiles(const std::string& folder, const CheckpointFiles& files,
                    std::vector<OpenFile>* open) {
    for (const CheckpointBlob& blob : files.blobs) {
      SLUICE_RETURN_NOT_OK(WriteBlob(folder, blob, open));
    }
    SLUICE_RETURN_NOT_OK(WriteUnsynced(Join(folder, kState), files.state, open));
    SLUICE_CRASH_POINT("checkpoint.after_state_write");
    return WriteUnsynced(Join(folder, kMetadata), files.metadata, open);
  }

  /// With the names in their folder.
  Status SyncFiles(const std::vector<OpenFile>& open, const std::string& folder) {
    std::vector<int> descriptors;
    for (const OpenFile& file : open) descriptors.push_back(file.descriptor);
    size_t failed = 0;
    const int result = disk_.SyncTogether(descriptors, {folder}, &failed);
    return Check(result, "sync", failed < open.size() ? open[failed].path : folder);
  }

  Status CloseFiles(const std::vector<OpenFile>& open) {
    Status first;
    for (const OpenFile& file : open) {
      const Status closed = Check(disk_.Close(file.descriptor), "close", file.path);
      if (first.ok()) first = closed;
    }
    return first;
  }

  // All checkpoint folders by id, ascending. `leftovers`: folders whose removal has failed.
  Result<std::vector<Folder>> List(std::vector<std::string>* leftovers = nullptr) {
    std::vector<fs::FileInfo> entries;
    const int result = disk_.List(directory_, &entries);
    if (result == -ENOENT) return std::vector<Folder>();
    SLUICE_RETURN_NOT_OK(Check(result, "list", directory_));
    std::vector<Folder> folders;
    for (const fs::FileInfo& entry : entries) {
      if (leftovers != nullptr && AttemptClaim::IsSuperseded(entry))
        leftovers->push_back(entry.path);
      if (!entry.is_directory || !entry.name().starts_with(kPrefix)) continue;
      const std::optional<int64_t> id = ParseInt64(entry.name().substr(kPrefix.size()));
      if (!id || *id <= 0) continue;
      const std::string path = PathOf(*id);
      fs::FileInfo info;
      const int found = disk_.Stat(Join(path, kMetadata), &info);
      if (found < 0 && found != -ENOENT) {
        return fs::DiskError(-found, "look at", Join(path, kMetadata));
      }
      folders.push_back({*id, path, found >= 0});
      if (leftovers != nullptr && found < 0) leftovers->push_back(path);
    }
    std::sort(folders.begin(), folders.end(),
              [](const Folder& a, const Folder& b) { return a.id < b.id; });
    return folders;
  }

  // Metadata first: a folder that is half removed is no checkpoint. Fails only while the checkpoint
  // is still there: whoever hears of a failure may count on finding it again.
  Status Remove(const Folder& folder) {
    const std::string metadata = Join(folder.path, kMetadata);
    const int result = disk_.Unlink(metadata);
    if (result < 0 && result != -ENOENT && IsThere(metadata)) {
      return fs::DiskError(-result, "remove", metadata);
    }
    Status rest = Check(disk_.SyncDirectory(folder.path), "sync", folder.path);
    if (rest.ok()) rest = RemoveTree(folder.path);
    if (!rest.ok()) Log(LogLevel::kWarning, "A removed checkpoint left files: " + rest.ToString());
    return {};
  }

  // With the claim: the job has ended. The first failure; the rest is tried all the same.
  Status RemoveLeftovers() {
    std::vector<std::string> leftovers;
    SLUICE_RETURN_NOT_OK(List(&leftovers).status());
    if (claim_) leftovers.push_back(claim_->folder());
    Status first;
    for (const std::string& path : leftovers) {
      Status removed = RemoveTree(path);
      if (first.ok()) first = std::move(removed);
    }
    return first;
  }

  Status MakeDirectoryOnce() {
    if (directory_is_durable_) return {};
    std::vector<Container> containers;
    SLUICE_RETURN_NOT_OK(MakeDirectories(directory_, &containers));
    SLUICE_RETURN_NOT_OK(SyncDirectories(containers, {}));
    directory_is_durable_ = true;
    return {};
  }

  // Makes `path` and its parents; durable once the containers are synced. A folder that is there
  // may owe that to an attempt that failed before the sync.
  Status MakeDirectories(const std::string& path, std::vector<Container>* containers) {
    if (path.empty() || path == "/" || path == ".") return {};
    const size_t slash = path.rfind('/');
    const std::string parent = slash == std::string::npos ? "." : path.substr(0, slash);
    SLUICE_RETURN_NOT_OK(MakeDirectories(parent, containers));
    fs::FileInfo info;
    const bool was_there = disk_.Stat(path, &info) >= 0;
    if (was_there && !info.is_directory) return fs::DiskError(ENOTDIR, "create", path);
    if (!was_there) {
      const int made = disk_.MakeDirectory(path);
      if (made < 0 && made != -EEXIST) return fs::DiskError(-made, "create", path);
    }
    containers->push_back({parent.empty() ? kRoot : parent, was_there});
    return {};
  }

  Status SyncDirectories(const std::vector<Container>& containers,
                         std::vector<std::string> directories) {
    for (const Container& container : containers) directories.push_back(container.path);
    size_t failed = 0;
    if (disk_.SyncTogether({}, directories, &failed) >= 0) return {};
    directories.resize(directories.size() - containers.size());
    for (const Container& container : containers) {
      const int synced = disk_.SyncDirectory(container.path);
      // A folder of somebody else (/home) need not be ours to open, and was there long before.
      const bool not_ours = synced == -EACCES || synced == -EPERM || synced == -EROFS;
      if (container.had_entry && not_ours) continue;
      SLUICE_RETURN_NOT_OK(Check(synced, "sync", container.path));
    }
    for (const std::string& directory : directories) {
      SLUICE_RETURN_NOT_OK(Check(disk_.SyncDirectory(directory), "sync", directory));
    }
    return {};
  }

  Status WriteFile(const std::string& path, std::string_view bytes) {
    std::vector<OpenFile> open;
    SLUICE_RETURN_NOT_OK(WriteUnsynced(path, bytes, &open));
    const Status synced = Check(disk_.SyncData(open.front().descriptor), "sync", path);
    const Status closed = CloseFiles(open);
    return synced.ok() ? closed : synced;
  }

  // The file stays open.
  Status WriteUnsynced(const std::string& path, std::string_view bytes,
                       std::vector<OpenFile>* open) {
    const int descriptor = disk_.OpenNew(path);
    SLUICE_RETURN_NOT_OK(Check(descriptor, "create", path));
    Status status;
    for (size_t written = 0; written < bytes.size() && status.ok();) {
      const int64_t count =
          disk_.WriteAt(descriptor, static_cast<int64_t>(written), bytes.substr(written));
      status = count == 0 ? Status::IoError("Cannot write " + path + ": nothing was taken.")
                          : Check(static_cast<int>(std::min<int64_t>(count, 0)), "write", path);
      written += static_cast<size_t>(std::max<int64_t>(count, 0));
    }
    if (status.ok()) {
      open->push_back({descriptor, path});
    } else {
      (void)disk_.Close(descriptor);
    }
    return status;
  }

  const std::string directory_;
  fs::Disk& disk_;
  const bool guarded_;
  std::unique_ptr<AttemptClaim> claim_;
  std::atomic<const AttemptClaim*> claim_shared_{nullptr};  // The same, for the fence.
  const ClaimFence fence_{this};
  // Retain must not count a checkpoint whose rename is done and not yet durable.
  std::mutex mutex_;
  bool directory_is_durable_ = false;
  std::string synced_by_claim_;  // The newest checkpoint when the job was claimed.
  std::set<std::string> blobs_;  // Durable files of blob_folder_.
  std::string blob_folder_;
};

class MemoryCheckpointStore final : public CheckpointStore {
 public:
  Result<JobId> ClaimJobId(const std::string& fresh) override { return JobId{fresh, false}; }
  Result<Loaded> LoadNewest() override {
    return Loaded{newest_, {}, newest_ == nullptr ? 0 : newest_->id};
  }
  Status Write(std::shared_ptr<const CheckpointData> data) override {
    newest_ = std::move(data);
    return {};
  }
  Status Retain(int64_t) override { return {}; }
  Status MarkPublished(CheckpointId, const std::string&) override { return {}; }
  Status RemoveAll() override {
    newest_ = nullptr;
    return {};
  }

 private:
  std::shared_ptr<const CheckpointData> newest_;
};

}  // namespace

std::unique_ptr<CheckpointStore> MakeDiskCheckpointStore(std::string directory, fs::Disk* disk,
                                                         bool guarded) {
  return std::make_unique<DiskCheckpointStore>(std::move(directory), disk, guarded);
}

std::unique_ptr<CheckpointStore> MakeMemoryCheckpointStore() {
  return std::make_unique<MemoryCheckpointStore>();
}

Result<std::string> WriteSavepoint(const std::string& parent, const std::string& name,
                                   const CheckpointData& data, fs::Disk* disk) {
  SLUICE_ASSIGN_OR_RETURN(const std::string directory, CheckpointFolderPath(parent));
  const std::string folder = directory + "/" + name;
  SLUICE_RETURN_NOT_OK(DiskCheckpointStore(directory, disk, false).WriteSavepoint(name, data));
  return folder;
}

Result<std::string> CheckpointFolderPath(const std::string& uri) {
  std::string folder = uri;
  const size_t scheme_end = uri.find("://");
  if (scheme_end != std::string::npos && !uri.starts_with("file:")) {
    return Status::InvalidArgument("Checkpoints and savepoints are kept on local disks, but '" +
                                   uri + "' names the scheme '" + uri.substr(0, scheme_end) +
                                   "'. Give a local path or a file:// URI.");
  }
  if (folder.starts_with("file:")) {
    folder = folder.substr(5);
    if (folder.starts_with("//")) folder = folder.substr(2);
  }
  while (folder.size() > 1 && folder.back() == '/') folder.pop_back();
  return folder;
}

namespace {

/// The newest folder in `parent` or one level below it that holds a checkpoint; empty when there is
/// none. People name the folder that savepoints are written below, or a job's own.
std::string NewestCheckpointBelow(const std::string& parent, int levels, fs::Disk* disk) {
  std::vector<fs::FileInfo> entries;
  if (disk->List(parent, &entries) != 0) return {};
  std::string newest;
  int64_t newest_ms = 0;
  for (const fs::FileInfo& entry : entries) {
    if (!entry.is_directory) continue;
    fs::FileInfo metadata;
    std::string found = entry.path;
    if (disk->Stat(found + "/_metadata", &metadata) != 0) {
      found = levels > 1 ? NewestCheckpointBelow(entry.path, levels - 1, disk) : std::string();
      if (found.empty() || disk->Stat(found + "/_metadata", &metadata) != 0) continue;
    }
    if (newest.empty() || metadata.modified_ms > newest_ms) {
      newest = found;
      newest_ms = metadata.modified_ms;
    }
  }
  return newest;
}

Status NoCheckpointIn(const std::string& folder, fs::Disk* disk) {
  const std::string newest = NewestCheckpointBelow(folder, 2, disk);
  return Status::NotFound("There is no checkpoint in " + folder +
                          ": it has no file _metadata. Name the folder of one checkpoint or "
                          "savepoint, such as " +
                          (newest.empty() ? ".../chk-3." : newest + ", the newest below it."));
}

}  // namespace

Result<CheckpointData> ReadCheckpointFolder(const std::string& path, fs::Disk* disk) {
  SLUICE_ASSIGN_OR_RETURN(const std::string folder, CheckpointFolderPath(path));
  Result<std::string> metadata = ReadWholeFile(folder + "/_metadata", disk);
  if (!metadata.ok() && metadata.status().code() == StatusCode::kNotFound) {
    return NoCheckpointIn(folder, disk);
  }
  SLUICE_RETURN_NOT_OK(metadata.status());
  SLUICE_ASSIGN_OR_RETURN(const std::string state, ReadWholeFile(folder + "/state", disk));
  SLUICE_ASSIGN_OR_RETURN(CheckpointData data,
                          DecodeCheckpoint(*metadata, state, folder, [&](const std::string& name) {
                            return ReadWholeFile(folder + "/" + name, disk);
                          }));
  fs::FileInfo mark;
  data.published = disk->Stat(folder + "/" + std::string(kPublished), &mark) >= 0;
  return data;
}

}  // namespace sluice::runtime
