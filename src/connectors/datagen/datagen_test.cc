#include <set>

#include <arrow/array/array_binary.h>
#include <arrow/array/array_decimal.h>
#include <arrow/array/array_nested.h>
#include <arrow/array/array_primitive.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "connectors/datagen/datagen_connector.h"
#include "connectors/datagen/datagen_options.h"
#include "connectors/datagen/datagen_source.h"

namespace sluice::connectors {
namespace {

using ::testing::HasSubstr;

class CollectingOutput final : public runtime::Output {
 public:
  Status Emit(Batch batch) override {
    rows += batch.row_count();
    batches.push_back(std::move(batch));
    return {};
  }
  Status EmitWatermark(int64_t millis) override {
    watermarks.push_back(millis);
    return {};
  }
  Status EmitIdle(bool) override { return {}; }
  Status StopInput() override { return {}; }

  int64_t rows = 0;
  std::vector<Batch> batches;
  std::vector<int64_t> watermarks;
};

runtime::SourceRuntimeOptions PlainOptions() {
  runtime::SourceRuntimeOptions options;
  options.transform = [](Batch batch) -> Result<runtime::SourceBatch> {
    return runtime::SourceBatch{.rows = std::move(batch)};
  };
  return options;
}

/// A source with its readers, run on a virtual clock.
class Harness {
 public:
  Harness(Schema schema, OptionMap options, int parallelism,
          const runtime::RestoredSourceState* restored = nullptr)
      : clock_(1'700'000'000'123) {
    options.emplace("connector", "datagen");
    TableInfo table;
    table.identifier = "t";
    table.physical = std::move(schema);
    table.options = std::move(options);
    auto source = kDatagenConnector.make_source(table, {});
    EXPECT_TRUE(source.ok()) << source.status().ToString();
    source_ = *(*source)->MakeSource(PlainOptions());
    runtime::SourceContext context;
    context.parallelism = parallelism;
    context.clock = &clock_;
    context.metrics = &metrics_;
    EXPECT_TRUE(source_->Open(context, restored).ok());
    contexts_.resize(static_cast<size_t>(source_->reader_count()));
    for (int i = 0; i < source_->reader_count(); ++i) {
      runtime::TaskContext& task = contexts_[static_cast<size_t>(i)];
      task.subtask = i;
      task.clock = &clock_;
      task.metrics = &metrics_;
      task.random_seed = 7;
      task.wake_at = [this](int64_t at_ms) { next_wake_ms_ = std::min(next_wake_ms_, at_ms); };
      readers_.push_back(*source_->MakeReader(i));
      EXPECT_TRUE(readers_.back()->Open(task).ok());
    }
  }

  /// Polls all readers until none has anything at this moment. Returns true when all have finished.
  bool PollAll() {
    bool finished = true;
    for (const auto& reader : readers_) {
      for (;;) {
        const auto polled = reader->Poll(out);
        EXPECT_TRUE(polled.ok()) << polled.status().ToString();
        if (*polled == runtime::SourceReader::PollResult::kEmitted) continue;
        finished &= *polled == runtime::SourceReader::PollResult::kFinished;
        break;
      }
    }
    return finished;
  }

  /// Runs until the end or until `millis` have passed.
  bool RunFor(int64_t millis) {
    const int64_t end_ms = clock_.NowMillis() + millis;
    for (;;) {
      next_wake_ms_ = INT64_MAX;
      if (PollAll()) return true;
      if (next_wake_ms_ > end_ms) break;
      clock_.AdvanceMillis(std::max<int64_t>(1, next_wake_ms_ - clock_.NowMillis()));
    }
    clock_.AdvanceMillis(end_ms - clock_.NowMillis());
    return false;
  }

  std::vector<runtime::StateFields> Snapshot() {
    std::vector<runtime::StateFields> fields;
    for (const auto& reader : readers_) {
      runtime::StateWriter writer;
      EXPECT_TRUE(reader->Snapshot({.id = 1}, writer).ok());
      fields.push_back(std::move(writer).Take());
    }
    return fields;
  }

  VirtualClock clock_;
  runtime::Metrics metrics_;
  CollectingOutput out;
  std::shared_ptr<runtime::Source> source_;
  std::vector<runtime::TaskContext> contexts_;
  std::vector<std::unique_ptr<runtime::SourceReader>> readers_;
  int64_t next_wake_ms_ = INT64_MAX;
};

std::multiset<int64_t> Longs(const CollectingOutput& out) {
  std::multiset<int64_t> values;
  for (const Batch& batch : out.batches) {
    const auto& array = static_cast<const arrow::Int64Array&>(*batch.rows()->column(0));
    for (int64_t i = 0; i < array.length(); ++i) values.insert(array.Value(i));
  }
  return values;
}

std::shared_ptr<arrow::Array> Values(SqlType type, OptionMap options, int64_t rows = 1000) {
  Schema schema({{"f", std::move(type)}});
  const auto plan = PlanDatagen(options, schema);
  EXPECT_TRUE(plan.ok()) << plan.status().ToString();
  GenerateContext context;
  context.seed = 42;
  context.now_ms = 1'700'000'000'123;
  context.local_now_ms = context.now_ms + 8 * 3600'000;
  auto array = plan->columns[0]->Generate({.row_count = rows}, context);
  EXPECT_TRUE(array.ok()) << array.status().ToString();
  const arrow::Status valid = (*array)->ValidateFull();
  EXPECT_TRUE(valid.ok()) << valid.ToString();
  EXPECT_EQ((*array)->length(), rows);
  EXPECT_TRUE((*array)->type()->Equals(*schema.column(0).type.ToArrow()));
  return *array;
}

TEST(DatagenOptions, RefusesWhatFlinkRefuses) {
  struct Case {
    SqlType type;
    OptionMap options;
    const char* message;
  };
  const Case kCases[] = {
      {SqlType::Int(), {{"fields.f.kind", "foo"}}, "Unsupported generator kind: foo"},
      {SqlType::Int(),
       {{"fields.f.kind", "sequence"}, {"fields.f.end", "3"}},
       "Could not find required property 'fields.f.start' for sequence generator."},
      {SqlType::Char(3),
       {{"fields.f.length", "2"}},
       "Custom length for fixed-length type (CHAR/BINARY) field 'f' is not supported."},
      {SqlType::Varchar(3),
       {{"fields.f.length", "4"}},
       "Custom length '4' for variable-length type (VARCHAR/STRING/VARBINARY/BYTES) field 'f' "
       "should be "
       "shorter than '3' defined in the schema."},
      {SqlType::Int(), {{"fields.g.min", "4"}}, "Unsupported options found for 'datagen'."},
      {SqlType::Int(), {{"fields.f.mim", "4"}}, "Did you mean 'fields.f.min'?"},
      {SqlType::Boolean(), {{"fields.f.min", "4"}}, "Unsupported options found for 'datagen'."},
      {SqlType::Date(), {{"fields.f.max-past", "4"}}, "Unsupported options found for 'datagen'."},
      {SqlType::Timestamp(3), {{"fields.f.kind", "sequence"}}, "Unsupported type: TIMESTAMP(3)"},
      {SqlType::Int(),
       {{"fields.f.min", "x"}},
       "Could not parse value 'x' for key 'fields.f.min'."},
      {SqlType::Tinyint(), {{"fields.f.max", "300"}}, "from -128 to 127"},
      {SqlType::Int(), {{"fields.f.min", "5"}, {"fields.f.max", "4"}}, "must not be larger"},
      {SqlType::Int(), {{"rows-per-second", "0"}}, "It must be at least 1"},
      {SqlType::Int(), {{"rows-per-second", "-1"}}, "It must be at least 1"},
      {SqlType::Int(), {{"number-of-rows", "-1"}}, "must not be negative"},
      {SqlType::Int(), {{"fields.f.null-rate", "1.5"}}, "Expected a rate from 0 to 1."},
      {SqlType::Int().NotNull(), {{"fields.f.null-rate", "0.5"}}, "The column is NOT NULL."},
      {SqlType::Decimal(4, 2),
       {{"fields.f.kind", "sequence"}, {"fields.f.start", "1"}, {"fields.f.end", "100"}},
       "from -99 to 99"},
  };
  for (const Case& c : kCases) {
    const Status status = PlanDatagen(c.options, Schema({{"f", c.type}})).status();
    EXPECT_THAT(status.ToString(), HasSubstr(c.message));
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  }
}

TEST(DatagenOptions, TakesNamesWithDotsAndNestedKeys) {
  const SqlType row =
      SqlType::Row({{"x", SqlType::Int()}, {"y", SqlType::Array(SqlType::String())}});
  Schema schema({{"a.b", SqlType::Int()}, {"r", row}, {"m", SqlType::Map(SqlType::String(), row)}});
  const OptionMap options = {{"connector", "datagen"},      {"fields.a.b.min", "1"},
                             {"fields.a.b.max", "1"},       {"fields.r.x.min", "3"},
                             {"fields.r.y.length", "2"},    {"fields.r.y.element.length", "2"},
                             {"fields.m.key.length", "20"}, {"fields.m.value.x.max", "3"}};
  EXPECT_TRUE(PlanDatagen(options, schema).ok());
}

TEST(DatagenValues, IntegersStayInTheirRange) {
  const auto array = Values(SqlType::Int(), {{"fields.f.min", "-2"}, {"fields.f.max", "3"}});
  std::set<int32_t> seen;
  for (int64_t i = 0; i < array->length(); ++i) {
    seen.insert(static_cast<const arrow::Int32Array&>(*array).Value(i));
  }
  EXPECT_EQ(seen, (std::set<int32_t>{-2, -1, 0, 1, 2, 3}));
  const auto one = Values(SqlType::Bigint(), {{"fields.f.min", "9"}, {"fields.f.max", "9"}});
  EXPECT_EQ(static_cast<const arrow::Int64Array&>(*one).Value(5), 9);
  const auto full = Values(SqlType::Bigint(), {});
  int negative = 0;
  for (int64_t i = 0; i < full->length(); ++i) {
    negative += static_cast<const arrow::Int64Array&>(*full).Value(i) < 0 ? 1 : 0;
  }
  EXPECT_GT(negative, 300);
  EXPECT_LT(negative, 700);
}

TEST(DatagenValues, DoublesArePositiveByDefault) {
  const auto array = Values(SqlType::Double(), {});
  for (int64_t i = 0; i < array->length(); ++i) {
    EXPECT_GT(static_cast<const arrow::DoubleArray&>(*array).Value(i), 0);
  }
  const auto wide =
      Values(SqlType::Double(), {{"fields.f.min", "-1.7e308"}, {"fields.f.max", "1.7e308"}});
  for (int64_t i = 0; i < wide->length(); ++i) {
    EXPECT_LT(std::abs(static_cast<const arrow::DoubleArray&>(*wide).Value(i)), 1.7e308);
  }
}

TEST(DatagenValues, DecimalsFitTheirPrecision) {
  for (const SqlType& type : {SqlType::Decimal(10, 2), SqlType::Decimal(38, 10)}) {
    const auto array = Values(type, {});
    for (int64_t i = 0; i < array->length(); ++i) {
      const arrow::Decimal128 value(static_cast<const arrow::Decimal128Array&>(*array).GetValue(i));
      EXPECT_TRUE(value.FitsInPrecision(type.precision()));
      EXPECT_GE(value, arrow::Decimal128(0));
    }
  }
}

TEST(DatagenValues, TextIsHexadecimal) {
  const auto array = Values(SqlType::String(), {{"fields.f.length", "21"}});
  std::set<std::string> distinct;
  for (int64_t i = 0; i < array->length(); ++i) {
    const auto view = static_cast<const arrow::StringArray&>(*array).GetView(i);
    EXPECT_EQ(view.size(), 21u);
    EXPECT_EQ(view.find_first_not_of("0123456789abcdef"), std::string_view::npos) << view;
    distinct.emplace(view);
  }
  EXPECT_EQ(distinct.size(), 1000u);
  const auto varying = Values(SqlType::Varchar(5), {{"fields.f.var-len", "true"}});
  std::set<size_t> lengths;
  for (int64_t i = 0; i < varying->length(); ++i) {
    lengths.insert(static_cast<const arrow::StringArray&>(*varying).GetView(i).size());
  }
  EXPECT_EQ(lengths, (std::set<size_t>{1, 2, 3, 4, 5}));
  EXPECT_EQ(static_cast<const arrow::StringArray&>(*Values(SqlType::Char(7), {})).GetView(3).size(),
            7u);
  EXPECT_EQ(static_cast<const arrow::BinaryArray&>(*Values(SqlType::Bytes(), {})).GetView(3).size(),
            100u);
}

TEST(DatagenValues, NullRate) {
  const auto array = Values(SqlType::String(), {{"fields.f.null-rate", "0.25"}}, 4000);
  EXPECT_NEAR(static_cast<double>(array->null_count()), 1000, 150);
  EXPECT_EQ(Values(SqlType::Int(), {{"fields.f.null-rate", "1"}})->null_count(), 1000);
}

TEST(DatagenValues, Times) {
  const auto past = Values(SqlType::TimestampLtz(3), {{"fields.f.max-past", "10 s"}});
  std::set<int64_t> distinct;
  for (int64_t i = 0; i < past->length(); ++i) {
    const int64_t value = static_cast<const arrow::TimestampArray&>(*past).Value(i);
    EXPECT_LE(value, 1'700'000'000'123);
    EXPECT_GE(value, 1'699'999'990'123);
    distinct.insert(value);
  }
  EXPECT_GT(distinct.size(), 500u);
  const auto now = Values(SqlType::Timestamp(0), {});
  EXPECT_EQ(static_cast<const arrow::TimestampArray&>(*now).Value(0), 1'700'000'000'000);
  const auto nanos = Values(SqlType::Timestamp(9), {});
  EXPECT_EQ(static_cast<const arrow::TimestampArray&>(*nanos).Value(0), 1'700'000'000'123'000'000);
  EXPECT_EQ(static_cast<const arrow::Date32Array&>(*Values(SqlType::Date(), {})).Value(0), 19676);
}

TEST(DatagenValues, Nested) {
  const auto lists =
      Values(SqlType::Array(SqlType::Array(SqlType::Int())), {{"fields.f.length", "2"}});
  EXPECT_EQ(static_cast<const arrow::ListArray&>(*lists).value_length(5), 2);
  const auto maps = Values(SqlType::Map(SqlType::Int(), SqlType::String()),
                           {{"fields.f.key.min", "1"}, {"fields.f.key.max", "2"}});
  const auto& map_array = static_cast<const arrow::MapArray&>(*maps);
  for (int64_t i = 0; i < maps->length(); ++i) {
    EXPECT_GE(map_array.value_length(i), 1);
    EXPECT_LE(map_array.value_length(i), 2);
  }
  const auto multisets = Values(SqlType::Multiset(SqlType::String()), {});
  EXPECT_EQ(static_cast<const arrow::MapArray&>(*multisets).value_length(0), 3);
  Values(SqlType::Row({{"x", SqlType::Int()}, {"y", SqlType::String()}}),
         {{"fields.f.null-rate", "0.5"}, {"fields.f.x.min", "0"}});
}

TEST(DatagenValues, DoNotDependOnBatchesOrStrides) {
  const auto plan =
      PlanDatagen({}, Schema({{"f", SqlType::Array(SqlType::Row({{"x", SqlType::Varchar(20)}}))}}));
  ASSERT_TRUE(plan.ok());
  GenerateContext context;
  context.seed = 3;
  const auto all = *plan->columns[0]->Generate({.row_count = 10}, context);
  const auto odd = *plan->columns[0]->Generate({.first = 1, .stride = 2, .row_count = 5}, context);
  for (int64_t i = 0; i < 5; ++i) EXPECT_TRUE(odd->RangeEquals(*all, i, i + 1, 1 + 2 * i));
}

TEST(DatagenValues, Sequences) {
  const OptionMap options = {
      {"fields.f.kind", "sequence"}, {"fields.f.start", "-3"}, {"fields.f.end", "99"}};
  for (const SqlType& type :
       {SqlType::Tinyint(), SqlType::Int(), SqlType::Bigint(), SqlType::Double(),
        SqlType::Decimal(10, 2), SqlType::String(), SqlType::Char(5)}) {
    EXPECT_EQ(PlanDatagen(options, Schema({{"f", type}}))->row_limit, 103);
    const auto array = Values(type, options, 5);
    const std::string text = (*array->GetScalar(1))->ToString();
    EXPECT_TRUE(text == "-2" || text == "-2.00") << text;
  }
  const auto bytes = Values(SqlType::Bytes(), options, 5);
  EXPECT_EQ(static_cast<const arrow::BinaryArray&>(*bytes).GetView(4),
            std::string_view("\0\0\0\0\0\0\0\1", 8));
}

TEST(DatagenSource, EndsAtTheShortestSequence) {
  for (const int parallelism : {1, 3}) {
    Harness run(Schema({{"a", SqlType::Bigint()}, {"b", SqlType::Int()}}),
                {{"fields.a.kind", "sequence"},
                 {"fields.a.start", "1"},
                 {"fields.a.end", "1000"},
                 {"fields.b.kind", "sequence"},
                 {"fields.b.start", "1"},
                 {"fields.b.end", "100"}},
                parallelism);
    EXPECT_TRUE(run.source_->bounded());
    EXPECT_TRUE(run.RunFor(10'000));
    const std::multiset<int64_t> values = Longs(run.out);
    EXPECT_EQ(values.size(), 100u);
    EXPECT_EQ(*values.begin(), 1);
    EXPECT_EQ(*values.rbegin(), 100);
    EXPECT_EQ(std::set<int64_t>(values.begin(), values.end()).size(), 100u);
  }
}

TEST(DatagenSource, KeepsTheRate) {
  for (const int parallelism : {1, 4}) {
    Harness run(Schema({{"a", SqlType::Bigint()}}), {{"rows-per-second", "7"}}, parallelism);
    EXPECT_FALSE(run.source_->bounded());
    EXPECT_FALSE(run.RunFor(10'000));
    EXPECT_NEAR(static_cast<double>(run.out.rows), 70, 2);
  }
  Harness fast(Schema({{"a", SqlType::Bigint()}}), {{"rows-per-second", "1000000"}}, 2);
  fast.RunFor(1'000);
  EXPECT_NEAR(static_cast<double>(fast.out.rows), 1'000'000, 60'000);
}

TEST(DatagenSource, ContinuesFromItsStateAtAnyParallelism) {
  const OptionMap options = {{"fields.a.kind", "sequence"},
                             {"fields.a.start", "0"},
                             {"fields.a.end", "4999"},
                             {"rows-per-second", "1000"},
                             {"number-of-rows", "4000"}};
  const Schema schema({{"a", SqlType::Bigint()}});
  for (const auto& [before, after] : {std::pair{1, 1}, {2, 2}, {1, 3}, {4, 3}, {3, 1}}) {
    Harness first(schema, options, before);
    EXPECT_FALSE(first.RunFor(1'500));
    const std::vector<runtime::StateFields> fields = first.Snapshot();
    runtime::RestoredSourceState restored;
    for (const runtime::StateFields& one : fields) restored.readers.emplace_back("source", one);
    Harness second(schema, options, after, &restored);
    EXPECT_TRUE(second.RunFor(60'000));
    std::multiset<int64_t> values = Longs(first.out);
    values.merge(Longs(second.out));
    EXPECT_EQ(values.size(), 4000u) << before << " to " << after;
    EXPECT_EQ(std::set<int64_t>(values.begin(), values.end()).size(), 4000u);
    EXPECT_EQ(*values.rbegin(), 3999);
  }
}

TEST(DatagenSource, SeedMakesTheSameTable) {
  const OptionMap options = {{"seed", "5"}, {"number-of-rows", "100"}};
  const Schema schema({{"a", SqlType::Bigint()}});
  Harness one(schema, options, 1);
  Harness three(schema, options, 3);
  EXPECT_TRUE(one.RunFor(1'000));
  EXPECT_TRUE(three.RunFor(1'000));
  EXPECT_EQ(Longs(one.out), Longs(three.out));
}

}  // namespace
}  // namespace sluice::connectors
