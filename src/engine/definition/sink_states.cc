#include "engine/definition/sink_states.h"

#include <filesystem>
#include <fstream>
#include <set>

#include "common/text.h"
#include "engine/definition/state_folder.h"
#include "fs/local/disk.h"
#include "runtime/checkpoint/checkpoint_store.h"
#include "runtime/checkpoint/directory_lock.h"

namespace sluice::engine {
namespace {

namespace stdfs = std::filesystem;

/// Folders below `directory`, none when it cannot be listed.
std::vector<stdfs::path> Folders(const stdfs::path& directory) {
  std::vector<stdfs::path> folders;
  std::error_code error;
  for (stdfs::directory_iterator it(directory, error), end; !error && it != end;
       it.increment(error)) {
    if (it->is_directory(error)) folders.push_back(it->path());
  }
  return folders;
}

/// "…/chk-12" with the highest number that is complete.
std::optional<stdfs::path> NewestCheckpoint(const stdfs::path& job) {
  std::optional<stdfs::path> newest;
  int64_t highest = -1;
  for (const stdfs::path& folder : Folders(job)) {
    const std::string name = folder.filename();
    if (!name.starts_with("chk-")) continue;
    const auto number = ParseInt64(std::string_view(name).substr(4));
    std::error_code error;
    if (!number || *number <= highest || !stdfs::exists(folder / "_metadata", error)) continue;
    highest = *number;
    newest = folder;
  }
  return newest;
}

/// Lines: folders into which savepoints were written.
constexpr const char* kSavepointFolders = "/savepoint-folders";

bool IsComplete(const stdfs::path& checkpoint) {
  std::error_code error;
  return stdfs::exists(checkpoint / "_metadata", error);
}

/// Reads states into one picture.
class Survey {
 public:
  explicit Survey(fs::FileSystem& file_system) : file_system_(file_system) {}

  Status AddJob(const stdfs::path& folder) {
    const bool runs = runtime::DirectoryLock::IsHeld(folder.string());
    std::set<std::string> lineages;
    bool complete = false;
    for (int tries = 0; !complete; ++tries) {
      complete = true;
      lineages.clear();
      for (const stdfs::path& checkpoint : Folders(folder)) {
        if (!checkpoint.filename().string().starts_with("chk-") || !IsComplete(checkpoint))
          continue;
        Status read = AddState(checkpoint, &lineages);
        if (read.ok()) continue;
        // A running job has removed it and has a newer one.
        if (IsComplete(checkpoint) || tries > 20) return read;
        complete = false;
      }
    }
    // One that started after the first look has begun its files after they were listed.
    if (!runs) return {};
    using Running = connectors::filesystem::KnownStates::Running;
    const Running job{folder.filename().string(), StartOf(folder)};
    for (const std::string& lineage : lineages) states_.running[lineage] = job;
    if (lineages.empty()) states_.starting.push_back(job);
    return {};
  }

  /// `folder` is a savepoint, or holds some.
  Status AddSavepoints(const std::string& folder) {
    const auto path = runtime::CheckpointFolderPath(folder);
    if (!path.ok()) return {};  // Not on this machine's disks: no job writes one there.
    std::vector<stdfs::path> candidates = Folders(*path);
    candidates.emplace_back(*path);
    for (const stdfs::path& candidate : candidates) {
      if (!IsComplete(candidate) || !seen_.insert(candidate.string()).second) continue;
      std::set<std::string> ignored;
      SLUICE_RETURN_NOT_OK(AddState(candidate, &ignored));
    }
    return {};
  }

  /// With those that the states read so far were started from.
  Status AddOrigins() {
    for (const std::string& origin : std::set<std::string>(origins_)) {
      SLUICE_RETURN_NOT_OK(AddSavepoints(origin));
    }
    return {};
  }

  connectors::filesystem::KnownStates Take() && { return std::move(states_); }

 private:
  Status AddState(const stdfs::path& folder, std::set<std::string>* lineages) {
    SLUICE_ASSIGN_OR_RETURN(const runtime::CheckpointData data,
                            runtime::ReadCheckpointFolder(folder.string(), &fs::RealDisk()));
    if (!data.started_from.empty()) origins_.insert(data.started_from);
    for (const auto& [id, subtasks] : data.operators) {
      if (!id.starts_with("sink:") || !id.ends_with(":committer")) continue;
      for (const auto& [subtask, fields] : subtasks) {
        SLUICE_ASSIGN_OR_RETURN(
            const auto named,
            connectors::filesystem::ReadNamedFiles(file_system_, runtime::StateReader(id, fields)));
        for (const std::string& path : named.paths) states_.named[path] = folder.string();
        states_.lineages[named.lineage] = folder.parent_path().string();
        lineages->insert(named.lineage);
      }
    }
    return {};
  }

  /// The lock is written when a process takes it.
  static int64_t StartOf(const stdfs::path& folder) {
    fs::FileInfo info;
    const int found = fs::RealDisk().Stat((folder / "lock").string(), &info);
    return found < 0 ? 0 : info.modified_ms;
  }

  fs::FileSystem& file_system_;
  connectors::filesystem::KnownStates states_;
  std::set<std::string> origins_;
  std::set<std::string> seen_;
};

}  // namespace

Result<connectors::filesystem::KnownStates> SurveyStates(const OptionMap& configuration,
                                                         fs::FileSystem& file_system) {
  Survey survey(file_system);
  const std::string root = StateFolder(configuration);
  for (const stdfs::path& job : Folders(root)) SLUICE_RETURN_NOT_OK(survey.AddJob(job));
  for (const char* key :
       {"execution.checkpointing.savepoint-dir", "execution.state-recovery.path"}) {
    const auto set = configuration.find(key);
    if (set != configuration.end() && !set->second.empty()) {
      SLUICE_RETURN_NOT_OK(survey.AddSavepoints(set->second));
    }
  }
  std::ifstream noted(root + kSavepointFolders);
  for (std::string folder; std::getline(noted, folder);) {
    if (!folder.empty()) SLUICE_RETURN_NOT_OK(survey.AddSavepoints(folder));
  }
  SLUICE_RETURN_NOT_OK(survey.AddOrigins());
  return std::move(survey).Take();
}

void NoteSavepointFolder(const std::string& root, const std::string& directory) {
  const auto path = runtime::CheckpointFolderPath(directory);
  if (!path.ok()) return;  // The savepoint will fail, and say why.
  std::error_code error;
  const std::string folder = stdfs::absolute(*path, error).lexically_normal().string();
  std::ifstream noted(root + kSavepointFolders);
  for (std::string line; std::getline(noted, line);) {
    if (line == folder) return;
  }
  stdfs::create_directories(root, error);
  std::ofstream(root + kSavepointFolders, std::ios::app) << folder << '\n';
}

std::optional<connectors::filesystem::CommitStatus> FindCommitStatus(const std::string& root,
                                                                     const std::string& table) {
  std::optional<connectors::filesystem::CommitStatus> found;
  int64_t found_at_ms = 0;
  const std::string own = "sink:" + table;
  for (const stdfs::path& job : Folders(root)) {
    const auto checkpoint = NewestCheckpoint(job);
    if (!checkpoint) continue;
    const auto data = runtime::ReadCheckpointFolder(checkpoint->string(), &fs::RealDisk());
    if (!data.ok() || data->created_ms < found_at_ms) continue;
    for (const auto& [id, subtasks] : data->operators) {
      // A second INSERT into the table is "sink:c.d.t#2:committer".
      const bool ours = id.starts_with(own) && id.ends_with(":committer") &&
                        (id[own.size()] == ':' || id[own.size()] == '#');
      if (!ours || subtasks.empty()) continue;
      auto status = connectors::filesystem::ReadCommitStatus(
          runtime::StateReader(id, subtasks.begin()->second));
      if (!status.ok()) continue;
      found = std::move(*status);
      found_at_ms = data->created_ms;
    }
  }
  return found;
}

}  // namespace sluice::engine
