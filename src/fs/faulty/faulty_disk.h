// A disk in memory that fails on command, and forgets what was not synced when the power goes.
//
// What a power loss may do, as POSIX allows it: content that was not fsynced is lost, torn or
// zero-filled behind the synced length; names made, renamed or removed since the last sync of their
// folder are there or not; a rename is one step.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "common/clock.h"
#include "common/random.h"
#include "fs/local/disk.h"

namespace sluice::fs {

/// How often operations fail; each failing operation may still take effect, wholly or in part.
struct FaultRates {
  double write = 0;   // Writes, creations.
  double sync = 0;    // fsync of files and folders.
  double rename = 0;  // Renames, exchanges.
  double read = 0;    // Stat, list, open for reading.
};

class FaultyDisk {
 public:
  /// `clock` gives modification times; must outlive the disk.
  explicit FaultyDisk(uint64_t seed, const Clock* clock = &Clock::System());

  /// The disk as one run of the machine sees it. After Crash or Kill every call of older sessions
  /// fails with EIO.
  std::unique_ptr<Disk> NewSession();

  void SetFaultRates(const FaultRates& rates);
  /// After `operations` more operations the machine is dead: everything fails until Crash. -1 takes
  /// it back.
  void CutPowerAfter(int64_t operations);
  /// Called before each operation with its name and path, outside locks: a simulation delays or
  /// reorders here.
  void SetOperationHook(
      std::function<void(std::string_view operation, const std::string& path)> hook);
  int64_t operation_count() const;

  struct WriteBack {
    int64_t offset;
    int64_t length_bytes;
    bool was_written;  // False: the hint was about bytes that the file did not have.
  };
  /// What was said about bytes to be synced later, in order.
  std::vector<WriteBack> write_backs() const;

  /// Power loss: keeps what was durable and a random part of the rest.
  void Crash();
  /// The process dies, the machine goes on: nothing is lost but open descriptors.
  void Kill();

  /// What a reader finds below `root`: full path -> content, without hidden names at any level
  /// below it.
  std::map<std::string, std::string> VisibleFiles(const std::string& root) const;
  /// Everything, hidden names included.
  std::map<std::string, std::string> AllFiles(const std::string& root) const;

 private:
  friend class FaultyDiskSession;
  using Entries = std::map<std::string, int, std::less<>>;

  struct Inode {
    bool is_directory = false;
    int64_t modified_ms = 0;
    std::string data;
    std::string durable_data;
    Entries entries;
    Entries durable_entries;
    std::deque<Entries> history;  // States since the last sync, oldest first; the newest 8.
    std::set<int> coupled;        // Folders that share a rename with this one: durable together.
  };
  struct Place {  // Where a path leads: the folder, the last name and what is there (-1: nothing).
    int directory = -1;
    std::string name;
    int inode = -1;
  };
  /// What happens to one operation.
  struct Verdict {
    int error = 0;      // Positive errno, 0 for success.
    bool apply = true;  // Whether it takes effect all the same.
  };

  Verdict Decide(double rate, int error);
  int Resolve(const std::string& path, Place* place) const;
  int NewInode(bool is_directory);
  void Changed(int directory);
  void Couple(int a, int b);
  void SyncEntries(int directory);
  void LoseData(Inode* inode);
  void Collect(int inode, const std::string& path, bool with_hidden,
               std::map<std::string, std::string>* files) const;
  void DropUnreachable();

  mutable std::mutex mutex_;
  const Clock* const clock_;
  Random random_;
  FaultRates rates_;
  std::function<void(std::string_view, const std::string&)> hook_;
  int64_t operation_count_ = 0;
  std::vector<WriteBack> write_backs_;
  int64_t power_cut_at_ = -1;
  bool power_is_off_ = false;
  int epoch_ = 0;
  std::map<int, Inode> inodes_;
  int next_inode_ = 1;
};

}  // namespace sluice::fs
