#include "formats/orc/stripe_rows.h"

#include <algorithm>

#include <arrow/api.h>

namespace sluice::formats::orc_format {

StripeRows::StripeRows(std::unique_ptr<StripeSource> source, const Schema& output, int part,
                       WantedRows wanted)
    : source_(std::move(source)),
      output_(output),
      arrow_schema_(output.ToArrow()),
      part_(part),
      wanted_(std::move(wanted)) {}

Result<std::unique_ptr<BulkFile::Rows>> StripeRows::Make(std::unique_ptr<StripeSource> source,
                                                         const std::vector<ReadNode>& nodes,
                                                         const Schema& output, int part,
                                                         WantedRows wanted) {
  std::unique_ptr<StripeRows> rows(
      new StripeRows(std::move(source), output, part, std::move(wanted)));
  for (const ReadNode& node : nodes) {
    SLUICE_ASSIGN_OR_RETURN(auto reader, MakeColumnReader(node, *rows->source_));
    rows->readers_.push_back(std::move(reader));
  }
  if (!rows->wanted_.all() && !rows->CanSeek())
    rows->wanted_.ranges = {{0, rows->wanted_.row_count}};
  return std::unique_ptr<BulkFile::Rows>(std::move(rows));
}

bool StripeRows::CanSeek() const {
  if (wanted_.stride_rows <= 0) return false;
  const auto strides =
      static_cast<size_t>((wanted_.row_count + wanted_.stride_rows - 1) / wanted_.stride_rows);
  return std::all_of(readers_.begin(), readers_.end(),
                     [strides](const auto& reader) { return reader->CanSeek(strides); });
}

// `row` is the first of a stride.
void StripeRows::SeekTo(int64_t row) {
  for (const auto& reader : readers_) reader->Seek(static_cast<size_t>(row / wanted_.stride_rows));
}

Result<std::optional<Batch>> StripeRows::Next() {
  while (range_ < wanted_.ranges.size() && position_ >= wanted_.ranges[range_].end) ++range_;
  if (range_ == wanted_.ranges.size()) {
    position_ = wanted_.row_count;
    return std::optional<Batch>();
  }
  const pruning::RowRange& range = wanted_.ranges[range_];
  if (position_ < range.begin) {
    SeekTo(range.begin);
    position_ = range.begin;
  }
  int64_t length = range.end - position_;
  if (!readers_.empty()) length = std::min(length, kTargetBatchRows);
  arrow::ArrayVector columns;
  for (size_t i = 0; i < readers_.size(); ++i) {
    int64_t bad_row = -1;
    auto column = readers_[i]->Read(length, nullptr, &bad_row);
    if (!column.ok()) return Blame(column.status(), i, length, bad_row);
    columns.push_back(std::move(*column));
  }
  position_ += length;
  return std::optional<Batch>(
      Batch(arrow::RecordBatch::Make(arrow_schema_, length, std::move(columns))));
}

Status StripeRows::Blame(const Status& status, size_t column, int64_t length,
                         int64_t bad_row) const {
  std::string where = "Cannot read column '" + output_.column(static_cast<int>(column)).name +
                      "' in stripe " + std::to_string(part_) + ", ";
  where += bad_row >= 0 ? "row " + std::to_string(position_ + bad_row + 1)
                        : "rows " + std::to_string(position_ + 1) + " to " +
                              std::to_string(position_ + length);
  return Status(status).WithContext(where + ".");
}

}  // namespace sluice::formats::orc_format
