#include "expr/list_support.h"

#include <algorithm>

#include <arrow/api.h>
#include <arrow/compute/api_vector.h>
#include <arrow/compute/exec.h>

#include "expr/cast.h"
#include "expr/compare.h"
#include "types/map_keys.h"

namespace sluice::expr {

ListOperand::ListOperand(const KernelArgument& argument)
    : Operand(argument), offsets_(data_->GetValues<int32_t>(1)) {
  const ArrayPtr child = arrow::MakeArray(data_->child_data[0]);
  if (argument.type->kind() == TypeKind::kArray) {
    values_ = child;
    return;
  }
  const auto& entries = static_cast<const arrow::StructArray&>(*child);
  values_ = FromMapKeys(
      argument.type->kind() == TypeKind::kMap ? argument.type->key() : argument.type->element(),
      entries.field(0));
  items_ = entries.field(1);
}

namespace {

KernelArgument AsArgument(const ArrayPtr& values) { return {values, false, nullptr}; }

}  // namespace

ElementEqual EqualIn(const SqlType& type, const ArrayPtr& a, const ArrayPtr& b) {
  ElementEqual equal = [a, b](int64_t i, int64_t j) { return NestedEqual(*a, i, *b, j); };
  VisitPhysical(type.kind(), [&](auto zero) {
    using T = decltype(zero);
    const OperandOf<T> left(AsArgument(a));
    const OperandOf<T> right(AsArgument(b));
    equal = [left, right](int64_t i, int64_t j) {
      const bool i_null = left.IsNull(i);
      const bool j_null = right.IsNull(j);
      return i_null || j_null ? i_null && j_null : ValueEqual<T>(left[i], right[j]);
    };
  });
  return equal;
}

ElementLess LessIn(const SqlType& type, const ArrayPtr& values) {
  ElementLess less = [](int64_t, int64_t) { return false; };
  VisitPhysical(type.kind(), [&](auto zero) {
    using T = decltype(zero);
    const OperandOf<T> operand(AsArgument(values));
    less = [operand](int64_t i, int64_t j) {
      if (operand.IsNull(i) || operand.IsNull(j)) return operand.IsNull(i) && !operand.IsNull(j);
      return ValueLess<T>(operand[i], operand[j]);
    };
  });
  return less;
}

Result<ArrayPtr> Gather(const ArrayPtr& values, const std::vector<int32_t>& positions,
                        arrow::MemoryPool* pool) {
  const auto count = static_cast<int64_t>(positions.size());
  std::shared_ptr<arrow::Buffer> validity;
  if (std::find(positions.begin(), positions.end(), -1) != positions.end()) {
    auto bits = AllocateBytes(arrow::bit_util::BytesForBits(count), pool);
    for (int64_t i = 0; i < count; ++i) {
      arrow::bit_util::SetBitTo(bits->mutable_data(), i, positions[static_cast<size_t>(i)] >= 0);
    }
    validity = std::move(bits);
  }
  const arrow::Int32Array indices(count, arrow::Buffer::Wrap(positions), validity);
  arrow::compute::ExecContext execution(pool);
  SLUICE_ASSIGN_ARROW(
      arrow::Datum taken,
      arrow::compute::Take(arrow::Datum(values), arrow::Datum(indices.data()),
                           arrow::compute::TakeOptions::NoBoundsCheck(), &execution));
  return taken.make_array();
}

namespace {

std::shared_ptr<arrow::Buffer> OffsetBuffer(const std::vector<int32_t>& offsets,
                                            arrow::MemoryPool* pool) {
  auto buffer = AllocateBytes(static_cast<int64_t>(offsets.size()) * 4, pool);
  std::memcpy(buffer->mutable_data(), offsets.data(), offsets.size() * 4);
  return buffer;
}

ArrayPtr MakeList(const SqlType& type, int64_t rows, const NullMask& nulls,
                  std::shared_ptr<arrow::Buffer> offsets, std::shared_ptr<arrow::ArrayData> child) {
  return arrow::MakeArray(
      arrow::ArrayData::Make(type.ToArrow(), rows, {nulls.buffer(), std::move(offsets)},
                             {std::move(child)}, nulls.any() ? arrow::kUnknownNullCount : 0));
}

}  // namespace

Result<ArrayPtr> ListResult::Finish(const ArrayPtr& values, const SqlType& type) {
  SLUICE_ASSIGN_OR_RETURN(ArrayPtr child, Gather(values, positions_, pool_));
  return MakeList(type, static_cast<int64_t>(offsets_.size()) - 1, nulls_,
                  OffsetBuffer(offsets_, pool_), Relabel(child, type.element())->data());
}

Result<ArrayPtr> ListResult::FinishMap(const ArrayPtr& keys, const ArrayPtr& values,
                                       const SqlType& type) {
  SLUICE_ASSIGN_OR_RETURN(ArrayPtr gathered, Gather(keys, positions_, pool_));
  SLUICE_ASSIGN_OR_RETURN(const ArrayPtr key, ToMapKeys(type.key(), std::move(gathered), pool_));
  SLUICE_ASSIGN_OR_RETURN(ArrayPtr value, Gather(values, positions_, pool_));
  auto entries = arrow::ArrayData::Make(
      type.ToArrow()->field(0)->type(), key->length(), {nullptr},
      {Relabel(key, type.key())->data(), Relabel(value, type.value())->data()}, 0);
  return MakeList(type, static_cast<int64_t>(offsets_.size()) - 1, nulls_,
                  OffsetBuffer(offsets_, pool_), std::move(entries));
}

Result<ArrayPtr> Expand(const KernelArgument& argument, int64_t row_count,
                        arrow::MemoryPool* pool) {
  if (!argument.constant || argument.values->length() == row_count) return argument.values;
  return Gather(argument.values, std::vector<int32_t>(static_cast<size_t>(row_count), 0), pool);
}

Result<ArrayPtr> Interleave(std::span<const KernelArgument> arguments, int64_t row_count,
                            arrow::MemoryPool* pool) {
  arrow::ArrayVector pieces;
  std::vector<int32_t> bases;
  int32_t base = 0;
  for (const KernelArgument& argument : arguments) {
    bases.push_back(base);
    pieces.push_back(argument.values);
    base += static_cast<int32_t>(argument.values->length());
  }
  SLUICE_ASSIGN_ARROW(ArrayPtr all, arrow::Concatenate(pieces, pool));
  std::vector<int32_t> positions;
  positions.reserve(static_cast<size_t>(row_count) * arguments.size());
  for (int64_t row = 0; row < row_count; ++row) {
    for (size_t i = 0; i < arguments.size(); ++i) {
      positions.push_back(bases[i] + (arguments[i].constant ? 0 : static_cast<int32_t>(row)));
    }
  }
  return Gather(all, positions, pool);
}

Result<ArrayPtr> FixedLists(const ArrayPtr& values, int64_t row_count, int64_t width,
                            const SqlType& type, arrow::MemoryPool* pool) {
  std::vector<int32_t> offsets;
  for (int64_t row = 0; row <= row_count; ++row) {
    offsets.push_back(static_cast<int32_t>(row * width));
  }
  return MakeList(type, row_count, NullMask(row_count, pool), OffsetBuffer(offsets, pool),
                  Relabel(values, type.element())->data());
}

}  // namespace sluice::expr
