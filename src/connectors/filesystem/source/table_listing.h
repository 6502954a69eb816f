// Finds the partitions and files of a table's directory (filesystem.md §4, §6, §17).
//
// Hidden names (a leading '.' or '_') are skipped with everything below them, at every level below
// the table's root; the root's own name does not matter. Directories found are used as they are:
// another order of the keys or another escaping is fine. What is not `key=value` with a key of the
// table is skipped with one warning.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "connectors/connector.h"
#include "connectors/filesystem/source/path_pattern.h"
#include "fs/file_system.h"

namespace sluice::connectors::filesystem {

struct PartitionDirectory {
  std::string path;
  PartitionValues values;  // In the order of the table's keys.
};

/// Which of the values that directories give a key may be read, by index of the key; called for all
/// directories of a level at once, before anything below them is listed.
using KeyFilter = std::function<Result<std::vector<bool>>(
    size_t key, const std::vector<std::optional<std::string>>& values)>;

/// Thread-safe; blocking.
class TableListing {
 public:
  TableListing(std::shared_ptr<fs::FileSystem> file_system, std::string root,
               std::vector<std::string> partition_keys, std::string default_partition_name,
               std::optional<PathPattern> pattern)
      : file_system_(std::move(file_system)),
        root_(std::move(root)),
        keys_(std::move(partition_keys)),
        default_name_(std::move(default_partition_name)),
        pattern_(std::move(pattern)) {}

  /// Directories of all partitions, sorted by path. A table directory that is not there has none.
  /// I/O errors are errors.
  Result<std::vector<PartitionDirectory>> ListPartitions() const {
    return ListPartitions(KeyFilter());
  }
  /// Only those that pass `keep` (may be empty) at every level.
  Result<std::vector<PartitionDirectory>> ListPartitions(const KeyFilter& keep) const;
  /// The partitions that have, for each key, one of the texts `texts[key]`: looked for by name, in
  /// any order of the keys, instead of listed. nullopt where their names are not certain or too
  /// many, and only listing finds them all (docs/decisions/0023).
  Result<std::optional<std::vector<PartitionDirectory>>> FindPartitions(
      const std::vector<std::vector<std::string>>& texts) const;
  /// Visible files at any depth below `directory` (which may be a file itself), sorted by path. A
  /// directory that vanishes meanwhile has none, `directory` itself must be there. On object stores
  /// all old or all new files where INSERT OVERWRITE is replacing them.
  Result<std::vector<fs::FileInfo>> ListFiles(const std::string& directory) const;

  using Listing = Result<std::vector<fs::FileInfo>>;
  /// The same for many directories; answer i belongs to directory i.
  std::vector<Listing> ListFilesOfMany(const std::vector<std::string>& directories) const;

  /// The partition of one file by its path alone; nullopt for a path that ListPartitions and
  /// ListFiles would not find.
  std::optional<PartitionDirectory> PartitionOf(const std::string& file_path) const;

  const std::string& root() const { return root_; }

 private:
  Status CheckRoot(bool* is_there) const;
  /// Whatever the pattern says.
  Listing ListVisible(const std::string& directory) const;
  /// A directory on the way to partitions, with the keys that its path has given.
  struct Level {
    std::string path;
    PartitionValues values;
    std::vector<bool> found;
    size_t last_key = 0;  // That the last component has given.
  };
  Status KeepWanted(const KeyFilter& keep, std::vector<Level>* level) const;
  /// Those of `named` that are directories; nullopt when only listing can tell.
  Result<std::optional<std::vector<PartitionDirectory>>> OnlyThere(
      std::vector<PartitionDirectory> named) const;
  /// Whether a value's directory has one name only, whoever has written it.
  bool HasCertainName(std::string_view key, std::string_view text) const;
  void Descend(const Level& parent, const std::vector<fs::FileInfo>& entries,
               std::vector<Level>* children) const;
  std::vector<Listing> ListMany(const std::vector<std::string>& directories) const;
  /// Answer i belongs to directory i; object stores are asked for many at once.
  std::vector<Listing> AskMany(const std::vector<std::string>& directories,
                               const std::function<Listing(const std::string&)>& ask) const;
  void WarnOfStray(const std::string& path) const;
  /// All visible files below a directory of an object store.
  Listing ListObjects(const std::string& directory) const;
  /// Takes out what INSERT OVERWRITE has replaced, or not yet put in place. False when a marker is
  /// gone already: what was listed is out of date.
  Result<bool> ApplyMarkers(const std::string& directory, const std::vector<fs::FileInfo>& markers,
                            std::vector<fs::FileInfo>* files) const;
  static bool IsHiddenBelow(std::string_view path, std::string_view directory);

  const std::shared_ptr<fs::FileSystem> file_system_;
  const std::string root_;
  const std::vector<std::string> keys_;
  const std::string default_name_;
  const std::optional<PathPattern> pattern_;
  mutable std::atomic<bool> warned_{false};
};

}  // namespace sluice::connectors::filesystem
