#include "connectors/filesystem/sink/table_cleaning.h"

#include <algorithm>

#include "connectors/filesystem/sink/committable.h"
#include "connectors/filesystem/sink/committer.h"
#include "connectors/filesystem/sink/compactor.h"
#include "connectors/filesystem/sink/pending_files.h"
#include "connectors/filesystem/sink/sink_names.h"
#include "fs/if_there.h"

namespace sluice::connectors::filesystem {
namespace {

using Kind = Leftover::Kind;

constexpr size_t kLineageDigits = 16;

/// The lineage in ".x.inprogress.LINEAGE-ATTEMPT" or ".x.overwrite.LINEAGE".
std::optional<std::string> LineageBehind(std::string_view name, std::string_view infix,
                                         size_t tag_size) {
  const size_t at = name.rfind(infix);
  if (!name.starts_with(".") || at == std::string_view::npos) return std::nullopt;
  const std::string_view tag = name.substr(at + infix.size());
  const std::string_view lineage = tag.substr(0, kLineageDigits);
  if (tag.size() != tag_size || lineage.size() != kLineageDigits || !IsHex(lineage)) {
    return std::nullopt;
  }
  const std::string_view attempt = tag.substr(kLineageDigits);
  if (!attempt.empty() && (attempt[0] != '-' || !IsHex(attempt.substr(1)))) return std::nullopt;
  return std::string(lineage);
}

class Lister {
 public:
  Lister(fs::FileSystem& file_system, std::string root)
      : file_system_(file_system), root_(std::move(root)) {}

  Result<std::vector<Leftover>> Run() {
    if (file_system_.has_directories()) {
      SLUICE_RETURN_NOT_OK(Walk(root_));
      SLUICE_RETURN_NOT_OK(LookBesideRoot());
    } else {
      SLUICE_RETURN_NOT_OK(ListUploads());
      SLUICE_RETURN_NOT_OK(ListObjects());
    }
    return std::move(found_);
  }

 private:
  Status Walk(const std::string& directory) {
    SLUICE_ASSIGN_OR_RETURN(const auto entries, fs::ListIfThere(file_system_, directory));
    for (const fs::FileInfo& entry : entries) {
      if (entry.is_directory && fs::IsHiddenName(entry.name())) {
        SLUICE_RETURN_NOT_OK(LookAtStaging(entry));
      } else if (entry.is_directory) {
        SLUICE_RETURN_NOT_OK(Walk(entry.path));
      } else {
        LookAtFile(entry);
      }
    }
    return {};
  }

  /// The staging directory of a table without partitions.
  Status LookBesideRoot() {
    const std::string own =
        "." + std::string(fs::FileInfo{.path = root_}.name()) + std::string(kOverwriteInfix);
    SLUICE_ASSIGN_OR_RETURN(const auto beside,
                            fs::ListIfThere(file_system_, fs::ParentPath(root_)));
    for (const fs::FileInfo& entry : beside) {
      if (entry.is_directory && entry.name().starts_with(own)) {
        SLUICE_RETURN_NOT_OK(LookAtStaging(entry));
      }
    }
    return {};
  }

  Status LookAtStaging(const fs::FileInfo& entry) {
    const auto lineage = LineageBehind(entry.name(), kOverwriteInfix, kLineageDigits);
    if (!lineage) return {};
    Leftover leftover{.kind = Kind::kStaging,
                      .path = entry.path,
                      .modified_ms = entry.modified_ms,
                      .lineage = *lineage,
                      .cut_off = {},
                      .upload = {}};
    SLUICE_ASSIGN_OR_RETURN(const auto files, fs::ListTreeIfThere(file_system_, entry.path));
    for (const fs::FileInfo& file : files) {
      leftover.size_bytes += file.size_bytes;
      leftover.modified_ms = std::max(leftover.modified_ms, file.modified_ms);
    }
    const std::string_view name = entry.name();
    const std::string target =
        fs::JoinPath(fs::ParentPath(entry.path), name.substr(1, name.rfind(kOverwriteInfix) - 1));
    for (const std::string_view end : {".exchanged", ".moving"}) {
      const std::string marker = fs::JoinPath(target, std::string(name) + std::string(end));
      SLUICE_ASSIGN_OR_RETURN(const bool there, fs::Exists(file_system_, marker));
      if (there) leftover.cut_off = marker;
    }
    found_.push_back(std::move(leftover));
    return {};
  }

  void LookAtFile(const fs::FileInfo& file) {
    Leftover leftover{.path = file.path,
                      .size_bytes = file.size_bytes,
                      .modified_ms = file.modified_ms,
                      .lineage = {},
                      .cut_off = {},
                      .upload = {}};
    if (const auto lineage = LineageBehind(file.name(), kInProgressInfix, 2 * kLineageDigits + 1)) {
      leftover.lineage = *lineage;
    } else if (file.name().starts_with(kRawPrefix)) {
      leftover.kind = Kind::kRaw;
      leftover.lineage = LineageOfPartName(file.name()).value_or("");
      if (leftover.lineage.empty()) return;
    } else if (file_system_.has_directories() && IsTemporaryName(file.name())) {
      leftover.kind = Kind::kMarker;
    } else {
      return;
    }
    found_.push_back(std::move(leftover));
  }

  Status ListUploads() {
    SLUICE_ASSIGN_OR_RETURN(const auto uploads, file_system_.publisher().ListUnfinished(root_));
    for (const auto& upload : uploads) {
      const auto lineage = LineageOfPartName(fs::FileInfo{.path = upload.final_path}.name());
      if (!lineage) continue;  // Not a name that file sinks give.
      const auto bytes = file_system_.publisher().UnfinishedBytes(upload);
      if (bytes.status().code() == StatusCode::kNotFound) continue;  // Completed meanwhile.
      SLUICE_RETURN_NOT_OK(bytes.status());
      found_.push_back({.kind = Kind::kUpload,
                        .path = upload.hidden_path,
                        .size_bytes = *bytes,
                        .modified_ms = upload.begun_ms,
                        .lineage = *lineage,
                        .cut_off = {},
                        .upload = upload});
    }
    return {};
  }

  Status ListObjects() {
    SLUICE_ASSIGN_OR_RETURN(const auto files, fs::ListTreeIfThere(file_system_, root_));
    for (const fs::FileInfo& file : files) {
      if (const auto lineage = LineageBehind(file.name(), kOverwriteInfix, kLineageDigits)) {
        found_.push_back({.kind = Kind::kMarker,
                          .path = file.path,
                          .size_bytes = file.size_bytes,
                          .modified_ms = file.modified_ms,
                          .lineage = *lineage,
                          .cut_off = file.path,
                          .upload = {}});
        continue;
      }
      LookAtFile(file);
    }
    return {};
  }

  fs::FileSystem& file_system_;
  const std::string root_;
  std::vector<Leftover> found_;
};

/// Finds a lineage of which the left-over's name may tell only the beginning.
template <typename T>
const T* FindLineage(const std::map<std::string, T>& map, const std::string& lineage) {
  if (lineage.empty()) return nullptr;
  const auto at = map.lower_bound(lineage);
  return at != map.end() && at->first.starts_with(lineage) ? &at->second : nullptr;
}

}  // namespace

Result<NamedFiles> ReadNamedFiles(fs::FileSystem& file_system,
                                  const runtime::StateReader& committer) {
  NamedFiles named;
  SLUICE_ASSIGN_OR_RETURN(const int64_t version, committer.GetI64("version"));
  if (version < 1 || version > kCommitterStateVersion) {
    return Status::Corrupt("A file committer's state has version " + std::to_string(version) +
                           ", which this program does not know.");
  }
  SLUICE_ASSIGN_OR_RETURN(named.lineage, committer.GetBytes("lineage"));
  SLUICE_ASSIGN_OR_RETURN(std::vector<std::string> handles, committer.GetStrings("open_handles"));
  PendingFiles pending;
  SLUICE_RETURN_NOT_OK(pending.Restore(committer));
  for (size_t i = 0; i < pending.size(); ++i) handles.emplace_back(pending[i].handle());
  for (const std::string& handle : handles) {
    const auto info = file_system.publisher().Describe(handle);
    if (!info.ok()) continue;  // Checksums of the state hold: it is another file system's.
    named.paths.push_back(info->hidden_path);
    named.paths.push_back(info->final_path);
  }
  if (version >= 2) {
    SLUICE_ASSIGN_OR_RETURN(const std::string compaction, committer.GetBytes("compaction"));
    SLUICE_ASSIGN_OR_RETURN(auto paths, Compactor::PathsInState(compaction));
    for (std::string& path : paths) named.paths.push_back(std::move(path));
  }
  return named;
}

std::string_view KindText(Kind kind) {
  switch (kind) {
    case Kind::kInProgress:
      return "in-progress file";
    case Kind::kUpload:
      return "upload";
    case Kind::kStaging:
      return "staging directory";
    case Kind::kRaw:
      return "file to be merged";
    case Kind::kMarker:
      return "marker";
  }
  return "";
}

Result<std::vector<Leftover>> ListLeftovers(fs::FileSystem& file_system, const std::string& root) {
  return Lister(file_system, root).Run();
}

Verdict Judge(const Leftover& leftover, const KnownStates& states, int64_t now_ms,
              int64_t min_age_ms) {
  if (const auto named = states.named.find(leftover.path); named != states.named.end()) {
    return {false, "named by " + named->second};
  }
  if (!leftover.cut_off.empty()) {
    return {false, "its exchange was cut off: run the same statement again, it is finished then"};
  }
  if (const auto* job = FindLineage(states.running, leftover.lineage)) {
    return {false, "job " + job->job + " runs and removes its own"};
  }
  for (const KnownStates::Running& job : states.starting) {
    if (leftover.modified_ms >= job.since_ms) {
      return {false, "job " + job.job + " runs and has no checkpoint yet: it may be its own"};
    }
  }
  const int64_t age_ms = now_ms - leftover.modified_ms;
  if (age_ms < min_age_ms) {
    return {false, "younger than " + std::to_string(min_age_ms) + " ms (OLDER THAN)"};
  }
  const std::string* folder = FindLineage(states.lineages, leftover.lineage);
  if (folder != nullptr) {
    return {true, "of the job that does not run, and no state of it in " + *folder + " names it"};
  }
  if (leftover.kind == Kind::kRaw) {
    return {false, "the state of its job is not here: whether it is merged already is not known"};
  }
  return {true, "no state names it"};
}

Status RemoveLeftover(fs::FileSystem& file_system, const Leftover& leftover) {
  if (leftover.upload) return file_system.publisher().DropUnfinished(*leftover.upload);
  if (leftover.kind == Kind::kStaging) return file_system.DeleteTree(leftover.path);
  return file_system.DeleteFile(leftover.path);
}

}  // namespace sluice::connectors::filesystem
