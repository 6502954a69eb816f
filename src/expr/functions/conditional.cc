// COALESCE, IF, IFNULL, NULLIF, GREATEST, LEAST, TYPEOF.
#include <arrow/api.h>

#include "expr/builder.h"
#include "expr/builder_internal.h"
#include "expr/compare.h"
#include "expr/functions/lists.h"
#include "expr/kernel_support.h"
#include "expr/registry.h"
#include "expr/row_subset.h"
#include "expr/signature.h"
#include "types/coercion.h"

namespace sluice::expr {

namespace {

std::vector<SqlType> TypesOf(std::span<const Argument> arguments) {
  std::vector<SqlType> types;
  for (const Argument& argument : arguments) types.push_back(argument.type);
  return types;
}

Result<SqlType> CommonOf(std::span<const Argument> arguments, std::string_view name) {
  Result<SqlType> common = CommonType(TypesOf(arguments));
  if (!common.ok()) {
    if (name == "COALESCE") {
      return Status::Validation("Illegal mixing of types in CASE or COALESCE statement. " +
                                common.status().message());
    }
    return Status::Validation("Invalid function call: " + CallTypesText(name, arguments) + ". " +
                              common.status().message());
  }
  if (common->kind() == TypeKind::kNull) return Status::Validation("Illegal use of 'NULL'");
  return common;
}

Result<Signature> ResolveCoalesce(std::span<const Argument> arguments) {
  SLUICE_ASSIGN_OR_RETURN(const SqlType common, CommonOf(arguments, "COALESCE"));
  bool nullable = true;
  for (const Argument& argument : arguments) nullable = nullable && argument.type.nullable();
  return Signature{std::vector<SqlType>(arguments.size(), common), common.WithNullable(nullable)};
}

Result<Signature> ResolveIfNull(std::span<const Argument> arguments) {
  SLUICE_ASSIGN_OR_RETURN(const SqlType common, CommonOf(arguments, "IFNULL"));
  const bool nullable = arguments[0].type.nullable() && arguments[1].type.nullable();
  return Signature{{common, common}, common.WithNullable(nullable)};
}

/// Evaluates an argument only for the rows that are NULL in all before it.
Result<arrow::Datum> CoalesceKernel(std::span<const ExprPtr> arguments, const SqlType& type,
                                    const arrow::RecordBatch& rows, const EvalContext& context) {
  std::vector<ResultPart> parts;
  RowSelection rest = RowSelection::All(rows.num_rows());
  for (size_t i = 0; i < arguments.size() && rest.count > 0; ++i) {
    SLUICE_ASSIGN_OR_RETURN(arrow::Datum values,
                            EvaluateSelected(*arguments[i], rows, rest, context));
    const bool last = i + 1 == arguments.size();
    if (last || (values.is_scalar() ? values.scalar()->is_valid : values.null_count() == 0)) {
      parts.push_back({std::move(rest), std::move(values)});
      rest = {false, {}, 0};
      break;
    }
    if (values.is_scalar()) continue;  // NULL for every row.
    // Keep the values that are there, and go on with the other rows.
    const ArrayPtr array = values.make_array();
    RowSelection left{false, {}, 0};
    RowSelection found{false, {}, 0};
    std::vector<int32_t> positions;
    for (int64_t p = 0; p < rest.count; ++p) {
      const int32_t row = rest.all ? static_cast<int32_t>(p) : rest.indices[static_cast<size_t>(p)];
      if (array->IsNull(p)) {
        left.indices.push_back(row);
      } else {
        found.indices.push_back(row);
        positions.push_back(static_cast<int32_t>(p));
      }
    }
    left.count = static_cast<int64_t>(left.indices.size());
    found.count = static_cast<int64_t>(found.indices.size());
    if (left.count == rest.count) continue;
    SLUICE_ASSIGN_OR_RETURN(ArrayPtr kept, TakeValues(array, positions, context.pool));
    parts.push_back({std::move(found), arrow::Datum(std::move(kept))});
    rest = std::move(left);
  }
  return JoinParts(std::move(parts), type, rows.num_rows(), context.pool);
}

Result<Signature> ResolveIf(std::span<const Argument> arguments) {
  const SqlType condition = AcceptedType(Accept::kBoolean, arguments[0].type);
  if (condition.kind() == TypeKind::kNull) return TypesDoNotFit();
  SLUICE_ASSIGN_OR_RETURN(const SqlType common, CommonOf(arguments.subspan(1), "IF"));
  return Signature{{condition, common, common}, common};
}

/// IF(c, a, b): b where c is FALSE or NULL.
Result<arrow::Datum> IfKernel(std::span<const ExprPtr> arguments, const SqlType& type,
                              const arrow::RecordBatch& rows, const EvalContext& context) {
  const CaseExpr equivalent({{arguments[0], arguments[1]}}, arguments[2], type);
  return equivalent.Evaluate(rows, context);
}

Result<Signature> ResolveNullIf(std::span<const Argument> arguments) {
  SqlType type = arguments[0].type;
  if (type.kind() == TypeKind::kNull) return Status::Validation("Illegal use of 'NULL'");
  SqlType second = arguments[1].type;
  if (second.kind() == TypeKind::kNull) second = type;
  return Signature{{type, second}, type};
}

/// Compares as = does, with the casts that = inserts.
Result<arrow::Datum> NullIfKernel(std::span<const ExprPtr> arguments, const SqlType& type,
                                  const arrow::RecordBatch& rows, const EvalContext& context) {
  SLUICE_ASSIGN_OR_RETURN(ArrayPtr values, EvaluateToArray(*arguments[0], rows, context));
  SLUICE_ASSIGN_OR_RETURN(ArrayPtr others, EvaluateToArray(*arguments[1], rows, context));
  const auto pair = arrow::RecordBatch::Make(
      arrow::schema({arrow::field("a", values->type()), arrow::field("b", others->type())}),
      rows.num_rows(), arrow::ArrayVector{values, others});
  SLUICE_ASSIGN_OR_RETURN(const ExprPtr equal,
                          MakeComparison(ComparisonOp::kEqual, MakeColumn(0, arguments[0]->type()),
                                         MakeColumn(1, arguments[1]->type())));
  CaseExpr choose({{equal, MakeNull(type)}}, MakeColumn(0, type), type);
  return choose.Evaluate(*pair, context);
}

Result<Signature> ResolveExtreme(std::span<const Argument> arguments) {
  SLUICE_ASSIGN_OR_RETURN(const SqlType common, CommonOf(arguments, "GREATEST"));
  if (!IsComparable(common, /*ordered=*/true)) return TypesDoNotFit();
  return Signature{std::vector<SqlType>(arguments.size(), common), common};
}

/// Any NULL gives NULL. Compares argument by argument and keeps, per row, the index of the best.
template <bool greatest>
Result<ArrayPtr> ExtremeKernel(const KernelCall& call) {
  const int64_t rows = call.row_count;
  std::vector<int32_t> best(static_cast<size_t>(rows), 0);
  VisitPhysical(call.result_type.kind(), [&](auto zero) {
    using T = decltype(zero);
    std::vector<OperandOf<T>> operands;
    for (const KernelArgument& argument : call.arguments) operands.emplace_back(argument);
    for (int64_t row = 0; row < rows; ++row) {
      size_t index = 0;
      for (size_t i = 1; i < operands.size(); ++i) {
        if (operands[i].IsNull(row) || operands[index].IsNull(row)) continue;
        const T a = operands[index][row];
        const T b = operands[i][row];
        if (greatest ? ValueLess<T>(a, b) : ValueLess<T>(b, a)) index = i;
      }
      best[static_cast<size_t>(row)] = static_cast<int32_t>(index);
    }
  });
  NullMask nulls(rows, call.context.pool);
  for (const KernelArgument& argument : call.arguments) nulls.Merge(Operand(argument));
  arrow::ArrayVector pieces;
  std::vector<int32_t> bases;
  int32_t base = 0;
  for (const KernelArgument& argument : call.arguments) {
    bases.push_back(base);
    pieces.push_back(argument.values);
    base += static_cast<int32_t>(argument.values->length());
  }
  for (int64_t row = 0; row < rows; ++row) {
    int32_t& place = best[static_cast<size_t>(row)];
    const auto index = static_cast<size_t>(place);
    place = bases[index] + (call.arguments[index].constant ? 0 : static_cast<int32_t>(row));
  }
  SLUICE_ASSIGN_ARROW(ArrayPtr all, arrow::Concatenate(pieces, call.context.pool));
  SLUICE_ASSIGN_OR_RETURN(ArrayPtr taken, TakeValues(all, best, call.context.pool));
  if (!nulls.any()) return taken;
  auto data = std::make_shared<arrow::ArrayData>(*taken->data());
  if (data->offset != 0) return Status::Internal("a taken array has an offset");
  data->buffers[0] = nulls.buffer();
  data->SetNullCount(arrow::kUnknownNullCount);
  return arrow::MakeArray(std::move(data));
}

Result<Signature> ResolveTypeOf(std::span<const Argument> arguments) {
  Signature signature{{arguments[0].type}, SqlType::String()};
  if (arguments.size() == 2) {
    if (arguments[1].type.kind() != TypeKind::kBoolean || arguments[1].literal == nullptr) {
      return TypesDoNotFit();
    }
    signature.arguments.push_back(arguments[1].type);
  }
  return signature;
}

Result<ArrayPtr> TypeOfKernel(const KernelCall& call) {
  const bool full = call.arguments.size() == 2 && !BooleanOperand(call.arguments[1]).IsNull(0) &&
                    BooleanOperand(call.arguments[1])[0];
  const SqlType& type = *call.arguments[0].type;
  const arrow::StringScalar text(full ? type.ToFullString() : type.ToString());
  return FromArrow(arrow::MakeArrayFromScalar(text, call.row_count, call.context.pool));
}

}  // namespace

std::span<const ScalarFunction> ConditionalFunctions() {
  constexpr std::string_view kGroup = "conditional";
  static const ScalarFunction kFunctions[] = {
      {.name = "COALESCE",
       .group = kGroup,
       .resolve = &ResolveCoalesce,
       .min_arguments = 1,
       .max_arguments = -1,
       .nulls = Nulls::kResolved,
       .lazy_kernel = &CoalesceKernel,
       .doc = {"COALESCE(a, b, …)", "The first argument that is not NULL.",
               "COALESCE(CAST(NULL AS INT), 2) => 2"}},
      {.name = "IFNULL",
       .group = kGroup,
       .resolve = &ResolveIfNull,
       .min_arguments = 2,
       .max_arguments = 2,
       .nulls = Nulls::kResolved,
       .lazy_kernel = &CoalesceKernel,
       .doc = {"IFNULL(a, b)", "a, or b when a is NULL.", "IFNULL(CAST(NULL AS INT), 3) => 3"}},
      {.name = "IF",
       .group = kGroup,
       .resolve = &ResolveIf,
       .min_arguments = 3,
       .max_arguments = 3,
       .nulls = Nulls::kResolved,
       .lazy_kernel = &IfKernel,
       .supported_forms = "'IF(<BOOLEAN>, <ANY>, <ANY>)'",
       .doc = {"IF(condition, a, b)", "a where the condition is TRUE, else b.",
               "IF(1 > 0, 'y', 'n') => 'y'"}},
      {.name = "NULLIF",
       .group = kGroup,
       .resolve = &ResolveNullIf,
       .min_arguments = 2,
       .max_arguments = 2,
       .nulls = Nulls::kAlways,
       .lazy_kernel = &NullIfKernel,
       .doc = {"NULLIF(a, b)", "NULL when a equals b, else a.", "NULLIF(1, 2) => 1"}},
      {.name = "GREATEST",
       .group = kGroup,
       .resolve = &ResolveExtreme,
       .min_arguments = 1,
       .max_arguments = -1,
       .kernel = &ExtremeKernel<true>,
       .doc = {"GREATEST(a, b, …)", "The greatest argument; NULL when one is NULL.",
               "GREATEST(1, 3, 2) => 3"}},
      {.name = "LEAST",
       .group = kGroup,
       .resolve = &ResolveExtreme,
       .min_arguments = 1,
       .max_arguments = -1,
       .kernel = &ExtremeKernel<false>,
       .doc = {"LEAST(a, b, …)", "The least argument; NULL when one is NULL.",
               "LEAST(1, 3, 2) => 1"}},
      {.name = "TYPEOF",
       .group = kGroup,
       .resolve = &ResolveTypeOf,
       .min_arguments = 1,
       .max_arguments = 2,
       .nulls = Nulls::kAlways,
       .kernel = &TypeOfKernel,
       .doc = {"TYPEOF(x[, full])", "The type of an expression as text.",
               "TYPEOF(1.5) => 'DECIMAL(2, 1) NOT NULL'"}},
  };
  return kFunctions;
}

}  // namespace sluice::expr
