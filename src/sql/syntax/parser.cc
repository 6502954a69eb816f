// The entry points, and the small pieces that all rules share.
#include "sql/syntax/parser.h"

#include <charconv>

#include "sql/syntax/parser_impl.h"

namespace sluice::sql {
namespace {

// Nesting as a reader sees it. Hostile text must not exhaust the stack; nobody writes this by hand.
constexpr int kMostNesting = 200;
// Height of the tree, mostly from long chains such as a + b + …: walkers recurse over it.
constexpr int kMostHeight = 1000;

}  // namespace

Parser::Nesting::Nesting(Parser* parser, bool counted)
    : parser_(parser), outer_height_(parser->height_), counted_(counted) {
  parser_->height_ = 0;
  parser_->depth_ += counted ? 1 : 0;
}

Parser::Nesting::~Nesting() {
  const int height = parser_->height_ + (counted_ ? 1 : 0);
  parser_->height_ = std::max(outer_height_, height);
  parser_->depth_ -= counted_ ? 1 : 0;
}

Status Parser::Nesting::Check() const {
  if (parser_->depth_ <= kMostNesting) return {};
  return parser_->tokens_.FailHere("The statement is nested more than " +
                                   std::to_string(kMostNesting) + " levels deep.");
}

Status Parser::GrowChain(int links) {
  height_ += links;
  if (height_ <= kMostHeight) return {};
  return tokens_.FailHere("A chain of operators has more than " + std::to_string(kMostHeight) +
                          " links; put parts of it into subqueries or views.");
}

bool Parser::AtName() {
  if (tokens_.Peek().IsName()) return true;
  tokens_.Note("<IDENTIFIER>");
  return false;
}

Result<Identifier> Parser::ParseName() {
  if (!AtName()) return tokens_.Fail();
  const Token& token = tokens_.Take();
  Identifier name;
  name.range = token.range;
  name.quoted = token.kind == TokenKind::kQuotedName;
  name.name = name.quoted ? token.value : std::string(token.text);
  if (token.word_class == WordClass::kSoft) {
    notes_.push_back("\"" + name.name + "\" at line " + std::to_string(token.range.begin.line) +
                     ", column " + std::to_string(token.range.begin.column) +
                     " is a reserved word of Flink 2: write `" + name.name +
                     "` to run the script there.");
  }
  return name;
}

Result<NamePath> Parser::ParsePath() {
  const size_t first = tokens_.index();
  NamePath path;
  do {
    SLUICE_ASSIGN_OR_RETURN(Identifier part, ParseName());
    path.parts.push_back(std::move(part));
    // The dot of t.* belongs to the star.
    if (tokens_.PeekIs(0, ".") && tokens_.PeekIs(1, "*")) break;
  } while (tokens_.Accept("."));
  path.range = tokens_.Span(first);
  return path;
}

Result<std::string> Parser::ParseString() {
  const TokenKind kind = tokens_.Peek().kind;
  tokens_.Note("<QUOTED_STRING>");
  if (kind != TokenKind::kString && kind != TokenKind::kUnicodeString) return tokens_.Fail();
  return ParseStringParts();
}

Result<int64_t> Parser::ParseInteger(std::string_view what) {
  tokens_.Note(what);
  const Token& token = tokens_.Peek();
  if (token.kind != TokenKind::kInteger) return tokens_.Fail();
  int64_t value = 0;
  const char* end = token.value.data() + token.value.size();
  if (std::from_chars(token.value.data(), end, value).ec != std::errc()) {
    return tokens_.FailHere("Numeric literal '" + token.value + "' out of range");
  }
  tokens_.Take();
  return value;
}

// (a, b)
Result<std::vector<Identifier>> Parser::ParseNameList() {
  SLUICE_RETURN_NOT_OK(tokens_.Expect("("));
  std::vector<Identifier> names;
  do {
    SLUICE_ASSIGN_OR_RETURN(Identifier name, ParseName());
    names.push_back(std::move(name));
  } while (tokens_.Accept(","));
  SLUICE_RETURN_NOT_OK(tokens_.Expect(")"));
  return names;
}

// ('k' = 'v', …), may be empty.
Result<std::vector<OptionPair>> Parser::ParseOptions() {
  SLUICE_RETURN_NOT_OK(tokens_.Expect("("));
  std::vector<OptionPair> options;
  if (tokens_.Accept(")")) return options;
  do {
    OptionPair option;
    const size_t key = tokens_.index();
    SLUICE_ASSIGN_OR_RETURN(option.key, ParseString());
    option.key_range = tokens_.Span(key);
    SLUICE_RETURN_NOT_OK(tokens_.Expect("="));
    const size_t value = tokens_.index();
    SLUICE_ASSIGN_OR_RETURN(option.value, ParseString());
    option.value_range = tokens_.Span(value);
    options.push_back(std::move(option));
  } while (tokens_.Accept(","));
  SLUICE_RETURN_NOT_OK(tokens_.Expect(")"));
  return options;
}

// ('k', …), may be empty: what an empty RESET means is for the catalog to say.
Result<std::vector<std::string>> Parser::ParseKeyList() {
  SLUICE_RETURN_NOT_OK(tokens_.Expect("("));
  std::vector<std::string> keys;
  if (tokens_.Accept(")")) return keys;
  do {
    SLUICE_ASSIGN_OR_RETURN(std::string key, ParseString());
    keys.push_back(std::move(key));
  } while (tokens_.Accept(","));
  SLUICE_RETURN_NOT_OK(tokens_.Expect(")"));
  return keys;
}

Result<std::optional<std::string>> Parser::ParseOptionalComment() {
  std::optional<std::string> comment;
  if (tokens_.Accept("COMMENT")) {
    SLUICE_ASSIGN_OR_RETURN(comment, ParseString());
  }
  return comment;
}

Result<bool> Parser::ParseIfExists() {
  // IF is a free word: a table may be called so.
  if (!tokens_.PeekIs(0, "IF") || !tokens_.PeekIs(1, "EXISTS")) {
    tokens_.Note("\"IF\"");
    return false;
  }
  tokens_.Take();
  tokens_.Take();
  return true;
}

Result<bool> Parser::ParseIfNotExists() {
  if (!tokens_.PeekIs(0, "IF") || !tokens_.PeekIs(1, "NOT")) {
    tokens_.Note("\"IF\"");
    return false;
  }
  tokens_.Take();
  SLUICE_RETURN_NOT_OK(tokens_.ExpectAll({"NOT", "EXISTS"}));
  return true;
}

Status Parser::EndOfStatement() {
  tokens_.Note("<EOF>");
  if (tokens_.Peek().kind == TokenKind::kEnd || tokens_.At(";")) return {};
  return tokens_.Fail();
}

// One statement up to its ';', which is taken. After a failure the rest of the statement is
// skipped.
Status Parser::ParseOne(ScriptParse* script, bool* went_wrong) {
  depth_ = 0;
  height_ = 0;
  in_statement_set_ = false;
  notes_.clear();
  const size_t first = tokens_.index();
  Result<StatementPtr> statement = ParseAnyStatement();
  Status status = statement.ok() ? EndOfStatement() : statement.status();
  *went_wrong = !status.ok();
  if (*went_wrong) {
    tokens_.SkipStatement(in_statement_set_);
    return status;
  }
  ParsedStatement parsed;
  parsed.statement = std::move(*statement);
  // A raw SET knows its own end: its value is no token.
  SourceRange range = tokens_.Span(first);
  if (parsed.statement->range.end_byte > range.end_byte) range = parsed.statement->range;
  parsed.statement->range = range;
  parsed.range = range;
  parsed.text = text_.substr(range.begin_byte, range.end_byte - range.begin_byte);
  parsed.notes = std::move(notes_);
  if (parsed.statement->kind == StatementKind::kUnsupported) {
    parsed.statement->As<UnsupportedStatement>().text = parsed.text;
  }
  script->statements.push_back(std::move(parsed));
  tokens_.Accept(";");
  return {};
}

ScriptParse Parser::Script() {
  ScriptParse script;
  for (;;) {
    while (tokens_.PeekIs(0, ";")) tokens_.Take();
    tokens_.Forget();
    if (tokens_.Peek().kind == TokenKind::kEnd) return script;
    bool went_wrong = false;
    Status status = ParseOne(&script, &went_wrong);
    if (went_wrong) script.errors.push_back(std::move(status));
  }
}

Result<ParsedStatement> Parser::Single() {
  while (tokens_.PeekIs(0, ";")) tokens_.Take();
  tokens_.Forget();
  ScriptParse script;
  bool went_wrong = false;
  SLUICE_RETURN_NOT_OK(ParseOne(&script, &went_wrong));
  while (tokens_.PeekIs(0, ";")) tokens_.Take();
  if (tokens_.Peek().kind != TokenKind::kEnd) {
    return Status::ParseError("SQL parse failed. only single statement supported",
                              tokens_.Peek().range.begin);
  }
  return std::move(script.statements[0]);
}

Result<ExprPtr> Parser::OnlyExpression() {
  SLUICE_ASSIGN_OR_RETURN(ExprPtr expr, ParseExpr());
  tokens_.Note("<EOF>");
  if (tokens_.Peek().kind != TokenKind::kEnd) return tokens_.Fail();
  return expr;
}

Result<QueryPtr> Parser::OnlyQuery() {
  SLUICE_ASSIGN_OR_RETURN(QueryPtr query, ParseQuery());
  SLUICE_RETURN_NOT_OK(EndOfStatement());
  tokens_.Accept(";");
  if (tokens_.Peek().kind != TokenKind::kEnd) return tokens_.Fail();
  return query;
}

Result<TypePtr> Parser::OnlyType() {
  SLUICE_ASSIGN_OR_RETURN(TypePtr type, ParseType(/*allow_nullability=*/true));
  tokens_.Note("<EOF>");
  if (tokens_.Peek().kind != TokenKind::kEnd) return tokens_.Fail();
  return type;
}

Result<NamePath> Parser::OnlyPath() {
  SLUICE_ASSIGN_OR_RETURN(NamePath path, ParsePath());
  tokens_.Note("<EOF>");
  if (tokens_.Peek().kind != TokenKind::kEnd) return tokens_.Fail();
  return path;
}

ScriptParse ParseScriptFully(std::string_view text) { return Parser(text).Script(); }

Result<std::vector<ParsedStatement>> ParseScript(std::string_view text) {
  ScriptParse script = ParseScriptFully(text);
  if (!script.errors.empty()) return script.errors.front();
  return std::move(script.statements);
}

Result<ParsedStatement> ParseStatement(std::string_view text) { return Parser(text).Single(); }
Result<ExprPtr> ParseExpression(std::string_view text) { return Parser(text).OnlyExpression(); }
Result<QueryPtr> ParseQuery(std::string_view text) { return Parser(text).OnlyQuery(); }
Result<TypePtr> ParseType(std::string_view text) { return Parser(text).OnlyType(); }
Result<NamePath> ParsePath(std::string_view text) { return Parser(text).OnlyPath(); }

}  // namespace sluice::sql
