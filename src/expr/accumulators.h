// The accumulators of the aggregate functions; made by MakeAccumulator (aggregate.h).
#pragma once

#include <memory>
#include <string>

#include <arrow/array/array_primitive.h>

#include "expr/aggregate.h"

namespace sluice::expr::internal {

/// COUNT(*) without an argument, COUNT(x) with one.
std::unique_ptr<Accumulator> MakeCount(arrow::MemoryPool* pool);
/// SUM and AVG of numbers. `input` is the argument's type, `result` the call's.
Result<std::unique_ptr<Accumulator>> MakeSum(const SqlType& input, const SqlType& result,
                                             bool average, arrow::MemoryPool* pool);
/// Which of a group's values stays.
enum class Pick { kLeast, kGreatest, kFirst, kLast };
Result<std::unique_ptr<Accumulator>> MakePick(const SqlType& type, Pick pick,
                                              arrow::MemoryPool* pool);
/// Variance or, with `root`, standard deviation; of a sample or of the whole population.
Result<std::unique_ptr<Accumulator>> MakeVariance(const SqlType& input, const SqlType& result,
                                                  bool sample, bool root, arrow::MemoryPool* pool);
/// LISTAGG: texts in order of arrival with a separator between them.
std::unique_ptr<Accumulator> MakeListAgg(std::string separator, arrow::MemoryPool* pool);
/// ARRAY_AGG: every value, NULLs included.
std::unique_ptr<Accumulator> MakeArrayAgg(const SqlType& result, arrow::MemoryPool* pool);
/// Lets each value of a group through to `inner` once.
std::unique_ptr<Accumulator> MakeDistinct(const SqlType& input, std::unique_ptr<Accumulator> inner,
                                          arrow::MemoryPool* pool);

/// MIN (`least`) or MAX of rows that may be taken back: keeps every value and how often it is
/// there.
Result<std::unique_ptr<Accumulator>> MakeExtremeOfChanges(const SqlType& type, bool least,
                                                          arrow::MemoryPool* pool);
/// MakeDistinct for rows that may be taken back; `inner` is retractable.
std::unique_ptr<Accumulator> MakeDistinctOfChanges(const SqlType& input,
                                                   std::unique_ptr<Accumulator> inner,
                                                   arrow::MemoryPool* pool);

/// True when row `row` takes part: `selected` (null: all do) is TRUE there.
inline bool IsSelected(const arrow::BooleanArray* selected, int64_t row) {
  return selected == nullptr || (selected->IsValid(row) && selected->Value(row));
}

}  // namespace sluice::expr::internal
