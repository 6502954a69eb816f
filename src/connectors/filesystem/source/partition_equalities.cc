#include "connectors/filesystem/source/partition_equalities.h"

#include <arrow/scalar.h>

#include "expr/nodes.h"

namespace sluice::connectors::filesystem {

namespace {

// One key and the texts that it may have.
struct Equality {
  size_t key = 0;
  std::vector<std::string> texts;
};

std::optional<size_t> TextKey(const expr::Expr& expression) {
  if (expression.kind() != expr::ExprKind::kColumn ||
      expression.type().kind() != TypeKind::kVarchar) {
    return std::nullopt;
  }
  return static_cast<size_t>(static_cast<const expr::ColumnExpr&>(expression).index());
}

// False when `expression` is no text literal. NULL equals nothing and adds nothing.
bool AddText(const expr::Expr& expression, std::vector<std::string>* texts) {
  const std::shared_ptr<arrow::Scalar> value = expr::LiteralValue(expression);
  if (value == nullptr || value->type->id() != arrow::Type::STRING) return false;
  if (value->is_valid)
    texts->push_back(static_cast<const arrow::StringScalar&>(*value).value->ToString());
  return true;
}

std::optional<Equality> EqualityOf(const expr::Expr& condition) {
  if (condition.kind() != expr::ExprKind::kCall) return std::nullopt;
  const auto& call = static_cast<const expr::CallExpr&>(condition);
  const std::vector<expr::ExprPtr>& arguments = call.arguments();
  Equality found;
  if (call.name() == "OR") {
    for (size_t i = 0; i < arguments.size(); ++i) {
      std::optional<Equality> part = EqualityOf(*arguments[i]);
      if (!part || (i > 0 && part->key != found.key)) return std::nullopt;
      found.key = part->key;
      found.texts.insert(found.texts.end(), part->texts.begin(), part->texts.end());
    }
    return found;
  }
  if (call.name() != "=" && call.name() != "IN") return std::nullopt;
  const bool mirrored = call.name() == "=" && !TextKey(*arguments[0]);
  const std::optional<size_t> key = TextKey(*arguments[mirrored ? 1 : 0]);
  if (!key) return std::nullopt;
  found.key = *key;
  for (size_t i = mirrored ? 0 : 1; i < (mirrored ? 1 : arguments.size()); ++i) {
    if (!AddText(*arguments[i], &found.texts)) return std::nullopt;
  }
  return found;
}

}  // namespace

std::optional<std::vector<std::vector<std::string>>> EqualitiesOf(const expr::ExprPtr& predicate,
                                                                  size_t key_count) {
  std::vector<std::vector<std::string>> texts(key_count);
  for (const expr::ExprPtr& conjunct : expr::SplitConjuncts(predicate)) {
    std::optional<Equality> equality = EqualityOf(*conjunct);
    if (equality && texts[equality->key].empty()) texts[equality->key] = std::move(equality->texts);
  }
  for (const std::vector<std::string>& of_key : texts) {
    if (of_key.empty()) return std::nullopt;
  }
  return texts;
}

}  // namespace sluice::connectors::filesystem
