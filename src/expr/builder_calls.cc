// Calls, casts and CASE.
#include <algorithm>
#include <optional>

#include "common/text.h"
#include "expr/builder.h"
#include "expr/builder_internal.h"
#include "expr/cast.h"
#include "expr/registry.h"
#include "expr/signature.h"
#include "expr/time_unit.h"

namespace sluice::expr {

namespace internal {

std::vector<Argument> ArgumentsOf(const std::vector<ExprPtr>& expressions) {
  std::vector<Argument> arguments;
  for (const ExprPtr& expression : expressions) {
    arguments.push_back({expression->type(), LiteralValue(*expression)});
  }
  return arguments;
}

ExprPtr CoerceTo(ExprPtr input, const SqlType& type) {
  if (input->type().SameKindAs(type)) return input;
  const bool literal = input->kind() == ExprKind::kLiteral;
  if (literal && input->type().kind() == TypeKind::kNull) return MakeNull(type);
  const bool numbers = input->type().is_numeric() && type.is_numeric();
  ExprPtr cast =
      std::make_shared<CastExpr>(input, type.WithNullable(input->type().nullable()), false);
  if (!literal || !numbers) return cast;
  // Push-down and EXPLAIN see 1 and not CAST(1 AS BIGINT). Other casts depend on the session's
  // zone.
  const Result<ExprPtr> folded = FoldConstants(cast, EvalContext{});
  return folded.ok() ? *folded : cast;
}

Result<ExprPtr> BuildCall(const ScalarFunction& function, std::vector<ExprPtr> arguments) {
  SLUICE_ASSIGN_OR_RETURN(const Signature signature, ResolveCall(function, ArgumentsOf(arguments)));
  for (size_t i = 0; i < arguments.size(); ++i) {
    arguments[i] = CoerceTo(std::move(arguments[i]), signature.arguments[i]);
  }
  return std::make_shared<CallExpr>(&function, std::move(arguments), signature.result);
}

Result<ExprPtr> BuildOperator(std::string_view name, std::vector<ExprPtr> arguments,
                              const SqlType& type) {
  const ScalarFunction* function = FindFunction(name);
  if (function == nullptr) return Status::Internal("no operator " + std::string(name));
  return std::make_shared<CallExpr>(function, std::move(arguments), type);
}

bool IsUntypedNull(const ExprPtr& expression) {
  return expression->type().kind() == TypeKind::kNull;
}

}  // namespace internal

namespace {

using Arguments = std::vector<ExprPtr>;

/// TIMESTAMPADD(unit, n, x) is x + n units; a DATE moved by less than a day becomes a TIMESTAMP.
Result<ExprPtr> TimestampAdd(Arguments arguments) {
  const std::optional<std::string> name =
      LiteralText({arguments[0]->type(), LiteralValue(*arguments[0])});
  const std::optional<TimeUnit> unit = name ? FindTimeUnit(*name) : std::nullopt;
  const SqlType& type = arguments[2]->type();
  const bool fits = unit && (UnitMonths(*unit) > 0 || UnitMillis(*unit) > 0) &&
                    arguments[1]->type().is_numeric() && type.is_datetime();
  if (!fits) {
    return CannotApply("TIMESTAMPADD", internal::ArgumentsOf(arguments),
                       "'TIMESTAMPADD(<ANY>, <INTEGER>, <DATETIME>)'");
  }
  ExprPtr time = std::move(arguments[2]);
  const bool part_of_day = UnitMonths(*unit) == 0 && UnitMillis(*unit) < UnitMillis(TimeUnit::kDay);
  if (time->type().kind() == TypeKind::kDate && part_of_day) {
    SLUICE_ASSIGN_OR_RETURN(time, MakeCast(std::move(time), SqlType::Timestamp(0)));
  }
  SLUICE_ASSIGN_OR_RETURN(ExprPtr interval, MakeIntervalOf(std::move(arguments[1]), *name));
  return MakeArithmetic(ArithmeticOp::kAdd, std::move(time), std::move(interval));
}

/// (a, b) OVERLAPS (c, d): the periods, ends in either order or given as intervals, have an instant
/// in common.
Result<ExprPtr> Overlaps(Arguments arguments) {
  ExprPtr starts[2];
  ExprPtr ends[2];
  for (size_t i = 0; i < 2; ++i) {
    const ExprPtr& from = arguments[2 * i];
    ExprPtr to = arguments[2 * i + 1];
    if (to->type().is_interval()) {
      SLUICE_ASSIGN_OR_RETURN(to, MakeArithmetic(ArithmeticOp::kAdd, from, to));
    }
    SLUICE_ASSIGN_OR_RETURN(starts[i], MakeCall("LEAST", {from, to}));
    SLUICE_ASSIGN_OR_RETURN(ends[i], MakeCall("GREATEST", {from, to}));
  }
  SLUICE_ASSIGN_OR_RETURN(ExprPtr first,
                          MakeComparison(ComparisonOp::kGreaterEqual, ends[0], starts[1]));
  SLUICE_ASSIGN_OR_RETURN(ExprPtr second,
                          MakeComparison(ComparisonOp::kGreaterEqual, ends[1], starts[0]));
  return MakeAnd({std::move(first), std::move(second)});
}

/// Functions that are built of others. Nullopt: an ordinary call.
Result<std::optional<ExprPtr>> SpecialCall(std::string_view name, Arguments& arguments) {
  const size_t count = arguments.size();
  const auto done = [](Result<ExprPtr> built) -> Result<std::optional<ExprPtr>> {
    if (!built.ok()) return built.status();
    return std::optional<ExprPtr>(*std::move(built));
  };
  if (name == "MOD" && count == 2) {
    return done(MakeArithmetic(ArithmeticOp::kModulo, arguments[0], arguments[1]));
  }
  if (name == "TIMESTAMPADD" && count == 3) return done(TimestampAdd(std::move(arguments)));
  if (name == "OVERLAPS" && count == 4) return done(Overlaps(std::move(arguments)));
  if (name == "UNIX_TIMESTAMP" && count == 0) {
    return done(internal::BuildCall(*FindFunction("UNIX_TIMESTAMP_NOW"), {}));
  }
  if (name == "JSON_VALUE" && count == 2)
    return done(MakeJsonValue(arguments[0], arguments[1], {}));
  if (name == "JSON_QUERY" && count == 2)
    return done(MakeJsonQuery(arguments[0], arguments[1], {}));
  if (name == "JSON_EXISTS" && count == 2) {
    return done(MakeJsonExists(arguments[0], arguments[1], JsonBehavior::kFalse));
  }
  if (name == "JSON_OBJECT") return done(MakeJsonObject(std::move(arguments)));
  if (name == "JSON_ARRAY") return done(MakeJsonArray(std::move(arguments)));
  if (name == "TRIM" && count == 1) {
    arguments.insert(arguments.begin(), {MakeSymbol("BOTH"), MakeString(" ")});
  }
  if (name == "NULLIF" && count == 2) {
    // Checks that the two can be compared.
    SLUICE_RETURN_NOT_OK(MakeComparison(ComparisonOp::kEqual, arguments[0], arguments[1]).status());
  }
  return std::optional<ExprPtr>();
}

}  // namespace

Result<ExprPtr> MakeCall(std::string_view name, std::vector<ExprPtr> arguments) {
  const std::string upper = ToUpperAscii(name);
  SLUICE_ASSIGN_OR_RETURN(std::optional<ExprPtr> special, SpecialCall(upper, arguments));
  if (special) return *std::move(special);
  const ScalarFunction* function = FindFunction(upper);
  if (function == nullptr || function->is_operator) {
    std::vector<SqlType> types;
    for (const ExprPtr& argument : arguments) types.push_back(argument->type());
    return UnknownFunction(name, types);
  }
  return internal::BuildCall(*function, std::move(arguments));
}

Result<ExprPtr> MakeCast(ExprPtr input, const SqlType& type, bool try_cast) {
  SLUICE_RETURN_NOT_OK(CheckExplicitCast(input->type(), type));
  if (internal::IsUntypedNull(input)) return MakeNull(type);
  const SqlType target = type.WithNullable(try_cast || input->type().nullable());
  if (input->type() == target) return input;
  return std::make_shared<CastExpr>(std::move(input), target, try_cast);
}

Result<ExprPtr> MakeImplicitCast(ExprPtr input, const SqlType& type) {
  if (CanCast(input->type(), type) != CastKind::kImplicit) {
    return Status::Validation("A value of type " + input->type().ToString() + " does not become " +
                              type.WithNullable(true).ToString() + " without CAST.");
  }
  return internal::CoerceTo(std::move(input), type);
}

Result<ExprPtr> MakeCase(std::vector<std::pair<ExprPtr, ExprPtr>> branches, ExprPtr otherwise) {
  if (otherwise == nullptr) otherwise = MakeNull();
  std::vector<SqlType> types;
  for (auto& [condition, result] : branches) {
    if (internal::IsUntypedNull(condition)) condition = MakeNull(SqlType::Boolean());
    if (condition->type().kind() != TypeKind::kBoolean) {
      return Status::Validation(
          "Expected a boolean type after WHEN, but the condition is of type " +
          condition->type().ToString() + ".");
    }
    types.push_back(result->type());
  }
  types.push_back(otherwise->type());
  const Result<SqlType> common = CommonType(types);
  if (!common.ok()) {
    return Status::Validation("Illegal mixing of types in CASE or COALESCE statement. " +
                              common.status().message());
  }
  if (common->kind() == TypeKind::kNull) {
    return Status::Validation("ELSE clause or at least one THEN clause must be non-NULL");
  }
  for (auto& [condition, result] : branches) {
    result = internal::CoerceTo(std::move(result), *common);
  }
  return std::make_shared<CaseExpr>(std::move(branches),
                                    internal::CoerceTo(std::move(otherwise), *common), *common);
}

}  // namespace sluice::expr
