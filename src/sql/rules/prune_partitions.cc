#include <algorithm>

#include <arrow/array/array_primitive.h>

#include "expr/builder.h"
#include "expr/replace_columns.h"
#include "sql/rules/rules.h"

namespace sluice::sql {
namespace {

/// Position of each scan output column among the partition keys, or -1; computed columns over keys
/// count through their expression.
std::vector<int> KeyPositions(const catalog::CatalogTable& table) {
  std::vector<int> positions;
  for (const catalog::TableColumn& column : table.columns) {
    const auto& keys = table.partition_keys;
    const auto it = std::find(keys.begin(), keys.end(), column.name);
    const bool is_key = column.kind == catalog::ColumnKind::kPhysical && it != keys.end();
    positions.push_back(is_key ? static_cast<int>(it - keys.begin()) : -1);
  }
  return positions;
}

/// `filter` (over the scan's output) over the table's columns, computed columns written out.
expr::ExprPtr OverTable(const expr::ExprPtr& filter, const ScanNode& scan) {
  return expr::ReplaceColumns(filter, [&scan](const expr::ColumnExpr& output) {
    const int column = scan.columns[static_cast<size_t>(output.index())];
    const expr::ExprPtr& computed = scan.computed[static_cast<size_t>(column)];
    return computed ? computed : expr::MakeColumn(column, output.type());
  });
}

}  // namespace

Status PrunePartitions(ScanNode* scan, connectors::TableSource* source,
                       const expr::EvalContext& context) {
  if (scan->table->partition_keys.empty()) return {};
  const std::vector<int> positions = KeyPositions(*scan->table);
  std::vector<expr::ExprPtr> decisive;
  for (const expr::ExprPtr& filter : scan->pushed_filters) {
    const expr::ExprPtr over_table = OverTable(filter, *scan);
    const std::vector<int> used = expr::UsedColumns(*over_table);
    const bool keys_only = std::all_of(used.begin(), used.end(), [&](int column) {
      return positions[static_cast<size_t>(column)] >= 0;
    });
    if (keys_only && !used.empty() && over_table->deterministic()) {
      decisive.push_back(expr::RemapColumns(over_table, positions));
    }
  }
  if (decisive.empty()) return {};
  SLUICE_ASSIGN_OR_RETURN(scan->partition_predicate, expr::MakeAnd(std::move(decisive)));
  SLUICE_ASSIGN_OR_RETURN(std::optional<std::vector<connectors::PartitionValues>> partitions,
                          source->ListPartitionsFor(scan->partition_predicate));
  if (!partitions) return {};
  SLUICE_ASSIGN_OR_RETURN(const std::shared_ptr<arrow::RecordBatch> rows,
                          source->PartitionRows(*partitions));
  SLUICE_ASSIGN_OR_RETURN(const std::shared_ptr<arrow::Array> verdicts,
                          expr::EvaluateToArray(*scan->partition_predicate, *rows, context));
  const auto& matches = static_cast<const arrow::BooleanArray&>(*verdicts);
  std::vector<connectors::PartitionValues> left;
  for (int64_t i = 0; i < matches.length(); ++i) {
    if (matches.IsValid(i) && matches.Value(i))
      left.push_back(std::move((*partitions)[static_cast<size_t>(i)]));
  }
  scan->partitions = std::move(left);
  return {};
}

}  // namespace sluice::sql
