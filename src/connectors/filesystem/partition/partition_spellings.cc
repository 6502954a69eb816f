#include "connectors/filesystem/partition/partition_spellings.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include <arrow/array/util.h>

#include "connectors/filesystem/partition/partition_path.h"
#include "fs/if_there.h"

namespace sluice::connectors::filesystem {
namespace {

/// The text that our writers give the value, where `type` has values with several texts; a text
/// that is no such value is its own.
std::string OwnText(const SqlType& type, const std::string& text) {
  if (type.is_character() || type.is_binary()) return text;
  const auto value = PartitionValueFromText(type, text);
  if (!value.ok()) return text;
  const auto array = arrow::MakeArrayFromScalar(**value, 1);
  return array.ok() ? PartitionText(type, **array, 0).value_or(text) : text;
}

class Search {
 public:
  Search(fs::FileSystem& file_system, const std::string& root, const std::vector<std::string>& keys,
         std::string_view default_name, const std::vector<SqlType>& types)
      : file_system_(file_system),
        root_(root),
        keys_(keys),
        default_name_(default_name),
        types_(types) {}

  Result<std::vector<OtherSpelling>> Run(const std::vector<PartitionValues>& wanted) {
    wanted_of_key_.resize(keys_.size());
    for (const PartitionValues& values : wanted) {
      PartitionValues normal;
      for (size_t key = 0; key < keys_.size(); ++key) {
        normal.push_back(Normal(key, values[key]));
        wanted_of_key_[key].insert(normal.back());
      }
      wanted_[std::move(normal)].insert(
          fs::JoinPath(root_, PartitionPath(keys_, values, default_name_)));
    }
    SLUICE_RETURN_NOT_OK(
        Descend(root_, PartitionValues(keys_.size()), std::vector<bool>(keys_.size()), 0));
    return std::move(found_);
  }

 private:
  /// As it is compared: '' is in the default partition.
  std::optional<std::string> Normal(size_t key, const std::optional<std::string>& value) const {
    if (!value || value->empty()) return std::nullopt;
    return types_.empty() ? *value : OwnText(types_[key], *value);
  }

  Status Descend(const std::string& directory, const PartitionValues& values,
                 const std::vector<bool>& known, size_t depth) {
    if (depth == keys_.size()) {
      const auto own = wanted_.find(values);
      if (own != wanted_.end() && !own->second.contains(directory)) {
        found_.push_back({*own->second.begin(), directory});
      }
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
      next[key] = Normal(key, name->value);
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
  const std::vector<SqlType>& types_;
  std::map<PartitionValues, std::set<std::string>> wanted_;  // Where our writers put each.
  std::vector<std::set<std::optional<std::string>>> wanted_of_key_;
  std::vector<OtherSpelling> found_;
};

}  // namespace

Result<std::vector<OtherSpelling>> FindOtherSpellings(fs::FileSystem& file_system,
                                                      const std::string& root,
                                                      const std::vector<std::string>& keys,
                                                      std::string_view default_name,
                                                      const std::vector<PartitionValues>& wanted,
                                                      const std::vector<SqlType>& types) {
  if (keys.empty() || wanted.empty()) return std::vector<OtherSpelling>();
  return Search(file_system, root, keys, default_name, types).Run(wanted);
}

}  // namespace sluice::connectors::filesystem
