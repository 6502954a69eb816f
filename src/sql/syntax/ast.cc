#include "sql/syntax/ast.h"

#include <algorithm>

namespace sluice::sql {

std::string NamePath::ToString() const {
  std::string text;
  for (const Identifier& part : parts) {
    if (!text.empty()) text.push_back('.');
    text.append(part.name);
  }
  return text;
}

std::vector<std::string> NamePath::Names() const {
  std::vector<std::string> names;
  names.reserve(parts.size());
  for (const Identifier& part : parts) names.push_back(part.name);
  return names;
}

// Where Query and WindowSpec are complete.
InExpr::InExpr() : Expr(kKind) {}
InExpr::~InExpr() = default;
CallExpr::CallExpr() : Expr(kKind) {}
CallExpr::~CallExpr() = default;
ExistsExpr::ExistsExpr() : Expr(kKind) {}
ExistsExpr::~ExistsExpr() = default;
QuantifiedExpr::QuantifiedExpr() : Expr(kKind) {}
QuantifiedExpr::~QuantifiedExpr() = default;
SubqueryExpr::SubqueryExpr() : Expr(kKind) {}
SubqueryExpr::~SubqueryExpr() = default;
TableArgumentExpr::TableArgumentExpr() : Expr(kKind) {}
TableArgumentExpr::~TableArgumentExpr() = default;

std::string CallExpr::UpperName() const {
  if (name.parts.size() != 1) return {};
  std::string upper = name.parts[0].name;
  std::ranges::transform(upper, upper.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  });
  return upper;
}

std::string_view BinaryOpName(BinaryOp op) {
  switch (op) {
    case BinaryOp::kOr:
      return "OR";
    case BinaryOp::kAnd:
      return "AND";
    case BinaryOp::kEqual:
      return "=";
    case BinaryOp::kNotEqual:
      return "<>";
    case BinaryOp::kLess:
      return "<";
    case BinaryOp::kLessEqual:
      return "<=";
    case BinaryOp::kGreater:
      return ">";
    case BinaryOp::kGreaterEqual:
      return ">=";
    case BinaryOp::kOverlaps:
      return "OVERLAPS";
    case BinaryOp::kPlus:
      return "+";
    case BinaryOp::kMinus:
      return "-";
    case BinaryOp::kConcat:
      return "||";
    case BinaryOp::kMultiply:
      return "*";
    case BinaryOp::kDivide:
      return "/";
    case BinaryOp::kModulo:
      return "%";
  }
  return "";
}

}  // namespace sluice::sql
