#include "connectors/filesystem/partition/overwrite_marker.h"

#include <algorithm>

#include "connectors/filesystem/partition/marked_lines.h"

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
  MarkedLineWriter lines(kHead2);
  lines.Add('-', marker.old_files);
  lines.Add('+', marker.new_files);
  return std::move(lines).Take();
}

Result<OverwriteMarker> DecodeOverwriteMarker(std::string_view text) {
  OverwriteMarker marker;
  if (const auto lines = ReadMarkedLines(text, kHead1)) {
    for (const MarkedLine& old : *lines) marker.old_files.emplace_back(old.line);
    return marker;
  }
  const auto lines = ReadMarkedLines(text, kHead2);
  if (!lines) return Damaged();
  for (const MarkedLine& line : *lines) {
    if (line.mark() != '-' && line.mark() != '+') return Damaged();
    (line.mark() == '-' ? marker.old_files : marker.new_files).push_back(line.entry());
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
