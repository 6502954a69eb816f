// Making JSON texts: JSON_STRING, JSON_OBJECT, JSON_ARRAY, JSON.
#include "common/text.h"
#include "expr/functions/lists.h"
#include "expr/json_document.h"
#include "expr/json_value.h"
#include "expr/kernel_support.h"
#include "expr/signature.h"

namespace sluice::expr {

namespace {

Result<ArrayPtr> StringKernel(const KernelCall& call) {
  const KernelArgument& argument = call.arguments[0];
  const Operand operand(argument);
  NullMask nulls(call.row_count, call.context.pool);
  nulls.Merge(operand);
  TextBuilder out(call.row_count, call.row_count * 16, call.context.pool);
  std::string scratch;
  for (int64_t row = 0; row < call.row_count; ++row) {
    if (!nulls.IsNull(row)) {
      scratch.clear();
      AppendJsonValue(*argument.type, *argument.values, operand.index(row), &scratch);
      out.Append(scratch);
    }
    out.EndRow();
  }
  return out.Finish(call.result_type.ToArrow(), nulls);
}

/// The first argument says how: 'N' or 'A' (NULL or ABSENT ON NULL), then for each value 'v' or,
/// for what is JSON already, 'j'.
struct Plan {
  bool absent = false;
  std::string_view kinds;
};
Plan PlanOf(const KernelCall& call) {
  const std::string_view text = TextOperand(call.arguments[0])[0];
  return {text[0] == 'A', text.substr(1)};
}

void AppendMember(const KernelArgument& value, int64_t row, bool is_json, std::string* out) {
  const Operand operand(value);
  if (is_json && !operand.IsNull(row)) {
    out->append(TextOperand(value)[row]);
    return;
  }
  AppendJsonValue(*value.type, *value.values, operand.index(row), out);
}

Result<ArrayPtr> ObjectKernel(const KernelCall& call) {
  const Plan plan = PlanOf(call);
  NullMask nulls(call.row_count, call.context.pool);
  TextBuilder out(call.row_count, call.row_count * 32, call.context.pool);
  std::string scratch;
  for (int64_t row = 0; row < call.row_count; ++row) {
    scratch = "{";
    for (size_t i = 0; i < plan.kinds.size(); ++i) {
      const KernelArgument& value = call.arguments[2 + 2 * i];
      if (plan.absent && Operand(value).IsNull(row)) continue;
      const TextOperand key(call.arguments[1 + 2 * i]);
      if (key.IsNull(row)) return Status::DataError("A key of JSON_OBJECT is NULL");
      if (scratch.size() > 1) scratch += ',';
      AppendJsonQuoted(key[row], &scratch);
      scratch += ':';
      AppendMember(value, row, plan.kinds[i] == 'j', &scratch);
    }
    scratch += '}';
    out.Append(scratch);
    out.EndRow();
  }
  return out.Finish(call.result_type.ToArrow(), nulls);
}

Result<ArrayPtr> ArrayKernel(const KernelCall& call) {
  const Plan plan = PlanOf(call);
  NullMask nulls(call.row_count, call.context.pool);
  TextBuilder out(call.row_count, call.row_count * 32, call.context.pool);
  std::string scratch;
  for (int64_t row = 0; row < call.row_count; ++row) {
    scratch = "[";
    for (size_t i = 0; i < plan.kinds.size(); ++i) {
      const KernelArgument& value = call.arguments[1 + i];
      if (plan.absent && Operand(value).IsNull(row)) continue;
      if (scratch.size() > 1) scratch += ',';
      AppendMember(value, row, plan.kinds[i] == 'j', &scratch);
    }
    scratch += ']';
    out.Append(scratch);
    out.EndRow();
  }
  return out.Finish(call.result_type.ToArrow(), nulls);
}

/// Checks the text and passes it on; only JSON_OBJECT and JSON_ARRAY make use of it.
Result<ArrayPtr> RawKernel(const KernelCall& call) {
  JsonDocument document;
  const TextOperand input(call.arguments[0]);
  return MapText(
      call, input.byte_count(),
      [&](TextBuilder& out, std::string_view text) -> Status {
        if (!document.Parse(text)) {
          return Status::DataError("Invalid JSON string in JSON(value) function: '" +
                                   Printable(text) + "'");
        }
        std::string compact;
        AppendCompactJson(document, document.root(), &compact);
        out.Append(compact);
        return {};
      },
      input);
}

Result<Signature> ResolveString(std::span<const Argument> arguments) {
  if (arguments[0].type.kind() == TypeKind::kNull || arguments[0].type.is_interval()) {
    return TypesDoNotFit();
  }
  return Signature{{arguments[0].type}, SqlType::String()};
}

Result<Signature> ResolveTyped(std::span<const Argument> arguments) {
  Signature signature{{}, SqlType::String()};
  for (const Argument& argument : arguments) signature.arguments.push_back(argument.type);
  return signature;
}

ScalarFunction Making(std::string_view name, Kernel kernel, FunctionDoc doc) {
  return {.name = name,
          .group = "json",
          .resolve = &ResolveTyped,
          .min_arguments = 0,
          .max_arguments = -1,
          .nulls = Nulls::kNever,
          .kernel = kernel,
          .doc = doc};
}

}  // namespace

std::span<const ScalarFunction> JsonMakingFunctions() {
  static const ScalarFunction kFunctions[] = {
      {.name = "JSON_STRING",
       .group = "json",
       .resolve = &ResolveString,
       .min_arguments = 1,
       .max_arguments = 1,
       .kernel = &StringKernel,
       .doc = {"JSON_STRING(v)", "The value as JSON.", "JSON_STRING(ARRAY[1, 2]) => '[1,2]'"}},
      Making("JSON_OBJECT", &ObjectKernel,
             {"JSON_OBJECT([KEY] k VALUE v, … [NULL | ABSENT ON NULL])", "A JSON object.",
              "JSON_OBJECT('k' VALUE 1) => '{\"k\":1}'"}),
      Making("JSON_ARRAY", &ArrayKernel,
             {"JSON_ARRAY(v, … [NULL | ABSENT ON NULL])", "A JSON array.",
              "JSON_ARRAY(1, 'x') => '[1,\"x\"]'"}),
      {.name = "JSON",
       .group = "json",
       .signatures = {{{Accept::kText}, SqlType::String()}},
       .kernel = &RawKernel,
       .doc = {"JSON(s)", "A text that JSON_OBJECT and JSON_ARRAY take as JSON.",
               "JSON_ARRAY(JSON('{\"a\": 1}')) => '[{\"a\":1}]'"}},
  };
  return kFunctions;
}

}  // namespace sluice::expr
