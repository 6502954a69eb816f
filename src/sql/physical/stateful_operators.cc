// Aggregates and sorts in the job graph: where rows must come together.
#include <algorithm>
#include <array>
#include <string_view>

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

namespace {

/// True when groups can be aggregated where the rows are and merged behind the exchange.
bool HasPartialState(const expr::AggregateCall& call) {
  constexpr std::array<std::string_view, 5> kNames = {"COUNT", "SUM", "AVG", "MIN", "MAX"};
  return !call.distinct && std::find(kNames.begin(), kNames.end(), call.name) != kNames.end();
}

OperatorSpec AggregateOperator(std::string id, std::string name, runtime::AggregateSpec settings) {
  OperatorSpec spec;
  spec.id = std::move(id);
  spec.name = std::move(name);
  spec.make = [settings = std::move(settings)](int) -> Result<std::unique_ptr<runtime::Operator>> {
    return std::unique_ptr<runtime::Operator>(
        std::make_unique<runtime::HashAggregateOperator>(settings));
  };
  return spec;
}

}  // namespace

Result<JobBuilder::Stream> JobBuilder::BuildAggregate(AggregateNode& aggregate) {
  SLUICE_ASSIGN_OR_RETURN(Stream stream, Build(aggregate.inputs[0]));
  runtime::AggregateSpec settings;
  settings.keys = aggregate.keys;
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
  const int parallelism = ParallelismOf(stream);
  std::vector<int> key_columns;  // By which the exchange routes.
  if (const ScanNode* scan = aggregate.inputs[0]->If<ScanNode>(); scan && scan->aggregates) {
    settings.phase = runtime::AggregatePhase::kFinal;  // The source has done the other part.
    for (size_t i = 0; i < settings.keys.size(); ++i) key_columns.push_back(static_cast<int>(i));
  } else if (parallelism > 1 && !settings.streaming && !settings.input_changes &&
             std::all_of(settings.calls.begin(), settings.calls.end(), HasPartialState)) {
    runtime::AggregateSpec partial = settings;
    partial.phase = runtime::AggregatePhase::kPartial;
    settings.phase = runtime::AggregatePhase::kFinal;
    stream = Append(stream, AggregateOperator(NextId("aggregate-partial"), "LocalGroupAggregate",
                                              std::move(partial)));
    for (size_t i = 0; i < settings.keys.size(); ++i) key_columns.push_back(static_cast<int>(i));
  } else {
    Schema input = aggregate.inputs[0]->schema;
    stream = WithKeyColumns(stream, &settings.keys, &input);
    key_columns = ColumnIndices(settings.keys);
  }
  const bool global = settings.keys.empty();
  OperatorSpec spec = AggregateOperator(NextId("aggregate"), "GroupAggregate", std::move(settings));
  if (parallelism == 1) return Append(stream, std::move(spec));
  if (global) return AppendBehind(stream, Exchange::kGather, {}, 1, std::move(spec));
  return AppendBehind(stream, Exchange::kHash, std::move(key_columns), parallelism,
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
