// Functions of one ARRAY and its elements.
#include <algorithm>

#include <arrow/api.h>

#include "expr/cast.h"
#include "expr/functions/lists.h"
#include "expr/list_support.h"
#include "expr/signature.h"
#include "types/coercion.h"
#include "types/value_text.h"

namespace sluice::expr {

namespace {

bool IsArray(const SqlType& type) { return type.kind() == TypeKind::kArray; }

/// An array and, for the arguments that follow, integers.
Result<Signature> ResolveSame(std::span<const Argument> arguments) {
  if (!IsArray(arguments[0].type)) return TypesDoNotFit();
  Signature signature{{arguments[0].type}, arguments[0].type};
  for (const Argument& argument : arguments.subspan(1)) {
    SqlType type = argument.type.kind() == TypeKind::kBoolean
                       ? argument.type
                       : AcceptedType(Accept::kInteger, argument.type);
    if (type.kind() == TypeKind::kNull) return TypesDoNotFit();
    signature.arguments.push_back(std::move(type));
  }
  return signature;
}

/// An array and a value of its kind, brought to one element type.
Result<Signature> ResolveWithElement(std::span<const Argument> arguments) {
  if (!IsArray(arguments[0].type)) return TypesDoNotFit();
  const std::vector<SqlType> types = {arguments[0].type.element(), arguments[1].type};
  const Result<SqlType> common = CommonType(types);
  if (!common.ok() || common->kind() == TypeKind::kNull) return TypesDoNotFit();
  const SqlType element = common->WithNullable(arguments[0].type.element().nullable());
  const SqlType array = SqlType::Array(element).WithNullable(arguments[0].type.nullable());
  return Signature{{array, common->WithNullable(arguments[1].type.nullable())}, array};
}

Result<Signature> ResolveContains(std::span<const Argument> arguments) {
  SLUICE_ASSIGN_OR_RETURN(Signature signature, ResolveWithElement(arguments));
  signature.result = SqlType::Boolean();
  return signature;
}

Result<Signature> ResolvePosition(std::span<const Argument> arguments) {
  SLUICE_ASSIGN_OR_RETURN(Signature signature, ResolveWithElement(arguments));
  signature.result = SqlType::Int();
  return signature;
}

Result<Signature> ResolveAppend(std::span<const Argument> arguments) {
  SLUICE_ASSIGN_OR_RETURN(Signature signature, ResolveWithElement(arguments));
  const SqlType element = signature.arguments[0].element();
  signature.result =
      SqlType::Array(element.WithNullable(element.nullable() || arguments[1].type.nullable()))
          .WithNullable(arguments[0].type.nullable());
  return signature;
}

Result<Signature> ResolveElement(std::span<const Argument> arguments) {
  if (!IsArray(arguments[0].type)) return TypesDoNotFit();
  const SqlType& type = arguments[0].type;
  return Signature{{type}, type.element()};
}

Result<Signature> ResolveCardinality(std::span<const Argument> arguments) {
  const TypeKind kind = arguments[0].type.kind();
  if (kind != TypeKind::kArray && kind != TypeKind::kMap && kind != TypeKind::kMultiset) {
    return TypesDoNotFit();
  }
  return Signature{{arguments[0].type}, SqlType::Int()};
}

Result<Signature> ResolveJoin(std::span<const Argument> arguments) {
  if (!IsArray(arguments[0].type) || !arguments[0].type.element().is_character()) {
    return TypesDoNotFit();
  }
  Signature signature{{arguments[0].type}, SqlType::String()};
  for (const Argument& argument : arguments.subspan(1)) {
    SqlType type = AcceptedType(Accept::kText, argument.type);
    if (type.kind() == TypeKind::kNull) return TypesDoNotFit();
    signature.arguments.push_back(std::move(type));
  }
  return signature;
}

Result<ArrayPtr> CardinalityKernel(const KernelCall& call) {
  const ListOperand list(call.arguments[0]);
  NullMask nulls(call.row_count, call.context.pool);
  nulls.Merge(list);
  auto buffer = AllocateBytes(call.row_count * 4, call.context.pool);
  auto* out = reinterpret_cast<int32_t*>(buffer->mutable_data());
  for (int64_t row = 0; row < call.row_count; ++row) out[row] = list.length(row);
  return MakeFixedArray(arrow::int32(), call.row_count, nulls, std::move(buffer));
}

Result<ArrayPtr> ElementKernel(const KernelCall& call) {
  const ListOperand list(call.arguments[0]);
  std::vector<int32_t> positions(static_cast<size_t>(call.row_count), -1);
  for (int64_t row = 0; row < call.row_count; ++row) {
    if (list.IsNull(row) || list.length(row) == 0) continue;
    if (list.length(row) > 1)
      return Status::DataError("ELEMENT of an array with more than one element");
    positions[static_cast<size_t>(row)] = list.begin(row);
  }
  SLUICE_ASSIGN_OR_RETURN(ArrayPtr values, Gather(list.values(), positions, call.context.pool));
  return Relabel(values, call.result_type);
}

/// Position of the value in its row's array, from 1; 0 when it is not there.
std::vector<int32_t> FindInRows(const KernelCall& call, const ListOperand& list) {
  const Operand wanted(call.arguments[1]);
  const ElementEqual equal =
      EqualIn(call.arguments[0].type->element(), list.values(), call.arguments[1].values);
  std::vector<int32_t> found(static_cast<size_t>(call.row_count), 0);
  for (int64_t row = 0; row < call.row_count; ++row) {
    if (list.IsNull(row)) continue;
    for (int32_t i = list.begin(row); i < list.end(row); ++i) {
      if (equal(i, wanted.index(row))) {
        found[static_cast<size_t>(row)] = i - list.begin(row) + 1;
        break;
      }
    }
  }
  return found;
}

Result<ArrayPtr> ContainsKernel(const KernelCall& call) {
  const ListOperand list(call.arguments[0]);
  const std::vector<int32_t> found = FindInRows(call, list);
  NullMask nulls(call.row_count, call.context.pool);
  nulls.Merge(list);
  auto bits = AllocateBytes(arrow::bit_util::BytesForBits(call.row_count), call.context.pool);
  for (int64_t row = 0; row < call.row_count; ++row) {
    arrow::bit_util::SetBitTo(bits->mutable_data(), row, found[static_cast<size_t>(row)] > 0);
  }
  return MakeFixedArray(arrow::boolean(), call.row_count, nulls, std::move(bits));
}

Result<ArrayPtr> PositionKernel(const KernelCall& call) {
  const ListOperand list(call.arguments[0]);
  const std::vector<int32_t> found = FindInRows(call, list);
  NullMask nulls(call.row_count, call.context.pool);
  nulls.Merge(list);
  nulls.Merge(Operand(call.arguments[1]));
  auto buffer = AllocateBytes(call.row_count * 4, call.context.pool);
  std::memcpy(buffer->mutable_data(), found.data(), found.size() * 4);
  return MakeFixedArray(arrow::int32(), call.row_count, nulls, std::move(buffer));
}

Result<ArrayPtr> RemoveKernel(const KernelCall& call) {
  const ListOperand list(call.arguments[0]);
  const Operand wanted(call.arguments[1]);
  const ElementEqual equal =
      EqualIn(call.arguments[0].type->element(), list.values(), call.arguments[1].values);
  ListResult result(call.row_count, call.context.pool);
  for (int64_t row = 0; row < call.row_count; ++row) {
    if (list.IsNull(row)) {
      result.EndNullRow();
      continue;
    }
    for (int32_t i = list.begin(row); i < list.end(row); ++i) {
      if (!equal(i, wanted.index(row))) result.Add(i);
    }
    result.EndRow();
  }
  return result.Finish(list.values(), call.result_type);
}

template <bool front>
Result<ArrayPtr> AppendKernel(const KernelCall& call) {
  const ListOperand list(call.arguments[0]);
  const Operand added(call.arguments[1]);
  SLUICE_ASSIGN_ARROW(
      ArrayPtr pool,
      arrow::Concatenate({Relabel(list.values(), call.result_type.element()),
                          Relabel(call.arguments[1].values, call.result_type.element())},
                         call.context.pool));
  const auto base = list.values()->length();
  ListResult result(call.row_count, call.context.pool);
  for (int64_t row = 0; row < call.row_count; ++row) {
    if (list.IsNull(row)) {
      result.EndNullRow();
      continue;
    }
    if (front) result.Add(base + added.index(row));
    for (int32_t i = list.begin(row); i < list.end(row); ++i) result.Add(i);
    if (!front) result.Add(base + added.index(row));
    result.EndRow();
  }
  return result.Finish(pool, call.result_type);
}

/// Rewrites the positions of each row: `fn(vector of positions)`.
template <typename Fn>
Result<ArrayPtr> Rearrange(const KernelCall& call, Fn fn) {
  const ListOperand list(call.arguments[0]);
  ListResult result(call.row_count, call.context.pool);
  std::vector<int32_t> row_positions;
  for (int64_t row = 0; row < call.row_count; ++row) {
    if (list.IsNull(row)) {
      result.EndNullRow();
      continue;
    }
    row_positions.clear();
    for (int32_t i = list.begin(row); i < list.end(row); ++i) row_positions.push_back(i);
    if (!fn(row, row_positions)) {
      result.EndNullRow();
      continue;
    }
    for (const int32_t position : row_positions) result.Add(position);
    result.EndRow();
  }
  return result.Finish(list.values(), call.result_type);
}

Result<ArrayPtr> ReverseKernel(const KernelCall& call) {
  return Rearrange(call, [](int64_t, std::vector<int32_t>& positions) {
    std::reverse(positions.begin(), positions.end());
    return true;
  });
}

Result<ArrayPtr> SliceKernel(const KernelCall& call) {
  const NumberOperand<int64_t> from(call.arguments[1]);
  std::optional<NumberOperand<int64_t>> to;
  if (call.arguments.size() == 3) to.emplace(call.arguments[2]);
  return Rearrange(call, [&](int64_t row, std::vector<int32_t>& positions) {
    if (from.IsNull(row) || (to && to->IsNull(row))) return false;
    const auto length = static_cast<int64_t>(positions.size());
    const auto absolute = [length](int64_t i) { return i < 0 ? length + i + 1 : i; };
    const int64_t begin = std::max<int64_t>(absolute(from[row]), 1);
    const int64_t end = std::min(to ? absolute((*to)[row]) : length, length);
    if (begin > end) {
      positions.clear();
      return true;
    }
    positions.erase(positions.begin() + end, positions.end());
    positions.erase(positions.begin(), positions.begin() + (begin - 1));
    return true;
  });
}

/// ARRAY_SORT(a[, ascending[, nulls first]]): NULL first when ascending, last when descending.
Result<ArrayPtr> SortKernel(const KernelCall& call) {
  const ListOperand list(call.arguments[0]);
  const ElementLess less = LessIn(call.arguments[0].type->element(), list.values());
  const auto flag = [&](size_t index, int64_t row, bool fallback) {
    if (call.arguments.size() <= index) return fallback;
    return BooleanOperand(call.arguments[index])[row];
  };
  for (size_t i = 1; i < call.arguments.size(); ++i) {
    if (Operand(call.arguments[i]).constant_null()) return NullResult(call);
  }
  return Rearrange(call, [&](int64_t row, std::vector<int32_t>& positions) {
    const bool ascending = flag(1, row, true);
    const bool nulls_first = flag(2, row, ascending);
    std::stable_sort(positions.begin(), positions.end(), [&](int32_t a, int32_t b) {
      const bool a_null = list.values()->IsNull(a);
      const bool b_null = list.values()->IsNull(b);
      if (a_null || b_null) return nulls_first ? a_null && !b_null : b_null && !a_null;
      return ascending ? less(a, b) : less(b, a);
    });
    return true;
  });
}

Result<ArrayPtr> DistinctKernel(const KernelCall& call) {
  const ListOperand list(call.arguments[0]);
  const ElementEqual equal =
      EqualIn(call.arguments[0].type->element(), list.values(), list.values());
  return Rearrange(call, [&](int64_t, std::vector<int32_t>& positions) {
    std::vector<int32_t> kept;
    for (const int32_t position : positions) {
      const bool seen = std::any_of(kept.begin(), kept.end(),
                                    [&](int32_t other) { return equal(other, position); });
      if (!seen) kept.push_back(position);
    }
    positions = std::move(kept);
    return true;
  });
}

template <bool greatest>
Result<ArrayPtr> ExtremeKernel(const KernelCall& call) {
  const ListOperand list(call.arguments[0]);
  const ElementLess less = LessIn(call.arguments[0].type->element(), list.values());
  std::vector<int32_t> best(static_cast<size_t>(call.row_count), -1);
  for (int64_t row = 0; row < call.row_count; ++row) {
    if (list.IsNull(row)) continue;
    int32_t& place = best[static_cast<size_t>(row)];
    for (int32_t i = list.begin(row); i < list.end(row); ++i) {
      if (list.values()->IsNull(i)) continue;
      if (place < 0 || (greatest ? less(place, i) : less(i, place))) place = i;
    }
  }
  SLUICE_ASSIGN_OR_RETURN(ArrayPtr values, Gather(list.values(), best, call.context.pool));
  return Relabel(values, call.result_type);
}

/// NULL elements are left out, or shown as the third argument.
Result<ArrayPtr> JoinKernel(const KernelCall& call) {
  const ListOperand list(call.arguments[0]);
  const TextOperand elements({list.values(), false, nullptr});
  const TextOperand separators(call.arguments[1]);
  std::optional<TextOperand> substitutes;
  if (call.arguments.size() == 3) substitutes.emplace(call.arguments[2]);
  NullMask nulls(call.row_count, call.context.pool);
  for (const KernelArgument& argument : call.arguments) nulls.Merge(Operand(argument));
  TextBuilder out(call.row_count, elements.byte_count() * 2, call.context.pool);
  for (int64_t row = 0; row < call.row_count; ++row) {
    bool first = true;
    for (int32_t i = list.begin(row); !nulls.IsNull(row) && i < list.end(row); ++i) {
      const bool null = elements.IsNull(i);
      if (null && !substitutes) continue;
      if (!first) out.Append(separators[row]);
      first = false;
      out.Append(null ? (*substitutes)[row] : elements[i]);
    }
    out.EndRow();
  }
  return out.Finish(arrow::utf8(), nulls);
}

ScalarFunction Same(std::string_view name, int min, int max, Kernel kernel, FunctionDoc doc) {
  return {.name = name,
          .group = "collection",
          .resolve = &ResolveSame,
          .min_arguments = min,
          .max_arguments = max,
          .kernel = kernel,
          .doc = doc};
}

ScalarFunction One(std::string_view name, ResolveFunction resolve, Kernel kernel, FunctionDoc doc,
                   int count = 1, Nulls nulls = Nulls::kPropagate) {
  return {.name = name,
          .group = "collection",
          .resolve = resolve,
          .min_arguments = count,
          .max_arguments = count,
          .nulls = nulls,
          .kernel = kernel,
          .doc = doc};
}

}  // namespace

std::span<const ScalarFunction> ArrayFunctions() {
  static const ScalarFunction kFunctions[] = {
      One("CARDINALITY", &ResolveCardinality, &CardinalityKernel,
          {"CARDINALITY(a)", "Number of elements of an array or entries of a map.",
           "CARDINALITY(ARRAY[1, 2]) => 2"}),
      One("ELEMENT", &ResolveElement, &ElementKernel,
          {"ELEMENT(a)", "The only element; NULL of an empty array.", "ELEMENT(ARRAY[5]) => 5"}),
      One("ARRAY_CONTAINS", &ResolveContains, &ContainsKernel,
          {"ARRAY_CONTAINS(a, x)", "TRUE when x is an element.",
           "ARRAY_CONTAINS(ARRAY[1, 2], 2) => TRUE"},
          2),
      One("ARRAY_POSITION", &ResolvePosition, &PositionKernel,
          {"ARRAY_POSITION(a, x)", "Position of the first x, 0 when there is none.",
           "ARRAY_POSITION(ARRAY[1, 2], 2) => 2"},
          2),
      One("ARRAY_REMOVE", &ResolveWithElement, &RemoveKernel,
          {"ARRAY_REMOVE(a, x)", "The array without every x.",
           "ARRAY_REMOVE(ARRAY[1, 2, 1], 1) => ARRAY[2]"},
          2),
      One("ARRAY_APPEND", &ResolveAppend, &AppendKernel<false>,
          {"ARRAY_APPEND(a, x)", "The array with x at its end.",
           "ARRAY_APPEND(ARRAY[1], 2) => ARRAY[1, 2]"},
          2),
      One("ARRAY_PREPEND", &ResolveAppend, &AppendKernel<true>,
          {"ARRAY_PREPEND(a, x)", "The array with x at its front.",
           "ARRAY_PREPEND(ARRAY[1], 2) => ARRAY[2, 1]"},
          2),
      One("ARRAY_MAX", &ResolveElement, &ExtremeKernel<true>,
          {"ARRAY_MAX(a)", "The greatest element.", "ARRAY_MAX(ARRAY[1, 3, 2]) => 3"}, 1,
          Nulls::kAlways),
      One("ARRAY_MIN", &ResolveElement, &ExtremeKernel<false>,
          {"ARRAY_MIN(a)", "The least element.", "ARRAY_MIN(ARRAY[2, 1, 3]) => 1"}, 1,
          Nulls::kAlways),
      {.name = "ARRAY_JOIN",
       .group = "collection",
       .resolve = &ResolveJoin,
       .min_arguments = 2,
       .max_arguments = 3,
       .kernel = &JoinKernel,
       .doc = {"ARRAY_JOIN(a, separator[, null_text])", "The elements as one text.",
               "ARRAY_JOIN(ARRAY['a', 'b'], '-') => 'a-b'"}},
      Same("ARRAY_REVERSE", 1, 1, &ReverseKernel,
           {"ARRAY_REVERSE(a)", "The elements from last to first.",
            "ARRAY_REVERSE(ARRAY[1, 2]) => ARRAY[2, 1]"}),
      Same("ARRAY_DISTINCT", 1, 1, &DistinctKernel,
           {"ARRAY_DISTINCT(a)", "Each element once.",
            "ARRAY_DISTINCT(ARRAY[1, 1, 2]) => ARRAY[1, 2]"}),
      Same("ARRAY_SORT", 1, 3, &SortKernel,
           {"ARRAY_SORT(a[, ascending[, nulls_first]])", "The elements in order.",
            "ARRAY_SORT(ARRAY[3, 1, 2]) => ARRAY[1, 2, 3]"}),
      Same("ARRAY_SLICE", 2, 3, &SliceKernel,
           {"ARRAY_SLICE(a, from[, to])", "The elements between two positions, both included.",
            "ARRAY_SLICE(ARRAY[1, 2, 3], 2, 3) => ARRAY[2, 3]"}),
  };
  return kFunctions;
}

}  // namespace sluice::expr
