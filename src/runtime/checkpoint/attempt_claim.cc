#include "runtime/checkpoint/attempt_claim.h"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <fstream>
#include <sstream>
#include <thread>
#include <vector>

#include "common/clock.h"
#include "common/log.h"
#include "common/random.h"
#include "common/stable_hash.h"

namespace sluice::runtime {
namespace {

constexpr std::string_view kPrefix = "attempt-";
constexpr std::string_view kSupersededPrefix = ".superseded-";
constexpr std::string_view kOwner = "owner";

std::string ReadFirstLine(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

/// Tells one process from another that gets its number later. "" for one that has ended, also while
/// its parent has not asked for its exit code, which the first process of a container may never do.
std::string StartOfProcess(int64_t pid) {
  const std::string stat = ReadFirstLine("/proc/" + std::to_string(pid) + "/stat");
  const size_t end = stat.rfind(')');  // The name before it may hold anything.
  if (end == std::string::npos) return "";
  constexpr size_t kState = 3;
  constexpr size_t kThreadCount = 20;
  constexpr size_t kStartTime = 22;
  std::vector<std::string> fields(kStartTime + 1);  // Numbered as in proc(5).
  std::istringstream text(stat.substr(end + 1));
  for (size_t i = kState; i <= kStartTime; ++i) text >> fields[i];
  // Other threads may be in the middle of a rename.
  const bool ended =
      fields[kState] == "Z" && fields[kThreadCount].size() == 1 && fields[kThreadCount] <= "1";
  return ended ? "" : fields[kStartTime];
}

/// "<boot id> <pid> <start>": what a later process on the same machine can check.
struct Owner {
  std::string boot;
  int64_t pid = 0;
  std::string start;

  static Owner Self() {
    return {ReadFirstLine("/proc/sys/kernel/random/boot_id"), ::getpid(),
            StartOfProcess(::getpid())};
  }
  static Owner Of(const std::string& line) {
    Owner owner;
    std::istringstream(line) >> owner.boot >> owner.pid >> owner.start;
    return owner;
  }
  std::string ToText() const { return boot + " " + std::to_string(pid) + " " + start + "\n"; }
  /// False when it may still be alive.
  bool IsDead() const {
    if (boot.empty() || pid <= 0 || boot != Self().boot) return false;
    if (::kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH) return true;
    return StartOfProcess(pid) != start;
  }
};

Status CheckDisk(int result, std::string_view what, const std::string& path) {
  return result < 0 ? fs::DiskError(-result, what, path) : Status();
}

/// For later starts only, and read past the disk: what is lost costs a wait.
void WriteOwner(const std::string& path) { std::ofstream(path) << Owner::Self().ToText(); }

}  // namespace

Result<std::unique_ptr<AttemptClaim>> AttemptClaim::Make(const std::string& directory,
                                                         fs::Disk* disk, bool wait,
                                                         const std::function<Status()>& sync) {
  const std::string id = Hex16(Random(Random::SystemSeed()).Next());
  const std::string folder = directory + "/" + std::string(kPrefix) + id;
  SLUICE_RETURN_NOT_OK(CheckDisk(disk->MakeDirectory(folder), "create", folder));
  if (wait) WriteOwner(folder + "/" + std::string(kOwner));
  // Behind the making of one's own: of two that start at once, one at least sees the other.
  std::vector<fs::FileInfo> entries;
  SLUICE_RETURN_NOT_OK(CheckDisk(disk->List(directory, &entries), "list", directory));
  bool may_live = false;
  for (const fs::FileInfo& entry : entries) {
    const bool dead = IsSuperseded(entry);
    if (!entry.is_directory || entry.path == folder) continue;
    if (!dead && !entry.name().starts_with(kPrefix)) continue;
    std::string path = entry.path;
    if (!dead) {
      may_live =
          may_live || !Owner::Of(ReadFirstLine(entry.path + "/" + std::string(kOwner))).IsDead();
      // In one step: it may be written into at this moment.
      path = directory + "/" + std::string(kSupersededPrefix) + id + "-" +
             std::string(entry.name().substr(kPrefix.size()));
      SLUICE_RETURN_NOT_OK(
          CheckDisk(disk->RenameNoReplace(entry.path, path), "rename", entry.path));
    }
    (void)disk->RemoveTree(path);  // Or with a later checkpoint, at the end, at the next start.
  }
  SLUICE_RETURN_NOT_OK(sync());
  if (wait && may_live) {
    Log(LogLevel::kWarning,
        "An earlier process that has the state " + directory +
            " may still be alive, here or on another machine: it is shut out. Waiting " +
            std::to_string(2 * kFenceLookMs) + " ms until it must have noticed.");
    std::this_thread::sleep_for(std::chrono::milliseconds(2 * kFenceLookMs));
  }
  return std::unique_ptr<AttemptClaim>(new AttemptClaim(directory, folder, disk));
}

bool AttemptClaim::IsSuperseded(const fs::FileInfo& entry) {
  return entry.is_directory && entry.name().starts_with(kSupersededPrefix);
}

Status AttemptClaim::Look() const {
  if (!lost_.load()) {
    const int64_t now_us = Clock::System().MonotonicMicros();
    fs::FileInfo info;
    const int result = disk_.Stat(folder_, &info);
    if (result != -ENOENT && result != -ENOTDIR && result != -ESTALE) {
      if (result >= 0) looked_us_ = now_us;
      return CheckDisk(result, "look at", folder_);
    }
    lost_ = true;
  }
  return Status::AlreadyExists(
      "This process has been superseded: another one has taken the job whose state is in " +
      directory_ +
      " while this one stood still. Nothing more is written or published; the other one goes on "
      "from the last checkpoint.");
}

Status AttemptClaim::Check() const {
  const int64_t age_us = Clock::System().MonotonicMicros() - looked_us_.load();
  if (!lost_.load() && age_us < int64_t{kFenceLookMs} * 1'000) return {};
  return Look();
}

}  // namespace sluice::runtime
