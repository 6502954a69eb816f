#include <arrow/builder.h>
#include <arrow/json/from_string.h>
#include <gtest/gtest.h>

#include "connectors/print/print_connector.h"
#include "connectors/print/row_text.h"

namespace sluice::connectors {
namespace {

std::shared_ptr<arrow::Array> FromJson(const SqlType& type, const std::string& json) {
  return arrow::json::ArrayFromJSONString(type.ToArrow(), json).ValueOrDie();
}

TEST(RowText, Values) {
  struct Case {
    SqlType type;
    const char* json;
    const char* text;
  };
  const Case kCases[] = {
      {SqlType::Boolean(), "[true]", "true"},
      {SqlType::Tinyint(), "[-7]", "-7"},
      {SqlType::Bigint(), "[null]", "null"},
      {SqlType::Double(), "[1e7]", "1.0E7"},
      {SqlType::Double(), "[0.001]", "0.001"},
      {SqlType::Decimal(10, 2), "[\"1.20\"]", "1.20"},
      {SqlType::Decimal(10, 8), "[\"0.00000000\"]", "0E-8"},
      {SqlType::Decimal(10, 8), "[\"-0.00000012\"]", "-1.2E-7"},
      {SqlType::String(), "[\"a b\"]", "a b"},
      {SqlType::Bytes(), "[\"\\u0001\\u007f\"]", "[1, 127]"},
      {SqlType::Date(), "[18262]", "2020-01-01"},
      {SqlType::Time(), "[43200000]", "12:00"},
      {SqlType::Time(), "[1000]", "00:00:01"},
      {SqlType::Time(3), "[500]", "00:00:00.500"},
      {SqlType::Timestamp(3), "[1577836800000]", "2020-01-01T00:00"},
      {SqlType::Timestamp(3), "[1577836801500]", "2020-01-01T00:00:01.500"},
      {SqlType::Timestamp(6), "[1577836800000001]", "2020-01-01T00:00:00.000001"},
      {SqlType::TimestampLtz(3), "[0]", "1970-01-01T00:00:00Z"},
      {SqlType::TimestampLtz(3), "[1]", "1970-01-01T00:00:00.001Z"},
      {SqlType::TimestampLtz(3), "[-1]", "1969-12-31T23:59:59.999Z"},
      {SqlType::IntervalYearMonth(), "[14]", "P1Y2M"},
      {SqlType::IntervalDayTime(), "[90061500]", "PT25H1M1.5S"},
      {SqlType::Array(SqlType::String()), "[[\"a\", \"b c\", null]]", "[a, b c, null]"},
      {SqlType::Map(SqlType::String(), SqlType::Int()), "[[[\"k\", 1], [\"l\", null]]]",
       "{k=1, l=null}"},
      {SqlType::Multiset(SqlType::Int()), "[[[5, 2]]]", "{5=2}"},
      {SqlType::Row({{"a", SqlType::Int()}, {"b", SqlType::String()}}), "[[1, \"q\"]]", "+I[1, q]"},
  };
  for (const Case& c : kCases) {
    std::string text;
    AppendPrintedValue(c.type, *FromJson(c.type, c.json), 0, &text);
    EXPECT_EQ(text, c.text) << c.type.ToString() << " " << c.json;
  }
}

class TextWriter final : public LineWriter {
 public:
  Status Write(std::string_view text) override {
    written += text;
    ++writes;
    return {};
  }
  std::string written;
  int writes = 0;
};

class NoOutput final : public runtime::Output {
 public:
  Status Emit(Batch) override { return {}; }
  Status EmitWatermark(int64_t) override { return {}; }
  Status EmitIdle(bool) override { return {}; }
  Status StopInput() override { return {}; }
};

std::string Printed(const std::string& identifier, int subtask, int parallelism,
                    const Batch& batch) {
  const Schema schema({{"id", SqlType::Bigint()}, {"s", SqlType::String()}});
  TextWriter writer;
  const auto print = MakePrintOperator(schema, identifier, &writer);
  runtime::Metrics metrics;
  runtime::TaskContext context;
  context.subtask = subtask;
  context.parallelism = parallelism;
  context.metrics = &metrics;
  NoOutput out;
  EXPECT_TRUE(print->Open(context).ok());
  EXPECT_TRUE(print->Process(batch, out).ok());
  EXPECT_EQ(writer.writes, 1);
  EXPECT_EQ(metrics.Value(runtime::metric::kRowsOut), batch.row_count());
  return writer.written;
}

Batch TwoRows(std::shared_ptr<arrow::Int8Array> kinds = nullptr) {
  const Schema schema({{"id", SqlType::Bigint()}, {"s", SqlType::String()}});
  return Batch(arrow::RecordBatch::Make(schema.ToArrow(), 2,
                                        {FromJson(SqlType::Bigint(), "[1, 2]"),
                                         FromJson(SqlType::String(), "[\"a\", null]")}),
               std::move(kinds));
}

TEST(Print, Prefixes) {
  EXPECT_EQ(Printed("", 0, 1, TwoRows()), "+I[1, a]\n+I[2, null]\n");
  EXPECT_EQ(Printed("", 1, 2, TwoRows()), "2> +I[1, a]\n2> +I[2, null]\n");
  EXPECT_EQ(Printed("ID", 0, 1, TwoRows()), "ID> +I[1, a]\nID> +I[2, null]\n");
  EXPECT_EQ(Printed("ID2", 0, 2, TwoRows()), "ID2:1> +I[1, a]\nID2:1> +I[2, null]\n");
}

TEST(Print, RowKinds) {
  const auto kinds = std::static_pointer_cast<arrow::Int8Array>(
      arrow::json::ArrayFromJSONString(arrow::int8(), "[1, 2]").ValueOrDie());
  EXPECT_EQ(Printed("CH", 0, 1, TwoRows(kinds)), "CH> -U[1, a]\nCH> +U[2, null]\n");
}

TEST(Print, ValidatesOptions) {
  TableInfo table;
  table.options = {{"connector", "print"}, {"print-identifer", "x"}};
  const Status unknown = kPrintConnector.validate(table, {});
  EXPECT_NE(unknown.ToString().find("Did you mean 'print-identifier'?"), std::string::npos);
  table.options = {{"connector", "print"}, {"sink.parallelism", "0"}};
  EXPECT_FALSE(kPrintConnector.validate(table, {}).ok());
  table.options = {{"connector", "print"}, {"sink.parallelism", "2"}, {"standard-error", "TRUE"}};
  EXPECT_TRUE(kPrintConnector.validate(table, {}).ok());
  EXPECT_EQ(kPrintConnector.make_source, nullptr);
}

TEST(Print, PlanCarriesParallelism) {
  TableInfo table;
  table.physical = Schema({{"id", SqlType::Bigint()}, {"s", SqlType::String()}});
  table.options = {{"connector", "print"}, {"sink.parallelism", "2"}};
  const auto sink = kPrintConnector.make_sink(table, {});
  ASSERT_TRUE(sink.ok());
  EXPECT_TRUE((*sink)->accepted_kinds().update_before);
  const auto plan = (*sink)->MakePlan({.operator_id = "sink:t"});
  ASSERT_TRUE(plan.ok());
  ASSERT_EQ(plan->stages.size(), 1u);
  EXPECT_EQ(plan->stages[0].parallelism, 2);
}

}  // namespace
}  // namespace sluice::connectors
