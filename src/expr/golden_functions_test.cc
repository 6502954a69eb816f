// Values and types of some 220 functions, casts and operators, as Flink 2.3 gives them
// (tests/data/golden/functions).
#include <fstream>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "common/text.h"
#include "expr/mini_sql.h"

namespace sluice::expr::testing {
namespace {

struct GoldenCase {
  std::string sql;
  std::string type;
  std::string value;
  bool error = false;
};

std::vector<GoldenCase> ReadCases() {
  std::vector<GoldenCase> cases;
  std::ifstream file("tests/data/golden/functions/result.txt");
  std::string line;
  while (std::getline(file, line)) {
    constexpr std::string_view kSelect = "> SELECT ";
    constexpr std::string_view kColumns = "-- columns: EXPR$0 ";
    if (line.starts_with(kSelect)) {
      cases.push_back({line.substr(kSelect.size(), line.size() - kSelect.size() - 1), {}, {}});
    } else if (line.starts_with(kColumns)) {
      cases.back().type = line.substr(kColumns.size());
    } else if (line.starts_with("+I ")) {
      cases.back().value = line.substr(3);
    } else if (line.starts_with("-- ERROR")) {
      cases.back().error = true;
    }
  }
  return cases;
}

/// A type in the words of the recorded client.
std::string ClientType(const SqlType& type) {
  std::string text;
  switch (type.kind()) {
    case TypeKind::kInt:
      text = "INTEGER";
      break;
    case TypeKind::kVarchar:
      text = "VARCHAR(" +
             (type.length() == SqlType::kMaxLength ? "max" : std::to_string(type.length())) + ")";
      break;
    case TypeKind::kVarbinary:
      text = "VARBINARY(" +
             (type.length() == SqlType::kMaxLength ? "max" : std::to_string(type.length())) + ")";
      break;
    case TypeKind::kTime:
      text = "TIME_WITHOUT_TIME_ZONE(" + std::to_string(type.precision()) + ")";
      break;
    case TypeKind::kTimestamp:
      text = "TIMESTAMP_WITHOUT_TIME_ZONE(" + std::to_string(type.precision()) + ")";
      break;
    case TypeKind::kTimestampLtz:
      text = "TIMESTAMP_WITH_LOCAL_TIME_ZONE(" + std::to_string(type.precision()) + ")";
      break;
    case TypeKind::kIntervalDayTime:
      text = "INTERVAL_DAY_TIME";
      break;
    case TypeKind::kIntervalYearMonth:
      text = "INTERVAL_YEAR_MONTH";
      break;
    case TypeKind::kArray:
      text = "ARRAY<" + ClientType(type.element()) + ">";
      break;
    case TypeKind::kMap:
      text = "MAP<" + ClientType(type.key()) + ", " + ClientType(type.value()) + ">";
      break;
    case TypeKind::kRow:
      text = "ROW<";
      for (const RowField& field : type.fields()) {
        if (text.size() > 4) text += ", ";
        text += field.name + " " + ClientType(field.type);
      }
      text += ">";
      break;
    default:
      text = type.WithNullable(true).ToString();
  }
  return text + (type.nullable() ? "" : " NOT NULL");
}

/// Where we differ on purpose, and why.
const std::map<std::string, std::string>& Differences() {
  static const std::map<std::string, std::string> kDifferences = {
      {"CAST(99999 AS DECIMAL(4,1))",
       "the value is NULL here; the sink refuses it, not the expression"},
      {"CURRENT_WATERMARK(CAST(NULL AS TIMESTAMP_LTZ(3)))",
       "the binder knows time attributes, not the expression"},
  };
  return kDifferences;
}

TEST(GoldenFunctions, EqualFlink) {
  EvalContext context;
  context.session_zone = *TimeZone::Find("Asia/Shanghai");
  const std::vector<GoldenCase> cases = ReadCases();
  ASSERT_GT(cases.size(), 200u) << "run from the root of the source tree";
  for (const GoldenCase& golden : cases) {
    // Aggregates are no scalar expressions: aggregate_test.cc has their types.
    if (golden.sql.find("SUM(") != std::string::npos ||
        golden.sql.find("AVG(") != std::string::npos ||
        golden.sql.find("COUNT(") != std::string::npos || Differences().contains(golden.sql)) {
      continue;
    }
    SCOPED_TRACE(golden.sql);
    std::string value = Value(golden.sql, context);
    if (golden.error) {
      EXPECT_TRUE(value.starts_with("error: ")) << value;
      continue;
    }
    if (value == "NULL") value = "<NULL>";
    EXPECT_EQ(value, golden.value);
    const Result<ExprPtr> expression = ReadExpression(golden.sql, {}, context.session_zone);
    if (expression.ok()) {
      EXPECT_EQ(ClientType((*expression)->type()), golden.type);
    }
  }
}

}  // namespace
}  // namespace sluice::expr::testing
