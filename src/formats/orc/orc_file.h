// An opened ORC file.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <arrow/io/interfaces.h>

#include "formats/format.h"
#include "formats/orc/calendar.h"
#include "formats/orc/column_reader.h"
#include "formats/orc/metadata.h"
#include "formats/orc/orc_options.h"
#include "formats/orc/orc_schema.h"
#include "formats/pruning/row_ranges.h"

namespace sluice::formats::orc_format {

/// Parts are stripes. Not thread-safe; the Rows of a part borrow the file.
class OrcFile final : public BulkFile {
 public:
  /// The tail is read here, in one request for most files.
  static Result<std::unique_ptr<BulkFile>> Open(const OrcOptions& options, ReadSchema schema,
                                                std::shared_ptr<arrow::io::RandomAccessFile> file,
                                                const FormatContext& context);

  const std::vector<OrcType>& types() const { return footer_.types; }
  int part_count() const override { return static_cast<int>(footer_.stripes.size()); }
  int64_t row_count(int part) const override {
    return static_cast<int64_t>(footer_.stripes[static_cast<size_t>(part)].row_count);
  }
  bool MayMatch(int part, std::span<const expr::ExprPtr> filters) const override;
  ColumnFacts Facts(int part, int column) const override;
  Result<std::unique_ptr<Rows>> ReadPart(int part, std::span<const expr::ExprPtr> filters) override;

 private:
  friend class StripeBounds;
  friend class StrideJudge;
  OrcFile(const OrcOptions& options, ReadSchema schema,
          std::shared_ptr<arrow::io::RandomAccessFile> file, const FormatContext& context)
      : options_(options),
        schema_(std::move(schema)),
        file_(std::move(file)),
        pool_(context.pool),
        session_zone_(context.session_zone) {}
  Status LoadTail();
  Status CheckStripes(uint64_t content_end) const;
  /// Rows of a stride of `part`, 0 without row indexes.
  int64_t stride_rows(int part) const {
    const auto most = static_cast<uint64_t>(row_count(part));
    return static_cast<int64_t>(std::min(footer_.row_index_stride, most));
  }
  Result<std::shared_ptr<arrow::Buffer>> ReadBytes(uint64_t offset, uint64_t length) const;
  Result<StripeFooter> ReadStripeFooter(const StripeInfo& stripe) const;
  Status LoadStreams(const StripeInfo& stripe, bool with_row_indexes, StripeSource* source) const;
  /// The rows of `part` that may pass.
  const pruning::RowRanges& Judge(int part, std::span<const expr::ExprPtr> filters) const;

  const OrcOptions options_;
  const ReadSchema schema_;
  const std::shared_ptr<arrow::io::RandomAccessFile> file_;
  arrow::MemoryPool* const pool_;
  const TimeZone session_zone_;
  std::shared_ptr<const BlockCodec> codec_;
  Footer footer_;
  FileCalendar calendar_;
  uint64_t writer_version_ = 0;
  std::vector<std::vector<ColumnStatistics>> stripe_statistics_;  // By stripe and column id.
  std::vector<ReadNode> nodes_;
  std::vector<bool> touched_;
  // What was asked last: a part is judged, then read.
  mutable int judged_part_ = -1;
  mutable std::vector<expr::ExprPtr> judged_filters_;
  mutable pruning::RowRanges judged_rows_;
};

}  // namespace sluice::formats::orc_format
