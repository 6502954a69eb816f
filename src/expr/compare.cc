#include "expr/compare.h"

#include <arrow/compare.h>

#include "expr/cast_internal.h"

namespace sluice::expr {

int CompareDecimals(__int128 a, int a_scale, __int128 b, int b_scale) {
  if (a_scale > b_scale) return -CompareDecimals(b, b_scale, a, a_scale);
  if (a_scale < b_scale) {
    __int128 scaled = 0;
    // What overflows is larger in size than any decimal.
    if (__builtin_mul_overflow(a, internal::PowerOfTen(b_scale - a_scale), &scaled)) {
      return a < 0 ? -1 : 1;
    }
    a = scaled;
  }
  return a < b ? -1 : a == b ? 0 : 1;
}

bool NestedEqual(const arrow::Array& a, int64_t a_row, const arrow::Array& b, int64_t b_row) {
  return a.RangeEquals(b, a_row, a_row + 1, b_row,
                       arrow::EqualOptions::Defaults().nans_equal(true).signed_zeros_equal(true));
}

}  // namespace sluice::expr
