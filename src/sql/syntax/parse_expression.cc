// Expressions by binding strength: operators, predicates, and what they are made of.
#include <array>
#include <bit>

#include "sql/syntax/parser_impl.h"

namespace sluice::sql {
namespace {

struct OperatorWord {
  std::string_view word;
  BinaryOp op;
  int level;
};

constexpr std::array kNoParentheses{
    std::string_view("CURRENT_DATE"),
    std::string_view("CURRENT_TIME"),
    std::string_view("CURRENT_TIMESTAMP"),
    std::string_view("LOCALTIME"),
    std::string_view("LOCALTIMESTAMP"),
    std::string_view("CURRENT_USER"),
    std::string_view("SESSION_USER"),
    std::string_view("SYSTEM_USER"),
    std::string_view("USER"),
    std::string_view("CURRENT_CATALOG"),
    std::string_view("CURRENT_SCHEMA"),
    std::string_view("CURRENT_ROLE"),
    std::string_view("CURRENT_PATH"),
};

// Joins terms[begin, end) into a balanced tree of `op`, so that a thousand terms nest ten levels.
ExprPtr Balance(std::vector<ExprPtr>* terms, const std::vector<SourceRange>& ops, BinaryOp op,
                size_t begin, size_t end) {
  if (end - begin == 1) return std::move((*terms)[begin]);
  const size_t middle = begin + (end - begin + 1) / 2;
  auto node = std::make_unique<BinaryExpr>();
  node->op = op;
  node->op_range = ops[middle - 1];
  node->left = Balance(terms, ops, op, begin, middle);
  node->right = Balance(terms, ops, op, middle, end);
  node->range = Cover(node->left->range, node->right->range);
  return node;
}

}  // namespace

std::optional<std::pair<BinaryOp, int>> Parser::PeekOperator() {
  static constexpr std::array kOperators{
      OperatorWord{"OR", BinaryOp::kOr, kOrLevel},
      OperatorWord{"AND", BinaryOp::kAnd, kAndLevel},
      OperatorWord{"=", BinaryOp::kEqual, kComparisonLevel},
      OperatorWord{"<>", BinaryOp::kNotEqual, kComparisonLevel},
      OperatorWord{"<", BinaryOp::kLess, kComparisonLevel},
      OperatorWord{"<=", BinaryOp::kLessEqual, kComparisonLevel},
      OperatorWord{">", BinaryOp::kGreater, kComparisonLevel},
      OperatorWord{">=", BinaryOp::kGreaterEqual, kComparisonLevel},
      OperatorWord{"OVERLAPS", BinaryOp::kOverlaps, kComparisonLevel},
      OperatorWord{"+", BinaryOp::kPlus, kAdditiveLevel},
      OperatorWord{"-", BinaryOp::kMinus, kAdditiveLevel},
      OperatorWord{"||", BinaryOp::kConcat, kAdditiveLevel},
      OperatorWord{"*", BinaryOp::kMultiply, kMultiplicativeLevel},
      OperatorWord{"/", BinaryOp::kDivide, kMultiplicativeLevel},
      OperatorWord{"%", BinaryOp::kModulo, kMultiplicativeLevel},
  };
  for (const OperatorWord& candidate : kOperators) {
    if (tokens_.PeekIs(0, candidate.word)) return std::pair(candidate.op, candidate.level);
  }
  return std::nullopt;
}

Result<ExprPtr> Parser::ParseBinary(int least) {
  const Nesting nesting(this, /*counted=*/false);
  const size_t first = tokens_.index();
  SLUICE_ASSIGN_OR_RETURN(ExprPtr left, ParsePrefix());
  for (;;) {
    if (AtPredicate(least)) {
      SLUICE_RETURN_NOT_OK(GrowChain());
      SLUICE_ASSIGN_OR_RETURN(left, ParsePredicate(std::move(left), first));
      continue;
    }
    const auto next = PeekOperator();
    if (!next || next->second < least) break;
    const auto [op, level] = *next;
    if (op == BinaryOp::kAnd || op == BinaryOp::kOr) {
      SLUICE_ASSIGN_OR_RETURN(left, ParseChain(std::move(left), op, level, first));
    } else {
      SLUICE_RETURN_NOT_OK(GrowChain());
      SLUICE_ASSIGN_OR_RETURN(left, ParseOperator(std::move(left), op, level, first));
    }
  }
  SLUICE_RETURN_NOT_OK(RefuseOperator());
  tokens_.Note("<operator>");
  return left;
}

Result<ExprPtr> Parser::ParseChain(ExprPtr first_term, BinaryOp op, int level, size_t first) {
  std::vector<ExprPtr> terms;
  std::vector<SourceRange> ops;
  terms.push_back(std::move(first_term));
  while (tokens_.PeekIs(0, BinaryOpName(op))) {
    ops.push_back(tokens_.Take().range);
    SLUICE_ASSIGN_OR_RETURN(ExprPtr term, ParseBinary(level + 1));
    terms.push_back(std::move(term));
  }
  SLUICE_RETURN_NOT_OK(GrowChain(std::bit_width(terms.size())));
  ExprPtr tree = Balance(&terms, ops, op, 0, terms.size());
  tree->range = tokens_.Span(first);
  return tree;
}

Result<ExprPtr> Parser::ParseOperator(ExprPtr left, BinaryOp op, int level, size_t first) {
  const SourceRange op_range = tokens_.Take().range;
  if (level == kComparisonLevel && op != BinaryOp::kOverlaps) {
    const bool quantified =
        tokens_.PeekIs(0, "ANY") || tokens_.PeekIs(0, "ALL") || tokens_.PeekIs(0, "SOME");
    if (quantified && tokens_.PeekIs(1, "(")) return ParseQuantified(std::move(left), op, first);
  }
  auto node = New<BinaryExpr>();
  node->op = op;
  node->op_range = op_range;
  node->left = std::move(left);
  SLUICE_ASSIGN_OR_RETURN(node->right, ParseBinary(level + 1));
  return Done(std::move(node), first);
}

bool Parser::AtPredicate(int least) {
  if (least <= kIsLevel && tokens_.PeekIs(0, "IS")) return true;
  if (least > kComparisonLevel) return false;
  const size_t word = tokens_.PeekIs(0, "NOT") ? 1 : 0;
  for (std::string_view name : {"BETWEEN", "IN", "LIKE", "ILIKE", "RLIKE", "SIMILAR"}) {
    if (tokens_.PeekIs(word, name)) return true;
  }
  return false;
}

Result<ExprPtr> Parser::ParsePredicate(ExprPtr left, size_t first) {
  if (tokens_.PeekIs(0, "IS")) return ParseIs(std::move(left), first);
  const bool negated = tokens_.Accept("NOT");
  if (tokens_.Accept("IN")) return ParseIn(std::move(left), negated, first);
  if (tokens_.Accept("LIKE")) return ParseLike(std::move(left), LikeKind::kLike, negated, first);
  if (tokens_.Accept("ILIKE")) return ParseLike(std::move(left), LikeKind::kIlike, negated, first);
  if (tokens_.Accept("RLIKE")) return ParseLike(std::move(left), LikeKind::kRlike, negated, first);
  if (tokens_.Accept("SIMILAR")) {
    SLUICE_RETURN_NOT_OK(tokens_.Expect("TO"));
    return ParseLike(std::move(left), LikeKind::kSimilar, negated, first);
  }
  SLUICE_RETURN_NOT_OK(tokens_.Expect("BETWEEN"));
  auto between = New<BetweenExpr>();
  between->negated = negated;
  between->symmetric = tokens_.Accept("SYMMETRIC");
  if (!between->symmetric) tokens_.Accept("ASYMMETRIC");
  between->operand = std::move(left);
  SLUICE_ASSIGN_OR_RETURN(between->low, ParseBinary(kAdditiveLevel));
  SLUICE_RETURN_NOT_OK(tokens_.Expect("AND"));
  SLUICE_ASSIGN_OR_RETURN(between->high, ParseBinary(kAdditiveLevel));
  return Done(std::move(between), first);
}

Result<ExprPtr> Parser::ParseIs(ExprPtr left, size_t first) {
  SLUICE_RETURN_NOT_OK(tokens_.Expect("IS"));
  const bool negated = tokens_.Accept("NOT");
  if (tokens_.Accept("DISTINCT")) {
    SLUICE_RETURN_NOT_OK(tokens_.Expect("FROM"));
    auto distinct = New<IsDistinctExpr>();
    distinct->negated = negated;
    distinct->left = std::move(left);
    SLUICE_ASSIGN_OR_RETURN(distinct->right, ParseBinary(kComparisonLevel));
    return Done(std::move(distinct), first);
  }
  auto is = New<IsExpr>();
  is->negated = negated;
  is->operand = std::move(left);
  if (tokens_.Accept("NULL")) {
    is->is_kind = IsKind::kNull;
  } else if (tokens_.Accept("TRUE")) {
    is->is_kind = IsKind::kTrue;
  } else if (tokens_.Accept("FALSE")) {
    is->is_kind = IsKind::kFalse;
  } else if (tokens_.Accept("UNKNOWN")) {
    is->is_kind = IsKind::kUnknown;
  } else if (tokens_.Accept("JSON")) {
    is->is_kind = tokens_.Accept("VALUE")    ? IsKind::kJsonValue
                  : tokens_.Accept("SCALAR") ? IsKind::kJsonScalar
                  : tokens_.Accept("ARRAY")  ? IsKind::kJsonArray
                  : tokens_.Accept("OBJECT") ? IsKind::kJsonObject
                                             : IsKind::kJson;
  } else if (tokens_.PeekIs(0, "A") && tokens_.PeekIs(1, "SET")) {
    return tokens_.Unsupported("IS A SET", tokens_.Peek().range);
  } else if (tokens_.PeekIs(0, "EMPTY")) {
    return tokens_.Unsupported("IS EMPTY", tokens_.Peek().range);
  } else {
    return tokens_.Fail();
  }
  return Done(std::move(is), first);
}

Result<ExprPtr> Parser::ParseIn(ExprPtr left, bool negated, size_t first) {
  const Nesting nesting(this);
  SLUICE_RETURN_NOT_OK(nesting.Check());
  auto in = New<InExpr>();
  in->negated = negated;
  in->operand = std::move(left);
  const bool is_query = AtQuery();
  SLUICE_RETURN_NOT_OK(tokens_.Expect("("));
  if (is_query) {
    SLUICE_ASSIGN_OR_RETURN(in->query, ParseQuery());
  } else {
    SLUICE_RETURN_NOT_OK(ParseExprList(&in->list));
  }
  SLUICE_RETURN_NOT_OK(tokens_.Expect(")"));
  return Done(std::move(in), first);
}

Result<ExprPtr> Parser::ParseLike(ExprPtr left, LikeKind kind, bool negated, size_t first) {
  auto like = New<LikeExpr>();
  like->like_kind = kind;
  like->negated = negated;
  like->operand = std::move(left);
  SLUICE_ASSIGN_OR_RETURN(like->pattern, ParseBinary(kAdditiveLevel));
  if (kind != LikeKind::kRlike && tokens_.Accept("ESCAPE")) {
    SLUICE_ASSIGN_OR_RETURN(like->escape, ParseBinary(kAdditiveLevel));
  }
  return Done(std::move(like), first);
}

Result<ExprPtr> Parser::ParseQuantified(ExprPtr left, BinaryOp op, size_t first) {
  const Nesting nesting(this);
  SLUICE_RETURN_NOT_OK(nesting.Check());
  auto quantified = New<QuantifiedExpr>();
  quantified->op = op;
  quantified->operand = std::move(left);
  quantified->quantifier = tokens_.Take().value == "ALL" ? Quantifier::kAll : Quantifier::kAny;
  const bool is_query = AtQuery();
  SLUICE_RETURN_NOT_OK(tokens_.Expect("("));
  if (is_query) {
    SLUICE_ASSIGN_OR_RETURN(quantified->query, ParseQuery());
  } else {
    SLUICE_RETURN_NOT_OK(ParseExprList(&quantified->list));
  }
  SLUICE_RETURN_NOT_OK(tokens_.Expect(")"));
  return Done(std::move(quantified), first);
}

// Operators of the peer's grammar that are not offered.
Status Parser::RefuseOperator() {
  const SourceRange& range = tokens_.Peek().range;
  if (tokens_.PeekIs(0, "COLLATE")) return tokens_.Unsupported("COLLATE", range);
  if (tokens_.PeekIs(0, "AT") && (tokens_.PeekIs(1, "TIME") || tokens_.PeekIs(1, "LOCAL"))) {
    return tokens_.Unsupported("AT TIME ZONE", range);
  }
  for (std::string_view word : {"MEMBER", "SUBMULTISET"}) {
    if (tokens_.PeekIs(0, word) && tokens_.PeekIs(1, "OF")) {
      return tokens_.Unsupported(std::string(word) + " OF", range);
    }
  }
  if (tokens_.PeekIs(0, "MULTISET") &&
      (tokens_.PeekIs(1, "UNION") || tokens_.PeekIs(1, "INTERSECT") ||
       tokens_.PeekIs(1, "EXCEPT"))) {
    return tokens_.Unsupported("MULTISET " + tokens_.Peek(1).value, range);
  }
  if (tokens_.PeekIs(0, "FORMAT") && tokens_.PeekIs(1, "JSON")) {
    return tokens_.Unsupported("FORMAT JSON", range);
  }
  return {};
}

Result<ExprPtr> Parser::ParsePrefix() {
  const size_t first = tokens_.index();
  if (!tokens_.PeekIs(0, "NOT") && !tokens_.PeekIs(0, "-") && !tokens_.PeekIs(0, "+")) {
    return ParsePostfix();
  }
  const Nesting nesting(this);
  SLUICE_RETURN_NOT_OK(nesting.Check());
  const Token& sign = tokens_.Take();
  const TokenKind next = tokens_.Peek().kind;
  const bool number =
      next == TokenKind::kInteger || next == TokenKind::kDecimal || next == TokenKind::kDouble;
  if (sign.IsSymbol("-") && number) {
    SLUICE_ASSIGN_OR_RETURN(ExprPtr literal, ParseLiteralToken());
    literal->As<LiteralExpr>().text.insert(0, 1, '-');
    literal->range = tokens_.Span(first);
    return literal;
  }
  auto unary = New<UnaryExpr>();
  const bool is_not = sign.IsWord("NOT");
  unary->op = is_not ? UnaryOp::kNot : sign.IsSymbol("-") ? UnaryOp::kMinus : UnaryOp::kPlus;
  SLUICE_ASSIGN_OR_RETURN(unary->operand, ParseBinary(is_not ? kNotLevel : kUnaryLevel));
  return Done(std::move(unary), first);
}

Result<ExprPtr> Parser::ParsePostfix() {
  const Nesting nesting(this);
  SLUICE_RETURN_NOT_OK(nesting.Check());
  const size_t first = tokens_.index();
  SLUICE_ASSIGN_OR_RETURN(ExprPtr operand, ParsePrimary());
  for (;;) {
    if (tokens_.PeekIs(0, "[")) {
      SLUICE_RETURN_NOT_OK(GrowChain());
      tokens_.Take();
      auto item = New<ItemExpr>();
      item->operand = std::move(operand);
      SLUICE_ASSIGN_OR_RETURN(item->index, ParseExpr());
      SLUICE_RETURN_NOT_OK(tokens_.Expect("]"));
      operand = Done(std::move(item), first);
    } else if (tokens_.PeekIs(0, ".")) {
      SLUICE_RETURN_NOT_OK(GrowChain());
      tokens_.Take();
      if (tokens_.PeekIs(0, "*")) {
        return tokens_.Unsupported("(expression).*", tokens_.Peek().range);
      }
      auto field = New<FieldExpr>();
      field->operand = std::move(operand);
      SLUICE_ASSIGN_OR_RETURN(field->field, ParseName());
      operand = Done(std::move(field), first);
    } else {
      return operand;
    }
  }
}

Result<ExprPtr> Parser::ParsePrimary() {
  switch (tokens_.Peek().kind) {
    case TokenKind::kString:
    case TokenKind::kUnicodeString:
    case TokenKind::kBinaryString:
    case TokenKind::kInteger:
    case TokenKind::kDecimal:
    case TokenKind::kDouble:
      return ParseLiteralToken();
    case TokenKind::kQuotedName:
      return ParseNameOrCall();
    case TokenKind::kWord:
      return ParseWord();
    default:
      break;
  }
  if (tokens_.PeekIs(0, "(")) return ParseParenthesized();
  if (tokens_.PeekIs(0, "?")) {
    return tokens_.Unsupported("A dynamic parameter (?)", tokens_.Peek().range);
  }
  if (tokens_.PeekIs(0, "{")) {
    return tokens_.Unsupported("JDBC escape syntax {…}", tokens_.Peek().range);
  }
  tokens_.Note("<expression>");
  return tokens_.Fail();
}

Result<ExprPtr> Parser::ParseWord() {
  const size_t first = tokens_.index();
  const Token& token = tokens_.Peek();
  const std::string& word = token.value;
  if (word == "TRUE" || word == "FALSE" || word == "UNKNOWN" || word == "NULL") {
    auto literal = New<LiteralExpr>();
    literal->literal_kind = word == "NULL" ? LiteralKind::kNull : LiteralKind::kBoolean;
    literal->text = tokens_.Take().value;
    return Done(std::move(literal), first);
  }
  if (AtTimeLiteral()) return ParseTimeLiteral();
  if (word == "INTERVAL") return ParseInterval();
  if (word == "CASE") return ParseCase();
  const bool call = tokens_.PeekIs(1, "(");
  if ((word == "CAST" || word == "TRY_CAST" || word == "SAFE_CAST") && call) return ParseCast();
  if (word == "EXISTS" && call) {
    tokens_.Take();
    auto exists = New<ExistsExpr>();
    SLUICE_RETURN_NOT_OK(tokens_.Expect("("));
    SLUICE_ASSIGN_OR_RETURN(exists->query, ParseQuery());
    SLUICE_RETURN_NOT_OK(tokens_.Expect(")"));
    return Done(std::move(exists), first);
  }
  if ((word == "UNIQUE" || word == "CURSOR") && call) {
    return tokens_.Unsupported(word + " (query)", token.range);
  }
  if (word == "ROW" && call) return ParseConstructor();
  const bool collection = word == "ARRAY" || word == "MAP" || word == "MULTISET";
  if (collection && tokens_.PeekIs(1, "[")) return ParseConstructor();
  if (collection && call && AtQuery(1)) {
    return tokens_.Unsupported(word + " (query)", token.range);
  }
  if (word == "NEXT" && tokens_.PeekIs(1, "VALUE")) {
    return tokens_.Unsupported("NEXT VALUE FOR", token.range);
  }
  if (!call) {
    for (std::string_view name : kNoParentheses) {
      if (word != name) continue;
      auto function = New<CallExpr>();
      function->form = CallForm::kNoParentheses;
      tokens_.Take();
      function->name.parts.push_back({std::string(token.text), token.range, false});
      function->name.range = token.range;
      return Done(std::move(function), first);
    }
  }
  if (token.word_class != WordClass::kReserved) return ParseNameOrCall();
  if (call && IsCallableWord(word)) {
    tokens_.Take();
    NamePath name;
    name.parts.push_back({std::string(token.text), token.range, false});
    name.range = token.range;
    return ParseCall(std::move(name), first);
  }
  tokens_.Note("<expression>");
  return tokens_.Fail();
}

Result<ExprPtr> Parser::ParseParenthesized() {
  const size_t first = tokens_.index();
  if (AtQuery()) return ParseSubquery();
  SLUICE_RETURN_NOT_OK(tokens_.Expect("("));
  std::vector<ExprPtr> list;
  SLUICE_RETURN_NOT_OK(ParseExprList(&list));
  SLUICE_RETURN_NOT_OK(tokens_.Expect(")"));
  if (list.size() > 1) {
    auto row = New<RowConstructorExpr>();
    row->elements = std::move(list);
    return Done(std::move(row), first);
  }
  ExprPtr inner = std::move(list[0]);
  if (inner->kind == ExprKind::kBinary && AtIntervalUnit()) {  // (a - b) DAY
    auto& minus = inner->As<BinaryExpr>();
    if (minus.op == BinaryOp::kMinus) {
      auto difference = New<IntervalMinusExpr>();
      difference->left = std::move(minus.left);
      difference->right = std::move(minus.right);
      SLUICE_ASSIGN_OR_RETURN(difference->qualifier, ParseIntervalQualifier());
      return Done(std::move(difference), first);
    }
  }
  inner->parenthesized = true;
  return inner;
}

Result<ExprPtr> Parser::ParseCase() {
  const size_t first = tokens_.index();
  SLUICE_RETURN_NOT_OK(tokens_.Expect("CASE"));
  auto node = New<CaseExpr>();
  if (!tokens_.At("WHEN")) {
    SLUICE_ASSIGN_OR_RETURN(node->operand, ParseExpr());
  }
  if (!tokens_.At("WHEN")) return tokens_.Fail();
  while (tokens_.Accept("WHEN")) {
    CaseWhen when;
    SLUICE_RETURN_NOT_OK(ParseExprList(&when.conditions));
    SLUICE_RETURN_NOT_OK(tokens_.Expect("THEN"));
    SLUICE_ASSIGN_OR_RETURN(when.result, ParseExpr());
    node->whens.push_back(std::move(when));
  }
  if (tokens_.Accept("ELSE")) {
    SLUICE_ASSIGN_OR_RETURN(node->otherwise, ParseExpr());
  }
  SLUICE_RETURN_NOT_OK(tokens_.Expect("END"));
  return Done(std::move(node), first);
}

Result<ExprPtr> Parser::ParseCast() {
  const size_t first = tokens_.index();
  const Token& word = tokens_.Take();
  if (word.value == "SAFE_CAST") {
    return tokens_.FailAt(word, "SAFE_CAST is written TRY_CAST(value AS type).");
  }
  auto cast = New<CastExpr>();
  cast->try_cast = word.value == "TRY_CAST";
  SLUICE_RETURN_NOT_OK(tokens_.Expect("("));
  SLUICE_ASSIGN_OR_RETURN(cast->operand, ParseExpr());
  SLUICE_RETURN_NOT_OK(tokens_.Expect("AS"));
  SLUICE_ASSIGN_OR_RETURN(cast->type, ParseType(false));
  if (tokens_.PeekIs(0, "FORMAT")) {
    return tokens_.Unsupported("CAST … FORMAT", tokens_.Peek().range);
  }
  SLUICE_RETURN_NOT_OK(tokens_.Expect(")"));
  return Done(std::move(cast), first);
}

// ROW(…), ARRAY[…], MAP[…], MULTISET[…].
Result<ExprPtr> Parser::ParseConstructor() {
  const size_t first = tokens_.index();
  const Token& word = tokens_.Take();
  const bool is_row = word.value == "ROW";
  const std::string_view close = is_row ? ")" : "]";
  SLUICE_RETURN_NOT_OK(tokens_.Expect(is_row ? "(" : "["));
  std::vector<ExprPtr> elements;
  if (!is_row && tokens_.PeekIs(0, "]")) {
    return tokens_.FailHere("Require at least 1 argument: an empty " + word.value +
                            "[] has no element type.");
  }
  if (!tokens_.At(close)) SLUICE_RETURN_NOT_OK(ParseExprList(&elements));
  SLUICE_RETURN_NOT_OK(tokens_.Expect(close));
  if (is_row) {
    auto row = New<RowConstructorExpr>();
    row->explicit_row = true;
    row->elements = std::move(elements);
    return Done(std::move(row), first);
  }
  if (word.value == "ARRAY") {
    auto array = New<ArrayConstructorExpr>();
    array->elements = std::move(elements);
    return Done(std::move(array), first);
  }
  if (word.value == "MULTISET") {
    auto multiset = New<MultisetConstructorExpr>();
    multiset->elements = std::move(elements);
    return Done(std::move(multiset), first);
  }
  if (elements.size() == 1) {  // map['k']: MAP is free as a name, and one element makes no map.
    auto column = New<ColumnRefExpr>();
    column->path.parts.push_back({std::string(word.text), word.range, false});
    column->path.range = column->range = word.range;
    auto item = New<ItemExpr>();
    item->operand = std::move(column);
    item->index = std::move(elements[0]);
    return Done(std::move(item), first);
  }
  if (elements.size() % 2 != 0) {
    return tokens_.FailAt(word, "Map requires an even number of arguments: MAP[key, value, …].");
  }
  auto map = New<MapConstructorExpr>();
  map->elements = std::move(elements);
  return Done(std::move(map), first);
}

Result<ExprPtr> Parser::ParseNameOrCall() {
  const size_t first = tokens_.index();
  SLUICE_ASSIGN_OR_RETURN(NamePath path, ParsePath());
  if (tokens_.PeekIs(0, "(")) return ParseCall(std::move(path), first);
  auto column = New<ColumnRefExpr>();
  column->path = std::move(path);
  return Done(std::move(column), first);
}

Status Parser::ParseExprList(std::vector<ExprPtr>* list) {
  do {
    SLUICE_ASSIGN_OR_RETURN(ExprPtr element, ParseExpr());
    list->push_back(std::move(element));
  } while (tokens_.Accept(","));
  return {};
}

Result<ExprPtr> Parser::ParseSubquery() {
  const size_t first = tokens_.index();
  auto subquery = New<SubqueryExpr>();
  SLUICE_RETURN_NOT_OK(tokens_.Expect("("));
  SLUICE_ASSIGN_OR_RETURN(subquery->query, ParseQuery());
  SLUICE_RETURN_NOT_OK(tokens_.Expect(")"));
  return Done(std::move(subquery), first);
}

bool Parser::AtQuery(size_t ahead, int depth) {
  if (!tokens_.PeekIs(ahead, "(")) return false;
  for (std::string_view word : {"SELECT", "WITH", "VALUES", "TABLE"}) {
    if (tokens_.PeekIs(ahead + 1, word)) return true;
  }
  // ((SELECT 1) UNION …) is a query, ((SELECT 1) + 1) is not: what follows the inner ')' decides.
  constexpr int kMostLevels = 200;
  if (depth >= kMostLevels || !AtQuery(ahead + 1, depth + 1)) return false;
  const size_t close = tokens_.FindMatch(tokens_.index() + ahead + 1);
  if (close == 0) return true;
  const size_t after = close - tokens_.index() + 1;
  for (std::string_view word :
       {")", "UNION", "EXCEPT", "MINUS", "INTERSECT", "ORDER", "LIMIT", "OFFSET", "FETCH"}) {
    if (tokens_.PeekIs(after, word)) return true;
  }
  return false;
}

}  // namespace sluice::sql
