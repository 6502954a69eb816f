// JSON functions with their clauses.
#include "expr/builder.h"
#include "expr/builder_internal.h"
#include "expr/functions/json_behavior.h"
#include "expr/json_document.h"
#include "expr/signature.h"

namespace sluice::expr {

using internal::BuildOperator;
using internal::CoerceTo;

namespace {

/// Checks the two texts; a constant path that cannot be parsed is told when planning.
Status CheckTexts(std::string_view name, ExprPtr* json, ExprPtr* path) {
  for (ExprPtr* text : {json, path}) {
    if (internal::IsUntypedNull(*text)) *text = MakeNull(SqlType::String());
    if (!(*text)->type().is_character()) {
      return CannotApply(name, internal::ArgumentsOf({*json, *path}),
                         "'" + std::string(name) + "(<CHARACTER>, <CHARACTER>)'");
    }
  }
  const std::optional<std::string> literal = LiteralText({(*path)->type(), LiteralValue(**path)});
  JsonPath parsed;
  std::string error;
  if (literal && !ParseJsonPath(*literal, &parsed, &error)) return Status::Validation(error);
  return {};
}

ExprPtr Word(JsonBehavior behavior) { return MakeSymbol(JsonBehaviorText(behavior)); }

/// The value of a DEFAULT clause in the type of the result.
Result<ExprPtr> DefaultValue(const ExprPtr& value, const SqlType& type) {
  if (value == nullptr) return MakeNull(type);
  return MakeCast(value, type);
}

}  // namespace

Result<ExprPtr> MakeIsJson(ExprPtr operand, std::string_view kind, bool negated) {
  if (internal::IsUntypedNull(operand)) operand = MakeNull(SqlType::String());
  if (!operand->type().is_character()) {
    return CannotApply("IS JSON", internal::ArgumentsOf({operand}), "'<CHARACTER> IS JSON'");
  }
  SLUICE_ASSIGN_OR_RETURN(
      ExprPtr call,
      BuildOperator("IS JSON", {std::move(operand), MakeSymbol(kind.empty() ? "VALUE" : kind)},
                    SqlType::Boolean().NotNull()));
  return negated ? MakeNot(std::move(call)) : Result<ExprPtr>(std::move(call));
}

Result<ExprPtr> MakeJsonExists(ExprPtr json, ExprPtr path, JsonBehavior on_error) {
  SLUICE_RETURN_NOT_OK(CheckTexts("JSON_EXISTS", &json, &path));
  return BuildOperator("JSON_EXISTS", {std::move(json), std::move(path), Word(on_error)},
                       SqlType::Boolean());
}

Result<ExprPtr> MakeJsonValue(ExprPtr json, ExprPtr path, const JsonClauses& clauses) {
  SLUICE_RETURN_NOT_OK(CheckTexts("JSON_VALUE", &json, &path));
  const SqlType type = clauses.returning.value_or(SqlType::String()).WithNullable(true);
  switch (type.kind()) {
    case TypeKind::kBoolean:
    case TypeKind::kInt:
    case TypeKind::kBigint:
    case TypeKind::kDouble:
    case TypeKind::kVarchar:
      break;
    default:
      return Status::Validation(
          "JSON_VALUE cannot return " + type.ToString() +
          ". RETURNING takes STRING, BOOLEAN, INTEGER or DOUBLE; CAST the result.");
  }
  SLUICE_ASSIGN_OR_RETURN(ExprPtr on_empty, DefaultValue(clauses.empty_default, type));
  SLUICE_ASSIGN_OR_RETURN(ExprPtr on_error, DefaultValue(clauses.error_default, type));
  return BuildOperator("JSON_VALUE",
                       {std::move(json), std::move(path), Word(clauses.on_empty),
                        Word(clauses.on_error), std::move(on_empty), std::move(on_error)},
                       type);
}

Result<ExprPtr> MakeJsonQuery(ExprPtr json, ExprPtr path, const JsonClauses& clauses) {
  SLUICE_RETURN_NOT_OK(CheckTexts("JSON_QUERY", &json, &path));
  const SqlType type = clauses.returning.value_or(SqlType::String()).WithNullable(true);
  const bool texts = type.kind() == TypeKind::kArray && type.element().is_character();
  if (type.kind() != TypeKind::kVarchar && !texts) {
    return Status::Validation("JSON_QUERY cannot return " + type.ToString() +
                              ". RETURNING takes STRING or ARRAY<STRING>.");
  }
  constexpr std::string_view kWrappers[] = {"WITHOUT", "CONDITIONAL", "UNCONDITIONAL"};
  return BuildOperator("JSON_QUERY",
                       {std::move(json), std::move(path),
                        MakeSymbol(kWrappers[static_cast<size_t>(clauses.wrapper)]),
                        Word(clauses.on_empty), Word(clauses.on_error)},
                       type);
}

namespace {

/// 'j' for what is JSON already, 'v' for a value.
char KindOf(const ExprPtr& value) {
  for (const std::string_view name : {"JSON_OBJECT", "JSON_ARRAY", "JSON", "JSON_QUERY"}) {
    if (AsCall(*value, name) != nullptr) return 'j';
  }
  return 'v';
}

Status CheckValue(std::string_view name, ExprPtr* value) {
  if (internal::IsUntypedNull(*value)) *value = MakeNull(SqlType::String());
  if ((*value)->type().is_interval()) {
    return Status::Validation(std::string(name) + " does not take a value of type " +
                              (*value)->type().ToString() + ".");
  }
  return {};
}

}  // namespace

Result<ExprPtr> MakeJsonObject(std::vector<ExprPtr> keys_and_values, bool absent_on_null) {
  if (keys_and_values.size() % 2 != 0) {
    return Status::Validation("JSON_OBJECT takes pairs of a key and a value.");
  }
  std::string plan(1, absent_on_null ? 'A' : 'N');
  for (size_t i = 0; i < keys_and_values.size(); i += 2) {
    if (!keys_and_values[i]->type().is_character()) {
      return Status::Validation("A key of JSON_OBJECT must be text, not " +
                                keys_and_values[i]->type().ToString() + ".");
    }
    SLUICE_RETURN_NOT_OK(CheckValue("JSON_OBJECT", &keys_and_values[i + 1]));
    plan += KindOf(keys_and_values[i + 1]);
  }
  keys_and_values.insert(keys_and_values.begin(), MakeSymbol(plan));
  return BuildOperator("JSON_OBJECT", std::move(keys_and_values), SqlType::String().NotNull());
}

Result<ExprPtr> MakeJsonArray(std::vector<ExprPtr> values, bool absent_on_null) {
  std::string plan(1, absent_on_null ? 'A' : 'N');
  for (ExprPtr& value : values) {
    SLUICE_RETURN_NOT_OK(CheckValue("JSON_ARRAY", &value));
    plan += KindOf(value);
  }
  values.insert(values.begin(), MakeSymbol(plan));
  return BuildOperator("JSON_ARRAY", std::move(values), SqlType::String().NotNull());
}

}  // namespace sluice::expr
