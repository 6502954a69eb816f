// Aggregates and sorts in the job graph: where rows must come together.
#include "expr/builder.h"
#include "runtime/operators/hash_aggregate.h"
#include "runtime/operators/sort.h"
#include "sql/physical/job_builder.h"

namespace sluice::sql {

using runtime::Exchange;
using runtime::OperatorSpec;

namespace {

bool AllPlainColumns(const std::vector<expr::ExprPtr>& expressions) {
  for (const expr::ExprPtr& e : expressions) {
    if (e->kind() != expr::ExprKind::kColumn) return false;
  }
  return true;
}

std::vector<int> ColumnIndices(const std::vector<expr::ExprPtr>& columns) {
  std::vector<int> indices;
  for (const expr::ExprPtr& column : columns) {
    indices.push_back(static_cast<const expr::ColumnExpr&>(*column).index());
  }
  return indices;
}

}  // namespace

Result<JobBuilder::Stream> JobBuilder::BuildAggregate(AggregateNode& aggregate) {
  SLUICE_ASSIGN_OR_RETURN(Stream stream, Build(aggregate.inputs[0]));
  runtime::AggregateSpec settings;
  settings.keys = aggregate.keys;
  if (!AllPlainColumns(aggregate.keys)) {
    // The exchange routes by columns: computed keys are put behind the input's columns.
    const Schema& input = aggregate.inputs[0]->schema;
    std::vector<Column> columns = input.columns();
    std::vector<expr::ExprPtr> expressions;
    for (int i = 0; i < input.column_count(); ++i)
      expressions.push_back(expr::MakeColumn(i, input.column(i).type));
    for (size_t i = 0; i < aggregate.keys.size(); ++i) {
      settings.keys[i] =
          expr::MakeColumn(static_cast<int>(columns.size()), aggregate.keys[i]->type());
      columns.push_back({"$key" + std::to_string(i), aggregate.keys[i]->type()});
      expressions.push_back(aggregate.keys[i]);
    }
    stream = Append(stream,
                    ProjectSpec(nullptr, true, std::move(expressions), Schema(std::move(columns))));
  }
  settings.calls = aggregate.calls;
  settings.output = aggregate.schema;
  settings.streaming = context_.connector.streaming;
  settings.input_changes =
      !KindsOf(*aggregate.inputs[0], context_.connector.streaming).insert_only();
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
  OperatorSpec spec;
  spec.id = NextId("sort");
  spec.name = "Sort";
  spec.make = [settings](int) -> Result<std::unique_ptr<runtime::Operator>> {
    return std::unique_ptr<runtime::Operator>(std::make_unique<runtime::SortOperator>(settings));
  };
  if (ParallelismOf(stream) == 1) return Append(stream, std::move(spec));
  return AppendBehind(stream, Exchange::kGather, {}, 1, std::move(spec));
}

Result<JobBuilder::Stream> JobBuilder::BuildJoin(JoinNode&) {
  return Status::Unsupported("JOIN is not supported yet.");
}

}  // namespace sluice::sql
