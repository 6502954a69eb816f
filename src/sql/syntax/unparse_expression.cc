#include "common/quoted_name.h"
#include "sql/syntax/sql_writer.h"

namespace sluice::sql {
namespace {

// As in the parser: a larger number binds tighter.
enum Level { kOr = 1, kAnd, kNot, kIs, kComparison, kAdditive, kMultiplicative, kUnary, kPrimary };

int OperatorLevel(BinaryOp op) {
  switch (op) {
    case BinaryOp::kOr:
      return kOr;
    case BinaryOp::kAnd:
      return kAnd;
    case BinaryOp::kPlus:
    case BinaryOp::kMinus:
    case BinaryOp::kConcat:
      return kAdditive;
    case BinaryOp::kMultiply:
    case BinaryOp::kDivide:
    case BinaryOp::kModulo:
      return kMultiplicative;
    default:
      return kComparison;
  }
}

int LevelOf(const Expr& expr) {
  switch (expr.kind) {
    case ExprKind::kBinary:
      return OperatorLevel(expr.As<BinaryExpr>().op);
    case ExprKind::kUnary:
      return expr.As<UnaryExpr>().op == UnaryOp::kNot ? kNot : kUnary;
    case ExprKind::kIs:
    case ExprKind::kIsDistinct:
      return kIs;
    case ExprKind::kBetween:
    case ExprKind::kIn:
    case ExprKind::kLike:
    case ExprKind::kQuantified:
      return kComparison;
    default:
      return kPrimary;
  }
}

std::string Hex(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string text;
  for (char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text.push_back(kDigits[byte >> 4]);
    text.push_back(kDigits[byte & 15]);
  }
  return text;
}

std::string_view IsWords(IsKind kind) {
  switch (kind) {
    case IsKind::kNull:
      return "NULL";
    case IsKind::kTrue:
      return "TRUE";
    case IsKind::kFalse:
      return "FALSE";
    case IsKind::kUnknown:
      return "UNKNOWN";
    case IsKind::kJson:
      return "JSON";
    case IsKind::kJsonValue:
      return "JSON VALUE";
    case IsKind::kJsonScalar:
      return "JSON SCALAR";
    case IsKind::kJsonArray:
      return "JSON ARRAY";
    case IsKind::kJsonObject:
      return "JSON OBJECT";
  }
  return "";
}

}  // namespace

std::string QuoteString(std::string_view value) {
  std::string text = "'";
  for (char c : value) {
    if (c == '\'') text.push_back('\'');
    text.push_back(c);
  }
  return text + "'";
}

void SqlWriter::Write(const Identifier& name) { Put(QuotedName(name.name)); }

void SqlWriter::Write(const NamePath& path) {
  PutList(
      path.parts, [this](const Identifier& part) { Write(part); }, ".");
}

void SqlWriter::PutNames(const std::vector<Identifier>& names) {
  Put("(");
  PutList(names, [this](const Identifier& name) { Write(name); });
  Put(")");
}

void SqlWriter::PutExprs(const std::vector<ExprPtr>& list) {
  PutList(list, [this](const ExprPtr& expr) { Write(*expr); });
}

void SqlWriter::PutOrder(const std::vector<OrderItem>& items) {
  PutList(items, [this](const OrderItem& item) {
    Write(*item.expr);
    PutIf(item.descending, " DESC");
    if (item.nulls_first) Put(*item.nulls_first ? " NULLS FIRST" : " NULLS LAST");
  });
}

void SqlWriter::Write(const IntervalQualifier& qualifier) {
  Put(TimeUnitText(qualifier.start));
  const bool single_second = !qualifier.end && qualifier.fraction_precision.has_value();
  if (qualifier.leading_precision) {
    Put("(" + std::to_string(*qualifier.leading_precision));
    if (single_second) Put(", " + std::to_string(*qualifier.fraction_precision));
    Put(")");
  }
  if (!qualifier.end) return;
  Put(" TO ");
  Put(TimeUnitText(*qualifier.end));
  if (qualifier.fraction_precision) Put("(" + std::to_string(*qualifier.fraction_precision) + ")");
}

void SqlWriter::Write(const TypeSyntax& type) {
  if (type.name.empty()) {
    Write(type.user_name);
  } else if (type.name == "TIMESTAMP_TZ") {  // Has no short form in the grammar of all versions.
    Put("TIMESTAMP");
  } else {
    Put(type.name);
  }
  if (!type.arguments.empty()) {
    Put("(");
    PutList(type.arguments, [this](int64_t argument) { Put(std::to_string(argument)); });
    Put(")");
  }
  PutIf(type.name == "TIMESTAMP_TZ", " WITH TIME ZONE");
  if (!type.interval_qualifier.empty()) Put(" " + type.interval_qualifier);
  const bool raw = type.name == "RAW";
  const bool brackets = type.name == "ROW" || type.name == "STRUCTURED" || !type.children.empty();
  if (raw || brackets) {
    Put(raw ? "(" : "<");
    PutList(type.text_arguments, [this](const std::string& text) { Put(QuoteString(text)); });
    for (size_t i = 0; i < type.children.size(); ++i) {
      PutIf(i > 0 || !type.text_arguments.empty(), ", ");
      if (i < type.field_names.size()) {
        Write(type.field_names[i]);
        Put(" ");
      }
      Write(*type.children[i]);
      if (i < type.field_comments.size() && type.field_comments[i]) {
        Put(" " + QuoteString(*type.field_comments[i]));
      }
    }
    Put(raw ? ")" : ">");
  }
  if (type.nullable) Put(*type.nullable ? " NULL" : " NOT NULL");
}

void SqlWriter::WriteAtLeast(const Expr& expr, int level) {
  const bool parentheses = LevelOf(expr) < level;
  PutIf(parentheses, "(");
  Write(expr);
  PutIf(parentheses, ")");
}

void SqlWriter::WriteLiteral(const LiteralExpr& literal) {
  switch (literal.literal_kind) {
    case LiteralKind::kNull:
    case LiteralKind::kBoolean:
    case LiteralKind::kInteger:
    case LiteralKind::kDouble:
      return Put(literal.text);
    case LiteralKind::kDecimal:
      if (literal.text.find('.') == std::string::npos)
        Put("DECIMAL '" + literal.text + "'");
      else
        Put(literal.text);
      return;
    case LiteralKind::kString:
      return Put(QuoteString(literal.text));
    case LiteralKind::kBinary:
      return Put("x'" + Hex(literal.text) + "'");
    case LiteralKind::kDate:
      return Put("DATE '" + literal.text + "'");
    case LiteralKind::kTime:
      return Put("TIME '" + literal.text + "'");
    case LiteralKind::kTimestamp:
      return Put("TIMESTAMP '" + literal.text + "'");
    case LiteralKind::kTimestampLtz:
      return Put("TIMESTAMP WITH LOCAL TIME ZONE '" + literal.text + "'");
    case LiteralKind::kInterval:
      Put("INTERVAL ");
      PutIf(literal.negative, "-");
      Put(literal.bare_number ? literal.text : QuoteString(literal.text));
      Put(" ");
      return Write(literal.interval);
  }
}

void SqlWriter::WriteUnary(const UnaryExpr& unary) {
  if (unary.op == UnaryOp::kNot) {
    Put("NOT ");
    return WriteAtLeast(*unary.operand, kNot);
  }
  Put(unary.op == UnaryOp::kMinus ? "-" : "+");
  // "--" would open a comment, and a minus directly before a number is read as part of it.
  const auto* inner = unary.operand->If<UnaryExpr>();
  const bool parentheses =
      unary.operand->kind == ExprKind::kLiteral || (inner != nullptr && inner->op != UnaryOp::kNot);
  PutIf(parentheses, "(");
  WriteAtLeast(*unary.operand, parentheses ? kOr : kUnary);
  PutIf(parentheses, ")");
}

void SqlWriter::WriteBinary(const BinaryExpr& binary) {
  const int level = OperatorLevel(binary.op);
  WriteAtLeast(*binary.left, level);
  Put(" ");
  Put(BinaryOpName(binary.op));
  Put(" ");
  const bool associative = binary.op == BinaryOp::kAnd || binary.op == BinaryOp::kOr;
  WriteAtLeast(*binary.right, associative ? level : level + 1);
}

void SqlWriter::WriteLike(const LikeExpr& like) {
  WriteAtLeast(*like.operand, kComparison);
  PutIf(like.negated, " NOT");
  switch (like.like_kind) {
    case LikeKind::kLike:
      Put(" LIKE ");
      break;
    case LikeKind::kIlike:
      Put(" ILIKE ");
      break;
    case LikeKind::kRlike:
      Put(" RLIKE ");
      break;
    case LikeKind::kSimilar:
      Put(" SIMILAR TO ");
      break;
  }
  WriteAtLeast(*like.pattern, kAdditive);
  if (like.escape != nullptr) {
    Put(" ESCAPE ");
    WriteAtLeast(*like.escape, kAdditive);
  }
}

void SqlWriter::WriteIs(const IsExpr& is) {
  WriteAtLeast(*is.operand, kIs);
  Put(is.negated ? " IS NOT " : " IS ");
  Put(IsWords(is.is_kind));
}

void SqlWriter::WriteIn(const Expr& operand, std::string_view word,
                        const std::vector<ExprPtr>& list, const Query* query) {
  WriteAtLeast(operand, kComparison);
  Put(" ");
  Put(word);
  Put(" (");
  if (query != nullptr) {
    Write(*query);
  } else {
    PutExprs(list);
  }
  Put(")");
}

void SqlWriter::WriteCase(const CaseExpr& node) {
  Put("CASE");
  if (node.operand != nullptr) {
    Put(" ");
    Write(*node.operand);
  }
  for (const CaseWhen& when : node.whens) {
    Put(" WHEN ");
    PutExprs(when.conditions);
    Put(" THEN ");
    Write(*when.result);
  }
  if (node.otherwise != nullptr) {
    Put(" ELSE ");
    Write(*node.otherwise);
  }
  Put(" END");
}

void SqlWriter::WritePostfixOperand(const Expr& operand, bool names_too) {
  const bool bare = operand.kind == ExprKind::kCall || operand.kind == ExprKind::kItem ||
                    operand.kind == ExprKind::kField || operand.kind == ExprKind::kArray ||
                    operand.kind == ExprKind::kMap || operand.kind == ExprKind::kMultiset ||
                    (names_too && operand.kind == ExprKind::kColumnRef);
  PutIf(!bare, "(");
  Write(operand);
  PutIf(!bare, ")");
}

void SqlWriter::Write(const Expr& expr) {
  switch (expr.kind) {
    case ExprKind::kLiteral:
      return WriteLiteral(expr.As<LiteralExpr>());
    case ExprKind::kColumnRef:
      return Write(expr.As<ColumnRefExpr>().path);
    case ExprKind::kStar: {
      const NamePath& qualifier = expr.As<StarExpr>().qualifier;
      Write(qualifier);
      return Put(qualifier.parts.empty() ? "*" : ".*");
    }
    case ExprKind::kUnary:
      return WriteUnary(expr.As<UnaryExpr>());
    case ExprKind::kBinary:
      return WriteBinary(expr.As<BinaryExpr>());
    case ExprKind::kBetween: {
      const auto& between = expr.As<BetweenExpr>();
      WriteAtLeast(*between.operand, kComparison);
      Put(between.negated ? " NOT BETWEEN " : " BETWEEN ");
      PutIf(between.symmetric, "SYMMETRIC ");
      WriteAtLeast(*between.low, kAdditive);
      Put(" AND ");
      return WriteAtLeast(*between.high, kAdditive);
    }
    case ExprKind::kIn: {
      const auto& in = expr.As<InExpr>();
      return WriteIn(*in.operand, in.negated ? "NOT IN" : "IN", in.list, in.query.get());
    }
    case ExprKind::kLike:
      return WriteLike(expr.As<LikeExpr>());
    case ExprKind::kIs:
      return WriteIs(expr.As<IsExpr>());
    case ExprKind::kIsDistinct: {
      const auto& distinct = expr.As<IsDistinctExpr>();
      WriteAtLeast(*distinct.left, kIs);
      Put(distinct.negated ? " IS NOT DISTINCT FROM " : " IS DISTINCT FROM ");
      return WriteAtLeast(*distinct.right, kComparison);
    }
    case ExprKind::kCase:
      return WriteCase(expr.As<CaseExpr>());
    case ExprKind::kCast: {
      const auto& cast = expr.As<CastExpr>();
      Put(cast.try_cast ? "TRY_CAST(" : "CAST(");
      Write(*cast.operand);
      Put(" AS ");
      Write(*cast.type);
      return Put(")");
    }
    default:
      return WritePrimary(expr);
  }
}

// What binds tightest and has no operator around it.
void SqlWriter::WritePrimary(const Expr& expr) {
  switch (expr.kind) {
    case ExprKind::kCall:
      return WriteCall(expr.As<CallExpr>());
    case ExprKind::kArray:
      Put("ARRAY[");
      PutExprs(expr.As<ArrayConstructorExpr>().elements);
      return Put("]");
    case ExprKind::kMap:
      Put("MAP[");
      PutExprs(expr.As<MapConstructorExpr>().elements);
      return Put("]");
    case ExprKind::kMultiset:
      Put("MULTISET[");
      PutExprs(expr.As<MultisetConstructorExpr>().elements);
      return Put("]");
    case ExprKind::kRow: {
      const auto& row = expr.As<RowConstructorExpr>();
      Put(row.explicit_row ? "ROW(" : "(");
      PutExprs(row.elements);
      return Put(")");
    }
    case ExprKind::kItem: {
      const auto& item = expr.As<ItemExpr>();
      WritePostfixOperand(*item.operand, true);
      Put("[");
      Write(*item.index);
      return Put("]");
    }
    case ExprKind::kField: {
      const auto& field = expr.As<FieldExpr>();
      WritePostfixOperand(*field.operand, false);
      Put(".");
      return Write(field.field);
    }
    case ExprKind::kInterval: {
      const auto& interval = expr.As<IntervalExpr>();
      const bool name = interval.value->kind == ExprKind::kColumnRef;
      Put(name ? "INTERVAL " : "INTERVAL (");
      Write(*interval.value);
      Put(name ? " " : ") ");
      return Write(interval.qualifier);
    }
    default:
      return WriteQueryPart(expr);
  }
}

// Subqueries and what stands only as an argument; the last of the three switches.
void SqlWriter::WriteQueryPart(const Expr& expr) {
  switch (expr.kind) {
    case ExprKind::kIntervalMinus: {
      const auto& minus = expr.As<IntervalMinusExpr>();
      Put("(");
      WriteAtLeast(*minus.left, kAdditive);
      Put(" - ");
      WriteAtLeast(*minus.right, kMultiplicative);
      Put(") ");
      return Write(minus.qualifier);
    }
    case ExprKind::kExists:
      Put("EXISTS (");
      Write(*expr.As<ExistsExpr>().query);
      return Put(")");
    case ExprKind::kQuantified: {
      const auto& quantified = expr.As<QuantifiedExpr>();
      std::string word(BinaryOpName(quantified.op));
      word += quantified.quantifier == Quantifier::kAll ? " ALL" : " ANY";
      return WriteIn(*quantified.operand, word, quantified.list, quantified.query.get());
    }
    case ExprKind::kSubquery:
      Put("(");
      Write(*expr.As<SubqueryExpr>().query);
      return Put(")");
    case ExprKind::kSymbol:
      return Put(expr.As<SymbolExpr>().name);
    case ExprKind::kNamedArgument: {
      const auto& argument = expr.As<NamedArgumentExpr>();
      Write(argument.name);
      Put(" => ");
      return Write(*argument.value);
    }
    case ExprKind::kTableArgument:
      return WriteTableArgument(expr.As<TableArgumentExpr>());
    case ExprKind::kDescriptor:
      Put("DESCRIPTOR");
      return PutNames(expr.As<DescriptorExpr>().columns);
    default:
      SLUICE_CHECK(false, "expression of an unknown kind");
  }
}

}  // namespace sluice::sql
