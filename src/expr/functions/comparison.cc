// =, <>, <, <=, >, >=, IS [NOT] DISTINCT FROM, IN.
#include <unordered_set>

#include "expr/compare.h"
#include "expr/functions/lists.h"
#include "expr/kernel_support.h"

namespace sluice::expr {

namespace {

enum class Order { kEqual, kNotEqual, kLess, kLessEqual, kGreater, kGreaterEqual };

template <Order order, typename T>
inline bool Holds(T a, T b) {
  if constexpr (std::is_same_v<T, std::string_view>) {
    if constexpr (order == Order::kEqual) return a == b;
    if constexpr (order == Order::kNotEqual) return a != b;
    const int way = ThreeWayText(a, b);
    if constexpr (order == Order::kLess) return way < 0;
    if constexpr (order == Order::kLessEqual) return way <= 0;
    if constexpr (order == Order::kGreater) return way > 0;
    return way >= 0;
  } else {
    if constexpr (order == Order::kEqual) return ValueEqual(a, b);
    if constexpr (order == Order::kNotEqual) return !ValueEqual(a, b);
    if constexpr (order == Order::kLess) return ValueLess(a, b);
    if constexpr (order == Order::kLessEqual) return !ValueLess(b, a);
    if constexpr (order == Order::kGreater) return ValueLess(b, a);
    return !ValueLess(a, b);
  }
}

/// Eight results a byte; the value under a NULL does not matter.
template <typename Fn>
void FillBits(uint8_t* bits, int64_t rows, Fn&& fn) {
  int64_t row = 0;
  for (; row + 8 <= rows; row += 8) {
    unsigned byte = 0;
    for (int i = 0; i < 8; ++i) byte |= static_cast<unsigned>(fn(row + i)) << i;
    *bits++ = static_cast<uint8_t>(byte);
  }
  if (row == rows) return;
  unsigned byte = 0;
  for (int i = 0; row + i < rows; ++i) byte |= static_cast<unsigned>(fn(row + i)) << i;
  *bits = static_cast<uint8_t>(byte);
}

template <Order order, typename T>
void FillComparison(const OperandOf<T>& left, const OperandOf<T>& right, int64_t rows,
                    uint8_t* bits) {
  if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) {
    // Constants outside of the loop let it be vectorised.
    const T* a = left.values();
    const T* b = right.values();
    if (!left.constant() && right.constant()) {
      const T value = b[0];
      return FillBits(bits, rows, [=](int64_t row) { return Holds<order, T>(a[row], value); });
    }
    if (!left.constant() && !right.constant()) {
      return FillBits(bits, rows, [=](int64_t row) { return Holds<order, T>(a[row], b[row]); });
    }
  }
  FillBits(bits, rows, [&](int64_t row) { return Holds<order, T>(left[row], right[row]); });
}

/// Fills the bits of a comparison; values under NULLs are arbitrary.
template <Order order>
Status Fill(const KernelArgument& left, const KernelArgument& right, int64_t rows, uint8_t* bits) {
  const SqlType& type = *left.type;
  if (type.kind() == TypeKind::kDecimal && type.scale() != right.type->scale()) {
    const DecimalOperand a(left);
    const DecimalOperand b(right);
    const int a_scale = type.scale();
    const int b_scale = right.type->scale();
    FillBits(bits, rows, [&](int64_t row) {
      return Holds<order, int>(CompareDecimals(a[row], a_scale, b[row], b_scale), 0);
    });
    return {};
  }
  const bool plain = VisitPhysical(type.kind(), [&](auto zero) {
    using T = decltype(zero);
    FillComparison<order, T>(OperandOf<T>(left), OperandOf<T>(right), rows, bits);
  });
  if (plain) return {};
  if constexpr (order == Order::kEqual || order == Order::kNotEqual) {
    const Operand a(left);
    const Operand b(right);
    FillBits(bits, rows, [&](int64_t row) {
      if (a.IsNull(row) || b.IsNull(row)) return false;
      return NestedEqual(*left.values, a.index(row), *right.values, b.index(row)) ==
             (order == Order::kEqual);
    });
    return {};
  }
  return Status::Internal("an order was asked for on " + type.ToString());
}

template <Order order>
Result<ArrayPtr> CompareKernel(const KernelCall& call) {
  NullMask nulls(call.row_count, call.context.pool);
  for (const KernelArgument& argument : call.arguments) nulls.Merge(Operand(argument));
  auto bits = AllocateBytes(arrow::bit_util::BytesForBits(call.row_count), call.context.pool);
  SLUICE_RETURN_NOT_OK(
      Fill<order>(call.arguments[0], call.arguments[1], call.row_count, bits->mutable_data()));
  return MakeFixedArray(arrow::boolean(), call.row_count, nulls, std::move(bits));
}

template <bool distinct>
Result<ArrayPtr> DistinctKernel(const KernelCall& call) {
  const int64_t rows = call.row_count;
  auto bits = AllocateBytes(arrow::bit_util::BytesForBits(rows), call.context.pool);
  uint8_t* out = bits->mutable_data();
  SLUICE_RETURN_NOT_OK(Fill < distinct
                           ? Order::kNotEqual
                           : Order::kEqual > (call.arguments[0], call.arguments[1], rows, out));
  const Operand left(call.arguments[0]);
  const Operand right(call.arguments[1]);
  if (left.may_be_null() || right.may_be_null()) {
    for (int64_t row = 0; row < rows; ++row) {
      const bool a = left.IsNull(row);
      const bool b = right.IsNull(row);
      if (a || b) arrow::bit_util::SetBitTo(out, row, (a && b) != distinct);
    }
  }
  return MakeFixedArray(arrow::boolean(), rows, NullMask(rows, call.context.pool), std::move(bits));
}

bool AllConstant(std::span<const KernelArgument> list) {
  for (const KernelArgument& item : list) {
    if (!item.constant) return false;
  }
  return true;
}

/// Lists longer than this are looked up by hash.
constexpr size_t kLinearListLimit = 8;

template <typename T>
void FindInSet(const OperandOf<T>& operand, std::span<const KernelArgument> list, int64_t rows,
               uint8_t* bits) {
  std::unordered_set<T> set;
  for (const KernelArgument& item : list) {
    const OperandOf<T> value(item);
    if (!value.IsNull(0)) set.insert(value[0]);
  }
  FillBits(bits, rows, [&](int64_t row) { return set.contains(operand[row]); });
}

/// Constant lists of integers, times and texts; false for others.
bool FindByHash(const KernelCall& call, uint8_t* bits) {
  const auto list = call.arguments.subspan(1);
  if (list.size() <= kLinearListLimit || !AllConstant(list)) return false;
  bool done = false;
  VisitPhysical(call.arguments[0].type->kind(), [&](auto zero) {
    using T = decltype(zero);
    if constexpr ((std::is_integral_v<T> && sizeof(T) <= 8 && !std::is_same_v<T, bool>) ||
                  std::is_same_v<T, std::string_view>) {
      FindInSet<T>(OperandOf<T>(call.arguments[0]), list, call.row_count, bits);
      done = true;
    }
  });
  return done;
}

Result<ArrayPtr> InKernel(const KernelCall& call) {
  const int64_t rows = call.row_count;
  const int64_t bytes = arrow::bit_util::BytesForBits(rows);
  auto bits = AllocateBytes(bytes, call.context.pool);
  uint8_t* out = bits->mutable_data();
  const auto list = call.arguments.subspan(1);
  if (!FindByHash(call, out)) {
    std::memset(out, 0, static_cast<size_t>(bytes));
    auto one = AllocateBytes(bytes, call.context.pool);
    for (const KernelArgument& item : list) {
      const Operand value(item);
      if (value.constant_null()) continue;
      SLUICE_RETURN_NOT_OK(Fill<Order::kEqual>(call.arguments[0], item, rows, one->mutable_data()));
      for (int64_t row = 0; value.may_be_null() && row < rows; ++row) {
        if (value.IsNull(row)) arrow::bit_util::ClearBit(one->mutable_data(), row);
      }
      for (int64_t i = 0; i < bytes; ++i) out[i] |= one->data()[i];
    }
  }
  // Not found, but there was a NULL: unknown.
  NullMask nulls(rows, call.context.pool);
  nulls.Merge(Operand(call.arguments[0]));
  for (const KernelArgument& item : list) {
    const Operand value(item);
    if (!value.may_be_null()) continue;
    for (int64_t row = 0; row < rows; ++row) {
      if (value.IsNull(row) && !arrow::bit_util::GetBit(out, row)) nulls.SetNull(row);
    }
  }
  return MakeFixedArray(arrow::boolean(), rows, nulls, std::move(bits));
}

ScalarFunction Operator(std::string_view name, Kernel kernel) {
  return {.name = name, .group = "comparison", .kernel = kernel, .is_operator = true};
}

}  // namespace

std::span<const ScalarFunction> ComparisonOperators() {
  static const ScalarFunction kFunctions[] = {
      Operator("=", &CompareKernel<Order::kEqual>),
      Operator("<>", &CompareKernel<Order::kNotEqual>),
      Operator("<", &CompareKernel<Order::kLess>),
      Operator("<=", &CompareKernel<Order::kLessEqual>),
      Operator(">", &CompareKernel<Order::kGreater>),
      Operator(">=", &CompareKernel<Order::kGreaterEqual>),
      Operator("IS DISTINCT FROM", &DistinctKernel<true>),
      Operator("IS NOT DISTINCT FROM", &DistinctKernel<false>),
      Operator("IN", &InKernel),
  };
  return kFunctions;
}

}  // namespace sluice::expr
