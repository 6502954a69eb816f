// table.exec.sink.not-null-enforcer: NULL for a NOT NULL column fails the job or drops the row.
#pragma once

#include <vector>

#include "runtime/operator.h"
#include "types/schema.h"

namespace sluice::runtime {

/// Thread: the task's. State: none.
class NotNullEnforcer final : public Operator {
 public:
  /// `columns`: indices of the NOT NULL columns that may receive NULL.
  NotNullEnforcer(std::vector<int> columns, const Schema& schema, bool drop);
  Status Open(TaskContext& context) override;
  Status Process(Batch batch, Output& out) override;

 private:
  const std::vector<int> columns_;
  const std::shared_ptr<arrow::Schema> schema_;
  const bool drop_;
  std::atomic<int64_t>* dropped_ = nullptr;
};

}  // namespace sluice::runtime
