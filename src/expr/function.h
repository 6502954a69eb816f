// What a scalar function is: one entry with name, typing, null rule, kernel and doc. Listed in
// functions/<area>.cc, found by registry.h, called through builder.h.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/array/array_base.h>
#include <arrow/datum.h>

#include "common/result.h"
#include "expr/expr.h"
#include "types/sql_type.h"

namespace sluice::expr {

/// An argument as typing sees it.
struct Argument {
  SqlType type;
  /// The value when the argument is a literal, else null.
  std::shared_ptr<arrow::Scalar> literal;
};

/// The outcome of typing a call: the types the arguments are cast to, and the type of the result.
struct Signature {
  std::vector<SqlType> arguments;
  SqlType result;
};

/// Types a call with arguments of the right count. Answers kValidation when the types do not fit;
/// an empty message stands for the usual "Cannot apply 'F' to arguments of type …", which the
/// builder writes.
using ResolveFunction = Result<Signature> (*)(std::span<const Argument> arguments);
/// The failure of a ResolveFunction that has nothing special to say.
Status TypesDoNotFit();

/// What a kernel gets. Every argument is an array of `row_count` values or, for a scalar, a Datum
/// of kind SCALAR; their Arrow types are those of `argument_types`.
struct KernelCall {
  const EvalContext& context;
  std::span<const arrow::Datum> arguments;
  std::span<const SqlType> argument_types;
  const SqlType& result_type;
  int64_t row_count;
};
/// Computes an array of `row_count` values of type result_type.ToArrow().
using Kernel = Result<std::shared_ptr<arrow::Array>> (*)(const KernelCall& call);

/// For functions that must not evaluate every argument for every row (COALESCE, IF).
using LazyKernel = Result<arrow::Datum> (*)(std::span<const ExprPtr> arguments,
                                            const SqlType& result_type,
                                            const arrow::RecordBatch& rows,
                                            const EvalContext& context);

/// Whether the result can be NULL. Kernels compute validity themselves; this drives the type and
/// constant folding.
enum class Nulls {
  kPropagate,  // NULL when an argument is; the result type is nullable when an argument's is.
  kNever,      // The result is NOT NULL.
  kAlways,     // The result may be NULL whatever the arguments are.
  kResolved,   // `resolve` has set the nullability of the result.
};

/// How often the value changes without its arguments changing.
enum class Stability {
  kStable,    // Same arguments, same value.
  kPerQuery,  // CURRENT_TIMESTAMP: never folded when planning; one value a batch, fixed for the
              // query in batch mode.
  kPerRow,  // RAND, UUID: evaluated row by row even with constant arguments; never folded, moved or
            // shared.
};

struct FunctionDoc {
  std::string_view usage;    // "REVERSE(s)"
  std::string_view summary;  // One sentence.
  std::string_view example;  // "REVERSE('abc') => 'cba'"; run as a test. NULL and typed values as
                             // SQL writes them.
};

struct ScalarFunction {
  std::string_view name;   // Upper case.
  std::string_view group;  // "string", "temporal", …: for SHOW FUNCTIONS and the docs.
  int min_arguments = 0;
  int max_arguments = 0;  // -1: any number.
  ResolveFunction resolve = nullptr;
  Nulls nulls = Nulls::kPropagate;
  Kernel kernel = nullptr;
  LazyKernel lazy_kernel = nullptr;  // Instead of `kernel`.
  Stability stability = Stability::kStable;
  /// Shown in "Supported form(s): …".
  std::string_view supported_forms = {};
  FunctionDoc doc = {};
  /// Operators and helpers that SQL does not call by name ("=", "AND", "IS NULL"): not found by
  /// FindFunction for a call as written.
  bool is_operator = false;
};

}  // namespace sluice::expr
