#include "sql/binder/expression_binder.h"

#include <functional>

#include "common/text.h"
#include "expr/builder.h"
#include "expr/registry.h"
#include "sql/binder/binder.h"
#include "sql/syntax/unparse.h"

namespace sluice::sql {
namespace {

Status NotOffered(std::string_view feature, const Expr& node) {
  return Status::Unsupported(std::string(feature) + " is not supported yet.").At(node.range.begin);
}

/// Calls `visit` for the direct children of `node` that are expressions of the same query.
void ForEachChild(const Expr& node, const std::function<void(const Expr&)>& visit) {
  const auto one = [&](const ExprPtr& child) {
    if (child) visit(*child);
  };
  const auto all = [&](const std::vector<ExprPtr>& children) {
    for (const ExprPtr& child : children) one(child);
  };
  switch (node.kind) {
    case ExprKind::kUnary:
      return one(node.As<UnaryExpr>().operand);
    case ExprKind::kBinary:
      one(node.As<BinaryExpr>().left);
      return one(node.As<BinaryExpr>().right);
    case ExprKind::kBetween:
      one(node.As<BetweenExpr>().operand);
      one(node.As<BetweenExpr>().low);
      return one(node.As<BetweenExpr>().high);
    case ExprKind::kIn:
      one(node.As<InExpr>().operand);
      return all(node.As<InExpr>().list);
    case ExprKind::kLike:
      one(node.As<LikeExpr>().operand);
      one(node.As<LikeExpr>().pattern);
      return one(node.As<LikeExpr>().escape);
    case ExprKind::kIs:
      return one(node.As<IsExpr>().operand);
    case ExprKind::kIsDistinct:
      one(node.As<IsDistinctExpr>().left);
      return one(node.As<IsDistinctExpr>().right);
    case ExprKind::kCase: {
      const auto& branch = node.As<CaseExpr>();
      one(branch.operand);
      for (const CaseWhen& when : branch.whens) {
        all(when.conditions);
        one(when.result);
      }
      return one(branch.otherwise);
    }
    case ExprKind::kCast:
      return one(node.As<CastExpr>().operand);
    case ExprKind::kCall:
      all(node.As<CallExpr>().arguments);
      return one(node.As<CallExpr>().filter);
    case ExprKind::kArray:
      return all(node.As<ArrayConstructorExpr>().elements);
    case ExprKind::kMap:
      return all(node.As<MapConstructorExpr>().elements);
    case ExprKind::kRow:
      return all(node.As<RowConstructorExpr>().elements);
    case ExprKind::kItem:
      one(node.As<ItemExpr>().operand);
      return one(node.As<ItemExpr>().index);
    case ExprKind::kField:
      return one(node.As<FieldExpr>().operand);
    case ExprKind::kInterval:
      return one(node.As<IntervalExpr>().value);
    case ExprKind::kIntervalMinus:
      one(node.As<IntervalMinusExpr>().left);
      return one(node.As<IntervalMinusExpr>().right);
    default:
      return;
  }
}

bool IsAggregateCall(const Expr& node) {
  const CallExpr* call = node.If<CallExpr>();
  return call != nullptr && call->over == nullptr && expr::IsAggregateName(call->UpperName());
}

bool IsSubquery(const Expr& node) {
  const InExpr* in = node.If<InExpr>();
  return node.kind == ExprKind::kExists || node.kind == ExprKind::kSubquery ||
         node.kind == ExprKind::kQuantified || (in != nullptr && in->query != nullptr);
}

bool ContainsSubquery(const Expr& node) {
  if (IsSubquery(node)) return true;
  bool found = false;
  ForEachChild(node, [&](const Expr& child) { found = found || ContainsSubquery(child); });
  return found;
}

bool ContainsColumn(const Expr& node) {
  if (node.kind == ExprKind::kColumnRef) return true;
  bool found = false;
  ForEachChild(node, [&](const Expr& child) { found = found || ContainsColumn(child); });
  return found;
}

}  // namespace

bool ContainsAggregate(const Expr& node) {
  if (IsAggregateCall(node)) return true;
  bool found = false;
  ForEachChild(node, [&](const Expr& child) { found = found || ContainsAggregate(child); });
  return found;
}

Status Located(Status status, SourcePosition position) {
  if (status.ok() || status.position().known()) return status;
  return std::move(status).At(position);
}

Result<expr::ExprPtr> ExpressionBinder::Bind(const Expr& node) {
  Result<expr::ExprPtr> bound =
      grouping_ != nullptr && !inside_aggregate_ ? BindGrouped(node) : BindNode(node);
  if (!bound.ok()) return Located(bound.status(), node.range.begin);
  return bound;
}

Result<expr::ExprPtr> ExpressionBinder::BindInput(const Expr& node) {
  const bool outer = std::exchange(inside_aggregate_, true);
  Result<expr::ExprPtr> bound = Bind(node);
  inside_aggregate_ = outer;
  return bound;
}

Result<expr::ExprPtr> ExpressionBinder::BindCondition(const Expr& node, std::string_view clause) {
  SLUICE_ASSIGN_OR_RETURN(expr::ExprPtr condition, Bind(node));
  if (condition->type().kind() == TypeKind::kNull)
    return expr::MakeCast(condition, SqlType::Boolean());
  if (condition->type().kind() != TypeKind::kBoolean) {
    return Status::Validation(std::string(clause) + " clause must be a condition",
                              node.range.begin);
  }
  return condition;
}

Result<expr::ExprPtr> ExpressionBinder::BindGrouped(const Expr& node) {
  if (IsAggregateCall(node)) return BindAggregate(node.As<CallExpr>());
  if (!ContainsAggregate(node) && ContainsColumn(node) && !ContainsSubquery(node)) {
    SLUICE_ASSIGN_OR_RETURN(const expr::ExprPtr over_input, BindInput(node));
    const std::string text = over_input->ToString(grouping_->input);
    for (size_t i = 0; i < grouping_->keys.size(); ++i) {
      if (grouping_->key_texts[i] == text) {
        return expr::MakeColumn(static_cast<int>(i), grouping_->keys[i]->type());
      }
    }
    if (node.kind == ExprKind::kColumnRef) {
      return Status::Validation(
          "Expression '" + node.As<ColumnRefExpr>().path.ToString() + "' is not being grouped",
          node.range.begin);
    }
  }
  return BindNode(node);
}

Result<expr::ExprPtr> ExpressionBinder::BindAggregate(const CallExpr& call) {
  std::vector<expr::ExprPtr> arguments;
  for (const ExprPtr& argument : call.arguments) {
    if (ContainsAggregate(*argument)) {
      return Status::Validation("Aggregate expressions cannot be nested", argument->range.begin);
    }
    SLUICE_ASSIGN_OR_RETURN(expr::ExprPtr bound, BindInput(*argument));
    arguments.push_back(std::move(bound));
  }
  if (call.arguments.empty() && !call.star) {
    return Status::Validation("Invalid number of arguments to function '" + call.UpperName() +
                                  "'. Was expecting 1 arguments",
                              call.range.begin);
  }
  expr::ExprPtr filter;
  if (call.filter) {
    const bool outer = std::exchange(inside_aggregate_, true);
    Result<expr::ExprPtr> condition = BindCondition(*call.filter, "FILTER");
    inside_aggregate_ = outer;
    if (!condition.ok()) return condition.status();
    filter = *std::move(condition);
  }
  Result<expr::AggregateCall> made =
      expr::MakeAggregate(call.UpperName(), std::move(arguments), call.distinct, filter);
  if (!made.ok()) return Located(made.status(), call.range.begin);
  const std::string text = made->ToString(grouping_->input);
  size_t index = 0;
  while (index < grouping_->call_texts.size() && grouping_->call_texts[index] != text) ++index;
  if (index == grouping_->call_texts.size()) {
    grouping_->calls.push_back(*std::move(made));
    grouping_->call_texts.push_back(text);
  }
  return expr::MakeColumn(static_cast<int>(grouping_->keys.size() + index),
                          grouping_->calls[index].type);
}

Result<std::vector<expr::ExprPtr>> ExpressionBinder::BindAll(const std::vector<ExprPtr>& nodes) {
  std::vector<expr::ExprPtr> bound;
  for (const ExprPtr& node : nodes) {
    SLUICE_ASSIGN_OR_RETURN(expr::ExprPtr expression, Bind(*node));
    bound.push_back(std::move(expression));
  }
  return bound;
}

Result<expr::ExprPtr> ExpressionBinder::BindNode(const Expr& node) {
  switch (node.kind) {
    case ExprKind::kLiteral:
      return BindLiteral(node.As<LiteralExpr>(), false);
    case ExprKind::kColumnRef:
      return BindColumn(node.As<ColumnRefExpr>());
    case ExprKind::kStar:
      return Status::Validation("'*' is allowed only as an item of SELECT and in COUNT(*).",
                                node.range.begin);
    case ExprKind::kUnary:
      return BindUnary(node.As<UnaryExpr>());
    case ExprKind::kBinary:
      return BindBinary(node.As<BinaryExpr>());
    case ExprKind::kBetween: {
      const auto& between = node.As<BetweenExpr>();
      SLUICE_ASSIGN_OR_RETURN(expr::ExprPtr operand, Bind(*between.operand));
      SLUICE_ASSIGN_OR_RETURN(expr::ExprPtr low, Bind(*between.low));
      SLUICE_ASSIGN_OR_RETURN(expr::ExprPtr high, Bind(*between.high));
      return expr::MakeBetween(std::move(operand), std::move(low), std::move(high), between.negated,
                               between.symmetric);
    }
    case ExprKind::kIn:
      return BindIn(node.As<InExpr>());
    case ExprKind::kLike: {
      const auto& like = node.As<LikeExpr>();
      if (like.like_kind == LikeKind::kIlike || like.like_kind == LikeKind::kRlike) {
        const std::string name = like.like_kind == LikeKind::kIlike ? "ILIKE" : "RLIKE";
        return Status::Validation(
            "No match found for function signature " + name + "(<CHARACTER>, <CHARACTER>)." +
                (name == "RLIKE" ? " Use REGEXP(s, regex)." : " Use LOWER(s) LIKE pattern."),
            node.range.begin);
      }
      SLUICE_ASSIGN_OR_RETURN(expr::ExprPtr operand, Bind(*like.operand));
      SLUICE_ASSIGN_OR_RETURN(expr::ExprPtr pattern, Bind(*like.pattern));
      expr::ExprPtr escape;
      if (like.escape) {
        SLUICE_ASSIGN_OR_RETURN(escape, Bind(*like.escape));
      }
      return expr::MakeLike(std::move(operand), std::move(pattern), std::move(escape), like.negated,
                            like.like_kind == LikeKind::kSimilar);
    }
    case ExprKind::kIs: {
      const auto& is = node.As<IsExpr>();
      SLUICE_ASSIGN_OR_RETURN(expr::ExprPtr operand, Bind(*is.operand));
      switch (is.is_kind) {
        case IsKind::kNull:
          return expr::MakeIs(expr::IsTest::kNull, std::move(operand), is.negated);
        case IsKind::kTrue:
          return expr::MakeIs(expr::IsTest::kTrue, std::move(operand), is.negated);
        case IsKind::kFalse:
          return expr::MakeIs(expr::IsTest::kFalse, std::move(operand), is.negated);
        case IsKind::kUnknown:
          return expr::MakeIs(expr::IsTest::kUnknown, std::move(operand), is.negated);
        case IsKind::kJson:
        case IsKind::kJsonValue:
          return expr::MakeIsJson(std::move(operand), "", is.negated);
        case IsKind::kJsonScalar:
          return expr::MakeIsJson(std::move(operand), "SCALAR", is.negated);
        case IsKind::kJsonArray:
          return expr::MakeIsJson(std::move(operand), "ARRAY", is.negated);
        case IsKind::kJsonObject:
          return expr::MakeIsJson(std::move(operand), "OBJECT", is.negated);
      }
      return Status::Internal("unknown IS test");
    }
    case ExprKind::kIsDistinct: {
      const auto& distinct = node.As<IsDistinctExpr>();
      SLUICE_ASSIGN_OR_RETURN(expr::ExprPtr left, Bind(*distinct.left));
      SLUICE_ASSIGN_OR_RETURN(expr::ExprPtr right, Bind(*distinct.right));
      return expr::MakeIsDistinctFrom(std::move(left), std::move(right), distinct.negated);
    }
    case ExprKind::kCase:
      return BindCase(node.As<CaseExpr>());
    case ExprKind::kCast: {
      const auto& cast = node.As<CastExpr>();
      SLUICE_ASSIGN_OR_RETURN(expr::ExprPtr operand, Bind(*cast.operand));
      SLUICE_ASSIGN_OR_RETURN(const SqlType type, BindType(*cast.type));
      return expr::MakeCast(std::move(operand), type, cast.try_cast);
    }
    case ExprKind::kCall:
      return BindCall(node.As<CallExpr>());
    case ExprKind::kArray: {
      SLUICE_ASSIGN_OR_RETURN(std::vector<expr::ExprPtr> elements,
                              BindAll(node.As<ArrayConstructorExpr>().elements));
      return expr::MakeArray(std::move(elements));
    }
    case ExprKind::kMap: {
      SLUICE_ASSIGN_OR_RETURN(std::vector<expr::ExprPtr> elements,
                              BindAll(node.As<MapConstructorExpr>().elements));
      return expr::MakeMap(std::move(elements));
    }
    case ExprKind::kMultiset:
      return NotOffered("The MULTISET constructor", node);
    case ExprKind::kRow: {
      SLUICE_ASSIGN_OR_RETURN(std::vector<expr::ExprPtr> fields,
                              BindAll(node.As<RowConstructorExpr>().elements));
      return expr::MakeRow(std::move(fields));
    }
    case ExprKind::kItem: {
      SLUICE_ASSIGN_OR_RETURN(expr::ExprPtr operand, Bind(*node.As<ItemExpr>().operand));
      SLUICE_ASSIGN_OR_RETURN(expr::ExprPtr index, Bind(*node.As<ItemExpr>().index));
      return expr::MakeItem(std::move(operand), std::move(index));
    }
    case ExprKind::kField: {
      const auto& field = node.As<FieldExpr>();
      SLUICE_ASSIGN_OR_RETURN(expr::ExprPtr operand, Bind(*field.operand));
      Result<expr::ExprPtr> value = expr::MakeField(std::move(operand), field.field.name);
      if (!value.ok()) return Located(value.status(), field.field.range.begin);
      return value;
    }
    case ExprKind::kInterval: {
      const auto& interval = node.As<IntervalExpr>();
      SLUICE_ASSIGN_OR_RETURN(expr::ExprPtr number, Bind(*interval.value));
      return expr::MakeIntervalOf(std::move(number), TimeUnitText(interval.qualifier.start));
    }
    case ExprKind::kIntervalMinus: {
      const auto& minus = node.As<IntervalMinusExpr>();
      SLUICE_ASSIGN_OR_RETURN(expr::ExprPtr left, Bind(*minus.left));
      SLUICE_ASSIGN_OR_RETURN(expr::ExprPtr right, Bind(*minus.right));
      return expr::MakeTimeDifference(std::move(left), std::move(right),
                                      TimeUnitText(minus.qualifier.start));
    }
    case ExprKind::kSymbol:
      return expr::MakeSymbol(node.As<SymbolExpr>().name);
    case ExprKind::kExists:
      return BindExists(node.As<ExistsExpr>());
    case ExprKind::kQuantified:
      return BindQuantified(node.As<QuantifiedExpr>());
    case ExprKind::kSubquery:
      return BindScalarQuery(node.As<SubqueryExpr>());
    case ExprKind::kNamedArgument:
      return NotOffered("A named argument", node);
    case ExprKind::kTableArgument:
    case ExprKind::kDescriptor:
      return NotOffered("A table function call", node);
  }
  return Status::Internal("unknown syntax node");
}

Result<expr::ExprPtr> ExpressionBinder::BindLiteral(const LiteralExpr& literal, bool negative) {
  switch (literal.literal_kind) {
    case LiteralKind::kNull:
      return expr::MakeNull();
    case LiteralKind::kBoolean:
      if (literal.text == "UNKNOWN") return expr::MakeNull(SqlType::Boolean());
      return expr::MakeBoolean(literal.text == "TRUE");
    case LiteralKind::kInteger:
    case LiteralKind::kDecimal:
    case LiteralKind::kDouble: {
      // The parser keeps a sign that stands before a number in its text.
      std::string_view text = literal.text;
      const bool signed_text = text.starts_with('-');
      if (signed_text) text.remove_prefix(1);
      return expr::MakeNumber(text, negative != signed_text);
    }
    case LiteralKind::kString:
      return expr::MakeString(literal.text);
    case LiteralKind::kBinary:
      return expr::MakeBinary(literal.text);
    case LiteralKind::kDate:
      return expr::MakeDate(literal.text);
    case LiteralKind::kTime:
      return expr::MakeTime(literal.text);
    case LiteralKind::kTimestamp:
      return expr::MakeTimestamp(literal.text);
    case LiteralKind::kTimestampLtz:
      return expr::MakeTimestampLtz(literal.text, session_zone_);
    case LiteralKind::kInterval: {
      const IntervalQualifier& qualifier = literal.interval;
      const std::string_view end =
          qualifier.end ? TimeUnitText(*qualifier.end) : std::string_view();
      const int precision = literal.bare_number ? 0 : qualifier.leading_precision.value_or(2);
      return expr::MakeInterval(literal.text, literal.negative, TimeUnitText(qualifier.start), end,
                                precision);
    }
  }
  return Status::Internal("unknown literal kind");
}

Result<expr::ExprPtr> ExpressionBinder::BindUnary(const UnaryExpr& node) {
  if (node.op == UnaryOp::kMinus) {
    if (const LiteralExpr* literal = node.operand->If<LiteralExpr>()) {
      const LiteralKind kind = literal->literal_kind;
      if (kind == LiteralKind::kInteger || kind == LiteralKind::kDecimal ||
          kind == LiteralKind::kDouble) {
        return BindLiteral(*literal, true);
      }
    }
  }
  SLUICE_ASSIGN_OR_RETURN(expr::ExprPtr operand, Bind(*node.operand));
  switch (node.op) {
    case UnaryOp::kNot:
      return expr::MakeNot(std::move(operand));
    case UnaryOp::kMinus:
      return expr::MakeNegate(std::move(operand));
    case UnaryOp::kPlus:
      if (!operand->type().is_numeric() && !operand->type().is_interval()) {
        return Status::Validation("Cannot apply '+' to arguments of type '+<" +
                                  ValidatorTypeName(operand->type()) + ">'.");
      }
      return operand;
  }
  return Status::Internal("unknown unary operator");
}

Result<expr::ExprPtr> ExpressionBinder::BindLogical(const BinaryExpr& node) {
  // Balanced trees of one operator become one call with many arguments.
  std::vector<expr::ExprPtr> conditions;
  const std::function<Status(const Expr&)> collect = [&](const Expr& part) -> Status {
    const BinaryExpr* binary = part.If<BinaryExpr>();
    if (binary != nullptr && binary->op == node.op) {
      SLUICE_RETURN_NOT_OK(collect(*binary->left));
      return collect(*binary->right);
    }
    SLUICE_ASSIGN_OR_RETURN(expr::ExprPtr bound, Bind(part));
    conditions.push_back(std::move(bound));
    return {};
  };
  SLUICE_RETURN_NOT_OK(collect(node));
  return node.op == BinaryOp::kAnd ? expr::MakeAnd(std::move(conditions))
                                   : expr::MakeOr(std::move(conditions));
}

Result<expr::ExprPtr> ExpressionBinder::BindBinary(const BinaryExpr& node) {
  if (node.op == BinaryOp::kAnd || node.op == BinaryOp::kOr) return BindLogical(node);
  if (node.op == BinaryOp::kOverlaps) return BindOverlaps(node);
  SLUICE_ASSIGN_OR_RETURN(expr::ExprPtr left, Bind(*node.left));
  SLUICE_ASSIGN_OR_RETURN(expr::ExprPtr right, Bind(*node.right));
  const auto compare = [&](expr::ComparisonOp op) { return expr::MakeComparison(op, left, right); };
  const auto compute = [&](ArithmeticOp op) { return expr::MakeArithmetic(op, left, right); };
  switch (node.op) {
    case BinaryOp::kEqual:
      return compare(expr::ComparisonOp::kEqual);
    case BinaryOp::kNotEqual:
      return compare(expr::ComparisonOp::kNotEqual);
    case BinaryOp::kLess:
      return compare(expr::ComparisonOp::kLess);
    case BinaryOp::kLessEqual:
      return compare(expr::ComparisonOp::kLessEqual);
    case BinaryOp::kGreater:
      return compare(expr::ComparisonOp::kGreater);
    case BinaryOp::kGreaterEqual:
      return compare(expr::ComparisonOp::kGreaterEqual);
    case BinaryOp::kPlus:
      return compute(ArithmeticOp::kAdd);
    case BinaryOp::kMinus:
      return compute(ArithmeticOp::kSubtract);
    case BinaryOp::kMultiply:
      return compute(ArithmeticOp::kMultiply);
    case BinaryOp::kDivide:
      return compute(ArithmeticOp::kDivide);
    case BinaryOp::kModulo:
      return compute(ArithmeticOp::kModulo);
    case BinaryOp::kConcat:
      return expr::MakeConcat(std::move(left), std::move(right));
    case BinaryOp::kAnd:
    case BinaryOp::kOr:
    case BinaryOp::kOverlaps:
      break;
  }
  return Status::Internal("unknown binary operator");
}

Result<expr::ExprPtr> ExpressionBinder::BindIn(const InExpr& node) {
  if (node.query) return BindInQuery(*node.operand, *node.query, node.negated);
  SLUICE_ASSIGN_OR_RETURN(expr::ExprPtr operand, Bind(*node.operand));
  SLUICE_ASSIGN_OR_RETURN(std::vector<expr::ExprPtr> list, BindAll(node.list));
  return expr::MakeIn(std::move(operand), std::move(list), node.negated);
}

Result<expr::ExprPtr> ExpressionBinder::BindColumn(const ColumnRefExpr& node) {
  if (host_ != nullptr && !scope_.Has(node.path)) {
    SLUICE_ASSIGN_OR_RETURN(expr::ExprPtr outer, host_->ResolveOuter(node.path));
    if (outer) return outer;
  }
  return scope_.Resolve(node.path);
}

Result<expr::ExprPtr> ExpressionBinder::BindOverlaps(const BinaryExpr& node) {
  std::vector<expr::ExprPtr> bounds;
  for (const ExprPtr* side : {&node.left, &node.right}) {
    const RowConstructorExpr* period = (*side)->If<RowConstructorExpr>();
    if (period == nullptr || period->elements.size() != 2) {
      return Status::Validation("OVERLAPS compares two periods, each written as (start, end).",
                                (*side)->range.begin);
    }
    for (const ExprPtr& bound : period->elements) {
      SLUICE_ASSIGN_OR_RETURN(expr::ExprPtr value, Bind(*bound));
      bounds.push_back(std::move(value));
    }
  }
  return expr::MakeCall("OVERLAPS", std::move(bounds));
}

Result<expr::ExprPtr> ExpressionBinder::BindInQuery(const Expr& operand, const Query& query,
                                                    bool negated) {
  if (host_ == nullptr) return NotOffered("IN with a subquery at this place", operand);
  std::vector<expr::ExprPtr> operands;
  if (const RowConstructorExpr* row = operand.If<RowConstructorExpr>()) {
    SLUICE_ASSIGN_OR_RETURN(operands, BindAll(row->elements));
  } else {
    SLUICE_ASSIGN_OR_RETURN(expr::ExprPtr value, Bind(operand));
    operands.push_back(std::move(value));
  }
  SLUICE_ASSIGN_OR_RETURN(expr::ExprPtr mark,
                          host_->BindMembership(std::move(operands), query, above_groups()));
  return negated ? expr::MakeNot(std::move(mark)) : mark;
}

Result<expr::ExprPtr> ExpressionBinder::BindQuantified(const QuantifiedExpr& node) {
  // = ANY is IN, <> ALL is NOT IN.
  const bool in = node.op == BinaryOp::kEqual && node.quantifier == Quantifier::kAny;
  const bool not_in = node.op == BinaryOp::kNotEqual && node.quantifier == Quantifier::kAll;
  if (!in && !not_in) return NotOffered("A comparison with ANY or ALL other than = and <>", node);
  if (node.query) return BindInQuery(*node.operand, *node.query, not_in);
  SLUICE_ASSIGN_OR_RETURN(expr::ExprPtr operand, Bind(*node.operand));
  SLUICE_ASSIGN_OR_RETURN(std::vector<expr::ExprPtr> list, BindAll(node.list));
  return expr::MakeIn(std::move(operand), std::move(list), not_in);
}

Result<expr::ExprPtr> ExpressionBinder::BindExists(const ExistsExpr& node) {
  if (host_ == nullptr) return NotOffered("EXISTS at this place", node);
  return host_->BindMembership({}, *node.query, above_groups());
}

Result<expr::ExprPtr> ExpressionBinder::BindScalarQuery(const SubqueryExpr& node) {
  if (host_ == nullptr) return NotOffered("A scalar subquery at this place", node);
  return host_->BindScalar(*node.query, above_groups());
}

/// What CURRENT_DATABASE() and its like name; nullopt for other functions.
std::optional<std::string> ExpressionBinder::SessionName(std::string_view function) const {
  if (host_ == nullptr) return std::nullopt;
  const catalog::CatalogManager& catalogs = *host_->context().catalogs;
  if (function == "CURRENT_CATALOG") return catalogs.current_catalog();
  if (function == "CURRENT_DATABASE" || function == "CURRENT_SCHEMA")
    return catalogs.current_database();
  return std::nullopt;
}

Result<expr::ExprPtr> ExpressionBinder::BindCase(const CaseExpr& node) {
  expr::ExprPtr operand;
  if (node.operand) {
    SLUICE_ASSIGN_OR_RETURN(operand, Bind(*node.operand));
  }
  std::vector<std::pair<expr::ExprPtr, expr::ExprPtr>> branches;
  for (const CaseWhen& when : node.whens) {
    std::vector<expr::ExprPtr> alternatives;
    for (const ExprPtr& condition : when.conditions) {
      SLUICE_ASSIGN_OR_RETURN(expr::ExprPtr bound,
                              operand ? Bind(*condition) : BindCondition(*condition, "WHEN"));
      if (operand) {
        Result<expr::ExprPtr> equal =
            expr::MakeComparison(expr::ComparisonOp::kEqual, operand, std::move(bound));
        if (!equal.ok()) return Located(equal.status(), condition->range.begin);
        bound = *std::move(equal);
      }
      alternatives.push_back(std::move(bound));
    }
    expr::ExprPtr condition = alternatives[0];
    if (alternatives.size() > 1) {
      SLUICE_ASSIGN_OR_RETURN(condition, expr::MakeOr(std::move(alternatives)));
    }
    SLUICE_ASSIGN_OR_RETURN(expr::ExprPtr result, Bind(*when.result));
    branches.emplace_back(std::move(condition), std::move(result));
  }
  expr::ExprPtr otherwise;
  if (node.otherwise) {
    SLUICE_ASSIGN_OR_RETURN(otherwise, Bind(*node.otherwise));
  }
  return expr::MakeCase(std::move(branches), std::move(otherwise));
}

Result<expr::ExprPtr> ExpressionBinder::BindCall(const CallExpr& call) {
  if (call.over) return NotOffered("OVER", call);
  const std::string name = call.UpperName();
  if (expr::IsAggregateName(name)) {
    return Status::Validation(inside_aggregate_
                                  ? "Aggregate expressions cannot be nested"
                                  : "Aggregate function " + name + " is not allowed here.",
                              call.range.begin);
  }
  if (call.star || call.distinct || call.filter) {
    return Status::Validation("DISTINCT, '*' and FILTER are for aggregate functions; '" +
                                  call.name.ToString() + "' is none.",
                              call.range.begin);
  }
  if (const auto value = call.arguments.empty() ? SessionName(name) : std::nullopt) {
    return expr::MakeCast(expr::MakeString(*value), SqlType::String().WithNullable(false));
  }
  SLUICE_ASSIGN_OR_RETURN(std::vector<expr::ExprPtr> arguments, BindAll(call.arguments));
  if (call.form == CallForm::kJson && call.json) return BindJsonCall(call, std::move(arguments));
  return expr::MakeCall(name.empty() ? call.name.ToString() : name, std::move(arguments));
}

namespace {

expr::JsonBehavior Behavior(JsonBehavior written, expr::JsonBehavior unless) {
  switch (written) {
    case JsonBehavior::kNone:
      return unless;
    case JsonBehavior::kNull:
      return expr::JsonBehavior::kNull;
    case JsonBehavior::kError:
      return expr::JsonBehavior::kError;
    case JsonBehavior::kDefault:
      return expr::JsonBehavior::kDefault;
    case JsonBehavior::kTrue:
      return expr::JsonBehavior::kTrue;
    case JsonBehavior::kFalse:
      return expr::JsonBehavior::kFalse;
    case JsonBehavior::kUnknown:
      return expr::JsonBehavior::kUnknown;
    case JsonBehavior::kEmptyArray:
      return expr::JsonBehavior::kEmptyArray;
    case JsonBehavior::kEmptyObject:
      return expr::JsonBehavior::kEmptyObject;
  }
  return unless;
}

}  // namespace

Result<expr::ExprPtr> ExpressionBinder::BindJsonCall(const CallExpr& call,
                                                     std::vector<expr::ExprPtr> arguments) {
  const std::string name = call.UpperName();
  const JsonClauses& written = *call.json;
  if (name == "JSON_OBJECT") {
    return expr::MakeJsonObject(std::move(arguments), written.nulls == JsonNulls::kAbsentOnNull);
  }
  if (name == "JSON_ARRAY") {
    return expr::MakeJsonArray(std::move(arguments), written.nulls != JsonNulls::kNullOnNull);
  }
  if (arguments.size() != 2) {
    return Status::Validation("Invalid number of arguments to function '" + name +
                              "'. Was expecting 2 arguments");
  }
  if (name == "JSON_EXISTS") {
    return expr::MakeJsonExists(arguments[0], arguments[1],
                                Behavior(written.on_error, expr::JsonBehavior::kFalse));
  }
  expr::JsonClauses clauses;
  if (written.returning) {
    SLUICE_ASSIGN_OR_RETURN(clauses.returning, BindType(*written.returning));
  }
  clauses.on_empty = Behavior(written.on_empty, expr::JsonBehavior::kNull);
  clauses.on_error = Behavior(written.on_error, expr::JsonBehavior::kNull);
  if (written.empty_default) {
    SLUICE_ASSIGN_OR_RETURN(clauses.empty_default, Bind(*written.empty_default));
  }
  if (written.error_default) {
    SLUICE_ASSIGN_OR_RETURN(clauses.error_default, Bind(*written.error_default));
  }
  if (name == "JSON_VALUE") return expr::MakeJsonValue(arguments[0], arguments[1], clauses);
  clauses.wrapper = written.wrapper == JsonWrapper::kConditional ? expr::JsonWrapper::kConditional
                    : written.wrapper == JsonWrapper::kUnconditional
                        ? expr::JsonWrapper::kUnconditional
                        : expr::JsonWrapper::kWithout;
  if (name == "JSON_QUERY") return expr::MakeJsonQuery(arguments[0], arguments[1], clauses);
  return NotOffered(name, call);
}

}  // namespace sluice::sql
