#include "formats/orc/stripe_rows.h"

#include <algorithm>

#include <arrow/api.h>

namespace sluice::formats::orc_format {

StripeRows::StripeRows(std::unique_ptr<StripeSource> source, const Schema& output, int part,
                       int64_t row_count)
    : source_(std::move(source)),
      output_(output),
      arrow_schema_(output.ToArrow()),
      part_(part),
      row_count_(row_count) {}

Result<std::unique_ptr<BulkFile::Rows>> StripeRows::Make(std::unique_ptr<StripeSource> source,
                                                         const std::vector<ReadNode>& nodes,
                                                         const Schema& output, int part,
                                                         int64_t row_count) {
  std::unique_ptr<StripeRows> rows(new StripeRows(std::move(source), output, part, row_count));
  for (const ReadNode& node : nodes) {
    SLUICE_ASSIGN_OR_RETURN(auto reader, MakeColumnReader(node, *rows->source_));
    rows->readers_.push_back(std::move(reader));
  }
  return std::unique_ptr<BulkFile::Rows>(std::move(rows));
}

Result<std::optional<Batch>> StripeRows::Next() {
  if (rows_read_ >= row_count_) return std::optional<Batch>();
  int64_t length = row_count_ - rows_read_;
  if (!readers_.empty()) length = std::min(length, kTargetBatchRows);
  arrow::ArrayVector columns;
  for (size_t i = 0; i < readers_.size(); ++i) {
    int64_t bad_row = -1;
    auto column = readers_[i]->Read(length, nullptr, &bad_row);
    if (!column.ok()) return Blame(column.status(), i, length, bad_row);
    columns.push_back(std::move(*column));
  }
  rows_read_ += length;
  return std::optional<Batch>(
      Batch(arrow::RecordBatch::Make(arrow_schema_, length, std::move(columns))));
}

Status StripeRows::Blame(const Status& status, size_t column, int64_t length,
                         int64_t bad_row) const {
  std::string where = "Cannot read column '" + output_.column(static_cast<int>(column)).name +
                      "' in stripe " + std::to_string(part_) + ", ";
  where += bad_row >= 0 ? "row " + std::to_string(rows_read_ + bad_row + 1)
                        : "rows " + std::to_string(rows_read_ + 1) + " to " +
                              std::to_string(rows_read_ + length);
  return Status(status).WithContext(where + ".");
}

}  // namespace sluice::formats::orc_format
