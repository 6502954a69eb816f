#include "sql/physical/job_builder.h"

#include <algorithm>

#include "common/text.h"
#include "expr/builder.h"
#include "runtime/operators/changelog_normalize.h"
#include "runtime/operators/limit.h"
#include "runtime/operators/not_null_enforcer.h"
#include "runtime/operators/project_filter.h"
#include "runtime/operators/type_length_enforcer.h"
#include "runtime/operators/values_source.h"
#include "sql/physical/changelog.h"
#include "sql/physical/scan_source.h"
#include "sql/physical/table_access.h"
#include "types/arrow_status.h"

namespace sluice::sql {

using runtime::Exchange;
using runtime::OperatorSpec;

int JobBuilder::AddVertex(std::string name, int parallelism) {
  runtime::Vertex vertex;
  vertex.name = std::move(name);
  vertex.parallelism = parallelism;
  graph_.vertices.push_back(std::move(vertex));
  return static_cast<int>(graph_.vertices.size()) - 1;
}

void JobBuilder::Connect(int from, int to, Exchange exchange, std::vector<int> keys,
                         int input_index) {
  graph_.edges.push_back({from, to, exchange, std::move(keys), input_index});
}

JobBuilder::Stream JobBuilder::Append(Stream stream, OperatorSpec spec) {
  if (!stream.open)
    return AppendBehind(stream, Exchange::kForward, {}, ParallelismOf(stream), std::move(spec));
  graph_.vertices[static_cast<size_t>(stream.vertex)].chain.push_back(std::move(spec));
  return stream;
}

JobBuilder::Stream JobBuilder::AppendBehind(Stream stream, Exchange exchange, std::vector<int> keys,
                                            int parallelism, OperatorSpec spec) {
  if (exchange == Exchange::kForward && parallelism != ParallelismOf(stream))
    exchange = Exchange::kRebalance;
  const int vertex = AddVertex(spec.name, parallelism);
  Connect(stream.vertex, vertex, exchange, std::move(keys));
  graph_.vertices[static_cast<size_t>(vertex)].chain.push_back(std::move(spec));
  return {vertex, true};
}

std::string JobBuilder::NextId(const std::string& role) {
  const std::string id = scope_.empty() ? role : scope_ + "/" + role;
  const int number = ++ids_[id];
  return number == 1 ? id : id + "#" + std::to_string(number);
}

Result<JobBuilder::Stream> JobBuilder::Build(const PlanPtr& plan) {
  if (const auto it = built_.find(plan.get()); it != built_.end()) {
    it->second.open = false;
    return it->second;
  }
  switch (plan->kind) {
    case PlanKind::kScan:
      return BuildScan(plan);
    case PlanKind::kValues:
      return BuildValues(plan->As<ValuesNode>());
    case PlanKind::kProject:
    case PlanKind::kFilter:
      return BuildProjectFilter(plan);
    case PlanKind::kAggregate:
      return BuildAggregate(plan->As<AggregateNode>());
    case PlanKind::kSort:
      return BuildSort(plan->As<SortNode>());
    case PlanKind::kLimit:
      return BuildLimit(plan->As<LimitNode>());
    case PlanKind::kUnion:
      return BuildUnion(plan->As<UnionNode>());
    case PlanKind::kJoin:
      return BuildJoin(plan->As<JoinNode>());
    case PlanKind::kReplicate:
      return BuildReplicate(*plan);
  }
  return Status::Internal("unknown plan node");
}

Result<JobBuilder::Stream> JobBuilder::BuildScan(const PlanPtr& plan) {
  ScanNode& scan = plan->As<ScanNode>();
  SLUICE_RETURN_NOT_OK(PrepareScan(&scan, context_.connector, context_.eval));
  int parallelism = context_.parallelism;
  if (const auto it = scan.options.find("scan.parallelism"); it != scan.options.end()) {
    parallelism = static_cast<int>(ParseInt64(it->second).value_or(parallelism));
  }
  const int vertex = AddVertex("Source: " + scan.path.object, parallelism);
  SLUICE_ASSIGN_OR_RETURN(graph_.vertices[static_cast<size_t>(vertex)].make_source,
                          MakeScanSource(scan, context_.connector, context_.eval));
  graph_.vertices[static_cast<size_t>(vertex)].keeps_order =
      !scan.source->row_kinds().insert_only();
  const std::string scope =
      std::exchange(scope_, "");  // Sources are addressed by their table alone.
  graph_.vertices[static_cast<size_t>(vertex)].source_id = NextId("source:" + scan.path.ToString());
  scope_ = scope;
  Stream stream{vertex, true};
  if (scan.normalize && !scan.source->row_kinds().insert_only()) stream = Normalize(scan, stream);
  // A plan that several inserts read must not grow operators of one of them.
  stream.open = plan.use_count() <= 1;
  built_[plan.get()] = stream;
  return stream;
}

JobBuilder::Stream JobBuilder::Normalize(const ScanNode& scan, Stream stream) {
  const std::vector<int> keys = scan.KeyColumns();
  OperatorSpec spec;
  spec.id = NextId("normalize:" + scan.path.ToString());
  spec.name = "ChangelogNormalize";
  spec.make = [keys, schema = scan.schema](int) -> Result<std::unique_ptr<runtime::Operator>> {
    return std::unique_ptr<runtime::Operator>(
        std::make_unique<runtime::ChangelogNormalizeOperator>(keys, schema));
  };
  if (ParallelismOf(stream) == 1) return Append(stream, std::move(spec));
  return AppendBehind(stream, Exchange::kHash, keys, ParallelismOf(stream), std::move(spec));
}

Result<JobBuilder::Stream> JobBuilder::BuildValues(const ValuesNode& values) {
  const std::shared_ptr<arrow::Schema> schema = values.schema.ToArrow();
  const std::shared_ptr<arrow::RecordBatch> one_row =
      arrow::RecordBatch::Make(arrow::schema({}), 1, arrow::ArrayVector{});
  std::vector<Batch> batches;
  for (const std::vector<expr::ExprPtr>& row : values.rows) {
    arrow::ArrayVector columns;
    for (const expr::ExprPtr& value : row) {
      SLUICE_ASSIGN_OR_RETURN(std::shared_ptr<arrow::Array> column,
                              expr::EvaluateToArray(*value, *one_row, context_.eval));
      columns.push_back(std::move(column));
    }
    batches.emplace_back(arrow::RecordBatch::Make(schema, 1, std::move(columns)));
  }
  if (batches.size() > 1) {
    std::vector<std::shared_ptr<arrow::RecordBatch>> rows;
    for (const Batch& batch : batches) rows.push_back(batch.rows());
    SLUICE_ASSIGN_ARROW(std::shared_ptr<arrow::RecordBatch> all,
                        arrow::ConcatenateRecordBatches(rows));
    batches.assign(1, Batch(std::move(all)));
  }
  const int vertex = AddVertex("Source: Values", 1);
  graph_.vertices[static_cast<size_t>(vertex)].source_id = NextId("values");
  graph_.vertices[static_cast<size_t>(vertex)].make_source =
      [batches]() -> Result<std::shared_ptr<runtime::Source>> {
    return std::shared_ptr<runtime::Source>(std::make_shared<runtime::ValuesSource>(batches));
  };
  return Stream{vertex, true};
}

OperatorSpec JobBuilder::ProjectSpec(expr::ExprPtr condition, bool project,
                                     std::vector<expr::ExprPtr> expressions, const Schema& output) {
  OperatorSpec spec;
  spec.id = NextId("calc");
  spec.name = "Calc";
  const runtime::EvalSettings settings{context_.eval.session_zone, context_.eval.fixed_now_ms};
  spec.make = [condition, project, expressions, output,
               settings](int) -> Result<std::unique_ptr<runtime::Operator>> {
    return std::unique_ptr<runtime::Operator>(std::make_unique<runtime::ProjectFilterOperator>(
        condition, project, expressions, output, settings));
  };
  return spec;
}

Result<JobBuilder::Stream> JobBuilder::BuildProjectFilter(const PlanPtr& plan) {
  // A projection right above a filter is one operator.
  const ProjectNode* project = plan->If<ProjectNode>();
  const PlanPtr& below = project ? plan->inputs[0] : plan;
  const FilterNode* filter = below->If<FilterNode>();
  const PlanPtr& input = filter ? below->inputs[0] : below;
  SLUICE_ASSIGN_OR_RETURN(const Stream stream, Build(input));
  return Append(stream, ProjectSpec(filter ? filter->condition : nullptr, project != nullptr,
                                    project ? project->expressions : std::vector<expr::ExprPtr>(),
                                    plan->schema));
}

namespace {

/// The sort below `node`, with only projections between, or null.
SortNode* SortBelow(PlanNode* node) {
  while (node->kind == PlanKind::kProject) node = node->inputs[0].get();
  return node->If<SortNode>();
}

}  // namespace

Result<JobBuilder::Stream> JobBuilder::BuildLimit(LimitNode& limit) {
  if (SortNode* sort = SortBelow(limit.inputs[0].get()); sort != nullptr && limit.limit) {
    // Top-N: the sort keeps just these rows, and in streaming takes them back when others come
    // first.
    sort->limit = limit.limit;
    sort->offset = limit.offset;
    return Build(limit.inputs[0]);
  }
  if (context_.connector.streaming && !KindsOf(*limit.inputs[0], true).insert_only()) {
    // Rows may be taken back: those behind the limit are kept, in order of arrival.
    SortNode arrival;
    arrival.schema = limit.schema;
    arrival.inputs = limit.inputs;
    arrival.offset = limit.offset;
    arrival.limit = limit.limit.value_or(INT64_MAX - limit.offset);
    return BuildSort(arrival);
  }
  SLUICE_ASSIGN_OR_RETURN(Stream stream, Build(limit.inputs[0]));
  OperatorSpec spec;
  spec.id = NextId("limit");
  spec.name = "Limit";
  spec.make = [rows = limit.limit.value_or(-1),
               offset = limit.offset](int) -> Result<std::unique_ptr<runtime::Operator>> {
    return std::unique_ptr<runtime::Operator>(
        std::make_unique<runtime::LimitOperator>(offset, rows));
  };
  if (ParallelismOf(stream) == 1) return Append(stream, std::move(spec));
  return AppendBehind(stream, Exchange::kGather, {}, 1, std::move(spec));
}

Result<JobBuilder::Stream> JobBuilder::BuildUnion(UnionNode& node) {
  std::vector<Stream> inputs;
  std::vector<Exchange> spreads;
  int parallelism = 1;
  for (const PlanPtr& input : node.inputs) {
    SLUICE_ASSIGN_OR_RETURN(const Stream stream, Build(input));
    parallelism = std::max(parallelism, ParallelismOf(stream));
    inputs.push_back(stream);
    // Changes must not overtake each other.
    const bool changes = !KindsOf(*input, context_.connector.streaming).insert_only();
    spreads.push_back(changes ? Exchange::kGather : Exchange::kRebalance);
  }
  const int vertex = AddVertex("Union", parallelism);
  for (size_t i = 0; i < inputs.size(); ++i) {
    Connect(inputs[i].vertex, vertex,
            ParallelismOf(inputs[i]) == parallelism ? Exchange::kForward : spreads[i]);
  }
  return Stream{vertex, true};
}

namespace {

/// Sink columns that are NOT NULL. The query's type is no proof: LPAD and decimal arithmetic, for
/// example, are typed NOT NULL as in Flink and can give NULL all the same.
std::vector<int> NotNullColumns(const InsertPlan& insert) {
  const Schema sink = insert.table->SinkSchema();
  std::vector<int> columns;
  for (int i = 0; i < sink.column_count(); ++i) {
    if (!sink.column(i).type.nullable()) columns.push_back(i);
  }
  return columns;
}

std::string_view Configured(const PhysicalContext& context, std::string_view key,
                            std::string_view unless) {
  if (context.connector.configuration == nullptr) return unless;
  const auto it = context.connector.configuration->find(key);
  return it == context.connector.configuration->end() ? unless : std::string_view(it->second);
}

/// A sink with a parallelism of its own gets the changes of one key in one subtask, or is refused.
Status KeepOrderOfChanges(const InsertPlan& insert, const RowKindSet& kinds, int input_parallelism,
                          connectors::SinkPlan* plan) {
  if (kinds.insert_only() || plan->stages.empty()) return {};
  connectors::SinkPlan::Stage& stage = plan->stages.front();
  const int wanted = stage.parallelism > 0 ? stage.parallelism : input_parallelism;
  if (wanted == input_parallelism || plan->exchange == Exchange::kHash) return {};
  if (wanted == 1) {
    plan->exchange = Exchange::kGather;
    return {};
  }
  if (!insert.table->primary_key) {
    return Status::Validation(
        "The sink for table '" + insert.path.ToString() + "' has a configured parallelism of " +
        std::to_string(wanted) + ", while the input parallelism is " +
        std::to_string(input_parallelism) +
        ". Since the configured parallelism is different from the input's parallelism and the "
        "changelog mode contains [" +
        KindsText(kinds) +
        "], which is not INSERT_ONLY mode, primary key is required but no primary key is found. "
        "Declare a PRIMARY KEY, or leave 'sink.parallelism' out.");
  }
  plan->exchange = Exchange::kHash;
  for (const std::string& name : insert.table->primary_key->columns) {
    plan->key_columns.push_back(insert.table->PhysicalSchema().IndexOf(name));
  }
  return {};
}

/// Sink schema order is declared order; connectors want physical columns first, then metadata.
std::vector<int> PhysicalThenMetadata(const catalog::CatalogTable& table,
                                      std::vector<std::string>* metadata_keys) {
  std::vector<int> physical;
  std::vector<int> metadata;
  int index = 0;
  for (const catalog::TableColumn& column : table.columns) {
    if (!column.persisted()) continue;
    if (column.kind == catalog::ColumnKind::kPhysical) {
      physical.push_back(index);
    } else {
      metadata.push_back(index);
      metadata_keys->push_back(column.key());
    }
    ++index;
  }
  physical.insert(physical.end(), metadata.begin(), metadata.end());
  return physical;
}

Status CheckSinkCan(const InsertPlan& insert, const connectors::TableSink& sink, bool streaming) {
  if (insert.overwrite && !sink.supports_overwrite()) {
    return Status::Validation(
        "INSERT OVERWRITE requires that the underlying DynamicTableSink of table '" +
        insert.path.ToString() + "' implements the SupportsOverwrite interface.");
  }
  if (insert.overwrite && streaming) {
    return Status::Validation(
        "Streaming mode not support overwrite. Run the statement in batch mode: "
        "SET 'execution.runtime-mode' = 'batch'.");
  }
  if (!insert.static_partition.empty() && !sink.supports_partitioning()) {
    return Status::Validation(
        "INSERT INTO with a PARTITION clause requires that the sink of table '" +
        insert.path.ToString() + "' supports partitions.");
  }
  return {};
}

}  // namespace

Status JobBuilder::AddInsert(const InsertPlan& insert) {
  SLUICE_RETURN_NOT_OK(CheckQueryPlan(*insert.query, context_.connector.streaming));
  SLUICE_ASSIGN_OR_RETURN(
      const std::unique_ptr<connectors::TableSink> sink,
      OpenTableSink(insert.path, *insert.table, insert.options, context_.connector));
  scope_.clear();
  const std::string sink_id = NextId("sink:" + insert.path.ToString());
  scope_ = sink_id;
  SLUICE_ASSIGN_OR_RETURN(Stream stream, Build(insert.query));
  const RowKindSet kinds = KindsOf(*insert.query, context_.connector.streaming);
  SLUICE_RETURN_NOT_OK(CheckSinkTakes(*insert.query, context_.connector.streaming,
                                      sink->accepted_kinds(), insert.path));
  SLUICE_RETURN_NOT_OK(CheckSinkCan(insert, *sink, context_.connector.streaming));
  stream = EnforceColumns(insert, stream);
  connectors::SinkRequest request;
  const std::vector<int> order = PhysicalThenMetadata(*insert.table, &request.metadata_keys);
  if (!std::is_sorted(order.begin(), order.end())) {
    std::vector<expr::ExprPtr> expressions;
    for (const int index : order) {
      expressions.push_back(expr::MakeColumn(index, insert.query->schema.column(index).type));
    }
    stream = Append(stream, ProjectSpec(nullptr, true, std::move(expressions),
                                        insert.query->schema.Select(order)));
  }
  request.overwrite = insert.overwrite;
  request.static_partition = insert.static_partition;
  request.input_kinds = kinds;
  request.input_bounded = IsBounded(*insert.query);
  request.watermark_on_ltz = HasLtzWatermark(*insert.query);
  request.table_without_watermark = TableWithoutWatermark(*insert.query);
  request.default_parallelism = ParallelismOf(stream);
  request.operator_id = sink_id;
  SLUICE_ASSIGN_OR_RETURN(connectors::SinkPlan plan, sink->MakePlan(request));
  SLUICE_RETURN_NOT_OK(KeepOrderOfChanges(insert, kinds, ParallelismOf(stream), &plan));
  needs_checkpoints_ = needs_checkpoints_ || plan.needs_checkpoints;
  warnings_.insert(warnings_.end(), plan.warnings.begin(), plan.warnings.end());
  return AddSinkStages(stream, std::move(plan));
}

JobBuilder::Stream JobBuilder::EnforceColumns(const InsertPlan& insert, Stream stream) {
  const std::vector<int> not_null = NotNullColumns(insert);
  if (!not_null.empty()) {
    const bool drop = EqualsIgnoreCaseAscii(
        Configured(context_, "table.exec.sink.not-null-enforcer", "ERROR"), "DROP");
    OperatorSpec spec;
    spec.id = NextId("not-null");
    spec.name = "NotNullEnforcer";
    spec.make = [not_null, schema = insert.query->schema,
                 drop](int) -> Result<std::unique_ptr<runtime::Operator>> {
      return std::unique_ptr<runtime::Operator>(
          std::make_unique<runtime::NotNullEnforcer>(not_null, schema, drop));
    };
    stream = Append(stream, std::move(spec));
  }
  const std::string_view lengths =
      Configured(context_, "table.exec.sink.type-length-enforcer", "IGNORE");
  if (!EqualsIgnoreCaseAscii(lengths, "IGNORE") &&
      runtime::TypeLengthEnforcer::HasWork(insert.table->SinkSchema())) {
    OperatorSpec spec;
    spec.id = NextId("type-length");
    spec.name = "TypeLengthEnforcer";
    spec.make = [schema = insert.table->SinkSchema(),
                 trim = EqualsIgnoreCaseAscii(lengths, "TRIM_PAD")](
                    int) -> Result<std::unique_ptr<runtime::Operator>> {
      return std::unique_ptr<runtime::Operator>(
          std::make_unique<runtime::TypeLengthEnforcer>(schema, trim));
    };
    stream = Append(stream, std::move(spec));
  }
  return stream;
}

Status JobBuilder::AddSinkStages(Stream stream, connectors::SinkPlan plan) {
  for (size_t i = 0; i < plan.stages.size(); ++i) {
    connectors::SinkPlan::Stage& stage = plan.stages[i];
    Exchange exchange = stage.exchange;
    std::vector<int> keys = stage.key_columns;
    if (i == 0 && plan.exchange != Exchange::kForward) {
      exchange = plan.exchange;
      keys = plan.key_columns;
    }
    const int parallelism = exchange == Exchange::kGather ? 1
                            : stage.parallelism > 0       ? stage.parallelism
                                                          : ParallelismOf(stream);
    const bool fits = exchange == Exchange::kForward ||
                      (exchange == Exchange::kGather && ParallelismOf(stream) == 1);
    if (fits && parallelism == ParallelismOf(stream)) {
      stream = Append(stream, std::move(stage.operator_spec));
    } else {
      stream = AppendBehind(stream, exchange, std::move(keys), parallelism,
                            std::move(stage.operator_spec));
    }
  }
  return {};
}

Status JobBuilder::AddQuery(const PlanPtr& query, std::shared_ptr<runtime::ResultQueue> queue) {
  SLUICE_RETURN_NOT_OK(CheckQueryPlan(*query, context_.connector.streaming));
  scope_ = "query";
  SLUICE_ASSIGN_OR_RETURN(Stream stream, Build(query));
  OperatorSpec spec;
  spec.id = NextId("collect");
  spec.name = "Collect";
  spec.make = [queue](int) -> Result<std::unique_ptr<runtime::Operator>> {
    return std::unique_ptr<runtime::Operator>(std::make_unique<runtime::CollectOperator>(queue));
  };
  if (ParallelismOf(stream) == 1) {
    Append(stream, std::move(spec));
  } else {
    AppendBehind(stream, Exchange::kGather, {}, 1, std::move(spec));
  }
  return {};
}

}  // namespace sluice::sql
