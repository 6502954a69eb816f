// Keeps the rows for which a condition holds and computes new columns from them.
#pragma once

#include <memory>
#include <vector>

#include "expr/expr.h"
#include "runtime/operator.h"
#include "types/schema.h"

namespace sluice::runtime {

/// What evaluation inside an operator depends on; the clock and pool come from the task.
struct EvalSettings {
  TimeZone session_zone;
  std::optional<int64_t> fixed_now_ms;  // Batch: the query's start.
};

/// Thread: the task's. State: none (CURRENT_WATERMARK is rebuilt from the stream).
class ProjectFilterOperator final : public Operator {
 public:
  /// `condition` may be null; empty `projection` with `project` false passes columns through.
  ProjectFilterOperator(expr::ExprPtr condition, bool project,
                        std::vector<expr::ExprPtr> projection, const Schema& output,
                        EvalSettings settings);

  Status Open(TaskContext& context) override;
  Status Process(Batch batch, Output& out) override;
  Status ProcessWatermark(int64_t millis, Output& out) override;

 private:
  Result<Batch> Project(const Batch& batch);

  const expr::ExprPtr condition_;
  const bool project_;
  const std::vector<expr::ExprPtr> projection_;
  const std::shared_ptr<arrow::Schema> output_schema_;
  const EvalSettings settings_;
  expr::EvalContext eval_;
};

}  // namespace sluice::runtime
