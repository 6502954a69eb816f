// CREATE TABLE: columns in order, LIKE and AS merged, then what refers to columns: keys, computed
// columns, watermark (sql.md §3.1).
#include <algorithm>

#include "common/nearest_name.h"
#include "sql/binder/binder.h"
#include "sql/binder/like_clause.h"
#include "sql/binder/table_definition.h"
#include "types/coercion.h"

namespace sluice::sql {
namespace {

class TableCreation {
 public:
  TableCreation(const CreateTable& statement, const BindContext& context)
      : statement_(statement), context_(context) {}

  Result<catalog::CatalogTable> Run(const Schema* query_schema) {
    if (statement_.distribution) {
      return Status::Unsupported("DISTRIBUTED BY is not supported yet.")
          .At(statement_.distribution->range.begin);
    }
    SLUICE_RETURN_NOT_OK(TakeLike());
    base_column_count_ = table_.columns.size();
    table_.temporary = statement_.temporary;
    table_.event_time = context_.streaming;
    table_.comment = statement_.comment;
    for (const TableElement& element : statement_.elements) {
      if (element.kind == ElementKind::kColumn) SLUICE_RETURN_NOT_OK(AddColumn(element.column));
    }
    if (query_schema != nullptr) SLUICE_RETURN_NOT_OK(TakeQuery(*query_schema));
    SLUICE_RETURN_NOT_OK(CheckMetadataKeys(table_));
    SLUICE_RETURN_NOT_OK(AddKeys());
    SLUICE_RETURN_NOT_OK(BindComputedColumns(computed_, context_, &table_));
    SLUICE_RETURN_NOT_OK(AddWatermarks());
    SLUICE_RETURN_NOT_OK(AddPartitions());
    SLUICE_RETURN_NOT_OK(MergeLikeOptions(statement_.options, merges_, &table_));
    return std::move(table_);
  }

 private:
  Status TakeLike() {
    if (!statement_.like) return {};
    merges_ = MergesOf(*statement_.like);
    SLUICE_ASSIGN_OR_RETURN(const std::shared_ptr<const catalog::CatalogTable> source,
                            FindLikeSource(*statement_.like, *context_.catalogs));
    table_ = StartFromLike(*source, merges_);
    return {};
  }

  Status AddColumn(const ColumnDefinition& definition) {
    SLUICE_ASSIGN_OR_RETURN(catalog::TableColumn column, ColumnOf(definition));
    if (column.kind == catalog::ColumnKind::kComputed)
      computed_.push_back({column.name, definition.computed.get()});
    const int existing = table_.IndexOf(column.name);
    if (existing < 0) {
      table_.columns.push_back(std::move(column));
      return {};
    }
    SLUICE_RETURN_NOT_OK(
        CheckReplacement(column, static_cast<size_t>(existing), definition.name.range.begin));
    table_.columns[static_cast<size_t>(existing)] = std::move(column);
    return {};
  }

  /// OK when OVERWRITING lets `column` take the place of the one at `existing`.
  Status CheckReplacement(const catalog::TableColumn& column, size_t existing,
                          SourcePosition at) const {
    const catalog::TableColumn& old = table_.columns[existing];
    const bool from_base = existing < base_column_count_;
    const std::string name = "'" + column.name + "'";
    if (column.kind == catalog::ColumnKind::kPhysical) {
      return Status::Validation(
          from_base ? "A column named " + name + " already exists in the base table."
                    : "A regular Column named " + name + " already exists in the table.",
          at);
    }
    const bool computed = column.kind == catalog::ColumnKind::kComputed;
    if (old.kind != column.kind || !from_base) {
      return Status::Validation(
          (computed ? "A generated column named " : "A metadata column named ") + name +
              " already exists in the table. Duplicate columns exist in the " +
              (computed ? "compute column and regular column."
                        : "metadata column and regular column."),
          at);
    }
    const LikeMerge merge = computed ? merges_.generated : merges_.metadata;
    if (merge == LikeMerge::kOverwriting) return {};
    const std::string feature = computed ? "GENERATED" : "METADATA";
    return Status::Validation(
        (computed ? "A generated column named " : "A metadata column named ") + name +
            " already exists in the base table. You might want to specify EXCLUDING " + feature +
            " or OVERWRITING " + feature + ".",
        at);
  }

  /// CREATE TABLE … AS: declared columns that the query does not have come first, then the query's,
  /// with the declared types.
  Status TakeQuery(const Schema& query) {
    if (!statement_.column_names.empty()) return TakeNamedQueryColumns(query);
    std::vector<catalog::TableColumn> merged;
    for (const catalog::TableColumn& column : table_.columns) {
      if (query.IndexOf(column.name) < 0) merged.push_back(column);
    }
    for (const Column& column : query.columns()) {
      const int declared = table_.IndexOf(column.name);
      if (declared < 0) {
        SLUICE_ASSIGN_OR_RETURN(catalog::TableColumn taken, QueryColumn(column));
        merged.push_back(std::move(taken));
        continue;
      }
      SLUICE_RETURN_NOT_OK(
          CheckDeclared(table_.columns[static_cast<size_t>(declared)], column, declared));
      merged.push_back(table_.columns[static_cast<size_t>(declared)]);
    }
    table_.columns = std::move(merged);
    return {};
  }

  Status TakeNamedQueryColumns(const Schema& query) {
    const std::vector<Identifier>& names = statement_.column_names;
    if (static_cast<int>(names.size()) != query.column_count()) {
      return Status::Validation(
          "The number of columns in the column list must match the number of columns in the source "
          "schema.",
          names[0].range.begin);
    }
    for (const Identifier& name : names) {
      const int index = query.IndexOf(name.name);
      if (index < 0) {
        std::vector<std::string> known;
        for (const Column& column : query.columns()) known.push_back(column.name);
        return Status::Validation("Column '" + name.name + "' not found in the source schema." +
                                      DidYouMean(name.name, known),
                                  name.range.begin);
      }
      if (table_.IndexOf(name.name) >= 0) {
        return Status::Validation(
            "Column '" + name.name + "' is named more than once in the column list.",
            name.range.begin);
      }
      SLUICE_ASSIGN_OR_RETURN(catalog::TableColumn taken, QueryColumn(query.column(index)));
      table_.columns.push_back(std::move(taken));
    }
    return {};
  }

  Result<catalog::TableColumn> QueryColumn(const Column& column) const {
    const Status status = CheckColumnType(column.type, statement_.query->range.begin);
    if (!status.ok()) {
      return Status::Validation(
          "Column '" + column.name + "' of the query cannot be stored: " + status.message(),
          status.position());
    }
    catalog::TableColumn taken;
    taken.name = column.name;
    taken.type = column.type;
    return taken;
  }

  Status CheckDeclared(const catalog::TableColumn& declared, const Column& source,
                       int position) const {
    const SourcePosition at = PositionOf(declared.name);
    if (declared.kind == catalog::ColumnKind::kComputed ||
        (declared.kind == catalog::ColumnKind::kMetadata && declared.is_virtual)) {
      return Status::Validation(
          "A column named '" + declared.name + "' already exists in the source schema. " +
              (declared.kind == catalog::ColumnKind::kComputed ? "Computed" : "VIRTUAL metadata") +
              " columns cannot overwrite columns from source.",
          at);
    }
    const bool null_fits = declared.type.nullable() || !source.type.nullable();
    if (null_fits && CanCast(source.type, declared.type) == CastKind::kImplicit) return {};
    return Status::Validation(
        "Incompatible types for sink column '" + declared.name + "' at position " +
            std::to_string(position) + ". The source column has type '" + source.type.ToString() +
            "', while the target column has type '" + declared.type.ToString() + "'.",
        at);
  }

  SourcePosition PositionOf(const std::string& column) const {
    for (const TableElement& element : statement_.elements) {
      if (element.kind == ElementKind::kColumn && element.column.name.name == column)
        return element.column.name.range.begin;
    }
    return statement_.table.range.begin;
  }

  Status AddKeys() {
    const bool from_base = table_.primary_key.has_value();
    for (const TableElement& element : statement_.elements) {
      const bool at_column =
          element.kind == ElementKind::kColumn && element.column.primary_key.has_value();
      if (!at_column && element.kind != ElementKind::kPrimaryKey) continue;
      const KeyConstraint& key = at_column ? *element.column.primary_key : element.primary_key;
      if (from_base) {
        return Status::Validation(
            "The base table already has a primary key. You might want to specify EXCLUDING "
            "CONSTRAINTS.",
            key.range.begin);
      }
      SLUICE_RETURN_NOT_OK(SetPrimaryKey(key, at_column ? &element.column.name : nullptr, &table_));
    }
    return {};
  }

  Status AddWatermarks() {
    bool own = false;
    for (const TableElement& element : statement_.elements) {
      if (element.kind != ElementKind::kWatermark) continue;
      const WatermarkDefinition& watermark = element.watermark;
      if (own)
        return Status::Validation("Multiple WATERMARK declarations are not supported yet.",
                                  watermark.range.begin);
      if (table_.watermark && merges_.watermarks != LikeMerge::kOverwriting) {
        return Status::Validation("There already exists a watermark spec for column '" +
                                      table_.watermark->column +
                                      "' in the base table. You might want to specify EXCLUDING "
                                      "WATERMARKS or OVERWRITING "
                                      "WATERMARKS.",
                                  watermark.range.begin);
      }
      own = true;
      SLUICE_RETURN_NOT_OK(SetWatermark(watermark, context_, &table_));
    }
    // A watermark taken by LIKE may have lost its column with EXCLUDING GENERATED or METADATA.
    return own ? Status() : CheckStoredWatermark(context_, table_);
  }

  Status AddPartitions() {
    if (statement_.partitioned_by.empty()) return {};
    if (!table_.partition_keys.empty()) {
      return Status::Validation(
          "The base table already has partitions defined. You might want to specify EXCLUDING "
          "PARTITIONS.",
          statement_.partitioned_by[0].range.begin);
    }
    return SetPartitionKeys(statement_.partitioned_by, &table_);
  }

  const CreateTable& statement_;
  const BindContext& context_;
  LikeMerges merges_;
  catalog::CatalogTable table_;
  size_t base_column_count_ = 0;  // Columns in front that came from LIKE.
  std::vector<ComputedColumn> computed_;
};

}  // namespace

Result<catalog::CatalogTable> Binder::BindCreateTable(const CreateTable& statement,
                                                      const Schema* query_schema) {
  return TableCreation(statement, context_).Run(query_schema);
}

}  // namespace sluice::sql
