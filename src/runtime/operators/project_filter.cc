#include "runtime/operators/project_filter.h"

#include "expr/sort.h"

namespace sluice::runtime {

ProjectFilterOperator::ProjectFilterOperator(expr::ExprPtr condition, bool project,
                                             std::vector<expr::ExprPtr> projection,
                                             const Schema& output, EvalSettings settings)
    : condition_(std::move(condition)),
      project_(project),
      projection_(std::move(projection)),
      output_schema_(output.ToArrow()),
      settings_(std::move(settings)) {}

Status ProjectFilterOperator::Open(TaskContext& context) {
  SLUICE_RETURN_NOT_OK(Operator::Open(context));
  eval_.session_zone = settings_.session_zone;
  eval_.fixed_now_ms = settings_.fixed_now_ms;
  eval_.clock = context.clock;
  eval_.pool = context.memory_pool;
  return {};
}

Status ProjectFilterOperator::Process(Batch batch, Output& out) {
  if (condition_) {
    SLUICE_ASSIGN_OR_RETURN(const arrow::Datum verdict, condition_->Evaluate(*batch.rows(), eval_));
    SLUICE_ASSIGN_OR_RETURN(batch, expr::FilterRows(batch, verdict, eval_.pool));
    if (batch.row_count() == 0) return {};
  }
  if (project_) {
    SLUICE_ASSIGN_OR_RETURN(batch, Project(batch));
  }
  return out.Emit(std::move(batch));
}

Result<Batch> ProjectFilterOperator::Project(const Batch& batch) {
  arrow::ArrayVector columns;
  columns.reserve(projection_.size());
  for (const expr::ExprPtr& expression : projection_) {
    SLUICE_ASSIGN_OR_RETURN(std::shared_ptr<arrow::Array> column,
                            expr::EvaluateToArray(*expression, *batch.rows(), eval_));
    columns.push_back(std::move(column));
  }
  return Batch(arrow::RecordBatch::Make(output_schema_, batch.row_count(), std::move(columns)),
               batch.row_kinds());
}

Status ProjectFilterOperator::ProcessWatermark(int64_t millis, Output& out) {
  eval_.watermark_ms = millis;
  return out.EmitWatermark(millis);
}

}  // namespace sluice::runtime
