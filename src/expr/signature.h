// Typing of calls: matching arguments with the signatures of a function, and the words of a
// mismatch.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "expr/function.h"

namespace sluice::expr {

/// Types a call; fails with kValidation and Flink's words.
Result<Signature> ResolveCall(const ScalarFunction& function, std::span<const Argument> arguments);

/// "F(<DATE>, <CHAR(8)>)".
std::string CallTypesText(std::string_view name, std::span<const Argument> arguments);

/// "Cannot apply 'F' to arguments of type 'F(<DATE>)'. Supported form(s): 'F(<CHARACTER>)'".
Status CannotApply(std::string_view name, std::span<const Argument> arguments,
                   std::string_view supported_forms);

/// The type a parameter casts `type` to; the NULL type when it does not take it.
SqlType AcceptedType(Accept accept, const SqlType& type);

// Pieces for ResolveFunctions.

/// VARCHAR of the longest possible length of `type` kept: CHAR(n) and VARCHAR(n) become VARCHAR(n).
SqlType VaryingOf(const SqlType& type);
/// The integer value of a literal argument, nullopt when it is not a literal or NULL.
std::optional<int64_t> LiteralInteger(const Argument& argument);
/// The text of a literal argument, nullopt when it is not a literal or NULL.
std::optional<std::string> LiteralText(const Argument& argument);
bool AnyNullable(std::span<const Argument> arguments);

}  // namespace sluice::expr
