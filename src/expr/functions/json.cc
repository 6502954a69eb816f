// Looking into JSON texts: IS JSON, JSON_EXISTS, JSON_VALUE, JSON_QUERY, JSON_QUOTE, JSON_UNQUOTE.
#include <cmath>
#include <limits>

#include <arrow/api.h>

#include "common/text.h"
#include "expr/functions/json_behavior.h"
#include "expr/functions/lists.h"
#include "expr/json_document.h"
#include "expr/kernel_support.h"
#include "expr/signature.h"
#include "types/value_text.h"

namespace sluice::expr {

namespace {

/// The compiled path of a row.
class PathSource {
 public:
  Result<const JsonPath*> Get(std::string_view text) {
    if (!known_ || text != text_) {
      std::string error;
      if (!ParseJsonPath(text, &path_, &error)) return Status::DataError(error);
      text_ = std::string(text);
      known_ = true;
    }
    return &path_;
  }

 private:
  bool known_ = false;
  std::string text_;
  JsonPath path_;
};

/// What a path finds in a text.
struct Found {
  bool error = false;  // Bad JSON, or a strict path met something missing.
  std::vector<int32_t> nodes;
};

class Finder {
 public:
  Result<const Found*> Find(std::string_view json, std::string_view path_text) {
    SLUICE_ASSIGN_OR_RETURN(const JsonPath* path, paths_.Get(path_text));
    found_.error = !document_.Parse(json) || !FollowJsonPath(document_, *path, &found_.nodes);
    return &found_;
  }
  const JsonDocument& document() const { return document_; }

 private:
  PathSource paths_;
  JsonDocument document_;
  Found found_;
};

Status BehaviorError(std::string_view function, std::string_view path, bool empty) {
  return Status::DataError(std::string(function) + ": the path '" + Printable(path) + "' " +
                           (empty ? "finds nothing" : "cannot be used on this text") +
                           ", and ERROR ON " + (empty ? "EMPTY" : "ERROR") + " was asked for.");
}

/// Constant JSON behavior argument.
JsonBehavior BehaviorAt(const KernelCall& call, size_t index) {
  return JsonBehaviorOf(TextOperand(call.arguments[index])[0]);
}

// ---- IS JSON ----

Result<ArrayPtr> IsJsonKernel(const KernelCall& call) {
  const TextOperand input(call.arguments[0]);
  const std::string_view wanted = TextOperand(call.arguments[1])[0];
  JsonDocument document;
  auto bits = AllocateBytes(arrow::bit_util::BytesForBits(call.row_count), call.context.pool);
  for (int64_t row = 0; row < call.row_count; ++row) {
    bool holds = !input.IsNull(row) && document.Parse(input[row]);
    if (holds && wanted != "VALUE") {
      const JsonKind kind = document.root().kind;
      const bool object = kind == JsonKind::kObject;
      const bool array = kind == JsonKind::kArray;
      holds = wanted == "OBJECT" ? object : wanted == "ARRAY" ? array : !object && !array;
    }
    arrow::bit_util::SetBitTo(bits->mutable_data(), row, holds);
  }
  return MakeFixedArray(arrow::boolean(), call.row_count,
                        NullMask(call.row_count, call.context.pool), std::move(bits));
}

Result<ArrayPtr> ExistsKernel(const KernelCall& call) {
  const JsonBehavior on_error = BehaviorAt(call, 2);
  Finder finder;
  return MapValues<bool>(
      call,
      [&](std::string_view json, std::string_view path) -> Result<std::optional<bool>> {
        SLUICE_ASSIGN_OR_RETURN(const Found* found, finder.Find(json, path));
        if (!found->error) {
          for (const int32_t node : found->nodes) {
            if (finder.document().node(node).kind != JsonKind::kNull)
              return std::optional<bool>(true);
          }
          return std::optional<bool>(false);
        }
        switch (on_error) {
          case JsonBehavior::kTrue:
            return std::optional<bool>(true);
          case JsonBehavior::kUnknown:
            return std::optional<bool>();
          case JsonBehavior::kError:
            return BehaviorError("JSON_EXISTS", path, false);
          default:
            return std::optional<bool>(false);
        }
      },
      TextOperand(call.arguments[0]), TextOperand(call.arguments[1]));
}

// ---- JSON_VALUE ----

/// Arguments of JSON_VALUE behind json and path.
enum ValueArgument : size_t { kOnEmpty = 2, kOnError = 3, kEmptyDefault = 4, kErrorDefault = 5 };

/// The text of a scalar; false for arrays and objects.
bool ScalarText(const JsonDocument& document, const JsonNode& node, std::string* text) {
  text->clear();
  switch (node.kind) {
    case JsonKind::kArray:
    case JsonKind::kObject:
      return false;
    case JsonKind::kString:
      AppendJsonUnescaped(document.text(node), text);
      return true;
    default:
      text->append(document.text(node));
      return true;
  }
}

/// A value as RETURNING asks for it; false when it is not exactly one of the type.
bool ConvertText(const std::string& text, std::string* out) {
  *out = text;
  return true;
}
bool ConvertText(const std::string& text, bool* out) {
  if (text != "true" && text != "false") return false;
  *out = text == "true";
  return true;
}
bool ConvertText(const std::string& text, double* out) {
  return ParseDoubleText(text, out) == TextError::kNone;
}
template <typename T>
requires std::is_integral_v<T>
bool ConvertText(const std::string& text, T* out) {
  double real = 0;
  int64_t wide = 0;
  if (text.find_first_of(".eE") != std::string::npos) {
    if (ParseDoubleText(text, &real) != TextError::kNone || real != std::trunc(real) ||
        std::fabs(real) > 9e15) {
      return false;
    }
    wide = static_cast<int64_t>(real);
  } else if (ParseIntegerText(text, std::numeric_limits<int64_t>::min(),
                              std::numeric_limits<int64_t>::max(), &wide) != TextError::kNone) {
    return false;
  }
  *out = static_cast<T>(wide);
  return wide >= std::numeric_limits<T>::min() && wide <= std::numeric_limits<T>::max();
}

/// How one row ends.
enum class Outcome { kValue, kNull, kEmpty, kError };

template <typename T>
Result<Outcome> FindValue(Finder& finder, std::string_view json, std::string_view path,
                          std::string* text, T* value) {
  SLUICE_ASSIGN_OR_RETURN(const Found* found, finder.Find(json, path));
  if (found->error || found->nodes.size() > 1) return Outcome::kError;
  if (found->nodes.empty()) return Outcome::kEmpty;
  const JsonNode& node = finder.document().node(found->nodes[0]);
  if (node.kind == JsonKind::kNull) return Outcome::kNull;
  if (!ScalarText(finder.document(), node, text) || !ConvertText(*text, value)) {
    return Outcome::kError;
  }
  return Outcome::kValue;
}

/// Runs JSON_VALUE; `store(row, value)` takes values, `use_default(row, argument)` takes a DEFAULT,
/// `store_null(row)` the rest.
template <typename T, typename Store, typename Default, typename Null>
Status EachValue(const KernelCall& call, Store store, Default use_default, Null store_null) {
  const TextOperand json(call.arguments[0]);
  const TextOperand paths(call.arguments[1]);
  const JsonBehavior on_empty = BehaviorAt(call, kOnEmpty);
  const JsonBehavior on_error = BehaviorAt(call, kOnError);
  Finder finder;
  std::string text;
  T value{};
  for (int64_t row = 0; row < call.row_count; ++row) {
    if (json.IsNull(row) || paths.IsNull(row)) {
      store_null(row);
      continue;
    }
    SLUICE_ASSIGN_OR_RETURN(const Outcome outcome,
                            FindValue(finder, json[row], paths[row], &text, &value));
    if (outcome == Outcome::kValue) {
      store(row, value);
    } else if (outcome == Outcome::kNull) {
      store_null(row);
    } else {
      const bool empty = outcome == Outcome::kEmpty;
      switch (empty ? on_empty : on_error) {
        case JsonBehavior::kError:
          return BehaviorError("JSON_VALUE", paths[row], empty);
        case JsonBehavior::kDefault:
          use_default(row, empty ? kEmptyDefault : kErrorDefault);
          break;
        default:
          store_null(row);
      }
    }
  }
  return {};
}

template <typename T>
Result<ArrayPtr> FixedValues(const KernelCall& call) {
  NullMask nulls(call.row_count, call.context.pool);
  const OperandOf<T> empty_default(call.arguments[kEmptyDefault]);
  const OperandOf<T> error_default(call.arguments[kErrorDefault]);
  const int64_t bytes = std::is_same_v<T, bool> ? arrow::bit_util::BytesForBits(call.row_count)
                                                : call.row_count * static_cast<int64_t>(sizeof(T));
  auto buffer = AllocateBytes(bytes, call.context.pool);
  std::memset(buffer->mutable_data(), 0, static_cast<size_t>(bytes));
  uint8_t* out = buffer->mutable_data();
  const auto store = [out](int64_t row, T value) {
    if constexpr (std::is_same_v<T, bool>) {
      arrow::bit_util::SetBitTo(out, row, value);
    } else {
      reinterpret_cast<T*>(out)[row] = value;
    }
  };
  const auto store_null = [&nulls](int64_t row) { nulls.SetNull(row); };
  const auto use_default = [&](int64_t row, size_t argument) {
    const OperandOf<T>& values = argument == kEmptyDefault ? empty_default : error_default;
    values.IsNull(row) ? store_null(row) : store(row, values[row]);
  };
  SLUICE_RETURN_NOT_OK(EachValue<T>(call, store, use_default, store_null));
  return MakeFixedArray(call.result_type.ToArrow(), call.row_count, nulls, std::move(buffer));
}

Result<ArrayPtr> TextValues(const KernelCall& call) {
  NullMask nulls(call.row_count, call.context.pool);
  const TextOperand empty_default(call.arguments[kEmptyDefault]);
  const TextOperand error_default(call.arguments[kErrorDefault]);
  TextBuilder out(call.row_count, call.row_count * 8, call.context.pool);
  const auto store = [&out](int64_t, const std::string& value) {
    out.Append(value);
    out.EndRow();
  };
  const auto store_null = [&](int64_t row) {
    nulls.SetNull(row);
    out.EndRow();
  };
  const auto use_default = [&](int64_t row, size_t argument) {
    const TextOperand& values = argument == kEmptyDefault ? empty_default : error_default;
    if (values.IsNull(row)) return store_null(row);
    out.Append(values[row]);
    out.EndRow();
  };
  SLUICE_RETURN_NOT_OK(EachValue<std::string>(call, store, use_default, store_null));
  return out.Finish(call.result_type.ToArrow(), nulls);
}

Result<ArrayPtr> ValueKernel(const KernelCall& call) {
  switch (call.result_type.kind()) {
    case TypeKind::kBoolean:
      return FixedValues<bool>(call);
    case TypeKind::kInt:
      return FixedValues<int32_t>(call);
    case TypeKind::kBigint:
      return FixedValues<int64_t>(call);
    case TypeKind::kDouble:
      return FixedValues<double>(call);
    default:
      return TextValues(call);
  }
}

// ---- JSON_QUERY ----

/// Arguments behind json and path.
enum QueryArgument : size_t { kWrapper = 2, kQueryOnEmpty = 3, kQueryOnError = 4 };

/// Appends the JSON of what was found; false when there is nothing that may be returned.
bool AppendQuery(const Finder& finder, const Found& found, std::string_view wrapper, bool wildcard,
                 std::string* out) {
  const JsonDocument& document = finder.document();
  const bool one = found.nodes.size() == 1 && !wildcard;
  const JsonNode* node = one ? &document.node(found.nodes[0]) : nullptr;
  const bool container = one && (node->kind == JsonKind::kArray || node->kind == JsonKind::kObject);
  if (one && !container && wrapper == "WITHOUT") return false;
  if (one && (wrapper == "WITHOUT" || (wrapper == "CONDITIONAL" && container))) {
    AppendCompactJson(document, *node, out);
    return true;
  }
  // Several matches are a list already; only UNCONDITIONAL puts a list around a single value or
  // around the list.
  const bool twice = !one && wrapper == "UNCONDITIONAL";
  if (twice) out->push_back('[');
  out->push_back('[');
  for (size_t i = 0; i < found.nodes.size(); ++i) {
    if (i > 0) out->push_back(',');
    AppendCompactJson(document, document.node(found.nodes[i]), out);
  }
  out->push_back(']');
  if (twice) out->push_back(']');
  return true;
}

/// The JSON of a row, nullopt for NULL.
Result<std::optional<std::string>> QueryRow(Finder& finder, const KernelCall& call,
                                            std::string_view json, std::string_view path) {
  SLUICE_ASSIGN_OR_RETURN(const Found* found, finder.Find(json, path));
  const bool wildcard = path.find('*') != std::string_view::npos;
  const bool empty = !found->error && found->nodes.empty() && !wildcard;
  std::string text;
  const bool null = !found->error && found->nodes.size() == 1 && !wildcard &&
                    finder.document().node(found->nodes[0]).kind == JsonKind::kNull;
  if (null) return std::optional<std::string>();
  if (!found->error && !empty &&
      AppendQuery(finder, *found, TextOperand(call.arguments[kWrapper])[0], wildcard, &text)) {
    return std::optional<std::string>(std::move(text));
  }
  switch (BehaviorAt(call, empty ? kQueryOnEmpty : kQueryOnError)) {
    case JsonBehavior::kError:
      return BehaviorError("JSON_QUERY", path, empty);
    case JsonBehavior::kEmptyArray:
      return std::optional<std::string>("[]");
    case JsonBehavior::kEmptyObject:
      return std::optional<std::string>("{}");
    default:
      return std::optional<std::string>();
  }
}

/// RETURNING ARRAY<STRING>: texts as they are, other elements as JSON, null as NULL.
Status AppendElements(std::string_view json, arrow::StringBuilder& values) {
  JsonDocument document;
  if (!document.Parse(json)) return {};
  std::string text;
  for (int32_t child = document.root().first_child; child >= 0; child = document.node(child).next) {
    const JsonNode& node = document.node(child);
    if (node.kind == JsonKind::kNull) {
      SLUICE_RETURN_ARROW(values.AppendNull());
      continue;
    }
    if (!ScalarText(document, node, &text)) AppendCompactJson(document, node, &text);
    SLUICE_RETURN_ARROW(values.Append(text));
  }
  return {};
}

Result<ArrayPtr> QueryKernel(const KernelCall& call) {
  const TextOperand json(call.arguments[0]);
  const TextOperand paths(call.arguments[1]);
  Finder finder;
  if (call.result_type.kind() != TypeKind::kArray) {
    return MapText(
        call, json.byte_count(),
        [&](TextBuilder& out, std::string_view text, std::string_view path) -> Result<bool> {
          SLUICE_ASSIGN_OR_RETURN(const auto result, QueryRow(finder, call, text, path));
          if (result) out.Append(*result);
          return result.has_value();
        },
        json, paths);
  }
  auto values = std::make_shared<arrow::StringBuilder>(call.context.pool);
  arrow::ListBuilder lists(call.context.pool, values, call.result_type.ToArrow());
  for (int64_t row = 0; row < call.row_count; ++row) {
    std::optional<std::string> text;
    if (!json.IsNull(row) && !paths.IsNull(row)) {
      SLUICE_ASSIGN_OR_RETURN(text, QueryRow(finder, call, json[row], paths[row]));
    }
    if (!text || text->empty() || (*text)[0] != '[') {
      SLUICE_RETURN_ARROW(lists.AppendNull());
      continue;
    }
    SLUICE_RETURN_ARROW(lists.Append());
    SLUICE_RETURN_NOT_OK(AppendElements(*text, *values));
  }
  ArrayPtr result;
  SLUICE_RETURN_ARROW(lists.Finish(&result));
  return result;
}

// ---- JSON_QUOTE and JSON_UNQUOTE ----

Result<ArrayPtr> QuoteKernel(const KernelCall& call) {
  const TextOperand input(call.arguments[0]);
  std::string scratch;
  return MapText(
      call, input.byte_count() * 2,
      [&](TextBuilder& out, std::string_view text) {
        scratch.clear();
        AppendJsonQuoted(text, &scratch);
        out.Append(scratch);
      },
      input);
}

Result<ArrayPtr> UnquoteKernel(const KernelCall& call) {
  const TextOperand input(call.arguments[0]);
  std::string scratch;
  JsonDocument document;
  return MapText(
      call, input.byte_count(),
      [&](TextBuilder& out, std::string_view text) {
        if (!document.Parse(text) || document.root().kind != JsonKind::kString) {
          out.Append(text);
          return;
        }
        scratch.clear();
        AppendJsonUnescaped(document.text(document.root()), &scratch);
        out.Append(scratch);
      },
      input);
}

/// Typed by the builder, which knows the clauses.
Result<Signature> ResolveTyped(std::span<const Argument> arguments) {
  Signature signature{{}, SqlType::String()};
  for (const Argument& argument : arguments) signature.arguments.push_back(argument.type);
  return signature;
}

ScalarFunction WithClauses(std::string_view name, Kernel kernel, FunctionDoc doc) {
  return {.name = name,
          .group = "json",
          .resolve = &ResolveTyped,
          .min_arguments = 2,
          .max_arguments = 6,
          .nulls = Nulls::kAlways,
          .kernel = kernel,
          .doc = doc};
}

}  // namespace

std::string_view JsonBehaviorText(JsonBehavior behavior) {
  constexpr std::string_view kTexts[] = {"NULL",  "ERROR",   "DEFAULT",     "TRUE",
                                         "FALSE", "UNKNOWN", "EMPTY ARRAY", "EMPTY OBJECT"};
  return kTexts[static_cast<size_t>(behavior)];
}

JsonBehavior JsonBehaviorOf(std::string_view text) {
  for (int i = 0; i <= static_cast<int>(JsonBehavior::kEmptyObject); ++i) {
    if (text == JsonBehaviorText(static_cast<JsonBehavior>(i))) return static_cast<JsonBehavior>(i);
  }
  return JsonBehavior::kNull;
}

std::span<const ScalarFunction> JsonFunctions() {
  using A = Accept;
  static const ScalarFunction kFunctions[] = {
      {.name = "IS JSON",
       .group = "json",
       .signatures = {{{A::kText, A::kText}, SqlType::Boolean()}},
       .nulls = Nulls::kNever,
       .kernel = &IsJsonKernel,
       .is_operator = true},
      WithClauses(
          "JSON_EXISTS", &ExistsKernel,
          {"JSON_EXISTS(json, path [TRUE | FALSE | UNKNOWN | ERROR ON ERROR])",
           "TRUE when the path finds a value.", "JSON_EXISTS('{\"a\":1}', '$.b') => FALSE"}),
      WithClauses("JSON_VALUE", &ValueKernel,
                  {"JSON_VALUE(json, path [RETURNING type] [… ON EMPTY] [… ON ERROR])",
                   "The scalar that the path finds.",
                   "JSON_VALUE('{\"a\":{\"b\":1.50}}', '$.a.b') => '1.50'"}),
      WithClauses("JSON_QUERY", &QueryKernel,
                  {"JSON_QUERY(json, path [RETURNING type] [… WRAPPER] [… ON EMPTY] [… ON ERROR])",
                   "The array or object that the path finds.",
                   "JSON_QUERY('{\"a\":[1, 2]}', '$.a') => '[1,2]'"}),
      {.name = "JSON_QUOTE",
       .group = "json",
       .signatures = {{{A::kText}, SqlType::String()}},
       .kernel = &QuoteKernel,
       .doc = {"JSON_QUOTE(s)", "The text as a JSON string.",
               "JSON_QUOTE('a\"b') => '\"a\\\"b\"'"}},
      {.name = "JSON_UNQUOTE",
       .group = "json",
       .signatures = {{{A::kText}, SqlType::String()}},
       .kernel = &UnquoteKernel,
       .doc = {"JSON_UNQUOTE(s)", "The value of a JSON string.", "JSON_UNQUOTE('\"ab\"') => 'ab'"}},
  };
  return kFunctions;
}

}  // namespace sluice::expr
