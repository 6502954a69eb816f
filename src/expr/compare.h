// Comparing values of one SQL type: the order of ORDER BY, MIN, <, and equality (sql.md §5.6).
#pragma once

#include <cmath>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "expr/kernel_support.h"

namespace sluice::expr {

/// NaN equals NaN and is greatest; -0.0 equals 0.0.
template <typename T>
inline bool ValueLess(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return a < b || (std::isnan(b) && !std::isnan(a));
  } else {
    return a < b;
  }
}
template <typename T>
inline bool ValueEqual(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return a == b || (std::isnan(a) && std::isnan(b));
  } else {
    return a == b;
  }
}
/// Bytes compare unsigned, which is code point order for UTF-8; std::string_view does just that.
inline int ThreeWayText(std::string_view a, std::string_view b) { return a.compare(b); }

/// Compares two DECIMALs of different scales without overflow: -1, 0, 1.
int CompareDecimals(__int128 a, int a_scale, __int128 b, int b_scale);

/// Equality of single values of any type, nested ones included; NULLs inside nested values equal
/// each other. Neither is NULL.
bool NestedEqual(const arrow::Array& a, int64_t a_row, const arrow::Array& b, int64_t b_row);

/// Calls `fn` with a value of the C++ type that holds values of `type` in Arrow: bool, int8_t …
/// double, __int128, std::string_view. Nested types are not taken: false.
template <typename Fn>
bool VisitPhysical(TypeKind kind, Fn&& fn) {
  switch (kind) {
    case TypeKind::kBoolean:
      fn(bool{});
      return true;
    case TypeKind::kTinyint:
      fn(int8_t{});
      return true;
    case TypeKind::kSmallint:
      fn(int16_t{});
      return true;
    case TypeKind::kInt:
    case TypeKind::kDate:
    case TypeKind::kTime:
    case TypeKind::kIntervalYearMonth:
      fn(int32_t{});
      return true;
    case TypeKind::kBigint:
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLtz:
    case TypeKind::kIntervalDayTime:
      fn(int64_t{});
      return true;
    case TypeKind::kFloat:
      fn(float{});
      return true;
    case TypeKind::kDouble:
      fn(double{});
      return true;
    case TypeKind::kDecimal:
      fn(__int128{});
      return true;
    case TypeKind::kChar:
    case TypeKind::kVarchar:
    case TypeKind::kBinary:
    case TypeKind::kVarbinary:
      fn(std::string_view{});
      return true;
    default:
      return false;
  }
}

}  // namespace sluice::expr
