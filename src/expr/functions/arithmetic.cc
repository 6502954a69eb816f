// + - * / % and unary minus on numbers, intervals and times (sql.md §5.2).
#include <cmath>
#include <limits>

#include "expr/decimal_math.h"
#include "expr/functions/lists.h"
#include "expr/kernel_support.h"
#include "expr/zone_offsets.h"
#include "types/calendar.h"
#include "types/coercion.h"
#include "types/value_text.h"

namespace sluice::expr {

namespace {

/// Integers wrap around: the sum is made in the unsigned type.
template <ArithmeticOp op, typename T>
inline T Wrapping(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if constexpr (op == ArithmeticOp::kAdd) return a + b;
    if constexpr (op == ArithmeticOp::kSubtract) return a - b;
    if constexpr (op == ArithmeticOp::kMultiply) return a * b;
    return a / b;
  } else {
    using Wide = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
    const auto x = static_cast<Wide>(a);
    const auto y = static_cast<Wide>(b);
    if constexpr (op == ArithmeticOp::kAdd) return static_cast<T>(x + y);
    if constexpr (op == ArithmeticOp::kSubtract) return static_cast<T>(x - y);
    return static_cast<T>(x * y);
  }
}

/// Without nulls to look at, in a loop that can be vectorised: the value under a NULL does not
/// matter.
template <ArithmeticOp op, typename T>
Result<ArrayPtr> PlainLoop(const KernelCall& call) {
  const NumberOperand<T> left(call.arguments[0]);
  const NumberOperand<T> right(call.arguments[1]);
  NullMask nulls(call.row_count, call.context.pool);
  nulls.Merge(left);
  nulls.Merge(right);
  auto buffer = AllocateBytes(call.row_count * static_cast<int64_t>(sizeof(T)), call.context.pool);
  T* out = reinterpret_cast<T*>(buffer->mutable_data());
  const T* a = left.values();
  const T* b = right.values();
  const int64_t rows = call.row_count;
  if (right.constant() && !left.constant()) {
    const T value = b[0];
    for (int64_t row = 0; row < rows; ++row) out[row] = Wrapping<op, T>(a[row], value);
  } else if (left.constant() && !right.constant()) {
    const T value = a[0];
    for (int64_t row = 0; row < rows; ++row) out[row] = Wrapping<op, T>(value, b[row]);
  } else {
    for (int64_t row = 0; row < rows; ++row) out[row] = Wrapping<op, T>(left[row], right[row]);
  }
  return MakeFixedArray(call.result_type.ToArrow(), rows, nulls, std::move(buffer));
}

template <ArithmeticOp op, typename T>
Result<ArrayPtr> DivisionLoop(const KernelCall& call) {
  return MapValues<T>(
      call,
      [](T a, T b) -> Result<T> {
        if (b == 0) return Status::DataError("/ by zero");
        // The smallest number divided by -1 wraps to itself; the processor would trap.
        if (b == -1)
          return op == ArithmeticOp::kDivide ? Wrapping<ArithmeticOp::kSubtract, T>(0, a) : T{0};
        return static_cast<T>(op == ArithmeticOp::kDivide ? a / b : a % b);
      },
      NumberOperand<T>(call.arguments[0]), NumberOperand<T>(call.arguments[1]));
}

template <ArithmeticOp op>
Result<ArrayPtr> DecimalLoop(const KernelCall& call) {
  const int left_scale = call.arguments[0].type->scale();
  const int right_scale = call.arguments[1].type->scale();
  const DecimalShape shape{call.result_type.precision(), call.result_type.scale()};
  return MapValues<__int128>(
      call,
      [=](__int128 a, __int128 b) -> Result<std::optional<__int128>> {
        switch (op) {
          case ArithmeticOp::kAdd:
            return DecimalAdd(a, left_scale, b, right_scale, shape);
          case ArithmeticOp::kSubtract:
            return DecimalAdd(a, left_scale, -b, right_scale, shape);
          case ArithmeticOp::kMultiply:
            return DecimalMultiply(a, left_scale, b, right_scale, shape);
          case ArithmeticOp::kDivide:
            if (b == 0) return Status::DataError("Division by zero");
            return DecimalDivide(a, left_scale, b, right_scale, shape);
          case ArithmeticOp::kModulo:
            if (b == 0) return Status::DataError("Division by zero");
            return DecimalModulo(a, left_scale, b, right_scale, shape);
        }
        return std::optional<__int128>();
      },
      DecimalOperand(call.arguments[0]), DecimalOperand(call.arguments[1]));
}

Status TimeOverflow(const SqlType& type) {
  return Status::DataError("The sum of a time and an interval does not fit " +
                           type.WithNullable(true).ToString() + ".");
}

/// A point in time plus `sign` intervals of months, on the calendar of the session zone for
/// TIMESTAMP_LTZ.
template <int sign>
Result<ArrayPtr> AddMonthsTo(const KernelCall& call) {
  const SqlType& type = call.result_type;
  const NumberOperand<int32_t> months(call.arguments[1]);
  if (type.kind() == TypeKind::kDate) {
    return MapValues<int32_t>(
        call,
        [](int32_t days, int32_t n) {
          return static_cast<int32_t>(AddMonths(days, int64_t{sign} * n));
        },
        NumberOperand<int32_t>(call.arguments[0]), months);
  }
  const int64_t units = TimestampUnitsPerSecond(type.precision());
  const bool local = type.kind() == TypeKind::kTimestampLtz;
  ZoneOffsets offsets(call.context.session_zone);
  return MapValues<int64_t>(
      call,
      [&](int64_t value, int32_t n) -> Result<int64_t> {
        int64_t seconds = FloorDiv(value, units);
        const int64_t fraction = value - seconds * units;
        if (local) seconds = offsets.ToLocal(seconds);
        const int64_t day = FloorDiv(seconds, kSecondsPerDay);
        seconds += (AddMonths(day, int64_t{sign} * n) - day) * kSecondsPerDay;
        if (local) seconds = offsets.ToInstant(seconds);
        int64_t moved = 0;
        if (__builtin_mul_overflow(seconds, units, &moved)) return TimeOverflow(type);
        return moved + fraction;
      },
      NumberOperand<int64_t>(call.arguments[0]), months);
}

/// A point in time plus `sign` intervals of milliseconds.
template <int sign>
Result<ArrayPtr> AddMillisTo(const KernelCall& call) {
  const SqlType& type = call.result_type;
  const NumberOperand<int64_t> millis(call.arguments[1]);
  switch (type.kind()) {
    case TypeKind::kDate:
      // Parts of a day are cut, as the peer does: the result stays a DATE.
      return MapValues<int32_t>(
          call,
          [](int32_t days, int64_t ms) {
            return static_cast<int32_t>(days + sign * (ms / kMillisPerDay));
          },
          NumberOperand<int32_t>(call.arguments[0]), millis);
    case TypeKind::kTime:
      return MapValues<int32_t>(
          call,
          [](int32_t time, int64_t ms) {
            return static_cast<int32_t>(
                FloorMod(time + sign * (ms % kMillisPerDay), kMillisPerDay));
          },
          NumberOperand<int32_t>(call.arguments[0]), millis);
    default: {
      const int64_t factor = TimestampUnitsPerSecond(type.precision()) / 1000 * sign;
      return MapValues<int64_t>(
          call,
          [&, factor](int64_t value, int64_t ms) -> Result<int64_t> {
            int64_t moved = 0;
            if (__builtin_mul_overflow(ms, factor, &moved) ||
                __builtin_add_overflow(value, moved, &moved)) {
              return TimeOverflow(type);
            }
            return moved;
          },
          NumberOperand<int64_t>(call.arguments[0]), millis);
    }
  }
}

/// interval * number and interval / number.
template <ArithmeticOp op, typename T>
Result<ArrayPtr> ScaleInterval(const KernelCall& call) {
  const NumberOperand<T> interval(call.arguments[0]);
  if (call.arguments[1].type->kind() == TypeKind::kBigint) {
    return MapValues<T>(
        call,
        [](T value, int64_t factor) -> Result<T> {
          if (op == ArithmeticOp::kMultiply) {
            return Wrapping<ArithmeticOp::kMultiply, T>(value, static_cast<T>(factor));
          }
          if (factor == 0) return Status::DataError("/ by zero");
          if (factor == -1) return Wrapping<ArithmeticOp::kSubtract, T>(0, value);
          return static_cast<T>(value / factor);
        },
        interval, NumberOperand<int64_t>(call.arguments[1]));
  }
  return MapValues<T>(
      call,
      [](T value, double factor) -> Result<T> {
        const double result = op == ArithmeticOp::kMultiply ? static_cast<double>(value) * factor
                                                            : static_cast<double>(value) / factor;
        if (!(std::fabs(result) < static_cast<double>(std::numeric_limits<T>::max()))) {
          return Status::DataError("An interval times a number is out of range.");
        }
        return static_cast<T>(result);
      },
      interval, NumberOperand<double>(call.arguments[1]));
}

template <ArithmeticOp op>
Result<ArrayPtr> TimeArithmetic(const KernelCall& call) {
  const SqlType& left = *call.arguments[0].type;
  const SqlType& right = *call.arguments[1].type;
  if constexpr (op == ArithmeticOp::kAdd || op == ArithmeticOp::kSubtract) {
    constexpr int kSign = op == ArithmeticOp::kAdd ? 1 : -1;
    if (left.is_datetime()) {
      return right.kind() == TypeKind::kIntervalYearMonth ? AddMonthsTo<kSign>(call)
                                                          : AddMillisTo<kSign>(call);
    }
    return left.kind() == TypeKind::kIntervalYearMonth ? PlainLoop<op, int32_t>(call)
                                                       : PlainLoop<op, int64_t>(call);
  } else if constexpr (op == ArithmeticOp::kMultiply || op == ArithmeticOp::kDivide) {
    return left.kind() == TypeKind::kIntervalYearMonth ? ScaleInterval<op, int32_t>(call)
                                                       : ScaleInterval<op, int64_t>(call);
  }
  return Status::Internal("times do not take this operator");
}

template <ArithmeticOp op>
Result<ArrayPtr> ArithmeticKernel(const KernelCall& call) {
  const SqlType& type = call.result_type;
  if (type.kind() == TypeKind::kDecimal) return DecimalLoop<op>(call);
  if (!type.is_numeric()) return TimeArithmetic<op>(call);
  return VisitNumber(type.kind(), [&](auto zero) -> Result<ArrayPtr> {
    using T = decltype(zero);
    constexpr bool kDivision = op == ArithmeticOp::kDivide || op == ArithmeticOp::kModulo;
    if constexpr (kDivision && std::is_integral_v<T>) {
      return DivisionLoop<op, T>(call);
    } else if constexpr (op == ArithmeticOp::kModulo) {
      return Status::Internal("% of floating numbers");
    } else {
      return PlainLoop<op, T>(call);
    }
  });
}

Result<ArrayPtr> NegateKernel(const KernelCall& call) {
  switch (call.result_type.kind()) {
    case TypeKind::kDecimal:
      return MapValues<__int128>(
          call, [](__int128 value) { return -value; }, DecimalOperand(call.arguments[0]));
    case TypeKind::kIntervalYearMonth:
      return MapValues<int32_t>(
          call, [](int32_t value) { return Wrapping<ArithmeticOp::kSubtract, int32_t>(0, value); },
          NumberOperand<int32_t>(call.arguments[0]));
    case TypeKind::kIntervalDayTime:
      return MapValues<int64_t>(
          call, [](int64_t value) { return Wrapping<ArithmeticOp::kSubtract, int64_t>(0, value); },
          NumberOperand<int64_t>(call.arguments[0]));
    default:
      return VisitNumber(call.result_type.kind(), [&](auto zero) -> Result<ArrayPtr> {
        using T = decltype(zero);
        return MapValues<T>(
            call,
            [](T value) -> T {
              if constexpr (std::is_floating_point_v<T>) return -value;
              return Wrapping<ArithmeticOp::kSubtract, T>(0, value);
            },
            NumberOperand<T>(call.arguments[0]));
      });
  }
}

ScalarFunction Operator(std::string_view name, Kernel kernel) {
  return {.name = name, .group = "arithmetic", .kernel = kernel, .is_operator = true};
}

}  // namespace

std::span<const ScalarFunction> ArithmeticOperators() {
  static const ScalarFunction kFunctions[] = {
      Operator("+", &ArithmeticKernel<ArithmeticOp::kAdd>),
      Operator("-", &ArithmeticKernel<ArithmeticOp::kSubtract>),
      Operator("*", &ArithmeticKernel<ArithmeticOp::kMultiply>),
      Operator("/", &ArithmeticKernel<ArithmeticOp::kDivide>),
      Operator("%", &ArithmeticKernel<ArithmeticOp::kModulo>),
      Operator("NEGATE", &NegateKernel),
  };
  return kFunctions;
}

}  // namespace sluice::expr
