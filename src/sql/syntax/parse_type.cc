// Types: DECIMAL(10, 2), ARRAY<ROW<a INT NOT NULL>>, TIMESTAMP(3) WITH LOCAL TIME ZONE.
#include <algorithm>
#include <array>

#include "sql/syntax/parser_impl.h"
#include "sql/syntax/unparse.h"

namespace sluice::sql {
namespace {

struct TypeWord {
  std::string_view word;
  std::string_view name;
  int most_arguments;
};
constexpr std::array kTypeWords{
    TypeWord{"BOOLEAN", "BOOLEAN", 0},
    TypeWord{"TINYINT", "TINYINT", 0},
    TypeWord{"SMALLINT", "SMALLINT", 0},
    TypeWord{"INT", "INT", 0},
    TypeWord{"INTEGER", "INT", 0},
    TypeWord{"BIGINT", "BIGINT", 0},
    TypeWord{"FLOAT", "FLOAT", 0},
    TypeWord{"REAL", "REAL", 0},
    TypeWord{"DOUBLE", "DOUBLE", 0},
    TypeWord{"DECIMAL", "DECIMAL", 2},
    TypeWord{"DEC", "DECIMAL", 2},
    TypeWord{"NUMERIC", "DECIMAL", 2},
    TypeWord{"CHAR", "CHAR", 1},
    TypeWord{"CHARACTER", "CHAR", 1},
    TypeWord{"VARCHAR", "VARCHAR", 1},
    TypeWord{"STRING", "STRING", 0},
    TypeWord{"BINARY", "BINARY", 1},
    TypeWord{"VARBINARY", "VARBINARY", 1},
    TypeWord{"BYTES", "BYTES", 0},
    TypeWord{"DATE", "DATE", 0},
    TypeWord{"TIME", "TIME", 1},
    TypeWord{"TIMESTAMP", "TIMESTAMP", 1},
    TypeWord{"TIMESTAMP_LTZ", "TIMESTAMP_LTZ", 1},
    TypeWord{"TIMESTAMP_TZ", "TIMESTAMP_TZ", 1},
    TypeWord{"INTERVAL", "INTERVAL", 0},
    TypeWord{"ARRAY", "ARRAY", 0},
    TypeWord{"MULTISET", "MULTISET", 0},
    TypeWord{"MAP", "MAP", 0},
    TypeWord{"ROW", "ROW", 0},
    TypeWord{"RAW", "RAW", 0},
    TypeWord{"STRUCTURED", "STRUCTURED", 0},
    TypeWord{"VARIANT", "VARIANT", 0},
    TypeWord{"BITMAP", "BITMAP", 0},
    TypeWord{"NULL", "NULL", 0},
};

}  // namespace

Result<TypePtr> Parser::ParseType(bool allow_nullability) {
  const Nesting nesting(this);
  SLUICE_RETURN_NOT_OK(nesting.Check());
  const size_t first = tokens_.index();
  SLUICE_ASSIGN_OR_RETURN(TypePtr type, ParseBaseType());
  type->range = tokens_.Span(first);
  for (;;) {
    // Nullability inside a collection is written before its name: INT NOT NULL ARRAY.
    const size_t skip = tokens_.PeekIs(0, "NOT") && tokens_.PeekIs(1, "NULL") ? 2
                        : tokens_.PeekIs(0, "NULL")                           ? 1
                                                                              : 0;
    const bool collection = tokens_.PeekIs(skip, "ARRAY") || tokens_.PeekIs(skip, "MULTISET");
    if (allow_nullability || collection) SLUICE_RETURN_NOT_OK(ParseNullability(type.get()));
    type->range = tokens_.Span(first);
    if (!collection) return type;
    SLUICE_RETURN_NOT_OK(GrowChain());
    auto outer = New<TypeSyntax>();
    outer->name = tokens_.Take().value;
    outer->children.push_back(std::move(type));
    type = Done(std::move(outer), first);
  }
}

Status Parser::ParseNullability(TypeSyntax* type) {
  if (tokens_.AcceptAll({"NOT", "NULL"})) {
    type->nullable = false;
  } else if (tokens_.Accept("NULL")) {
    type->nullable = true;
  }
  return {};
}

Result<TypePtr> Parser::ParseBaseType() {
  tokens_.Note("<type>");
  auto type = New<TypeSyntax>();
  const Token& token = tokens_.Peek();
  const auto* known =
      token.kind == TokenKind::kWord
          ? std::ranges::find(kTypeWords, std::string_view(token.value), &TypeWord::word)
          : kTypeWords.end();
  if (known == kTypeWords.end()) {
    if (!token.IsName() || token.IsWord("METADATA")) return tokens_.Fail();
    SLUICE_ASSIGN_OR_RETURN(type->user_name, ParsePath());
    return type;
  }
  tokens_.Take();
  type->name = known->name;
  if (known->most_arguments > 0) {
    if ((type->name == "CHAR" || type->name == "BINARY") && tokens_.Accept("VARYING")) {
      type->name = "VAR" + type->name;
    }
    SLUICE_RETURN_NOT_OK(ParseTypeArguments(type.get(), known->most_arguments));
  }
  if (type->name == "DOUBLE") {
    tokens_.Accept("PRECISION");
  } else if (type->name == "TIME" || type->name == "TIMESTAMP") {
    SLUICE_RETURN_NOT_OK(ParseTimeZone(type.get()));
  } else if (type->name == "INTERVAL") {
    SLUICE_ASSIGN_OR_RETURN(IntervalQualifier qualifier, ParseIntervalQualifier());
    type->interval_qualifier = ToSql(qualifier);
  } else if (type->name == "ARRAY" || type->name == "MULTISET") {
    SLUICE_RETURN_NOT_OK(ParseTypeChildren(type.get(), 1));
  } else if (type->name == "MAP") {
    SLUICE_RETURN_NOT_OK(ParseTypeChildren(type.get(), 2));
  } else if (type->name == "ROW") {
    SLUICE_RETURN_NOT_OK(ParseRowFields(type.get()));
  } else if (type->name == "RAW" || type->name == "STRUCTURED") {
    SLUICE_RETURN_NOT_OK(ParseClassArguments(type.get()));
  }
  return type;
}

Status Parser::ParseTypeArguments(TypeSyntax* type, int most) {
  if (!tokens_.Accept("(")) return {};
  for (int i = 0; i < most; ++i) {
    if (i > 0 && !tokens_.Accept(",")) break;
    SLUICE_ASSIGN_OR_RETURN(int64_t argument, ParseInteger("<number>"));
    type->arguments.push_back(argument);
  }
  return tokens_.Expect(")");
}

Status Parser::ParseTypeChildren(TypeSyntax* type, int count) {
  SLUICE_RETURN_NOT_OK(tokens_.Expect("<"));
  for (int i = 0; i < count; ++i) {
    if (i > 0) SLUICE_RETURN_NOT_OK(tokens_.Expect(","));
    SLUICE_ASSIGN_OR_RETURN(TypePtr child, ParseType(true));
    type->children.push_back(std::move(child));
  }
  return tokens_.Expect(">");
}

Status Parser::ParseRowFields(TypeSyntax* type) {
  if (tokens_.Accept("<>")) return {};
  const bool angle = tokens_.Accept("<");
  if (!angle) SLUICE_RETURN_NOT_OK(tokens_.Expect("("));
  const std::string_view close = angle ? ">" : ")";
  if (tokens_.Accept(close)) return {};
  do {
    SLUICE_ASSIGN_OR_RETURN(Identifier name, ParseName());
    SLUICE_ASSIGN_OR_RETURN(TypePtr child, ParseType(true));
    std::optional<std::string> comment;
    if (tokens_.Peek().kind == TokenKind::kString) {
      SLUICE_ASSIGN_OR_RETURN(comment, ParseString());
    }
    type->field_names.push_back(std::move(name));
    type->children.push_back(std::move(child));
    type->field_comments.push_back(std::move(comment));
  } while (tokens_.Accept(","));
  return tokens_.Expect(close);
}

Status Parser::ParseTimeZone(TypeSyntax* type) {
  if (tokens_.PeekIs(0, "WITHOUT")) return tokens_.ExpectAll({"WITHOUT", "TIME", "ZONE"});
  // WITH may also open the options of a table: the next word decides.
  if (!tokens_.PeekIs(0, "WITH") || tokens_.PeekIs(1, "(")) return {};
  const size_t first = tokens_.index();
  SLUICE_RETURN_NOT_OK(tokens_.Expect("WITH"));
  const bool local = tokens_.Accept("LOCAL");
  SLUICE_RETURN_NOT_OK(tokens_.ExpectAll({"TIME", "ZONE"}));
  if (type->name == "TIME") {
    return tokens_.Unsupported("The type TIME WITH TIME ZONE", tokens_.Span(first));
  }
  type->name = local ? "TIMESTAMP_LTZ" : "TIMESTAMP_TZ";
  return {};
}

// RAW('class', 'snapshot'), STRUCTURED<'class', a INT, …>.
Status Parser::ParseClassArguments(TypeSyntax* type) {
  const bool raw = type->name == "RAW";
  SLUICE_RETURN_NOT_OK(tokens_.Expect(raw ? "(" : "<"));
  SLUICE_ASSIGN_OR_RETURN(std::string class_name, ParseString());
  type->text_arguments.push_back(std::move(class_name));
  while (tokens_.Accept(",")) {
    if (raw) {
      SLUICE_ASSIGN_OR_RETURN(std::string snapshot, ParseString());
      type->text_arguments.push_back(std::move(snapshot));
      continue;
    }
    SLUICE_ASSIGN_OR_RETURN(Identifier name, ParseName());
    SLUICE_ASSIGN_OR_RETURN(TypePtr child, ParseType(true));
    type->field_names.push_back(std::move(name));
    type->children.push_back(std::move(child));
    type->field_comments.emplace_back();
  }
  return tokens_.Expect(raw ? ")" : ">");
}

}  // namespace sluice::sql
