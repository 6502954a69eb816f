// Expressions over batches: laziness, NULLs, constants, push-down helpers, folding.
#include <arrow/api.h>
#include <gtest/gtest.h>

#include "expr/builder.h"
#include "expr/mini_sql.h"
#include "expr/sort.h"
#include "types/value_text.h"

namespace sluice::expr::testing {
namespace {

template <typename Builder, typename T>
std::shared_ptr<arrow::Array> Column(const std::vector<std::optional<T>>& values) {
  Builder builder;
  for (const auto& value : values) {
    EXPECT_TRUE((value ? builder.Append(*value) : builder.AppendNull()).ok());
  }
  return *builder.Finish();
}

const Schema& InputSchema() {
  static const Schema kSchema({{"a", SqlType::Int()},
                               {"b", SqlType::Int()},
                               {"s", SqlType::String()},
                               {"c", SqlType::Boolean()}});
  return kSchema;
}

std::shared_ptr<arrow::RecordBatch> Input() {
  using I = std::optional<int32_t>;
  using S = std::optional<std::string>;
  using B = std::optional<bool>;
  return arrow::RecordBatch::Make(
      InputSchema().ToArrow(), 5,
      arrow::ArrayVector{
          Column<arrow::Int32Builder>(std::vector<I>{1, 2, I{}, 4, 5}),
          Column<arrow::Int32Builder>(std::vector<I>{0, 2, 3, I{}, 1}),
          Column<arrow::StringBuilder>(std::vector<S>{"x", "12", S{}, "7", ""}),
          Column<arrow::BooleanBuilder>(std::vector<B>{true, false, B{}, true, B{}})});
}

/// The values of an expression over the input, joined by blanks; also checked on a slice of the
/// batch.
std::string Rows(std::string_view sql, const EvalContext& context = {}) {
  const Result<ExprPtr> expression = ReadExpression(sql, InputSchema());
  if (!expression.ok()) return "error: " + expression.status().message();
  std::string text;
  const auto whole = Input();
  const auto values = EvaluateToArray(**expression, *whole, context);
  if (!values.ok()) return "error: " + values.status().message();
  EXPECT_TRUE((*values)->ValidateFull().ok()) << sql;
  EXPECT_TRUE((*values)->type()->Equals(*(*expression)->type().ToArrow())) << sql;
  for (int64_t row = 0; row < whole->num_rows(); ++row) {
    if (row > 0) text += ' ';
    AppendValueText((*expression)->type(), **values, row, context.session_zone, &text);
  }
  const auto slice = whole->Slice(1, 3);
  const auto sliced = EvaluateToArray(**expression, *slice, context);
  if (sliced.ok() && (*expression)->deterministic()) {
    EXPECT_TRUE((*sliced)->Equals((*values)->Slice(1, 3))) << sql << (*sliced)->ToString();
  }
  return text;
}

TEST(Expression, OverColumns) {
  const std::pair<const char*, const char*> cases[] = {
      {"a", "1 2 NULL 4 5"},
      {"a + 1", "2 3 NULL 5 6"},
      {"a + b", "1 4 NULL NULL 6"},
      {"10 - a", "9 8 NULL 6 5"},
      {"-a", "-1 -2 NULL -4 -5"},
      {"a > 2", "FALSE FALSE NULL TRUE TRUE"},
      {"2 < a", "FALSE FALSE NULL TRUE TRUE"},
      {"a = b", "FALSE TRUE NULL NULL FALSE"},
      {"a <> b", "TRUE FALSE NULL NULL TRUE"},
      {"a IS NOT DISTINCT FROM b", "FALSE TRUE FALSE FALSE FALSE"},
      {"a IS NULL", "FALSE FALSE TRUE FALSE FALSE"},
      {"c", "TRUE FALSE NULL TRUE NULL"},
      {"NOT c", "FALSE TRUE NULL FALSE NULL"},
      {"c IS TRUE", "TRUE FALSE FALSE TRUE FALSE"},
      {"c IS NOT FALSE", "TRUE FALSE TRUE TRUE TRUE"},
      {"c IS UNKNOWN", "FALSE FALSE TRUE FALSE TRUE"},
      {"c AND a > 1", "FALSE FALSE NULL TRUE NULL"},
      {"c OR a > 1", "TRUE TRUE NULL TRUE TRUE"},
      {"c AND NULL", "NULL FALSE NULL NULL NULL"},
      {"c OR TRUE", "TRUE TRUE TRUE TRUE TRUE"},
      {"a IN (1, 5)", "TRUE FALSE NULL FALSE TRUE"},
      {"a IN (1, NULL)", "TRUE NULL NULL NULL NULL"},
      {"a NOT IN (1, NULL)", "FALSE NULL NULL NULL NULL"},
      {"a IN (1,2,3,4,6,7,8,9,10,11)", "TRUE TRUE NULL TRUE FALSE"},
      {"a IN (b, 1)", "TRUE TRUE NULL NULL FALSE"},
      {"s IN ('x', '7')", "TRUE FALSE NULL TRUE FALSE"},
      {"s IN ('x','7','a','b','c','d','e','f','g')", "TRUE FALSE NULL TRUE FALSE"},
      {"a BETWEEN 2 AND 4", "FALSE TRUE NULL TRUE FALSE"},
      {"a NOT BETWEEN 2 AND 4", "TRUE FALSE NULL FALSE TRUE"},
      {"a BETWEEN SYMMETRIC 4 AND 2", "FALSE TRUE NULL TRUE FALSE"},
      {"s LIKE '%2'", "FALSE TRUE NULL FALSE FALSE"},
      {"s || '!'", "x! 12! NULL 7! !"},
      {"CONCAT(s, '-', CAST(a AS STRING))", "x-1 12-2 NULL 7-4 -5"},
      {"CONCAT_WS('-', s, CAST(b AS STRING))", "x-0 12-2 3 7 -1"},
      {"UPPER(s)", "X 12 NULL 7 "},
      {"COALESCE(a, b, 0)", "1 2 3 4 5"},
      {"IFNULL(s, '?')", "x 12 ? 7 "},
      {"NULLIF(a, 2)", "1 NULL NULL 4 5"},
      {"NULLIF(a, b)", "1 NULL NULL 4 5"},
      {"GREATEST(a, b)", "1 2 NULL NULL 5"},
      {"LEAST(a, 3)", "1 2 NULL 3 3"},
      {"IF(c, a, b)", "1 2 3 4 1"},
      {"CASE WHEN a > 3 THEN 'big' WHEN a > 1 THEN 'mid' ELSE 'none' END", "none mid none big big"},
      {"CASE a WHEN 1 THEN 'one' WHEN 2 THEN 'two' END", "one two NULL NULL NULL"},
      {"CAST(a AS DECIMAL(5, 2))", "1.00 2.00 NULL 4.00 5.00"},
      {"TRY_CAST(s AS INT)", "NULL 12 NULL 7 NULL"},
      {"CAST(s AS INT)",
       "error: For input string: 'x'. Invalid character found. It is not a INT; TRY_CAST gives "
       "NULL."},
      {"ARRAY[a, b][1]", "1 2 NULL 4 5"},
      {"MAP['k', a]['k']", "1 2 NULL 4 5"},
      {"CAST(ROW(a, s) AS STRING)", "(1, x) (2, 12) (NULL, NULL) (4, 7) (5, )"},
      {"CARDINALITY(ARRAY[a, b])", "2 2 2 2 2"},
      {"1 + 1", "2 2 2 2 2"},
  };
  for (const auto& [sql, expected] : cases) EXPECT_EQ(Rows(sql), expected) << sql;
}

TEST(Expression, RowsNotTakenDoNotFail) {
  const std::pair<const char*, const char*> cases[] = {
      {"10 / b", "error: / by zero"},
      {"CASE WHEN b <> 0 THEN 10 / b ELSE -1 END", "-1 5 3 -1 10"},
      {"IF(b = 0, -1, 10 / b)", "-1 5 3 NULL 10"},
      {"b <> 0 AND 10 / b > 4", "FALSE TRUE FALSE NULL TRUE"},
      {"b = 0 OR 10 / b > 4", "TRUE TRUE FALSE NULL TRUE"},
      {"COALESCE(b, 10 / (a - a))", "error: / by zero"},
      {"COALESCE(a, 1 / 0)", "error: / by zero"},
      {"COALESCE(1, 1 / 0)", "1 1 1 1 1"},
      {"CASE WHEN TRUE THEN 1 ELSE 1 / 0 END", "1 1 1 1 1"},
      {"CASE WHEN s = 'x' THEN 0 WHEN s = '' THEN -1 ELSE CAST(s AS INT) END", "0 12 NULL 7 -1"},
  };
  for (const auto& [sql, expected] : cases) EXPECT_EQ(Rows(sql), expected) << sql;
  // No rows, no failure.
  const Result<ExprPtr> failing = ReadExpression("1 / 0", InputSchema());
  const auto none = Input()->Slice(0, 0);
  ASSERT_TRUE(EvaluateToArray(**failing, *none, {}).ok());
}

TEST(Expression, FoldsWhatIsConstantAndDoesNotFail) {
  const auto folded = [](std::string_view sql) {
    EvalContext context;
    const Result<ExprPtr> expression = ReadExpression(sql, InputSchema());
    EXPECT_TRUE(expression.ok()) << sql;
    const Result<ExprPtr> result = FoldConstants(*expression, context);
    EXPECT_TRUE(result.ok());
    EXPECT_EQ((*result)->type(), (*expression)->type());
    return (*result)->ToString(InputSchema());
  };
  EXPECT_EQ(folded("1 + 2 * 3"), "7");
  EXPECT_EQ(folded("a + (1 + 2)"), "(a + 3)");
  EXPECT_EQ(folded("1 / 0"), "(1 / 0)");
  EXPECT_EQ(folded("CAST('x' AS INT)"), "CAST('x' AS INT)");
  EXPECT_EQ(folded("UPPER('a') || s"), "('A' || s)");
  EXPECT_EQ(folded("RAND() < 2"), "(RAND() < 2.0)");
  EXPECT_EQ(folded("CURRENT_TIMESTAMP"), "CURRENT_TIMESTAMP()");
  EXPECT_EQ(folded("CASE WHEN 1 > 2 THEN 'a' ELSE 'b' END"), "'b'");
  EXPECT_EQ(folded("DATE_FORMAT(TIMESTAMP '2020-05-20 00:00:00', 'yyyy')"), "'2020'");
}

TEST(Expression, Text) {
  const auto text = [](std::string_view sql) {
    const Result<ExprPtr> expression = ReadExpression(sql, InputSchema());
    return expression.ok() ? (*expression)->ToString(InputSchema()) : expression.status().message();
  };
  EXPECT_EQ(text("a > 1 AND s = 'it''s' AND c"), "(((a > 1) AND (s = 'it''s')) AND c)");
  EXPECT_EQ(text("a BETWEEN 1 AND 2"), "((a >= 1) AND (a <= 2))");
  EXPECT_EQ(text("a NOT IN (1, 2)"), "NOT a IN (1, 2)");
  EXPECT_EQ(text("s LIKE 'a!%' ESCAPE '!'"), "(s LIKE 'a!%' ESCAPE '!')");
  EXPECT_EQ(text("CAST(a AS BIGINT) IS NULL"), "CAST(a AS BIGINT) IS NULL");
  EXPECT_EQ(text("CASE WHEN c THEN 1 ELSE a END"), "CASE WHEN c THEN 1 ELSE a END");
  EXPECT_EQ(text("ARRAY[a][1]"), "ARRAY[a][1]");
  EXPECT_EQ(text("EXTRACT(YEAR FROM DATE '2020-01-01')"), "EXTRACT('YEAR', 2020-01-01)");
}

TEST(Expression, Helpers) {
  const ExprPtr condition = *ReadExpression("a > 1 AND (b = 2 AND s = 'x')", InputSchema());
  EXPECT_EQ(UsedColumns(*condition), (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(SplitConjuncts(condition).size(), 3u);
  const ExprPtr moved = RemapColumns(condition, {2, 0, 1, -1});
  EXPECT_EQ(UsedColumns(*moved), (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(moved->ToString(
                Schema({{"b", SqlType::Int()}, {"s", SqlType::String()}, {"a", SqlType::Int()}})),
            "((a > 1) AND ((b = 2) AND (s = 'x')))");
  EXPECT_EQ(RemapColumns(condition, {0, 1, 2, 3}), condition);
}

TEST(Expression, DependsOnClockAndWatermark) {
  EvalContext context;
  const VirtualClock clock(1589932800123);
  context.clock = &clock;
  context.session_zone = *TimeZone::Find("Asia/Shanghai");
  EXPECT_EQ(Value("CURRENT_TIMESTAMP", context), "2020-05-20 08:00:00.123");
  EXPECT_EQ(Value("LOCALTIMESTAMP", context), "2020-05-20 08:00:00.123");
  EXPECT_EQ(Value("CURRENT_DATE", context), "2020-05-20");
  EXPECT_EQ(Value("LOCALTIME", context), "08:00:00");
  EXPECT_EQ(Value("UNIX_TIMESTAMP()", context), "1589932800");
  context.fixed_now_ms = 0;
  EXPECT_EQ(Value("NOW()", context), "1970-01-01 08:00:00.000");
  EXPECT_EQ(Value("CURRENT_ROW_TIMESTAMP()", context), "2020-05-20 08:00:00.123");
  EXPECT_EQ(Value("CURRENT_WATERMARK(TIMESTAMP '2020-01-01 00:00:00.000')", context), "NULL");
  context.watermark_ms = 1000;
  EXPECT_EQ(Value("CURRENT_WATERMARK(TIMESTAMP '2020-01-01 00:00:00.000')", context),
            "1970-01-01 00:00:01.000");
}

TEST(Expression, FormattedTimesOfARow) {
  // Across seconds, days and a change of the clocks, with and without fractions: as one by one.
  arrow::TimestampBuilder builder(arrow::timestamp(arrow::TimeUnit::MILLI, "UTC"),
                                  arrow::default_memory_pool());
  for (int64_t i = 0; i < 200; ++i) {
    ASSERT_TRUE(
        (i % 17 == 0 ? builder.AppendNull() : builder.Append(1636264800000 + (i - 100) * 777777))
            .ok());
  }
  const Schema schema({{"t", SqlType::TimestampLtz(3)}});
  const auto rows =
      arrow::RecordBatch::Make(schema.ToArrow(), 200, arrow::ArrayVector{*builder.Finish()});
  EvalContext context;
  context.session_zone = *TimeZone::Find("America/New_York");
  for (const char* pattern : {"yyyy-MM-dd", "HH", "yyyy-MM-dd HH:mm:ss", "HH:mm:ss.SSS", "S A",
                              "yyyy-MM-dd HH:mm:ss.SSSSSS EEEE XXX"}) {
    const ExprPtr call =
        *MakeCall("DATE_FORMAT", {MakeColumn(0, schema.column(0).type), MakeString(pattern)});
    const auto all = *EvaluateToArray(*call, *rows, context);
    ASSERT_TRUE(all->ValidateFull().ok());
    for (int64_t row = 0; row < 200; ++row) {
      const auto one = *EvaluateToArray(*call, *rows->Slice(row, 1), context);
      EXPECT_TRUE(all->RangeEquals(*one, row, row + 1, 0)) << pattern << " " << row;
    }
  }
}

TEST(Expression, RandomPerRow) {
  const ExprPtr random = *ReadExpression("UUID()");
  const auto values = *EvaluateToArray(*random, *Input(), {});
  EXPECT_FALSE(values->RangeEquals(*values, 0, 1, 1));
}

}  // namespace
}  // namespace sluice::expr::testing
