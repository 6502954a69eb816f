// The children of a node of the syntax tree, for code that looks for names in expressions or
// rewrites them.
#pragma once

#include <functional>
#include <set>
#include <string>

#include "sql/syntax/ast.h"

namespace sluice::sql {

struct ChildVisitor {
  /// Called for each direct child expression, left to right.
  std::function<void(Expr&)> expression;
  /// Called for each query inside the node (EXISTS, IN, a scalar subquery). May be empty.
  std::function<void(Query&)> query;
};
void ForEachChild(Expr& node, const ChildVisitor& visit);

/// First parts of all column references below `node`, subqueries left out: the columns it uses,
/// when nothing is qualified.
std::set<std::string> UsedColumnNames(Expr& node);

/// Calls `visit` for the name of every table that `query` reads, also in subqueries. Names of
/// common tables come too.
void ForEachTableName(Query& query, const std::function<void(const NamePath&)>& visit);

}  // namespace sluice::sql
