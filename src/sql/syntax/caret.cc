// The line of an error with a caret under the place.
#include <algorithm>

#include "common/cell_width.h"
#include "sql/syntax/lexer.h"
#include "sql/syntax/parser.h"

namespace sluice::sql {
namespace {

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
      cell.width = CellWidth(c);
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
