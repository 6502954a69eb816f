#include "expr/signature.h"

#include <algorithm>

#include <arrow/scalar.h>

#include "types/coercion.h"

namespace sluice::expr {

Status TypesDoNotFit() { return Status::Validation(""); }

std::string CallTypesText(std::string_view name, std::span<const Argument> arguments) {
  std::string text = std::string(name) + "(";
  for (const Argument& argument : arguments) {
    if (text.back() != '(') text += ", ";
    text += "<" + ValidatorTypeName(argument.type) + ">";
  }
  return text + ")";
}

Status CannotApply(std::string_view name, std::span<const Argument> arguments,
                   std::string_view supported_forms) {
  std::string message = "Cannot apply '" + std::string(name) + "' to arguments of type '" +
                        CallTypesText(name, arguments) + "'.";
  if (!supported_forms.empty()) {
    message += " Supported form(s): " + std::string(supported_forms);
  }
  return Status::Validation(std::move(message));
}

SqlType AcceptedType(Accept accept, const SqlType& type) {
  const bool untyped = type.kind() == TypeKind::kNull;
  switch (accept) {
    case Accept::kAny:
      return type;
    case Accept::kText:
      if (untyped) return SqlType::String();
      return type.is_character() ? type : SqlType::Null();
    case Accept::kBinary:
      if (untyped) return SqlType::Bytes();
      return type.is_binary() ? type : SqlType::Null();
    case Accept::kBytes:
      if (untyped) return SqlType::String();
      return type.is_character() || type.is_binary() ? type : SqlType::Null();
    case Accept::kInteger:
      if (untyped) return SqlType::Bigint();
      return type.is_integer() ? SqlType::Bigint().WithNullable(type.nullable()) : SqlType::Null();
    case Accept::kDouble:
      if (untyped) return SqlType::Double();
      return type.is_numeric() ? SqlType::Double().WithNullable(type.nullable()) : SqlType::Null();
    case Accept::kNumber:
      if (untyped) return SqlType::Int();
      return type.is_numeric() ? type : SqlType::Null();
    case Accept::kBoolean:
      if (untyped) return SqlType::Boolean();
      return type.kind() == TypeKind::kBoolean ? type : SqlType::Null();
  }
  return SqlType::Null();
}

namespace {

std::string_view AcceptText(Accept accept) {
  switch (accept) {
    case Accept::kAny:
      return "<ANY>";
    case Accept::kText:
      return "<CHARACTER>";
    case Accept::kBinary:
      return "<BINARY>";
    case Accept::kBytes:
      return "<CHARACTER or BINARY>";
    case Accept::kInteger:
      return "<INTEGER>";
    case Accept::kDouble:
    case Accept::kNumber:
      return "<NUMERIC>";
    case Accept::kBoolean:
      return "<BOOLEAN>";
  }
  return "<ANY>";
}

std::string FormsText(const ScalarFunction& function) {
  if (!function.supported_forms.empty()) return std::string(function.supported_forms);
  std::string text;
  for (const Parameters& parameters : function.signatures) {
    if (!text.empty()) text += "\n";
    text += "'" + std::string(function.name) + "(";
    for (size_t i = 0; i < parameters.accepts.size(); ++i) {
      if (i > 0) text += ", ";
      text += AcceptText(parameters.accepts[i]);
    }
    text += parameters.repeat_last ? ", …)'" : ")'";
  }
  if (text.empty() && !function.doc.usage.empty())
    text = "'" + std::string(function.doc.usage) + "'";
  return text;
}

bool CountFits(const Parameters& parameters, size_t count) {
  return count == parameters.accepts.size() ||
         (parameters.repeat_last && count > parameters.accepts.size());
}

std::optional<Signature> Match(const Parameters& parameters, std::span<const Argument> arguments) {
  if (!CountFits(parameters, arguments.size())) return std::nullopt;
  Signature signature{{}, parameters.result};
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Accept accept = parameters.accepts[std::min(i, parameters.accepts.size() - 1)];
    SqlType type = AcceptedType(accept, arguments[i].type);
    if (type.kind() == TypeKind::kNull) return std::nullopt;
    signature.arguments.push_back(std::move(type));
  }
  return signature;
}

Status WrongCount(const ScalarFunction& function, size_t count) {
  std::string expected;
  bool any = false;
  if (function.resolve != nullptr) {
    const auto min = static_cast<size_t>(function.min_arguments);
    if (count >= min &&
        (function.max_arguments < 0 || count <= static_cast<size_t>(function.max_arguments))) {
      return {};
    }
    expected = std::to_string(function.min_arguments);
    if (function.max_arguments < 0) expected = "at least " + expected;
    if (function.max_arguments > function.min_arguments) {
      expected += " to " + std::to_string(function.max_arguments);
    }
  } else {
    for (const Parameters& parameters : function.signatures) {
      any = any || CountFits(parameters, count);
      if (!expected.empty()) expected += " or ";
      if (parameters.repeat_last) expected += "at least ";
      expected += std::to_string(parameters.accepts.size());
    }
    if (any) return {};
  }
  return Status::Validation(
      "Invalid number of arguments to function '" + std::string(function.name) +
      "'. Was expecting " + expected + " arguments" +
      (function.doc.usage.empty() ? std::string(".") : ": " + std::string(function.doc.usage)));
}

}  // namespace

bool AnyNullable(std::span<const Argument> arguments) {
  return std::any_of(arguments.begin(), arguments.end(),
                     [](const Argument& argument) { return argument.type.nullable(); });
}

Result<Signature> ResolveCall(const ScalarFunction& function, std::span<const Argument> arguments) {
  SLUICE_RETURN_NOT_OK(WrongCount(function, arguments.size()));
  std::optional<Signature> found;
  if (function.resolve != nullptr) {
    Result<Signature> signature = function.resolve(arguments);
    if (!signature.ok() && !signature.status().message().empty()) return signature.status();
    if (signature.ok()) found = *std::move(signature);
  } else {
    for (const Parameters& parameters : function.signatures) {
      found = Match(parameters, arguments);
      if (found) break;
    }
  }
  if (!found) return CannotApply(function.name, arguments, FormsText(function));
  switch (function.nulls) {
    case Nulls::kPropagate:
      found->result = found->result.WithNullable(AnyNullable(arguments));
      break;
    case Nulls::kNever:
      found->result = found->result.NotNull();
      break;
    case Nulls::kAlways:
      found->result = found->result.WithNullable(true);
      break;
    case Nulls::kResolved:
      break;
  }
  return *std::move(found);
}

SqlType VaryingOf(const SqlType& type) {
  return type.is_character() ? SqlType::Varchar(type.length()).WithNullable(type.nullable()) : type;
}

std::optional<int64_t> LiteralInteger(const Argument& argument) {
  if (argument.literal == nullptr || !argument.literal->is_valid) return std::nullopt;
  switch (argument.literal->type->id()) {
    case arrow::Type::INT8:
      return static_cast<const arrow::Int8Scalar&>(*argument.literal).value;
    case arrow::Type::INT16:
      return static_cast<const arrow::Int16Scalar&>(*argument.literal).value;
    case arrow::Type::INT32:
      return static_cast<const arrow::Int32Scalar&>(*argument.literal).value;
    case arrow::Type::INT64:
      return static_cast<const arrow::Int64Scalar&>(*argument.literal).value;
    default:
      return std::nullopt;
  }
}

std::optional<std::string> LiteralText(const Argument& argument) {
  if (argument.literal == nullptr || !argument.literal->is_valid ||
      argument.literal->type->id() != arrow::Type::STRING) {
    return std::nullopt;
  }
  return static_cast<const arrow::StringScalar&>(*argument.literal).value->ToString();
}

}  // namespace sluice::expr
