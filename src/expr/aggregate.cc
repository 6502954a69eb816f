#include "expr/aggregate.h"

#include <algorithm>

#include <arrow/api.h>

#include "common/text.h"
#include "expr/accumulators.h"
#include "expr/registry.h"
#include "types/coercion.h"

namespace sluice::expr {

std::string AggregateCall::ToString(const Schema& input) const {
  std::string text = name + "(";
  if (distinct) text += "DISTINCT ";
  if (arguments.empty()) text += "*";
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (i > 0) text += ", ";
    text += arguments[i]->ToString(input);
  }
  text += ")";
  if (filter != nullptr) text += " FILTER (WHERE " + filter->ToString(input) + ")";
  return text;
}

bool IsAggregateName(std::string_view name) {
  const std::string upper = ToUpperAscii(name);
  const auto names = AggregateFunctionNames();
  return std::find(names.begin(), names.end(), upper) != names.end();
}

namespace {

Status WrongCount(const std::string& name, std::string_view expected) {
  return Status::Validation("Invalid number of arguments to function '" + name +
                            "'. Was expecting " + std::string(expected) + " arguments");
}

Result<SqlType> ResultType(const std::string& name, const SqlType& input) {
  if (name == "COUNT") return SqlType::Bigint().NotNull();
  if (input.kind() == TypeKind::kNull) return Status::Validation("Illegal use of 'NULL'");
  if (name == "SUM") return SumType(input);
  if (name == "AVG") return AvgType(input);
  if (!IsComparable(input, /*ordered=*/true)) {
    return Status::Validation("Cannot apply '" + name + "' to arguments of type '" + name + "(<" +
                              ValidatorTypeName(input) + ">)'. Supported form(s): '" + name +
                              "(<COMPARABLE_TYPE>)'");
  }
  return input.WithNullable(true);
}

}  // namespace

Result<AggregateCall> MakeAggregate(std::string_view name, std::vector<ExprPtr> arguments,
                                    bool distinct, ExprPtr filter) {
  AggregateCall call;
  call.name = ToUpperAscii(name);
  if (!IsAggregateName(call.name)) {
    std::vector<SqlType> types;
    for (const ExprPtr& argument : arguments) types.push_back(argument->type());
    return UnknownFunction(name, types);
  }
  const bool known = call.name == "COUNT" || call.name == "SUM" || call.name == "AVG" ||
                     call.name == "MIN" || call.name == "MAX";
  if (!known)
    return Status::Unsupported("The aggregate function " + call.name + " is not supported yet.");
  if (arguments.size() > 1) {
    if (call.name == "COUNT") {
      return Status::Unsupported(
          "COUNT of several arguments is not supported; count a ROW or one column.");
    }
    return WrongCount(call.name, "1");
  }
  if (arguments.empty() && (call.name != "COUNT" || distinct)) return WrongCount(call.name, "1");
  if (filter != nullptr && filter->type().kind() != TypeKind::kBoolean) {
    return Status::Validation("FILTER must be a BOOLEAN condition, not " +
                              filter->type().ToString() + ".");
  }
  SLUICE_ASSIGN_OR_RETURN(
      call.type, ResultType(call.name, arguments.empty() ? SqlType::Null() : arguments[0]->type()));
  call.arguments = std::move(arguments);
  // MIN and MAX of distinct values are those of all.
  call.distinct = distinct && call.name != "MIN" && call.name != "MAX";
  call.filter = std::move(filter);
  return call;
}

Result<std::unique_ptr<Accumulator>> MakeAccumulator(const AggregateCall& call,
                                                     arrow::MemoryPool* pool) {
  const SqlType input = call.arguments.empty() ? SqlType::Null() : call.arguments[0]->type();
  std::unique_ptr<Accumulator> made;
  if (call.name == "COUNT") {
    made = internal::MakeCount(pool);
  } else if (call.name == "SUM" || call.name == "AVG") {
    SLUICE_ASSIGN_OR_RETURN(made, internal::MakeSum(input, call.type, call.name == "AVG", pool));
  } else {
    SLUICE_ASSIGN_OR_RETURN(made, internal::MakeExtreme(call.type, call.name == "MAX", pool));
  }
  if (!call.distinct) return made;
  return internal::MakeDistinct(input, std::move(made), pool);
}

Status AddRows(const AggregateCall& call, Accumulator& accumulator, const arrow::RecordBatch& rows,
               std::span<const int32_t> group_of_row, const EvalContext& context) {
  std::shared_ptr<arrow::Array> values;
  std::shared_ptr<arrow::Array> selected;
  if (!call.arguments.empty()) {
    SLUICE_ASSIGN_OR_RETURN(values, EvaluateToArray(*call.arguments[0], rows, context));
  }
  if (call.filter != nullptr) {
    SLUICE_ASSIGN_OR_RETURN(selected, EvaluateToArray(*call.filter, rows, context));
  }
  return accumulator.Add(values.get(), group_of_row,
                         static_cast<const arrow::BooleanArray*>(selected.get()));
}

}  // namespace sluice::expr
