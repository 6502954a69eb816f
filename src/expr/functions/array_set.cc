// Functions of several arrays: ARRAY_CONCAT, ARRAY_UNION, ARRAY_INTERSECT, ARRAY_EXCEPT.
#include <algorithm>

#include <arrow/api.h>

#include "expr/cast.h"
#include "expr/functions/lists.h"
#include "expr/list_support.h"
#include "expr/signature.h"
#include "types/coercion.h"

namespace sluice::expr {

namespace {

/// Arrays brought to one element type.
Result<Signature> ResolveArrays(std::span<const Argument> arguments) {
  std::vector<SqlType> elements;
  for (const Argument& argument : arguments) {
    if (argument.type.kind() != TypeKind::kArray) return TypesDoNotFit();
    elements.push_back(argument.type.element());
  }
  const Result<SqlType> common = CommonType(elements);
  if (!common.ok()) return TypesDoNotFit();
  Signature signature{{}, SqlType::Array(*common)};
  for (const Argument& argument : arguments) {
    signature.arguments.push_back(SqlType::Array(*common).WithNullable(argument.type.nullable()));
  }
  return signature;
}

/// All arguments' elements in one array, and where each argument's begin.
struct Pool {
  ArrayPtr values;
  std::vector<int64_t> bases;
  std::vector<ListOperand> lists;
};

Result<Pool> MakePool(const KernelCall& call) {
  Pool pool;
  arrow::ArrayVector pieces;
  int64_t base = 0;
  for (const KernelArgument& argument : call.arguments) {
    pool.lists.emplace_back(argument);
    pool.bases.push_back(base);
    pieces.push_back(Relabel(pool.lists.back().values(), call.result_type.element()));
    base += pieces.back()->length();
  }
  SLUICE_ASSIGN_ARROW(pool.values, arrow::Concatenate(pieces, call.context.pool));
  return pool;
}

/// `fn(rows of positions per argument, out)` for each row that is not NULL.
template <typename Fn>
Result<ArrayPtr> Combine(const KernelCall& call, Fn fn) {
  SLUICE_ASSIGN_OR_RETURN(const Pool pool, MakePool(call));
  const ElementEqual equal = EqualIn(call.result_type.element(), pool.values, pool.values);
  ListResult result(call.row_count, call.context.pool);
  std::vector<std::vector<int64_t>> positions(pool.lists.size());
  for (int64_t row = 0; row < call.row_count; ++row) {
    const bool null = std::any_of(pool.lists.begin(), pool.lists.end(),
                                  [row](const ListOperand& list) { return list.IsNull(row); });
    if (null) {
      result.EndNullRow();
      continue;
    }
    for (size_t i = 0; i < pool.lists.size(); ++i) {
      positions[i].clear();
      for (int32_t p = pool.lists[i].begin(row); p < pool.lists[i].end(row); ++p) {
        positions[i].push_back(pool.bases[i] + p);
      }
    }
    std::vector<int64_t> out;
    fn(positions, equal, out);
    for (const int64_t position : out) result.Add(position);
    result.EndRow();
  }
  return result.Finish(pool.values, call.result_type);
}

using Positions = std::vector<std::vector<int64_t>>;

bool Has(const std::vector<int64_t>& list, int64_t wanted, const ElementEqual& equal) {
  return std::any_of(list.begin(), list.end(), [&](int64_t other) { return equal(other, wanted); });
}

Result<ArrayPtr> ConcatKernel(const KernelCall& call) {
  return Combine(call, [](const Positions& lists, const ElementEqual&, std::vector<int64_t>& out) {
    for (const std::vector<int64_t>& list : lists) out.insert(out.end(), list.begin(), list.end());
  });
}

Result<ArrayPtr> UnionKernel(const KernelCall& call) {
  return Combine(call,
                 [](const Positions& lists, const ElementEqual& equal, std::vector<int64_t>& out) {
                   for (const std::vector<int64_t>& list : lists) {
                     for (const int64_t position : list) {
                       if (!Has(out, position, equal)) out.push_back(position);
                     }
                   }
                 });
}

template <bool keep_common>
Result<ArrayPtr> FilterKernel(const KernelCall& call) {
  return Combine(
      call, [](const Positions& lists, const ElementEqual& equal, std::vector<int64_t>& out) {
        for (const int64_t position : lists[0]) {
          if (Has(lists[1], position, equal) == keep_common && !Has(out, position, equal)) {
            out.push_back(position);
          }
        }
      });
}

ScalarFunction Set(std::string_view name, int max, Kernel kernel, FunctionDoc doc) {
  return {.name = name,
          .group = "collection",
          .resolve = &ResolveArrays,
          .min_arguments = max < 0 ? 1 : 2,
          .max_arguments = max,
          .kernel = kernel,
          .doc = doc};
}

}  // namespace

std::span<const ScalarFunction> ArraySetFunctions() {
  static const ScalarFunction kFunctions[] = {
      Set("ARRAY_CONCAT", -1, &ConcatKernel,
          {"ARRAY_CONCAT(a, b, …)", "The elements of all arrays one after the other.",
           "ARRAY_CONCAT(ARRAY[1], ARRAY[2]) => ARRAY[1, 2]"}),
      Set("ARRAY_UNION", 2, &UnionKernel,
          {"ARRAY_UNION(a, b)", "Each element of a or b once.",
           "ARRAY_UNION(ARRAY[1], ARRAY[1, 2]) => ARRAY[1, 2]"}),
      Set("ARRAY_INTERSECT", 2, &FilterKernel<true>,
          {"ARRAY_INTERSECT(a, b)", "Each element of both a and b once.",
           "ARRAY_INTERSECT(ARRAY[1, 2], ARRAY[2, 3]) => ARRAY[2]"}),
      Set("ARRAY_EXCEPT", 2, &FilterKernel<false>,
          {"ARRAY_EXCEPT(a, b)", "Each element of a that is not in b once.",
           "ARRAY_EXCEPT(ARRAY[1, 2], ARRAY[2, 3]) => ARRAY[1]"}),
  };
  return kFunctions;
}

}  // namespace sluice::expr
