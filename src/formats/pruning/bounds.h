// Whether rows of a part of a container (row group, stripe, page) can pass a filter, judged by the
// bounds of its columns.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include <arrow/array/array_base.h>
#include <arrow/scalar.h>

#include "expr/expr.h"

namespace sluice::formats::pruning {

/// What is known of one column of a part.
struct ColumnBounds {
  std::shared_ptr<arrow::Array> min_max;  // Two values of the column's type; null when unknown.
  int64_t null_count = -1;                // -1: unknown.
  int64_t row_count = 0;
  bool all_null() const { return null_count >= 0 && null_count == row_count; }
};

class BoundsSource {
 public:
  virtual ~BoundsSource() = default;
  /// Bounds of a column of the table; nullopt when nothing is known.
  virtual std::optional<ColumnBounds> Bounds(int column) const = 0;
  /// False only when no row of the column has `value`, which is of the column's type (bloom
  /// filters).
  virtual bool MayContain(int column, const arrow::Scalar& value) const {
    (void)column;
    (void)value;
    return true;
  }
};

/// False only when the bounds prove that no row passes. Understands comparisons of a column with a
/// literal, IN, IS [NOT] NULL, AND and OR; everything else may match.
bool MayMatch(const expr::Expr& filter, const BoundsSource& bounds);

}  // namespace sluice::formats::pruning
