// Boxes: in batch the widths come from the data, in streaming from the types (service.md §1.4).
#include <algorithm>

#include "cli/output/box.h"
#include "cli/output/cell.h"
#include "cli/output/printers.h"
#include "common/text.h"

namespace sluice::cli {
namespace {

/// Rows kept back to find the widths; a longer result goes on with the widths of these.
constexpr size_t kWidthRows = 10'000;

int StreamingWidth(const SqlType& type, int max_column_width) {
  switch (type.kind()) {
    case TypeKind::kTinyint:
      return 4;
    case TypeKind::kSmallint:
      return 6;
    case TypeKind::kInt:
      return 11;
    case TypeKind::kBigint:
      return 20;
    case TypeKind::kDecimal:
      return type.precision() + 2;
    case TypeKind::kBoolean:
      return 6;
    case TypeKind::kDate:
      return 10;
    case TypeKind::kTime:
      return type.precision() == 0 ? 8 : type.precision() + 9;
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLtz:
      return type.precision() == 0   ? 19
             : type.precision() <= 3 ? 23
             : type.precision() <= 6 ? 26
                                     : 29;
    default:
      return max_column_width;
  }
}

class TablePrinter final : public ResultPrinter {
 public:
  TablePrinter(ResultHeader header, std::FILE* out) : header_(std::move(header)), out_(out) {}

  void Begin() override {
    if (!header_.streaming) return;
    std::vector<int> widths = {2};
    for (const Column& column : header_.schema.columns()) {
      widths.push_back(std::max(
          {StreamingWidth(column.type, header_.max_column_width), CellWidth(column.name), 6}));
    }
    Open(std::move(widths));
  }

  void Rows(const Batch& batch) override {
    for (int64_t row = 0; row < batch.row_count(); ++row) {
      ++row_count_;
      std::vector<std::string> cells = Cells(batch, row);
      if (box_) {
        box_->Row(cells);
      } else {
        kept_.push_back(std::move(cells));
        if (kept_.size() >= kWidthRows) FlushKept();
      }
    }
    if (box_) std::fflush(out_);
  }

  void End(double seconds, bool terminated) override {
    if (!header_.streaming && row_count_ > 0 && !box_) FlushKept();
    if (box_) box_->Rule();
    char time[48];
    std::snprintf(time, sizeof(time), "(%.2f seconds)", seconds);
    const std::string rows = std::to_string(row_count_) + (row_count_ == 1 ? " row" : " rows");
    std::string line;
    if (terminated) {
      line = "Query terminated, received a total of " + rows;
    } else if (header_.streaming) {
      line = "Received a total of " + rows + " " + time;
    } else {
      line = row_count_ == 0 ? std::string("Empty set ") + time : rows + " in set " + time;
    }
    std::fprintf(out_, "%s\n", line.c_str());
    std::fflush(out_);
  }

 private:
  std::vector<std::string> Cells(const Batch& batch, int64_t row) const {
    std::vector<std::string> cells;
    if (header_.streaming) cells.emplace_back(RowKindText(batch.row_kind(row)));
    for (int i = 0; i < header_.schema.column_count(); ++i) {
      const std::shared_ptr<arrow::Array> values = batch.column(i);
      std::string cell;
      if (values->IsNull(row)) {
        cell = "<NULL>";
      } else {
        AppendCellText(header_.schema.column(i).type, *values, row, header_.zone, &cell);
      }
      cells.push_back(std::move(cell));
    }
    return cells;
  }

  void FlushKept() {
    std::vector<int> widths;
    for (int i = 0; i < header_.schema.column_count(); ++i) {
      const int name_width = CellWidth(header_.schema.column(i).name);
      int width = 0;
      for (const auto& cells : kept_)
        width = std::max(width, CellWidth(cells[static_cast<size_t>(i)]));
      widths.push_back(std::max(name_width, std::min(width, header_.max_column_width)));
    }
    Open(std::move(widths));
    for (const auto& cells : kept_) box_->Row(cells);
    kept_.clear();
  }

  void Open(std::vector<int> widths) {
    box_ = std::make_unique<Box>(std::move(widths), out_);
    std::vector<std::string> names;
    if (header_.streaming) names.emplace_back("op");
    for (const Column& column : header_.schema.columns()) names.push_back(column.name);
    box_->Rule();
    box_->Row(names);
    box_->Rule();
    std::fflush(out_);
  }

  const ResultHeader header_;
  std::FILE* const out_;
  std::unique_ptr<Box> box_;
  std::vector<std::vector<std::string>> kept_;
  int64_t row_count_ = 0;
};

}  // namespace

std::unique_ptr<ResultPrinter> MakeTablePrinter(ResultHeader header, std::FILE* out) {
  return std::make_unique<TablePrinter>(std::move(header), out);
}

void PrintTextBox(const engine::TextTable& table, std::FILE* out) {
  if (table.rows.empty()) {
    std::fprintf(out, "Empty set\n");
    return;
  }
  if (table.rows.size() == 1 && table.columns.size() == 1 && table.rows[0][0] &&
      table.rows[0][0]->find('\n') != std::string::npos) {
    std::fprintf(out, "%s\n", std::string(TrimAscii(*table.rows[0][0])).c_str());
    return;
  }
  std::vector<int> widths;
  for (size_t i = 0; i < table.columns.size(); ++i) {
    int width = CellWidth(table.columns[i]);
    for (const auto& row : table.rows) width = std::max(width, CellWidth(row[i].value_or("")));
    widths.push_back(width);
  }
  const Box box(std::move(widths), out);
  box.Rule();
  box.Row(table.columns);
  box.Rule();
  for (const auto& row : table.rows) {
    std::vector<std::string> cells;
    for (const auto& cell : row) cells.push_back(cell.value_or(""));
    box.Row(cells);
  }
  box.Rule();
  std::fprintf(out, "%zu %s in set\n", table.rows.size(), table.rows.size() == 1 ? "row" : "rows");
}

}  // namespace sluice::cli
