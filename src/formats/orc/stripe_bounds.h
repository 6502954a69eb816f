// Statistics of a stripe as bounds of the table's columns.
#pragma once

#include <memory>
#include <optional>

#include <arrow/array/array_base.h>

#include "formats/orc/orc_file.h"
#include "formats/pruning/bounds.h"

namespace sluice::formats::orc_format {

/// Borrows the file.
class StripeBounds final : public pruning::BoundsSource {
 public:
  StripeBounds(const OrcFile& file, int part) : file_(file), part_(static_cast<size_t>(part)) {}
  std::optional<pruning::ColumnBounds> Bounds(int column) const override;
  /// Bounds of a table's column that the file has, from statistics of `row_count` of its rows.
  std::optional<pruning::ColumnBounds> Of(int column, const ColumnStatistics& statistics,
                                          int64_t row_count) const;
  /// What the stripe's statistics tell exactly: bounds of whole numbers and of dates.
  ColumnFacts Facts(int column) const;

 private:
  std::shared_ptr<arrow::Array> MinMax(const SqlType& type, const OrcType& file_type,
                                       const ColumnStatistics& statistics) const;

  const OrcFile& file_;
  const size_t part_;
};

}  // namespace sluice::formats::orc_format
