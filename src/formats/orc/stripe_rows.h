// The rows of one stripe, batch by batch.
#pragma once

#include <memory>
#include <vector>

#include <arrow/type_fwd.h>

#include "formats/format.h"
#include "formats/orc/column_reader.h"
#include "formats/pruning/row_ranges.h"

namespace sluice::formats::orc_format {

/// Which rows of a stripe are given: strides, unless they are all.
struct WantedRows {
  pruning::RowRanges ranges;
  int64_t row_count = 0;    // Of the stripe.
  int64_t stride_rows = 0;  // 0: there are no strides.
  bool all() const { return pruning::CountRows(ranges) == row_count; }
};

class StripeRows final : public BulkFile::Rows {
 public:
  static Result<std::unique_ptr<BulkFile::Rows>> Make(std::unique_ptr<StripeSource> source,
                                                      const std::vector<ReadNode>& nodes,
                                                      const Schema& output, int part,
                                                      WantedRows wanted);
  Result<std::optional<Batch>> Next() override;
  int64_t position() const override { return position_; }

 private:
  StripeRows(std::unique_ptr<StripeSource> source, const Schema& output, int part,
             WantedRows wanted);
  bool CanSeek() const;
  void SeekTo(int64_t row);
  Status Blame(const Status& status, size_t column, int64_t length, int64_t bad_row) const;

  const std::unique_ptr<StripeSource> source_;  // Outlives the readers.
  const Schema output_;
  const std::shared_ptr<arrow::Schema> arrow_schema_;
  const int part_;
  WantedRows wanted_;
  size_t range_ = 0;  // Of wanted_, in which position_ lies or which comes next.
  int64_t position_ = 0;
  std::vector<std::unique_ptr<ColumnReader>> readers_;
};

}  // namespace sluice::formats::orc_format
