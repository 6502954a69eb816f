// Kernels of expressions over batches of 8,192 rows. Rows a second are in the items_per_second
// column.
#include <arrow/api.h>
#include <benchmark/benchmark.h>

#include "expr/builder.h"
#include "expr/key_split.h"

namespace sluice::expr {
namespace {

constexpr int64_t kRows = 8192;

const Schema& InputSchema() {
  static const Schema kSchema({{"id", SqlType::Bigint()},
                               {"n", SqlType::Int()},
                               {"price", SqlType::Decimal(10, 2)},
                               {"d", SqlType::Double()},
                               {"s", SqlType::String()},
                               {"t", SqlType::String()},
                               {"ts", SqlType::Timestamp(3)},
                               {"ltz", SqlType::TimestampLtz(3)},
                               {"num", SqlType::String()}});
  return kSchema;
}

/// Rows of a stream: times in order, 20 ms apart.
std::shared_ptr<arrow::RecordBatch> Input() {
  arrow::Int64Builder id;
  arrow::Int32Builder n;
  arrow::Decimal128Builder price(arrow::decimal128(10, 2));
  arrow::DoubleBuilder d;
  arrow::StringBuilder s;
  arrow::StringBuilder t;
  arrow::TimestampBuilder ts(arrow::timestamp(arrow::TimeUnit::MILLI),
                             arrow::default_memory_pool());
  arrow::TimestampBuilder ltz(arrow::timestamp(arrow::TimeUnit::MILLI, "UTC"),
                              arrow::default_memory_pool());
  arrow::StringBuilder num;
  for (int64_t i = 0; i < kRows; ++i) {
    (void)id.Append(i * 7919);
    (void)n.Append(static_cast<int32_t>(i % 1000));
    (void)price.Append(arrow::Decimal128(i * 37));
    (void)d.Append(static_cast<double>(i) / 3);
    (void)s.Append("customer-" + std::to_string(i * 7919 % 100000));
    (void)t.Append("2020-05-20 12:" + std::to_string(10 + i / 3000) + ":" +
                   std::to_string(10 + i / 50 % 50));
    (void)ts.Append(1589949296000 + i * 20);
    (void)ltz.Append(1589949296000 + i * 20);
    (void)num.Append(std::to_string(i * 31));
  }
  return arrow::RecordBatch::Make(
      InputSchema().ToArrow(), kRows,
      arrow::ArrayVector{*id.Finish(), *n.Finish(), *price.Finish(), *d.Finish(), *s.Finish(),
                         *t.Finish(), *ts.Finish(), *ltz.Finish(), *num.Finish()});
}

ExprPtr Column(const char* name) {
  const int index = InputSchema().IndexOf(name);
  return MakeColumn(index, InputSchema().column(index).type);
}

void Run(benchmark::State& state, const Result<ExprPtr>& expression) {
  if (!expression.ok()) {
    state.SkipWithError(expression.status().message().c_str());
    return;
  }
  const auto rows = Input();
  EvalContext context;
  context.session_zone = *TimeZone::Find("America/New_York");
  for (auto _ : state) {
    auto value = (*expression)->Evaluate(*rows, context);
    if (!value.ok()) {
      state.SkipWithError(value.status().message().c_str());
      return;
    }
    benchmark::DoNotOptimize(value);
  }
  state.SetItemsProcessed(state.iterations() * kRows);
}

struct Named {
  const char* name;
  Result<ExprPtr> (*make)();
};

const Named kExpressions[] = {
    {"id_plus_1", [] { return MakeArithmetic(ArithmeticOp::kAdd, Column("id"), MakeInt(1)); }},
    {"n_greater_500",
     [] { return MakeComparison(ComparisonOp::kGreater, Column("n"), MakeInt(500)); }},
    {"price_times_2",
     [] { return MakeArithmetic(ArithmeticOp::kMultiply, Column("price"), MakeInt(2)); }},
    {"price_divided",
     [] { return MakeArithmetic(ArithmeticOp::kDivide, Column("price"), *MakeNumber("3.0")); }},
    {"s_equals",
     [] { return MakeComparison(ComparisonOp::kEqual, Column("s"), MakeString("customer-5")); }},
    {"and_of_two",
     [] {
       return MakeAnd({*MakeComparison(ComparisonOp::kGreater, Column("n"), MakeInt(500)),
                       *MakeComparison(ComparisonOp::kLess, Column("d"), MakeDouble(1000))});
     }},
    {"case_of_three",
     [] {
       return MakeCase(
           {{*MakeComparison(ComparisonOp::kGreater, Column("n"), MakeInt(500)), Column("s")},
            {*MakeComparison(ComparisonOp::kGreater, Column("n"), MakeInt(100)),
             MakeString("mid")}},
           MakeString("low"));
     }},
    {"date_format_day",
     [] {
       return MakeCall("DATE_FORMAT", {Column("ts"), MakeString("yyyy-MM-dd")});
     }},
    {"date_format_hour",
     [] {
       return MakeCall("DATE_FORMAT", {Column("ts"), MakeString("HH")});
     }},
    {"date_format_second",
     [] {
       return MakeCall("DATE_FORMAT", {Column("ts"), MakeString("yyyy-MM-dd HH:mm:ss")});
     }},
    {"date_format_ltz_hour",
     [] {
       return MakeCall("DATE_FORMAT", {Column("ltz"), MakeString("yyyy-MM-dd HH")});
     }},
    {"date_format_millis",
     [] {
       return MakeCall("DATE_FORMAT", {Column("ts"), MakeString("HH:mm:ss.SSS")});
     }},
    {"to_timestamp", [] { return MakeCall("TO_TIMESTAMP", {Column("t")}); }},
    {"to_timestamp_pattern",
     [] {
       return MakeCall("TO_TIMESTAMP", {Column("t"), MakeString("yyyy-MM-dd HH:mm:s")});
     }},
    {"to_timestamp_ltz",
     [] {
       return MakeCall("TO_TIMESTAMP_LTZ", {Column("id"), MakeInt(3)});
     }},
    {"extract_hour", [] { return MakeCall("HOUR", {Column("ltz")}); }},
    {"extract_month", [] { return MakeCall("MONTH", {Column("ts")}); }},
    {"floor_to_hour",
     [] {
       return MakeCall("FLOOR", {Column("ltz"), MakeSymbol("HOUR")});
     }},
    {"cast_int_to_string", [] { return MakeCast(Column("id"), SqlType::String()); }},
    {"cast_ts_to_string", [] { return MakeCast(Column("ts"), SqlType::String()); }},
    {"cast_double_to_string", [] { return MakeCast(Column("d"), SqlType::String()); }},
    {"cast_decimal_to_string", [] { return MakeCast(Column("price"), SqlType::String()); }},
    {"cast_string_to_int", [] { return MakeCast(Column("num"), SqlType::Int()); }},
    {"cast_string_to_double", [] { return MakeCast(Column("num"), SqlType::Double()); }},
    {"cast_string_to_timestamp", [] { return MakeCast(Column("t"), SqlType::Timestamp(3)); }},
    {"concat",
     [] {
       return MakeCall("CONCAT", {Column("s"), MakeString("-"), Column("num")});
     }},
    {"substring",
     [] {
       return MakeCall("SUBSTRING", {Column("s"), MakeInt(3), MakeInt(5)});
     }},
    {"upper", [] { return MakeCall("UPPER", {Column("s")}); }},
    {"like_contains", [] { return MakeLike(Column("s"), MakeString("%er-99%"), nullptr); }},
    {"regexp_extract",
     [] {
       return MakeCall("REGEXP_EXTRACT",
                       {Column("s"), MakeString("([a-z]+)-([0-9]+)"), MakeInt(2)});
     }},
    {"json_value",
     [] {
       return MakeCall("JSON_VALUE",
                       {MakeString("{\"a\":{\"b\":1},\"c\":[1,2,3]}"), MakeString("$.a.b")});
     }},
};

void SplitBenchmark(benchmark::State& state) {
  const auto keys = state.range(0);
  arrow::StringBuilder key;
  for (int64_t i = 0; i < kRows; ++i)
    (void)key.Append("dt=2020-05-" + std::to_string(i * 7919 % keys));
  const auto input = Input();
  const auto rows = *input->AddColumn(0, "key", *key.Finish());
  const Batch batch(*rows->SelectColumns({0, 1, 2, 4, 5}));
  for (auto _ : state) {
    auto slices = SplitByKey(batch, {0}, {0, 1, 2, 3, 4}, arrow::default_memory_pool());
    benchmark::DoNotOptimize(slices);
  }
  state.SetItemsProcessed(state.iterations() * kRows);
}
BENCHMARK(SplitBenchmark)->Arg(1)->Arg(24)->Arg(200)->Arg(1000)->Name("split_by_key");

const bool kRegistered = [] {
  for (const Named& named : kExpressions) {
    benchmark::RegisterBenchmark(named.name,
                                 [&named](benchmark::State& state) { Run(state, named.make()); });
  }
  return true;
}();

}  // namespace
}  // namespace sluice::expr
