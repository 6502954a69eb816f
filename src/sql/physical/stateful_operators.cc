// Aggregates and sorts in the job graph: where rows must come together.
#include "expr/builder.h"
#include "runtime/operators/hash_aggregate.h"
#include "runtime/operators/sort.h"
#include "sql/physical/job_builder.h"

namespace sluice::sql {

using runtime::Exchange;
using runtime::OperatorSpec;

JobBuilder::Stream JobBuilder::WithKeyColumns(Stream stream, std::vector<expr::ExprPtr>* keys,
                                              Schema* schema) {
  std::vector<Column> columns = schema->columns();
  std::vector<expr::ExprPtr> expressions;
  for (int i = 0; i < schema->column_count(); ++i)
    expressions.push_back(expr::MakeColumn(i, schema->column(i).type));
  for (expr::ExprPtr& key : *keys) {
    if (key->kind() == expr::ExprKind::kColumn) continue;
    columns.push_back({"$key" + std::to_string(columns.size()), key->type()});
    expressions.push_back(
        std::exchange(key, expr::MakeColumn(static_cast<int>(columns.size()) - 1, key->type())));
  }
  if (static_cast<int>(columns.size()) == schema->column_count()) return stream;
  *schema = Schema(std::move(columns));
  return Append(stream, ProjectSpec(nullptr, true, std::move(expressions), *schema));
}

std::vector<int> ColumnIndices(const std::vector<expr::ExprPtr>& columns) {
  std::vector<int> indices;
  for (const expr::ExprPtr& column : columns) {
    indices.push_back(static_cast<const expr::ColumnExpr&>(*column).index());
  }
  return indices;
}

Result<JobBuilder::Stream> JobBuilder::BuildAggregate(AggregateNode& aggregate) {
  SLUICE_ASSIGN_OR_RETURN(Stream stream, Build(aggregate.inputs[0]));
  runtime::AggregateSpec settings;
  settings.keys = aggregate.keys;
  // The exchange routes by columns.
  Schema input = aggregate.inputs[0]->schema;
  stream = WithKeyColumns(stream, &settings.keys, &input);
  settings.calls = aggregate.calls;
  settings.output = aggregate.schema;
  settings.streaming = context_.connector.streaming;
  settings.input_changes =
      !KindsOf(*aggregate.inputs[0], context_.connector.streaming).insert_only();
  for (const expr::AggregateCall& call : settings.calls) {  // Refused here, not when the job runs.
    SLUICE_RETURN_NOT_OK(
        expr::MakeAccumulator(call, arrow::default_memory_pool(), settings.input_changes).status());
  }
  settings.eval = {context_.eval.session_zone, context_.eval.fixed_now_ms};
  OperatorSpec spec;
  spec.id = NextId("aggregate");
  spec.name = "GroupAggregate";
  spec.make = [settings](int) -> Result<std::unique_ptr<runtime::Operator>> {
    return std::unique_ptr<runtime::Operator>(
        std::make_unique<runtime::HashAggregateOperator>(settings));
  };
  if (ParallelismOf(stream) == 1) return Append(stream, std::move(spec));
  if (settings.keys.empty()) return AppendBehind(stream, Exchange::kGather, {}, 1, std::move(spec));
  return AppendBehind(stream, Exchange::kHash, ColumnIndices(settings.keys), ParallelismOf(stream),
                      std::move(spec));
}

Result<JobBuilder::Stream> JobBuilder::BuildSort(SortNode& sort) {
  SLUICE_ASSIGN_OR_RETURN(const Stream stream, Build(sort.inputs[0]));
  runtime::SortSpec settings;
  for (const SortKey& key : sort.keys) {
    settings.keys.push_back({key.expression, !key.ascending, key.nulls_first});
  }
  settings.limit_rows = sort.limit;
  settings.offset_rows = sort.offset;
  settings.schema = sort.schema;
  settings.eval = {context_.eval.session_zone, context_.eval.fixed_now_ms};
  settings.emit_changes = context_.connector.streaming && sort.limit.has_value();
  settings.input_changes = !KindsOf(*sort.inputs[0], context_.connector.streaming).insert_only();
  OperatorSpec spec;
  spec.id = NextId("sort");
  spec.name = "Sort";
  spec.make = [settings](int) -> Result<std::unique_ptr<runtime::Operator>> {
    return std::unique_ptr<runtime::Operator>(std::make_unique<runtime::SortOperator>(settings));
  };
  if (ParallelismOf(stream) == 1) return Append(stream, std::move(spec));
  return AppendBehind(stream, Exchange::kGather, {}, 1, std::move(spec));
}

}  // namespace sluice::sql
