#include "connectors/filesystem/sink/overwrite.h"

#include <set>

#include <arrow/buffer.h>

#include "common/crash_point.h"
#include "common/text.h"
#include "connectors/filesystem/partition/overwrite_marker.h"
#include "connectors/filesystem/sink/sink_names.h"
#include "types/arrow_status.h"

namespace sluice::connectors::filesystem {
namespace {

std::string_view NameOf(std::string_view path) { return path.substr(path.rfind('/') + 1); }

Result<bool> Exists(fs::FileSystem& file_system, const std::string& path) {
  const auto info = file_system.Stat(path);
  if (info.ok()) return true;
  if (info.status().code() == StatusCode::kNotFound) return false;
  return info.status();
}

class Replacer {
 public:
  Replacer(fs::FileSystem& file_system, const Replacement& replacement)
      : file_system_(file_system),
        target_(replacement.directory),
        staging_(replacement.staging),
        handles_(replacement.handles),
        must_exchange_(replacement.must_exchange),
        replaced_(replacement.replaced),
        exchanged_marker_(std::string(NameOf(staging_)) + ".exchanged"),
        moving_marker_(std::string(NameOf(staging_)) + ".moving") {}

  Status Run() {
    SLUICE_ASSIGN_OR_RETURN(const bool exchanged, InTarget(exchanged_marker_));
    if (exchanged) return FinishExchange();
    SLUICE_ASSIGN_OR_RETURN(const bool moving, InTarget(moving_marker_));
    if (moving) return MoveFiles();
    SLUICE_ASSIGN_OR_RETURN(const bool done, IsDone());
    // What is staged is then old, or nothing: the removal may have been forgotten by a power loss.
    if (done || handles_.empty()) SLUICE_RETURN_NOT_OK(file_system_.DeleteTree(staging_));
    if (done) return {};
    SLUICE_RETURN_NOT_OK(Publish());
    return Exchange();
  }

 private:
  Result<bool> InTarget(const std::string& name) {
    return Exists(file_system_, fs::JoinPath(target_, name));
  }

  /// A predecessor has finished everything: no marker, and the new files are in place.
  Result<bool> IsDone() {
    if (handles_.empty()) return false;
    SLUICE_ASSIGN_OR_RETURN(const auto info, file_system_.publisher().Describe(handles_.front()));
    const auto published = file_system_.Stat(fs::JoinPath(target_, NameOf(info.final_path)));
    return published.ok() && published->size_bytes == info.length_bytes;
  }

  Status Publish() {
    SLUICE_RETURN_NOT_OK(file_system_.CreateDirectories(staging_));
    SLUICE_CRASH_POINT("sink.before_publish");
    for (Status& status : file_system_.publisher().Publish(handles_)) {
      if (!status.ok()) return std::move(status);
    }
    SLUICE_CRASH_POINT("sink.after_publish");
    // What a dead attempt has left here must not become part of the partition.
    SLUICE_ASSIGN_OR_RETURN(const auto entries, file_system_.List(staging_));
    for (const fs::FileInfo& entry : entries) {
      if (fs::IsHiddenName(entry.name())) {
        SLUICE_RETURN_NOT_OK(file_system_.DeleteFile(entry.path));
      }
    }
    return {};
  }

  Status Exchange() {
    // Whoever finishes this has to know which files go; no name holds a zero byte.
    SLUICE_RETURN_NOT_OK(file_system_.WriteWhole(fs::JoinPath(staging_, exchanged_marker_),
                                                 Join(replaced_, std::string_view("\0", 1))));
    SLUICE_ASSIGN_OR_RETURN(const bool has_old, Exists(file_system_, target_));
    SLUICE_CRASH_POINT("sink.before_exchange");
    Status status;
    if (has_old) {
      status = file_system_.ExchangeDirectories(staging_, target_);
    } else if (!handles_.empty()) {
      status = file_system_.Rename(staging_, target_);
    } else {
      return file_system_.DeleteTree(staging_);  // Nothing there and nothing new.
    }
    SLUICE_CRASH_POINT("sink.after_exchange");
    if (status.code() == StatusCode::kUnsupported) {
      if (!must_exchange_) return StartMoving();
      SLUICE_RETURN_NOT_OK(file_system_.DeleteTree(staging_));
      return status;
    }
    SLUICE_RETURN_NOT_OK(std::move(status));
    return FinishExchange();
  }

  /// The new directory is in place; `staging_` now holds the old one, if there was one.
  Status FinishExchange() {
    SLUICE_ASSIGN_OR_RETURN(const bool has_old, Exists(file_system_, staging_));
    if (has_old) {
      SLUICE_ASSIGN_OR_RETURN(const auto replaced, ReadMarker());
      // Once more: a job may have published a file under the old directory's name just then.
      SLUICE_RETURN_NOT_OK(BringOver(replaced));
      SLUICE_RETURN_NOT_OK(BringOver(replaced));
      SLUICE_RETURN_NOT_OK(file_system_.DeleteTree(staging_));
    }
    return file_system_.DeleteFile(fs::JoinPath(target_, exchanged_marker_));
  }

  Result<std::set<std::string, std::less<>>> ReadMarker() {
    SLUICE_ASSIGN_OR_RETURN(const auto file,
                            file_system_.OpenRead(fs::JoinPath(target_, exchanged_marker_)));
    SLUICE_ASSIGN_ARROW(const int64_t size, file->GetSize());
    SLUICE_ASSIGN_ARROW(const auto bytes, file->ReadAt(0, size));
    const std::string text = bytes->ToString();
    std::set<std::string, std::less<>> names;
    if (text.empty()) return names;
    for (const std::string_view name : Split(text, '\0')) names.emplace(name);
    return names;
  }

  /// Moves what does not go from the old directory to the new one.
  Status BringOver(const std::set<std::string, std::less<>>& replaced) {
    SLUICE_ASSIGN_OR_RETURN(const auto entries, file_system_.List(staging_));
    std::vector<fs::FileSystem::Move> moves;
    for (const fs::FileInfo& entry : entries) {
      const bool added = !replaced.empty() && !replaced.contains(entry.name());
      if (entry.name() == exchanged_marker_ || !(fs::IsHiddenName(entry.name()) || added)) continue;
      moves.push_back({entry.path, fs::JoinPath(target_, entry.name())});
    }
    for (Status& moved : file_system_.RenameMany(moves)) {
      if (!moved.ok() && moved.code() != StatusCode::kAlreadyExists) return std::move(moved);
    }
    return {};
  }

  /// For file systems that cannot exchange: the new files move in, complete as they are, and then
  /// the old ones go. Readers may see both for a moment.
  Status StartMoving() {
    SLUICE_RETURN_NOT_OK(file_system_.DeleteFile(fs::JoinPath(staging_, exchanged_marker_)));
    SLUICE_RETURN_NOT_OK(file_system_.WriteWhole(fs::JoinPath(target_, moving_marker_), ""));
    return MoveFiles();
  }

  Status MoveFiles() {
    std::set<std::string, std::less<>> fresh;
    for (const std::string& handle : handles_) {
      SLUICE_ASSIGN_OR_RETURN(const auto info, file_system_.publisher().Describe(handle));
      fresh.emplace(NameOf(info.final_path));
    }
    for (const std::string& name : fresh) {
      const Status moved =
          file_system_.Rename(fs::JoinPath(staging_, name), fs::JoinPath(target_, name));
      const bool before = moved.code() == StatusCode::kNotFound;  // Moved by a predecessor.
      if (!moved.ok() && !before) return moved;
    }
    SLUICE_ASSIGN_OR_RETURN(const auto entries, file_system_.List(target_));
    for (const fs::FileInfo& entry : entries) {
      if (fs::IsHiddenName(entry.name()) || fresh.contains(entry.name())) continue;
      SLUICE_RETURN_NOT_OK(entry.is_directory ? file_system_.DeleteTree(entry.path)
                                              : file_system_.DeleteFile(entry.path));
    }
    SLUICE_RETURN_NOT_OK(file_system_.DeleteTree(staging_));
    return file_system_.DeleteFile(fs::JoinPath(target_, moving_marker_));
  }

  fs::FileSystem& file_system_;
  const std::string target_;
  const std::string staging_;
  const std::vector<std::string>& handles_;
  const bool must_exchange_;
  const std::vector<std::string>& replaced_;
  const std::string exchanged_marker_;
  const std::string moving_marker_;
};

/// On object stores, where nothing is renamed: the new files are uploads of their final names,
/// unseen until they are completed. A marker that lists the old and the new files is written first,
/// so that whoever comes back removes the old ones and no others: files that someone has added
/// meanwhile stay. From the first completion to the last removal a listing has old and new files;
/// our own readers tell by the marker which of them count (overwrite_marker.h).
class ObjectReplacer {
 public:
  ObjectReplacer(fs::FileSystem& file_system, const Replacement& replacement)
      : file_system_(file_system),
        target_(replacement.directory),
        handles_(replacement.handles),
        marker_(fs::JoinPath(target_, std::string(NameOf(replacement.staging)))) {}

  Status Run() {
    SLUICE_ASSIGN_OR_RETURN(const bool begun, Exists(file_system_, marker_));
    if (!begun) {
      SLUICE_ASSIGN_OR_RETURN(const bool done, IsDone());
      if (done) return {};
      SLUICE_RETURN_NOT_OK(WriteMarker());
    }
    SLUICE_CRASH_POINT("sink.before_publish");
    for (Status& status : file_system_.publisher().Publish(handles_)) {
      SLUICE_RETURN_NOT_OK(std::move(status));
    }
    SLUICE_CRASH_POINT("sink.after_publish");
    SLUICE_ASSIGN_OR_RETURN(const auto old, OldFiles());
    SLUICE_CRASH_POINT("sink.before_exchange");
    SLUICE_RETURN_NOT_OK(file_system_.DeleteFiles(old));
    SLUICE_CRASH_POINT("sink.after_exchange");
    return file_system_.DeleteFile(marker_);
  }

 private:
  /// A predecessor has finished everything: no marker, and the new files are in place.
  Result<bool> IsDone() {
    if (handles_.empty()) return false;
    SLUICE_ASSIGN_OR_RETURN(const auto info, file_system_.publisher().Describe(handles_.front()));
    const auto published = file_system_.Stat(info.final_path);
    if (!published.ok() && published.status().code() != StatusCode::kNotFound) {
      return published.status();
    }
    return published.ok() && !published->is_directory && published->size_bytes == info.length_bytes;
  }

  Status WriteMarker() {
    OverwriteMarker marker;
    auto files = file_system_.ListTree(target_);
    if (!files.ok() && files.status().code() != StatusCode::kNotFound) return files.status();
    if (files.ok()) {
      for (const fs::FileInfo& file : *files) {
        std::string relative = Relative(file.path);
        if (IsHidden(relative)) continue;
        if (relative.find('\n') != std::string::npos) {
          return Status::DataError("The name of " + Printable(file.path) +
                                   " holds a line break: remove the file before INSERT OVERWRITE.");
        }
        marker.old_files.push_back(std::move(relative));
      }
    }
    for (const std::string& handle : handles_) {
      SLUICE_ASSIGN_OR_RETURN(const auto info, file_system_.publisher().Describe(handle));
      marker.new_files.push_back(Relative(info.final_path));
    }
    return file_system_.WriteWhole(marker_, EncodeOverwriteMarker(marker));
  }

  std::string Relative(const std::string& path) const { return path.substr(target_.size() + 1); }

  static bool IsHidden(std::string_view relative) {
    for (const std::string_view component : Split(relative, '/')) {
      if (fs::IsHiddenName(component)) return true;
    }
    return false;
  }

  Result<std::vector<std::string>> OldFiles() {
    SLUICE_ASSIGN_OR_RETURN(const auto file, file_system_.OpenRead(marker_));
    SLUICE_ASSIGN_ARROW(const int64_t size, file->GetSize());
    SLUICE_ASSIGN_ARROW(const auto bytes, file->ReadAt(0, size));
    auto marker = DecodeOverwriteMarker(bytes->ToString());
    if (!marker.ok()) return marker.status().WithContext("Cannot read " + marker_ + ".");
    std::vector<std::string> paths;
    for (const std::string& name : marker->old_files) paths.push_back(fs::JoinPath(target_, name));
    return paths;
  }

  fs::FileSystem& file_system_;
  const std::string target_;
  const std::vector<std::string>& handles_;
  const std::string marker_;
};

}  // namespace

std::string StagingDirectory(const std::string& directory, const std::string& lineage) {
  return fs::JoinPath(fs::ParentPath(directory), "." + std::string(NameOf(directory)) +
                                                     std::string(kOverwriteInfix) + lineage);
}

Status ReplaceDirectory(fs::FileSystem& file_system, const Replacement& replacement) {
  const Status status = file_system.has_directories()
                            ? Replacer(file_system, replacement).Run()
                            : ObjectReplacer(file_system, replacement).Run();
  return Status(status).WithContext("While " + std::string(replacement.statement) +
                                    " replaces the content of " + replacement.directory + ".");
}

}  // namespace sluice::connectors::filesystem
