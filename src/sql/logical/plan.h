// The logical plan: what the binder makes, rules rewrite and the physical planner turns into a job
// graph. Nodes are mutable while planning and shared where a subplan is used twice. Expressions are
// bound over the child's columns by position.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <arrow/record_batch.h>

#include "catalog/table.h"
#include "connectors/connector.h"
#include "expr/aggregate.h"
#include "expr/expr.h"
#include "sql/syntax/node.h"
#include "types/batch.h"
#include "types/schema.h"

namespace sluice::sql {

enum class PlanKind {
  kScan,
  kValues,
  kProject,
  kFilter,
  kAggregate,
  kSort,
  kLimit,
  kUnion,
  kJoin,
  kReplicate
};

/// What a column is in event time: travels through projection, filter, UNION ALL.
enum class TimeAttribute { kNone, kRowtime, kProctime };

/// How a scan's columns are made of its connector's; the physical planner's.
struct ScanProduction;

struct PlanNode;
using PlanPtr = std::shared_ptr<PlanNode>;

struct PlanNode {
  virtual ~PlanNode() = default;
  const PlanKind kind;
  Schema schema;                               // Output columns.
  std::vector<TimeAttribute> time_attributes;  // One a column.
  std::vector<PlanPtr> inputs;

  template <typename T>
  T& As() {
    SLUICE_CHECK(kind == T::kKind, "plan node of another kind");
    return static_cast<T&>(*this);
  }
  template <typename T>
  T* If() {
    return kind == T::kKind ? static_cast<T*>(this) : nullptr;
  }

 protected:
  explicit PlanNode(PlanKind k) : kind(k) {}
};

/// A table read. Output = all columns of the table in declared order (physical, metadata,
/// computed): the node hides how they are made. Rules narrow `used` and fill the push-down fields.
struct ScanNode final : PlanNode {
  static constexpr PlanKind kKind = PlanKind::kScan;
  ScanNode() : PlanNode(kKind) {}
  catalog::ObjectPath path;
  std::shared_ptr<const catalog::CatalogTable> table;
  OptionMap options;  // WITH and hints.
  /// Indices into table->columns of the output columns (at first all).
  std::vector<int> columns;
  /// Computed columns and watermark bound over *all* columns of the table by their index in
  /// table->columns; null for the others.
  std::vector<expr::ExprPtr> computed;
  expr::ExprPtr watermark;  // Null without WATERMARK; TIMESTAMP or TIMESTAMP_LTZ.
  int rowtime_column = -1;  // Index in table->columns.
  /// Casts a metadata column from the connector's type to the declared one are added by the
  /// physical planner.

  /// Conjuncts over the output columns that stand above the scan and may be used to skip data.
  std::vector<expr::ExprPtr> pushed_filters;
  std::optional<std::vector<connectors::PartitionValues>>
      partitions;                     // Those left after pruning; nullopt: not pruned.
  expr::ExprPtr partition_predicate;  // Over partition keys by key position.
  std::optional<int64_t> limit;
  /// Changes may come more than once (table.exec.source.cdc-events-duplicate) and the primary key
  /// tells which are the same: repeats are taken out behind the scan, which keeps the key's
  /// columns.
  bool normalize = false;
  /// The connector's object, made by the planner when first needed; its push-downs are applied
  /// once, by the physical planner.
  std::shared_ptr<connectors::TableSource> source;
  std::vector<expr::ExprPtr>
      used_filters;  // Over physical columns: those the connector skips data by.
  bool limit_used = false;
  /// What the source aggregates itself, by partition: it makes rows of state, and only an
  /// AggregateNode that merges them may stand above.
  std::optional<connectors::SourceAggregates> aggregates;
  std::shared_ptr<const ScanProduction> production;  // Made with `source`.

  /// The output columns that are in the table's primary key.
  std::vector<int> KeyColumns() const {
    std::vector<int> keys;
    if (!table->primary_key) return keys;
    for (const std::string& name : table->primary_key->columns) {
      const auto at = std::find(columns.begin(), columns.end(), table->IndexOf(name));
      if (at != columns.end()) keys.push_back(static_cast<int>(at - columns.begin()));
    }
    return keys;
  }
};

/// Constant rows.
struct ValuesNode final : PlanNode {
  static constexpr PlanKind kKind = PlanKind::kValues;
  ValuesNode() : PlanNode(kKind) {}
  /// Row by row, one expression a column, without columns; a SELECT without FROM is one row of no
  /// columns below a ProjectNode.
  std::vector<std::vector<expr::ExprPtr>> rows;
};

struct ProjectNode final : PlanNode {
  static constexpr PlanKind kKind = PlanKind::kProject;
  ProjectNode() : PlanNode(kKind) {}
  std::vector<expr::ExprPtr> expressions;  // One an output column.
};

struct FilterNode final : PlanNode {
  static constexpr PlanKind kKind = PlanKind::kFilter;
  FilterNode() : PlanNode(kKind) {}
  expr::ExprPtr condition;
};

/// Output = group keys, then aggregates. No keys: one row always. SELECT DISTINCT is an aggregate
/// without calls.
struct AggregateNode final : PlanNode {
  static constexpr PlanKind kKind = PlanKind::kAggregate;
  AggregateNode() : PlanNode(kKind) {}
  std::vector<expr::ExprPtr> keys;
  std::vector<expr::AggregateCall> calls;
};

struct SortKey {
  expr::ExprPtr expression;
  bool ascending = true;
  bool nulls_first = true;  // Flink: NULL is smallest.
};

struct SortNode final : PlanNode {
  static constexpr PlanKind kKind = PlanKind::kSort;
  SortNode() : PlanNode(kKind) {}
  std::vector<SortKey> keys;
  std::optional<int64_t> limit;  // Set by a rule when a LimitNode stands right above.
  int64_t offset = 0;
};

struct LimitNode final : PlanNode {
  static constexpr PlanKind kKind = PlanKind::kLimit;
  LimitNode() : PlanNode(kKind) {}
  std::optional<int64_t> limit;
  int64_t offset = 0;
};

/// UNION ALL of inputs with equal column types.
struct UnionNode final : PlanNode {
  static constexpr PlanKind kKind = PlanKind::kUnion;
  UnionNode() : PlanNode(kKind) {}
};

enum class JoinType {
  kInner,
  kLeft,
  kRight,
  kFull,
  kSingle,  // A scalar subquery on the right: kLeft, and more than one right row fails the query.
  kMark,    // IN and EXISTS: whether a right row fulfils the condition and the membership.
};

/// Output = columns of the left, then of the right input; of kMark the left ones and one BOOLEAN,
/// which is NULL when only an unknown equality of the membership stands against it.
struct JoinNode final : PlanNode {
  static constexpr PlanKind kKind = PlanKind::kJoin;
  JoinNode() : PlanNode(kKind) {}
  JoinType type = JoinType::kInner;
  expr::ExprPtr condition;  // Over left ++ right columns, must be TRUE; null: every pair.
  std::vector<expr::ExprPtr> membership;  // kMark: the equalities of IN over left ++ right columns.
};

/// Each row as often as its last column, a BIGINT, says; without that column.
struct ReplicateNode final : PlanNode {
  static constexpr PlanKind kKind = PlanKind::kReplicate;
  ReplicateNode() : PlanNode(kKind) {}
};

/// INSERT: the query and where its rows go. The query's columns equal the sink schema (casts
/// inserted by the binder), static partition columns included as constants.
struct InsertPlan {
  PlanPtr query;
  catalog::ObjectPath path;
  std::shared_ptr<const catalog::CatalogTable> table;
  OptionMap options;  // WITH and hints.
  bool overwrite = false;
  std::vector<std::pair<std::string, std::string>> static_partition;  // Key and text as written.
  SourceRange table_range;
};

}  // namespace sluice::sql
