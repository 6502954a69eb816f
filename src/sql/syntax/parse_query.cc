// Queries: WITH, SELECT and its clauses, VALUES, set operations, ORDER BY and LIMIT, windows,
// hints.
#include "sql/syntax/parser_impl.h"

namespace sluice::sql {

Result<QueryPtr> Parser::ParseQuery() {
  const Nesting nesting(this);
  SLUICE_RETURN_NOT_OK(nesting.Check());
  const size_t first = tokens_.index();
  auto query = New<Query>();
  SLUICE_RETURN_NOT_OK(ParseWith(query.get()));
  SLUICE_ASSIGN_OR_RETURN(query->body, ParseBody());
  SLUICE_ASSIGN_OR_RETURN(query->order_by, ParseOrderBy());
  SLUICE_RETURN_NOT_OK(ParseLimits(query.get()));
  return Done(std::move(query), first);
}

Status Parser::ParseWith(Query* query) {
  if (!tokens_.Accept("WITH")) return {};
  if (tokens_.PeekIs(0, "RECURSIVE")) {
    return tokens_.Unsupported("WITH RECURSIVE", tokens_.Peek().range);
  }
  do {
    CommonTable table;
    SLUICE_ASSIGN_OR_RETURN(table.name, ParseName());
    if (tokens_.At("(")) {
      SLUICE_ASSIGN_OR_RETURN(table.columns, ParseNameList());
    }
    SLUICE_RETURN_NOT_OK(tokens_.ExpectAll({"AS", "("}));
    SLUICE_ASSIGN_OR_RETURN(table.query, ParseQuery());
    SLUICE_RETURN_NOT_OK(tokens_.Expect(")"));
    query->with.push_back(std::move(table));
  } while (tokens_.Accept(","));
  return {};
}

Result<BodyPtr> Parser::ParseBody() {
  const Nesting nesting(this, /*counted=*/false);
  const size_t first = tokens_.index();
  SLUICE_ASSIGN_OR_RETURN(BodyPtr left, ParseIntersect());
  for (;;) {
    SetOp op = SetOp::kExcept;
    if (tokens_.Accept("UNION")) {
      op = SetOp::kUnion;
    } else if (!tokens_.Accept("EXCEPT") && !tokens_.Accept("MINUS")) {
      return left;
    }
    SLUICE_RETURN_NOT_OK(GrowChain());
    auto node = New<SetOperation>();
    node->op = op;
    node->all = tokens_.Accept("ALL");
    if (!node->all) tokens_.Accept("DISTINCT");
    node->left = std::move(left);
    SLUICE_ASSIGN_OR_RETURN(node->right, ParseIntersect());
    left = Done(std::move(node), first);
  }
}

Result<BodyPtr> Parser::ParseIntersect() {
  const Nesting nesting(this, /*counted=*/false);
  const size_t first = tokens_.index();
  SLUICE_ASSIGN_OR_RETURN(BodyPtr left, ParseTerm());
  while (tokens_.Accept("INTERSECT")) {
    SLUICE_RETURN_NOT_OK(GrowChain());
    auto node = New<SetOperation>();
    node->op = SetOp::kIntersect;
    node->all = tokens_.Accept("ALL");
    if (!node->all) tokens_.Accept("DISTINCT");
    node->left = std::move(left);
    SLUICE_ASSIGN_OR_RETURN(node->right, ParseTerm());
    left = Done(std::move(node), first);
  }
  return left;
}

Result<BodyPtr> Parser::ParseTerm() {
  const size_t first = tokens_.index();
  if (tokens_.At("SELECT")) return ParseSelect();
  if (tokens_.At("VALUES")) return ParseValues();
  if (tokens_.Accept("TABLE")) {
    auto table = New<TableBody>();
    SLUICE_ASSIGN_OR_RETURN(table->path, ParsePath());
    return Done(std::move(table), first);
  }
  SLUICE_RETURN_NOT_OK(tokens_.Expect("("));
  auto nested = New<NestedQuery>();
  SLUICE_ASSIGN_OR_RETURN(nested->query, ParseQuery());
  SLUICE_RETURN_NOT_OK(tokens_.Expect(")"));
  return Done(std::move(nested), first);
}

Result<BodyPtr> Parser::ParseSelect() {
  const size_t first = tokens_.index();
  SLUICE_RETURN_NOT_OK(tokens_.Expect("SELECT"));
  auto select = New<SelectBody>();
  SLUICE_ASSIGN_OR_RETURN(select->hints, ParseHints());
  if (tokens_.PeekIs(0, "STREAM") && !tokens_.PeekIs(1, ",")) {
    return tokens_.Unsupported("SELECT STREAM", tokens_.Peek().range);
  }
  select->distinct = tokens_.Accept("DISTINCT");
  if (!select->distinct) tokens_.Accept("ALL");
  do {
    SLUICE_RETURN_NOT_OK(ParseSelectItem(select.get()));
  } while (tokens_.Accept(","));
  if (tokens_.Accept("FROM")) {
    SLUICE_ASSIGN_OR_RETURN(select->from, ParseFrom());
    SLUICE_RETURN_NOT_OK(ParseClauses(select.get()));
  }
  return Done(std::move(select), first);
}

Status Parser::ParseSelectItem(SelectBody* select) {
  const size_t first = tokens_.index();
  SelectItem item;
  // Finds the star of a.b.* without taking the names.
  size_t ahead = 0;
  while (tokens_.Peek(ahead).IsName() && tokens_.PeekIs(ahead + 1, ".")) ahead += 2;
  if (tokens_.PeekIs(ahead, "*")) {
    auto star = New<StarExpr>();
    while (!tokens_.PeekIs(0, "*")) {
      SLUICE_ASSIGN_OR_RETURN(Identifier name, ParseName());
      star->qualifier.parts.push_back(std::move(name));
      star->qualifier.range = tokens_.Span(first);
      tokens_.Take();
    }
    tokens_.Take();
    item.expr = Done(std::move(star), first);
    for (std::string_view word : {"EXCEPT", "EXCLUDE", "REPLACE"}) {
      if (tokens_.PeekIs(0, word) && tokens_.PeekIs(1, "(") && !AtQuery(1)) {
        return tokens_.Unsupported("* " + std::string(word) + " (…)", tokens_.Peek().range);
      }
    }
    select->items.push_back(std::move(item));
    return {};
  }
  tokens_.Note("\"*\"");
  SLUICE_ASSIGN_OR_RETURN(item.expr, ParseExpr());
  const bool as = tokens_.Accept("AS");
  if (as || AtName()) {
    SLUICE_ASSIGN_OR_RETURN(item.alias, ParseName());
  }
  select->items.push_back(std::move(item));
  return {};
}

Status Parser::ParseClauses(SelectBody* select) {
  if (tokens_.Accept("WHERE")) {
    SLUICE_ASSIGN_OR_RETURN(select->where, ParseExpr());
  }
  if (tokens_.Accept("GROUP")) {
    SLUICE_RETURN_NOT_OK(tokens_.Expect("BY"));
    select->has_group_by = true;
    select->group_distinct = tokens_.Accept("DISTINCT");
    if (!select->group_distinct) tokens_.Accept("ALL");
    do {
      SLUICE_ASSIGN_OR_RETURN(GroupItem item, ParseGroupItem());
      select->group_by.push_back(std::move(item));
    } while (tokens_.Accept(","));
  }
  if (tokens_.Accept("HAVING")) {
    SLUICE_ASSIGN_OR_RETURN(select->having, ParseExpr());
  }
  if (tokens_.Accept("WINDOW")) {
    do {
      NamedWindow window;
      SLUICE_ASSIGN_OR_RETURN(window.name, ParseName());
      SLUICE_RETURN_NOT_OK(tokens_.Expect("AS"));
      SLUICE_ASSIGN_OR_RETURN(window.spec, ParseWindowSpec());
      select->windows.push_back(std::move(window));
    } while (tokens_.Accept(","));
  }
  if (tokens_.Accept("QUALIFY")) {
    SLUICE_ASSIGN_OR_RETURN(select->qualify, ParseExpr());
  }
  return {};
}

Result<GroupItem> Parser::ParseGroupItem() {
  const Nesting nesting(this);
  SLUICE_RETURN_NOT_OK(nesting.Check());
  const size_t first = tokens_.index();
  GroupItem item;
  if (tokens_.PeekIs(0, "ROLLUP") && tokens_.PeekIs(1, "(")) item.kind = GroupKind::kRollup;
  if (tokens_.PeekIs(0, "CUBE") && tokens_.PeekIs(1, "(")) item.kind = GroupKind::kCube;
  if (tokens_.PeekIs(0, "GROUPING") && tokens_.PeekIs(1, "SETS")) {
    item.kind = GroupKind::kGroupingSets;
    tokens_.Take();
  }
  if (item.kind != GroupKind::kExpr) {
    tokens_.Take();
    SLUICE_RETURN_NOT_OK(tokens_.Expect("("));
    do {
      SLUICE_ASSIGN_OR_RETURN(GroupItem child, ParseGroupItem());
      item.children.push_back(std::move(child));
    } while (tokens_.Accept(","));
    SLUICE_RETURN_NOT_OK(tokens_.Expect(")"));
  } else if (tokens_.PeekIs(0, "(") && tokens_.PeekIs(1, ")")) {
    tokens_.Take();
    tokens_.Take();
    item.parenthesized = true;
  } else {
    SLUICE_ASSIGN_OR_RETURN(ExprPtr key, ParseExpr());
    auto* row = key->kind == ExprKind::kRow ? &key->As<RowConstructorExpr>() : nullptr;
    if (row != nullptr && !row->explicit_row) {  // (a, b) is a composite key, no row.
      item.parenthesized = true;
      item.exprs = std::move(row->elements);
    } else {
      item.parenthesized = key->parenthesized;
      item.exprs.push_back(std::move(key));
    }
  }
  item.range = tokens_.Span(first);
  return item;
}

Result<BodyPtr> Parser::ParseValues() {
  const size_t first = tokens_.index();
  SLUICE_RETURN_NOT_OK(tokens_.Expect("VALUES"));
  auto values = New<ValuesBody>();
  do {
    const size_t row_first = tokens_.index();
    SLUICE_ASSIGN_OR_RETURN(ExprPtr value, ParseExpr());
    ValuesRow row;
    if (value->kind == ExprKind::kRow && !value->parenthesized) {
      row.values = std::move(value->As<RowConstructorExpr>().elements);
    } else {
      row.values.push_back(std::move(value));
    }
    row.range = tokens_.Span(row_first);
    values->rows.push_back(std::move(row));
  } while (tokens_.Accept(","));
  return Done(std::move(values), first);
}

Status Parser::ParseLimits(Query* query) {
  if (tokens_.Accept("LIMIT") && !tokens_.Accept("ALL")) {
    SLUICE_ASSIGN_OR_RETURN(query->limit, ParseBinary(kAdditiveLevel));
  }
  if (tokens_.Accept("OFFSET")) {
    SLUICE_ASSIGN_OR_RETURN(query->offset, ParseBinary(kAdditiveLevel));
    if (!tokens_.Accept("ROW")) tokens_.Accept("ROWS");
  }
  if (query->limit == nullptr && tokens_.Accept("FETCH")) {
    if (!tokens_.Accept("FIRST")) SLUICE_RETURN_NOT_OK(tokens_.Expect("NEXT"));
    SLUICE_ASSIGN_OR_RETURN(query->limit, ParseBinary(kAdditiveLevel));
    if (!tokens_.Accept("ROW")) SLUICE_RETURN_NOT_OK(tokens_.Expect("ROWS"));
    SLUICE_RETURN_NOT_OK(tokens_.Expect("ONLY"));
  }
  return {};
}

Result<std::vector<OrderItem>> Parser::ParseOrderBy() {
  std::vector<OrderItem> items;
  if (!tokens_.Accept("ORDER")) return items;
  SLUICE_RETURN_NOT_OK(tokens_.Expect("BY"));
  do {
    SLUICE_ASSIGN_OR_RETURN(OrderItem item, ParseOrderItem());
    items.push_back(std::move(item));
  } while (tokens_.Accept(","));
  return items;
}

Result<OrderItem> Parser::ParseOrderItem() {
  OrderItem item;
  SLUICE_ASSIGN_OR_RETURN(item.expr, ParseExpr());
  item.descending = tokens_.Accept("DESC");
  if (!item.descending) tokens_.Accept("ASC");
  if (tokens_.Accept("NULLS")) {
    item.nulls_first = tokens_.Accept("FIRST");
    if (!*item.nulls_first) SLUICE_RETURN_NOT_OK(tokens_.Expect("LAST"));
  }
  return item;
}

// With its parentheses.
Result<WindowSpec> Parser::ParseWindowSpec() {
  const size_t first = tokens_.index();
  SLUICE_RETURN_NOT_OK(tokens_.Expect("("));
  WindowSpec window;
  if (AtName()) {
    SLUICE_ASSIGN_OR_RETURN(window.base_name, ParseName());
  }
  if (tokens_.Accept("PARTITION")) {
    SLUICE_RETURN_NOT_OK(tokens_.Expect("BY"));
    SLUICE_RETURN_NOT_OK(ParseExprList(&window.partition_by));
  }
  SLUICE_ASSIGN_OR_RETURN(window.order_by, ParseOrderBy());
  SLUICE_RETURN_NOT_OK(ParseFrame(&window));
  SLUICE_RETURN_NOT_OK(tokens_.Expect(")"));
  window.range = tokens_.Span(first);
  return window;
}

Status Parser::ParseFrame(WindowSpec* window) {
  if (tokens_.PeekIs(0, "GROUPS")) {
    return tokens_.Unsupported("A GROUPS frame", tokens_.Peek().range);
  }
  if (tokens_.Accept("ROWS")) {
    window->frame = WindowSpec::Frame::kRows;
  } else if (tokens_.Accept("RANGE")) {
    window->frame = WindowSpec::Frame::kRange;
  } else {
    return {};
  }
  const bool between = tokens_.Accept("BETWEEN");
  SLUICE_ASSIGN_OR_RETURN(window->start, ParseFrameBound());
  if (between) {
    SLUICE_RETURN_NOT_OK(tokens_.Expect("AND"));
    SLUICE_ASSIGN_OR_RETURN(window->end, ParseFrameBound());
  }
  for (std::string_view word : {"EXCLUDE", "ALLOW", "DISALLOW"}) {
    if (tokens_.PeekIs(0, word)) {
      return tokens_.Unsupported(std::string(word) + " in a window frame", tokens_.Peek().range);
    }
  }
  return {};
}

Result<FrameBound> Parser::ParseFrameBound() {
  FrameBound bound;
  if (tokens_.AcceptAll({"CURRENT", "ROW"})) return bound;
  const bool unbounded = tokens_.PeekIs(0, "UNBOUNDED") &&
                         (tokens_.PeekIs(1, "PRECEDING") || tokens_.PeekIs(1, "FOLLOWING"));
  if (unbounded) {
    tokens_.Take();
  } else {
    tokens_.Note("\"UNBOUNDED\"");
    SLUICE_ASSIGN_OR_RETURN(bound.offset, ParseBinary(kAdditiveLevel));
  }
  const bool preceding = tokens_.Accept("PRECEDING");
  if (!preceding) SLUICE_RETURN_NOT_OK(tokens_.Expect("FOLLOWING"));
  if (unbounded) {
    bound.kind =
        preceding ? FrameBoundKind::kUnboundedPreceding : FrameBoundKind::kUnboundedFollowing;
  } else {
    bound.kind = preceding ? FrameBoundKind::kPreceding : FrameBoundKind::kFollowing;
  }
  return bound;
}

Result<std::vector<Hint>> Parser::ParseHints() {
  std::vector<Hint> hints;
  if (!tokens_.Accept("/*+")) return hints;
  do {
    const size_t first = tokens_.index();
    Hint hint;
    SLUICE_ASSIGN_OR_RETURN(hint.name, ParseName());
    if (tokens_.Accept("(")) {
      if (!tokens_.At(")")) SLUICE_RETURN_NOT_OK(ParseHintArguments(&hint));
      SLUICE_RETURN_NOT_OK(tokens_.Expect(")"));
    }
    hint.range = tokens_.Span(first);
    hints.push_back(std::move(hint));
  } while (tokens_.Accept(",") || AtName());
  SLUICE_RETURN_NOT_OK(tokens_.Expect("*/"));
  return hints;
}

// 'k'='v', k='v', a name, a text or a number; separated by commas.
Status Parser::ParseHintArguments(Hint* hint) {
  do {
    const size_t first = tokens_.index();
    const TokenKind kind = tokens_.Peek().kind;
    std::string text;
    if (kind == TokenKind::kString) {
      SLUICE_ASSIGN_OR_RETURN(text, ParseString());
    } else if (kind == TokenKind::kInteger || kind == TokenKind::kDecimal) {
      text = tokens_.Take().value;
    } else {
      SLUICE_ASSIGN_OR_RETURN(NamePath path, ParsePath());
      text = path.ToString();
    }
    if (!tokens_.Accept("=")) {
      hint->arguments.push_back(std::move(text));
      continue;
    }
    OptionPair option;
    option.key = std::move(text);
    option.key_range = tokens_.Span(first);
    option.value_range = tokens_.Peek().range;
    SLUICE_ASSIGN_OR_RETURN(option.value, ParseString());
    hint->options.push_back(std::move(option));
  } while (tokens_.Accept(","));
  return {};
}

}  // namespace sluice::sql
