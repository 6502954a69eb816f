// Rows as often as a column says: INTERSECT ALL and EXCEPT ALL.
#pragma once

#include <optional>

#include "runtime/operator.h"
#include "types/schema.h"

namespace sluice::runtime {

/// The last input column is a BIGINT: each row goes on that often (not at all from 0 down) without
/// it. A row that is updated may come another number of times afterwards, so updates become deletes
/// and inserts.
///
/// Thread: the task's. State: none.
class ReplicateRowsOperator final : public Operator {
 public:
  explicit ReplicateRowsOperator(const Schema& output) : output_schema_(output.ToArrow()) {}

  Status Process(Batch batch, Output& out) override;
  Status Poll(Output& out) override;
  bool Ready() const override { return !batch_; }

 private:
  const std::shared_ptr<arrow::Schema> output_schema_;
  std::optional<Batch> batch_;  // On its way out, some rows a call.
  int64_t row_ = 0;
  int64_t copies_ = 0;  // Of `row_` that are out.
};

}  // namespace sluice::runtime
