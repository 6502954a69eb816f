// What functions of ARRAY and MAP are made of: results are lists of positions in a pool of values,
// gathered at the end.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "expr/kernel_support.h"

namespace sluice::expr {

/// An ARRAY, MAP or MULTISET argument: row i holds the child values [begin(i), end(i)).
class ListOperand : public Operand {
 public:
  explicit ListOperand(const KernelArgument& argument);
  int32_t begin(int64_t row) const { return offsets_[row & mask_]; }
  int32_t end(int64_t row) const { return offsets_[(row & mask_) + 1]; }
  int32_t length(int64_t row) const { return end(row) - begin(row); }
  /// Elements of an ARRAY, keys of a MAP.
  const ArrayPtr& values() const { return values_; }
  /// Values of a MAP.
  const ArrayPtr& items() const { return items_; }

 private:
  const int32_t* offsets_;
  ArrayPtr values_;
  ArrayPtr items_;
};

/// Equality of values by position, for any type; NULL equals NULL.
using ElementEqual = std::function<bool(int64_t, int64_t)>;
ElementEqual EqualIn(const SqlType& type, const ArrayPtr& a, const ArrayPtr& b);
/// Order of values by position; NULL is least.
using ElementLess = std::function<bool(int64_t, int64_t)>;
ElementLess LessIn(const SqlType& type, const ArrayPtr& values);

/// Lists under construction: positions in a pool, -1 for NULL.
class ListResult {
 public:
  ListResult(int64_t row_count, arrow::MemoryPool* pool) : nulls_(row_count, pool), pool_(pool) {
    offsets_.reserve(static_cast<size_t>(row_count) + 1);
    offsets_.push_back(0);
  }
  void Add(int64_t position) { positions_.push_back(static_cast<int32_t>(position)); }
  void EndRow() { offsets_.push_back(static_cast<int32_t>(positions_.size())); }
  void EndNullRow() {
    nulls_.SetNull(static_cast<int64_t>(offsets_.size()) - 1);
    EndRow();
  }
  std::vector<int32_t>& positions() { return positions_; }
  /// Gathers the values from `values` into an ARRAY of `type`.
  Result<ArrayPtr> Finish(const ArrayPtr& values, const SqlType& type);
  /// Gathers keys and values into a MAP of `type`.
  Result<ArrayPtr> FinishMap(const ArrayPtr& keys, const ArrayPtr& values, const SqlType& type);

 private:
  NullMask nulls_;
  arrow::MemoryPool* pool_;
  std::vector<int32_t> offsets_;
  std::vector<int32_t> positions_;
};

/// The values at `positions`; -1 gives NULL.
Result<ArrayPtr> Gather(const ArrayPtr& values, const std::vector<int32_t>& positions,
                        arrow::MemoryPool* pool);
/// A constant argument spread to `row_count` values.
Result<ArrayPtr> Expand(const KernelArgument& argument, int64_t row_count, arrow::MemoryPool* pool);
/// The arguments' values row by row: a1 b1 a2 b2 ….
Result<ArrayPtr> Interleave(std::span<const KernelArgument> arguments, int64_t row_count,
                            arrow::MemoryPool* pool);
/// An ARRAY of rows with `width` values each.
Result<ArrayPtr> FixedLists(const ArrayPtr& values, int64_t row_count, int64_t width,
                            const SqlType& type, arrow::MemoryPool* pool);

}  // namespace sluice::expr
