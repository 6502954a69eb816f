// Expressions as EXPLAIN and messages print them.
#include <arrow/scalar.h>

#include "common/text.h"
#include "expr/nodes.h"

namespace sluice::expr {

namespace {

bool IsInfix(std::string_view name) {
  static constexpr std::string_view kInfix[] = {"=",
                                                "<>",
                                                "<",
                                                "<=",
                                                ">",
                                                ">=",
                                                "+",
                                                "-",
                                                "*",
                                                "/",
                                                "%",
                                                "||",
                                                "AND",
                                                "OR",
                                                "LIKE",
                                                "SIMILAR TO",
                                                "IS DISTINCT FROM",
                                                "IS NOT DISTINCT FROM"};
  for (const std::string_view text : kInfix) {
    if (name == text) return true;
  }
  return false;
}

bool IsPostfix(std::string_view name) { return name.starts_with("IS ") && !IsInfix(name); }

std::string List(const std::vector<ExprPtr>& arguments, size_t begin, const Schema& input) {
  std::vector<std::string> texts;
  for (size_t i = begin; i < arguments.size(); ++i) texts.push_back(arguments[i]->ToString(input));
  return Join(texts, ", ");
}

std::string FieldText(const CallExpr& call, const Schema& input) {
  const SqlType& row = call.arguments()[0]->type();
  const auto index =
      std::static_pointer_cast<arrow::Int32Scalar>(LiteralValue(*call.arguments()[1]));
  return call.arguments()[0]->ToString(input) + "." +
         row.fields()[static_cast<size_t>(index->value)].name;
}

}  // namespace

std::string CallExpr::ToString(const Schema& input) const {
  const std::string_view text = name();
  if (text == "FIELD") return FieldText(*this, input);
  if (text == "ITEM") {
    return arguments_[0]->ToString(input) + "[" + arguments_[1]->ToString(input) + "]";
  }
  if (text == "IN") {
    return arguments_[0]->ToString(input) + " IN (" + List(arguments_, 1, input) + ")";
  }
  if (text == "NOT") return "NOT " + arguments_[0]->ToString(input);
  if (text == "NEGATE") return "-" + arguments_[0]->ToString(input);
  if (text == "ARRAY" || text == "MAP")
    return std::string(text) + "[" + List(arguments_, 0, input) + "]";
  if (IsPostfix(text)) return arguments_[0]->ToString(input) + " " + std::string(text);
  if (IsInfix(text)) {
    std::vector<std::string> texts;
    const size_t shown = text == "LIKE" || text == "SIMILAR TO" ? 2 : arguments_.size();
    for (size_t i = 0; i < shown; ++i) texts.push_back(arguments_[i]->ToString(input));
    std::string joined = Join(texts, " " + std::string(text) + " ");
    if (shown < arguments_.size()) joined += " ESCAPE " + arguments_[2]->ToString(input);
    return "(" + joined + ")";
  }
  return std::string(text) + "(" + List(arguments_, 0, input) + ")";
}

std::string CastExpr::ToString(const Schema& input) const {
  return (try_cast_ ? "TRY_CAST(" : "CAST(") + input_->ToString(input) + " AS " +
         type().WithNullable(true).ToString() + ")";
}

std::string CaseExpr::ToString(const Schema& input) const {
  std::string text = "CASE";
  for (const auto& [condition, result] : branches_) {
    text += " WHEN " + condition->ToString(input) + " THEN " + result->ToString(input);
  }
  return text + " ELSE " + otherwise_->ToString(input) + " END";
}

}  // namespace sluice::expr
