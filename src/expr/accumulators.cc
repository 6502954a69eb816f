// COUNT, SUM and AVG.
#include "expr/accumulators.h"

#include <arrow/api.h>

#include "expr/decimal_math.h"
#include "expr/kernel_support.h"
#include "expr/one_group.h"
#include "types/arrow_status.h"

namespace sluice::expr::internal {

namespace {

ArrayPtr FromVector(const std::shared_ptr<arrow::DataType>& type, const void* values, int64_t count,
                    size_t width, const NullMask& nulls, arrow::MemoryPool* pool) {
  auto buffer = AllocateBytes(count * static_cast<int64_t>(width), pool);
  if (count > 0) std::memcpy(buffer->mutable_data(), values, static_cast<size_t>(count) * width);
  return MakeFixedArray(type, count, nulls, std::move(buffer));
}

class CountAccumulator final : public Accumulator {
 public:
  explicit CountAccumulator(arrow::MemoryPool* pool) : pool_(pool) {}

  Status Resize(int64_t group_count) override {
    counts_.resize(static_cast<size_t>(group_count), 0);
    return {};
  }
  Status Add(const arrow::Array* values, std::span<const int32_t> group_of_row,
             const arrow::BooleanArray* selected) override {
    return Count(values, group_of_row, selected, 1);
  }
  bool retractable() const override { return true; }
  Status Retract(const arrow::Array* values, std::span<const int32_t> group_of_row,
                 const arrow::BooleanArray* selected) override {
    return Count(values, group_of_row, selected, -1);
  }
  Result<ArrayPtr> Finish(int64_t begin, int64_t end) const override {
    return FromVector(arrow::int64(), counts_.data() + begin, end - begin, 8,
                      NullMask(end - begin, pool_), pool_);
  }
  Result<ArrayPtr> SaveState(int64_t begin, int64_t end) const override {
    return Finish(begin, end);
  }
  Status MergeState(const arrow::Array& state, std::span<const int32_t> group_of_row) override {
    const auto& counts = static_cast<const arrow::Int64Array&>(state);
    for (size_t row = 0; row < group_of_row.size(); ++row) {
      counts_[static_cast<size_t>(group_of_row[row])] += counts.Value(static_cast<int64_t>(row));
    }
    return {};
  }
  std::shared_ptr<arrow::DataType> state_type() const override { return arrow::int64(); }
  int64_t memory_bytes() const override { return static_cast<int64_t>(counts_.capacity() * 8); }

 private:
  Status Count(const arrow::Array* values, std::span<const int32_t> group_of_row,
               const arrow::BooleanArray* selected, int64_t step) {
    const bool has_nulls = values != nullptr && values->null_count() > 0;
    if (selected == nullptr) {
      if (const auto group = OneGroup(group_of_row)) {
        const int64_t nulls = has_nulls ? values->null_count() : 0;
        counts_[static_cast<size_t>(*group)] +=
            step * (static_cast<int64_t>(group_of_row.size()) - nulls);
        return {};
      }
    }
    if (!has_nulls && selected == nullptr) {
      for (const int32_t group : group_of_row) counts_[static_cast<size_t>(group)] += step;
      return {};
    }
    for (size_t i = 0; i < group_of_row.size(); ++i) {
      const auto row = static_cast<int64_t>(i);
      if (has_nulls && values->IsNull(row)) continue;
      if (IsSelected(selected, row)) counts_[static_cast<size_t>(group_of_row[i])] += step;
    }
    return {};
  }

  arrow::MemoryPool* pool_;
  std::vector<int64_t> counts_;
};

/// The running sum of a number type: integers wrap in the type the sum has, DECIMALs that overflow
/// become NULL for good.
template <typename Input, typename Sum>
class SumAccumulator final : public Accumulator {
 public:
  SumAccumulator(SqlType input, SqlType result, bool average, arrow::MemoryPool* pool)
      : input_(std::move(input)), result_(std::move(result)), average_(average), pool_(pool) {}

  Status Resize(int64_t group_count) override {
    groups_.resize(static_cast<size_t>(group_count));
    return {};
  }
  Status Add(const arrow::Array* values, std::span<const int32_t> group_of_row,
             const arrow::BooleanArray* selected) override {
    return AddRows(*values, group_of_row, selected, 1);
  }
  bool retractable() const override { return true; }
  Status Retract(const arrow::Array* values, std::span<const int32_t> group_of_row,
                 const arrow::BooleanArray* selected) override {
    return AddRows(*values, group_of_row, selected, -1);
  }

  Result<ArrayPtr> Finish(int64_t begin, int64_t end) const override {
    const int64_t rows = end - begin;
    NullMask nulls(rows, pool_);
    auto buffer = AllocateBytes(rows * static_cast<int64_t>(sizeof(Input)), pool_);
    auto* out = reinterpret_cast<Input*>(buffer->mutable_data());
    for (int64_t row = 0; row < rows; ++row) {
      const Group& group = groups_[static_cast<size_t>(begin + row)];
      const std::optional<Input> value = ResultOf(group.sum, group.count);
      out[row] = value.value_or(Input{});
      if (!value) nulls.SetNull(row);
    }
    return MakeFixedArray(result_.ToArrow(), rows, nulls, std::move(buffer));
  }

  Result<ArrayPtr> SaveState(int64_t begin, int64_t end) const override {
    const int64_t rows = end - begin;
    const NullMask none(rows, pool_);
    const std::shared_ptr<arrow::DataType> type = state_type();
    auto sum_buffer = AllocateBytes(rows * static_cast<int64_t>(sizeof(Sum)), pool_);
    auto count_buffer = AllocateBytes(rows * 8, pool_);
    for (int64_t row = 0; row < rows; ++row) {
      const Group& group = groups_[static_cast<size_t>(begin + row)];
      std::memcpy(sum_buffer->mutable_data() + row * static_cast<int64_t>(sizeof(Sum)), &group.sum,
                  sizeof(Sum));
      std::memcpy(count_buffer->mutable_data() + row * 8, &group.count, 8);
    }
    const ArrayPtr sums = MakeFixedArray(type->field(0)->type(), rows, none, std::move(sum_buffer));
    const ArrayPtr counts = MakeFixedArray(arrow::int64(), rows, none, std::move(count_buffer));
    return std::make_shared<arrow::StructArray>(type, rows, arrow::ArrayVector{sums, counts});
  }
  Status MergeState(const arrow::Array& state, std::span<const int32_t> group_of_row) override {
    const auto& fields = static_cast<const arrow::StructArray&>(state);
    const KernelArgument sum_argument{fields.field(0), false, nullptr};
    const OperandOf<Sum> sums(sum_argument);
    const auto counts = std::static_pointer_cast<arrow::Int64Array>(fields.field(1));
    for (size_t row = 0; row < group_of_row.size(); ++row) {
      const auto at = static_cast<int64_t>(row);
      Group& group = groups_[static_cast<size_t>(group_of_row[row])];
      group.count += counts->Value(at);
      AddTo(group.sum, sums[at]);
    }
    return {};
  }
  std::shared_ptr<arrow::DataType> state_type() const override {
    std::shared_ptr<arrow::DataType> sum = arrow::int64();
    if constexpr (std::is_floating_point_v<Sum>) sum = arrow::float64();
    if constexpr (std::is_same_v<Sum, __int128>) sum = arrow::decimal128(38, input_.scale());
    return arrow::struct_({arrow::field("sum", sum), arrow::field("count", arrow::int64())});
  }
  int64_t memory_bytes() const override {
    return static_cast<int64_t>(groups_.capacity() * sizeof(Group));
  }

 private:
  static constexpr bool kDecimal = std::is_same_v<Sum, __int128>;

  struct Group {
    Sum sum{};
    int64_t count = 0;  // Values that went in: a sum of none is NULL.
  };

  Status AddRows(const arrow::Array& values, std::span<const int32_t> group_of_row,
                 const arrow::BooleanArray* selected, int step) {
    const KernelArgument argument{arrow::MakeArray(values.data()), false, nullptr};
    const OperandOf<Input> operand(argument);
    const bool all = !operand.may_be_null() && selected == nullptr;
    if (all) {
      if (const auto group = OneGroup(group_of_row)) {
        AddToOne(operand, static_cast<int64_t>(group_of_row.size()), step,
                 &groups_[static_cast<size_t>(*group)]);
        return {};
      }
    }
    for (size_t i = 0; i < group_of_row.size(); ++i) {
      const auto row = static_cast<int64_t>(i);
      if (!all && (operand.IsNull(row) || !IsSelected(selected, row))) continue;
      Group& group = groups_[static_cast<size_t>(group_of_row[i])];
      group.count += step;
      const auto value = static_cast<Sum>(operand[row]);
      AddTo(group.sum, step > 0 ? value : Negated(value));
    }
    return {};
  }

  /// Four sums side by side: an addition need not wait for the one before it.
  static void AddToOne(const OperandOf<Input>& operand, int64_t row_count, int step, Group* group) {
    constexpr int64_t kLanes = 4;
    Sum lanes[kLanes] = {};
    int64_t row = 0;
    for (; row + kLanes <= row_count; row += kLanes) {
      for (int64_t lane = 0; lane < kLanes; ++lane)
        AddTo(lanes[lane], static_cast<Sum>(operand[row + lane]));
    }
    for (; row < row_count; ++row) AddTo(lanes[0], static_cast<Sum>(operand[row]));
    for (int64_t lane = 1; lane < kLanes; ++lane) AddTo(lanes[0], lanes[lane]);
    AddTo(group->sum, step > 0 ? lanes[0] : Negated(lanes[0]));
    group->count += step * row_count;
  }

  static Sum Negated(Sum value) {
    if constexpr (std::is_integral_v<Sum> && !kDecimal)
      return static_cast<Sum>(0 - static_cast<uint64_t>(value));
    return -value;
  }

  /// Sums of integers and decimals wrap; a decimal sum outside of 38 digits shows as NULL, and
  /// comes back into range by retraction.
  static void AddTo(Sum& sum, Sum value) {
    if constexpr (kDecimal) {
      sum = static_cast<__int128>(static_cast<unsigned __int128>(sum) +
                                  static_cast<unsigned __int128>(value));
    } else if constexpr (std::is_integral_v<Sum>) {
      sum = static_cast<Sum>(static_cast<uint64_t>(sum) + static_cast<uint64_t>(value));
    } else {
      sum += value;
    }
  }

  std::optional<Input> ResultOf(Sum sum, int64_t count) const {
    if (count == 0) return std::nullopt;
    if constexpr (kDecimal) {
      constexpr int kDigits = 38;
      const int scale = input_.scale();
      const std::optional<__int128> fitting = DecimalAdd(sum, scale, 0, scale, {kDigits, scale});
      if (!fitting || !average_) return fitting;
      return DecimalDivide(*fitting, scale, count, 0, {kDigits, result_.scale()});
    } else {
      if (!average_) return static_cast<Input>(sum);
      return static_cast<Input>(sum / static_cast<Sum>(count));
    }
  }

  SqlType input_;
  SqlType result_;
  bool average_;
  arrow::MemoryPool* pool_;
  std::vector<Group> groups_;
};

}  // namespace

std::unique_ptr<Accumulator> MakeCount(arrow::MemoryPool* pool) {
  return std::make_unique<CountAccumulator>(pool);
}

Result<std::unique_ptr<Accumulator>> MakeSum(const SqlType& input, const SqlType& result,
                                             bool average, arrow::MemoryPool* pool) {
  switch (input.kind()) {
    case TypeKind::kTinyint:
      return std::make_unique<SumAccumulator<int8_t, int64_t>>(input, result, average, pool);
    case TypeKind::kSmallint:
      return std::make_unique<SumAccumulator<int16_t, int64_t>>(input, result, average, pool);
    case TypeKind::kInt:
      return std::make_unique<SumAccumulator<int32_t, int64_t>>(input, result, average, pool);
    case TypeKind::kBigint:
      return std::make_unique<SumAccumulator<int64_t, int64_t>>(input, result, average, pool);
    case TypeKind::kFloat:
      return std::make_unique<SumAccumulator<float, double>>(input, result, average, pool);
    case TypeKind::kDouble:
      return std::make_unique<SumAccumulator<double, double>>(input, result, average, pool);
    case TypeKind::kDecimal:
      return std::make_unique<SumAccumulator<__int128, __int128>>(input, result, average, pool);
    default:
      return Status::Internal("a sum of " + input.ToString());
  }
}

}  // namespace sluice::expr::internal
