#include "connectors/filesystem/partition/overwrite_marker.h"

#include <algorithm>

#include "common/text.h"

namespace sluice::connectors::filesystem {
namespace {

// The first form has one old file a line. In the second, "-" is in front of old and "+" in front
// of new ones.
constexpr std::string_view kHead1 = "sluice overwrite 1";
constexpr std::string_view kHead2 = "sluice overwrite 2";

Status Damaged() { return Status::Corrupt("It is no marker of an INSERT OVERWRITE."); }

}  // namespace

bool IsOverwriteMarkerName(std::string_view name) {
  return name.starts_with('.') && name.find(kOverwriteInfix) != std::string_view::npos;
}

std::string EncodeOverwriteMarker(const OverwriteMarker& marker) {
  std::string text = std::string(kHead2) + "\n";
  for (const std::string& file : marker.old_files) text += "-" + file + "\n";
  for (const std::string& file : marker.new_files) text += "+" + file + "\n";
  return text;
}

Result<OverwriteMarker> DecodeOverwriteMarker(std::string_view text) {
  const std::vector<std::string_view> lines = Split(text, '\n');
  const bool first_form = lines.front() == kHead1;
  if (!first_form && lines.front() != kHead2) return Damaged();
  OverwriteMarker marker;
  for (size_t i = 1; i < lines.size(); ++i) {
    const std::string_view line = lines[i];
    if (line.empty()) continue;
    if (first_form) {
      marker.old_files.emplace_back(line);
    } else if (line.front() == '-') {
      marker.old_files.emplace_back(line.substr(1));
    } else if (line.front() == '+') {
      marker.new_files.emplace_back(line.substr(1));
    } else {
      return Damaged();
    }
  }
  return marker;
}

void HideReplaced(const OverwriteMarker& marker, const std::set<std::string, std::less<>>& present,
                  std::set<std::string, std::less<>>* hidden) {
  // The first old file is removed after the last new one has appeared.
  const bool before =
      std::all_of(marker.old_files.begin(), marker.old_files.end(),
                  [&present](const std::string& file) { return present.contains(file); });
  const auto& replaced = before ? marker.new_files : marker.old_files;
  hidden->insert(replaced.begin(), replaced.end());
}

}  // namespace sluice::connectors::filesystem
