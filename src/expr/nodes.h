// The inner nodes of bound expressions. Made by builder.h; looked into by push-down and EXPLAIN.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "expr/expr.h"
#include "expr/function.h"

namespace sluice::expr {

/// A call of a function or operator. Arguments have exactly the types its typing asked for.
/// Operators are named "=", "<>", "<",
/// "<=", ">", ">=", "+", "-", "*", "/", "%", "||", "AND", "OR", "NOT" (AND and OR take two or
/// more), "NEGATE", "IS NULL", "IS NOT NULL", "IS TRUE", "IS NOT TRUE", "IS FALSE", "IS NOT FALSE",
/// "IS DISTINCT FROM", "IS NOT DISTINCT FROM", "IN" (first argument, then the list; NOT IN is NOT
/// of it), "LIKE", "SIMILAR TO", "ITEM", "ARRAY", "MAP", "ROW". BETWEEN is built as AND of two
/// comparisons, field access as "FIELD" with the field's index.
class CallExpr final : public Expr {
 public:
  CallExpr(const ScalarFunction* function, std::vector<ExprPtr> arguments, SqlType type);
  const ScalarFunction& function() const { return *function_; }
  std::string_view name() const { return function_->name; }
  const std::vector<ExprPtr>& arguments() const { return arguments_; }

  Result<arrow::Datum> Evaluate(const arrow::RecordBatch& rows,
                                const EvalContext& context) const override;
  std::string ToString(const Schema& input) const override;
  std::vector<ExprPtr> children() const override { return arguments_; }
  ExprPtr WithChildren(std::vector<ExprPtr> children) const override;
  bool deterministic() const override { return deterministic_; }

 private:
  Result<arrow::Datum> EvaluateKernel(const arrow::RecordBatch& rows,
                                      const EvalContext& context) const;

  const ScalarFunction* function_;  // Static storage.
  std::vector<ExprPtr> arguments_;
  std::vector<KernelArgument>
      constants_;  // Literal arguments as arrays of one value; others empty.
  bool deterministic_;
};

/// CAST(input AS type) or TRY_CAST. Implicit casts are the same node.
class CastExpr final : public Expr {
 public:
  CastExpr(ExprPtr input, SqlType type, bool try_cast);
  const ExprPtr& input() const { return input_; }
  bool try_cast() const { return try_cast_; }

  Result<arrow::Datum> Evaluate(const arrow::RecordBatch& rows,
                                const EvalContext& context) const override;
  std::string ToString(const Schema& input) const override;
  std::vector<ExprPtr> children() const override { return {input_}; }
  ExprPtr WithChildren(std::vector<ExprPtr> children) const override;
  bool deterministic() const override { return input_->deterministic(); }

 private:
  ExprPtr input_;
  bool try_cast_;
};

/// CASE WHEN condition THEN result … ELSE otherwise END. Children: condition, result, condition,
/// result, …, otherwise. A branch is evaluated only for the rows that take it.
class CaseExpr final : public Expr {
 public:
  CaseExpr(std::vector<std::pair<ExprPtr, ExprPtr>> branches, ExprPtr otherwise, SqlType type);
  const std::vector<std::pair<ExprPtr, ExprPtr>>& branches() const { return branches_; }
  const ExprPtr& otherwise() const { return otherwise_; }

  Result<arrow::Datum> Evaluate(const arrow::RecordBatch& rows,
                                const EvalContext& context) const override;
  std::string ToString(const Schema& input) const override;
  std::vector<ExprPtr> children() const override;
  ExprPtr WithChildren(std::vector<ExprPtr> children) const override;
  bool deterministic() const override;

 private:
  std::vector<std::pair<ExprPtr, ExprPtr>> branches_;
  ExprPtr otherwise_;
};

/// `expression` as a call of `name` ("=", "AND", …), null when it is something else.
const CallExpr* AsCall(const Expr& expression, std::string_view name);
/// The value when `expression` is a literal, else null.
std::shared_ptr<arrow::Scalar> LiteralValue(const Expr& expression);

}  // namespace sluice::expr
