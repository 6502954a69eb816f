// MIN, MAX, FIRST_VALUE and LAST_VALUE, and DISTINCT around any accumulator.
#include <arrow/api.h>
#include <arrow/compute/api_vector.h>
#include <arrow/compute/exec.h>

#include "expr/accumulators.h"
#include "expr/compare.h"
#include "expr/group_table.h"
#include "expr/kernel_support.h"
#include "expr/one_group.h"
#include "types/arrow_status.h"

namespace sluice::expr::internal {

namespace {

/// The value that stays so far. T is the C++ type of values; texts are kept in strings.
template <typename T>
class PickAccumulator final : public Accumulator {
 public:
  using Stored = std::conditional_t<std::is_same_v<T, std::string_view>, std::string, T>;

  PickAccumulator(SqlType type, Pick pick, arrow::MemoryPool* pool)
      : type_(std::move(type)), pick_(pick), pool_(pool) {}

  Status Resize(int64_t group_count) override {
    best_.resize(static_cast<size_t>(group_count));
    present_.resize(static_cast<size_t>(group_count), 0);
    return {};
  }
  Status Add(const arrow::Array* values, std::span<const int32_t> group_of_row,
             const arrow::BooleanArray* selected) override {
    const KernelArgument argument{arrow::MakeArray(values->data()), false, nullptr};
    const OperandOf<T> operand(argument);
    if (!operand.may_be_null() && selected == nullptr) {
      if (const auto group = OneGroup(group_of_row)) {
        AddTo(static_cast<size_t>(*group),
              BestOf(operand, static_cast<int64_t>(group_of_row.size())));
        return {};
      }
    }
    for (size_t i = 0; i < group_of_row.size(); ++i) {
      const auto row = static_cast<int64_t>(i);
      if (operand.IsNull(row) || !IsSelected(selected, row)) continue;
      AddTo(static_cast<size_t>(group_of_row[i]), operand[row]);
    }
    return {};
  }
  bool retractable() const override { return false; }
  Status Retract(const arrow::Array*, std::span<const int32_t>,
                 const arrow::BooleanArray*) override {
    return Status::Internal("this aggregate cannot take rows away");
  }
  Result<ArrayPtr> Finish(int64_t begin, int64_t end) const override {
    const int64_t rows = end - begin;
    NullMask nulls(rows, pool_);
    for (int64_t row = 0; row < rows; ++row) {
      if (present_[static_cast<size_t>(begin + row)] == 0) nulls.SetNull(row);
    }
    const std::shared_ptr<arrow::DataType> arrow_type = type_.ToArrow();
    if constexpr (std::is_same_v<T, std::string_view>) {
      TextBuilder out(rows, rows * 16, pool_);
      for (int64_t row = 0; row < rows; ++row) {
        out.Append(best_[static_cast<size_t>(begin + row)]);
        out.EndRow();
      }
      return out.Finish(arrow_type, nulls);
    } else if constexpr (std::is_same_v<T, bool>) {
      auto bits = AllocateBytes(arrow::bit_util::BytesForBits(rows), pool_);
      for (int64_t row = 0; row < rows; ++row) {
        arrow::bit_util::SetBitTo(bits->mutable_data(), row,
                                  best_[static_cast<size_t>(begin + row)]);
      }
      return MakeFixedArray(arrow_type, rows, nulls, std::move(bits));
    } else {
      auto buffer = AllocateBytes(rows * static_cast<int64_t>(sizeof(T)), pool_);
      std::copy_n(best_.begin() + begin, rows, reinterpret_cast<T*>(buffer->mutable_data()));
      return MakeFixedArray(arrow_type, rows, nulls, std::move(buffer));
    }
  }
  Result<ArrayPtr> SaveState(int64_t begin, int64_t end) const override {
    return Finish(begin, end);
  }
  Status MergeState(const arrow::Array& state, std::span<const int32_t> group_of_row) override {
    return Add(&state, group_of_row, nullptr);
  }
  std::shared_ptr<arrow::DataType> state_type() const override { return type_.ToArrow(); }
  int64_t memory_bytes() const override {
    return static_cast<int64_t>(best_.capacity() * sizeof(Stored) + present_.capacity()) +
           text_bytes_;
  }

 private:
  bool Replaces(T value, T kept) const {
    switch (pick_) {
      case Pick::kLeast:
        return ValueLess<T>(value, kept);
      case Pick::kGreatest:
        return ValueLess<T>(kept, value);
      case Pick::kFirst:
        return false;
      case Pick::kLast:
        return true;
    }
    return false;
  }

  void AddTo(size_t group, T value) {
    if (present_[group] == 0) {
      present_[group] = 1;
      Store(group, value);
    } else if (Replaces(value, best_[group])) {
      Store(group, value);
    }
  }

  /// The value that stays of `row_count` rows.
  T BestOf(const OperandOf<T>& operand, int64_t row_count) const {
    if (pick_ == Pick::kLast) return operand[row_count - 1];
    T best = operand[0];
    if (pick_ == Pick::kLeast) {
      for (int64_t row = 1; row < row_count; ++row) {
        if (const T value = operand[row]; ValueLess<T>(value, best)) best = value;
      }
    } else if (pick_ == Pick::kGreatest) {
      for (int64_t row = 1; row < row_count; ++row) {
        if (const T value = operand[row]; ValueLess<T>(best, value)) best = value;
      }
    }
    return best;
  }

  void Store(size_t group, T value) {
    if constexpr (std::is_same_v<T, std::string_view>) {
      text_bytes_ += static_cast<int64_t>(value.size()) - static_cast<int64_t>(best_[group].size());
    }
    best_[group] = Stored(value);
  }

  SqlType type_;
  Pick pick_;
  arrow::MemoryPool* pool_;
  std::vector<Stored> best_;
  std::vector<uint8_t> present_;
  int64_t text_bytes_ = 0;
};

/// Remembers the pairs (group, value) that have been, and hands each to the inner accumulator once.
class DistinctAccumulator final : public Accumulator {
 public:
  DistinctAccumulator(const SqlType& input, std::unique_ptr<Accumulator> inner,
                      arrow::MemoryPool* pool)
      : input_(input),
        inner_(std::move(inner)),
        pool_(pool),
        seen_(Schema({{"group", SqlType::Int()}, {"value", input}}), pool) {}

  Status Resize(int64_t group_count) override {
    groups_ = group_count;
    return inner_->Resize(group_count);
  }

  Status Add(const arrow::Array* values, std::span<const int32_t> group_of_row,
             const arrow::BooleanArray* selected) override {
    std::vector<int32_t> rows;
    std::vector<int32_t> groups;
    for (size_t i = 0; i < group_of_row.size(); ++i) {
      const auto row = static_cast<int64_t>(i);
      if (values->IsNull(row) || !IsSelected(selected, row)) continue;
      rows.push_back(static_cast<int32_t>(row));
      groups.push_back(group_of_row[i]);
    }
    SLUICE_ASSIGN_OR_RETURN(const ArrayPtr taken, Take(*values, rows));
    return AddNew(taken, groups);
  }
  bool retractable() const override { return false; }
  Status Retract(const arrow::Array*, std::span<const int32_t>,
                 const arrow::BooleanArray*) override {
    return Status::Internal("DISTINCT cannot take rows away");
  }
  Result<ArrayPtr> Finish(int64_t begin, int64_t end) const override {
    return inner_->Finish(begin, end);
  }

  /// The distinct values of each group as a list.
  Result<ArrayPtr> SaveState(int64_t begin, int64_t end) const override {
    SLUICE_ASSIGN_OR_RETURN(const auto keys, seen_.Keys(0, seen_.group_count()));
    const auto groups = std::static_pointer_cast<arrow::Int32Array>(keys->column(0));
    std::vector<int32_t> offsets(static_cast<size_t>(end - begin) + 1, 0);
    for (int64_t i = 0; i < groups->length(); ++i) {
      const int64_t group = groups->Value(i);
      if (group >= begin && group < end) ++offsets[static_cast<size_t>(group - begin) + 1];
    }
    for (size_t i = 1; i < offsets.size(); ++i) offsets[i] += offsets[i - 1];
    std::vector<int32_t> order(static_cast<size_t>(offsets.back()));
    std::vector<int32_t> next = offsets;
    for (int64_t i = 0; i < groups->length(); ++i) {
      const int64_t group = groups->Value(i);
      if (group < begin || group >= end) continue;
      order[static_cast<size_t>(next[static_cast<size_t>(group - begin)]++)] =
          static_cast<int32_t>(i);
    }
    SLUICE_ASSIGN_OR_RETURN(const ArrayPtr values, Take(*keys->column(1), order));
    auto buffer = AllocateBytes(static_cast<int64_t>(offsets.size()) * 4, pool_);
    std::memcpy(buffer->mutable_data(), offsets.data(), offsets.size() * 4);
    return std::make_shared<arrow::ListArray>(state_type(), end - begin, std::move(buffer), values);
  }
  Status MergeState(const arrow::Array& state, std::span<const int32_t> group_of_row) override {
    const auto& lists = static_cast<const arrow::ListArray&>(state);
    std::vector<int32_t> groups;
    std::vector<int32_t> rows;
    for (size_t row = 0; row < group_of_row.size(); ++row) {
      const auto at = static_cast<int64_t>(row);
      for (int32_t i = lists.value_offset(at); i < lists.value_offset(at + 1); ++i) {
        rows.push_back(i);
        groups.push_back(group_of_row[row]);
      }
    }
    SLUICE_ASSIGN_OR_RETURN(const ArrayPtr values, Take(*lists.values(), rows));
    return AddNew(values, groups);
  }
  std::shared_ptr<arrow::DataType> state_type() const override {
    return arrow::list(arrow::field("item", input_.ToArrow()));
  }
  int64_t memory_bytes() const override { return inner_->memory_bytes() + seen_.memory_bytes(); }

 private:
  Result<ArrayPtr> Take(const arrow::Array& values, const std::vector<int32_t>& rows) const {
    const auto indices = std::make_shared<arrow::Int32Array>(static_cast<int64_t>(rows.size()),
                                                             arrow::Buffer::Wrap(rows));
    arrow::compute::ExecContext execution(pool_);
    SLUICE_ASSIGN_ARROW(
        arrow::Datum taken,
        arrow::compute::Take(arrow::Datum(values.data()), arrow::Datum(indices),
                             arrow::compute::TakeOptions::NoBoundsCheck(), &execution));
    return taken.make_array();
  }

  Status AddNew(const ArrayPtr& values, const std::vector<int32_t>& groups) {
    const auto group_column = std::make_shared<arrow::Int32Array>(
        static_cast<int64_t>(groups.size()), arrow::Buffer::Wrap(groups));
    const auto pairs =
        arrow::RecordBatch::Make(arrow::schema({arrow::field("group", arrow::int32()),
                                                arrow::field("value", values->type())}),
                                 values->length(), arrow::ArrayVector{group_column, values});
    auto next = static_cast<int32_t>(seen_.group_count());
    SLUICE_ASSIGN_OR_RETURN(const std::vector<int32_t> ids, seen_.GroupIds(*pairs));
    // Ids are given in order of appearance: a row with the next unused one is the first of its
    // pair.
    std::vector<int32_t> first_rows;
    std::vector<int32_t> first_groups;
    for (size_t row = 0; row < ids.size(); ++row) {
      if (ids[row] != next) continue;
      ++next;
      first_rows.push_back(static_cast<int32_t>(row));
      first_groups.push_back(groups[row]);
    }
    if (first_rows.empty()) return {};
    SLUICE_ASSIGN_OR_RETURN(const ArrayPtr fresh, Take(*values, first_rows));
    return inner_->Add(fresh.get(), first_groups, nullptr);
  }

  SqlType input_;
  std::unique_ptr<Accumulator> inner_;
  arrow::MemoryPool* pool_;
  GroupTable seen_;
  int64_t groups_ = 0;
};

}  // namespace

Result<std::unique_ptr<Accumulator>> MakePick(const SqlType& type, Pick pick,
                                              arrow::MemoryPool* pool) {
  std::unique_ptr<Accumulator> made;
  VisitPhysical(type.kind(), [&](auto zero) {
    made = std::make_unique<PickAccumulator<decltype(zero)>>(type, pick, pool);
  });
  if (made == nullptr)
    return Status::Unsupported("An aggregate that picks a value of type " + type.ToString());
  return made;
}

std::unique_ptr<Accumulator> MakeDistinct(const SqlType& input, std::unique_ptr<Accumulator> inner,
                                          arrow::MemoryPool* pool) {
  return std::make_unique<DistinctAccumulator>(input, std::move(inner), pool);
}

}  // namespace sluice::expr::internal
