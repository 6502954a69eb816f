// USE, SET, RESET, SHOW, DESCRIBE, EXPLAIN, STOP JOB, COMPACT TABLE, CLEAN TABLE.
#include <algorithm>
#include <array>

#include "sql/syntax/parser_impl.h"

namespace sluice::sql {
namespace {

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\f' || c == '\r' || c == '\n'; }

std::string_view TrimBlanks(std::string_view text) {
  while (!text.empty() && IsBlank(text.front())) text.remove_prefix(1);
  while (!text.empty() && IsBlank(text.back())) text.remove_suffix(1);
  return text;
}

bool IsOptionKey(std::string_view key) {
  return !key.empty() && std::ranges::all_of(key, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '-' || c == '_';
  });
}

bool IsUtf8(std::string_view text) {
  char32_t c = 0;
  for (size_t i = 0; i < text.size();) {
    const uint32_t length = CharacterBytes(text, i, &c);
    if (length == 0) return false;
    i += length;
  }
  return true;
}

struct ShowWord {
  std::string_view word;
  ShowKind kind;
};

}  // namespace

// Behind USE.
Result<StatementPtr> Parser::ParseUse() {
  if (tokens_.PeekIs(0, "MODULES")) return ParseUnsupported("USE MODULES");
  if (tokens_.PeekIs(0, "CATALOG") && !tokens_.PeekIs(1, ".")) {
    tokens_.Take();
    auto use = New<UseCatalog>();
    SLUICE_ASSIGN_OR_RETURN(use->name, ParseName());
    return use;
  }
  tokens_.Note("\"CATALOG\"");
  auto use = New<UseDatabase>();
  SLUICE_ASSIGN_OR_RETURN(use->name, ParsePath());
  return use;
}

// SET, SET 'k' = 'v', SET k = v: the last takes the rest of its line as it is.
Result<StatementPtr> Parser::ParseSet() {
  const SourceRange word = tokens_.Take().range;
  auto set = New<SetStatement>();
  if (tokens_.Peek().kind == TokenKind::kString) {
    set->key_range = tokens_.Peek().range;
    SLUICE_ASSIGN_OR_RETURN(set->key, ParseString());
    SLUICE_RETURN_NOT_OK(tokens_.Expect("="));
    set->value_range = tokens_.Peek().range;
    SLUICE_ASSIGN_OR_RETURN(set->value, ParseString());
    return set;
  }
  if (tokens_.Peek().kind == TokenKind::kEnd || tokens_.PeekIs(0, ";")) return set;
  tokens_.Note("<QUOTED_STRING>");
  const uint32_t key_begin = tokens_.Peek().range.begin_byte;
  const uint32_t end = RawLineEnd(text_, key_begin);
  const std::string_view line = text_.substr(key_begin, end - key_begin);
  const size_t equals = line.find('=');
  const std::string_view key = TrimBlanks(line.substr(0, equals));
  if (!IsOptionKey(key)) return tokens_.Fail();
  if (equals == std::string_view::npos) {
    return tokens_.FailHere("SET wants a value: SET 'key' = 'value'; SET alone lists all keys.");
  }
  std::string_view value = TrimBlanks(line.substr(equals + 1));
  if (value.empty()) {
    const uint32_t at = key_begin + static_cast<uint32_t>(equals);
    tokens_.ReadOnAt(at + 1);
    return tokens_.FailHere("SET wants a value behind the equals sign; an empty one is ''.");
  }
  const auto value_begin = static_cast<uint32_t>(value.data() - text_.data());
  if (!IsUtf8(value)) {
    tokens_.ReadOnAt(value_begin);
    return tokens_.FailHere("The text is not valid UTF-8 here.");
  }
  Lexer& lexer = tokens_.lexer();
  set->key = std::string(key);
  set->key_range = lexer.RangeFrom(word, key_begin, key_begin + static_cast<uint32_t>(key.size()));
  set->value_range =
      lexer.RangeFrom(word, value_begin, value_begin + static_cast<uint32_t>(value.size()));
  Lexer whole(value);
  const Token token = whole.Next();
  const bool quoted = token.kind == TokenKind::kString && whole.Next().kind == TokenKind::kEnd;
  set->value = quoted ? token.value : std::string(value);
  set->range = Cover(word, set->value_range);
  tokens_.ReadOnAt(end);
  return set;
}

// RESET, RESET 'k', RESET k
Result<StatementPtr> Parser::ParseReset() {
  const SourceRange word = tokens_.Take().range;
  auto reset = New<ResetStatement>();
  if (tokens_.Peek().kind == TokenKind::kString) {
    reset->key_range = tokens_.Peek().range;
    SLUICE_ASSIGN_OR_RETURN(reset->key, ParseString());
    return reset;
  }
  if (tokens_.Peek().kind == TokenKind::kEnd || tokens_.PeekIs(0, ";")) return reset;
  tokens_.Note("<QUOTED_STRING>");
  const uint32_t begin = tokens_.Peek().range.begin_byte;
  const uint32_t end = RawLineEnd(text_, begin);
  const std::string_view key = TrimBlanks(text_.substr(begin, end - begin));
  if (!IsOptionKey(key)) return tokens_.Fail();
  reset->key = std::string(key);
  reset->key_range =
      tokens_.lexer().RangeFrom(word, begin, begin + static_cast<uint32_t>(key.size()));
  reset->range = Cover(word, reset->key_range);
  tokens_.ReadOnAt(end);
  return reset;
}

// Behind SHOW.
Result<StatementPtr> Parser::ParseShow() {
  for (std::string_view word :
       {"PROCEDURES", "MODELS", "CONNECTIONS", "MATERIALIZED", "STATEMENTS"}) {
    if (tokens_.PeekIs(0, word)) {
      return ParseUnsupported("SHOW " + std::string(word) +
                              (word == "MATERIALIZED" ? " TABLES" : ""));
    }
  }
  if (tokens_.PeekIs(0, "CREATE")) {
    for (std::string_view word : {"MODEL", "CONNECTION", "MATERIALIZED", "FUNCTION"}) {
      if (tokens_.PeekIs(1, word)) return ParseUnsupported("SHOW CREATE " + std::string(word));
    }
  }
  auto show = New<ShowStatement>();
  SLUICE_RETURN_NOT_OK(ParseShowWhat(show.get()));
  return show;
}

Status Parser::ParseShowWhat(ShowStatement* show) {
  static constexpr std::array kListings{
      ShowWord{"CATALOGS", ShowKind::kCatalogs}, ShowWord{"DATABASES", ShowKind::kDatabases},
      ShowWord{"TABLES", ShowKind::kTables},     ShowWord{"VIEWS", ShowKind::kViews},
      ShowWord{"COLUMNS", ShowKind::kColumns},   ShowWord{"FUNCTIONS", ShowKind::kFunctions},
  };
  for (const ShowWord& listing : kListings) {
    if (!tokens_.Accept(listing.word)) continue;
    show->what = listing.kind;
    return ParseShowFilter(show, listing.kind != ShowKind::kCatalogs);
  }
  if (tokens_.Accept("USER")) {
    show->what = ShowKind::kUserFunctions;
    SLUICE_RETURN_NOT_OK(tokens_.Expect("FUNCTIONS"));
    return ParseShowFilter(show, true);
  }
  if (tokens_.Accept("PARTITIONS")) {
    show->what = ShowKind::kPartitions;
    SLUICE_ASSIGN_OR_RETURN(show->object, ParsePath());
    if (tokens_.Accept("PARTITION")) {
      SLUICE_ASSIGN_OR_RETURN(show->partition, ParsePartitionSpec());
    }
    return {};
  }
  if (tokens_.Accept("FULL")) {
    show->what = ShowKind::kFullModules;
    return tokens_.Expect("MODULES");
  }
  static constexpr std::array kPlain{
      ShowWord{"MODULES", ShowKind::kModules},
      ShowWord{"JARS", ShowKind::kJars},
      ShowWord{"JOBS", ShowKind::kJobs},
  };
  for (const ShowWord& plain : kPlain) {
    if (!tokens_.Accept(plain.word)) continue;
    show->what = plain.kind;
    return {};
  }
  if (tokens_.Accept("CURRENT")) {
    const bool catalog = tokens_.Accept("CATALOG");
    show->what = catalog ? ShowKind::kCurrentCatalog : ShowKind::kCurrentDatabase;
    return catalog ? Status::OK() : tokens_.Expect("DATABASE");
  }
  return ParseShowCreate(show);
}

Status Parser::ParseShowCreate(ShowStatement* show) {
  SLUICE_RETURN_NOT_OK(tokens_.Expect("CREATE"));
  if (tokens_.Accept("TABLE")) {
    show->what = ShowKind::kCreateTable;
  } else if (tokens_.Accept("VIEW")) {
    show->what = ShowKind::kCreateView;
  } else {
    SLUICE_RETURN_NOT_OK(tokens_.Expect("CATALOG"));
    show->what = ShowKind::kCreateCatalog;
  }
  SLUICE_ASSIGN_OR_RETURN(show->object, ParsePath());
  return {};
}

// [FROM | IN object] [[NOT] LIKE | ILIKE 'pattern']
Status Parser::ParseShowFilter(ShowStatement* show, bool with_object) {
  if (with_object) {
    const bool from = tokens_.Accept("FROM") || tokens_.Accept("IN");
    if (from) {
      SLUICE_ASSIGN_OR_RETURN(show->object, ParsePath());
    } else if (show->what == ShowKind::kColumns) {
      return tokens_.Fail();
    }
  }
  show->not_like = tokens_.Accept("NOT");
  show->ilike = tokens_.Accept("ILIKE");
  if (show->ilike || tokens_.Accept("LIKE")) {
    SLUICE_ASSIGN_OR_RETURN(show->like, ParseString());
    return {};
  }
  return show->not_like ? tokens_.Fail() : Status::OK();
}

// Behind DESCRIBE or DESC. CATALOG, DATABASE and JOB are free words: what follows tells whether
// they are names.
Result<StatementPtr> Parser::ParseDescribe() {
  for (std::string_view word : {"FUNCTION", "MODEL", "CONNECTION", "PROCEDURE"}) {
    if (tokens_.PeekIs(0, word) && (tokens_.PeekIs(1, "EXTENDED") || tokens_.Peek(1).IsName())) {
      return ParseUnsupported("DESCRIBE " + std::string(word));
    }
  }
  auto describe = New<DescribeStatement>();
  const bool word_follows = tokens_.Peek(1).IsName() || tokens_.PeekIs(1, "EXTENDED");
  if (tokens_.PeekIs(0, "JOB") && tokens_.Peek(1).kind == TokenKind::kString) {
    tokens_.Take();
    describe->what = DescribeKind::kJob;
    SLUICE_ASSIGN_OR_RETURN(describe->job_id, ParseString());
    return describe;
  }
  if (tokens_.PeekIs(0, "CATALOG") && word_follows) {
    tokens_.Take();
    describe->what = DescribeKind::kCatalog;
  } else if (tokens_.PeekIs(0, "DATABASE") && word_follows) {
    tokens_.Take();
    describe->what = DescribeKind::kDatabase;
  } else {
    tokens_.Accept("TABLE");
  }
  for (std::string_view word : {"CATALOG", "DATABASE", "JOB"}) {
    tokens_.Note("\"" + std::string(word) + "\"");
  }
  describe->extended = tokens_.Accept("EXTENDED");
  SLUICE_ASSIGN_OR_RETURN(describe->object, ParsePath());
  return describe;
}

// Behind EXPLAIN.
Result<StatementPtr> Parser::ParseExplain() {
  struct DetailWord {
    std::string_view word;
    ExplainDetail detail;
  };
  static constexpr std::array kDetails{
      DetailWord{"ESTIMATED_COST", ExplainDetail::kEstimatedCost},
      DetailWord{"CHANGELOG_MODE", ExplainDetail::kChangelogMode},
      DetailWord{"JSON_EXECUTION_PLAN", ExplainDetail::kJsonExecutionPlan},
      DetailWord{"PLAN_ADVICE", ExplainDetail::kPlanAdvice},
  };
  auto explain = New<ExplainStatement>();
  if (tokens_.Accept("PLAN")) {
    SLUICE_RETURN_NOT_OK(tokens_.Expect("FOR"));
  } else {
    for (bool more = true; more;) {
      bool found = false;
      for (const DetailWord& detail : kDetails) {
        if (!tokens_.Accept(detail.word)) continue;
        found = true;
        explain->details.push_back(detail.detail);
        break;
      }
      if (!found && !explain->details.empty()) return tokens_.Fail();
      more = found && tokens_.Accept(",");
    }
  }
  const size_t first = tokens_.index();
  if (tokens_.AcceptAll({"STATEMENT", "SET"})) {
    SLUICE_ASSIGN_OR_RETURN(explain->statement, ParseStatementSetBody());
  } else {
    SLUICE_ASSIGN_OR_RETURN(explain->statement, ParseAnyStatement());
    const Statement& inner = *explain->statement;
    const auto* create = inner.If<CreateTable>();
    const bool explainable =
        inner.kind == StatementKind::kQuery || inner.kind == StatementKind::kInsert ||
        inner.kind == StatementKind::kStatementSet || inner.kind == StatementKind::kUnsupported ||
        (create != nullptr && create->query != nullptr);
    if (!explainable) {
      return tokens_.FailAt(
          tokens_.TokenAt(first),
          "EXPLAIN takes a query, an INSERT, a statement set or CREATE TABLE … AS.");
    }
  }
  explain->statement->range = tokens_.Span(first);
  return explain;
}

// Behind STOP.
Result<StatementPtr> Parser::ParseStopJob() {
  SLUICE_RETURN_NOT_OK(tokens_.Expect("JOB"));
  auto stop = New<StopJobStatement>();
  SLUICE_ASSIGN_OR_RETURN(stop->job_id, ParseString());
  while (tokens_.Accept("WITH")) {
    if (!stop->with_savepoint && tokens_.Accept("SAVEPOINT")) {
      stop->with_savepoint = true;
    } else {
      SLUICE_RETURN_NOT_OK(tokens_.Expect("DRAIN"));
      stop->with_drain = true;
    }
  }
  return stop;
}

Result<StatementPtr> Parser::ParseCompactTable() {
  SLUICE_RETURN_NOT_OK(tokens_.ExpectAll({"COMPACT", "TABLE"}));
  auto compact = New<CompactTableStatement>();
  SLUICE_ASSIGN_OR_RETURN(compact->table, ParsePath());
  if (tokens_.Accept("PARTITION")) {
    SLUICE_ASSIGN_OR_RETURN(compact->partition, ParsePartitionSpec());
  }
  return compact;
}

Result<StatementPtr> Parser::ParseCleanTable() {
  SLUICE_RETURN_NOT_OK(tokens_.ExpectAll({"CLEAN", "TABLE"}));
  auto clean = New<CleanTableStatement>();
  SLUICE_ASSIGN_OR_RETURN(clean->table, ParsePath());
  if (tokens_.Accept("OLDER")) {
    SLUICE_RETURN_NOT_OK(tokens_.Expect("THAN"));
    clean->older_than_range = tokens_.Peek().range;
    SLUICE_ASSIGN_OR_RETURN(clean->older_than, ParseString());
  }
  if (tokens_.Accept("DRY")) {
    SLUICE_RETURN_NOT_OK(tokens_.Expect("RUN"));
    clean->dry_run = true;
  }
  return clean;
}

}  // namespace sluice::sql
