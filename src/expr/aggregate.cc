#include "expr/aggregate.h"

#include <algorithm>

#include <arrow/api.h>

#include "common/text.h"
#include "expr/accumulators.h"
#include "expr/nodes.h"
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

bool IsVariance(std::string_view name) {
  return name.starts_with("VAR") || name.starts_with("STDDEV");
}

Status WrongType(const std::string& name, const SqlType& input, std::string_view form) {
  return Status::Validation("Cannot apply '" + name + "' to arguments of type '" + name + "(<" +
                            ValidatorTypeName(input) + ">)'. Supported form(s): '" + name + "(<" +
                            std::string(form) + ">)'");
}

Result<SqlType> ResultType(const std::string& name, const SqlType& input) {
  if (name == "COUNT") return SqlType::Bigint().NotNull();
  if (input.kind() == TypeKind::kNull) return Status::Validation("Illegal use of 'NULL'");
  if (name == "SUM") return SumType(input);
  if (name == "AVG") return AvgType(input);
  if (IsVariance(name)) {
    if (!input.is_numeric()) return WrongType(name, input, "NUMERIC");
    return AvgType(input);
  }
  if (name == "LISTAGG") {
    if (!input.is_character()) return WrongType(name, input, "CHARACTER");
    return SqlType::String();
  }
  if (name == "ARRAY_AGG") return SqlType::Array(input);
  if (!IsComparable(input, /*ordered=*/true)) return WrongType(name, input, "COMPARABLE_TYPE");
  return input.WithNullable(true);
}

constexpr std::string_view kOffered[] = {"COUNT",      "SUM",         "AVG",        "MIN",
                                         "MAX",        "FIRST_VALUE", "LAST_VALUE", "LISTAGG",
                                         "ARRAY_AGG",  "VAR_POP",     "VAR_SAMP",   "VARIANCE",
                                         "STDDEV_POP", "STDDEV_SAMP", "STDDEV"};

Status CheckArguments(const AggregateCall& call, const std::vector<ExprPtr>& arguments,
                      bool distinct) {
  if (call.name == "LISTAGG" && arguments.size() == 2) {
    const auto separator = LiteralValue(*arguments[1]);
    if (separator == nullptr || !separator->is_valid || !arguments[1]->type().is_character()) {
      return Status::Validation("The separator of LISTAGG must be a text literal.");
    }
    return {};
  }
  if (arguments.size() > 1 && call.name == "COUNT") {
    return Status::Unsupported(
        "COUNT of several arguments is not supported; count a ROW or one column.");
  }
  const bool star = arguments.empty() && call.name == "COUNT" && !distinct;
  return arguments.size() == 1 || star ? Status() : WrongCount(call.name, "1");
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
  if (std::find(std::begin(kOffered), std::end(kOffered), call.name) == std::end(kOffered)) {
    return Status::Unsupported("The aggregate function " + call.name + " is not supported yet.");
  }
  SLUICE_RETURN_NOT_OK(CheckArguments(call, arguments, distinct));
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

namespace {

Result<std::unique_ptr<Accumulator>> MakePlain(const AggregateCall& call, const SqlType& input,
                                               arrow::MemoryPool* pool, bool retracts) {
  using internal::Pick;
  const std::string& name = call.name;
  if (retracts && (name == "MIN" || name == "MAX"))
    return internal::MakeExtremeOfChanges(call.type, name == "MIN", pool);
  if (name == "COUNT") return internal::MakeCount(pool);
  if (name == "SUM" || name == "AVG") {
    return internal::MakeSum(input, call.type, name == "AVG", pool);
  }
  if (name == "MIN") return internal::MakePick(call.type, Pick::kLeast, pool);
  if (name == "MAX") return internal::MakePick(call.type, Pick::kGreatest, pool);
  if (name == "FIRST_VALUE") return internal::MakePick(call.type, Pick::kFirst, pool);
  if (name == "LAST_VALUE") return internal::MakePick(call.type, Pick::kLast, pool);
  if (name == "ARRAY_AGG") return internal::MakeArrayAgg(call.type, pool);
  if (name == "LISTAGG") {
    std::string separator = ",";
    if (call.arguments.size() == 2) {
      separator = static_cast<const arrow::StringScalar&>(*LiteralValue(*call.arguments[1]))
                      .value->ToString();
    }
    return internal::MakeListAgg(std::move(separator), pool);
  }
  const bool population = name.ends_with("_POP");
  return internal::MakeVariance(input, call.type, !population, name.starts_with("STDDEV"), pool);
}

}  // namespace

Result<std::unique_ptr<Accumulator>> MakeAccumulator(const AggregateCall& call,
                                                     arrow::MemoryPool* pool, bool retracts) {
  const SqlType input = call.arguments.empty() ? SqlType::Null() : call.arguments[0]->type();
  SLUICE_ASSIGN_OR_RETURN(std::unique_ptr<Accumulator> made,
                          MakePlain(call, input, pool, retracts));
  if (retracts && !made->retractable()) {
    return Status::Unsupported(
        call.name +
        " over an input with updates or deletes is not supported yet: it cannot take a row back. "
        "COUNT, SUM, AVG, MIN and MAX can.");
  }
  if (!call.distinct) return made;
  return retracts ? internal::MakeDistinctOfChanges(input, std::move(made), pool)
                  : internal::MakeDistinct(input, std::move(made), pool);
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
