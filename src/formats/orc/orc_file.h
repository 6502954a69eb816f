// An opened ORC file.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <arrow/io/interfaces.h>

#include "formats/format.h"
#include "formats/orc/column_reader.h"
#include "formats/orc/metadata.h"
#include "formats/orc/orc_options.h"
#include "formats/orc/orc_schema.h"

namespace sluice::formats::orc_format {

/// Parts are stripes. Not thread-safe; the Rows of a part borrow the file.
class OrcFile final : public BulkFile {
 public:
  /// The tail is read here, in one request for most files.
  static Result<std::unique_ptr<BulkFile>> Open(const OrcOptions& options, ReadSchema schema,
                                                std::shared_ptr<arrow::io::RandomAccessFile> file,
                                                const FormatContext& context);

  int part_count() const override { return static_cast<int>(footer_.stripes.size()); }
  int64_t row_count(int part) const override {
    return static_cast<int64_t>(footer_.stripes[static_cast<size_t>(part)].row_count);
  }
  bool MayMatch(int part, std::span<const expr::ExprPtr> filters) const override;
  ColumnFacts Facts(int part, int column) const override;
  Result<std::unique_ptr<Rows>> ReadPart(int part) override;

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
  bool hybrid_calendar() const {
    return footer_.calendar == Calendar::kHybrid ||
           (footer_.calendar == Calendar::kUnknown && options_.unmarked_is_hybrid);
  }
  Result<std::shared_ptr<arrow::Buffer>> ReadBytes(uint64_t offset, uint64_t length) const;
  Result<StripeFooter> ReadStripeFooter(const StripeInfo& stripe) const;
  Status LoadStreams(const StripeInfo& stripe, StripeSource* source) const;

  const OrcOptions options_;
  const ReadSchema schema_;
  const std::shared_ptr<arrow::io::RandomAccessFile> file_;
  arrow::MemoryPool* const pool_;
  const TimeZone session_zone_;
  std::shared_ptr<const BlockCodec> codec_;
  Footer footer_;
  std::vector<std::vector<ColumnStatistics>> stripe_statistics_;  // By stripe and column id.
  std::vector<ReadNode> nodes_;
  std::vector<bool> touched_;
};

}  // namespace sluice::formats::orc_format
