// MIN, MAX and DISTINCT over rows that may be taken back: they keep each value of a group and how
// often it is there. A value taken back before it came counts below zero until it has come.
#include <map>

#include <arrow/api.h>

#include "expr/accumulators.h"
#include "expr/compare.h"
#include "expr/group_table.h"
#include "expr/kernel_support.h"
#include "expr/list_support.h"
#include "types/arrow_status.h"

namespace sluice::expr::internal {

namespace {

/// list<struct<value, count>>: the state of both.
std::shared_ptr<arrow::DataType> CountedListType(const SqlType& value) {
  return arrow::list(arrow::field("item", arrow::struct_({arrow::field("value", value.ToArrow()),
                                                          arrow::field("count", arrow::int64())})));
}

ArrayPtr Int64Array(const std::vector<int64_t>& values, arrow::MemoryPool* pool) {
  auto buffer = AllocateBytes(static_cast<int64_t>(values.size()) * 8, pool);
  std::copy(values.begin(), values.end(), reinterpret_cast<int64_t*>(buffer->mutable_data()));
  return std::make_shared<arrow::Int64Array>(static_cast<int64_t>(values.size()),
                                             std::shared_ptr<arrow::Buffer>(std::move(buffer)));
}

Result<ArrayPtr> CountedLists(const SqlType& type, const std::vector<int32_t>& offsets,
                              const ArrayPtr& values, const std::vector<int64_t>& counts,
                              arrow::MemoryPool* pool) {
  const std::shared_ptr<arrow::DataType> list_type = CountedListType(type);
  const auto entries =
      std::make_shared<arrow::StructArray>(list_type->field(0)->type(), values->length(),
                                           arrow::ArrayVector{values, Int64Array(counts, pool)});
  auto buffer = AllocateBytes(static_cast<int64_t>(offsets.size()) * 4, pool);
  std::copy(offsets.begin(), offsets.end(), reinterpret_cast<int32_t*>(buffer->mutable_data()));
  return std::make_shared<arrow::ListArray>(list_type, static_cast<int64_t>(offsets.size()) - 1,
                                            std::shared_ptr<arrow::Buffer>(std::move(buffer)),
                                            entries);
}

/// Entries of a saved state, each with its group.
struct SavedEntries {
  ArrayPtr values;
  std::vector<int64_t> counts;
  std::vector<int32_t> groups;
};

Result<SavedEntries> ReadCountedLists(const arrow::Array& state,
                                      std::span<const int32_t> group_of_row,
                                      arrow::MemoryPool* pool) {
  const auto& lists = static_cast<const arrow::ListArray&>(state);
  const auto& entries = static_cast<const arrow::StructArray&>(*lists.values());
  const ArrayPtr values = entries.field(0);
  const ArrayPtr counts = entries.field(1);
  SavedEntries saved;
  std::vector<int32_t> rows;
  for (size_t i = 0; i < group_of_row.size(); ++i) {
    const auto row = static_cast<int64_t>(i);
    for (int32_t at = lists.value_offset(row); at < lists.value_offset(row + 1); ++at) {
      rows.push_back(at);
      saved.counts.push_back(static_cast<const arrow::Int64Array&>(*counts).Value(at));
      saved.groups.push_back(group_of_row[i]);
    }
  }
  SLUICE_ASSIGN_OR_RETURN(saved.values, Gather(values, rows, pool));
  return saved;
}

/// An array of `rows` values; `value_of(row)` is null for NULL.
template <typename T, typename ValueOf>
Result<ArrayPtr> ArrayOfValues(const SqlType& type, int64_t rows, arrow::MemoryPool* pool,
                               ValueOf value_of) {
  NullMask nulls(rows, pool);
  if constexpr (std::is_same_v<T, std::string_view>) {
    TextBuilder out(rows, rows * 16, pool);
    for (int64_t row = 0; row < rows; ++row) {
      const auto* value = value_of(row);
      if (value == nullptr) {
        nulls.SetNull(row);
      } else {
        out.Append(*value);
      }
      out.EndRow();
    }
    return out.Finish(type.ToArrow(), nulls);
  } else {
    constexpr bool kBits = std::is_same_v<T, bool>;
    const int64_t bytes =
        kBits ? arrow::bit_util::BytesForBits(rows) : rows * static_cast<int64_t>(sizeof(T));
    auto buffer = AllocateBytes(bytes, pool);
    std::fill_n(buffer->mutable_data(), bytes, uint8_t{0});
    for (int64_t row = 0; row < rows; ++row) {
      const auto* value = value_of(row);
      if (value == nullptr) {
        nulls.SetNull(row);
      } else if constexpr (kBits) {
        arrow::bit_util::SetBitTo(buffer->mutable_data(), row, *value);
      } else {
        std::memcpy(buffer->mutable_data() + row * static_cast<int64_t>(sizeof(T)), value,
                    sizeof(T));
      }
    }
    return MakeFixedArray(type.ToArrow(), rows, nulls, std::move(buffer));
  }
}

template <typename T>
class ExtremeOfChanges final : public Accumulator {
 public:
  using Stored = std::conditional_t<std::is_same_v<T, std::string_view>, std::string, T>;

  ExtremeOfChanges(SqlType type, bool least, arrow::MemoryPool* pool)
      : type_(std::move(type)), least_(least), pool_(pool) {}

  Status Resize(int64_t group_count) override {
    groups_.resize(static_cast<size_t>(group_count));
    return {};
  }
  Status Add(const arrow::Array* values, std::span<const int32_t> group_of_row,
             const arrow::BooleanArray* selected) override {
    return Count(*values, group_of_row, selected, [](int64_t) { return int64_t{1}; });
  }
  bool retractable() const override { return true; }
  Status Retract(const arrow::Array* values, std::span<const int32_t> group_of_row,
                 const arrow::BooleanArray* selected) override {
    return Count(*values, group_of_row, selected, [](int64_t) { return int64_t{-1}; });
  }
  Result<ArrayPtr> Finish(int64_t begin, int64_t end) const override {
    return ArrayOfValues<T>(type_, end - begin, pool_, [&](int64_t row) {
      return Extreme(groups_[static_cast<size_t>(begin + row)]);
    });
  }
  Result<ArrayPtr> SaveState(int64_t begin, int64_t end) const override {
    std::vector<int32_t> offsets = {0};
    std::vector<const Stored*> values;
    std::vector<int64_t> counts;
    for (int64_t group = begin; group < end; ++group) {
      for (const auto& [value, count] : groups_[static_cast<size_t>(group)]) {
        values.push_back(&value);
        counts.push_back(count);
      }
      offsets.push_back(static_cast<int32_t>(values.size()));
    }
    SLUICE_ASSIGN_OR_RETURN(
        const ArrayPtr array,
        ArrayOfValues<T>(type_, static_cast<int64_t>(values.size()), pool_,
                         [&](int64_t row) { return values[static_cast<size_t>(row)]; }));
    return CountedLists(type_, offsets, array, counts, pool_);
  }
  Status MergeState(const arrow::Array& state, std::span<const int32_t> group_of_row) override {
    SLUICE_ASSIGN_OR_RETURN(const SavedEntries saved, ReadCountedLists(state, group_of_row, pool_));
    return Count(*saved.values, saved.groups, nullptr,
                 [&](int64_t row) { return saved.counts[static_cast<size_t>(row)]; });
  }
  std::shared_ptr<arrow::DataType> state_type() const override { return CountedListType(type_); }
  int64_t memory_bytes() const override {
    // A node of the tree has three pointers and its colour beside the entry.
    constexpr int64_t kNodeBytes = 32 + static_cast<int64_t>(sizeof(Stored)) + 8;
    return static_cast<int64_t>(groups_.capacity() * sizeof(Values)) + entries_ * kNodeBytes +
           text_bytes_;
  }

 private:
  struct Less {
    using is_transparent = void;
    bool operator()(T a, T b) const { return ValueLess<T>(a, b); }
  };
  using Values = std::map<Stored, int64_t, Less>;

  template <typename StepOf>
  Status Count(const arrow::Array& values, std::span<const int32_t> group_of_row,
               const arrow::BooleanArray* selected, StepOf step_of) {
    const KernelArgument argument{arrow::MakeArray(values.data()), false, nullptr};
    const OperandOf<T> operand(argument);
    for (size_t i = 0; i < group_of_row.size(); ++i) {
      const auto row = static_cast<int64_t>(i);
      if (operand.IsNull(row) || !IsSelected(selected, row)) continue;
      Step(&groups_[static_cast<size_t>(group_of_row[i])], operand[row], step_of(row));
    }
    return {};
  }

  void Step(Values* group, T value, int64_t step) {
    auto at = group->find(value);
    if (at == group->end()) {
      at = group->emplace(Stored(value), 0).first;
      ++entries_;
      text_bytes_ += TextBytes(value);
    }
    at->second += step;
    if (at->second != 0) return;
    group->erase(at);
    --entries_;
    text_bytes_ -= TextBytes(value);
  }

  static int64_t TextBytes(T value) {
    if constexpr (std::is_same_v<T, std::string_view>) {
      return static_cast<int64_t>(value.size());
    } else {
      (void)value;
      return 0;
    }
  }

  const Stored* Extreme(const Values& group) const {
    const auto first_there = [](auto at, auto end) -> const Stored* {
      for (; at != end; ++at) {
        if (at->second > 0) return &at->first;
      }
      return nullptr;
    };
    return least_ ? first_there(group.begin(), group.end())
                  : first_there(group.rbegin(), group.rend());
  }

  SqlType type_;
  bool least_;
  arrow::MemoryPool* pool_;
  std::vector<Values> groups_;
  int64_t entries_ = 0;
  int64_t text_bytes_ = 0;
};

/// Counts the pairs (group, value); the inner accumulator sees a value when its count rises above
/// zero and loses it when the count falls back.
class DistinctOfChanges final : public Accumulator {
 public:
  DistinctOfChanges(const SqlType& input, std::unique_ptr<Accumulator> inner,
                    arrow::MemoryPool* pool)
      : input_(input),
        inner_(std::move(inner)),
        pool_(pool),
        seen_(Schema({{"group", SqlType::Int()}, {"value", input}}), pool) {}

  Status Resize(int64_t group_count) override { return inner_->Resize(group_count); }

  Status Add(const arrow::Array* values, std::span<const int32_t> group_of_row,
             const arrow::BooleanArray* selected) override {
    return Count(*values, group_of_row, selected, 1);
  }
  bool retractable() const override { return true; }
  Status Retract(const arrow::Array* values, std::span<const int32_t> group_of_row,
                 const arrow::BooleanArray* selected) override {
    return Count(*values, group_of_row, selected, -1);
  }
  Result<ArrayPtr> Finish(int64_t begin, int64_t end) const override {
    return inner_->Finish(begin, end);
  }

  Result<ArrayPtr> SaveState(int64_t begin, int64_t end) const override {
    SLUICE_ASSIGN_OR_RETURN(const auto keys, seen_.Keys(0, seen_.group_count()));
    const auto& groups = static_cast<const arrow::Int32Array&>(*keys->column(0));
    std::vector<std::vector<int32_t>> rows_of_group(static_cast<size_t>(end - begin));
    for (int64_t id = 0; id < groups.length(); ++id) {
      const int64_t group = groups.Value(id);
      if (group < begin || group >= end || counts_[static_cast<size_t>(id)] == 0) continue;
      rows_of_group[static_cast<size_t>(group - begin)].push_back(static_cast<int32_t>(id));
    }
    std::vector<int32_t> offsets = {0};
    std::vector<int32_t> rows;
    std::vector<int64_t> counts;
    for (const std::vector<int32_t>& ids : rows_of_group) {
      for (const int32_t id : ids) {
        rows.push_back(id);
        counts.push_back(counts_[static_cast<size_t>(id)]);
      }
      offsets.push_back(static_cast<int32_t>(rows.size()));
    }
    SLUICE_ASSIGN_OR_RETURN(const ArrayPtr values, Gather(keys->column(1), rows, pool_));
    return CountedLists(input_, offsets, values, counts, pool_);
  }
  Status MergeState(const arrow::Array& state, std::span<const int32_t> group_of_row) override {
    SLUICE_ASSIGN_OR_RETURN(const SavedEntries saved, ReadCountedLists(state, group_of_row, pool_));
    return Step(saved.values, saved.groups, saved.counts);
  }
  std::shared_ptr<arrow::DataType> state_type() const override { return CountedListType(input_); }
  int64_t memory_bytes() const override {
    return inner_->memory_bytes() + seen_.memory_bytes() +
           static_cast<int64_t>(counts_.capacity()) * 8;
  }

 private:
  Status Count(const arrow::Array& values, std::span<const int32_t> group_of_row,
               const arrow::BooleanArray* selected, int64_t step) {
    std::vector<int32_t> rows;
    std::vector<int32_t> groups;
    for (size_t i = 0; i < group_of_row.size(); ++i) {
      const auto row = static_cast<int64_t>(i);
      if (values.IsNull(row) || !IsSelected(selected, row)) continue;
      rows.push_back(static_cast<int32_t>(row));
      groups.push_back(group_of_row[i]);
    }
    SLUICE_ASSIGN_OR_RETURN(const ArrayPtr taken,
                            Gather(arrow::MakeArray(values.data()), rows, pool_));
    return Step(taken, groups, std::vector<int64_t>(groups.size(), step));
  }

  Status Step(const ArrayPtr& values, const std::vector<int32_t>& groups,
              const std::vector<int64_t>& steps) {
    const auto group_column = std::make_shared<arrow::Int32Array>(
        static_cast<int64_t>(groups.size()), arrow::Buffer::Wrap(groups));
    const auto pairs =
        arrow::RecordBatch::Make(arrow::schema({arrow::field("group", arrow::int32()),
                                                arrow::field("value", values->type())}),
                                 values->length(), arrow::ArrayVector{group_column, values});
    SLUICE_ASSIGN_OR_RETURN(const std::vector<int32_t> ids, seen_.GroupIds(*pairs));
    counts_.resize(static_cast<size_t>(seen_.group_count()), 0);
    std::vector<int32_t> come, gone, come_groups, gone_groups;
    for (size_t row = 0; row < ids.size(); ++row) {
      int64_t& count = counts_[static_cast<size_t>(ids[row])];
      const bool was_there = count > 0;
      count += steps[row];
      if ((count > 0) == was_there) continue;
      (was_there ? gone : come).push_back(static_cast<int32_t>(row));
      (was_there ? gone_groups : come_groups).push_back(groups[row]);
    }
    if (!come.empty()) {
      SLUICE_ASSIGN_OR_RETURN(const ArrayPtr fresh, Gather(values, come, pool_));
      SLUICE_RETURN_NOT_OK(inner_->Add(fresh.get(), come_groups, nullptr));
    }
    if (gone.empty()) return {};
    SLUICE_ASSIGN_OR_RETURN(const ArrayPtr lost, Gather(values, gone, pool_));
    return inner_->Retract(lost.get(), gone_groups, nullptr);
  }

  SqlType input_;
  std::unique_ptr<Accumulator> inner_;
  arrow::MemoryPool* pool_;
  GroupTable seen_;
  std::vector<int64_t> counts_;  // Of each id of seen_.
};

}  // namespace

Result<std::unique_ptr<Accumulator>> MakeExtremeOfChanges(const SqlType& type, bool least,
                                                          arrow::MemoryPool* pool) {
  std::unique_ptr<Accumulator> made;
  VisitPhysical(type.kind(), [&](auto zero) {
    made = std::make_unique<ExtremeOfChanges<decltype(zero)>>(type, least, pool);
  });
  if (made == nullptr)
    return Status::Unsupported("MIN and MAX of values of type " + type.ToString());
  return made;
}

std::unique_ptr<Accumulator> MakeDistinctOfChanges(const SqlType& input,
                                                   std::unique_ptr<Accumulator> inner,
                                                   arrow::MemoryPool* pool) {
  return std::make_unique<DistinctOfChanges>(input, std::move(inner), pool);
}

}  // namespace sluice::expr::internal
