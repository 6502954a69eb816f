// Writes one ORC file.
//
// Rows of the open stripe are held encoded, column by column, and go to the stream when the stripe
// has its size. State: none; a file ends at a checkpoint.
#pragma once

#include <memory>
#include <vector>

#include <arrow/io/interfaces.h>

#include "formats/format.h"
#include "formats/orc/column_writer.h"
#include "formats/orc/orc_options.h"

namespace sluice::formats::orc_format {

class OrcWriter final : public BulkWriter {
 public:
  static Result<std::unique_ptr<BulkWriter>> Make(const OrcOptions& options, const Schema& schema,
                                                  std::shared_ptr<arrow::io::OutputStream> stream);

  Status Write(const Batch& batch) override;
  int64_t estimated_file_bytes() const override { return written_ + held_bytes(); }
  int64_t buffered_bytes() const override { return held_bytes(); }
  Status Flush() override;
  Status Finish() override;

 private:
  OrcWriter(const OrcOptions& options, const Schema& schema, EncodeSettings settings,
            std::shared_ptr<arrow::io::OutputStream> stream);
  int64_t held_bytes() const { return stripe_rows_ == 0 ? 0 : static_cast<int64_t>(root_->size()); }
  Status Append(const arrow::Array& rows);
  Status WriteStripe();
  Status WriteTail();
  Status Put(std::string_view bytes);

  const OrcOptions options_;
  const EncodeSettings settings_;
  const std::shared_ptr<arrow::io::OutputStream> stream_;
  Footer footer_;
  std::vector<std::vector<ColumnStatistics>> stripe_statistics_;
  std::unique_ptr<ColumnWriter> root_;
  int64_t stripe_rows_ = 0;
  int64_t written_ = 0;
  bool finished_ = false;
};

}  // namespace sluice::formats::orc_format
