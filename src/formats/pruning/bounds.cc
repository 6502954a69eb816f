#include "formats/pruning/bounds.h"

#include <cmath>
#include <string_view>

#include <arrow/api.h>
#include <arrow/compute/api.h>

#include "expr/nodes.h"

namespace sluice::formats::pruning {

namespace {

// Casts that keep the order of values, so that the bounds may be cast.
bool KeepsOrder(const SqlType& from, const SqlType& to) {
  if (from.is_integer())
    return (to.is_integer() && to.kind() >= from.kind()) || to.kind() == TypeKind::kDecimal;
  if (from.kind() == TypeKind::kFloat) return to.kind() == TypeKind::kDouble;
  if (from.kind() == TypeKind::kVarchar)
    return to.kind() == TypeKind::kVarchar && to.length() >= from.length();
  if (from.kind() == TypeKind::kDecimal) {
    return to.kind() == TypeKind::kDecimal && to.scale() >= from.scale() &&
           to.precision() - to.scale() >= from.precision() - from.scale();
  }
  if (from.is_timestamp()) return to.kind() == from.kind() && to.precision() >= from.precision();
  return false;
}

// The column below casts that keep the order, -1 when `expression` is something else.
int OrderedColumn(const expr::Expr& expression) {
  if (expression.kind() == expr::ExprKind::kColumn)
    return static_cast<const expr::ColumnExpr&>(expression).index();
  if (expression.kind() != expr::ExprKind::kCast) return -1;
  const auto& cast = static_cast<const expr::CastExpr&>(expression);
  return KeepsOrder(cast.input()->type(), cast.type()) ? OrderedColumn(*cast.input()) : -1;
}

bool IsNan(const arrow::Scalar& value) {
  if (value.type->id() == arrow::Type::DOUBLE)
    return std::isnan(static_cast<const arrow::DoubleScalar&>(value).value);
  if (value.type->id() == arrow::Type::FLOAT)
    return std::isnan(static_cast<const arrow::FloatScalar&>(value).value);
  return false;
}

template <typename Scalar>
int CompareAs(const arrow::Scalar& a, const arrow::Scalar& b) {
  const auto& left = static_cast<const Scalar&>(a).value;
  const auto& right = static_cast<const Scalar&>(b).value;
  return left < right ? -1 : right < left ? 1 : 0;
}

int CompareBytes(const arrow::Scalar& a, const arrow::Scalar& b) {
  const auto view = [](const arrow::Scalar& value) {
    return static_cast<std::string_view>(*static_cast<const arrow::BaseBinaryScalar&>(value).value);
  };
  return view(a).compare(view(b));
}

// Below, at or above zero as `a` stands to `b`, which is of the same type and valid; nullopt when
// it cannot be told. By hand: kernels of Arrow that compare are not registered in the program.
std::optional<int> Compare(const arrow::Scalar& a, const arrow::Scalar& b) {
  switch (a.type->id()) {
    case arrow::Type::BOOL:
      return CompareAs<arrow::BooleanScalar>(a, b);
    case arrow::Type::INT8:
      return CompareAs<arrow::Int8Scalar>(a, b);
    case arrow::Type::INT16:
      return CompareAs<arrow::Int16Scalar>(a, b);
    case arrow::Type::INT32:
      return CompareAs<arrow::Int32Scalar>(a, b);
    case arrow::Type::INT64:
      return CompareAs<arrow::Int64Scalar>(a, b);
    case arrow::Type::FLOAT:
      return CompareAs<arrow::FloatScalar>(a, b);
    case arrow::Type::DOUBLE:
      return CompareAs<arrow::DoubleScalar>(a, b);
    case arrow::Type::DATE32:
      return CompareAs<arrow::Date32Scalar>(a, b);
    case arrow::Type::TIME32:
      return CompareAs<arrow::Time32Scalar>(a, b);
    case arrow::Type::TIMESTAMP:
      return CompareAs<arrow::TimestampScalar>(a, b);
    case arrow::Type::DECIMAL128:
      return CompareAs<arrow::Decimal128Scalar>(a, b);
    case arrow::Type::STRING:
    case arrow::Type::BINARY:
      return CompareBytes(a, b);
    default:
      return std::nullopt;
  }
}

class Judge {
 public:
  explicit Judge(const BoundsSource& bounds) : bounds_(bounds) {}

  bool MayMatch(const expr::Expr& filter) const {
    if (filter.kind() == expr::ExprKind::kLiteral) return LiteralMayMatch(filter);
    if (filter.kind() != expr::ExprKind::kCall) return true;
    const auto& call = static_cast<const expr::CallExpr&>(filter);
    const std::string_view name = call.name();
    const auto& arguments = call.arguments();
    const auto may_match = [this](const expr::ExprPtr& child) { return MayMatch(*child); };
    if (name == "AND") return std::all_of(arguments.begin(), arguments.end(), may_match);
    if (name == "OR") return std::any_of(arguments.begin(), arguments.end(), may_match);
    if (name == "IS NULL" || name == "IS NOT NULL")
      return NullTestMayMatch(*arguments[0], name == "IS NULL");
    if (name == "IN") return InMayMatch(arguments);
    if (arguments.size() != 2) return true;
    if (const auto literal = expr::LiteralValue(*arguments[1]))
      return ComparisonMayMatch(name, *arguments[0], literal);
    if (const auto literal = expr::LiteralValue(*arguments[0])) {
      return ComparisonMayMatch(Mirrored(name), *arguments[1], literal);
    }
    return true;
  }

 private:
  static bool LiteralMayMatch(const expr::Expr& filter) {
    const auto value = expr::LiteralValue(filter);
    if (value == nullptr || value->type->id() != arrow::Type::BOOL) return true;
    return value->is_valid && static_cast<const arrow::BooleanScalar&>(*value).value;
  }

  static std::string_view Mirrored(std::string_view name) {
    if (name == "<") return ">";
    if (name == "<=") return ">=";
    if (name == ">") return "<";
    if (name == ">=") return "<=";
    return name;
  }

  bool NullTestMayMatch(const expr::Expr& operand, bool wants_null) const {
    if (operand.kind() != expr::ExprKind::kColumn) return true;
    const auto bounds = bounds_.Bounds(static_cast<const expr::ColumnExpr&>(operand).index());
    if (!bounds || bounds->null_count < 0) return true;
    return wants_null ? bounds->null_count > 0 : !bounds->all_null();
  }

  bool InMayMatch(const std::vector<expr::ExprPtr>& arguments) const {
    for (size_t i = 1; i < arguments.size(); ++i) {
      const auto literal = expr::LiteralValue(*arguments[i]);
      if (literal == nullptr || ComparisonMayMatch("=", *arguments[0], literal)) return true;
    }
    return false;
  }

  /// The bounds as the values of `expression`, which is the column or an ordered cast of it.
  static std::shared_ptr<arrow::Array> BoundsOf(const expr::Expr& expression,
                                                const ColumnBounds& bounds) {
    if (expression.kind() == expr::ExprKind::kColumn) return bounds.min_max;
    const auto& cast = static_cast<const expr::CastExpr&>(expression);
    const std::shared_ptr<arrow::Array> input = BoundsOf(*cast.input(), bounds);
    if (input == nullptr) return nullptr;
    const auto result = arrow::compute::Cast(*input, cast.type().ToArrow());
    return result.ok() ? *result : nullptr;
  }

  bool ComparisonMayMatch(std::string_view op, const expr::Expr& operand,
                          const std::shared_ptr<arrow::Scalar>& literal) const {
    static constexpr std::string_view kKnown[] = {"=", "<", "<=", ">", ">="};
    if (std::find(std::begin(kKnown), std::end(kKnown), op) == std::end(kKnown)) return true;
    const int column = OrderedColumn(operand);
    if (column < 0) return true;
    if (op == "=" && !MayContain(operand, literal)) return false;
    const auto bounds = bounds_.Bounds(column);
    if (!bounds) return true;
    if (bounds->all_null() || !literal->is_valid) return false;  // NULL passes no comparison.
    const std::shared_ptr<arrow::Array> values = BoundsOf(operand, *bounds);
    if (values == nullptr || !values->type()->Equals(*literal->type) || IsNan(*literal))
      return true;
    const auto min = values->GetScalar(0);
    const auto max = values->GetScalar(1);
    if (!min.ok() || !max.ok() || !(*min)->is_valid || !(*max)->is_valid || IsNan(**min) ||
        IsNan(**max))
      return true;
    // NaN is greatest and in no bounds.
    if (op.starts_with('>') && arrow::is_floating(literal->type->id())) return true;
    const std::optional<int> of_min = Compare(**min, *literal);
    const std::optional<int> of_max = Compare(**max, *literal);
    if (!of_min || !of_max) return true;
    if (op == "<") return *of_min < 0;
    if (op == "<=") return *of_min <= 0;
    if (op == ">") return *of_max > 0;
    if (op == ">=") return *of_max >= 0;
    return *of_min <= 0 && *of_max >= 0;
  }

  bool MayContain(const expr::Expr& operand, const std::shared_ptr<arrow::Scalar>& literal) const {
    if (operand.kind() != expr::ExprKind::kColumn || !literal->is_valid) return true;
    if (!literal->type->Equals(*operand.type().ToArrow())) return true;
    return bounds_.MayContain(static_cast<const expr::ColumnExpr&>(operand).index(), *literal);
  }

  const BoundsSource& bounds_;
};

}  // namespace

bool MayMatch(const expr::Expr& filter, const BoundsSource& bounds) {
  return Judge(bounds).MayMatch(filter);
}

}  // namespace sluice::formats::pruning
