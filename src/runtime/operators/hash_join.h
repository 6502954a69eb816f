// JOIN, and subqueries of expressions, over bounded inputs: a hash table of the right input.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "expr/expr.h"
#include "runtime/input_order.h"
#include "runtime/operators/held_rows.h"
#include "runtime/operators/join_table.h"
#include "runtime/operators/memory_hold.h"
#include "runtime/operators/project_filter.h"

namespace sluice::runtime {

/// What comes out: pairs of rows, with kLeft, kRight and kFull also rows without a partner, padded
/// with NULL.
enum class JoinKind {
  kInner,
  kLeft,
  kRight,
  kFull,
  kSingle,  // A scalar subquery: as kLeft, and more than one right row is an error.
  kMark,    // IN and EXISTS: left rows and one BOOLEAN, whether a right row matches.
};

struct JoinSpec {
  JoinKind kind = JoinKind::kInner;
  Schema left;   // Input 0.
  Schema right;  // Input 1.
  /// Columns of the inputs that go on; those behind them are keys for the exchange.
  int left_width = 0;
  int right_width = 0;
  Schema output;
  /// Over left and over right, equal types pair by pair: all pairs must be equal. NULL equals
  /// nothing.
  std::vector<expr::ExprPtr> left_keys;
  std::vector<expr::ExprPtr> right_keys;
  /// What a pair must fulfil besides, over the left_width left and then the right columns. May be
  /// null.
  expr::ExprPtr residual;
  /// kMark: the equalities of IN, as pairs of keys and as a condition over left and right columns.
  /// They alone can make the mark NULL (three-valued logic). Empty and null for EXISTS; `members`
  /// may be empty beside a condition when the values have no common type.
  std::vector<expr::ExprPtr> left_members;
  std::vector<expr::ExprPtr> right_members;
  expr::ExprPtr membership;
  /// Every subtask gets the whole right input; otherwise rows with equal keys meet in one subtask.
  bool right_everywhere = false;
  /// The inputs may wait for each other further up: neither is left unread.
  bool read_both = false;
  /// The left input takes rows back: it is used only when all of it has come.
  bool left_changes = false;
  EvalSettings eval;
};

class JoinMarks;

// Reads the right input first, then the left one, whose rows go out as they come. Rows of the left
// that come early (a checkpoint lets them through) wait here.
//
// Thread: the task's. With several subtasks the exchanges in front hash by the keys, or send the
// right input everywhere. State: the rows held of both inputs, and which right rows had a partner.
class HashJoinOperator final : public Operator, public InputOrder {
 public:
  explicit HashJoinOperator(JoinSpec spec);
  ~HashJoinOperator() override;

  Status Open(TaskContext& context) override;
  Status Restore(const RestoredState& state) override;
  Status Process(Batch batch, Output& out) override { return ProcessInput(0, batch, out); }
  Status ProcessInput(int input_index, Batch batch, Output& out) override;
  Status ProcessWatermark(int64_t millis, Output& out) override;
  int WantedInput() const override { return right_ended_ || spec_.read_both ? -1 : 1; }
  Status FinishOneInput(int input_index, Output& out) override;
  Status FinishInput(Output& out) override;
  Status Poll(Output& out) override;
  bool Ready() const override { return !busy_; }
  Status Snapshot(const Barrier& barrier, StateWriter& state) override;

 private:
  /// A batch of left rows on its way through the table.
  struct Probe {
    std::shared_ptr<arrow::RecordBatch> rows;
    std::vector<int32_t> groups;
    std::vector<bool> matched;
    size_t row = 0;
    size_t at = 0;  // In the rows of its group.
  };

  Status BuildTable();
  Status StartProbe(const std::shared_ptr<arrow::RecordBatch>& rows);
  Status ContinueProbe(Output& out);
  Status EmitPairs(const std::vector<int64_t>& left, const std::vector<int64_t>& right,
                   Output& out);
  Status EmitUnmatchedLeft(Output& out);
  Status EmitUnmatchedRight(Output& out);
  Status EmitMarks(Output& out);
  Status HoldMemory();
  Result<std::vector<int64_t>> ShareOf(const arrow::RecordBatch& rows,
                                       const std::vector<expr::ExprPtr>& keys) const;

  const JoinSpec spec_;
  const std::shared_ptr<arrow::Schema> output_schema_;
  const Schema key_schema_;
  expr::EvalContext eval_;
  HeldRows left_;
  HeldRows right_;
  std::unique_ptr<JoinTable> table_;
  std::unique_ptr<JoinMarks> marks_;
  std::vector<bool> right_matched_;
  bool right_ended_ = false;
  bool all_ended_ = false;
  bool busy_ = false;                            // Poll has something to emit.
  std::shared_ptr<arrow::RecordBatch> waiting_;  // Left rows that had to wait, being used.
  int64_t waiting_at_ = 0;
  std::optional<Probe> probe_;
  int64_t unmatched_at_ = 0;
  std::optional<int64_t> watermark_ms_;  // Held back behind the rows held.
  MemoryHold memory_;
};

}  // namespace sluice::runtime
