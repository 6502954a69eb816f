#include "fs/local/local_publisher.h"

#include <cerrno>

#include "common/crash_point.h"
#include "fs/local/local_part_file_writer.h"
#include "fs/publish_handle.h"

namespace sluice::fs {

namespace {

std::string HiddenPath(const std::string& final_path, const std::string& attempt) {
  const std::string_view name = std::string_view(final_path).substr(final_path.rfind('/') + 1);
  std::string hidden = ".";
  hidden.append(name).append(".inprogress.").append(attempt);
  return JoinPath(ParentPath(final_path), hidden);
}

Status MissingData(const Publisher::HandleInfo& info, const std::string& found) {
  return Status::Corrupt(
      "Cannot publish " + info.final_path + ": data is missing. The checkpoint recorded " +
      std::to_string(info.length_bytes) + " bytes in " + info.hidden_path + ", but " + found +
      ". Restore the file, or start from an older checkpoint.");
}

}  // namespace

Result<std::unique_ptr<PartFileWriter>> LocalPublisher::Open(const std::string& final_path,
                                                             const std::string& attempt) {
  HandleInfo info{final_path, HiddenPath(final_path, attempt), 0};
  SLUICE_RETURN_NOT_OK(directories_.CreateDirectories(ParentPath(final_path)));
  FileInfo existing;
  if (disk_.Stat(final_path, &existing) == 0) {
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

std::vector<Status> LocalPublisher::Publish(const std::vector<std::string>& handles) {
  std::vector<Status> results(handles.size());
  std::map<std::string, std::vector<size_t>> by_directory;
  for (size_t i = 0; i < handles.size(); ++i) {
    auto info = DecodePublishHandle(handles[i]);
    results[i] = info.ok() ? PublishOne(*info) : info.status();
    if (results[i].ok()) by_directory[ParentPath(info->final_path)].push_back(i);
  }
  for (const auto& [directory, indices] : by_directory) {
    // Also when all were there already: the process may have died between the rename and the sync.
    directories_.NoteChange(directory);
    const Status synced = directories_.EnsureDurable(directory);
    if (synced.ok()) continue;
    for (const size_t i : indices) results[i] = synced;
  }
  return results;
}

Status LocalPublisher::PublishOne(const HandleInfo& info) {
  OpenFileCache::Entry file(info.hidden_path);
  {
    auto use = files_.Acquire(&file, OpenFileCache::Mode::kExisting);
    if (!use.ok()) {
      return use.status().code() == StatusCode::kNotFound ? CheckAlreadyPublished(info)
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
  if (result < 0) return DiskError(-result, "publish " + info.hidden_path + " as", info.final_path);
  return {};
}

Status LocalPublisher::CheckAlreadyPublished(const HandleInfo& info) {
  FileInfo published;
  const int result = disk_.Stat(info.final_path, &published);
  if (result == -ENOENT || result == -ENOTDIR) {
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
