#include "connectors/filesystem/partition/partition_spellings.h"

#include <algorithm>
#include <optional>
#include <set>

#include "connectors/filesystem/partition/partition_path.h"
#include "fs/if_there.h"

namespace sluice::connectors::filesystem {
namespace {

/// As it is compared: '' is in the default partition.
std::optional<std::string> Normal(const std::optional<std::string>& value) {
  if (!value || value->empty()) return std::nullopt;
  return value;
}

class Search {
 public:
  Search(fs::FileSystem& file_system, const std::string& root, const std::vector<std::string>& keys,
         std::string_view default_name)
      : file_system_(file_system), root_(root), keys_(keys), default_name_(default_name) {}

  Result<std::vector<OtherSpelling>> Run(const std::vector<PartitionValues>& wanted) {
    wanted_of_key_.resize(keys_.size());
    for (const PartitionValues& values : wanted) {
      PartitionValues& normal = wanted_.emplace_back();
      for (size_t key = 0; key < keys_.size(); ++key) {
        normal.push_back(Normal(values[key]));
        wanted_of_key_[key].insert(normal.back());
      }
    }
    std::sort(wanted_.begin(), wanted_.end());
    SLUICE_RETURN_NOT_OK(
        Descend(root_, PartitionValues(keys_.size()), std::vector<bool>(keys_.size()), 0));
    return std::move(found_);
  }

 private:
  Status Descend(const std::string& directory, const PartitionValues& values,
                 const std::vector<bool>& known, size_t depth) {
    if (depth == keys_.size()) {
      if (!std::binary_search(wanted_.begin(), wanted_.end(), values)) return {};
      std::string own = fs::JoinPath(root_, PartitionPath(keys_, values, default_name_));
      if (own != directory) found_.push_back({std::move(own), directory});
      return {};
    }
    SLUICE_ASSIGN_OR_RETURN(const auto entries, fs::ListNamesIfThere(file_system_, directory));
    for (const fs::FileInfo& entry : entries) {
      if (!entry.is_directory || fs::IsHiddenName(entry.name())) continue;
      const auto name = ParsePartitionDirectoryName(entry.name(), default_name_);
      if (!name) continue;
      const auto key =
          static_cast<size_t>(std::find(keys_.begin(), keys_.end(), name->key) - keys_.begin());
      if (key == keys_.size() || known[key]) continue;
      PartitionValues next = values;
      next[key] = Normal(name->value);
      if (!wanted_of_key_[key].contains(next[key])) continue;
      std::vector<bool> next_known = known;
      next_known[key] = true;
      SLUICE_RETURN_NOT_OK(Descend(entry.path, next, next_known, depth + 1));
    }
    return {};
  }

  fs::FileSystem& file_system_;
  const std::string& root_;
  const std::vector<std::string>& keys_;
  const std::string_view default_name_;
  std::vector<PartitionValues> wanted_;
  std::vector<std::set<std::optional<std::string>>> wanted_of_key_;
  std::vector<OtherSpelling> found_;
};

}  // namespace

Result<std::vector<OtherSpelling>> FindOtherSpellings(fs::FileSystem& file_system,
                                                      const std::string& root,
                                                      const std::vector<std::string>& keys,
                                                      std::string_view default_name,
                                                      const std::vector<PartitionValues>& wanted) {
  if (keys.empty() || wanted.empty()) return std::vector<OtherSpelling>();
  return Search(file_system, root, keys, default_name).Run(wanted);
}

}  // namespace sluice::connectors::filesystem
