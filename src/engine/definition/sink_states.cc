#include "engine/definition/sink_states.h"

#include <filesystem>

#include "common/text.h"
#include "fs/local/disk.h"
#include "runtime/checkpoint/checkpoint_store.h"

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

}  // namespace

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
