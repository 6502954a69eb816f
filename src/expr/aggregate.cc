#include "expr/aggregate.h"

#include <algorithm>
#include <array>

#include <arrow/array/array_primitive.h>

#include "types/coercion.h"

namespace sluice::expr {
namespace {

constexpr std::array<std::string_view, 5> kOffered = {"AVG", "COUNT", "MAX", "MIN", "SUM"};
// Aggregates of Flink that are known by name, so that a call is refused by what it is and not as an
// unknown function.
constexpr std::array<std::string_view, 22> kLater = {"APPROX_COUNT_DISTINCT",
                                                     "ARRAY_AGG",
                                                     "COLLECT",
                                                     "FIRST_VALUE",
                                                     "GROUPING",
                                                     "GROUPING_ID",
                                                     "GROUP_ID",
                                                     "JSON_ARRAYAGG",
                                                     "JSON_OBJECTAGG",
                                                     "LAG",
                                                     "LAST_VALUE",
                                                     "LEAD",
                                                     "LISTAGG",
                                                     "NTILE",
                                                     "PERCENTILE",
                                                     "RANK",
                                                     "STDDEV",
                                                     "STDDEV_POP",
                                                     "STDDEV_SAMP",
                                                     "VARIANCE",
                                                     "VAR_POP",
                                                     "VAR_SAMP"};

bool Contains(std::span<const std::string_view> names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

Status WrongCount(std::string_view name, int expected) {
  return Status::Validation("Invalid number of arguments to function '" + std::string(name) +
                            "'. Was expecting " + std::to_string(expected) + " arguments");
}

Status WrongType(std::string_view name, const SqlType& type, std::string_view forms) {
  return Status::Validation("Cannot apply '" + std::string(name) + "' to arguments of type '" +
                            std::string(name) + "(<" + ValidatorTypeName(type) +
                            ">)'. Supported form(s): " + std::string(forms));
}

Result<SqlType> ResultType(std::string_view name, const SqlType& input) {
  if (name == "MIN" || name == "MAX") {
    if (!IsComparable(input, true))
      return WrongType(name, input, "'" + std::string(name) + "(<COMPARABLE_TYPE>)'");
    return input.WithNullable(true);
  }
  Result<SqlType> type = name == "SUM" ? SumType(input) : AvgType(input);
  if (!type.ok()) return WrongType(name, input, "'" + std::string(name) + "(<NUMERIC>)'");
  return type->WithNullable(true);
}

}  // namespace

bool IsAggregateName(std::string_view name) {
  return Contains(kOffered, name) || Contains(kLater, name);
}

std::string AggregateCall::ToString(const Schema& input) const {
  std::string text = name + "(" + (distinct ? "DISTINCT " : "");
  if (arguments.empty()) text += "*";
  for (size_t i = 0; i < arguments.size(); ++i)
    text += (i > 0 ? ", " : "") + arguments[i]->ToString(input);
  text += ")";
  if (filter) text += " FILTER (WHERE " + filter->ToString(input) + ")";
  return text;
}

Result<AggregateCall> MakeAggregate(std::string_view name, std::vector<ExprPtr> arguments,
                                    bool distinct, ExprPtr filter) {
  if (!Contains(kOffered, name)) {
    return Status::Unsupported("The aggregate function " + std::string(name) +
                               " is not supported yet.");
  }
  AggregateCall call;
  call.name = name;
  call.distinct = distinct && !arguments.empty() && name != "MIN" &&
                  name != "MAX";  // They do not change by repeats.
  call.filter = std::move(filter);
  if (name == "COUNT") {
    if (arguments.size() > 1) return WrongCount(name, 1);
    call.type = SqlType::Bigint().NotNull();
  } else {
    if (arguments.size() != 1) return WrongCount(name, 1);
    if (arguments[0]->type().kind() == TypeKind::kNull)
      return Status::Validation("Illegal use of 'NULL'");
    SLUICE_ASSIGN_OR_RETURN(call.type, ResultType(name, arguments[0]->type()));
  }
  call.arguments = std::move(arguments);
  return call;
}

Status AddRows(const AggregateCall& call, Accumulator& accumulator, const arrow::RecordBatch& rows,
               std::span<const int32_t> group_of_row, const EvalContext& context) {
  std::shared_ptr<arrow::Array> values;
  std::shared_ptr<arrow::Array> selected;
  if (!call.arguments.empty()) {
    SLUICE_ASSIGN_OR_RETURN(values, EvaluateToArray(*call.arguments[0], rows, context));
  }
  if (call.filter) {
    SLUICE_ASSIGN_OR_RETURN(selected, EvaluateToArray(*call.filter, rows, context));
  }
  return accumulator.Add(values.get(), group_of_row,
                         static_cast<const arrow::BooleanArray*>(selected.get()));
}

}  // namespace sluice::expr
