#include "sql/syntax/sql_writer.h"

namespace sluice::sql {

void SqlWriter::Write(const Query& query) {
  if (!query.with.empty()) {
    Put("WITH ");
    PutList(query.with, [this](const CommonTable& table) {
      Write(table.name);
      if (!table.columns.empty()) {
        Put(" ");
        PutNames(table.columns);
      }
      Put(" AS (");
      Write(*table.query);
      Put(")");
    });
    Put(" ");
  }
  Write(*query.body);
  if (!query.order_by.empty()) {
    PutClause("ORDER BY ");
    PutOrder(query.order_by);
  }
  if (query.limit != nullptr) {
    PutClause("LIMIT ");
    WriteAtLeast(*query.limit, 6);
  }
  if (query.offset != nullptr) {
    PutClause("OFFSET ");
    WriteAtLeast(*query.offset, 6);
  }
}

void SqlWriter::Write(const QueryBody& body) {
  switch (body.kind) {
    case BodyKind::kSelect:
      return WriteSelect(body.As<SelectBody>());
    case BodyKind::kValues:
      Put("VALUES ");
      return PutList(body.As<ValuesBody>().rows, [this](const ValuesRow& row) {
        Put(row.values.empty() ? "ROW(" : "(");
        PutExprs(row.values);
        Put(")");
      });
    case BodyKind::kTable:
      Put("TABLE ");
      return Write(body.As<TableBody>().path);
    case BodyKind::kSetOperation: {
      const auto& set = body.As<SetOperation>();
      Write(*set.left);
      PutClause(set.op == SetOp::kUnion       ? "UNION"
                : set.op == SetOp::kIntersect ? "INTERSECT"
                                              : "EXCEPT");
      PutIf(set.all, " ALL");
      PutClause("");
      return Write(*set.right);
    }
    case BodyKind::kNested:
      Put("(");
      Write(*body.As<NestedQuery>().query);
      return Put(")");
  }
}

void SqlWriter::PutHints(const std::vector<Hint>& hints) {
  if (hints.empty()) return;
  Put(" /*+ ");
  PutList(hints, [this](const Hint& hint) {
    Write(hint.name);
    Put("(");
    PutList(hint.options, [this](const OptionPair& option) {
      Put(QuoteString(option.key) + " = " + QuoteString(option.value));
    });
    PutIf(!hint.options.empty() && !hint.arguments.empty(), ", ");
    PutList(hint.arguments, [this](const std::string& argument) { Put(QuoteString(argument)); });
    Put(")");
  });
  Put(" */");
}

void SqlWriter::WriteSelect(const SelectBody& select) {
  Put("SELECT");
  PutHints(select.hints);
  Put(select.distinct ? " DISTINCT " : " ");
  PutList(select.items, [this](const SelectItem& item) {
    Write(*item.expr);
    if (!item.alias) return;
    Put(" AS ");
    Write(*item.alias);
  });
  if (select.from == nullptr) return;
  PutClause("FROM ");
  Write(*select.from);
  if (select.where != nullptr) {
    PutClause("WHERE ");
    Write(*select.where);
  }
  if (select.has_group_by) {
    PutClause(select.group_distinct ? "GROUP BY DISTINCT " : "GROUP BY ");
    PutList(select.group_by, [this](const GroupItem& item) { WriteGroup(item); });
  }
  if (select.having != nullptr) {
    PutClause("HAVING ");
    Write(*select.having);
  }
  if (!select.windows.empty()) {
    PutClause("WINDOW ");
    PutList(select.windows, [this](const NamedWindow& window) {
      Write(window.name);
      Put(" AS ");
      Write(window.spec);
    });
  }
  if (select.qualify != nullptr) {
    PutClause("QUALIFY ");
    Write(*select.qualify);
  }
}

void SqlWriter::WriteGroup(const GroupItem& item) {
  if (item.kind == GroupKind::kExpr) {
    PutIf(item.parenthesized, "(");
    PutExprs(item.exprs);
    PutIf(item.parenthesized, ")");
    return;
  }
  Put(item.kind == GroupKind::kRollup ? "ROLLUP ("
      : item.kind == GroupKind::kCube ? "CUBE ("
                                      : "GROUPING SETS (");
  PutList(item.children, [this](const GroupItem& child) { WriteGroup(child); });
  Put(")");
}

void SqlWriter::Write(const TableRef& table) {
  switch (table.kind) {
    case TableRefKind::kJoin:
      return WriteJoin(table.As<JoinRef>());
    case TableRefKind::kTable: {
      const auto& name = table.As<TableNameRef>();
      Write(name.path);
      PutHints(name.hints);
      if (name.as_of != nullptr) {
        Put(" FOR SYSTEM_TIME AS OF ");
        Write(*name.as_of);
      }
      break;
    }
    case TableRefKind::kSubquery: {
      const auto& derived = table.As<DerivedTableRef>();
      Put(derived.lateral ? "LATERAL (" : "(");
      Write(*derived.query);
      Put(")");
      break;
    }
    case TableRefKind::kFunction: {
      const auto& function = table.As<TableFunctionRef>();
      PutIf(function.lateral, "LATERAL ");
      PutIf(function.table_keyword, "TABLE(");
      Write(*function.call);
      PutIf(function.table_keyword, ")");
      break;
    }
    case TableRefKind::kUnnest: {
      const auto& unnest = table.As<UnnestRef>();
      Put(unnest.lateral ? "LATERAL UNNEST(" : "UNNEST(");
      PutExprs(unnest.arguments);
      Put(unnest.with_ordinality ? ") WITH ORDINALITY" : ")");
      break;
    }
  }
  WriteAlias(table);
}

void SqlWriter::WriteAlias(const TableRef& table) {
  if (!table.alias) return;
  Put(" AS ");
  Write(*table.alias);
  if (table.column_aliases.empty()) return;
  Put(" ");
  PutNames(table.column_aliases);
}

void SqlWriter::WriteJoin(const JoinRef& join) {
  auto is_join = [](const TableRef& table, bool comma_only) {
    const auto* inner = table.If<JoinRef>();
    return inner != nullptr && (!comma_only || inner->join_kind == JoinKind::kComma);
  };
  const bool comma = join.join_kind == JoinKind::kComma;
  const bool left = !comma && is_join(*join.left, true);
  PutIf(left, "(");
  Write(*join.left);
  PutIf(left, ")");
  if (comma) {
    Put(", ");
  } else {
    PutClause(join.natural ? "NATURAL " : "");
  }
  switch (join.join_kind) {
    case JoinKind::kComma:
      break;
    case JoinKind::kCross:
      Put("CROSS JOIN ");
      break;
    case JoinKind::kInner:
      Put("INNER JOIN ");
      break;
    case JoinKind::kLeft:
      Put("LEFT JOIN ");
      break;
    case JoinKind::kRight:
      Put("RIGHT JOIN ");
      break;
    case JoinKind::kFull:
      Put("FULL JOIN ");
      break;
  }
  const bool right = is_join(*join.right, comma);
  PutIf(right, "(");
  Write(*join.right);
  PutIf(right, ")");
  if (join.on != nullptr) {
    Put(" ON ");
    Write(*join.on);
  } else if (!join.using_columns.empty()) {
    Put(" USING ");
    PutNames(join.using_columns);
  }
}

std::string ToSql(const Query& query) {
  SqlWriter writer;
  writer.Write(query);
  return writer.Finish();
}

std::string ToSqlLines(const Query& query) {
  SqlWriter writer(/*clause_lines=*/true);
  writer.Write(query);
  return writer.Finish();
}

std::string ToSql(const QueryBody& body) {
  SqlWriter writer;
  writer.Write(body);
  return writer.Finish();
}

std::string ToSql(const TableRef& table) {
  SqlWriter writer;
  writer.Write(table);
  return writer.Finish();
}

}  // namespace sluice::sql
