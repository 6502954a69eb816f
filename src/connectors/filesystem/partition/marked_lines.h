// The form of the small files beside a table that say which of its files count: a first line that
// tells what it is, then a line an entry, whose first character is its mark.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::connectors::filesystem {

class MarkedLineWriter {
 public:
  explicit MarkedLineWriter(std::string_view head) : text_(std::string(head) + "\n") {}
  /// `entry` has no line break.
  void Add(char mark, std::string_view entry);
  void Add(char mark, const std::vector<std::string>& entries);
  std::string Take() && { return std::move(text_); }

 private:
  std::string text_;
};

/// A line that is not empty.
struct MarkedLine {
  std::string_view line;
  char mark() const { return line.front(); }
  std::string entry() const { return std::string(line.substr(1)); }
};

/// The lines below the first, which must be `head`: else nullopt. Borrows `text`.
std::optional<std::vector<MarkedLine>> ReadMarkedLines(std::string_view text,
                                                       std::string_view head);

}  // namespace sluice::connectors::filesystem
