// table.exec.source.cdc-events-duplicate: change events that may come more than once become a
// changelog without repeats.
#pragma once

#include <memory>
#include <vector>

#include "expr/group_table.h"
#include "runtime/operator.h"
#include "runtime/operators/memory_hold.h"
#include "types/schema.h"

namespace sluice::runtime {

// Keeps the last row of each key. A row that came or changed is compared with it: the same again
// gives nothing, another one -U and +U, the first of its key +I; a removal gives -D of the row that
// is kept. The rows before an update that the events carry are not needed.
//
// Thread: the task's. With several subtasks the exchange in front must hash by the keys. State: the
// last rows; restored by hash of the key, at any parallelism.
class ChangelogNormalizeOperator final : public Operator {
 public:
  ChangelogNormalizeOperator(std::vector<int> key_columns, Schema schema);

  Status Open(TaskContext& context) override;
  Status Restore(const RestoredState& state) override;
  Status Process(Batch batch, Output& out) override;
  Status Snapshot(const Barrier& barrier, StateWriter& state) override;

 private:
  struct Changes;

  void MakeTables();
  /// Row `row` of the batch, whose id is `row_id`, is now the last of its key.
  Status Keep(const Batch& batch, int64_t row, int32_t* last, int32_t row_id, Changes* changes);
  Status Remove(int32_t* last, Changes* changes);
  Result<std::shared_ptr<arrow::RecordBatch>> KeysOf(const arrow::RecordBatch& rows) const;
  /// The last rows, in the order of their keys' first appearance.
  Result<std::shared_ptr<arrow::RecordBatch>> LastRows() const;
  /// Takes `rows` for the last of their keys, which are new.
  Status Remember(const arrow::RecordBatch& rows);
  /// Forgets keys and rows that are not the last of any key once they are the greater part.
  Status CleanUp();
  Status HoldMemory();

  const std::vector<int> key_columns_;
  const Schema schema_;
  const std::shared_ptr<arrow::Schema> arrow_schema_;
  std::unique_ptr<expr::GroupTable> keys_;
  std::unique_ptr<expr::GroupTable> rows_;  // Every row seen since CleanUp, once.
  std::vector<int32_t> last_of_key_;        // Its id in rows_; -1: the key has no row.
  int64_t live_count_ = 0;
  MemoryHold memory_;
};

}  // namespace sluice::runtime
