#include "expr/registry.h"

#include <algorithm>
#include <array>
#include <string>
#include <unordered_map>
#include <utility>

#include "common/nearest_name.h"
#include "common/text.h"
#include "expr/functions/lists.h"
#include "types/coercion.h"

namespace sluice::expr {

namespace {

using List = std::span<const ScalarFunction> (*)();

constexpr List kLists[] = {
    &ComparisonOperators, &LogicOperators,        &ArithmeticOperators,     &PatternOperators,
    &NestedOperators,     &ConditionalFunctions,  &RoundingFunctions,       &MathFunctions,
    &StringFunctions,     &StringSearchFunctions, &StringCodeFunctions,     &HashFunctions,
    &UrlFunctions,        &RegexFunctions,        &ClockFunctions,          &DateFormatFunctions,
    &UnixTimeFunctions,   &ExtractFunctions,      &TimeArithmeticFunctions, &ArrayFunctions,
    &ArraySetFunctions,   &MapFunctions,          &JsonFunctions,           &JsonMakingFunctions,
};

struct Registry {
  std::vector<const ScalarFunction*> sorted;
  std::unordered_map<std::string_view, const ScalarFunction*> by_name;

  Registry() {
    for (const List list : kLists) {
      for (const ScalarFunction& function : list()) {
        sorted.push_back(&function);
        by_name.emplace(function.name, &function);
      }
    }
    std::sort(sorted.begin(), sorted.end(),
              [](const auto* a, const auto* b) { return a->name < b->name; });
  }
};

const Registry& TheRegistry() {
  static const Registry kRegistry;
  return kRegistry;
}

/// What users of other engines look for, and Flink's way to say it.
constexpr std::pair<std::string_view, std::string_view> kOtherNames[] = {
    {"LENGTH", "CHAR_LENGTH(s)"},
    {"LEN", "CHAR_LENGTH(s)"},
    {"NVL", "COALESCE(a, b) or IFNULL(a, b)"},
    {"ISNULL", "x IS NULL"},
    {"DATEDIFF", "TIMESTAMPDIFF(DAY, a, b)"},
    {"DATE_DIFF", "TIMESTAMPDIFF(DAY, a, b)"},
    {"DATE_ADD", "TIMESTAMPADD(DAY, n, d) or d + INTERVAL 'n' DAY"},
    {"DATE_SUB", "TIMESTAMPADD(DAY, -n, d) or d - INTERVAL 'n' DAY"},
    {"TO_CHAR", "DATE_FORMAT(ts, pattern) or CAST(x AS STRING)"},
    {"DATE_TRUNC", "FLOOR(ts TO DAY)"},
    {"LAST_DAY", "FLOOR(d TO MONTH) + INTERVAL '1' MONTH - INTERVAL '1' DAY"},
    {"DAYNAME", "DATE_FORMAT(ts, 'EEEE')"},
    {"MONTHNAME", "DATE_FORMAT(ts, 'MMMM')"},
    {"SPLIT_PART", "SPLIT_INDEX(s, delimiter, index) with an index from 0"},
    {"SUBSTRING_INDEX", "SPLIT_INDEX(s, delimiter, index)"},
    {"STRPOS", "POSITION(a IN s) or INSTR(s, a)"},
    {"CHARINDEX", "LOCATE(a, s)"},
    {"IIF", "IF(c, a, b)"},
    {"DECODE_NULL", "COALESCE(a, b)"},
    {"GETDATE", "CURRENT_TIMESTAMP"},
    {"SYSDATE", "CURRENT_TIMESTAMP"},
    {"UNIX_MILLIS", "UNIX_TIMESTAMP() * 1000"},
    {"FROM_UNIXTIME_MILLIS", "TO_TIMESTAMP_LTZ(n, 3)"},
    {"RLIKE", "REGEXP(s, pattern)"},
    {"REGEXP_LIKE", "REGEXP(s, pattern)"},
    {"UCASE", "UPPER(s)"},
    {"LCASE", "LOWER(s)"},
    {"TRUNC", "TRUNCATE(x, n)"},
    {"POW", "POWER(x, y)"},
    {"SIZE", "CARDINALITY(a)"},
    {"ARRAY_LENGTH", "CARDINALITY(a)"},
    {"GET_JSON_OBJECT", "JSON_VALUE(s, path)"},
    {"JSON_EXTRACT", "JSON_VALUE(s, path) or JSON_QUERY(s, path)"},
    {"TO_JSON", "JSON_STRING(v)"},
};

constexpr std::string_view kAggregates[] = {
    "APPROX_COUNT_DISTINCT",
    "ARRAY_AGG",
    "AVG",
    "COLLECT",
    "COUNT",
    "CUME_DIST",
    "DENSE_RANK",
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
    "MAX",
    "MIN",
    "NTILE",
    "PERCENTILE",
    "PERCENT_RANK",
    "RANK",
    "ROW_NUMBER",
    "STDDEV",
    "STDDEV_POP",
    "STDDEV_SAMP",
    "SUM",
    "VARIANCE",
    "VAR_POP",
    "VAR_SAMP",
};

}  // namespace

const ScalarFunction* FindFunction(std::string_view name) {
  const std::string upper = ToUpperAscii(name);
  const auto& by_name = TheRegistry().by_name;
  const auto found = by_name.find(upper);
  return found == by_name.end() ? nullptr : found->second;
}

std::span<const ScalarFunction* const> AllFunctions() { return TheRegistry().sorted; }

std::span<const std::string_view> AggregateFunctionNames() { return kAggregates; }

Status UnknownFunction(std::string_view name, std::span<const SqlType> argument_types) {
  std::string message = "No match found for function signature " + std::string(name) + "(";
  for (size_t i = 0; i < argument_types.size(); ++i) {
    if (i > 0) message += ", ";
    message += "<" + std::string(ValidatorTypeFamily(argument_types[i])) + ">";
  }
  message += ").";
  const std::string upper = ToUpperAscii(name);
  for (const auto& [other, ours] : kOtherNames) {
    if (upper == other) return Status::Validation(message + " Use " + std::string(ours) + ".");
  }
  std::vector<std::string> known;
  for (const ScalarFunction* function : AllFunctions()) {
    if (!function->is_operator) known.emplace_back(function->name);
  }
  for (const std::string_view aggregate : kAggregates) known.emplace_back(aggregate);
  return Status::Validation(message + DidYouMean(upper, known));
}

}  // namespace sluice::expr
