// The hidden object ".<name>.overwrite.<lineage>" in a directory of an object store while INSERT
// OVERWRITE replaces its files: which ones go, and which ones come.
//
// It is written before the first new file appears and removed after the last old one is gone, and
// it never changes. So whoever finds it in a listing knows how far the replacement was at that
// moment: as long as every old file is there the old ones are the content, after that the new ones.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"

namespace sluice::connectors::filesystem {

inline constexpr std::string_view kOverwriteInfix = ".overwrite.";

struct OverwriteMarker {
  std::vector<std::string> old_files;  // Relative to the directory, "a/b"; without line breaks.
  std::vector<std::string> new_files;
};

/// True for ".<anything>.overwrite.<anything>".
bool IsOverwriteMarkerName(std::string_view name);

std::string EncodeOverwriteMarker(const OverwriteMarker& marker);
/// Also reads the first form, which names old files only. kCorrupt without a place: add the path.
Result<OverwriteMarker> DecodeOverwriteMarker(std::string_view text);

/// Adds the files that a reader of a directory leaves out: `present` are all relative paths of the
/// listing in which the marker was found. Files that neither list names are never left out.
void HideReplaced(const OverwriteMarker& marker, const std::set<std::string, std::less<>>& present,
                  std::set<std::string, std::less<>>* hidden);

}  // namespace sluice::connectors::filesystem
