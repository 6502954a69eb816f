#include "runtime/operators/hash_join.h"

#include <arrow/api.h>
#include <gtest/gtest.h>

#include "expr/builder.h"
#include "runtime/job_test_support.h"

namespace sluice::runtime {
namespace {

// Rows as text in sorted order, values parted by blanks: "1 2; 1 null".
class SortedOutput final : public Output {
 public:
  Status Emit(Batch batch) override {
    for (int64_t row = 0; row < batch.row_count(); ++row) {
      std::string text;
      for (const auto& column : batch.rows()->columns()) {
        text += (text.empty() ? "" : " ") + column->GetScalar(row).ValueOrDie()->ToString();
      }
      rows.push_back(std::move(text));
    }
    largest_batch = std::max(largest_batch, batch.row_count());
    return {};
  }
  Status EmitWatermark(int64_t millis) override {
    watermark_ms = millis;
    rows_at_watermark = rows.size();
    return {};
  }
  Status EmitIdle(bool) override { return {}; }
  Status StopInput() override { return {}; }
  std::string Take() {
    std::sort(rows.begin(), rows.end());
    std::string text;
    for (const std::string& row : rows) text += (text.empty() ? "" : "; ") + row;
    rows.clear();
    return text;
  }

  std::vector<std::string> rows;
  int64_t largest_batch = 0;
  int64_t watermark_ms = kMinWatermarkMs;
  size_t rows_at_watermark = 0;
};

using Value = std::optional<int64_t>;

Batch Rows(const std::vector<std::pair<Value, Value>>& rows,
           const std::vector<RowKind>& kinds = {}) {
  arrow::Int64Builder a;
  arrow::Int64Builder b;
  for (const auto& [x, y] : rows) {
    (void)(x ? a.Append(*x) : a.AppendNull());
    (void)(y ? b.Append(*y) : b.AppendNull());
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

expr::ExprPtr Col(int index) { return expr::MakeColumn(index, SqlType::Bigint()); }

// left (a, b) with right (a, b) on the first columns.
JoinSpec Spec(JoinKind kind, bool keyed = true) {
  JoinSpec spec;
  spec.kind = kind;
  spec.left = Schema({{"a", SqlType::Bigint()}, {"b", SqlType::Bigint()}});
  spec.right = spec.left;
  spec.left_width = 2;
  spec.right_width = 2;
  std::vector<Column> output = spec.left.columns();
  if (kind == JoinKind::kMark) {
    output.push_back({"m", SqlType::Boolean()});
  } else {
    output.push_back({"ra", SqlType::Bigint()});
    output.push_back({"rb", SqlType::Bigint()});
  }
  spec.output = Schema(std::move(output));
  if (keyed) {
    spec.left_keys = {Col(0)};
    spec.right_keys = {Col(0)};
  }
  spec.right_everywhere = !keyed;
  return spec;
}

struct Driver {
  explicit Driver(JoinSpec spec, int64_t memory_bytes = 1 << 30, int subtask = 0,
                  int parallelism = 1)
      : budget(memory_bytes), op(std::move(spec)) {
    context.clock = &clock;
    context.memory_pool = arrow::default_memory_pool();
    context.budget = &budget;
    context.metrics = &metrics;
    context.subtask = subtask;
    context.parallelism = parallelism;
    context.wake = [] {};
    EXPECT_TRUE(op.Open(context).ok());
  }
  Status Push(int input, Batch batch) {
    const Status status = op.ProcessInput(input, std::move(batch), out);
    Drain();
    return status;
  }
  Status End(int input) {
    const Status status = op.FinishOneInput(input, out);
    Drain();
    return status;
  }
  std::string Finish() {
    EXPECT_TRUE(op.FinishInput(out).ok());
    Drain();
    return out.Take();
  }
  void Drain() {
    while (!op.Ready()) ASSERT_TRUE(op.Poll(out).ok());
  }
  std::string Run(Batch left, Batch right) {
    EXPECT_TRUE(Push(1, std::move(right)).ok());
    EXPECT_TRUE(End(1).ok());
    EXPECT_TRUE(Push(0, std::move(left)).ok());
    EXPECT_TRUE(End(0).ok());
    return Finish();
  }
  StateFields Snapshot() {
    StateWriter writer;
    EXPECT_TRUE(op.Snapshot({.id = 1}, writer).ok());
    return std::move(writer).Take();
  }
  void Restore(const std::vector<StateFields>& states) {
    RestoredState restored;
    restored.checkpoint_id = 1;
    for (const StateFields& fields : states) restored.subtasks.emplace_back("op", fields);
    const Status status = op.Restore(restored);
    EXPECT_TRUE(status.ok()) << status.ToString();
  }

  VirtualClock clock{0};
  Metrics metrics;
  MemoryBudget budget;
  TaskContext context;
  SortedOutput out;
  HashJoinOperator op;
};

const Batch kLeft = Rows({{1, 10}, {2, 20}, {std::nullopt, 30}, {4, 40}});
const Batch kRight = Rows({{1, 100}, {1, 101}, {std::nullopt, 300}, {5, 500}});

TEST(HashJoinTest, EachKind) {
  const std::string pairs = "1 10 1 100; 1 10 1 101";
  EXPECT_EQ(Driver(Spec(JoinKind::kInner)).Run(kLeft, kRight), pairs);
  EXPECT_EQ(Driver(Spec(JoinKind::kLeft)).Run(kLeft, kRight),
            pairs + "; 2 20 null null; 4 40 null null; null 30 null null");
  EXPECT_EQ(Driver(Spec(JoinKind::kRight)).Run(kLeft, kRight),
            pairs + "; null null 5 500; null null null 300");
  EXPECT_EQ(Driver(Spec(JoinKind::kFull)).Run(kLeft, kRight),
            pairs +
                "; 2 20 null null; 4 40 null null; null 30 null null; null null 5 500; null "
                "null null 300");
  EXPECT_EQ(Driver(Spec(JoinKind::kMark)).Run(kLeft, kRight),
            "1 10 true; 2 20 false; 4 40 false; null 30 false");
}

TEST(HashJoinTest, ResidualDecidesWhatHasAPartner) {
  JoinSpec spec = Spec(JoinKind::kFull);
  spec.residual =
      *expr::MakeComparison(expr::ComparisonOp::kGreater, Col(3), expr::MakeBigint(100));
  EXPECT_EQ(Driver(spec).Run(Rows({{1, 10}, {5, 50}}), kRight),
            "1 10 1 101; 5 50 5 500; null null 1 100; null null null 300");
}

TEST(HashJoinTest, OneRowMeetsManyInBatches) {
  std::vector<std::pair<Value, Value>> many;
  for (int64_t i = 0; i < 30'000; ++i) many.emplace_back(1, i);
  Driver driver(Spec(JoinKind::kInner));
  ASSERT_TRUE(driver.Push(1, Rows(many)).ok());
  ASSERT_TRUE(driver.End(1).ok());
  ASSERT_TRUE(driver.Push(0, Rows({{1, 1}, {1, 2}})).ok());
  EXPECT_EQ(driver.out.rows.size(), 60'000u);
  EXPECT_LE(driver.out.largest_batch, kTargetBatchRows);
}

TEST(HashJoinTest, MembershipIsThreeValued) {
  JoinSpec spec = Spec(JoinKind::kMark, false);
  spec.left_members = {Col(0)};
  spec.right_members = {Col(0)};
  spec.membership = *expr::MakeComparison(expr::ComparisonOp::kEqual, Col(0), Col(2));
  EXPECT_EQ(Driver(spec).Run(kLeft, kRight), "1 10 true; 2 20 null; 4 40 null; null 30 null");
  EXPECT_EQ(Driver(spec).Run(kLeft, Rows({{1, 1}, {2, 2}})),
            "1 10 true; 2 20 true; 4 40 false; null 30 null");
  EXPECT_EQ(Driver(spec).Run(kLeft, Rows({})), "1 10 false; 2 20 false; 4 40 false; null 30 false");
}

TEST(HashJoinTest, MembershipOfTwoColumns) {
  JoinSpec spec = Spec(JoinKind::kMark, false);
  spec.left_members = {Col(0), Col(1)};
  spec.right_members = {Col(0), Col(1)};
  spec.membership =
      *expr::MakeAnd({*expr::MakeComparison(expr::ComparisonOp::kEqual, Col(0), Col(2)),
                      *expr::MakeComparison(expr::ComparisonOp::kEqual, Col(1), Col(3))});
  // (2, NULL) may be (2, 20); (4, 40) differs from it for certain.
  EXPECT_EQ(Driver(spec).Run(kLeft, Rows({{1, 10}, {2, std::nullopt}})),
            "1 10 true; 2 20 null; 4 40 false; null 30 null");
}

TEST(HashJoinTest, ASecondRowOfAScalarSubqueryFails) {
  Driver one(Spec(JoinKind::kSingle, false));
  EXPECT_EQ(one.Run(Rows({{1, 2}}), Rows({{7, 8}})), "1 2 7 8");
  Driver none(Spec(JoinKind::kSingle, false));
  EXPECT_EQ(none.Run(Rows({{1, 2}}), Rows({})), "1 2 null null");
  Driver two(Spec(JoinKind::kSingle, false));
  ASSERT_TRUE(two.Push(1, Rows({{7, 8}, {7, 9}})).ok());
  EXPECT_NE(two.End(1).message().find("returned more than one row: 2"), std::string::npos);
}

// Whatever the order in which inputs come and end, and with changes on both sides.
TEST(HashJoinTest, EarlyRowsAndChangesAreSettled) {
  JoinSpec spec = Spec(JoinKind::kLeft);
  spec.left_changes = true;
  Driver driver(spec);
  EXPECT_EQ(driver.op.WantedInput(), 1);
  ASSERT_TRUE(driver.Push(0, Rows({{1, 10}, {2, 20}})).ok());
  ASSERT_TRUE(driver.op.ProcessWatermark(5, driver.out).ok());
  ASSERT_TRUE(driver.End(0).ok());
  ASSERT_TRUE(driver.Push(0, Rows({{2, 20}}, {RowKind::kDelete})).ok());
  ASSERT_TRUE(driver
                  .Push(1, Rows({{1, 100}, {1, 100}, {1, 101}},
                                {RowKind::kInsert, RowKind::kUpdateBefore, RowKind::kUpdateAfter}))
                  .ok());
  ASSERT_TRUE(driver.End(1).ok());
  EXPECT_EQ(driver.op.WantedInput(), -1);
  EXPECT_EQ(driver.out.watermark_ms, kMinWatermarkMs) << "the watermark must not overtake rows";
  EXPECT_EQ(driver.Finish(), "1 10 1 101");
  EXPECT_EQ(driver.out.watermark_ms, 5);
  EXPECT_EQ(driver.out.rows_at_watermark, 1u);
}

// A checkpoint while the right input is read, and one while pairs go out.
TEST(HashJoinTest, StateComesBackAtAnotherParallelism) {
  std::vector<StateFields> states;
  std::vector<std::pair<Value, Value>> left;
  std::vector<std::pair<Value, Value>> right;
  for (int64_t i = 0; i < 100; ++i) left.emplace_back(i, i);
  for (int64_t i = 50; i < 150; ++i) right.emplace_back(i, -i);
  {
    Driver before(Spec(JoinKind::kFull));
    ASSERT_TRUE(before.Push(0, Rows(left)).ok());  // Let through by a barrier.
    ASSERT_TRUE(before.Push(1, Rows(right)).ok());
    states = {before.Snapshot()};
  }
  size_t rows = 0;
  std::vector<StateFields> middle;
  for (int subtask = 0; subtask < 3; ++subtask) {
    Driver driver(Spec(JoinKind::kFull), 1 << 30, subtask, 3);
    driver.Restore(states);
    ASSERT_TRUE(driver.End(1).ok());
    rows += driver.out.rows.size();
    middle.push_back(driver.Snapshot());
  }
  EXPECT_EQ(rows, 100u);  // Every left row, with or without a partner.
  Driver end(Spec(JoinKind::kFull));
  end.Restore(middle);
  ASSERT_TRUE(end.End(1).ok());
  ASSERT_TRUE(end.End(0).ok());
  const std::string alone = end.Finish();  // Right rows 100 to 149.
  EXPECT_EQ(std::count(alone.begin(), alone.end(), ';'), 49);
  EXPECT_EQ(alone.find("null null 99 "), std::string::npos);
}

TEST(HashJoinTest, RightRowsWithoutPartnerAfterARestore) {
  Driver before(Spec(JoinKind::kRight));
  ASSERT_TRUE(before.Push(1, kRight).ok());
  ASSERT_TRUE(before.End(1).ok());
  ASSERT_TRUE(before.Push(0, Rows({{5, 1}})).ok());
  EXPECT_EQ(before.out.Take(), "5 1 5 500");
  Driver after(Spec(JoinKind::kRight));
  after.Restore({before.Snapshot()});
  ASSERT_TRUE(after.End(1).ok());
  EXPECT_EQ(after.Finish(), "null null 1 100; null null 1 101; null null null 300");
}

TEST(HashJoinTest, MoreThanTheMemoryIsAnError) {
  Driver driver(Spec(JoinKind::kInner), 10'000);
  std::vector<std::pair<Value, Value>> many(5'000, {1, 1});
  const Status status = driver.Push(1, Rows(many));
  EXPECT_NE(status.message().find("JOIN needs more than the job's memory"), std::string::npos);
  EXPECT_NE(status.message().find("sluice.memory.limit"), std::string::npos);
}

}  // namespace
}  // namespace sluice::runtime
