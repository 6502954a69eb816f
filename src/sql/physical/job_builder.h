// Turns optimised logical plans into one job graph: vertices, exchanges, parallelism, stable
// operator ids.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/options.h"
#include "connectors/connector.h"
#include "runtime/job_graph.h"
#include "runtime/operators/result_queue.h"
#include "sql/logical/plan.h"

namespace sluice::sql {

/// What building depends on. Borrowed; must outlive the builder and the job.
struct PhysicalContext {
  connectors::ConnectorContext connector;
  expr::EvalContext eval;
  int parallelism = 1;
};

/// Row kinds that `plan` produces, by node (changelog inference).
RowKindSet KindsOf(const PlanNode& plan, bool streaming);

/// Refuses what cannot run in this mode: ORDER BY on other than time in streaming, unbounded
/// sources in batch, sinks that cannot take the plan's changes (naming the first node that makes
/// them).
Status CheckQueryPlan(const PlanNode& plan, bool streaming);

/// True when every scan below is bounded. Scans must be prepared.
bool IsBounded(const PlanNode& plan);

/// True when a scan below declares its watermark on a TIMESTAMP_LTZ column.
bool HasLtzWatermark(const PlanNode& plan);

/// The first table below that never ends and declares no watermark; "" when there is none.
std::string TableWithoutWatermark(const PlanNode& plan);

class JobBuilder {
 public:
  explicit JobBuilder(const PhysicalContext& context) : context_(context) {}

  /// Adds an INSERT whose query is optimised and whose scans are prepared. Call ShareScans before
  /// when there are several.
  Status AddInsert(const InsertPlan& insert);
  /// Adds a query whose rows go to `queue`.
  Status AddQuery(const PlanPtr& query, std::shared_ptr<runtime::ResultQueue> queue);

  runtime::JobGraph TakeGraph() { return std::move(graph_); }
  bool needs_checkpoints() const { return needs_checkpoints_; }
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  /// Rows on their way: the vertex whose chain makes them.
  struct Stream {
    int vertex = -1;
    bool open = true;  // Operators may still be appended to the chain.
  };

  Result<Stream> Build(const PlanPtr& plan);
  Result<Stream> BuildScan(const PlanPtr& plan);
  /// Takes repeated changes out behind a scan, by primary key.
  Stream Normalize(const ScanNode& scan, Stream stream);
  Result<Stream> BuildValues(const ValuesNode& values);
  Result<Stream> BuildProjectFilter(const PlanPtr& plan);
  Result<Stream> BuildAggregate(AggregateNode& aggregate);
  Result<Stream> BuildSort(SortNode& sort);
  Result<Stream> BuildLimit(LimitNode& limit);
  Result<Stream> BuildUnion(UnionNode& node);
  Result<Stream> BuildJoin(JoinNode& join);
  Result<Stream> BuildReplicate(PlanNode& node);
  /// The stream with those of `keys` that are no columns put behind its columns, as columns.
  Stream WithKeyColumns(Stream stream, std::vector<expr::ExprPtr>* keys, Schema* schema);
  /// What the configuration wants to be checked or cut before a sink gets it.
  Stream EnforceColumns(const InsertPlan& insert, Stream stream);
  Status AddSinkStages(Stream stream, connectors::SinkPlan plan);

  int ParallelismOf(const Stream& stream) const {
    return graph_.vertices[static_cast<size_t>(stream.vertex)].parallelism;
  }
  int AddVertex(std::string name, int parallelism);
  void Connect(int from, int to, runtime::Exchange exchange, std::vector<int> keys = {},
               int input_index = 0);
  /// Appends to the chain, or opens a vertex behind it when the stream is shared.
  Stream Append(Stream stream, runtime::OperatorSpec spec);
  /// A new vertex with one operator behind `stream`.
  Stream AppendBehind(Stream stream, runtime::Exchange exchange, std::vector<int> keys,
                      int parallelism, runtime::OperatorSpec spec);
  std::string NextId(const std::string& role);
  runtime::OperatorSpec ProjectSpec(expr::ExprPtr condition, bool project,
                                    std::vector<expr::ExprPtr> expressions, const Schema& output);

  PhysicalContext context_;
  runtime::JobGraph graph_;
  std::map<const PlanNode*, Stream> built_;  // Shared subplans are built once.
  std::map<std::string, int> ids_;
  std::string scope_;  // "sink:c.d.t" or "query": makes ids of inner operators stable.
  bool needs_checkpoints_ = false;
  std::vector<std::string> warnings_;
};

/// The positions of expressions that are all plain columns.
std::vector<int> ColumnIndices(const std::vector<expr::ExprPtr>& columns);

/// Makes scans of one table that several plans read into one shared scan with the union of their
/// columns (statement sets).
void ShareScans(std::vector<PlanPtr*> plans);

}  // namespace sluice::sql
