#include "expr/aggregate.h"

#include <arrow/api.h>
#include <gtest/gtest.h>

#include "expr/builder.h"
#include "expr/mini_sql.h"
#include "types/value_text.h"

namespace sluice::expr::testing {
namespace {

const Schema& Input() {
  static const Schema kSchema({{"i", SqlType::Int()},
                               {"d", SqlType::Decimal(10, 2)},
                               {"f", SqlType::Double()},
                               {"s", SqlType::String()},
                               {"c", SqlType::Boolean()}});
  return kSchema;
}

std::shared_ptr<arrow::RecordBatch> Rows() {
  arrow::Int32Builder i;
  arrow::Decimal128Builder d(arrow::decimal128(10, 2));
  arrow::DoubleBuilder f;
  arrow::StringBuilder s;
  arrow::BooleanBuilder c;
  const int32_t integers[] = {1, 2, 4, 0, 2, 7};
  for (int row = 0; row < 6; ++row) {
    const bool null = row == 3;
    (void)(null ? i.AppendNull() : i.Append(integers[row]));
    (void)(null ? d.AppendNull() : d.Append(arrow::Decimal128(integers[row] * 100 + 1)));
    (void)(null ? f.AppendNull() : f.Append(integers[row] / 2.0));
    (void)(null ? s.AppendNull() : s.Append("t" + std::to_string(integers[row])));
    (void)(row == 4 ? c.AppendNull() : c.Append(row % 2 == 0));
  }
  return arrow::RecordBatch::Make(
      Input().ToArrow(), 6,
      arrow::ArrayVector{*i.Finish(), *d.Finish(), *f.Finish(), *s.Finish(), *c.Finish()});
}

// Rows 0, 1, 2, 4 are group 0; row 3, all NULL, is group 1; row 5 group 2; group 3 has no rows.
const std::vector<int32_t> kGroups = {0, 0, 0, 1, 0, 2};

Result<AggregateCall> Call(std::string_view name, std::string_view argument, bool distinct = false,
                           std::string_view filter = "") {
  std::vector<ExprPtr> arguments;
  if (!argument.empty()) {
    SLUICE_ASSIGN_OR_RETURN(ExprPtr value, ReadExpression(argument, Input()));
    arguments.push_back(std::move(value));
  }
  ExprPtr condition;
  if (!filter.empty()) {
    SLUICE_ASSIGN_OR_RETURN(condition, ReadExpression(filter, Input()));
  }
  return MakeAggregate(name, std::move(arguments), distinct, condition);
}

std::string Text(const AggregateCall& call, const Accumulator& accumulator) {
  const auto values = accumulator.Finish(0, 4);
  if (!values.ok()) return values.status().message();
  EXPECT_TRUE((*values)->ValidateFull().ok());
  EXPECT_TRUE((*values)->type()->Equals(*call.type.ToArrow()));
  std::string text;
  for (int64_t row = 0; row < 4; ++row) {
    if (row > 0) text += ' ';
    AppendValueText(call.type, **values, row, TimeZone(), &text);
  }
  return text;
}

struct Case {
  const char* name;
  const char* argument;
  bool distinct;
  const char* filter;
  const char* type;
  const char* expected;
};

const Case kCases[] = {
    {"COUNT", "", false, "", "BIGINT NOT NULL", "4 1 1 0"},
    {"COUNT", "i", false, "", "BIGINT NOT NULL", "4 0 1 0"},
    {"COUNT", "i", true, "", "BIGINT NOT NULL", "3 0 1 0"},
    {"COUNT", "", false, "c", "BIGINT NOT NULL", "2 0 0 0"},
    {"SUM", "i", false, "", "INT", "9 NULL 7 NULL"},
    {"SUM", "i", true, "", "INT", "7 NULL 7 NULL"},
    {"SUM", "i + 2147483647", false, "", "INT", "5 NULL -2147483642 NULL"},
    {"SUM", "d", false, "", "DECIMAL(38, 2)", "9.04 NULL 7.01 NULL"},
    {"SUM", "f", false, "i > 1", "DOUBLE", "4.0 NULL 3.5 NULL"},
    {"AVG", "i", false, "", "INT", "2 NULL 7 NULL"},
    {"AVG", "d", false, "", "DECIMAL(38, 6)", "2.260000 NULL 7.010000 NULL"},
    {"AVG", "f", false, "", "DOUBLE", "1.125 NULL 3.5 NULL"},
    {"AVG", "i", true, "", "INT", "2 NULL 7 NULL"},
    {"MIN", "i", false, "", "INT", "1 NULL 7 NULL"},
    {"MAX", "i", false, "", "INT", "4 NULL 7 NULL"},
    {"MAX", "d", false, "", "DECIMAL(10, 2)", "4.01 NULL 7.01 NULL"},
    {"MIN", "s", false, "", "STRING", "t1 NULL t7 NULL"},
    {"MAX", "s", false, "i < 4", "STRING", "t2 NULL NULL NULL"},
    {"MAX", "c", false, "", "BOOLEAN", "TRUE FALSE FALSE NULL"},
    {"FIRST_VALUE", "s", false, "", "STRING", "t1 NULL t7 NULL"},
    {"LAST_VALUE", "s", false, "", "STRING", "t2 NULL t7 NULL"},
    {"LISTAGG", "s", false, "", "STRING", "t1,t2,t4,t2 NULL t7 NULL"},
    {"LISTAGG", "s", true, "i < 4", "STRING", "t1,t2 NULL NULL NULL"},
    {"ARRAY_AGG", "i", false, "", "ARRAY<INT>", "[1, 2, 4, 2] [NULL] [7] NULL"},
    {"VAR_POP", "i", false, "", "INT", "1 NULL 0 NULL"},
    {"VAR_SAMP", "f", false, "", "DOUBLE", "0.3958333333333333 NULL NULL NULL"},
    {"VAR_POP", "d", false, "", "DECIMAL(38, 6)", "1.187500 NULL 0.000000 NULL"},
    {"STDDEV_POP", "f", false, "", "DOUBLE", "0.5448623679425842 NULL 0.0 NULL"},
};

TEST(Aggregate, Values) {
  for (const Case& one : kCases) {
    SCOPED_TRACE(std::string(one.name) + "(" + one.argument + ")");
    const Result<AggregateCall> call = Call(one.name, one.argument, one.distinct, one.filter);
    ASSERT_TRUE(call.ok()) << call.status().message();
    EXPECT_EQ(call->type.ToString(), one.type);
    const auto accumulator = MakeAccumulator(*call, arrow::default_memory_pool());
    ASSERT_TRUE(accumulator.ok());
    ASSERT_TRUE((*accumulator)->Resize(4).ok());
    ASSERT_TRUE(AddRows(*call, **accumulator, *Rows(), kGroups, {}).ok());
    EXPECT_EQ(Text(*call, **accumulator), one.expected);
  }
}

TEST(Aggregate, StateIsSavedAndMerged) {
  for (const Case& one : kCases) {
    SCOPED_TRACE(std::string(one.name) + "(" + one.argument + ")");
    const AggregateCall call = *Call(one.name, one.argument, one.distinct, one.filter);
    // Two halves, merged into a third, with the first half sent twice through the state.
    const auto rows = Rows();
    const auto merged = *MakeAccumulator(call, arrow::default_memory_pool());
    ASSERT_TRUE(merged->Resize(4).ok());
    for (const int64_t begin : {0, 3}) {
      const auto half = *MakeAccumulator(call, arrow::default_memory_pool());
      ASSERT_TRUE(half->Resize(4).ok());
      ASSERT_TRUE(AddRows(call, *half, *rows->Slice(begin, 3),
                          std::span(kGroups).subspan(static_cast<size_t>(begin), 3), {})
                      .ok());
      const auto state = half->SaveState(0, 4);
      ASSERT_TRUE(state.ok());
      EXPECT_TRUE((*state)->type()->Equals(*half->state_type()));
      EXPECT_TRUE((*state)->ValidateFull().ok());
      const int32_t groups[] = {0, 1, 2, 3};
      ASSERT_TRUE(merged->MergeState(**state, groups).ok());
    }
    EXPECT_EQ(Text(call, *merged), one.expected);
    EXPECT_GT(merged->memory_bytes(), 0);
  }
}

TEST(Aggregate, Retracts) {
  for (const char* name : {"COUNT", "SUM", "AVG"}) {
    const AggregateCall call = *Call(name, "d");
    const auto accumulator = *MakeAccumulator(call, arrow::default_memory_pool());
    ASSERT_TRUE(accumulator->retractable());
    ASSERT_TRUE(accumulator->Resize(4).ok());
    const auto rows = Rows();
    ASSERT_TRUE(AddRows(call, *accumulator, *rows, kGroups, {}).ok());
    const std::string before = Text(call, *accumulator);
    ASSERT_TRUE(AddRows(call, *accumulator, *rows, kGroups, {}).ok());
    ASSERT_TRUE(accumulator->Retract(rows->column(1).get(), kGroups, nullptr).ok());
    EXPECT_EQ(Text(call, *accumulator), before) << name;
    ASSERT_TRUE(accumulator->Retract(rows->column(1).get(), kGroups, nullptr).ok());
    EXPECT_TRUE(
        Text(call, *accumulator).starts_with(name == std::string("COUNT") ? "0 0" : "NULL NULL"));
  }
  EXPECT_FALSE((*MakeAccumulator(*Call("MAX", "i"), arrow::default_memory_pool()))->retractable());
}

TEST(Aggregate, Refused) {
  EXPECT_EQ(
      Call("SUM", "s").status().message(),
      "Cannot apply 'SUM' to arguments of type 'SUM(<VARCHAR(2147483647)>)'. Supported form(s): "
      "'SUM(<NUMERIC>)'");
  EXPECT_FALSE(Call("SUM", "").ok());
  EXPECT_FALSE(Call("MIN", "ARRAY[i]").ok());
  EXPECT_EQ(Call("PERCENTILE", "i").status().code(), StatusCode::kUnsupported);
  EXPECT_TRUE(IsAggregateName("row_number"));
  EXPECT_FALSE(IsAggregateName("UPPER"));
  EXPECT_EQ(Call("SUM", "i", true, "c")->ToString(Input()), "SUM(DISTINCT i) FILTER (WHERE c)");
}

}  // namespace
}  // namespace sluice::expr::testing
