// Functions of MAP.
#include <algorithm>

#include <arrow/api.h>

#include "expr/cast.h"
#include "expr/functions/lists.h"
#include "expr/list_support.h"
#include "expr/regex.h"
#include "expr/signature.h"
#include "expr/utf8.h"
#include "types/coercion.h"

namespace sluice::expr {

namespace {

bool IsMap(const SqlType& type) { return type.kind() == TypeKind::kMap; }

Result<Signature> ResolveKeys(std::span<const Argument> arguments) {
  if (!IsMap(arguments[0].type)) return TypesDoNotFit();
  return Signature{{arguments[0].type}, SqlType::Array(arguments[0].type.key())};
}

Result<Signature> ResolveValues(std::span<const Argument> arguments) {
  if (!IsMap(arguments[0].type)) return TypesDoNotFit();
  return Signature{{arguments[0].type}, SqlType::Array(arguments[0].type.value())};
}

Result<Signature> ResolveEntries(std::span<const Argument> arguments) {
  if (!IsMap(arguments[0].type)) return TypesDoNotFit();
  const SqlType& type = arguments[0].type;
  const SqlType entry = SqlType::Row({{"key", type.key()}, {"value", type.value()}});
  return Signature{{type}, SqlType::Array(entry)};
}

Result<Signature> ResolveFromArrays(std::span<const Argument> arguments) {
  for (const Argument& argument : arguments) {
    if (argument.type.kind() != TypeKind::kArray) return TypesDoNotFit();
  }
  return Signature{{arguments[0].type, arguments[1].type},
                   SqlType::Map(arguments[0].type.element(), arguments[1].type.element())};
}

Result<Signature> ResolveUnion(std::span<const Argument> arguments) {
  std::vector<SqlType> types;
  for (const Argument& argument : arguments) {
    if (!IsMap(argument.type)) return TypesDoNotFit();
    types.push_back(argument.type.NotNull());
  }
  const Result<SqlType> common = CommonType(types);
  if (!common.ok()) return TypesDoNotFit();
  Signature signature{{}, *common};
  for (const Argument& argument : arguments) {
    signature.arguments.push_back(common->WithNullable(argument.type.nullable()));
  }
  return signature;
}

/// All entries of each row, in their order, as positions in the children.
ListResult AllEntries(const KernelCall& call, const ListOperand& map) {
  ListResult result(call.row_count, call.context.pool);
  for (int64_t row = 0; row < call.row_count; ++row) {
    if (map.IsNull(row)) {
      result.EndNullRow();
      continue;
    }
    for (int32_t i = map.begin(row); i < map.end(row); ++i) result.Add(i);
    result.EndRow();
  }
  return result;
}

template <bool keys>
Result<ArrayPtr> SideKernel(const KernelCall& call) {
  const ListOperand map(call.arguments[0]);
  return AllEntries(call, map).Finish(keys ? map.values() : map.items(), call.result_type);
}

Result<ArrayPtr> EntriesKernel(const KernelCall& call) {
  const ListOperand map(call.arguments[0]);
  const SqlType& entry = call.result_type.element();
  const ArrayPtr rows = arrow::MakeArray(
      arrow::ArrayData::Make(entry.ToArrow(), map.values()->length(), {nullptr},
                             {Relabel(map.values(), entry.fields()[0].type)->data(),
                              Relabel(map.items(), entry.fields()[1].type)->data()},
                             0));
  return AllEntries(call, map).Finish(rows, call.result_type);
}

Result<ArrayPtr> FromArraysKernel(const KernelCall& call) {
  const ListOperand keys(call.arguments[0]);
  const ListOperand values(call.arguments[1]);
  // Keys and values have positions of their own.
  ListResult key_lists(call.row_count, call.context.pool);
  std::vector<int32_t> value_positions;
  for (int64_t row = 0; row < call.row_count; ++row) {
    if (keys.IsNull(row) || values.IsNull(row)) {
      key_lists.EndNullRow();
      continue;
    }
    if (keys.length(row) != values.length(row)) {
      return Status::DataError(
          "Invalid function MAP_FROM_ARRAYS call: The length of the keys array " +
          std::to_string(keys.length(row)) + " is not equal to the length of the values array " +
          std::to_string(values.length(row)));
    }
    for (int32_t i = 0; i < keys.length(row); ++i) {
      key_lists.Add(keys.begin(row) + i);
      value_positions.push_back(values.begin(row) + i);
    }
    key_lists.EndRow();
  }
  SLUICE_ASSIGN_OR_RETURN(ArrayPtr gathered_keys,
                          Gather(keys.values(), key_lists.positions(), call.context.pool));
  SLUICE_ASSIGN_OR_RETURN(ArrayPtr gathered_values,
                          Gather(values.values(), value_positions, call.context.pool));
  for (size_t i = 0; i < value_positions.size(); ++i) {
    key_lists.positions()[i] = static_cast<int32_t>(i);
  }
  return key_lists.FinishMap(gathered_keys, gathered_values, call.result_type);
}

Result<ArrayPtr> UnionKernel(const KernelCall& call) {
  std::vector<ListOperand> maps;
  arrow::ArrayVector keys;
  arrow::ArrayVector items;
  std::vector<int64_t> bases;
  int64_t base = 0;
  for (const KernelArgument& argument : call.arguments) {
    maps.emplace_back(argument);
    bases.push_back(base);
    keys.push_back(Relabel(maps.back().values(), call.result_type.key().NotNull()));
    items.push_back(Relabel(maps.back().items(), call.result_type.value()));
    base += keys.back()->length();
  }
  SLUICE_ASSIGN_ARROW(ArrayPtr all_keys, arrow::Concatenate(keys, call.context.pool));
  SLUICE_ASSIGN_ARROW(ArrayPtr all_items, arrow::Concatenate(items, call.context.pool));
  const ElementEqual equal = EqualIn(call.result_type.key(), all_keys, all_keys);
  ListResult result(call.row_count, call.context.pool);
  for (int64_t row = 0; row < call.row_count; ++row) {
    std::vector<int64_t> kept;
    bool null = false;
    for (size_t m = 0; m < maps.size() && !null; ++m) {
      null = maps[m].IsNull(row);
      for (int32_t i = maps[m].begin(row); !null && i < maps[m].end(row); ++i) {
        const int64_t position = bases[m] + i;
        const auto same = std::find_if(kept.begin(), kept.end(),
                                       [&](int64_t other) { return equal(other, position); });
        if (same != kept.end()) {
          *same = position;  // The right one wins.
        } else {
          kept.push_back(position);
        }
      }
    }
    if (null) {
      result.EndNullRow();
      continue;
    }
    for (const int64_t position : kept) result.Add(position);
    result.EndRow();
  }
  return result.FinishMap(all_keys, all_items, call.result_type);
}

/// Cuts `text` at the matches of a regular expression.
Result<std::vector<std::string_view>> SplitBy(std::string_view text, std::string_view delimiter) {
  std::vector<std::string_view> parts;
  std::string error;
  Regex* regex = Regex::Get(delimiter, &error);
  if (regex == nullptr) return Status::DataError("STR_TO_MAP: bad delimiter: " + error);
  size_t from = 0;
  size_t search = 0;
  while (search <= text.size()) {
    SLUICE_ASSIGN_OR_RETURN(const bool found, regex->Find(text, search));
    if (!found) break;
    const auto [begin, end] = *regex->Group(0);
    if (end == begin) {  // An empty match cuts nothing here.
      search = begin < text.size() ? begin + utf8::LengthAt(text, begin) : begin + 1;
      continue;
    }
    parts.push_back(text.substr(from, begin - from));
    from = search = end;
  }
  parts.push_back(text.substr(from));
  return parts;
}

Result<ArrayPtr> StrToMapKernel(const KernelCall& call) {
  const TextOperand texts(call.arguments[0]);
  std::optional<TextOperand> pairs;
  std::optional<TextOperand> sides;
  if (call.arguments.size() > 1) pairs.emplace(call.arguments[1]);
  if (call.arguments.size() > 2) sides.emplace(call.arguments[2]);
  arrow::StringBuilder keys(call.context.pool);
  arrow::StringBuilder values(call.context.pool);
  ListResult result(call.row_count, call.context.pool);
  int64_t next = 0;
  for (int64_t row = 0; row < call.row_count; ++row) {
    if (texts.IsNull(row) || (pairs && pairs->IsNull(row)) || (sides && sides->IsNull(row))) {
      result.EndNullRow();
      continue;
    }
    SLUICE_ASSIGN_OR_RETURN(const auto entries, SplitBy(texts[row], pairs ? (*pairs)[row] : ","));
    for (const std::string_view entry : entries) {
      if (entry.empty() && entries.size() == 1) break;
      SLUICE_ASSIGN_OR_RETURN(const auto parts, SplitBy(entry, sides ? (*sides)[row] : "="));
      SLUICE_RETURN_ARROW(keys.Append(parts[0]));
      if (parts.size() > 1) {
        SLUICE_RETURN_ARROW(values.Append(parts[1]));
      } else {
        SLUICE_RETURN_ARROW(values.AppendNull());
      }
      result.Add(next++);
    }
    result.EndRow();
  }
  ArrayPtr key_array;
  ArrayPtr value_array;
  SLUICE_RETURN_ARROW(keys.Finish(&key_array));
  SLUICE_RETURN_ARROW(values.Finish(&value_array));
  return result.FinishMap(key_array, value_array, call.result_type);
}

ScalarFunction Map(std::string_view name, ResolveFunction resolve, int min, int max, Kernel kernel,
                   FunctionDoc doc) {
  return {.name = name,
          .group = "collection",
          .resolve = resolve,
          .min_arguments = min,
          .max_arguments = max,
          .kernel = kernel,
          .doc = doc};
}

}  // namespace

std::span<const ScalarFunction> MapFunctions() {
  using A = Accept;
  const SqlType text_map = SqlType::Map(SqlType::String(), SqlType::String());
  static const ScalarFunction kFunctions[] = {
      Map("MAP_KEYS", &ResolveKeys, 1, 1, &SideKernel<true>,
          {"MAP_KEYS(m)", "The keys of a map.", "MAP_KEYS(MAP['a', 1]) => ARRAY['a']"}),
      Map("MAP_VALUES", &ResolveValues, 1, 1, &SideKernel<false>,
          {"MAP_VALUES(m)", "The values of a map.", "MAP_VALUES(MAP['a', 1]) => ARRAY[1]"}),
      Map("MAP_ENTRIES", &ResolveEntries, 1, 1, &EntriesKernel,
          {"MAP_ENTRIES(m)", "The entries of a map as rows.",
           "CAST(MAP_ENTRIES(MAP['a', 1]) AS STRING) => '[(a, 1)]'"}),
      Map("MAP_FROM_ARRAYS", &ResolveFromArrays, 2, 2, &FromArraysKernel,
          {"MAP_FROM_ARRAYS(keys, values)", "A map of two arrays of the same length.",
           "MAP_FROM_ARRAYS(ARRAY['a'], ARRAY[1]) => MAP['a', 1]"}),
      Map("MAP_UNION", &ResolveUnion, 1, -1, &UnionKernel,
          {"MAP_UNION(a, b, …)", "The entries of all maps; of equal keys the last one stays.",
           "MAP_UNION(MAP['a', 1], MAP['a', 2]) => MAP['a', 2]"}),
      {.name = "STR_TO_MAP",
       .group = "string",
       .signatures = {{{A::kText}, text_map},
                      {{A::kText, A::kText}, text_map},
                      {{A::kText, A::kText, A::kText}, text_map}},
       .nulls = Nulls::kAlways,
       .kernel = &StrToMapKernel,
       .doc = {"STR_TO_MAP(s[, pair = ',', key_value = '='])",
               "A map of a text; the delimiters are regular expressions.",
               "CAST(STR_TO_MAP('a=1,b=2') AS STRING) => '{a=1, b=2}'"}},
  };
  return kFunctions;
}

}  // namespace sluice::expr
