#include "sql/physical/scan_source.h"

#include <algorithm>

#include <arrow/array/array_primitive.h>

#include "common/text.h"
#include "expr/builder.h"
#include "expr/replace_columns.h"
#include "sql/physical/table_access.h"
#include "sql/rules/rules.h"

namespace sluice::sql {
/// The columns a scan asks of its connector, and how the scan's output is computed from them.
struct ScanProduction {
  std::vector<int> physical;               // Indices into TableInfo::physical.
  std::vector<std::string> metadata_keys;  // Behind the physical ones.
  std::vector<expr::ExprPtr> outputs;  // Over what the connector makes, one a scan output column.
  expr::ExprPtr watermark;             // The same.
};

namespace {

SqlType MetadataType(const connectors::Connector& connector, const connectors::TableInfo& info,
                     const std::string& key, const SqlType& declared) {
  if (connector.metadata) {
    for (const connectors::MetadataColumn& column : connector.metadata(info)) {
      if (column.key == key) return column.type;
    }
  }
  return declared;
}

/// Table columns that the outputs and the watermark read, computed ones replaced by what they read.
std::vector<bool> NeededColumns(const ScanNode& scan, bool with_watermark) {
  std::vector<bool> needed(scan.table->columns.size(), false);
  const auto need = [&](int column, const auto& self) -> void {
    const expr::ExprPtr& computed = scan.computed[static_cast<size_t>(column)];
    if (computed == nullptr) {
      needed[static_cast<size_t>(column)] = true;
      return;
    }
    for (const int used : expr::UsedColumns(*computed)) self(used, self);
  };
  for (const int column : scan.columns) need(column, need);
  if (with_watermark && scan.watermark) {
    for (const int used : expr::UsedColumns(*scan.watermark)) need(used, need);
  }
  return needed;
}

Result<ScanProduction> Produce(const ScanNode& scan, bool with_watermark) {
  const catalog::CatalogTable& table = *scan.table;
  SLUICE_ASSIGN_OR_RETURN(const connectors::Connector* connector,
                          connectors::FindConnector(scan.options.find("connector")->second));
  const connectors::TableInfo info = MakeTableInfo(scan.path, table, scan.options);
  const std::vector<bool> needed = NeededColumns(scan, with_watermark);
  ScanProduction production;
  int width = 0;  // Of what the connector makes.
  std::vector<expr::ExprPtr> by_column(table.columns.size());
  int physical_index = 0;
  for (size_t i = 0; i < table.columns.size(); ++i) {
    const catalog::TableColumn& column = table.columns[i];
    if (column.kind != catalog::ColumnKind::kPhysical) continue;
    if (needed[i]) {
      by_column[i] = expr::MakeColumn(width++, column.type);
      production.physical.push_back(physical_index);
    }
    ++physical_index;
  }
  for (size_t i = 0; i < table.columns.size(); ++i) {
    const catalog::TableColumn& column = table.columns[i];
    if (column.kind != catalog::ColumnKind::kMetadata || !needed[i]) continue;
    const SqlType type = MetadataType(*connector, info, column.key(), column.type);
    expr::ExprPtr value = expr::MakeColumn(width++, type);
    if (!type.SameKindAs(column.type)) {
      SLUICE_ASSIGN_OR_RETURN(value, expr::MakeCast(value, column.type));
    }
    by_column[i] = std::move(value);
    production.metadata_keys.push_back(column.key());
  }
  for (size_t i = 0; i < table.columns.size(); ++i) {
    if (scan.computed[i] != nullptr) {
      const std::vector<int> used = expr::UsedColumns(*scan.computed[i]);
      const bool available = std::all_of(used.begin(), used.end(), [&](int c) {
        return by_column[static_cast<size_t>(c)] != nullptr;
      });
      if (available) by_column[i] = expr::ReplaceColumns(scan.computed[i], by_column);
    }
  }
  for (const int column : scan.columns)
    production.outputs.push_back(by_column[static_cast<size_t>(column)]);
  if (with_watermark && scan.watermark)
    production.watermark = expr::ReplaceColumns(scan.watermark, by_column);
  return production;
}

/// Pushed filters over physical columns by their index in TableInfo::physical; those on other
/// columns are left out.
std::vector<expr::ExprPtr> PhysicalFilters(const ScanNode& scan) {
  std::vector<int> physical_of_column;
  int next = 0;
  for (const catalog::TableColumn& column : scan.table->columns) {
    physical_of_column.push_back(column.kind == catalog::ColumnKind::kPhysical ? next++ : -1);
  }
  std::vector<int> mapping;
  for (const int column : scan.columns)
    mapping.push_back(physical_of_column[static_cast<size_t>(column)]);
  std::vector<expr::ExprPtr> filters;
  for (const expr::ExprPtr& filter : scan.pushed_filters) {
    const std::vector<int> used = expr::UsedColumns(*filter);
    if (std::all_of(used.begin(), used.end(),
                    [&](int c) { return mapping[static_cast<size_t>(c)] >= 0; })) {
      filters.push_back(expr::RemapColumns(filter, mapping));
    }
  }
  return filters;
}

/// The greatest value, in ms, of a TIMESTAMP(<= 3) or TIMESTAMP_LTZ(<= 3) array.
std::optional<int64_t> MaxMillis(const arrow::Array& values) {
  const auto& times = static_cast<const arrow::NumericArray<arrow::TimestampType>&>(values);
  std::optional<int64_t> greatest;
  for (int64_t i = 0; i < times.length(); ++i) {
    if (times.IsValid(i) && (!greatest || times.Value(i) > *greatest)) greatest = times.Value(i);
  }
  return greatest;
}

/// The row transform of a scan: computed columns, casts of metadata, watermark.
class ScanTransform {
 public:
  ScanTransform(ScanProduction production, const Schema& output, expr::EvalContext eval)
      : production_(std::move(production)), output_(output.ToArrow()), eval_(std::move(eval)) {}

  Result<runtime::SourceBatch> operator()(const Batch& batch) const {
    runtime::SourceBatch result;
    if (production_.watermark) {
      SLUICE_ASSIGN_OR_RETURN(const std::shared_ptr<arrow::Array> times,
                              expr::EvaluateToArray(*production_.watermark, *batch.rows(), eval_));
      result.watermark_ms = MaxMillis(*times);
      result.null_row_times = times->null_count();
    }
    arrow::ArrayVector columns;
    columns.reserve(production_.outputs.size());
    for (const expr::ExprPtr& output : production_.outputs) {
      SLUICE_ASSIGN_OR_RETURN(std::shared_ptr<arrow::Array> column,
                              expr::EvaluateToArray(*output, *batch.rows(), eval_));
      columns.push_back(std::move(column));
    }
    result.rows = Batch(arrow::RecordBatch::Make(output_, batch.row_count(), std::move(columns)),
                        batch.row_kinds());
    return result;
  }

 private:
  ScanProduction production_;
  std::shared_ptr<arrow::Schema> output_;
  expr::EvalContext eval_;
};

Result<int64_t> DurationOf(const OptionMap* options, std::string_view key, int64_t unless) {
  if (options == nullptr) return unless;
  const auto it = options->find(key);
  return it == options->end() ? Result<int64_t>(unless) : ParseDurationMillis(it->second);
}

Result<runtime::WatermarkSettings> WatermarkSettingsOf(
    const ScanNode& scan, const connectors::ConnectorContext& context) {
  runtime::WatermarkSettings settings;
  settings.enabled = scan.watermark != nullptr && context.streaming;
  SLUICE_ASSIGN_OR_RETURN(
      settings.emit_interval_ms,
      DurationOf(context.configuration, "pipeline.auto-watermark-interval", 200));
  SLUICE_ASSIGN_OR_RETURN(settings.idle_timeout_ms,
                          DurationOf(context.configuration, "table.exec.source.idle-timeout", 0));
  SLUICE_ASSIGN_OR_RETURN(
      settings.idle_timeout_ms,
      DurationOf(&scan.options, "scan.watermark.idle-timeout", settings.idle_timeout_ms));
  const auto strategy = scan.options.find("scan.watermark.emit.strategy");
  settings.on_event =
      strategy != scan.options.end() && EqualsIgnoreCaseAscii(strategy->second, "on-event");
  return settings;
}

}  // namespace

Status PrepareScan(ScanNode* scan, const connectors::ConnectorContext& connector_context,
                   const expr::EvalContext& eval) {
  if (scan->source != nullptr) return {};
  SLUICE_ASSIGN_OR_RETURN(
      std::unique_ptr<connectors::TableSource> source,
      OpenTableSource(scan->path, *scan->table, scan->options, connector_context));
  scan->source = std::move(source);
  if (!connector_context.streaming && !scan->source->bounded()) {
    return Status::Validation(
        "Querying an unbounded table '" + scan->path.ToString() +
        "' in batch mode is not allowed. The table source is unbounded. Use "
        "SET 'execution.runtime-mode' = 'streaming', or bound the source by its options.");
  }
  const bool changes = !scan->source->row_kinds().insert_only();
  if (!connector_context.streaming && changes) {
    return Status::Validation(
        "Querying a table in batch mode is currently only possible for INSERT-only table sources. "
        "But the source for table '" +
        scan->path.ToString() +
        "' produces other changelog messages than just INSERT. Use SET 'execution.runtime-mode' = "
        "'streaming'.");
  }
  SLUICE_RETURN_NOT_OK(PrunePartitions(scan, scan->source.get(), eval));
  SLUICE_ASSIGN_OR_RETURN(ScanProduction production, Produce(*scan, connector_context.streaming));
  SLUICE_RETURN_NOT_OK(
      scan->source->ApplyProjection(production.physical, production.metadata_keys));
  scan->production = std::make_shared<const ScanProduction>(std::move(production));
  if (scan->partitions)
    SLUICE_RETURN_NOT_OK(
        scan->source->ApplyPartitions(*scan->partitions, scan->partition_predicate));
  std::vector<expr::ExprPtr> filters = PhysicalFilters(*scan);
  if (!filters.empty()) scan->used_filters = scan->source->ApplyFilters(std::move(filters));
  // Of changes the first rows are not those that stay.
  if (scan->limit && !changes) scan->limit_used = scan->source->ApplyLimit(*scan->limit);
  return {};
}

Result<std::function<Result<std::shared_ptr<runtime::Source>>()>> MakeScanSource(
    const ScanNode& scan, const connectors::ConnectorContext& context,
    const expr::EvalContext& eval) {
  ScanProduction production = *scan.production;
  runtime::SourceRuntimeOptions options;
  SLUICE_ASSIGN_OR_RETURN(options.watermark, WatermarkSettingsOf(scan, context));
  if (!options.watermark.enabled) production.watermark = nullptr;
  options.transform = ScanTransform(std::move(production), scan.schema, eval);
  return std::function<Result<std::shared_ptr<runtime::Source>>()>(
      [source = scan.source, options]() { return source->MakeSource(options); });
}

}  // namespace sluice::sql
