#include "sql/binder/syntax_walk.h"

namespace sluice::sql {
namespace {

class Children {
 public:
  explicit Children(const ChildVisitor& visit) : visit_(visit) {}

  void One(ExprPtr& child) const {
    if (child) visit_.expression(*child);
  }
  void All(std::vector<ExprPtr>& children) const {
    for (ExprPtr& child : children) One(child);
  }
  void Subquery(std::unique_ptr<Query>& query) const {
    if (query && visit_.query) visit_.query(*query);
  }
  void Order(std::vector<OrderItem>& items) const {
    for (OrderItem& item : items) One(item.expr);
  }
  void Window(WindowSpec& window) const {
    All(window.partition_by);
    Order(window.order_by);
    One(window.start.offset);
    if (window.end) One(window.end->offset);
  }
  void Call(CallExpr& call) const {
    All(call.arguments);
    if (call.json) {
      One(call.json->empty_default);
      One(call.json->error_default);
    }
    One(call.filter);
    if (call.over) Window(*call.over);
  }
  void Case(CaseExpr& node) const {
    One(node.operand);
    for (CaseWhen& when : node.whens) {
      All(when.conditions);
      One(when.result);
    }
    One(node.otherwise);
  }

 private:
  const ChildVisitor& visit_;
};

/// The kinds with two or more operands of a fixed place.
void VisitOperands(Expr& node, const Children& children) {
  switch (node.kind) {
    case ExprKind::kUnary:
      return children.One(node.As<UnaryExpr>().operand);
    case ExprKind::kBinary:
      children.One(node.As<BinaryExpr>().left);
      return children.One(node.As<BinaryExpr>().right);
    case ExprKind::kBetween:
      children.One(node.As<BetweenExpr>().operand);
      children.One(node.As<BetweenExpr>().low);
      return children.One(node.As<BetweenExpr>().high);
    case ExprKind::kLike:
      children.One(node.As<LikeExpr>().operand);
      children.One(node.As<LikeExpr>().pattern);
      return children.One(node.As<LikeExpr>().escape);
    case ExprKind::kIs:
      return children.One(node.As<IsExpr>().operand);
    case ExprKind::kIsDistinct:
      children.One(node.As<IsDistinctExpr>().left);
      return children.One(node.As<IsDistinctExpr>().right);
    case ExprKind::kCast:
      return children.One(node.As<CastExpr>().operand);
    case ExprKind::kItem:
      children.One(node.As<ItemExpr>().operand);
      return children.One(node.As<ItemExpr>().index);
    case ExprKind::kField:
      return children.One(node.As<FieldExpr>().operand);
    case ExprKind::kInterval:
      return children.One(node.As<IntervalExpr>().value);
    case ExprKind::kIntervalMinus:
      children.One(node.As<IntervalMinusExpr>().left);
      return children.One(node.As<IntervalMinusExpr>().right);
    case ExprKind::kNamedArgument:
      return children.One(node.As<NamedArgumentExpr>().value);
    default:
      return;
  }
}

void VisitBody(QueryBody& body, const std::function<void(const NamePath&)>& visit);

void VisitExpression(Expr& node, const std::function<void(const NamePath&)>& visit) {
  if (const auto* argument = node.If<TableArgumentExpr>(); argument && !argument->query)
    visit(argument->table);
  ForEachChild(node, {[&](Expr& child) { VisitExpression(child, visit); },
                      [&](Query& query) { ForEachTableName(query, visit); }});
}

void VisitFrom(TableRef& ref, const std::function<void(const NamePath&)>& visit) {
  switch (ref.kind) {
    case TableRefKind::kTable:
      return visit(static_cast<TableNameRef&>(ref).path);
    case TableRefKind::kSubquery:
      return ForEachTableName(*static_cast<DerivedTableRef&>(ref).query, visit);
    case TableRefKind::kFunction:
      return VisitExpression(*static_cast<TableFunctionRef&>(ref).call, visit);
    case TableRefKind::kUnnest:
      for (ExprPtr& argument : static_cast<UnnestRef&>(ref).arguments)
        VisitExpression(*argument, visit);
      return;
    case TableRefKind::kJoin: {
      auto& join = static_cast<JoinRef&>(ref);
      VisitFrom(*join.left, visit);
      VisitFrom(*join.right, visit);
      if (join.on) VisitExpression(*join.on, visit);
      return;
    }
  }
}

void VisitBody(QueryBody& body, const std::function<void(const NamePath&)>& visit) {
  switch (body.kind) {
    case BodyKind::kSelect: {
      auto& select = static_cast<SelectBody&>(body);
      for (SelectItem& item : select.items) VisitExpression(*item.expr, visit);
      if (select.from) VisitFrom(*select.from, visit);
      if (select.where) VisitExpression(*select.where, visit);
      if (select.having) VisitExpression(*select.having, visit);
      if (select.qualify) VisitExpression(*select.qualify, visit);
      return;
    }
    case BodyKind::kValues:
      for (ValuesRow& row : static_cast<ValuesBody&>(body).rows) {
        for (ExprPtr& value : row.values) VisitExpression(*value, visit);
      }
      return;
    case BodyKind::kTable:
      return visit(static_cast<TableBody&>(body).path);
    case BodyKind::kSetOperation:
      VisitBody(*static_cast<SetOperation&>(body).left, visit);
      return VisitBody(*static_cast<SetOperation&>(body).right, visit);
    case BodyKind::kNested:
      return ForEachTableName(*static_cast<NestedQuery&>(body).query, visit);
  }
}

}  // namespace

void ForEachChild(Expr& node, const ChildVisitor& visit) {
  const Children children(visit);
  switch (node.kind) {
    case ExprKind::kIn: {
      auto& in = node.As<InExpr>();
      children.One(in.operand);
      children.All(in.list);
      return children.Subquery(in.query);
    }
    case ExprKind::kCase:
      return children.Case(node.As<CaseExpr>());
    case ExprKind::kCall:
      return children.Call(node.As<CallExpr>());
    case ExprKind::kArray:
      return children.All(node.As<ArrayConstructorExpr>().elements);
    case ExprKind::kMap:
      return children.All(node.As<MapConstructorExpr>().elements);
    case ExprKind::kMultiset:
      return children.All(node.As<MultisetConstructorExpr>().elements);
    case ExprKind::kRow:
      return children.All(node.As<RowConstructorExpr>().elements);
    case ExprKind::kExists:
      return children.Subquery(node.As<ExistsExpr>().query);
    case ExprKind::kQuantified: {
      auto& quantified = node.As<QuantifiedExpr>();
      children.One(quantified.operand);
      children.All(quantified.list);
      return children.Subquery(quantified.query);
    }
    case ExprKind::kSubquery:
      return children.Subquery(node.As<SubqueryExpr>().query);
    case ExprKind::kTableArgument: {
      auto& argument = node.As<TableArgumentExpr>();
      children.Subquery(argument.query);
      children.All(argument.partition_by);
      return children.Order(argument.order_by);
    }
    default:
      return VisitOperands(node, children);
  }
}

std::set<std::string> UsedColumnNames(Expr& node) {
  std::set<std::string> names;
  const std::function<void(Expr&)> collect = [&](Expr& part) {
    if (const auto* column = part.If<ColumnRefExpr>()) names.insert(column->path.parts[0].name);
    ForEachChild(part, {collect, nullptr});
  };
  collect(node);
  return names;
}

void ForEachTableName(Query& query, const std::function<void(const NamePath&)>& visit) {
  for (CommonTable& common : query.with) ForEachTableName(*common.query, visit);
  VisitBody(*query.body, visit);
  for (OrderItem& item : query.order_by) VisitExpression(*item.expr, visit);
}

}  // namespace sluice::sql
