// Bound expressions: typed trees that evaluate whole batches. Made by the SQL binder, evaluated by
// operators, looked into by push-down. Immutable and thread-safe; shared between plans and tasks.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <arrow/array/array_base.h>
#include <arrow/datum.h>
#include <arrow/scalar.h>

#include "common/clock.h"
#include "common/result.h"
#include "types/batch.h"
#include "types/schema.h"
#include "types/sql_type.h"
#include "types/time_zone.h"

namespace sluice::expr {

/// What evaluation may depend on besides the rows. Borrowed objects must outlive the evaluation.
struct EvalContext {
  TimeZone session_zone;
  const Clock* clock = &Clock::System();
  /// Batch mode: CURRENT_TIMESTAMP and friends are fixed to this instant; streaming: taken from the
  /// clock per batch.
  std::optional<int64_t> fixed_now_ms;
  /// CURRENT_WATERMARK: nullopt before the first watermark.
  std::optional<int64_t> watermark_ms;
  arrow::MemoryPool* pool = arrow::default_memory_pool();
};

class Expr;
using ExprPtr = std::shared_ptr<const Expr>;
struct ScalarFunction;

enum class ExprKind { kColumn, kLiteral, kCall, kCast, kCase };

class Expr {
 public:
  virtual ~Expr() = default;
  ExprKind kind() const { return kind_; }
  const SqlType& type() const { return type_; }

  /// One value a row of `rows` (array), or one for all (scalar). The Arrow type is
  /// type().ToArrow(). Fails with kDataError when a value makes it fail ("For input string: 'abc'.
  /// …"), naming the function.
  virtual Result<arrow::Datum> Evaluate(const arrow::RecordBatch& rows,
                                        const EvalContext& context) const = 0;

  /// SQL-like text for EXPLAIN and messages; columns by `input` names.
  virtual std::string ToString(const Schema& input) const = 0;
  /// Children, left to right.
  virtual std::vector<ExprPtr> children() const { return {}; }
  /// The same expression with other children (same count and types).
  virtual ExprPtr WithChildren(std::vector<ExprPtr> children) const = 0;
  /// False for RAND, UUID, CURRENT_ROW_TIMESTAMP and the like: never folded, moved or shared.
  virtual bool deterministic() const = 0;

 protected:
  Expr(ExprKind kind, SqlType type) : kind_(kind), type_(std::move(type)) {}

 private:
  ExprKind kind_;
  SqlType type_;
};

/// Column `index` of the input.
class ColumnExpr final : public Expr {
 public:
  ColumnExpr(int index, SqlType type) : Expr(ExprKind::kColumn, std::move(type)), index_(index) {}
  int index() const { return index_; }
  Result<arrow::Datum> Evaluate(const arrow::RecordBatch& rows,
                                const EvalContext& context) const override;
  std::string ToString(const Schema& input) const override;
  ExprPtr WithChildren(std::vector<ExprPtr> children) const override;
  bool deterministic() const override { return true; }

 private:
  int index_;
};

class LiteralExpr final : public Expr {
 public:
  /// `value` has the Arrow type of `type`; a null scalar is a typed NULL.
  LiteralExpr(std::shared_ptr<arrow::Scalar> value, SqlType type)
      : Expr(ExprKind::kLiteral, std::move(type)), value_(std::move(value)) {}
  const std::shared_ptr<arrow::Scalar>& value() const { return value_; }
  Result<arrow::Datum> Evaluate(const arrow::RecordBatch& rows,
                                const EvalContext& context) const override;
  std::string ToString(const Schema& input) const override;
  ExprPtr WithChildren(std::vector<ExprPtr> children) const override;
  bool deterministic() const override { return true; }

 private:
  std::shared_ptr<arrow::Scalar> value_;
};

/// Evaluates to an array of rows.num_rows() values (scalars are spread).
Result<std::shared_ptr<arrow::Array>> EvaluateToArray(const Expr& expression,
                                                      const arrow::RecordBatch& rows,
                                                      const EvalContext& context);

/// Indices of the input columns that `expression` uses, sorted, without repeats.
std::vector<int> UsedColumns(const Expr& expression);

/// The same expression over other column positions: column i becomes mapping[i] (which must be >= 0
/// for used columns).
ExprPtr RemapColumns(const ExprPtr& expression, const std::vector<int>& mapping);

/// Splits `a AND b AND c` into its conjuncts.
std::vector<ExprPtr> SplitConjuncts(const ExprPtr& condition);

}  // namespace sluice::expr
