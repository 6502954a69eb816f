// The line of an error with a caret under the place.
#include <algorithm>
#include <array>

#include "sql/syntax/lexer.h"
#include "sql/syntax/parser.h"

namespace sluice::sql {
namespace {

struct CodePointRange {
  char32_t first;
  char32_t last;
};
// East Asian wide and full-width characters and emoji: two cells on a terminal.
constexpr std::array kWide{
    CodePointRange{0x1100, 0x115F},   CodePointRange{0x2E80, 0x303E},
    CodePointRange{0x3041, 0x33FF},   CodePointRange{0x3400, 0x4DBF},
    CodePointRange{0x4E00, 0x9FFF},   CodePointRange{0xA000, 0xA4CF},
    CodePointRange{0xAC00, 0xD7A3},   CodePointRange{0xF900, 0xFAFF},
    CodePointRange{0xFE30, 0xFE6F},   CodePointRange{0xFF00, 0xFF60},
    CodePointRange{0xFFE0, 0xFFE6},   CodePointRange{0x1F300, 0x1F64F},
    CodePointRange{0x1F680, 0x1F6FF}, CodePointRange{0x1F900, 0x1F9FF},
    CodePointRange{0x20000, 0x3FFFD},
};
constexpr std::array kZeroWidth{
    CodePointRange{0x0300, 0x036F},
    CodePointRange{0x200B, 0x200F},
    CodePointRange{0x20D0, 0x20FF},
    CodePointRange{0xFE00, 0xFE0F},
};

bool Within(char32_t c, auto ranges) {
  return std::ranges::any_of(
      ranges, [c](CodePointRange range) { return c >= range.first && c <= range.last; });
}

struct Cell {
  std::string text;
  int width = 1;
};

std::vector<Cell> Cells(std::string_view line) {
  std::vector<Cell> cells;
  for (size_t i = 0; i < line.size();) {
    char32_t c = 0;
    const uint32_t length = CharacterBytes(line, i, &c);
    Cell cell;
    if (length == 0) {
      cell.text = "\xEF\xBF\xBD";
    } else if (c < 0x20 && c != '\t') {
      cell.text = " ";
    } else {
      cell.text = line.substr(i, length);
      cell.width = Within(c, kWide) ? 2 : Within(c, kZeroWidth) ? 0 : 1;
    }
    cells.push_back(std::move(cell));
    i += std::max(length, 1u);
  }
  return cells;
}

std::string_view LineOf(std::string_view text, int number) {
  for (int line = 1;; ++line) {
    const size_t end = text.find_first_of("\r\n");
    if (line == number) return text.substr(0, end);
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + (text.substr(end).starts_with("\r\n") ? 2 : 1));
  }
}

}  // namespace

std::string RenderCaret(std::string_view sql, SourcePosition at, int width) {
  if (!at.known()) return {};
  if (sql.starts_with("\xEF\xBB\xBF")) sql.remove_prefix(3);
  const std::vector<Cell> cells = Cells(LineOf(sql, at.line));
  const size_t caret = std::min(static_cast<size_t>(std::max(at.column, 1) - 1), cells.size());
  // A generated statement may be one line of a megabyte: show what stands around.
  constexpr size_t kMostBefore = 100;
  constexpr size_t kMostAfter = 60;
  const size_t first = caret > kMostBefore ? caret - kMostBefore : 0;
  const size_t last = std::min(cells.size(), caret + kMostAfter);
  std::string line = first > 0 ? "…" : "";
  std::string mark = first > 0 ? " " : "";
  for (size_t i = first; i < last; ++i) {
    line += cells[i].text;
    if (i >= caret) continue;
    mark += cells[i].text == "\t" ? "\t" : std::string(static_cast<size_t>(cells[i].width), ' ');
  }
  if (last < cells.size()) line += "…";
  size_t carets = 0;
  const size_t mark_end = std::min(last, caret + static_cast<size_t>(std::max(width, 1)));
  for (size_t i = caret; i < mark_end; ++i) carets += static_cast<size_t>(cells[i].width);
  mark.append(std::max<size_t>(carets, 1), '^');
  return line + "\n" + mark + "\n";
}

}  // namespace sluice::sql
