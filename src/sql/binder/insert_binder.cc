// INSERT: places the query's columns in the sink's and checks the types (sql.md §3.5, §6).
#include <algorithm>

#include "common/nearest_name.h"
#include "common/text.h"
#include "expr/builder.h"
#include "sql/binder/binder.h"
#include "sql/binder/query_binder.h"
#include "sql/binder/table_scan.h"
#include "sql/syntax/unparse.h"

namespace sluice::sql {
namespace {

/// For each sink column: the query column that fills it, or a constant.
struct Placement {
  std::vector<int> query_column;        // -1: `constant`.
  std::vector<expr::ExprPtr> constant;  // NULL or a static partition value.
};

std::string TextOfLiteral(const LiteralExpr& literal) {
  return literal.negative ? "-" + literal.text : literal.text;
}

Result<std::string> StaticValue(const PartitionEntry& entry) {
  const sql::Expr* node = entry.value.get();
  if (node == nullptr) {
    return Status::Validation(
        "PARTITION (…) of INSERT takes key = literal; leave dynamic keys out.",
        entry.name.range.begin);
  }
  std::string sign;
  if (const UnaryExpr* unary = node->If<UnaryExpr>(); unary && unary->op == UnaryOp::kMinus) {
    sign = "-";
    node = unary->operand.get();
  }
  const LiteralExpr* literal = node->If<LiteralExpr>();
  if (literal == nullptr || literal->literal_kind == LiteralKind::kInterval) {
    return Status::Validation("A static partition value must be a literal.", node->range.begin);
  }
  if (literal->literal_kind == LiteralKind::kNull) {
    return Status::Validation(
        "A static partition value cannot be NULL: leave the key out and select NULL for it.",
        node->range.begin);
  }
  if (literal->literal_kind == LiteralKind::kBoolean) return ToLowerAscii(literal->text);
  return sign + TextOfLiteral(*literal);
}

Result<std::vector<std::pair<std::string, std::string>>> StaticPartition(
    const PartitionSpec& entries, const catalog::CatalogTable& table,
    const catalog::ObjectPath& path) {
  std::vector<std::pair<std::string, std::string>> values;
  for (const PartitionEntry& entry : entries) {
    const std::string& key = entry.name.name;
    const auto& keys = table.partition_keys;
    if (std::find(keys.begin(), keys.end(), key) == keys.end()) {
      if (table.IndexOf(key) < 0) {
        return Status::Validation("Unknown target column '" + key + "'" + DidYouMean(key, keys),
                                  entry.name.range.begin);
      }
      return Status::Validation("Static partition column '" + key +
                                    "' should be in the partition keys list [" + Join(keys, ", ") +
                                    "] for table '" + path.ToString() + "'.",
                                entry.name.range.begin);
    }
    for (const auto& [other, text] : values) {
      if (other == key)
        return Status::Validation("Target column '" + key + "' is assigned more than once",
                                  entry.name.range.begin);
    }
    SLUICE_ASSIGN_OR_RETURN(std::string text, StaticValue(entry));
    values.emplace_back(key, std::move(text));
  }
  return values;
}

/// Sink columns that the query fills, in the query's order.
Result<std::vector<int>> TargetColumns(
    const InsertStatement& insert, const Schema& sink,
    const std::vector<std::pair<std::string, std::string>>& fixed) {
  const auto is_static = [&](const std::string& name) {
    return std::any_of(fixed.begin(), fixed.end(),
                       [&](const auto& value) { return value.first == name; });
  };
  std::vector<int> targets;
  if (insert.columns.empty()) {
    for (int i = 0; i < sink.column_count(); ++i) {
      if (!is_static(sink.column(i).name)) targets.push_back(i);
    }
    return targets;
  }
  for (const NamePath& path : insert.columns) {
    const std::string name = path.ToString();
    const int index = sink.IndexOf(name);
    if (index < 0) {
      std::vector<std::string> known;
      for (const Column& column : sink.columns()) known.push_back(column.name);
      return Status::Validation("Unknown target column '" + name + "'" + DidYouMean(name, known),
                                path.range.begin);
    }
    if (is_static(name) || std::find(targets.begin(), targets.end(), index) != targets.end()) {
      return Status::Validation("Target column '" + name + "' is assigned more than once",
                                path.range.begin);
    }
    targets.push_back(index);
  }
  return targets;
}

Status Mismatch(const catalog::ObjectPath& path, const std::string& cause, const Schema& query,
                const Schema& sink) {
  return Status::Validation("Column types of query result and sink for '" + path.ToString() +
                            "' do not match.\nCause: " + cause + "\n\nQuery schema: " +
                            query.ToString() + "\nSink schema:  " + sink.ToString());
}

/// The sink's nullability is enforced while running: the cast only changes the type.
Result<expr::ExprPtr> CastToSink(expr::ExprPtr value, const SqlType& type) {
  return expr::MakeImplicitCast(value, type.WithNullable(value->type().nullable()));
}

Result<Placement> Place(const std::vector<int>& targets, const Schema& sink,
                        const std::vector<std::pair<std::string, std::string>>& fixed,
                        SourcePosition at) {
  Placement placement;
  placement.query_column.resize(static_cast<size_t>(sink.column_count()), -1);
  placement.constant.resize(static_cast<size_t>(sink.column_count()));
  for (size_t i = 0; i < targets.size(); ++i)
    placement.query_column[static_cast<size_t>(targets[i])] = static_cast<int>(i);
  for (int i = 0; i < sink.column_count(); ++i) {
    if (placement.query_column[static_cast<size_t>(i)] >= 0) continue;
    const Column& column = sink.column(i);
    expr::ExprPtr& constant = placement.constant[static_cast<size_t>(i)];
    const auto value = std::find_if(fixed.begin(), fixed.end(),
                                    [&](const auto& v) { return v.first == column.name; });
    if (value != fixed.end()) {
      if (column.type.kind() == TypeKind::kVarchar) {
        constant = expr::MakeString(value->second);
      }
      SLUICE_ASSIGN_OR_RETURN(constant,
                              expr::MakeCast(expr::MakeString(value->second), column.type));
      continue;
    }
    if (!column.type.nullable()) {
      return Status::Validation(
          "Column '" + column.name + "' has no default value and does not allow NULLs", at);
    }
    constant = expr::MakeNull(column.type);
  }
  return placement;
}

Result<InsertPlan> BindInto(PlanPtr query, InsertPlan plan, const std::vector<int>& targets,
                            const Schema& sink) {
  std::vector<Column> wanted;
  for (const int target : targets) wanted.push_back(sink.column(target));
  const Schema wanted_schema(wanted);
  if (query->schema.column_count() != static_cast<int>(targets.size())) {
    return Mismatch(plan.path, "Different number of columns.", query->schema, wanted_schema);
  }
  SLUICE_ASSIGN_OR_RETURN(const Placement placement,
                          Place(targets, sink, plan.static_partition, plan.table_range.begin));
  std::vector<expr::ExprPtr> expressions;
  std::vector<std::string> names;
  std::vector<TimeAttribute> attributes;
  for (int i = 0; i < sink.column_count(); ++i) {
    const Column& column = sink.column(i);
    names.push_back(column.name);
    const int source = placement.query_column[static_cast<size_t>(i)];
    if (source < 0) {
      expressions.push_back(placement.constant[static_cast<size_t>(i)]);
      attributes.push_back(TimeAttribute::kNone);
      continue;
    }
    const SqlType& type = query->schema.column(source).type;
    Result<expr::ExprPtr> cast = CastToSink(expr::MakeColumn(source, type), column.type);
    if (!cast.ok()) {
      return Mismatch(plan.path,
                      "Incompatible types for sink column '" + column.name + "' at position " +
                          std::to_string(i + 1) + ".",
                      query->schema, wanted_schema);
    }
    attributes.push_back((*cast)->kind() == expr::ExprKind::kColumn
                             ? query->time_attributes[static_cast<size_t>(source)]
                             : TimeAttribute::kNone);
    expressions.push_back(*std::move(cast));
  }
  plan.query = MakeProject(std::move(query), std::move(expressions), std::move(names),
                           std::move(attributes));
  return plan;
}

std::vector<SqlType> TypesOf(const std::vector<int>& columns, const Schema& schema) {
  std::vector<SqlType> types;
  for (const int column : columns) types.push_back(schema.column(column).type);
  return types;
}

}  // namespace

Result<PlanPtr> Binder::BindQuery(const Query& query) { return QueryBinder(context_).Bind(query); }

Result<InsertPlan> Binder::BindInsert(const InsertStatement& insert) {
  Result<catalog::CatalogManager::Found> found = context_.catalogs->Get(insert.table.Names());
  if (!found.ok()) return Located(found.status(), insert.table.range.begin);
  if (found->table->kind == catalog::TableKind::kView) {
    return Status::Validation("'" + found->path.ToString() + "' is a view: INSERT takes a table.",
                              insert.table.range.begin);
  }
  InsertPlan plan;
  plan.path = found->path;
  plan.table = found->table;
  plan.overwrite = insert.overwrite;
  plan.table_range = insert.table.range;
  SLUICE_ASSIGN_OR_RETURN(plan.options, ApplyHints(found->table->options, insert.hints, context_));
  SLUICE_ASSIGN_OR_RETURN(plan.static_partition,
                          StaticPartition(insert.partition, *found->table, found->path));
  const Schema sink = found->table->SinkSchema();
  SLUICE_ASSIGN_OR_RETURN(const std::vector<int> targets,
                          TargetColumns(insert, sink, plan.static_partition));
  SLUICE_ASSIGN_OR_RETURN(
      PlanPtr query, QueryBinder(context_).BindForTargets(*insert.query, TypesOf(targets, sink)));
  return BindInto(std::move(query), std::move(plan), targets, sink);
}

Result<InsertPlan> Binder::BindCtasInsert(const CreateTable& statement,
                                          const catalog::ObjectPath& path,
                                          std::shared_ptr<const catalog::CatalogTable> table) {
  InsertPlan plan;
  plan.path = path;
  plan.table = table;
  plan.options = table->options;
  plan.table_range = statement.table.range;
  SLUICE_ASSIGN_OR_RETURN(PlanPtr query, BindQuery(*statement.query));
  const Schema sink = table->SinkSchema();
  std::vector<int>
      targets;  // The query's columns go by name: the column list may reorder them and add others.
  for (const Column& column : query->schema.columns()) {
    const int index = sink.IndexOf(column.name);
    if (index < 0)
      return Status::Internal("column " + column.name + " of CREATE TABLE AS has no place");
    targets.push_back(index);
  }
  return BindInto(std::move(query), std::move(plan), targets, sink);
}

}  // namespace sluice::sql
