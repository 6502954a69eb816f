#include "connectors/filesystem/partition/marked_lines.h"

#include "common/text.h"

namespace sluice::connectors::filesystem {

void MarkedLineWriter::Add(char mark, std::string_view entry) {
  text_ += mark;
  text_ += entry;
  text_ += '\n';
}

void MarkedLineWriter::Add(char mark, const std::vector<std::string>& entries) {
  for (const std::string& entry : entries) Add(mark, entry);
}

std::optional<std::vector<MarkedLine>> ReadMarkedLines(std::string_view text,
                                                       std::string_view head) {
  const std::vector<std::string_view> lines = Split(text, '\n');
  if (lines.front() != head) return std::nullopt;
  std::vector<MarkedLine> marked;
  for (size_t i = 1; i < lines.size(); ++i) {
    if (!lines[i].empty()) marked.push_back({lines[i]});
  }
  return marked;
}

}  // namespace sluice::connectors::filesystem
