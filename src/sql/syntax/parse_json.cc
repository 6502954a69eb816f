// The JSON_… functions and their clauses.
#include "sql/syntax/parser_impl.h"

namespace sluice::sql {

Status Parser::ParseJsonCall(CallExpr* call, std::string_view function) {
  call->form = CallForm::kJson;
  call->json = std::make_unique<JsonClauses>();
  if (function == "JSON_VALUE" || function == "JSON_QUERY" || function == "JSON_EXISTS") {
    return ParseJsonPathCall(call, function);
  }
  const bool object = function.starts_with("JSON_OBJECT");
  const bool may_be_empty = function == "JSON_OBJECT" || function == "JSON_ARRAY";
  if (may_be_empty && tokens_.At(")")) return {};
  const bool only_nulls = may_be_empty && tokens_.PeekIs(1, "ON") &&
                          (tokens_.PeekIs(0, "NULL") || tokens_.PeekIs(0, "ABSENT"));
  if (!only_nulls) {
    do {
      SLUICE_RETURN_NOT_OK(object ? ParseJsonEntry(call) : AddArgument(call));
    } while (may_be_empty && tokens_.Accept(","));
  }
  if (tokens_.PeekIs(0, "ORDER")) {
    return tokens_.Unsupported("ORDER BY inside " + std::string(function), tokens_.Peek().range);
  }
  return ParseJsonNulls(call->json.get());
}

// [KEY] k VALUE v, k : v, k, v
Status Parser::ParseJsonEntry(CallExpr* call) {
  const bool key_word = tokens_.PeekIs(0, "KEY") && !tokens_.PeekIs(1, "VALUE") &&
                        !tokens_.PeekIs(1, ":") && !tokens_.PeekIs(1, ",") &&
                        !tokens_.PeekIs(1, ".") && !tokens_.PeekIs(1, "(");
  if (key_word) tokens_.Take();
  SLUICE_RETURN_NOT_OK(AddArgument(call));
  if (!tokens_.Accept("VALUE") && !tokens_.Accept(":") && (key_word || !tokens_.Accept(","))) {
    return tokens_.Fail();
  }
  return AddArgument(call);
}

Status Parser::ParseJsonNulls(JsonClauses* clauses) {
  if (tokens_.AcceptAll({"NULL", "ON", "NULL"})) {
    clauses->nulls = JsonNulls::kNullOnNull;
  } else if (tokens_.AcceptAll({"ABSENT", "ON", "NULL"})) {
    clauses->nulls = JsonNulls::kAbsentOnNull;
  }
  return {};
}

Status Parser::ParseJsonPathCall(CallExpr* call, std::string_view function) {
  SLUICE_RETURN_NOT_OK(AddArgument(call));
  SLUICE_RETURN_NOT_OK(tokens_.Expect(","));
  SLUICE_RETURN_NOT_OK(AddArgument(call));
  if (tokens_.PeekIs(0, "PASSING")) {
    return tokens_.Unsupported("PASSING", tokens_.Peek().range);
  }
  JsonClauses* clauses = call->json.get();
  if (function != "JSON_EXISTS" && tokens_.Accept("RETURNING")) {
    SLUICE_ASSIGN_OR_RETURN(clauses->returning, ParseType(false));
  }
  if (function == "JSON_QUERY") SLUICE_RETURN_NOT_OK(ParseJsonWrapper(clauses));
  while (!tokens_.At(")")) SLUICE_RETURN_NOT_OK(ParseJsonBehavior(clauses, function));
  return {};
}

Status Parser::ParseJsonWrapper(JsonClauses* clauses) {
  if (tokens_.Accept("WITHOUT")) {
    tokens_.Accept("ARRAY");
    clauses->wrapper = JsonWrapper::kWithout;
  } else if (tokens_.Accept("WITH")) {
    clauses->wrapper = JsonWrapper::kUnconditional;
    if (tokens_.Accept("CONDITIONAL")) {
      clauses->wrapper = JsonWrapper::kConditional;
    } else {
      tokens_.Accept("UNCONDITIONAL");
    }
    tokens_.Accept("ARRAY");
  } else {
    return {};
  }
  return tokens_.Expect("WRAPPER");
}

// One of NULL, ERROR, DEFAULT x, EMPTY ARRAY, EMPTY OBJECT, TRUE, FALSE, UNKNOWN; then ON EMPTY or
// ON ERROR.
Status Parser::ParseJsonBehavior(JsonClauses* clauses, std::string_view function) {
  JsonBehavior behavior = JsonBehavior::kNone;
  ExprPtr value;
  const bool exists = function == "JSON_EXISTS";
  if (tokens_.Accept("ERROR")) {
    behavior = JsonBehavior::kError;
  } else if (exists && tokens_.Accept("TRUE")) {
    behavior = JsonBehavior::kTrue;
  } else if (exists && tokens_.Accept("FALSE")) {
    behavior = JsonBehavior::kFalse;
  } else if (exists && tokens_.Accept("UNKNOWN")) {
    behavior = JsonBehavior::kUnknown;
  } else if (!exists && tokens_.Accept("NULL")) {
    behavior = JsonBehavior::kNull;
  } else if (function == "JSON_VALUE" && tokens_.Accept("DEFAULT")) {
    behavior = JsonBehavior::kDefault;
    SLUICE_ASSIGN_OR_RETURN(value, ParseExpr());
  } else if (function == "JSON_QUERY" && tokens_.Accept("EMPTY")) {
    const bool array = tokens_.Accept("ARRAY");
    if (!array) SLUICE_RETURN_NOT_OK(tokens_.Expect("OBJECT"));
    behavior = array ? JsonBehavior::kEmptyArray : JsonBehavior::kEmptyObject;
  } else {
    return tokens_.Fail();
  }
  SLUICE_RETURN_NOT_OK(tokens_.Expect("ON"));
  if (!exists && clauses->on_empty == JsonBehavior::kNone && tokens_.Accept("EMPTY")) {
    clauses->on_empty = behavior;
    clauses->empty_default = std::move(value);
    return {};
  }
  if (clauses->on_error != JsonBehavior::kNone) return tokens_.Fail();
  SLUICE_RETURN_NOT_OK(tokens_.Expect("ERROR"));
  clauses->on_error = behavior;
  clauses->error_default = std::move(value);
  return {};
}

}  // namespace sluice::sql
