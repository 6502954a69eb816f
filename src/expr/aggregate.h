// Aggregate functions over groups: COUNT, SUM, AVG, MIN, MAX, with DISTINCT and FILTER.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/array/array_base.h>
#include <arrow/memory_pool.h>

#include "common/result.h"
#include "expr/expr.h"
#include "types/sql_type.h"

namespace sluice::expr {

/// One aggregate call, bound. Over `input` columns of the operator's rows.
struct AggregateCall {
  std::string name;                // Upper case: "COUNT", "SUM", …
  std::vector<ExprPtr> arguments;  // Empty for COUNT(*).
  bool distinct = false;
  ExprPtr filter = nullptr;  // BOOLEAN; null without FILTER.
  SqlType type;              // Of the result.
  /// "SUM(DISTINCT `a`) FILTER (WHERE …)" as EXPLAIN prints it.
  std::string ToString(const Schema& input) const;
};

/// Binds a call: argument count, types, result type (SUM(INT) is INT, COUNT is BIGINT NOT NULL,
/// sql.md §5.2). kValidation on misuse.
Result<AggregateCall> MakeAggregate(std::string_view name, std::vector<ExprPtr> arguments,
                                    bool distinct = false, ExprPtr filter = nullptr);
/// True for names that MakeAggregate knows or that Flink has and we do not yet (those are refused
/// by MakeAggregate by name).
bool IsAggregateName(std::string_view name);

/// The running values of one aggregate call for all groups.
///
/// Thread: one at a time. State: SaveState()/RestoreState().
class Accumulator {
 public:
  virtual ~Accumulator() = default;
  /// Grows to `group_count` groups; new ones are empty.
  virtual Status Resize(int64_t group_count) = 0;
  /// Adds row i of `values` (the evaluated argument; null for COUNT(*)) to group_of_row[i]; rows
  /// where `selected` (may be null) is not true are left out. `row_count` values.
  virtual Status Add(const arrow::Array* values, std::span<const int32_t> group_of_row,
                     const arrow::BooleanArray* selected) = 0;
  /// True when Retract works.
  virtual bool retractable() const = 0;
  /// Takes rows away again, for changelog input.
  virtual Status Retract(const arrow::Array* values, std::span<const int32_t> group_of_row,
                         const arrow::BooleanArray* selected) = 0;
  /// Results of groups [begin, end) in the type of the call.
  virtual Result<std::shared_ptr<arrow::Array>> Finish(int64_t begin, int64_t end) const = 0;
  /// The state of groups [begin, end) as one array (a struct where several values are needed), to
  /// be merged or checkpointed.
  virtual Result<std::shared_ptr<arrow::Array>> SaveState(int64_t begin, int64_t end) const = 0;
  /// Adds row i of a saved state to group_of_row[i]: restore into empty groups, or merge partial
  /// aggregates.
  virtual Status MergeState(const arrow::Array& state, std::span<const int32_t> group_of_row) = 0;
  /// The Arrow type of the saved state.
  virtual std::shared_ptr<arrow::DataType> state_type() const = 0;
  virtual int64_t memory_bytes() const = 0;
};

/// With `retracts` one that can take rows back; kUnsupported, by name, where there is none. It
/// keeps more: MIN and MAX every value of a group, DISTINCT how often each came.
Result<std::unique_ptr<Accumulator>> MakeAccumulator(const AggregateCall& call,
                                                     arrow::MemoryPool* pool,
                                                     bool retracts = false);

/// Evaluates the arguments and the filter of `call` over `rows` and adds them.
Status AddRows(const AggregateCall& call, Accumulator& accumulator, const arrow::RecordBatch& rows,
               std::span<const int32_t> group_of_row, const EvalContext& context);

}  // namespace sluice::expr
