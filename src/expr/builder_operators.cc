// Operators: logic, comparison, arithmetic, IN, BETWEEN, LIKE, IS.
#include <algorithm>
#include <array>

#include "expr/builder.h"
#include "expr/builder_internal.h"
#include "expr/registry.h"
#include "expr/signature.h"
#include "expr/time_unit.h"

namespace sluice::expr {

using internal::BuildOperator;
using internal::CoerceTo;
using internal::IsUntypedNull;

namespace {

Result<ExprPtr> Logic(std::string_view name, std::vector<ExprPtr> conditions) {
  if (conditions.empty()) return MakeBoolean(name == "AND");
  bool nullable = false;
  for (ExprPtr& condition : conditions) {
    if (IsUntypedNull(condition)) condition = MakeNull(SqlType::Boolean());
    if (condition->type().kind() != TypeKind::kBoolean) {
      std::string message = "Cannot apply '" + std::string(name) + "' to arguments of type '<";
      const SqlType& left = conditions.front()->type();
      message += ValidatorTypeName(left) + "> " + std::string(name) + " <" +
                 ValidatorTypeName(condition->type()) + ">'. Supported form(s): '<BOOLEAN> " +
                 std::string(name) + " <BOOLEAN>'";
      return Status::Validation(std::move(message));
    }
    nullable = nullable || condition->type().nullable();
  }
  if (conditions.size() == 1) return conditions[0];
  return BuildOperator(name, std::move(conditions), SqlType::Boolean().WithNullable(nullable));
}

Status BooleanExpected(std::string_view name, const SqlType& type) {
  return Status::Validation("Cannot apply '" + std::string(name) + "' to arguments of type '" +
                            std::string(name) + "<" + ValidatorTypeName(type) +
                            ">'. Supported form(s): '" + std::string(name) + "<BOOLEAN>'");
}

}  // namespace

Result<ExprPtr> MakeAnd(std::vector<ExprPtr> conditions) {
  return Logic("AND", std::move(conditions));
}
Result<ExprPtr> MakeOr(std::vector<ExprPtr> conditions) {
  return Logic("OR", std::move(conditions));
}

Result<ExprPtr> MakeNot(ExprPtr condition) {
  if (IsUntypedNull(condition)) condition = MakeNull(SqlType::Boolean());
  if (condition->type().kind() != TypeKind::kBoolean) {
    return BooleanExpected("NOT", condition->type());
  }
  const SqlType type = condition->type();
  return BuildOperator("NOT", {std::move(condition)}, type);
}

std::string_view ComparisonOpText(ComparisonOp op) {
  constexpr std::array<std::string_view, 6> kTexts = {"=", "<>", "<", "<=", ">", ">="};
  return kTexts[static_cast<size_t>(op)];
}

namespace {

/// Brings both sides of a comparison to one type. Decimals keep their scales: the kernel compares
/// across them, where a cast could overflow.
Status CoerceBoth(std::string_view op, ExprPtr* left, ExprPtr* right) {
  SLUICE_ASSIGN_OR_RETURN(const SqlType common,
                          ComparisonType(op, (*left)->type(), (*right)->type()));
  if (common.kind() == TypeKind::kDecimal) {
    for (ExprPtr* side : {left, right}) {
      if ((*side)->type().is_integer()) *side = CoerceTo(*side, AsDecimal((*side)->type()));
      if (IsUntypedNull(*side)) *side = MakeNull(common);
    }
    return {};
  }
  if (common.is_character() || common.is_binary()) {
    // Lengths do not matter.
    for (ExprPtr* side : {left, right}) {
      if (IsUntypedNull(*side)) *side = MakeNull(common);
    }
    return {};
  }
  *left = CoerceTo(*left, common);
  *right = CoerceTo(*right, common);
  return {};
}

}  // namespace

Result<ExprPtr> MakeComparison(ComparisonOp op, ExprPtr left, ExprPtr right) {
  const std::string_view text = ComparisonOpText(op);
  SLUICE_RETURN_NOT_OK(CoerceBoth(text, &left, &right));
  const bool nullable = left->type().nullable() || right->type().nullable();
  return BuildOperator(text, {std::move(left), std::move(right)},
                       SqlType::Boolean().WithNullable(nullable));
}

Result<ExprPtr> MakeIsDistinctFrom(ExprPtr left, ExprPtr right, bool negated) {
  if (IsUntypedNull(left)) std::swap(left, right);
  if (IsUntypedNull(right)) return MakeIs(IsTest::kNull, std::move(left), !negated);
  const std::string_view text = negated ? "IS NOT DISTINCT FROM" : "IS DISTINCT FROM";
  SLUICE_RETURN_NOT_OK(CoerceBoth(text, &left, &right));
  return BuildOperator(text, {std::move(left), std::move(right)}, SqlType::Boolean().NotNull());
}

namespace {

/// Operands of number arithmetic as the kernel wants them: both of the result type, or both
/// DECIMAL.
ExprPtr NumberOperandFor(ExprPtr operand, const SqlType& result) {
  if (IsUntypedNull(operand)) return MakeNull(result);
  if (result.kind() == TypeKind::kDecimal) {
    return operand->type().is_integer() ? CoerceTo(operand, AsDecimal(operand->type())) : operand;
  }
  return CoerceTo(std::move(operand), result);
}

/// interval * number: the number as BIGINT, or as DOUBLE when it has a fraction.
ExprPtr FactorFor(ExprPtr operand) {
  if (!operand->type().is_numeric()) return operand;
  return CoerceTo(std::move(operand),
                  operand->type().is_integer() ? SqlType::Bigint() : SqlType::Double());
}

}  // namespace

Result<ExprPtr> MakeArithmetic(ArithmeticOp op, ExprPtr left, ExprPtr right) {
  if (IsUntypedNull(left) || IsUntypedNull(right)) {
    return Status::Validation("Illegal use of 'NULL'");
  }
  SLUICE_ASSIGN_OR_RETURN(const SqlType type, ArithmeticType(op, left->type(), right->type()));
  const std::string_view text = ArithmeticOpText(op);
  if (type.is_numeric()) {
    left = NumberOperandFor(std::move(left), type);
    right = NumberOperandFor(std::move(right), type);
    return BuildOperator(text, {std::move(left), std::move(right)}, type);
  }
  // The time or interval first, so that kernels see one order.
  const bool swap =
      (op == ArithmeticOp::kAdd && left->type().is_interval() && right->type().is_datetime()) ||
      (op == ArithmeticOp::kMultiply && left->type().is_numeric());
  if (swap) std::swap(left, right);
  right = FactorFor(std::move(right));
  return BuildOperator(text, {std::move(left), std::move(right)}, type);
}

Result<ExprPtr> MakeNegate(ExprPtr operand) {
  const SqlType type = operand->type();
  if (!type.is_numeric() && !type.is_interval()) {
    return Status::Validation("Cannot apply '-' to arguments of type '-<" +
                              ValidatorTypeName(type) +
                              ">'. Supported form(s): '-<NUMERIC>' '-<DATETIME_INTERVAL>'");
  }
  const bool literal = operand->kind() == ExprKind::kLiteral;
  SLUICE_ASSIGN_OR_RETURN(ExprPtr negated, BuildOperator("NEGATE", {std::move(operand)}, type));
  return literal ? FoldConstants(negated, EvalContext{}) : Result<ExprPtr>(std::move(negated));
}

Result<ExprPtr> MakeConcat(ExprPtr left, ExprPtr right) {
  if (IsUntypedNull(left) || IsUntypedNull(right)) {
    return Status::Validation("Illegal use of 'NULL'");
  }
  return internal::BuildCall(*FindFunction("||"), {std::move(left), std::move(right)});
}

Result<ExprPtr> MakeTimeDifference(ExprPtr left, ExprPtr right, std::string_view unit) {
  const std::optional<TimeUnit> known = FindTimeUnit(unit);
  if (!known) return Status::Validation("Unknown interval unit " + std::string(unit));
  if (UnitMonths(*known) > 0) {
    SLUICE_ASSIGN_OR_RETURN(
        ExprPtr months,
        MakeCall("TIMESTAMPDIFF", {MakeSymbol("MONTH"), std::move(right), std::move(left)}));
    return MakeIntervalOf(std::move(months), "MONTH");
  }
  return internal::BuildCall(*FindFunction("MINUS_TIME"), {std::move(left), std::move(right)});
}

Result<ExprPtr> MakeIn(ExprPtr operand, std::vector<ExprPtr> list, bool negated) {
  std::vector<ExprPtr> arguments;
  std::vector<ExprPtr> items;
  bool nullable = operand->type().nullable();
  SqlType common = operand->type();
  for (ExprPtr& item : list) {
    nullable = nullable || item->type().nullable();
    if (IsUntypedNull(item)) continue;
    SLUICE_ASSIGN_OR_RETURN(common, ComparisonType("=", common, item->type()));
  }
  if (common.kind() == TypeKind::kNull) return Status::Validation("Illegal use of 'NULL'");
  const bool keep = common.is_character() || common.is_binary();
  arguments.push_back(keep && !IsUntypedNull(operand) ? std::move(operand)
                                                      : CoerceTo(std::move(operand), common));
  for (ExprPtr& item : list) {
    arguments.push_back(keep && !IsUntypedNull(item) ? std::move(item)
                                                     : CoerceTo(std::move(item), common));
  }
  SLUICE_ASSIGN_OR_RETURN(ExprPtr call, BuildOperator("IN", std::move(arguments),
                                                      SqlType::Boolean().WithNullable(nullable)));
  return negated ? MakeNot(std::move(call)) : Result<ExprPtr>(std::move(call));
}

Result<ExprPtr> MakeBetween(ExprPtr operand, ExprPtr low, ExprPtr high, bool negated,
                            bool symmetric) {
  const auto range = [&operand](const ExprPtr& from, const ExprPtr& to) -> Result<ExprPtr> {
    SLUICE_ASSIGN_OR_RETURN(ExprPtr above,
                            MakeComparison(ComparisonOp::kGreaterEqual, operand, from));
    SLUICE_ASSIGN_OR_RETURN(ExprPtr below, MakeComparison(ComparisonOp::kLessEqual, operand, to));
    return MakeAnd({std::move(above), std::move(below)});
  };
  SLUICE_ASSIGN_OR_RETURN(ExprPtr condition, range(low, high));
  if (symmetric) {
    SLUICE_ASSIGN_OR_RETURN(ExprPtr swapped, range(high, low));
    SLUICE_ASSIGN_OR_RETURN(condition, MakeOr({std::move(condition), std::move(swapped)}));
  }
  return negated ? MakeNot(std::move(condition)) : Result<ExprPtr>(std::move(condition));
}

Result<ExprPtr> MakeLike(ExprPtr operand, ExprPtr pattern, ExprPtr escape, bool negated,
                         bool similar) {
  std::vector<ExprPtr> arguments = {std::move(operand), std::move(pattern)};
  if (escape != nullptr) arguments.push_back(std::move(escape));
  const ScalarFunction& function = *FindFunction(similar ? "SIMILAR TO" : "LIKE");
  SLUICE_ASSIGN_OR_RETURN(ExprPtr call, internal::BuildCall(function, std::move(arguments)));
  return negated ? MakeNot(std::move(call)) : Result<ExprPtr>(std::move(call));
}

Result<ExprPtr> MakeIs(IsTest test, ExprPtr operand, bool negated) {
  if (test != IsTest::kNull) {
    if (IsUntypedNull(operand)) operand = MakeNull(SqlType::Boolean());
    if (operand->type().kind() != TypeKind::kBoolean) {
      return BooleanExpected("IS TRUE", operand->type());
    }
  }
  std::string_view name;
  switch (test) {
    case IsTest::kNull:
    case IsTest::kUnknown:
      name = negated ? "IS NOT NULL" : "IS NULL";
      break;
    case IsTest::kTrue:
      name = negated ? "IS NOT TRUE" : "IS TRUE";
      break;
    case IsTest::kFalse:
      name = negated ? "IS NOT FALSE" : "IS FALSE";
      break;
  }
  return BuildOperator(name, {std::move(operand)}, SqlType::Boolean().NotNull());
}

}  // namespace sluice::expr
