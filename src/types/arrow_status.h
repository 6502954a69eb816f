// Bridges between Arrow's Status and ours.
#pragma once

#include <arrow/result.h>
#include <arrow/status.h>

#include "common/result.h"

namespace sluice {

/// Invalid and type errors become kDataError, IO errors kIoError, out of memory kUnavailable, the
/// rest kInternal.
Status FromArrow(const arrow::Status& status);

template <typename T>
Result<T> FromArrow(arrow::Result<T> result) {
  if (!result.ok()) return FromArrow(result.status());
  return std::move(result).ValueUnsafe();
}

}  // namespace sluice

#define SLUICE_RETURN_ARROW(expression)                 \
  do {                                                  \
    const ::arrow::Status sluice_arrow_ = (expression); \
    if (!sluice_arrow_.ok()) [[unlikely]]               \
      return ::sluice::FromArrow(sluice_arrow_);        \
  } while (false)

#define SLUICE_ASSIGN_ARROW(declaration, ...) \
  SLUICE_ASSIGN_OR_RETURN(declaration, ::sluice::FromArrow(__VA_ARGS__))
