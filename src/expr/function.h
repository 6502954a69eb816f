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

/// One evaluated argument: an array of row_count values or, when `constant`, of one value that
/// stands for every row.
struct KernelArgument {
  std::shared_ptr<arrow::Array> values;
  bool constant = false;
  const SqlType* type = nullptr;
};

/// What a kernel gets. The Arrow types of the arguments are those of their SQL types.
struct KernelCall {
  const EvalContext& context;
  std::span<const KernelArgument> arguments;
  const SqlType& result_type;
  int64_t row_count;
};
/// Computes an array of `row_count` values of type result_type.ToArrow(). May throw std::bad_alloc,
/// which the caller turns into a Status.
using Kernel = Result<std::shared_ptr<arrow::Array>> (*)(const KernelCall& call);

/// For functions that must not evaluate every argument for every row (COALESCE, IF).
using LazyKernel = Result<arrow::Datum> (*)(std::span<const ExprPtr> arguments,
                                            const SqlType& result_type,
                                            const arrow::RecordBatch& rows,
                                            const EvalContext& context);

/// What a parameter takes, and what the kernel gets.
enum class Accept : uint8_t {
  kAny,      // Anything but an untyped NULL, as it is.
  kText,     // CHAR or VARCHAR, as it is.
  kBinary,   // BINARY or VARBINARY, as it is.
  kBytes,    // Text or binary, as it is.
  kInteger,  // Any integer type, as BIGINT.
  kDouble,   // Any number, as DOUBLE.
  kNumber,   // Any number, as it is.
  kBoolean,
};

/// A plain signature; functions with rules of their own have a ResolveFunction.
struct Parameters {
  std::vector<Accept> accepts;
  SqlType result;
  bool repeat_last = false;  // The last parameter may come any number of times (at least once).
};

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
  /// The forms of the call, tried in order...
  std::vector<Parameters> signatures = {};
  /// ... or typing by code, with the number of arguments it takes (max -1: any).
  ResolveFunction resolve = nullptr;
  int min_arguments = 0;
  int max_arguments = 0;
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
