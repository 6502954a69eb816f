#include "connectors/filesystem/source/file_table_source.h"

#include <algorithm>
#include <set>

#include <arrow/record_batch.h>
#include <arrow/type.h>

#include "connectors/filesystem/partition/partition_path.h"
#include "connectors/filesystem/source/file_source.h"
#include "connectors/filesystem/source/partition_equalities.h"
#include "connectors/filesystem/source/split_aggregator.h"

namespace sluice::connectors::filesystem {

namespace {

class FileTableSource final : public TableSource {
 public:
  FileTableSource(const TableInfo& table, const ConnectorContext& context,
                  const formats::Format& format)
      : table_(table), context_(context), format_(format) {}

  Status Init() {
    spec_.table_identifier = table_.identifier;
    SLUICE_ASSIGN_OR_RETURN(spec_.options, ReadSourceOptions(table_));
    SLUICE_RETURN_NOT_OK(ReadConfiguration());
    spec_.format = &format_;
    spec_.format_options =
        formats::ExtractFormatOptions(table_.options, std::string(format_.name) + ".");
    SLUICE_ASSIGN_OR_RETURN(spec_.bad_records,
                            ReadBadRecordOptions(table_.options, format_, format_.encoding,
                                                 spec_.format_options, *context_.file_systems));
    spec_.session_zone = context_.session_zone;
    spec_.partition_keys = table_.partition_keys;
    SLUICE_ASSIGN_OR_RETURN(const fs::FileSystems::Located located,
                            context_.file_systems->Locate(table_.options.at("path")));
    spec_.file_system = located.file_system;
    spec_.listing = std::make_shared<TableListing>(
        located.file_system, located.path, table_.partition_keys,
        spec_.options.default_partition_name, spec_.options.path_pattern);
    if (spec_.options.when_done == WhenDone::kMove) SLUICE_RETURN_NOT_OK(LocateMoveTarget());
    std::vector<Column> file_columns;
    file_index_.assign(table_.physical.columns().size(), -1);
    for (const std::string& key : table_.partition_keys) {
      spec_.partition_types.push_back(table_.physical.column(table_.physical.IndexOf(key)).type);
    }
    for (int i = 0; i < table_.physical.column_count(); ++i) {
      if (PartitionIndex(i) >= 0) continue;
      file_index_[static_cast<size_t>(i)] = static_cast<int>(file_columns.size());
      file_columns.push_back(table_.physical.column(i));
    }
    spec_.read_schema.physical = Schema(std::move(file_columns));
    return CheckFormat();
  }

  bool bounded() const override { return spec_.bounded(); }
  RowKindSet row_kinds() const override { return format_.read_kinds; }

  Status ApplyProjection(std::vector<int> columns,
                         std::vector<std::string> metadata_keys) override {
    spec_.outputs.clear();
    spec_.read_schema.projection.clear();
    arrow::FieldVector fields;
    for (const int index : columns) {
      const Column& column = table_.physical.column(index);
      fields.push_back(arrow::field(column.name, column.type.ToArrow(), column.type.nullable()));
      const int key = PartitionIndex(index);
      if (key >= 0) {
        spec_.outputs.push_back({OutputColumn::From::kPartition, key});
        continue;
      }
      spec_.outputs.push_back(
          {OutputColumn::From::kFile, static_cast<int>(spec_.read_schema.projection.size())});
      spec_.read_schema.projection.push_back(file_index_[static_cast<size_t>(index)]);
    }
    const std::vector<MetadataColumn> known = FileMetadataColumns();
    for (const std::string& key : metadata_keys) {
      const auto it = std::find_if(known.begin(), known.end(),
                                   [&](const auto& column) { return column.key == key; });
      if (it == known.end()) {
        return Status::Validation(
            "Invalid metadata key '" + key + "' in table '" + table_.identifier +
            "'. Supported keys are file.path, file.name, file.size, file.modification-time.");
      }
      spec_.outputs.push_back(
          {OutputColumn::From::kMetadata, static_cast<int>(it - known.begin())});
      fields.push_back(arrow::field(key, it->type.ToArrow(), it->type.nullable()));
    }
    spec_.output_schema = arrow::schema(std::move(fields));
    return {};
  }

  Result<std::optional<std::vector<PartitionValues>>> ListPartitions() override {
    if (table_.partition_keys.empty()) return std::optional<std::vector<PartitionValues>>();
    return KeepPartitions(spec_.listing->ListPartitions());
  }

  Result<std::optional<std::vector<PartitionValues>>> ListPartitionsFor(
      const expr::ExprPtr& predicate) override {
    if (table_.partition_keys.empty()) return std::optional<std::vector<PartitionValues>>();
    if (const auto texts = EqualitiesOf(predicate, table_.partition_keys.size())) {
      auto named = spec_.listing->FindPartitions(*texts);
      if (!named.ok()) return KeepPartitions(named.status());
      if (*named) return KeepPartitions(std::move(**named));
    }
    std::vector<std::vector<expr::ExprPtr>> by_key(table_.partition_keys.size());
    for (const expr::ExprPtr& conjunct : expr::SplitConjuncts(predicate)) {
      const std::vector<int> used = expr::UsedColumns(*conjunct);
      if (used.size() == 1) by_key[static_cast<size_t>(used[0])].push_back(conjunct);
    }
    return KeepPartitions(spec_.listing->ListPartitions(
        [this, &by_key](size_t key, const std::vector<std::optional<std::string>>& values) {
          return ValuesThatPass(by_key[key], key, values);
        }));
  }

  Result<std::optional<std::vector<PartitionValues>>> KeepPartitions(
      Result<std::vector<PartitionDirectory>> known) {
    // On a file system that is not built yet a query can be planned; running it is refused.
    if (known.status().code() == StatusCode::kUnsupported) {
      return std::optional<std::vector<PartitionValues>>();
    }
    SLUICE_RETURN_NOT_OK(known.status());
    spec_.known_partitions = std::move(*known);
    std::vector<PartitionValues> values;
    std::set<PartitionValues> seen;  // Two directories may stand for the same values.
    for (const PartitionDirectory& partition : *spec_.known_partitions) {
      if (seen.insert(partition.values).second) values.push_back(partition.values);
    }
    return std::optional(std::move(values));
  }

  Result<std::shared_ptr<arrow::RecordBatch>> PartitionRows(
      const std::vector<PartitionValues>& partitions) override {
    return PartitionValueRows(spec_.partition_keys, spec_.partition_types, partitions, nullptr);
  }

  Status ApplyPartitions(std::vector<PartitionValues> partitions,
                         expr::ExprPtr predicate) override {
    spec_.chosen_partitions = std::move(partitions);
    spec_.partition_predicate = std::move(predicate);
    return CheckBadPartitions();
  }

  std::vector<expr::ExprPtr> ApplyFilters(std::vector<expr::ExprPtr> conjuncts) override {
    std::vector<expr::ExprPtr> used;
    if (format_.encoding != formats::Encoding::kBulk) return used;
    for (expr::ExprPtr& conjunct : conjuncts) {
      const std::vector<int> columns = expr::UsedColumns(*conjunct);
      const bool in_file = std::all_of(columns.begin(), columns.end(), [&](int column) {
        return file_index_[static_cast<size_t>(column)] >= 0;
      });
      if (columns.empty() || !in_file || !conjunct->deterministic()) continue;
      spec_.filters.push_back(expr::RemapColumns(conjunct, file_index_));
      used.push_back(std::move(conjunct));
    }
    return used;
  }

  bool ApplyLimit(int64_t rows) override {
    spec_.limit_rows = rows;
    return true;
  }

  bool ApplyAggregates(const SourceAggregates& aggregates) override {
    if (!bounded() || !spec_.is_bulk() || !format_.read_kinds.insert_only() || spec_.limit_rows ||
        !spec_.filters.empty()) {
      return false;
    }
    FileAggregates planned;
    planned.calls = aggregates.calls;
    planned.told_by_files = spec_.options.report_statistics;
    std::vector<int> projection;
    for (const expr::AggregateCall& call : planned.calls) {
      if (!PlanArgument(call, &projection, &planned)) return false;
    }
    arrow::FieldVector fields;
    for (const int index : aggregates.keys) {
      planned.keys.push_back(PartitionIndex(index));
      fields.push_back(arrow::field(table_.physical.column(index).name,
                                    table_.physical.column(index).type.ToArrow()));
    }
    for (size_t i = 0; i < planned.calls.size(); ++i) {
      const auto accumulator =
          expr::MakeAccumulator(planned.calls[i], arrow::default_memory_pool());
      if (!accumulator.ok()) return false;
      fields.push_back(
          arrow::field("accumulator" + std::to_string(i), (*accumulator)->state_type()));
    }
    fields.push_back(arrow::field("rows", arrow::int64()));
    spec_.read_schema.projection = std::move(projection);
    spec_.output_schema = arrow::schema(std::move(fields));
    spec_.aggregates = std::move(planned);
    return true;
  }

  bool metadata_tells_aggregates() const override {
    return spec_.aggregates && spec_.aggregates->told_by_files;
  }

  Result<std::shared_ptr<runtime::Source>> MakeSource(
      const runtime::SourceRuntimeOptions& options) override {
    auto spec = std::make_shared<FileSourceSpec>(spec_);
    spec->transform = options.transform;
    spec->watermark = options.watermark;
    return std::shared_ptr<runtime::Source>(std::make_shared<FileSource>(std::move(spec)));
  }

 private:
  Status ReadConfiguration() {
    if (context_.configuration == nullptr) return {};
    const auto key =
        context_.configuration->find("table.optimizer.source.report-statistics-enabled");
    if (key == context_.configuration->end()) return {};
    SLUICE_ASSIGN_OR_RETURN(const bool enabled, ParseBooleanOption(key->second));
    spec_.options.report_statistics = spec_.options.report_statistics && enabled;
    return {};
  }

  Status LocateMoveTarget() {
    std::string& move_to = spec_.options.move_to;
    SLUICE_ASSIGN_OR_RETURN(const fs::FileSystems::Located target,
                            context_.file_systems->Locate(move_to));
    if (target.file_system->scheme() != spec_.file_system->scheme()) {
      return Status::InvalidArgument("Invalid value for option 'source.file.move-to': " + move_to +
                                     " is on another file system than the table.");
    }
    move_to = target.path;
    return CheckMoveTarget(spec_.listing->root(), move_to);
  }

  /// True for the values of a key for which all `conditions` are true, and for texts that do not
  /// fit the key's type: whether those may be left out is decided by CheckBadPartitions.
  Result<std::vector<bool>> ValuesThatPass(
      const std::vector<expr::ExprPtr>& conditions, size_t key,
      const std::vector<std::optional<std::string>>& values) const {
    std::vector<bool> pass(values.size(), true);
    if (conditions.empty()) return pass;
    std::vector<PartitionValues> partitions;
    partitions.reserve(values.size());
    for (const std::optional<std::string>& value : values) {
      partitions.emplace_back(spec_.partition_keys.size())[key] = value;
    }
    std::vector<std::pair<size_t, size_t>> bad;
    SLUICE_ASSIGN_OR_RETURN(
        const auto rows,
        PartitionValueRows(spec_.partition_keys, spec_.partition_types, partitions, &bad));
    for (const expr::ExprPtr& condition : conditions) {
      SLUICE_ASSIGN_OR_RETURN(const std::vector<bool> passed,
                              EvaluatePartitions(*condition, *rows, spec_.session_zone));
      for (size_t i = 0; i < pass.size(); ++i) pass[i] = pass[i] && passed[i];
    }
    for (const auto& [row, column] : bad) pass[row] = true;
    return pass;
  }

  /// Adds the column that `call` aggregates, none for COUNT(*), to `planned`; columns of files go
  /// into `projection`. False when the source cannot do the call.
  bool PlanArgument(const expr::AggregateCall& call, std::vector<int>* projection,
                    FileAggregates* planned) const {
    const bool sum = call.name == "SUM" || call.name == "AVG";
    const bool known = call.name == "COUNT" || call.name == "MIN" || call.name == "MAX" || sum;
    if (!known || call.distinct || call.filter != nullptr || call.arguments.size() > 1)
      return false;
    std::optional<OutputColumn>& argument = planned->arguments.emplace_back();
    if (call.arguments.empty()) return true;
    if (call.arguments[0]->kind() != expr::ExprKind::kColumn) return false;
    const int index = static_cast<const expr::ColumnExpr&>(*call.arguments[0]).index();
    if (const int key = PartitionIndex(index); key >= 0) {
      argument = {OutputColumn::From::kPartition, key};
      return !sum;
    }
    planned->told_by_files =
        planned->told_by_files && !sum && FilesMayTell(call, call.arguments[0]->type());
    const int column = file_index_[static_cast<size_t>(index)];
    const auto at = std::find(projection->begin(), projection->end(), column);
    argument = {OutputColumn::From::kFile, static_cast<int>(at - projection->begin())};
    if (at == projection->end()) projection->push_back(column);
    return true;
  }

  int PartitionIndex(int column) const {
    const std::string& name = table_.physical.column(column).name;
    const auto it = std::find(table_.partition_keys.begin(), table_.partition_keys.end(), name);
    return it == table_.partition_keys.end() ? -1
                                             : static_cast<int>(it - table_.partition_keys.begin());
  }

  Status CheckFormat() const {
    const bool readable = format_.encoding == formats::Encoding::kBulk
                              ? format_.open_bulk_file != nullptr
                              : format_.make_decoder != nullptr && format_.make_framer != nullptr;
    if (!readable) {
      return Status::Validation("The format '" + std::string(format_.name) + "' of table '" +
                                table_.identifier + "' cannot be read.");
    }
    if (format_.validate == nullptr) return {};
    return format_.validate(spec_.format_options, spec_.read_schema.physical,
                            formats::Direction::kRead);
  }

  /// A directory whose text does not fit its column compares as NULL and so passes no predicate.
  /// That it was left out is right only if a condition that does not look at the bad column has
  /// left it out; else the error must be told.
  Status CheckBadPartitions() const {
    if (!spec_.known_partitions || spec_.partition_predicate == nullptr) return {};
    std::vector<PartitionValues> values;
    for (const PartitionDirectory& partition : *spec_.known_partitions)
      values.push_back(partition.values);
    std::vector<std::pair<size_t, size_t>> bad;
    SLUICE_ASSIGN_OR_RETURN(
        const auto rows,
        PartitionValueRows(spec_.partition_keys, spec_.partition_types, values, &bad));
    std::map<size_t, std::set<int>> bad_columns;
    for (const auto& [row, key] : bad) bad_columns[row].insert(static_cast<int>(key));
    for (const auto& [row, columns] : bad_columns) {
      bool left_out = false;
      for (const expr::ExprPtr& conjunct : expr::SplitConjuncts(spec_.partition_predicate)) {
        const std::vector<int> used = expr::UsedColumns(*conjunct);
        if (std::any_of(used.begin(), used.end(),
                        [&](int column) { return columns.contains(column); }))
          continue;
        const auto one_row = rows->Slice(static_cast<int64_t>(row), 1);
        SLUICE_ASSIGN_OR_RETURN(const std::vector<bool> passed,
                                EvaluatePartitions(*conjunct, *one_row, spec_.session_zone));
        left_out = left_out || !passed[0];
      }
      if (left_out) continue;
      SLUICE_RETURN_NOT_OK(CheckPartitionValues(spec_.partition_keys, spec_.partition_types,
                                                (*spec_.known_partitions)[row]));
    }
    return {};
  }

  const TableInfo table_;
  const ConnectorContext context_;
  const formats::Format& format_;
  FileSourceSpec spec_;
  std::vector<int>
      file_index_;  // Physical column of the table -> column of the file, -1 for partition columns.
};

}  // namespace

std::vector<MetadataColumn> FileMetadataColumns() {
  // In the order of FileMetadata.
  return {
      {"file.path", SqlType::String().NotNull()},
      {"file.name", SqlType::String().NotNull()},
      {"file.size", SqlType::Bigint().NotNull()},
      {"file.modification-time", SqlType::TimestampLtz(3).NotNull()},
  };
}

Result<std::unique_ptr<TableSource>> MakeFileTableSource(const TableInfo& table,
                                                         const ConnectorContext& context,
                                                         const formats::Format& format) {
  auto source = std::make_unique<FileTableSource>(table, context, format);
  SLUICE_RETURN_NOT_OK(source->Init());
  return std::unique_ptr<TableSource>(std::move(source));
}

}  // namespace sluice::connectors::filesystem
