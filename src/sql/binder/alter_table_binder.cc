// ALTER TABLE: works on a copy of the table and checks that what refers to columns still holds
// (sql.md §3.3).
#include <algorithm>
#include <set>

#include "common/nearest_name.h"
#include "common/quoted_name.h"
#include "sql/binder/binder.h"
#include "sql/binder/expression_binder.h"
#include "sql/binder/syntax_walk.h"
#include "sql/binder/table_definition.h"
#include "sql/syntax/parser.h"
#include "sql/syntax/unparse.h"

namespace sluice::sql {
namespace {

constexpr std::string_view kPrefix = "Failed to execute ALTER TABLE statement.\n";

Status Failed(const std::string& reason, SourcePosition at) {
  return Status::Validation(std::string(kPrefix) + reason, at);
}

/// Checks shared with CREATE TABLE, in the words of this statement.
Status InAlter(Status status) {
  if (status.ok() || status.message().starts_with(kPrefix)) return status;
  return Status(status.code(), std::string(kPrefix) + status.message()).At(status.position());
}

/// The columns that a stored expression names.
Result<std::set<std::string>> ColumnsOf(const std::string& expression) {
  SLUICE_ASSIGN_OR_RETURN(const ExprPtr parsed, ParseExpression(expression));
  return UsedColumnNames(*parsed);
}

class TableAlteration {
 public:
  TableAlteration(const AlterTable& statement, const BindContext& context,
                  const catalog::CatalogTable& table)
      : statement_(statement), context_(context), table_(table) {}

  Result<catalog::CatalogTable> Run() {
    SLUICE_RETURN_NOT_OK(InAlter(Apply()));
    return std::move(table_);
  }

 private:
  Status Apply() {
    switch (statement_.action) {
      case AlterTableKind::kRenameColumn:
        return RenameColumn();
      case AlterTableKind::kSetOptions:
        for (const OptionPair& pair : statement_.options) table_.options[pair.key] = pair.value;
        return {};
      case AlterTableKind::kResetOptions:
        return ResetOptions();
      case AlterTableKind::kAdd:
        return AddElements();
      case AlterTableKind::kModify:
        return ModifyElements();
      case AlterTableKind::kDropColumns:
        return DropColumns();
      case AlterTableKind::kDropPrimaryKey:
        if (!table_.primary_key) return NoPrimaryKey(statement_.range.begin);
        table_.primary_key.reset();
        return {};
      case AlterTableKind::kDropConstraint:
        return DropConstraint();
      case AlterTableKind::kDropWatermark:
        if (!table_.watermark) return NoWatermark(statement_.range.begin);
        table_.watermark.reset();
        return {};
      case AlterTableKind::kRenameTable:
      case AlterTableKind::kAddPartitions:
      case AlterTableKind::kDropPartitions:
        break;
    }
    return Status::Internal("ALTER TABLE that changes no definition");
  }

  static Status NoPrimaryKey(SourcePosition at) {
    return Failed("The current table does not define any primary key.", at);
  }
  static Status NoWatermark(SourcePosition at) {
    return Failed("The current table does not define any watermark strategy.", at);
  }

  Result<size_t> IndexOf(const std::string& name, SourcePosition at) const {
    const int index = table_.IndexOf(name);
    if (index >= 0) return static_cast<size_t>(index);
    return Failed("Column `" + name + "` does not exist in the table." +
                      DidYouMean(name, ColumnNames(table_)),
                  at);
  }

  Result<std::string> PlainName(const NamePath& path) const {
    if (path.parts.size() == 1) return path.parts[0].name;
    return Status::Unsupported(std::string(kPrefix) + "Altering the nested column `" +
                               path.ToString() + "` is not supported yet.")
        .At(path.range.begin);
  }

  Status ResetOptions() {
    if (statement_.keys.empty()) {
      return Status::Validation("ALTER TABLE RESET does not support empty key",
                                statement_.range.begin);
    }
    for (const std::string& key : statement_.keys) {
      if (key == "connector") {
        return Failed("ALTER TABLE RESET does not support changing 'connector'",
                      statement_.range.begin);
      }
      table_.options.erase(key);
    }
    return {};
  }

  /// Fails when something of the table refers to the column.
  Status CheckUnused(const std::string& name, const std::set<std::string>& leaving,
                     SourcePosition at) const {
    const std::string column = "The column " + QuotedName(name) + " is ";
    std::string computed;
    for (const catalog::TableColumn& other : table_.columns) {
      if (other.kind != catalog::ColumnKind::kComputed || leaving.contains(other.name)) continue;
      SLUICE_ASSIGN_OR_RETURN(const std::set<std::string> used, ColumnsOf(other.expression));
      if (used.contains(name)) computed += (computed.empty() ? "" : ", ") + QuotedName(other.name);
    }
    if (!computed.empty())
      return Failed(column + "referenced by computed column " + computed + ".", at);
    const auto& keys = table_.partition_keys;
    if (std::find(keys.begin(), keys.end(), name) != keys.end())
      return Failed(column + "used as the partition keys.", at);
    if (table_.primary_key) {
      const auto& primary = table_.primary_key->columns;
      if (std::find(primary.begin(), primary.end(), name) != primary.end()) {
        return Failed(column + "used as the primary key.", at);
      }
    }
    if (table_.watermark) {
      SLUICE_ASSIGN_OR_RETURN(const std::set<std::string> used,
                              ColumnsOf(table_.watermark->expression));
      if (used.contains(name) || RowtimePath(table_)[0] == name) {
        return Failed(column + "referenced by watermark expression.", at);
      }
    }
    return {};
  }

  Status RenameColumn() {
    SLUICE_ASSIGN_OR_RETURN(const std::string name, PlainName(statement_.column));
    const SourcePosition at = statement_.column.range.begin;
    SLUICE_ASSIGN_OR_RETURN(const size_t index, IndexOf(name, at));
    const std::string& target = statement_.new_column.name;
    if (table_.IndexOf(target) >= 0) {
      return Failed("Column `" + target + "` already exists in the table.",
                    statement_.new_column.range.begin);
    }
    SLUICE_RETURN_NOT_OK(CheckUnused(name, {}, at));
    catalog::TableColumn& column = table_.columns[index];
    // The rows of a metadata column come from its key, which was its name so far.
    if (column.kind == catalog::ColumnKind::kMetadata && !column.metadata_key)
      column.metadata_key = name;
    column.name = target;
    return {};
  }

  Status DropColumns() {
    std::set<std::string> leaving;
    for (const NamePath& path : statement_.columns) {
      SLUICE_ASSIGN_OR_RETURN(const std::string name, PlainName(path));
      SLUICE_RETURN_NOT_OK(IndexOf(name, path.range.begin).status());
      if (!leaving.insert(name).second)
        return Failed("Duplicate column `" + name + "`.", path.range.begin);
    }
    for (const NamePath& path : statement_.columns) {
      SLUICE_RETURN_NOT_OK(CheckUnused(path.parts[0].name, leaving, path.range.begin));
    }
    std::erase_if(table_.columns, [&](const catalog::TableColumn& column) {
      return leaving.contains(column.name);
    });
    return {};
  }

  Status DropConstraint() {
    const SourcePosition at = statement_.constraint.range.begin;
    if (!table_.primary_key) return NoPrimaryKey(at);
    if (table_.primary_key->name != statement_.constraint.name) {
      return Failed("The current table does not define a primary key constraint named '" +
                        statement_.constraint.name + "'. Available constraint name: ['" +
                        table_.primary_key->name + "'].",
                    at);
    }
    table_.primary_key.reset();
    return {};
  }

  /// Puts a column where FIRST or AFTER says; without either, at `otherwise`.
  Status Place(catalog::TableColumn column, const ColumnDefinition& definition, size_t otherwise) {
    size_t position = otherwise;
    if (definition.position == PositionKind::kFirst) position = 0;
    if (definition.position == PositionKind::kAfter) {
      const Identifier& after = *definition.after;
      const int index = table_.IndexOf(after.name);
      if (index < 0) {
        return Failed("Referenced column `" + after.name +
                          "` by 'AFTER' does not exist in the table." +
                          DidYouMean(after.name, ColumnNames(table_)),
                      after.range.begin);
      }
      position = static_cast<size_t>(index) + 1;
    }
    table_.columns.insert(table_.columns.begin() + static_cast<std::ptrdiff_t>(position),
                          std::move(column));
    return {};
  }

  Status AddElements() {
    for (const TableElement& element : statement_.elements) {
      if (element.kind != ElementKind::kColumn) continue;
      const ColumnDefinition& definition = element.column;
      SLUICE_ASSIGN_OR_RETURN(catalog::TableColumn column, ColumnOf(definition));
      if (table_.IndexOf(column.name) >= 0) {
        return Failed("Column `" + column.name + "` already exists in the table.",
                      definition.name.range.begin);
      }
      if (definition.kind == ColumnKind::kComputed)
        computed_.push_back({column.name, definition.computed.get()});
      SLUICE_RETURN_NOT_OK(Place(std::move(column), definition, table_.columns.size()));
    }
    for (const TableElement& element : statement_.elements) {
      if (const KeyConstraint* key = KeyOf(element); key != nullptr && table_.primary_key) {
        return Failed("The current table has already defined the primary key constraint " +
                          KeyText() + ". You might want to drop it before adding a new one.",
                      key->range.begin);
      }
      if (element.kind == ElementKind::kWatermark && table_.watermark) {
        return Failed("The current table has already defined the watermark strategy " +
                          WatermarkText() + ". You might want to drop it before adding a new one.",
                      element.watermark.range.begin);
      }
    }
    return SetKeysAndWatermark();
  }

  Status ModifyElements() {
    std::set<std::string> modified;
    for (const TableElement& element : statement_.elements) {
      if (element.kind != ElementKind::kColumn) continue;
      const ColumnDefinition& definition = element.column;
      const SourcePosition at = definition.name.range.begin;
      SLUICE_ASSIGN_OR_RETURN(const size_t index, IndexOf(definition.name.name, at));
      if (!modified.insert(definition.name.name).second) {
        return Failed("Duplicate column `" + definition.name.name + "`.", at);
      }
      SLUICE_RETURN_NOT_OK(ModifyColumn(definition, index));
    }
    for (const TableElement& element : statement_.elements) {
      if (const KeyConstraint* key = KeyOf(element)) {
        if (!table_.primary_key) {
          return Failed(
              "The current table does not define any primary key constraint. You might want to add "
              "a new one.",
              key->range.begin);
        }
        table_.primary_key.reset();
      }
      if (element.kind != ElementKind::kWatermark) continue;
      if (!table_.watermark) {
        return Failed(
            "The current table does not define any watermark strategy. You might want to add a new "
            "one.",
            element.watermark.range.begin);
      }
      table_.watermark.reset();
    }
    return SetKeysAndWatermark();
  }

  Status ModifyColumn(const ColumnDefinition& definition, size_t index) {
    SLUICE_ASSIGN_OR_RETURN(catalog::TableColumn column, ColumnOf(definition));
    const SourcePosition at = definition.name.range.begin;
    const catalog::TableColumn& old = table_.columns[index];
    const auto& keys = table_.partition_keys;
    const bool partition_key = std::find(keys.begin(), keys.end(), old.name) != keys.end();
    if (partition_key && column.kind != catalog::ColumnKind::kPhysical) {
      return Failed("The column " + QuotedName(old.name) + " is used as the partition keys.", at);
    }
    if (!column.comment) column.comment = old.comment;
    if (table_.primary_key) {
      const auto& primary = table_.primary_key->columns;
      if (std::find(primary.begin(), primary.end(), old.name) != primary.end()) {
        if (column.kind != catalog::ColumnKind::kPhysical) {
          return Failed("The column " + QuotedName(old.name) + " is used as the primary key.", at);
        }
        column.type = column.type.NotNull();
      }
    }
    if (definition.kind == ColumnKind::kComputed)
      computed_.push_back({column.name, definition.computed.get()});
    table_.columns.erase(table_.columns.begin() + static_cast<std::ptrdiff_t>(index));
    return Place(std::move(column), definition, index);
  }

  static const KeyConstraint* KeyOf(const TableElement& element) {
    if (element.kind == ElementKind::kPrimaryKey) return &element.primary_key;
    if (element.kind == ElementKind::kColumn && element.column.primary_key)
      return &*element.column.primary_key;
    return nullptr;
  }

  std::string KeyText() const {
    std::string columns;
    for (const std::string& column : table_.primary_key->columns) {
      columns += (columns.empty() ? "" : ", ") + QuotedName(column);
    }
    return "CONSTRAINT " + QuotedName(table_.primary_key->name) + " PRIMARY KEY (" + columns +
           ") NOT ENFORCED";
  }
  std::string WatermarkText() const {
    return QuotedName(table_.watermark->column) + " AS " + table_.watermark->expression;
  }

  /// New keys and watermark, then everything that is computed from columns is typed anew.
  Status SetKeysAndWatermark() {
    SLUICE_RETURN_NOT_OK(CheckMetadataKeys(table_));
    for (const TableElement& element : statement_.elements) {
      if (const KeyConstraint* key = KeyOf(element)) {
        SLUICE_RETURN_NOT_OK(SetPrimaryKey(*key, &element.column.name, &table_));
      }
    }
    SLUICE_RETURN_NOT_OK(BindComputedColumns(computed_, context_, &table_));
    const WatermarkDefinition* own = nullptr;
    for (const TableElement& element : statement_.elements) {
      if (element.kind != ElementKind::kWatermark) continue;
      if (own != nullptr) {
        return Status::Validation("Multiple WATERMARK declarations are not supported yet.",
                                  element.watermark.range.begin);
      }
      own = &element.watermark;
      SLUICE_RETURN_NOT_OK(SetWatermark(*own, context_, &table_));
    }
    return own != nullptr ? Status() : CheckStoredWatermark(context_, table_);
  }

  const AlterTable& statement_;
  const BindContext& context_;
  catalog::CatalogTable table_;
  std::vector<ComputedColumn> computed_;
};

}  // namespace

Result<catalog::CatalogTable> Binder::BindAlterTable(const AlterTable& statement,
                                                     const catalog::ObjectPath& path,
                                                     const catalog::CatalogTable& table) {
  (void)path;  // Messages of this statement speak of "the table".
  return TableAlteration(statement, context_, table).Run();
}

}  // namespace sluice::sql
