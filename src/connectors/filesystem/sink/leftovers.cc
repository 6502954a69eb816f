#include "connectors/filesystem/sink/leftovers.h"

#include "common/text.h"
#include "connectors/filesystem/compression/compression.h"
#include "connectors/filesystem/sink/sink_names.h"
#include "fs/if_there.h"

namespace sluice::connectors::filesystem {
namespace {

constexpr size_t kNewerFilesKept = 1'000;

class Sweeper {
 public:
  Sweeper(fs::FileSystem& file_system, const SweepRequest& request)
      : file_system_(file_system), request_(request) {}

  Result<SweepResult> Run() {
    if (!file_system_.has_directories()) {
      SLUICE_RETURN_NOT_OK(LookAtObjects());
      return std::move(result_);
    }
    SLUICE_RETURN_NOT_OK(Walk(request_.root));
    // The staging directory of a table without partitions stands beside its root.
    SLUICE_ASSIGN_OR_RETURN(const auto beside,
                            fs::ListIfThere(file_system_, fs::ParentPath(request_.root)));
    const std::string own = "." + std::string(fs::FileInfo{.path = request_.root}.name()) +
                            std::string(kOverwriteInfix) + request_.lineage;
    for (const fs::FileInfo& entry : beside) {
      if (entry.name() == own) SLUICE_RETURN_NOT_OK(LookAtHidden(entry));
    }
    return std::move(result_);
  }

 private:
  Status LookAtObjects() {
    SLUICE_ASSIGN_OR_RETURN(const auto uploads,
                            file_system_.publisher().ListUnfinished(request_.root));
    for (const auto& upload : uploads) {
      const fs::FileInfo file{.path = upload.final_path};
      const auto uuid = UuidOfPartName(file.name(), request_.lineage);
      if (!uuid || *uuid == request_.current_uuid) continue;
      if (request_.Spares(upload.hidden_path)) continue;
      ++result_.removed;
      SLUICE_RETURN_NOT_OK(file_system_.publisher().DropUnfinished(upload));
    }
    if (request_.known_names.empty()) return {};
    SLUICE_ASSIGN_OR_RETURN(const auto files, fs::ListTreeIfThere(file_system_, request_.root));
    for (const fs::FileInfo& file : files) {
      if (!IsNewer(file.name())) continue;
      if (file.name().starts_with(kRawPrefix)) {
        ++result_.removed;  // Nobody sees it, and its rows are read and written again.
        SLUICE_RETURN_NOT_OK(file_system_.DeleteFile(file.path));
      } else {
        SLUICE_RETURN_NOT_OK(NoteNewer(file.path));
      }
    }
    return {};
  }

  Status NoteNewer(const std::string& path) {
    if (result_.newer_files.size() < kNewerFilesKept) result_.newer_files.push_back(path);
    return request_.remove_newer ? file_system_.DeleteFile(path) : Status();
  }

  Status Walk(const std::string& directory) {
    SLUICE_ASSIGN_OR_RETURN(const auto entries, fs::ListNamesIfThere(file_system_, directory));
    for (const fs::FileInfo& entry : entries) {
      if (entry.name().starts_with(".")) {
        SLUICE_RETURN_NOT_OK(LookAtHidden(entry));
      } else if (entry.is_directory) {
        SLUICE_RETURN_NOT_OK(Walk(entry.path));
      } else if (IsNewer(entry.name())) {
        SLUICE_RETURN_NOT_OK(NoteNewer(entry.path));
      }
    }
    return {};
  }

  Status LookAtHidden(const fs::FileInfo& entry) {
    if (entry.is_directory) {
      if (!IsStagingName(entry.name(), request_.lineage)) return {};
      if (!request_.remove_staging) return Walk(entry.path);
      ++result_.removed;
      return file_system_.DeleteTree(entry.path);
    }
    if (entry.name().starts_with(kRawPrefix) && IsNewer(entry.name())) {
      ++result_.removed;  // Nobody sees it, and its rows are read and written again.
      return file_system_.DeleteFile(entry.path);
    }
    const auto tag = TagOfName(entry.name(), request_.lineage);
    if (!tag || *tag == request_.current_tag || request_.Spares(entry.path)) return {};
    ++result_.removed;
    return file_system_.DeleteFile(entry.path);
  }

  bool IsNewer(std::string_view name) const {
    const std::optional<PartName> part = ParsePartName(name);
    if (!part) return false;
    const auto known = request_.known_names.find(std::string(part->series));
    return known != request_.known_names.end() && part->number >= known->second;
  }

  fs::FileSystem& file_system_;
  const SweepRequest& request_;
  SweepResult result_;
};

}  // namespace

bool SweepRequest::Spares(const std::string& path) const {
  return spared.contains(StableHash(path));
}

Result<SweepResult> SweepLeftovers(fs::FileSystem& file_system, const SweepRequest& request) {
  return Sweeper(file_system, request).Run();
}

}  // namespace sluice::connectors::filesystem
