#include "fs/local/local_publisher.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <thread>

#include "common/crash_point.h"
#include "fs/local/local_part_file_writer.h"
#include "fs/publish_handle.h"

namespace sluice::fs {

namespace {

Status MissingData(const Publisher::HandleInfo& info, const std::string& found) {
  return Status::Corrupt(
      "Cannot publish " + info.final_path + ": data is missing. The checkpoint recorded " +
      std::to_string(info.length_bytes) + " bytes in " + info.hidden_path + ", but " + found +
      ". Restore the file, or start from an older checkpoint.");
}

/// Of the marker that is in a new directory until the old one's hidden files are in it.
constexpr std::string_view kExchangedSuffix = ".exchanged";
constexpr auto kWait = std::chrono::milliseconds(10);
constexpr int kMostWaits = 500;

}  // namespace

Result<std::unique_ptr<PartFileWriter>> LocalPublisher::Open(const std::string& final_path,
                                                             const std::string& attempt) {
  HandleInfo info{final_path, HiddenPartPath(final_path, attempt), 0};
  bool fresh = false;
  SLUICE_RETURN_NOT_OK(directories_.CreateDirectories(ParentPath(final_path), &fresh));
  FileInfo existing;
  if (!fresh && disk_.Stat(final_path, &existing) == 0) {
    return Status::AlreadyExists("Cannot open part file " + final_path +
                                 ": a file of that name is published already.");
  }
  auto writer = std::make_unique<LocalPartFileWriter>(this, info);
  SLUICE_RETURN_NOT_OK(files_.Acquire(&writer->file_, OpenFileCache::Mode::kCreate).status());
  directories_.NoteChange(ParentPath(final_path));
  return writer;
}

Result<std::unique_ptr<PartFileWriter>> LocalPublisher::Resume(const std::string& handle) {
  SLUICE_ASSIGN_OR_RETURN(HandleInfo info, DecodePublishHandle(handle));
  auto writer = std::make_unique<LocalPartFileWriter>(this, info);
  auto use = files_.Acquire(&writer->file_, OpenFileCache::Mode::kExisting);
  if (!use.ok()) {
    if (use.status().code() != StatusCode::kNotFound) return use.status();
    return Status::Corrupt("Cannot continue part file " + info.hidden_path +
                           ": it is gone (0 bytes where the checkpoint " + "recorded " +
                           std::to_string(info.length_bytes) +
                           "). Restore the file, or start from an older checkpoint.");
  }
  SLUICE_RETURN_NOT_OK(CutBack(info, use->descriptor()));
  return writer;
}

Status LocalPublisher::CutBack(const HandleInfo& info, int descriptor) {
  const int64_t size = disk_.Size(descriptor);
  if (size < 0) return DiskError(static_cast<int>(-size), "look at", info.hidden_path);
  if (size < info.length_bytes) {
    return MissingData(info, "it has only " + std::to_string(size));
  }
  if (size > info.length_bytes) {
    const int result = disk_.Truncate(descriptor, info.length_bytes);
    if (result < 0) return DiskError(-result, "cut back", info.hidden_path);
  }
  return {};
}

std::unique_ptr<SyncBatch> LocalPublisher::BeginBatch(const std::string& directory,
                                                      int64_t file_count) {
  if (!SyncsTogether(file_count)) return nullptr;
  if (!directories_.CreateDirectories(directory).ok()) return nullptr;  // Opening a file says why.
  auto batch = LocalSyncBatch::Begin(&disk_, &directories_, directory);
  return batch.ok() ? std::move(*batch) : nullptr;
}

std::vector<Status> LocalPublisher::Publish(const std::vector<std::string>& handles) {
  std::vector<Status> results(handles.size());
  std::vector<Result<HandleInfo>> infos;
  std::set<std::string> wanted;
  for (const std::string& handle : handles) {
    infos.push_back(DecodePublishHandle(handle));
    if (infos.back().ok()) wanted.insert(ParentPath(infos.back()->final_path));
  }
  // Begun before the renames: it reports what fails from then on.
  std::unique_ptr<LocalSyncBatch> batch;
  if (SyncsTogether(static_cast<int64_t>(wanted.size()))) {
    auto begun = LocalSyncBatch::Begin(&disk_, &directories_, *wanted.begin());
    if (begun.ok()) batch = std::move(*begun);
  }
  std::map<std::string, std::vector<size_t>> by_directory;
  for (size_t i = 0; i < handles.size(); ++i) {
    results[i] = infos[i].ok() ? PublishOne(*infos[i]) : infos[i].status();
    if (results[i].ok()) by_directory[ParentPath(infos[i]->final_path)].push_back(i);
  }
  std::vector<std::string> directories;
  for (const auto& [directory, indices] : by_directory) directories.push_back(directory);
  const std::vector<Status> synced = SyncDirectories(directories, batch.get());
  for (size_t d = 0; d < directories.size(); ++d) {
    if (synced[d].ok()) continue;
    for (const size_t i : by_directory[directories[d]]) results[i] = synced[d];
  }
  return results;
}

std::vector<Status> LocalPublisher::SyncDirectories(const std::vector<std::string>& directories,
                                                    LocalSyncBatch* batch) {
  // Also when all were there already: the process may have died between the rename and the sync.
  for (const std::string& directory : directories) {
    directories_.NoteChange(directory);
    if (batch != nullptr) (void)batch->Cover(directory);
  }
  if (batch != nullptr) {
    const Status synced = batch->Sync();
    if (!synced.ok()) return std::vector<Status>(directories.size(), synced);
  }
  std::vector<Status> results;
  for (const std::string& directory : directories) {
    results.push_back(directories_.EnsureDurable(directory));
  }
  return results;
}

bool LocalPublisher::IsBeingReplaced(const std::string& directory) {
  std::vector<FileInfo> entries;
  return disk_.ListNames(directory, &entries) == 0 &&
         std::any_of(entries.begin(), entries.end(), [](const FileInfo& entry) {
           return IsHiddenName(entry.name()) && entry.name().ends_with(kExchangedSuffix);
         });
}

Status LocalPublisher::PublishOne(const HandleInfo& info) {
  bool replaced = false;
  for (int attempt = 0;; ++attempt) {
    bool gone = false;
    Status status = TryPublish(info, &gone);
    if (!gone || (attempt > 0 && !replaced)) return status;
    if (attempt == kMostWaits) {
      return std::move(status).WithContext(
          "COMPACT TABLE or INSERT OVERWRITE was cut off while it replaced this directory: repeat "
          "it, "
          "then start the job again.");
    }
    if (replaced) std::this_thread::sleep_for(kWait);
    replaced = IsBeingReplaced(ParentPath(info.final_path));
  }
}

Status LocalPublisher::TryPublish(const HandleInfo& info, bool* gone) {
  OpenFileCache::Entry file(info.hidden_path);
  {
    auto use = files_.Acquire(&file, OpenFileCache::Mode::kExisting);
    if (!use.ok()) {
      return use.status().code() == StatusCode::kNotFound ? CheckAlreadyPublished(info, gone)
                                                          : use.status();
    }
    Status ready;
    const int64_t size = disk_.Size(use->descriptor());
    if (size != info.length_bytes) {
      ready = CutBack(info, use->descriptor());
      if (ready.ok()) {
        const int result = disk_.SyncData(use->descriptor());
        if (result < 0) ready = DiskError(-result, "make durable", info.hidden_path);
      }
    }
    if (!ready.ok()) {
      { auto released = std::move(*use); }
      (void)files_.Close(&file);
      return ready;
    }
  }
  (void)files_.Close(&file);
  SLUICE_CRASH_POINT("fs.before_rename");
  const int result = disk_.RenameNoReplace(info.hidden_path, info.final_path);
  SLUICE_CRASH_POINT("fs.after_rename");
  if (result == -EEXIST) {
    return Status::AlreadyExists(
        "Cannot publish " + info.hidden_path + " as " + info.final_path +
        ": another file has that name. A published file is never overwritten; move it away "
        "and resume.");
  }
  if (result == -ENOENT) return CheckAlreadyPublished(info, gone);
  if (result < 0) return DiskError(-result, "publish " + info.hidden_path + " as", info.final_path);
  return {};
}

Status LocalPublisher::CheckAlreadyPublished(const HandleInfo& info, bool* gone) {
  FileInfo published;
  const int result = disk_.Stat(info.final_path, &published);
  if (result == -ENOENT || result == -ENOTDIR) {
    *gone = true;
    return MissingData(info, "neither that file nor the final one is there");
  }
  if (result < 0) return DiskError(-result, "look at", info.final_path);
  if (published.is_directory || published.size_bytes != info.length_bytes) {
    return MissingData(
        info, "that is gone and the final file has " + std::to_string(published.size_bytes));
  }
  return {};
}

Status LocalPublisher::Abandon(const std::string& handle) {
  SLUICE_ASSIGN_OR_RETURN(const HandleInfo info, DecodePublishHandle(handle));
  const int result = disk_.Unlink(info.hidden_path);
  if (result < 0 && result != -ENOENT && result != -ENOTDIR) {
    return DiskError(-result, "remove", info.hidden_path);
  }
  return {};
}

Result<Publisher::HandleInfo> LocalPublisher::Describe(const std::string& handle) const {
  return DecodePublishHandle(handle);
}

}  // namespace sluice::fs
