// The kernels of CAST: values of one type as values of another (sql.md §5.5).
#pragma once

#include <memory>

#include <arrow/array/array_base.h>

#include "expr/expr.h"
#include "types/sql_type.h"

namespace sluice::expr {

struct CastOptions {
  /// Values that cannot be cast become NULL instead of failing.
  bool try_cast = false;
};

/// Casts `values` of type `from` to `to`; CanCast(from, to) must allow it. Fails with kDataError on
/// a value that cannot be cast.
Result<std::shared_ptr<arrow::Array>> CastArray(const std::shared_ptr<arrow::Array>& values,
                                                const SqlType& from, const SqlType& to,
                                                const CastOptions& options,
                                                const EvalContext& context);

/// True when the cast changes no value, only the type: the arrays can be shared.
bool IsRelabel(const SqlType& from, const SqlType& to);
/// The same values under the Arrow type of `to`.
std::shared_ptr<arrow::Array> Relabel(const std::shared_ptr<arrow::Array>& values,
                                      const SqlType& to);

}  // namespace sluice::expr
