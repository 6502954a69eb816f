// Which statement it is; CREATE, ALTER and DROP of all but tables; INSERT and statement sets.
#include <array>

#include "sql/syntax/parser_impl.h"

namespace sluice::sql {
namespace {

// Statements of the peer that are named and refused: their first word, and the second where the
// first does not suffice.
struct UnsupportedStart {
  std::string_view first;
  std::string_view second;
  std::string_view feature;
};
constexpr std::array kUnsupportedStarts{
    UnsupportedStart{"DELETE", "", "DELETE"},
    UnsupportedStart{"UPDATE", "", "UPDATE"},
    UnsupportedStart{"TRUNCATE", "", "TRUNCATE TABLE"},
    UnsupportedStart{"MERGE", "", "MERGE"},
    UnsupportedStart{"UPSERT", "", "UPSERT"},
    UnsupportedStart{"ANALYZE", "", "ANALYZE TABLE"},
    UnsupportedStart{"CALL", "", "CALL"},
    UnsupportedStart{"COMPILE", "", "COMPILE PLAN"},
    UnsupportedStart{"LOAD", "MODULE", "LOAD MODULE"},
    UnsupportedStart{"UNLOAD", "MODULE", "UNLOAD MODULE"},
    UnsupportedStart{"ADD", "JAR", "ADD JAR"},
    UnsupportedStart{"REMOVE", "JAR", "REMOVE JAR"},
};

// What CREATE, ALTER and DROP are refused for.
constexpr std::array kUnsupportedObjects{
    UnsupportedStart{"FUNCTION", "", "FUNCTION"},
    UnsupportedStart{"SYSTEM", "FUNCTION", "SYSTEM FUNCTION"},
    UnsupportedStart{"MATERIALIZED", "TABLE", "MATERIALIZED TABLE"},
    UnsupportedStart{"MODEL", "", "MODEL"},
    UnsupportedStart{"CONNECTION", "", "CONNECTION"},
};

}  // namespace

Result<StatementPtr> Parser::ParseAnyStatement() {
  const Nesting nesting(this);
  SLUICE_RETURN_NOT_OK(nesting.Check());
  for (std::string_view word : {"SELECT", "WITH", "VALUES", "TABLE", "("}) {
    if (!tokens_.At(word)) continue;
    auto query = New<QueryStatement>();
    SLUICE_ASSIGN_OR_RETURN(query->query, ParseQuery());
    return query;
  }
  if (tokens_.At("INSERT")) return ParseInsert();
  if (tokens_.Accept("CREATE")) return ParseCreate();
  if (tokens_.AcceptAll({"REPLACE", "TABLE"})) return ParseCreateTable(CreateMode::kReplace, false);
  if (tokens_.Accept("ALTER")) return ParseAlter();
  if (tokens_.Accept("DROP")) return ParseDrop();
  if (tokens_.Accept("USE")) return ParseUse();
  if (tokens_.At("SET")) return ParseSet();
  if (tokens_.At("RESET")) return ParseReset();
  if (tokens_.Accept("SHOW")) return ParseShow();
  if (tokens_.Accept("DESCRIBE") || tokens_.Accept("DESC")) return ParseDescribe();
  if (tokens_.Accept("EXPLAIN")) return ParseExplain();
  if (tokens_.Accept("EXECUTE")) return ParseExecute();
  if (tokens_.Accept("BEGIN")) return ParseBegin();
  if (tokens_.Accept("END")) return New<EndStatementSet>();
  if (tokens_.Accept("STOP")) return ParseStopJob();
  // No statements of the peer: they are left out of what its messages say was expected.
  if (tokens_.PeekIs(0, "COMPACT") && tokens_.PeekIs(1, "TABLE")) return ParseCompactTable();
  if (tokens_.PeekIs(0, "CLEAN") && tokens_.PeekIs(1, "TABLE")) return ParseCleanTable();
  return ParseUnsupportedStart();
}

Result<StatementPtr> Parser::ParseUnsupportedStart() {
  for (const UnsupportedStart& start : kUnsupportedStarts) {
    if (!tokens_.PeekIs(0, start.first)) continue;
    if (!start.second.empty() && !tokens_.PeekIs(1, start.second)) continue;
    return ParseUnsupported(std::string(start.feature));
  }
  return tokens_.Fail();
}

Result<StatementPtr> Parser::ParseCreate() {
  const bool or_replace = tokens_.Accept("OR");
  if (or_replace) SLUICE_RETURN_NOT_OK(tokens_.Expect("REPLACE"));
  const bool temporary = tokens_.Accept("TEMPORARY");
  for (const UnsupportedStart& object : kUnsupportedObjects) {
    if (!tokens_.PeekIs(0, object.first)) continue;
    return ParseUnsupported("CREATE " + std::string(object.feature));
  }
  if (tokens_.Accept("TABLE")) {
    return ParseCreateTable(or_replace ? CreateMode::kCreateOrReplace : CreateMode::kCreate,
                            temporary);
  }
  if (tokens_.Accept("VIEW")) return ParseCreateView(temporary, or_replace);
  if (!temporary && !or_replace) {
    if (tokens_.Accept("CATALOG")) return ParseCreateCatalog();
    if (tokens_.Accept("DATABASE")) return ParseCreateDatabase();
  }
  return tokens_.Fail();
}

Result<StatementPtr> Parser::ParseCreateView(bool temporary, bool or_replace) {
  auto create = New<CreateView>();
  create->temporary = temporary;
  create->or_replace = or_replace;
  SLUICE_ASSIGN_OR_RETURN(create->if_not_exists, ParseIfNotExists());
  SLUICE_ASSIGN_OR_RETURN(create->view, ParsePath());
  if (tokens_.Accept("(")) {
    do {
      SLUICE_ASSIGN_OR_RETURN(Identifier column, ParseName());
      SLUICE_ASSIGN_OR_RETURN(std::optional<std::string> comment, ParseOptionalComment());
      create->columns.push_back(std::move(column));
      create->column_comments.push_back(std::move(comment));
    } while (tokens_.Accept(","));
    SLUICE_RETURN_NOT_OK(tokens_.Expect(")"));
  }
  SLUICE_ASSIGN_OR_RETURN(create->comment, ParseOptionalComment());
  SLUICE_RETURN_NOT_OK(tokens_.Expect("AS"));
  SLUICE_ASSIGN_OR_RETURN(create->query, ParseQuery());
  return create;
}

Result<StatementPtr> Parser::ParseCreateCatalog() {
  auto create = New<CreateCatalog>();
  SLUICE_ASSIGN_OR_RETURN(create->if_not_exists, ParseIfNotExists());
  SLUICE_ASSIGN_OR_RETURN(create->name, ParseName());
  SLUICE_ASSIGN_OR_RETURN(create->comment, ParseOptionalComment());
  if (tokens_.Accept("WITH")) {
    SLUICE_ASSIGN_OR_RETURN(create->options, ParseOptions());
  }
  return create;
}

Result<StatementPtr> Parser::ParseCreateDatabase() {
  auto create = New<CreateDatabase>();
  SLUICE_ASSIGN_OR_RETURN(create->if_not_exists, ParseIfNotExists());
  SLUICE_ASSIGN_OR_RETURN(create->name, ParsePath());
  SLUICE_ASSIGN_OR_RETURN(create->comment, ParseOptionalComment());
  if (tokens_.Accept("WITH")) {
    SLUICE_ASSIGN_OR_RETURN(create->options, ParseOptions());
  }
  return create;
}

Result<StatementPtr> Parser::ParseAlter() {
  tokens_.Accept("TEMPORARY");
  for (const UnsupportedStart& object : kUnsupportedObjects) {
    if (!tokens_.PeekIs(0, object.first)) continue;
    return ParseUnsupported("ALTER " + std::string(object.feature));
  }
  if (tokens_.Accept("TABLE")) return ParseAlterTable();
  if (tokens_.Accept("VIEW")) return ParseAlterView();
  if (tokens_.Accept("CATALOG")) return ParseAlterCatalog();
  if (tokens_.Accept("DATABASE")) return ParseAlterDatabase();
  return tokens_.Fail();
}

Result<StatementPtr> Parser::ParseAlterView() {
  auto alter = New<AlterView>();
  SLUICE_ASSIGN_OR_RETURN(alter->view, ParsePath());
  if (tokens_.Accept("RENAME")) {
    SLUICE_RETURN_NOT_OK(tokens_.Expect("TO"));
    SLUICE_ASSIGN_OR_RETURN(alter->new_name, ParsePath());
    return alter;
  }
  SLUICE_RETURN_NOT_OK(tokens_.Expect("AS"));
  SLUICE_ASSIGN_OR_RETURN(alter->query, ParseQuery());
  return alter;
}

Result<StatementPtr> Parser::ParseAlterCatalog() {
  auto alter = New<AlterCatalog>();
  SLUICE_ASSIGN_OR_RETURN(alter->name, ParseName());
  if (tokens_.Accept("SET")) {
    SLUICE_ASSIGN_OR_RETURN(alter->options, ParseOptions());
  } else if (tokens_.Accept("RESET")) {
    alter->action = AlterOptionsKind::kReset;
    SLUICE_ASSIGN_OR_RETURN(alter->keys, ParseKeyList());
  } else {
    SLUICE_RETURN_NOT_OK(tokens_.Expect("COMMENT"));
    alter->action = AlterOptionsKind::kComment;
    SLUICE_ASSIGN_OR_RETURN(alter->comment, ParseString());
  }
  return alter;
}

Result<StatementPtr> Parser::ParseAlterDatabase() {
  auto alter = New<AlterDatabase>();
  SLUICE_ASSIGN_OR_RETURN(alter->name, ParsePath());
  SLUICE_RETURN_NOT_OK(tokens_.Expect("SET"));
  SLUICE_ASSIGN_OR_RETURN(alter->options, ParseOptions());
  return alter;
}

Result<StatementPtr> Parser::ParseDrop() {
  const bool temporary = tokens_.Accept("TEMPORARY");
  for (const UnsupportedStart& object : kUnsupportedObjects) {
    if (!tokens_.PeekIs(0, object.first)) continue;
    return ParseUnsupported("DROP " + std::string(object.feature));
  }
  if (tokens_.Accept("TABLE")) {
    auto drop = New<DropTable>();
    drop->temporary = temporary;
    SLUICE_ASSIGN_OR_RETURN(drop->if_exists, ParseIfExists());
    SLUICE_ASSIGN_OR_RETURN(drop->table, ParsePath());
    return drop;
  }
  if (tokens_.Accept("VIEW")) {
    auto drop = New<DropView>();
    drop->temporary = temporary;
    SLUICE_ASSIGN_OR_RETURN(drop->if_exists, ParseIfExists());
    SLUICE_ASSIGN_OR_RETURN(drop->view, ParsePath());
    return drop;
  }
  if (!temporary && tokens_.Accept("CATALOG")) {
    auto drop = New<DropCatalog>();
    SLUICE_ASSIGN_OR_RETURN(drop->if_exists, ParseIfExists());
    SLUICE_ASSIGN_OR_RETURN(drop->name, ParseName());
    return drop;
  }
  if (!temporary && tokens_.Accept("DATABASE")) {
    auto drop = New<DropDatabase>();
    SLUICE_ASSIGN_OR_RETURN(drop->if_exists, ParseIfExists());
    SLUICE_ASSIGN_OR_RETURN(drop->name, ParsePath());
    drop->cascade = tokens_.Accept("CASCADE");
    if (!drop->cascade) tokens_.Accept("RESTRICT");
    return drop;
  }
  return tokens_.Fail();
}

Result<StatementPtr> Parser::ParseInsert() {
  const size_t first = tokens_.index();
  SLUICE_RETURN_NOT_OK(tokens_.Expect("INSERT"));
  auto insert = New<InsertStatement>();
  insert->overwrite = tokens_.Accept("OVERWRITE");
  if (!insert->overwrite) SLUICE_RETURN_NOT_OK(tokens_.Expect("INTO"));
  SLUICE_ASSIGN_OR_RETURN(insert->table, ParsePath());
  SLUICE_ASSIGN_OR_RETURN(insert->hints, ParseHints());
  if (tokens_.Accept("PARTITION")) {
    SLUICE_ASSIGN_OR_RETURN(insert->partition, ParsePartitionSpec());
  }
  if (tokens_.At("(") && !AtQuery()) {
    tokens_.Take();
    do {
      SLUICE_ASSIGN_OR_RETURN(NamePath column, ParsePath());
      insert->columns.push_back(std::move(column));
    } while (tokens_.Accept(","));
    SLUICE_RETURN_NOT_OK(tokens_.Expect(")"));
  }
  SLUICE_ASSIGN_OR_RETURN(insert->query, ParseQuery());
  if (tokens_.PeekIs(0, "ON") && tokens_.PeekIs(1, "CONFLICT")) {
    return tokens_.Unsupported("INSERT … ON CONFLICT", tokens_.Peek().range);
  }
  return Done(std::move(insert), first);
}

// Behind EXECUTE.
Result<StatementPtr> Parser::ParseExecute() {
  if (tokens_.AcceptAll({"STATEMENT", "SET"})) return ParseStatementSetBody();
  if (tokens_.PeekIs(0, "PLAN")) return ParseUnsupported("EXECUTE PLAN");
  if (tokens_.At("INSERT")) return ParseInsert();
  for (std::string_view word : {"SELECT", "WITH", "VALUES", "TABLE", "("}) {
    if (tokens_.At(word)) return ParseAnyStatement();
  }
  return tokens_.Fail();
}

// Behind [EXECUTE] STATEMENT SET: BEGIN insert; … END
Result<StatementPtr> Parser::ParseStatementSetBody() {
  in_statement_set_ = true;
  SLUICE_RETURN_NOT_OK(tokens_.Expect("BEGIN"));
  auto set = New<StatementSet>();
  while (!tokens_.Accept("END")) {
    const size_t first = tokens_.index();
    if (tokens_.At("INSERT")) {
      SLUICE_ASSIGN_OR_RETURN(StatementPtr insert, ParseInsert());
      set->statements.push_back(std::move(insert));
    } else if (tokens_.AcceptAll({"CREATE", "TABLE"})) {
      SLUICE_ASSIGN_OR_RETURN(StatementPtr create, ParseCreateTable(CreateMode::kCreate, false));
      if (create->As<CreateTable>().query == nullptr) return tokens_.Fail();
      create->range = tokens_.Span(first);
      set->statements.push_back(std::move(create));
    } else {
      return tokens_.Fail();
    }
    SLUICE_RETURN_NOT_OK(tokens_.Expect(";"));
    while (tokens_.Accept(";")) {
    }
  }
  in_statement_set_ = false;
  return set;
}

Result<StatementPtr> Parser::ParseBegin() {
  SLUICE_RETURN_NOT_OK(tokens_.ExpectAll({"STATEMENT", "SET"}));
  return New<BeginStatementSet>();
}

// Takes the rest of the statement as it is; the feature is refused by whoever runs it.
Result<StatementPtr> Parser::ParseUnsupported(std::string feature) {
  auto statement = New<UnsupportedStatement>();
  statement->feature = std::move(feature);
  while (tokens_.Peek().kind != TokenKind::kEnd && !tokens_.PeekIs(0, ";")) {
    if (tokens_.Peek().unclosed) return tokens_.Fail();
    tokens_.Take();
  }
  return statement;
}

}  // namespace sluice::sql
