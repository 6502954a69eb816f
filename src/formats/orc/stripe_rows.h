// The rows of one stripe, batch by batch.
#pragma once

#include <memory>
#include <vector>

#include <arrow/type_fwd.h>

#include "formats/format.h"
#include "formats/orc/column_reader.h"

namespace sluice::formats::orc_format {

class StripeRows final : public BulkFile::Rows {
 public:
  static Result<std::unique_ptr<BulkFile::Rows>> Make(std::unique_ptr<StripeSource> source,
                                                      const std::vector<ReadNode>& nodes,
                                                      const Schema& output, int part,
                                                      int64_t row_count);
  Result<std::optional<Batch>> Next() override;
  int64_t position() const override { return rows_read_; }

 private:
  StripeRows(std::unique_ptr<StripeSource> source, const Schema& output, int part,
             int64_t row_count);
  Status Blame(const Status& status, size_t column, int64_t length, int64_t bad_row) const;

  const std::unique_ptr<StripeSource> source_;  // Outlives the readers.
  const Schema output_;
  const std::shared_ptr<arrow::Schema> arrow_schema_;
  const int part_;
  const int64_t row_count_;
  int64_t rows_read_ = 0;
  std::vector<std::unique_ptr<ColumnReader>> readers_;
};

}  // namespace sluice::formats::orc_format
