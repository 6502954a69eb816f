// What stands in FROM: tables, subqueries, table functions, UNNEST, joins.
#include "sql/syntax/parser_impl.h"

namespace sluice::sql {

Result<TableRefPtr> Parser::ParseFrom() {
  const Nesting nesting(this, /*counted=*/false);
  const size_t first = tokens_.index();
  SLUICE_ASSIGN_OR_RETURN(TableRefPtr left, ParseJoined());
  while (tokens_.Accept(",")) {
    SLUICE_RETURN_NOT_OK(GrowChain());
    auto join = New<JoinRef>();
    join->join_kind = JoinKind::kComma;
    join->left = std::move(left);
    SLUICE_ASSIGN_OR_RETURN(join->right, ParseJoined());
    left = Done(std::move(join), first);
  }
  return left;
}

Result<TableRefPtr> Parser::ParseJoined() {
  const Nesting nesting(this, /*counted=*/false);
  const size_t first = tokens_.index();
  SLUICE_ASSIGN_OR_RETURN(TableRefPtr left, ParseTablePrimary());
  for (;;) {
    bool natural = false;
    SLUICE_ASSIGN_OR_RETURN(std::optional<JoinKind> kind, ParseJoinKind(&natural));
    if (!kind) return left;
    SLUICE_RETURN_NOT_OK(GrowChain());
    auto join = New<JoinRef>();
    join->join_kind = *kind;
    join->natural = natural;
    join->left = std::move(left);
    SLUICE_ASSIGN_OR_RETURN(join->right, ParseTablePrimary());
    if (*kind != JoinKind::kCross && !natural) {
      if (tokens_.Accept("ON")) {
        SLUICE_ASSIGN_OR_RETURN(join->on, ParseExpr());
      } else if (tokens_.Accept("USING")) {
        SLUICE_ASSIGN_OR_RETURN(join->using_columns, ParseNameList());
      }
    }
    left = Done(std::move(join), first);
  }
}

Result<std::optional<JoinKind>> Parser::ParseJoinKind(bool* natural) {
  if (tokens_.AcceptAll({"CROSS", "JOIN"})) return std::optional(JoinKind::kCross);
  for (std::string_view word : {"CROSS", "OUTER"}) {
    if (tokens_.PeekIs(0, word) && tokens_.PeekIs(1, "APPLY")) {
      return tokens_.Unsupported(std::string(word) + " APPLY", tokens_.Peek().range);
    }
  }
  if (tokens_.PeekIs(0, "ASOF") && tokens_.PeekIs(1, "JOIN")) {
    return tokens_.Unsupported("ASOF JOIN", tokens_.Peek().range);
  }
  *natural = tokens_.Accept("NATURAL");
  std::optional<JoinKind> kind;
  if (tokens_.Accept("INNER")) {
    kind = JoinKind::kInner;
  } else if (tokens_.Accept("LEFT")) {
    kind = JoinKind::kLeft;
  } else if (tokens_.Accept("RIGHT")) {
    kind = JoinKind::kRight;
  } else if (tokens_.Accept("FULL")) {
    kind = JoinKind::kFull;
  }
  if (kind && *kind != JoinKind::kInner) tokens_.Accept("OUTER");
  if (tokens_.Accept("JOIN")) return std::optional(kind.value_or(JoinKind::kInner));
  if (kind || *natural) return tokens_.Fail();
  if (tokens_.Accept("CROSS")) {
    tokens_.At("JOIN");
    return tokens_.Fail();
  }
  return std::optional<JoinKind>();
}

Result<TableRefPtr> Parser::ParseTablePrimary() {
  const Nesting nesting(this);
  SLUICE_RETURN_NOT_OK(nesting.Check());
  const size_t first = tokens_.index();
  const bool lateral = tokens_.Accept("LATERAL");
  TableRefPtr table;
  if (tokens_.PeekIs(0, "UNNEST")) {
    SLUICE_ASSIGN_OR_RETURN(table, ParseUnnest(lateral, first));
  } else if (tokens_.PeekIs(0, "TABLE")) {
    SLUICE_ASSIGN_OR_RETURN(table, ParseTableCall(lateral, first));
  } else if (tokens_.PeekIs(0, "(")) {
    if (!lateral && !AtQuery()) {  // (a JOIN b ON …)
      tokens_.Take();
      SLUICE_ASSIGN_OR_RETURN(table, ParseFrom());
      SLUICE_RETURN_NOT_OK(tokens_.Expect(")"));
      if (table->kind == TableRefKind::kJoin) return table;
      if (table->alias) return table;
    } else {
      SLUICE_ASSIGN_OR_RETURN(table, ParseDerived(lateral, first));
    }
  } else if (lateral) {
    for (std::string_view word : {"TABLE", "UNNEST", "("}) tokens_.At(word);
    return tokens_.Fail();
  } else {
    for (std::string_view word : {"TABLE", "UNNEST", "(", "LATERAL"}) tokens_.At(word);
    SLUICE_ASSIGN_OR_RETURN(table, ParseNamedTable(first));
  }
  SLUICE_RETURN_NOT_OK(RefuseTableOperator());
  SLUICE_RETURN_NOT_OK(ParseAlias(table.get()));
  SLUICE_RETURN_NOT_OK(RefuseTableOperator());
  table->range = tokens_.Span(first);
  return table;
}

// t, t /*+ OPTIONS(…) */, t FOR SYSTEM_TIME AS OF e, f(args)
Result<TableRefPtr> Parser::ParseNamedTable(size_t first) {
  SLUICE_ASSIGN_OR_RETURN(NamePath path, ParsePath());
  if (tokens_.PeekIs(0, "(")) {
    SLUICE_ASSIGN_OR_RETURN(ExprPtr call, ParseCall(std::move(path), first));
    auto function = New<TableFunctionRef>();
    function->call.reset(static_cast<CallExpr*>(call.release()));
    return Done(std::move(function), first);
  }
  auto table = New<TableNameRef>();
  table->path = std::move(path);
  SLUICE_ASSIGN_OR_RETURN(table->hints, ParseHints());
  if (tokens_.PeekIs(0, "EXTEND")) {
    return tokens_.Unsupported("EXTEND", tokens_.Peek().range);
  }
  if (tokens_.Accept("FOR")) {
    SLUICE_RETURN_NOT_OK(tokens_.ExpectAll({"SYSTEM_TIME", "AS", "OF"}));
    SLUICE_ASSIGN_OR_RETURN(table->as_of, ParseExpr());
  }
  return Done(std::move(table), first);
}

// TABLE(f(args))
Result<TableRefPtr> Parser::ParseTableCall(bool lateral, size_t first) {
  SLUICE_RETURN_NOT_OK(tokens_.ExpectAll({"TABLE", "("}));
  auto function = New<TableFunctionRef>();
  function->lateral = lateral;
  function->table_keyword = true;
  const size_t call_first = tokens_.index();
  NamePath path;
  if (tokens_.Peek().kind == TokenKind::kWord && tokens_.PeekIs(1, "(") &&
      IsCallableWord(tokens_.Peek().value)) {
    const Token& word = tokens_.Take();
    path.parts.push_back({std::string(word.text), word.range, false});
    path.range = word.range;
  } else {
    SLUICE_ASSIGN_OR_RETURN(path, ParsePath());
  }
  if (!tokens_.At("(")) return tokens_.Fail();
  SLUICE_ASSIGN_OR_RETURN(ExprPtr call, ParseCall(std::move(path), call_first));
  function->call.reset(static_cast<CallExpr*>(call.release()));
  SLUICE_RETURN_NOT_OK(tokens_.Expect(")"));
  return Done(std::move(function), first);
}

Result<TableRefPtr> Parser::ParseUnnest(bool lateral, size_t first) {
  SLUICE_RETURN_NOT_OK(tokens_.ExpectAll({"UNNEST", "("}));
  auto unnest = New<UnnestRef>();
  unnest->lateral = lateral;
  SLUICE_RETURN_NOT_OK(ParseExprList(&unnest->arguments));
  SLUICE_RETURN_NOT_OK(tokens_.Expect(")"));
  unnest->with_ordinality = tokens_.Accept("WITH");
  if (unnest->with_ordinality) SLUICE_RETURN_NOT_OK(tokens_.Expect("ORDINALITY"));
  return Done(std::move(unnest), first);
}

Result<TableRefPtr> Parser::ParseDerived(bool lateral, size_t first) {
  SLUICE_RETURN_NOT_OK(tokens_.Expect("("));
  auto derived = New<DerivedTableRef>();
  derived->lateral = lateral;
  SLUICE_ASSIGN_OR_RETURN(derived->query, ParseQuery());
  SLUICE_RETURN_NOT_OK(tokens_.Expect(")"));
  return Done(std::move(derived), first);
}

Status Parser::ParseAlias(TableRef* table) {
  const bool asof_join = tokens_.PeekIs(0, "ASOF") && tokens_.PeekIs(1, "JOIN");
  if (!tokens_.Accept("AS") && (asof_join || !AtName())) return {};
  SLUICE_ASSIGN_OR_RETURN(table->alias, ParseName());
  if (tokens_.At("(")) {
    SLUICE_ASSIGN_OR_RETURN(table->column_aliases, ParseNameList());
  }
  return {};
}

// Operators on a table that the peer has and we do not yet.
Status Parser::RefuseTableOperator() {
  for (std::string_view word : {"MATCH_RECOGNIZE", "PIVOT", "UNPIVOT", "TABLESAMPLE"}) {
    if (tokens_.PeekIs(0, word)) return tokens_.Unsupported(word, tokens_.Peek().range);
  }
  return {};
}

}  // namespace sluice::sql
