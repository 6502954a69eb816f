// What names mean at a place of a query: the relations of FROM and their columns, by position in
// the input row.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "expr/expr.h"
#include "sql/logical/plan.h"
#include "sql/syntax/node.h"

namespace sluice::sql {

struct ScopeColumn {
  std::string name;
  SqlType type;
  TimeAttribute time_attribute = TimeAttribute::kNone;
  expr::ExprPtr expression;      // Over the input row; usually a plain column.
  bool in_star = true;           // False for the second copy of a USING column.
  bool needs_qualifier = false;  // Reachable as t.c only (the copies of a USING column).
};

/// One item of FROM. `name` has one to three parts: an alias, or the table's path.
struct ScopeRelation {
  std::vector<std::string> name;
  std::vector<ScopeColumn> columns;
};

class Scope {
 public:
  /// A scope over the output of `plan`, as one relation.
  static Scope Over(const PlanNode& plan, std::vector<std::string> relation_name);

  void Add(ScopeRelation relation) { relations_.push_back(std::move(relation)); }
  /// The relations of `left`, then those of `right` with their columns `shift` further right.
  static Scope Join(const Scope& left, const Scope& right, int shift);

  std::vector<ScopeRelation>& relations() { return relations_; }
  const std::vector<ScopeRelation>& relations() const { return relations_; }

  /// `a`, `t.a`, `db.t.a`, `a.field`, `t.a.field`. Fails with "Column 'x' not found in any table;
  /// did you mean 'y'?", "Column 'x' is ambiguous" and the position of the name.
  Result<expr::ExprPtr> Resolve(const NamePath& path) const;
  /// True when Resolve would find a column, or several.
  bool Has(const NamePath& path) const {
    return !FindQualified(path).empty() || !FindPlain(path).empty();
  }
  /// Columns of `*` (no qualifier) or `t.*`.
  Result<std::vector<const ScopeColumn*>> Star(const NamePath& qualifier) const;
  /// Time attribute of the column that `expression` is, kNone for anything but a plain column.
  TimeAttribute TimeAttributeOf(const expr::Expr& expression) const;

 private:
  struct Match {
    const ScopeColumn* column;
    size_t next_part;  // First part of the path behind the column: fields of a row.
  };
  std::vector<Match> FindQualified(const NamePath& path) const;
  std::vector<Match> FindPlain(const NamePath& path) const;
  Status NotFound(const NamePath& path) const;

  std::vector<ScopeRelation> relations_;
};

}  // namespace sluice::sql
