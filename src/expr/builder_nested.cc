// Nested values: constructors and access.
#include "common/nearest_name.h"
#include "expr/builder.h"
#include "expr/builder_internal.h"
#include "expr/signature.h"

namespace sluice::expr {

using internal::BuildOperator;
using internal::CoerceTo;

namespace {

/// The common type of every `step`th expression from `begin` on.
Result<SqlType> CommonOf(const std::vector<ExprPtr>& expressions, size_t begin, size_t step,
                         std::string_view what) {
  std::vector<SqlType> types;
  for (size_t i = begin; i < expressions.size(); i += step) types.push_back(expressions[i]->type());
  Result<SqlType> common = CommonType(types);
  if (!common.ok()) {
    return Status::Validation("Parameters must be of the same type in " + std::string(what) + ". " +
                              common.status().message());
  }
  if (common->kind() == TypeKind::kNull) return Status::Validation("Illegal use of 'NULL'");
  return common;
}

}  // namespace

Result<ExprPtr> MakeArray(std::vector<ExprPtr> elements) {
  if (elements.empty())
    return Status::Validation("Require at least 1 argument: ARRAY[] has no type.");
  SLUICE_ASSIGN_OR_RETURN(const SqlType element, CommonOf(elements, 0, 1, "ARRAY"));
  for (ExprPtr& item : elements) item = CoerceTo(std::move(item), element);
  return BuildOperator("ARRAY", std::move(elements), SqlType::Array(element).NotNull());
}

Result<ExprPtr> MakeMap(std::vector<ExprPtr> keys_and_values) {
  if (keys_and_values.empty() || keys_and_values.size() % 2 != 0) {
    return Status::Validation("MAP requires an even number of arguments, at least 2.");
  }
  SLUICE_ASSIGN_OR_RETURN(const SqlType key, CommonOf(keys_and_values, 0, 2, "MAP"));
  SLUICE_ASSIGN_OR_RETURN(const SqlType value, CommonOf(keys_and_values, 1, 2, "MAP"));
  for (size_t i = 0; i < keys_and_values.size(); ++i) {
    keys_and_values[i] = CoerceTo(std::move(keys_and_values[i]), i % 2 == 0 ? key : value);
  }
  return BuildOperator("MAP", std::move(keys_and_values), SqlType::Map(key, value).NotNull());
}

Result<ExprPtr> MakeRow(std::vector<ExprPtr> fields) {
  std::vector<RowField> types;
  for (const ExprPtr& field : fields) {
    if (internal::IsUntypedNull(field)) return Status::Validation("Illegal use of 'NULL'");
    types.push_back({"EXPR$" + std::to_string(types.size()), field->type()});
  }
  return BuildOperator("ROW", std::move(fields), SqlType::Row(std::move(types)).NotNull());
}

Result<ExprPtr> MakeItem(ExprPtr operand, ExprPtr index) {
  const SqlType type = operand->type();
  if (type.kind() == TypeKind::kArray && index->type().is_integer()) {
    const std::optional<int64_t> literal = LiteralInteger({index->type(), LiteralValue(*index)});
    if (literal && *literal < 1) {
      return Status::Validation("Array element access needs an index starting at 1 but was " +
                                std::to_string(*literal) + ".");
    }
    index = CoerceTo(std::move(index), SqlType::Bigint());
    return BuildOperator("ITEM", {std::move(operand), std::move(index)},
                         type.element().WithNullable(true));
  }
  if (type.kind() == TypeKind::kMap) {
    const std::vector<SqlType> types = {type.key(), index->type()};
    const Result<SqlType> common = CommonType(types);
    if (common.ok()) {
      // Widening the keys of the map, too, finds 1 among BIGINT keys and 'a' among CHAR(2) ones.
      if (!common->SameKindAs(type.key())) {
        operand = CoerceTo(std::move(operand), SqlType::Map(*common, type.value()));
      }
      index = CoerceTo(std::move(index), *common);
      return BuildOperator("ITEM", {std::move(operand), std::move(index)},
                           type.value().WithNullable(true));
    }
  }
  return Status::Validation("Cannot apply 'ITEM' to arguments of type 'ITEM(<" +
                            ValidatorTypeName(type) + ">, <" + ValidatorTypeName(index->type()) +
                            ">)'. Supported form(s): <ARRAY>[<INTEGER>]\n<MAP>[<ANY>]");
}

Result<ExprPtr> MakeField(ExprPtr operand, std::string_view field) {
  const SqlType type = operand->type();
  std::vector<std::string> names;
  for (size_t i = 0; i < type.fields().size(); ++i) {
    const RowField& known = type.fields()[i];
    if (known.name == field) {
      const SqlType result = known.type.WithNullable(known.type.nullable() || type.nullable());
      return BuildOperator("FIELD", {std::move(operand), MakeInt(static_cast<int32_t>(i))}, result);
    }
    names.push_back(known.name);
  }
  if (type.kind() != TypeKind::kRow) {
    return Status::Validation("A value of type " + type.ToString() + " has no field '" +
                              std::string(field) + "'.");
  }
  return Status::Validation("Field '" + std::string(field) + "' not found in " + type.ToString() +
                            "." + DidYouMean(field, names));
}

}  // namespace sluice::expr
