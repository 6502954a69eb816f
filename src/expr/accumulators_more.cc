// Variances, LISTAGG and ARRAY_AGG.
#include <cmath>

#include <arrow/api.h>
#include <arrow/compute/api_vector.h>
#include <arrow/compute/exec.h>

#include "expr/accumulators.h"
#include "expr/cast.h"
#include "expr/list_support.h"
#include "types/arrow_status.h"

namespace sluice::expr::internal {

namespace {

/// Count, mean and sum of squared distances from it, merged by Chan's formula: no cancellation of
/// large sums of squares.
struct Moments {
  double count = 0;
  double mean = 0;
  double squares = 0;

  void Merge(const Moments& other) {
    if (other.count == 0) return;
    const double total = count + other.count;
    const double distance = other.mean - mean;
    squares += other.squares + distance * distance * count * other.count / total;
    mean += distance * other.count / total;
    count = total;
  }
};

class VarianceAccumulator final : public Accumulator {
 public:
  VarianceAccumulator(SqlType input, SqlType result, bool sample, bool root,
                      arrow::MemoryPool* pool)
      : input_(std::move(input)),
        result_(std::move(result)),
        sample_(sample),
        root_(root),
        pool_(pool) {}

  Status Resize(int64_t group_count) override {
    moments_.resize(static_cast<size_t>(group_count));
    return {};
  }
  Status Add(const arrow::Array* values, std::span<const int32_t> group_of_row,
             const arrow::BooleanArray* selected) override {
    EvalContext context;
    context.pool = pool_;
    SLUICE_ASSIGN_OR_RETURN(const ArrayPtr real, CastArray(arrow::MakeArray(values->data()), input_,
                                                           SqlType::Double(), {}, context));
    const auto& numbers = static_cast<const arrow::DoubleArray&>(*real);
    for (size_t i = 0; i < group_of_row.size(); ++i) {
      const auto row = static_cast<int64_t>(i);
      if (numbers.IsNull(row) || !IsSelected(selected, row)) continue;
      moments_[static_cast<size_t>(group_of_row[i])].Merge({1, numbers.Value(row), 0});
    }
    return {};
  }
  bool retractable() const override { return false; }
  Status Retract(const arrow::Array*, std::span<const int32_t>,
                 const arrow::BooleanArray*) override {
    return Status::Internal("a variance cannot take rows away");
  }
  Result<ArrayPtr> Finish(int64_t begin, int64_t end) const override {
    arrow::DoubleBuilder builder(pool_);
    for (int64_t group = begin; group < end; ++group) {
      const Moments& m = moments_[static_cast<size_t>(group)];
      const double divisor = sample_ ? m.count - 1 : m.count;
      if (divisor <= 0) {
        SLUICE_RETURN_ARROW(builder.AppendNull());
        continue;
      }
      const double variance = m.squares / divisor;
      SLUICE_RETURN_ARROW(builder.Append(root_ ? std::sqrt(variance) : variance));
    }
    ArrayPtr real;
    SLUICE_RETURN_ARROW(builder.Finish(&real));
    EvalContext context;
    context.pool = pool_;
    // Of integers the result is an integer, cut (sql.md §5.2).
    return CastArray(real, SqlType::Double(), result_, {}, context);
  }
  Result<ArrayPtr> SaveState(int64_t begin, int64_t end) const override {
    arrow::DoubleBuilder fields[3] = {arrow::DoubleBuilder(pool_), arrow::DoubleBuilder(pool_),
                                      arrow::DoubleBuilder(pool_)};
    for (int64_t group = begin; group < end; ++group) {
      const Moments& m = moments_[static_cast<size_t>(group)];
      SLUICE_RETURN_ARROW(fields[0].Append(m.count));
      SLUICE_RETURN_ARROW(fields[1].Append(m.mean));
      SLUICE_RETURN_ARROW(fields[2].Append(m.squares));
    }
    arrow::ArrayVector arrays(3);
    for (size_t i = 0; i < 3; ++i) SLUICE_RETURN_ARROW(fields[i].Finish(&arrays[i]));
    return std::make_shared<arrow::StructArray>(state_type(), end - begin, std::move(arrays));
  }
  Status MergeState(const arrow::Array& state, std::span<const int32_t> group_of_row) override {
    const auto& fields = static_cast<const arrow::StructArray&>(state);
    const auto value = [&fields](int field, int64_t row) {
      return static_cast<const arrow::DoubleArray&>(*fields.field(field)).Value(row);
    };
    for (size_t i = 0; i < group_of_row.size(); ++i) {
      const auto row = static_cast<int64_t>(i);
      moments_[static_cast<size_t>(group_of_row[i])].Merge(
          {value(0, row), value(1, row), value(2, row)});
    }
    return {};
  }
  std::shared_ptr<arrow::DataType> state_type() const override {
    return arrow::struct_({arrow::field("count", arrow::float64()),
                           arrow::field("mean", arrow::float64()),
                           arrow::field("squares", arrow::float64())});
  }
  int64_t memory_bytes() const override {
    return static_cast<int64_t>(moments_.capacity() * sizeof(Moments));
  }

 private:
  SqlType input_;
  SqlType result_;
  bool sample_;
  bool root_;
  arrow::MemoryPool* pool_;
  std::vector<Moments> moments_;
};

class ListAggAccumulator final : public Accumulator {
 public:
  ListAggAccumulator(std::string separator, arrow::MemoryPool* pool)
      : separator_(std::move(separator)), pool_(pool) {}

  Status Resize(int64_t group_count) override {
    texts_.resize(static_cast<size_t>(group_count));
    present_.resize(static_cast<size_t>(group_count), 0);
    return {};
  }
  Status Add(const arrow::Array* values, std::span<const int32_t> group_of_row,
             const arrow::BooleanArray* selected) override {
    const auto& input = static_cast<const arrow::BinaryArray&>(*values);
    for (size_t i = 0; i < group_of_row.size(); ++i) {
      const auto row = static_cast<int64_t>(i);
      if (input.IsNull(row) || !IsSelected(selected, row)) continue;
      const auto group = static_cast<size_t>(group_of_row[i]);
      const size_t before = texts_[group].size();
      if (present_[group] != 0) texts_[group] += separator_;
      present_[group] = 1;
      texts_[group] += input.GetView(row);
      bytes_ += static_cast<int64_t>(texts_[group].size() - before);
    }
    return {};
  }
  bool retractable() const override { return false; }
  Status Retract(const arrow::Array*, std::span<const int32_t>,
                 const arrow::BooleanArray*) override {
    return Status::Internal("LISTAGG cannot take rows away");
  }
  Result<ArrayPtr> Finish(int64_t begin, int64_t end) const override {
    NullMask nulls(end - begin, pool_);
    TextBuilder out(end - begin, bytes_, pool_);
    for (int64_t group = begin; group < end; ++group) {
      if (present_[static_cast<size_t>(group)] == 0) nulls.SetNull(group - begin);
      out.Append(texts_[static_cast<size_t>(group)]);
      out.EndRow();
    }
    return out.Finish(arrow::utf8(), nulls);
  }
  Result<ArrayPtr> SaveState(int64_t begin, int64_t end) const override {
    return Finish(begin, end);
  }
  Status MergeState(const arrow::Array& state, std::span<const int32_t> group_of_row) override {
    return Add(&state, group_of_row, nullptr);
  }
  std::shared_ptr<arrow::DataType> state_type() const override { return arrow::utf8(); }
  int64_t memory_bytes() const override {
    return bytes_ +
           static_cast<int64_t>(texts_.capacity() * sizeof(std::string) + present_.capacity());
  }

 private:
  std::string separator_;
  arrow::MemoryPool* pool_;
  std::vector<std::string> texts_;
  std::vector<uint8_t> present_;
  int64_t bytes_ = 0;
};

/// Keeps the rows that came as they are, and for each group where its values lie in them.
class ArrayAggAccumulator final : public Accumulator {
 public:
  ArrayAggAccumulator(SqlType result, arrow::MemoryPool* pool)
      : result_(std::move(result)), pool_(pool) {}

  Status Resize(int64_t group_count) override {
    positions_.resize(static_cast<size_t>(group_count));
    return {};
  }
  Status Add(const arrow::Array* values, std::span<const int32_t> group_of_row,
             const arrow::BooleanArray* selected) override {
    const ArrayPtr chunk = Relabel(arrow::MakeArray(values->data()), result_.element());
    for (size_t i = 0; i < group_of_row.size(); ++i) {
      const auto row = static_cast<int64_t>(i);
      if (!IsSelected(selected, row)) continue;
      positions_[static_cast<size_t>(group_of_row[i])].push_back(
          static_cast<int32_t>(count_ + row));
      ++kept_;
    }
    chunks_.push_back(chunk);
    count_ += chunk->length();
    if (count_ > INT32_MAX)
      return Status::DataError("ARRAY_AGG has more than 2^31 values to keep.");
    return {};
  }
  bool retractable() const override { return false; }
  Status Retract(const arrow::Array*, std::span<const int32_t>,
                 const arrow::BooleanArray*) override {
    return Status::Internal("ARRAY_AGG cannot take rows away");
  }
  Result<ArrayPtr> Finish(int64_t begin, int64_t end) const override {
    ListResult lists(end - begin, pool_);
    for (int64_t group = begin; group < end; ++group) {
      const std::vector<int32_t>& rows = positions_[static_cast<size_t>(group)];
      if (rows.empty()) {
        lists.EndNullRow();
        continue;
      }
      for (const int32_t row : rows) lists.Add(row);
      lists.EndRow();
    }
    ArrayPtr values;
    if (chunks_.empty()) {
      SLUICE_ASSIGN_ARROW(values, arrow::MakeEmptyArray(result_.element().ToArrow(), pool_));
    } else {
      SLUICE_ASSIGN_ARROW(values, arrow::Concatenate(chunks_, pool_));
    }
    return lists.Finish(values, result_);
  }
  Result<ArrayPtr> SaveState(int64_t begin, int64_t end) const override {
    return Finish(begin, end);
  }
  Status MergeState(const arrow::Array& state, std::span<const int32_t> group_of_row) override {
    const auto& lists = static_cast<const arrow::ListArray&>(state);
    std::vector<int32_t> rows;
    std::vector<int32_t> groups;
    for (size_t i = 0; i < group_of_row.size(); ++i) {
      const auto row = static_cast<int64_t>(i);
      if (lists.IsNull(row)) continue;
      for (int32_t at = lists.value_offset(row); at < lists.value_offset(row + 1); ++at) {
        rows.push_back(at);
        groups.push_back(group_of_row[i]);
      }
    }
    SLUICE_ASSIGN_OR_RETURN(const ArrayPtr values, Gather(lists.values(), rows, pool_));
    return Add(values.get(), groups, nullptr);
  }
  std::shared_ptr<arrow::DataType> state_type() const override { return result_.ToArrow(); }
  int64_t memory_bytes() const override {
    int64_t bytes = kept_ * 4 + static_cast<int64_t>(positions_.capacity() * sizeof(positions_[0]));
    for (const ArrayPtr& chunk : chunks_) {
      for (const auto& buffer : chunk->data()->buffers) bytes += buffer ? buffer->size() : 0;
    }
    return bytes;
  }

 private:
  SqlType result_;
  arrow::MemoryPool* pool_;
  arrow::ArrayVector chunks_;
  int64_t count_ = 0;  // Values in the chunks.
  int64_t kept_ = 0;
  std::vector<std::vector<int32_t>> positions_;
};

}  // namespace

Result<std::unique_ptr<Accumulator>> MakeVariance(const SqlType& input, const SqlType& result,
                                                  bool sample, bool root, arrow::MemoryPool* pool) {
  return std::make_unique<VarianceAccumulator>(input, result, sample, root, pool);
}

std::unique_ptr<Accumulator> MakeListAgg(std::string separator, arrow::MemoryPool* pool) {
  return std::make_unique<ListAggAccumulator>(std::move(separator), pool);
}

std::unique_ptr<Accumulator> MakeArrayAgg(const SqlType& result, arrow::MemoryPool* pool) {
  return std::make_unique<ArrayAggAccumulator>(result, pool);
}

}  // namespace sluice::expr::internal
