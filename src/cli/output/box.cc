#include "cli/output/box.h"

#include "cli/output/cell.h"

namespace sluice::cli {

void Box::Rule() const {
  std::string line = "+";
  for (const int width : widths_) line += std::string(static_cast<size_t>(width) + 2, '-') + "+";
  std::fprintf(out_, "%s\n", line.c_str());
}

void Box::Row(const std::vector<std::string>& cells) const {
  std::string line = "|";
  for (size_t i = 0; i < cells.size(); ++i) {
    const std::string cell = FitCells(cells[i], widths_[i]);
    line += " " + std::string(static_cast<size_t>(std::max(0, widths_[i] - CellWidth(cell))), ' ') +
            cell + " |";
  }
  std::fprintf(out_, "%s\n", line.c_str());
}

}  // namespace sluice::cli
