#include <map>
#include <numeric>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "expr/builder.h"
#include "runtime/job_test_support.h"
#include "runtime/operators/changelog_normalize.h"
#include "runtime/operators/hash_aggregate.h"
#include "runtime/operators/result_queue.h"
#include "runtime/operators/sort.h"
#include "runtime/operators/type_length_enforcer.h"

namespace sluice::runtime {
namespace {

// Rows as text, each with its kind: "+I 1 2; -U 1 2".
class TextOutput final : public Output {
 public:
  Status Emit(Batch batch) override {
    for (int64_t row = 0; row < batch.row_count(); ++row) {
      if (!text.empty()) text += "; ";
      text += RowKindText(batch.row_kind(row));
      for (const auto& column : batch.rows()->columns()) {
        text += " " + column->GetScalar(row).ValueOrDie()->ToString();
      }
    }
    return {};
  }
  Status EmitWatermark(int64_t) override { return {}; }
  Status EmitIdle(bool) override { return {}; }
  Status StopInput() override { return {}; }
  std::string Take() { return std::exchange(text, ""); }

 private:
  std::string text;
};

Batch Rows(const std::vector<std::pair<int64_t, int64_t>>& rows,
           const std::vector<RowKind>& kinds = {}) {
  arrow::Int64Builder a;
  arrow::Int64Builder b;
  for (const auto& [x, y] : rows) {
    (void)a.Append(x);
    (void)b.Append(y);
  }
  const auto batch = arrow::RecordBatch::Make(
      arrow::schema({arrow::field("a", arrow::int64()), arrow::field("b", arrow::int64())}),
      static_cast<int64_t>(rows.size()), {a.Finish().ValueOrDie(), b.Finish().ValueOrDie()});
  if (kinds.empty()) return Batch(batch);
  arrow::Int8Builder builder;
  for (const RowKind kind : kinds) (void)builder.Append(static_cast<int8_t>(kind));
  std::shared_ptr<arrow::Int8Array> array;
  (void)builder.Finish(&array);
  return Batch(batch, array);
}

constexpr RowKind kI = RowKind::kInsert;
constexpr RowKind kUb = RowKind::kUpdateBefore;
constexpr RowKind kUa = RowKind::kUpdateAfter;
constexpr RowKind kD = RowKind::kDelete;

// Drives one operator as a task would.
template <typename T>
struct Driver {
  explicit Driver(T made, int64_t memory_bytes = 1 << 30, int subtask = 0, int parallelism = 1)
      : budget(memory_bytes), op(std::move(made)) {
    context.clock = &clock;
    context.memory_pool = arrow::default_memory_pool();
    context.budget = &budget;
    context.metrics = &metrics;
    context.subtask = subtask;
    context.parallelism = parallelism;
    context.wake = [] {};
    EXPECT_TRUE(op->Open(context).ok());
  }
  std::string Push(Batch batch) {
    const Status status = op->Process(std::move(batch), out);
    return status.ok() ? out.Take() : status.message();
  }
  std::string Finish() {
    EXPECT_TRUE(op->FinishInput(out).ok());
    while (!op->Ready()) EXPECT_TRUE(op->Poll(out).ok());
    return out.Take();
  }
  StateFields Snapshot() {
    StateWriter writer;
    EXPECT_TRUE(op->Snapshot({.id = 1}, writer).ok());
    return std::move(writer).Take();
  }
  void Restore(const std::vector<StateFields>& states) {
    RestoredState restored;
    restored.checkpoint_id = 1;
    for (const StateFields& fields : states) restored.subtasks.emplace_back("op", fields);
    const Status status = op->Restore(restored);
    EXPECT_TRUE(status.ok()) << status.ToString();
  }

  VirtualClock clock{0};
  Metrics metrics;
  MemoryBudget budget;
  TaskContext context;
  TextOutput out;
  T op;
};

std::unique_ptr<HashAggregateOperator> Aggregate(bool streaming, bool changes = false,
                                                 bool grouped = true) {
  AggregateSpec spec;
  std::vector<Column> output;
  if (grouped) {
    spec.keys = {expr::MakeColumn(0, SqlType::Bigint())};
    output.push_back({"a", SqlType::Bigint()});
  }
  spec.calls.push_back(*expr::MakeAggregate("SUM", {expr::MakeColumn(1, SqlType::Bigint())}));
  spec.calls.push_back(*expr::MakeAggregate("COUNT", {}));
  output.push_back({"s", spec.calls[0].type});
  output.push_back({"c", spec.calls[1].type});
  spec.output = Schema(std::move(output));
  spec.streaming = streaming;
  spec.input_changes = changes;
  return std::make_unique<HashAggregateOperator>(std::move(spec));
}

TEST(HashAggregateTest, BatchGivesResultsAtTheEnd) {
  Driver driver(Aggregate(false));
  EXPECT_EQ(driver.Push(Rows({{1, 10}, {2, 5}, {1, 1}})), "");
  EXPECT_EQ(driver.Push(Rows({{3, 7}})), "");
  EXPECT_EQ(driver.Finish(), "+I 1 11 2; +I 2 5 1; +I 3 7 1");
}

TEST(HashAggregateTest, WithoutGroupByThereIsOneRowAlways) {
  EXPECT_EQ(Driver(Aggregate(false, false, false)).Finish(), "+I null 0");
  EXPECT_EQ(Driver(Aggregate(true, false, false)).Finish(), "+I null 0");
  Driver driver(Aggregate(true, false, false));
  EXPECT_EQ(driver.Push(Rows({{1, 4}})), "+I 4 1");
  EXPECT_EQ(driver.Finish(), "");
}

TEST(HashAggregateTest, StreamingGivesOneChangeARowAsFlinkDoes) {
  Driver driver(Aggregate(true));
  EXPECT_EQ(driver.Push(Rows({{1, 1}, {2, 2}, {1, 3}, {2, -2}})),
            "+I 1 1 1; +I 2 2 1; -U 1 1 1; +U 1 4 2; -U 2 2 1; +U 2 0 2");
}

TEST(HashAggregateTest, LargeBatchesGiveOneChangeAGroup) {
  Driver driver(Aggregate(true));
  std::vector<std::pair<int64_t, int64_t>> rows(1000, {7, 1});
  EXPECT_EQ(driver.Push(Rows(rows)), "+I 7 1000 1000");
  EXPECT_EQ(driver.Push(Rows(rows)), "-U 7 1000 1000; +U 7 2000 2000");
}

TEST(HashAggregateTest, TakesRowsBack) {
  Driver driver(Aggregate(true, true));
  EXPECT_EQ(driver.Push(Rows({{1, 5}, {1, 5}, {1, 6}}, {kI, kUb, kUa})),
            "+I 1 5 1; -D 1 5 1; +I 1 6 1");
  EXPECT_EQ(driver.Push(Rows({{1, 6}}, {kD})), "-D 1 6 1");
}

/// MIN, MAX, COUNT(DISTINCT), SUM(DISTINCT) of column b by a, over an input that takes rows back.
std::unique_ptr<HashAggregateOperator> ExtremesAndDistincts() {
  AggregateSpec spec;
  spec.keys = {expr::MakeColumn(0, SqlType::Bigint())};
  std::vector<Column> output = {{"a", SqlType::Bigint()}};
  for (const auto& [name, distinct] : std::vector<std::pair<std::string, bool>>{
           {"MIN", false}, {"MAX", false}, {"COUNT", true}, {"SUM", true}}) {
    spec.calls.push_back(
        *expr::MakeAggregate(name, {expr::MakeColumn(1, SqlType::Bigint())}, distinct));
    output.push_back({name, spec.calls.back().type});
  }
  spec.output = Schema(std::move(output));
  spec.streaming = true;
  spec.input_changes = true;
  return std::make_unique<HashAggregateOperator>(std::move(spec));
}

TEST(HashAggregateTest, ExtremesAndDistinctsTakeRowsBack) {
  Driver driver(ExtremesAndDistincts());
  EXPECT_EQ(driver.Push(Rows({{1, 5}, {1, 3}, {1, 5}})),
            "+I 1 5 5 1 5; -U 1 5 5 1 5; +U 1 3 5 2 8");
  EXPECT_EQ(driver.Push(Rows({{1, 5}}, {kD})), "");  // It is still there once.
  EXPECT_EQ(driver.Push(Rows({{1, 5}}, {kD})), "-U 1 3 5 2 8; +U 1 3 3 1 3");
  Driver after(ExtremesAndDistincts());
  after.Restore({driver.Snapshot()});
  EXPECT_EQ(after.Push(Rows({{1, 9}, {1, 3}}, {kI, kUb})),
            "-U 1 3 3 1 3; +U 1 3 9 2 12; -U 1 3 9 2 12; +U 1 9 9 1 9");
  EXPECT_EQ(after.Push(Rows({{1, 9}}, {kD})), "-D 1 9 9 1 9");
  // Taken back before it came: together nothing.
  EXPECT_EQ(after.Push(Rows({{2, 4}}, {kD})), "");
  EXPECT_EQ(after.Push(Rows({{2, 4}, {2, 6}})), "+I 2 6 6 1 6");
}

TEST(HashAggregateTest, RandomChangesOfExtremesAndDistincts) {
  std::mt19937 random(7);
  auto driver =
      std::make_unique<Driver<std::unique_ptr<HashAggregateOperator>>>(ExtremesAndDistincts());
  std::map<int64_t, std::multiset<int64_t>> oracle;
  std::multiset<std::string> folded;
  const auto fold = [&](const std::string& text) {
    for (size_t at = 0; at < text.size();) {
      const size_t end = std::min(text.find("; ", at), text.size());
      const std::string row = text.substr(at + 3, end - at - 3);
      if (text[at] == '+') {
        folded.insert(row);
      } else {
        ASSERT_EQ(folded.count(row), 1u) << text;
        folded.erase(row);
      }
      at = end + 2;
    }
  };
  for (int step = 0; step < 400; ++step) {
    std::vector<std::pair<int64_t, int64_t>> rows;
    std::vector<RowKind> kinds;
    for (uint32_t n = 1 + random() % (step % 50 == 49 ? 600 : 5); n > 0; --n) {
      const int64_t key = random() % 4;
      auto& values = oracle[key];
      const bool back = !values.empty() && random() % 2 == 0;
      const int64_t value = back ? *std::next(values.begin(), random() % values.size())
                                 : static_cast<int64_t>(random() % 20);
      if (back) {
        values.erase(values.find(value));
      } else {
        values.insert(value);
      }
      rows.push_back({key, value});
      kinds.push_back(back ? kD : kI);
    }
    fold(driver->Push(Rows(rows, kinds)));
    if (step % 37 == 0) {
      const StateFields state = driver->Snapshot();
      driver =
          std::make_unique<Driver<std::unique_ptr<HashAggregateOperator>>>(ExtremesAndDistincts());
      driver->Restore({state});
    }
  }
  std::multiset<std::string> expected;
  for (const auto& [key, values] : oracle) {
    if (values.empty()) continue;
    const std::set<int64_t> distinct(values.begin(), values.end());
    expected.insert(std::to_string(key) + " " + std::to_string(*values.begin()) + " " +
                    std::to_string(*values.rbegin()) + " " + std::to_string(distinct.size()) + " " +
                    std::to_string(std::accumulate(distinct.begin(), distinct.end(), 0)));
  }
  EXPECT_EQ(folded, expected);
}

TEST(HashAggregateTest, StateMovesToAnotherParallelism) {
  Driver before(Aggregate(true));
  std::vector<std::pair<int64_t, int64_t>> rows;
  for (int64_t i = 0; i < 100; ++i) rows.push_back({i, i});
  before.Push(Rows(rows));
  const StateFields state = before.Snapshot();
  int found = 0;
  for (int subtask = 0; subtask < 3; ++subtask) {
    Driver after(Aggregate(true), 1 << 30, subtask, 3);
    after.Restore({state});
    for (int64_t i = 0; i < 100; ++i) {
      const std::string text = after.Push(Rows({{i, 1}}));
      const std::string id = std::to_string(i);
      if (text == "-U " + id + " " + id + " 1; +U " + id + " " + std::to_string(i + 1) + " 2") {
        ++found;
      } else {
        EXPECT_EQ(text, "+I " + id + " 1 1");
      }
    }
  }
  EXPECT_EQ(found, 100);
}

TEST(HashAggregateTest, NamesTheOptionWhenMemoryDoesNotSuffice) {
  Driver driver(Aggregate(false), 10'000);
  std::vector<std::pair<int64_t, int64_t>> rows;
  for (int64_t i = 0; i < 5'000; ++i) rows.push_back({i, i});
  EXPECT_NE(driver.Push(Rows(rows)).find("'sluice.memory.limit'"), std::string::npos);
}

std::unique_ptr<SortOperator> Sort(std::optional<int64_t> limit, int64_t offset = 0,
                                   bool emit_changes = false, bool descending = false,
                                   bool input_changes = false) {
  SortSpec spec;
  spec.keys.push_back({expr::MakeColumn(0, SqlType::Bigint()), descending, !descending});
  spec.limit_rows = limit;
  spec.offset_rows = offset;
  spec.schema = Schema({{"a", SqlType::Bigint()}, {"b", SqlType::Bigint()}});
  spec.emit_changes = emit_changes;
  spec.input_changes = input_changes;
  return std::make_unique<SortOperator>(std::move(spec));
}

TEST(SortTest, SortsAtTheEndAndKeepsTheOrderOfEqualRows) {
  Driver driver(Sort(std::nullopt));
  EXPECT_EQ(driver.Push(Rows({{3, 1}, {1, 1}, {2, 1}})), "");
  EXPECT_EQ(driver.Push(Rows({{1, 2}})), "");
  EXPECT_EQ(driver.Finish(), "+I 1 1; +I 1 2; +I 2 1; +I 3 1");
}

TEST(SortTest, LimitAndOffset) {
  Driver driver(Sort(2, 1, false, true));
  driver.Push(Rows({{1, 0}, {5, 0}, {3, 0}, {4, 0}}));
  EXPECT_EQ(driver.Finish(), "+I 4 0; +I 3 0");
  EXPECT_EQ(Driver(Sort(2, 1)).Finish(), "");
}

TEST(SortTest, CutsALimitedSortBack) {
  Driver driver(Sort(3), 4 << 20);
  for (int64_t i = 100; i-- > 0;) {
    std::vector<std::pair<int64_t, int64_t>> rows;
    for (int64_t j = 0; j < 8'000; ++j) rows.push_back({i * 8'000 + j, j});
    EXPECT_EQ(driver.Push(Rows(rows)), "");
  }
  EXPECT_EQ(driver.Finish(), "+I 0 0; +I 1 1; +I 2 2");
}

TEST(SortTest, CancelsRowsThatTheInputTakesBack) {
  Driver driver(Sort(std::nullopt));
  driver.Push(Rows({{1, 1}, {2, 1}, {2, 1}}));
  driver.Push(Rows({{2, 1}, {0, 1}}, {kD, kI}));
  EXPECT_EQ(driver.Finish(), "+I 0 1; +I 1 1; +I 2 1");
}

TEST(SortTest, TopNFollowsItsInputAndItsState) {
  Driver driver(Sort(2, 0, true));
  EXPECT_EQ(driver.Push(Rows({{5, 0}, {3, 0}, {9, 0}})), "+I 3 0; +I 5 0");
  EXPECT_EQ(driver.Push(Rows({{7, 0}})), "");
  Driver after(Sort(2, 0, true));
  after.Restore({driver.Snapshot()});
  EXPECT_EQ(after.Push(Rows({{4, 0}})), "-D 5 0; +I 4 0");
  EXPECT_EQ(after.Finish(), "");
}

TEST(SortTest, TopNBringsARowBackWhenAnotherGoes) {
  Driver driver(Sort(1, 0, true, false, true));
  EXPECT_EQ(driver.Push(Rows({{5, 0}, {3, 0}})), "+I 3 0");
  EXPECT_EQ(driver.Push(Rows({{3, 0}}, {kD})), "-D 3 0; +I 5 0");
}

TEST(SortTest, WithoutKeysTheFirstToComeStay) {
  SortSpec spec;
  spec.limit_rows = 2;
  spec.schema = Schema({{"a", SqlType::Bigint()}, {"b", SqlType::Bigint()}});
  spec.emit_changes = true;
  spec.input_changes = true;
  Driver driver(std::make_unique<SortOperator>(std::move(spec)));
  EXPECT_EQ(driver.Push(Rows({{5, 0}, {3, 0}, {4, 0}})), "+I 5 0; +I 3 0");
  EXPECT_EQ(driver.Push(Rows({{5, 0}, {5, 1}}, {kUb, kUa})), "-D 5 0; +I 4 0");
}

std::unique_ptr<ChangelogNormalizeOperator> Normalize() {
  return std::make_unique<ChangelogNormalizeOperator>(
      std::vector<int>{0}, Schema({{"a", SqlType::Bigint()}, {"b", SqlType::Bigint()}}));
}

TEST(ChangelogNormalizeTest, TakesRepeatsOut) {
  Driver driver(Normalize());
  EXPECT_EQ(driver.Push(Rows({{1, 1}, {1, 1}, {2, 5}})), "+I 1 1; +I 2 5");
  // The update comes twice, its row before is not needed.
  EXPECT_EQ(driver.Push(Rows({{1, 1}, {1, 2}, {1, 1}, {1, 2}, {1, 3}}, {kUb, kUa, kUb, kUa, kUa})),
            "-U 1 1; +U 1 2; -U 1 2; +U 1 3");
  // What goes is the row that is kept, once.
  EXPECT_EQ(driver.Push(Rows({{1, 9}, {1, 3}, {3, 3}}, {kD, kD, kD})), "-D 1 3");
  EXPECT_EQ(driver.Push(Rows({{1, 3}}, {kUa})), "+I 1 3");
}

TEST(ChangelogNormalizeTest, StateMovesToAnotherParallelism) {
  Driver before(Normalize());
  std::vector<std::pair<int64_t, int64_t>> rows;
  for (int64_t i = 0; i < 50; ++i) rows.push_back({i, i});
  before.Push(Rows(rows));
  before.Push(Rows({{7, 7}}, {kD}));
  const StateFields state = before.Snapshot();
  int known = 0;
  for (int subtask = 0; subtask < 3; ++subtask) {
    Driver after(Normalize(), 1 << 30, subtask, 3);
    after.Restore({state});
    for (int64_t i = 0; i < 50; ++i) known += after.Push(Rows({{i, i}})).empty() ? 1 : 0;
  }
  EXPECT_EQ(known, 49);
}

TEST(ChangelogNormalizeTest, ForgetsWhatIsGone) {
  Driver driver(Normalize());
  int64_t most = 0;
  for (int64_t round = 0; round < 60; ++round) {
    std::vector<std::pair<int64_t, int64_t>> rows;
    for (int64_t i = 0; i < 5'000; ++i) rows.push_back({round * 5'000 + i, i});
    driver.Push(Rows(rows));
    driver.Push(Rows(rows, std::vector<RowKind>(rows.size(), kD)));
    most = std::max(most, driver.budget.used_bytes());
  }
  EXPECT_LT(most, 30 << 20);
  EXPECT_EQ(driver.Push(Rows({{1, 1}})), "+I 1 1");
}

std::string Enforced(SqlType type, bool trim_and_pad, const std::vector<std::string>& values) {
  arrow::StringBuilder builder;
  (void)builder.AppendValues(values);
  const auto batch = arrow::RecordBatch::Make(arrow::schema({arrow::field("c", arrow::utf8())}),
                                              static_cast<int64_t>(values.size()),
                                              {builder.Finish().ValueOrDie()});
  Driver driver(
      std::make_unique<TypeLengthEnforcer>(Schema({{"c", std::move(type)}}), trim_and_pad));
  return driver.Push(Batch(batch));
}

TEST(TypeLengthEnforcerTest, TrimsPadsOrFails) {
  EXPECT_EQ(Enforced(SqlType::Varchar(2), true, {"a", "äöü"}), "+I a; +I äö");
  EXPECT_EQ(Enforced(SqlType::Char(3), true, {"a", "abcd"}), "+I a  ; +I abc");
  EXPECT_EQ(Enforced(SqlType::Varchar(2), false, {"a", "ab"}), "+I a; +I ab");
  EXPECT_NE(Enforced(SqlType::Varchar(2), false, {"abc"}).find("length 3"), std::string::npos);
  EXPECT_FALSE(TypeLengthEnforcer::HasWork(Schema({{"c", SqlType::String()}})));
}

TEST(CollectTest, KeepsWhatDoesNotFitAndTakesNoMore) {
  const auto queue = std::make_shared<ResultQueue>(1);
  Driver driver(std::make_unique<CollectOperator>(queue));
  for (int64_t i = 0; i < 3; ++i) driver.Push(Rows({{i, 0}}));
  EXPECT_FALSE(driver.op->Ready());
  for (int64_t i = 0; i < 3; ++i) {
    EXPECT_EQ(testing::Numbers(**queue->Pop())[0], i);
    EXPECT_TRUE(driver.op->Poll(driver.out).ok());
  }
  EXPECT_TRUE(driver.op->Ready());
}

}  // namespace
}  // namespace sluice::runtime
