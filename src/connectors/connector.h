// What a connector is to the planner: one entry with its options and the makers of its table
// sources and sinks. A connector never parses SQL; the planner never opens a file: it asks these
// objects.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <arrow/memory_pool.h>

#include "common/clock.h"
#include "common/options.h"
#include "common/result.h"
#include "expr/aggregate.h"
#include "expr/expr.h"
#include "fs/file_system.h"
#include "runtime/job_graph.h"
#include "runtime/source.h"
#include "types/batch.h"
#include "types/schema.h"
#include "types/time_zone.h"

namespace sluice::connectors {

/// A metadata column that a connector offers.
struct MetadataColumn {
  std::string key;
  SqlType type;
  bool readable = true;
  bool writable = false;
};

/// A table as a connector sees it: resolved types, no expressions.
struct TableInfo {
  std::string identifier;  // "default_catalog.default_database.t", for messages.
  Schema physical;         // Physical columns in declared order, partition columns included.
  std::vector<std::string> partition_keys;
  std::vector<std::string> primary_key;
  OptionMap options;  // As written in WITH, hints applied; "connector" included.
};

struct ConnectorContext {
  TimeZone session_zone;
  bool streaming = true;  // execution.runtime-mode.
  fs::FileSystems* file_systems = &fs::FileSystems::Default();
  const Clock* clock = &Clock::System();
  /// Session configuration (SET), for keys that reach into connectors.
  const OptionMap* configuration = nullptr;
};

/// Partition values in the order of the table's partition keys; nullopt is NULL. Texts are the
/// decoded directory texts.
using PartitionValues = std::vector<std::optional<std::string>>;

/// Aggregates over all rows of a table by partition, for a source that may know them without the
/// rows.
struct SourceAggregates {
  std::vector<int> keys;  // Partition columns, as indices into TableInfo::physical.
  std::vector<expr::AggregateCall> calls;  // Over columns of TableInfo::physical.
};

/// A table about to be read. The planner applies push-downs in the order of the methods, then calls
/// MakeSource. Produced columns are the projected physical ones (partition columns included)
/// followed by the metadata columns, in the order applied.
class TableSource {
 public:
  virtual ~TableSource() = default;
  virtual bool bounded() const = 0;
  virtual RowKindSet row_kinds() const { return RowKindSet::InsertOnly(); }

  /// Physical columns wanted (indices into TableInfo::physical) and metadata keys wanted.
  virtual Status ApplyProjection(std::vector<int> columns,
                                 std::vector<std::string> metadata_keys) = 0;

  /// The partitions that exist, nullopt when the table is not partitioned or cannot be listed. May
  /// do I/O.
  virtual Result<std::optional<std::vector<PartitionValues>>> ListPartitions() {
    return std::optional<std::vector<PartitionValues>>();
  }
  /// The same; partitions for which `predicate` (over partition key columns, index = key position)
  /// is not true may be left out, with all that listing them would cost.
  virtual Result<std::optional<std::vector<PartitionValues>>> ListPartitionsFor(
      const expr::ExprPtr& predicate) {
    (void)predicate;
    return ListPartitions();
  }
  /// Typed arrays of `partitions`, one column a partition key, so that the planner can evaluate
  /// predicates. A text that does not fit its type makes the row NULL in `*bad` sense: see
  /// implementation notes in filesystem/partition/.
  virtual Result<std::shared_ptr<arrow::RecordBatch>> PartitionRows(
      const std::vector<PartitionValues>& partitions) {
    (void)partitions;
    return Status::Internal("table source without partitions");
  }
  /// Read only these partitions; `predicate` (over partition key columns, index = key position; may
  /// be null) also decides about partitions that appear later.
  virtual Status ApplyPartitions(std::vector<PartitionValues> partitions, expr::ExprPtr predicate) {
    (void)partitions, (void)predicate;
    return Status::Internal("table source without partitions");
  }
  /// Conjuncts over TableInfo::physical indices that the reader may use to skip data; all stay in
  /// the plan. Returns those it uses, for EXPLAIN.
  virtual std::vector<expr::ExprPtr> ApplyFilters(std::vector<expr::ExprPtr> conjuncts) {
    (void)conjuncts;
    return {};
  }
  /// At most `rows` are needed. Returns true when it helps.
  virtual bool ApplyLimit(int64_t rows) {
    (void)rows;
    return false;
  }

  /// The source makes rows of state instead of the table's: the keys, a state a call
  /// (expr::Accumulator::SaveState), how many rows they stand for; several for a group where it
  /// likes, as runtime::AggregatePhase::kFinal merges them. False: nothing has changed.
  virtual bool ApplyAggregates(const SourceAggregates& aggregates) {
    (void)aggregates;
    return false;
  }
  /// Once they are applied: whether metadata mostly tells them, without rows being read.
  virtual bool metadata_tells_aggregates() const { return false; }

  /// Makes the runtime source. Called once per attempt of the job: must not consume state of this
  /// object.
  virtual Result<std::shared_ptr<runtime::Source>> MakeSource(
      const runtime::SourceRuntimeOptions& options) = 0;
};

/// How an INSERT uses a sink.
struct SinkRequest {
  bool overwrite = false;
  /// Static partition values by key, texts as written (used verbatim for directories); NULL is
  /// refused by the binder.
  std::vector<std::pair<std::string, std::string>> static_partition;
  /// Metadata columns that follow the physical ones in the rows (writable, not VIRTUAL).
  std::vector<std::string> metadata_keys;
  /// Row kinds that the query produces.
  RowKindSet input_kinds;
  bool input_bounded = false;
  /// The watermark of the input is declared on a TIMESTAMP_LTZ column.
  bool watermark_on_ltz = false;
  /// A table of the input that never ends and declares no watermark, so that rows have none.
  std::string table_without_watermark;
  int default_parallelism = 1;
  /// Addresses state: "sink:default_catalog.default_database.t" (+ "#2" for a second INSERT into
  /// the same table).
  std::string operator_id;
};

/// What a sink adds to the job graph.
struct SinkPlan {
  /// Exchange in front of the first vertex (kHash with key columns for
  /// sink.shuffle-by-partition.enable; kForward = whatever fits).
  runtime::Exchange exchange = runtime::Exchange::kForward;
  std::vector<int> key_columns;
  /// First is the writer; each next one is reached by `kGather` or the exchange given. A vertex's
  /// parallelism 0 = that of its input.
  struct Stage {
    runtime::Exchange exchange = runtime::Exchange::kForward;
    std::vector<int> key_columns;
    int parallelism = 0;
    runtime::OperatorSpec operator_spec;
  };
  std::vector<Stage> stages;
  /// True when rows become visible only after a checkpoint: a streaming job then needs an interval.
  bool needs_checkpoints = false;
  std::vector<std::string> warnings;
};

/// A table about to be written.
class TableSink {
 public:
  virtual ~TableSink() = default;
  /// Row kinds that the sink takes.
  virtual RowKindSet accepted_kinds() const = 0;
  virtual bool supports_overwrite() const { return false; }
  virtual bool supports_partitioning() const { return false; }
  virtual Result<SinkPlan> MakePlan(const SinkRequest& request) = 0;
};

struct Connector {
  std::string_view name;
  std::string_view doc;
  /// Keys of the connector itself; format keys are added by the connector's own validation.
  std::span<const OptionSpec> options;
  std::vector<MetadataColumn> (*metadata)(const TableInfo&) = nullptr;
  /// Checks options as far as one table tells (also called at CREATE TABLE). Null sources or sinks:
  /// the connector cannot read or write.
  Status (*validate)(const TableInfo&, const ConnectorContext&) = nullptr;
  Result<std::unique_ptr<TableSource>> (*make_source)(const TableInfo&,
                                                      const ConnectorContext&) = nullptr;
  Result<std::unique_ptr<TableSink>> (*make_sink)(const TableInfo&,
                                                  const ConnectorContext&) = nullptr;
};

/// Options valid for every table (connector, property-version, scan.watermark.*).
std::span<const OptionSpec> GenericTableOptions();
/// 'scan.parallelism', which the planner follows; nullopt when absent. Fails outside 1 to 4096.
Result<std::optional<int>> ReadScanParallelism(const OptionReader& reader);

std::span<const Connector* const> AllConnectors();

/// Fails in Flink's words with the list of known connectors and the nearest name.
Result<const Connector*> FindConnector(std::string_view name);

}  // namespace sluice::connectors
