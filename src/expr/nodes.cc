#include "expr/nodes.h"

#include <arrow/api.h>

#include "expr/cast.h"
#include "expr/kernel_support.h"
#include "expr/row_subset.h"
#include "types/arrow_status.h"

namespace sluice::expr {

CallExpr::CallExpr(const ScalarFunction* function, std::vector<ExprPtr> arguments, SqlType type)
    : Expr(ExprKind::kCall, std::move(type)),
      function_(function),
      arguments_(std::move(arguments)),
      deterministic_(function->stability == Stability::kStable) {
  constants_.resize(arguments_.size());
  for (size_t i = 0; i < arguments_.size(); ++i) {
    deterministic_ = deterministic_ && arguments_[i]->deterministic();
    constants_[i].type = &arguments_[i]->type();
    if (const auto literal = LiteralValue(*arguments_[i])) {
      auto array = arrow::MakeArrayFromScalar(*literal, 1);
      if (array.ok())
        constants_[i] = {std::move(array).ValueUnsafe(), true, &arguments_[i]->type()};
    }
  }
}

namespace {

/// For batches without rows nothing is evaluated: a failing constant must not fail when no row asks
/// for it.
Result<arrow::Datum> Nothing(const SqlType& type, const EvalContext& context) {
  SLUICE_ASSIGN_ARROW(auto empty, arrow::MakeArrayOfNull(type.ToArrow(), 0, context.pool));
  return arrow::Datum(std::move(empty));
}

}  // namespace

Result<arrow::Datum> CallExpr::Evaluate(const arrow::RecordBatch& rows,
                                        const EvalContext& context) const {
  if (rows.num_rows() == 0) return Nothing(type(), context);
  try {
    if (function_->lazy_kernel != nullptr) {
      return function_->lazy_kernel(arguments_, type(), rows, context);
    }
    return EvaluateKernel(rows, context);
  } catch (const std::bad_alloc&) {
    return Status::Unavailable("Out of memory in " + std::string(name()) + ".");
  } catch (const std::exception& error) {
    return Status::Internal(std::string(name()) + ": " + error.what());
  }
}

Result<arrow::Datum> CallExpr::EvaluateKernel(const arrow::RecordBatch& rows,
                                              const EvalContext& context) const {
  std::vector<KernelArgument> values = constants_;
  bool all_constant = function_->stability != Stability::kPerRow;
  for (size_t i = 0; i < arguments_.size(); ++i) {
    if (values[i].values != nullptr) continue;
    SLUICE_ASSIGN_OR_RETURN(const arrow::Datum value, arguments_[i]->Evaluate(rows, context));
    values[i].constant = value.is_scalar();
    all_constant = all_constant && values[i].constant;
    if (value.is_array()) {
      values[i].values = value.make_array();
    } else {
      SLUICE_ASSIGN_ARROW(values[i].values,
                          arrow::MakeArrayFromScalar(*value.scalar(), 1, context.pool));
    }
  }
  const KernelCall call{context, values, type(), all_constant ? 1 : rows.num_rows()};
  Result<ArrayPtr> result = function_->kernel(call);
  if (!result.ok()) return result.status();
  if (!all_constant) return arrow::Datum(*std::move(result));
  SLUICE_ASSIGN_ARROW(auto scalar, (*result)->GetScalar(0));
  return arrow::Datum(std::move(scalar));
}

ExprPtr CallExpr::WithChildren(std::vector<ExprPtr> children) const {
  return std::make_shared<CallExpr>(function_, std::move(children), type());
}

CastExpr::CastExpr(ExprPtr input, SqlType type, bool try_cast)
    : Expr(ExprKind::kCast, std::move(type)), input_(std::move(input)), try_cast_(try_cast) {}

Result<arrow::Datum> CastExpr::Evaluate(const arrow::RecordBatch& rows,
                                        const EvalContext& context) const {
  if (rows.num_rows() == 0) return Nothing(type(), context);
  SLUICE_ASSIGN_OR_RETURN(const arrow::Datum value, input_->Evaluate(rows, context));
  const CastOptions options{.try_cast = try_cast_};
  try {
    if (value.is_array()) {
      SLUICE_ASSIGN_OR_RETURN(
          ArrayPtr cast, CastArray(value.make_array(), input_->type(), type(), options, context));
      return arrow::Datum(std::move(cast));
    }
    SLUICE_ASSIGN_ARROW(ArrayPtr one, arrow::MakeArrayFromScalar(*value.scalar(), 1, context.pool));
    SLUICE_ASSIGN_OR_RETURN(ArrayPtr cast,
                            CastArray(one, input_->type(), type(), options, context));
    SLUICE_ASSIGN_ARROW(auto scalar, cast->GetScalar(0));
    return arrow::Datum(std::move(scalar));
  } catch (const std::bad_alloc&) {
    return Status::Unavailable("Out of memory in CAST.");
  }
}

ExprPtr CastExpr::WithChildren(std::vector<ExprPtr> children) const {
  return std::make_shared<CastExpr>(std::move(children[0]), type(), try_cast_);
}

CaseExpr::CaseExpr(std::vector<std::pair<ExprPtr, ExprPtr>> branches, ExprPtr otherwise,
                   SqlType type)
    : Expr(ExprKind::kCase, std::move(type)),
      branches_(std::move(branches)),
      otherwise_(std::move(otherwise)) {}

Result<arrow::Datum> CaseExpr::Evaluate(const arrow::RecordBatch& rows,
                                        const EvalContext& context) const {
  std::vector<ResultPart> parts;
  RowSelection rest = RowSelection::All(rows.num_rows());
  for (const auto& [condition, result] : branches_) {
    if (rest.count == 0 && rows.num_rows() > 0) break;
    SLUICE_ASSIGN_OR_RETURN(const arrow::Datum holds,
                            EvaluateSelected(*condition, rows, rest, context));
    RowSelection taken;
    RowSelection left;
    SplitRows(rest, holds, &taken, &left);
    rest = std::move(left);
    if (taken.count == 0) continue;
    SLUICE_ASSIGN_OR_RETURN(arrow::Datum values, EvaluateSelected(*result, rows, taken, context));
    parts.push_back({std::move(taken), std::move(values)});
  }
  if (rest.count > 0) {
    SLUICE_ASSIGN_OR_RETURN(arrow::Datum values,
                            EvaluateSelected(*otherwise_, rows, rest, context));
    parts.push_back({std::move(rest), std::move(values)});
  }
  return JoinParts(std::move(parts), type(), rows.num_rows(), context.pool);
}

std::vector<ExprPtr> CaseExpr::children() const {
  std::vector<ExprPtr> all;
  for (const auto& [condition, result] : branches_) {
    all.push_back(condition);
    all.push_back(result);
  }
  all.push_back(otherwise_);
  return all;
}

ExprPtr CaseExpr::WithChildren(std::vector<ExprPtr> children) const {
  std::vector<std::pair<ExprPtr, ExprPtr>> branches;
  for (size_t i = 0; i + 1 < children.size(); i += 2) {
    branches.emplace_back(std::move(children[i]), std::move(children[i + 1]));
  }
  return std::make_shared<CaseExpr>(std::move(branches), std::move(children.back()), type());
}

bool CaseExpr::deterministic() const {
  for (const auto& [condition, result] : branches_) {
    if (!condition->deterministic() || !result->deterministic()) return false;
  }
  return otherwise_->deterministic();
}

const CallExpr* AsCall(const Expr& expression, std::string_view name) {
  if (expression.kind() != ExprKind::kCall) return nullptr;
  const auto& call = static_cast<const CallExpr&>(expression);
  return call.name() == name ? &call : nullptr;
}

std::shared_ptr<arrow::Scalar> LiteralValue(const Expr& expression) {
  if (expression.kind() != ExprKind::kLiteral) return nullptr;
  return static_cast<const LiteralExpr&>(expression).value();
}

}  // namespace sluice::expr
