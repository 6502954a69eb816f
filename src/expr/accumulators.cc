// The accumulators of COUNT, SUM, AVG, MIN and MAX.
#include <cmath>
#include <concepts>
#include <type_traits>

#include <arrow/array/array_binary.h>
#include <arrow/array/array_decimal.h>
#include <arrow/array/array_nested.h>
#include <arrow/array/array_primitive.h>
#include <arrow/array/builder_binary.h>
#include <arrow/array/builder_decimal.h>
#include <arrow/array/builder_primitive.h>
#include <arrow/array/util.h>
#include <arrow/scalar.h>

#include "expr/aggregate.h"
#include "expr/decimal_math.h"
#include "expr/group_table.h"
#include "types/arrow_status.h"

namespace sluice::expr {
namespace {

using Groups = std::span<const int32_t>;

bool Selected(const arrow::BooleanArray* selected, int64_t row) {
  return selected == nullptr || (selected->IsValid(row) && selected->Value(row));
}

__int128 ToInt128(const arrow::Decimal128& value) {
  return (static_cast<__int128>(value.high_bits()) << 64) | static_cast<__int128>(value.low_bits());
}

arrow::Decimal128 FromInt128(__int128 value) {
  return arrow::Decimal128(static_cast<int64_t>(value >> 64), static_cast<uint64_t>(value));
}

bool FitsPrecision(__int128 value, int precision) {
  return FromInt128(value).FitsInPrecision(precision);
}

/// COUNT(*) and COUNT(x).
class CountAccumulator final : public Accumulator {
 public:
  Status Resize(int64_t group_count) override {
    counts_.resize(static_cast<size_t>(group_count), 0);
    return {};
  }
  Status Add(const arrow::Array* values, Groups groups,
             const arrow::BooleanArray* selected) override {
    return Change(values, groups, selected, 1);
  }
  bool retractable() const override { return true; }
  Status Retract(const arrow::Array* values, Groups groups,
                 const arrow::BooleanArray* selected) override {
    return Change(values, groups, selected, -1);
  }
  Result<std::shared_ptr<arrow::Array>> Finish(int64_t begin, int64_t end) const override {
    arrow::Int64Builder builder;
    SLUICE_RETURN_ARROW(builder.AppendValues(counts_.data() + begin, end - begin));
    SLUICE_ASSIGN_OR_RETURN(std::shared_ptr<arrow::Array> array, FromArrow(builder.Finish()));
    return array;
  }
  Result<std::shared_ptr<arrow::Array>> SaveState(int64_t begin, int64_t end) const override {
    return Finish(begin, end);
  }
  Status MergeState(const arrow::Array& state, Groups groups) override {
    const auto& counts = static_cast<const arrow::Int64Array&>(state);
    for (size_t i = 0; i < groups.size(); ++i)
      counts_[static_cast<size_t>(groups[i])] += counts.Value(static_cast<int64_t>(i));
    return {};
  }
  std::shared_ptr<arrow::DataType> state_type() const override { return arrow::int64(); }
  int64_t memory_bytes() const override {
    return static_cast<int64_t>(counts_.capacity() * sizeof(int64_t));
  }

 private:
  Status Change(const arrow::Array* values, Groups groups, const arrow::BooleanArray* selected,
                int64_t by) {
    const bool check_null = values != nullptr && values->null_count() > 0;
    for (size_t i = 0; i < groups.size(); ++i) {
      const int64_t row = static_cast<int64_t>(i);
      if (check_null && values->IsNull(row)) continue;
      if (Selected(selected, row)) counts_[static_cast<size_t>(groups[i])] += by;
    }
    return {};
  }

  std::vector<int64_t> counts_;
};

/// How values of one SQL kind are summed: Sum is what is added up.
template <typename ArrayT>
struct IntegerSum {
  using Sum = uint64_t;  // Wraps as Flink's arithmetic does.
  static Sum Value(const arrow::Array& values, int64_t row) {
    return static_cast<uint64_t>(
        static_cast<int64_t>(static_cast<const ArrayT&>(values).Value(row)));
  }
};
template <typename ArrayT>
struct FloatSum {
  using Sum = double;
  static Sum Value(const arrow::Array& values, int64_t row) {
    return static_cast<const ArrayT&>(values).Value(row);
  }
};
struct DecimalSum {
  using Sum = __int128;
  static Sum Value(const arrow::Array& values, int64_t row) {
    return ToInt128(
        arrow::Decimal128(static_cast<const arrow::Decimal128Array&>(values).GetValue(row)));
  }
};

/// SUM and AVG.
template <typename Policy>
class SumAccumulator final : public Accumulator {
 public:
  using Sum = typename Policy::Sum;

  SumAccumulator(bool average, SqlType input, SqlType result)
      : average_(average), input_(std::move(input)), result_(std::move(result)) {}

  Status Resize(int64_t group_count) override {
    sums_.resize(static_cast<size_t>(group_count), Sum{});
    counts_.resize(static_cast<size_t>(group_count), 0);
    overflow_.resize(static_cast<size_t>(group_count), false);
    return {};
  }

  Status Add(const arrow::Array* values, Groups groups,
             const arrow::BooleanArray* selected) override {
    return Change(*values, groups, selected, true);
  }
  bool retractable() const override { return true; }
  Status Retract(const arrow::Array* values, Groups groups,
                 const arrow::BooleanArray* selected) override {
    return Change(*values, groups, selected, false);
  }

  Result<std::shared_ptr<arrow::Array>> Finish(int64_t begin, int64_t end) const override {
    std::unique_ptr<arrow::ArrayBuilder> builder;
    SLUICE_RETURN_ARROW(
        arrow::MakeBuilder(arrow::default_memory_pool(), result_.ToArrow(), &builder));
    for (int64_t group = begin; group < end; ++group)
      SLUICE_RETURN_NOT_OK(AppendResult(static_cast<size_t>(group), builder.get()));
    SLUICE_ASSIGN_OR_RETURN(std::shared_ptr<arrow::Array> array, FromArrow(builder->Finish()));
    return array;
  }

  std::shared_ptr<arrow::DataType> state_type() const override {
    return arrow::struct_(
        {arrow::field("sum", SumType()), arrow::field("count", arrow::int64(), false)});
  }

  Result<std::shared_ptr<arrow::Array>> SaveState(int64_t begin, int64_t end) const override {
    std::unique_ptr<arrow::ArrayBuilder> sums;
    SLUICE_RETURN_ARROW(arrow::MakeBuilder(arrow::default_memory_pool(), SumType(), &sums));
    arrow::Int64Builder counts;
    for (int64_t i = begin; i < end; ++i) {
      const size_t group = static_cast<size_t>(i);
      SLUICE_RETURN_ARROW(overflow_[group] ? sums->AppendNull()
                                           : AppendSum(sums_[group], sums.get()));
      SLUICE_RETURN_ARROW(counts.Append(counts_[group]));
    }
    SLUICE_ASSIGN_OR_RETURN(std::shared_ptr<arrow::Array> sum_array, FromArrow(sums->Finish()));
    SLUICE_ASSIGN_OR_RETURN(std::shared_ptr<arrow::Array> count_array, FromArrow(counts.Finish()));
    return std::static_pointer_cast<arrow::Array>(std::make_shared<arrow::StructArray>(
        state_type(), end - begin, arrow::ArrayVector{sum_array, count_array}));
  }

  Status MergeState(const arrow::Array& state, Groups groups) override {
    const auto& fields = static_cast<const arrow::StructArray&>(state);
    const std::shared_ptr<arrow::Array> sums = fields.field(0);
    const auto counts = std::static_pointer_cast<arrow::Int64Array>(fields.field(1));
    for (size_t i = 0; i < groups.size(); ++i) {
      const size_t group = static_cast<size_t>(groups[i]);
      const int64_t row = static_cast<int64_t>(i);
      counts_[group] += counts->Value(row);
      if (sums->IsNull(row)) {
        overflow_[group] = true;
      } else {
        AddTo(group, ReadSum(*sums, row), true);
      }
    }
    return {};
  }

  int64_t memory_bytes() const override {
    return static_cast<int64_t>(sums_.capacity() * (sizeof(Sum) + sizeof(int64_t)) +
                                overflow_.capacity() / 8);
  }

 private:
  static constexpr bool kDecimal = std::is_same_v<Sum, __int128>;
  static constexpr bool kFloating = std::is_same_v<Sum, double>;

  std::shared_ptr<arrow::DataType> SumType() const {
    if constexpr (kDecimal) return arrow::decimal128(38, input_.scale());
    if constexpr (kFloating) return arrow::float64();
    return arrow::int64();
  }

  static arrow::Status AppendSum(Sum sum, arrow::ArrayBuilder* builder) {
    if constexpr (kDecimal)
      return static_cast<arrow::Decimal128Builder*>(builder)->Append(FromInt128(sum));
    if constexpr (kFloating) return static_cast<arrow::DoubleBuilder*>(builder)->Append(sum);
    if constexpr (!kDecimal && !kFloating) {
      return static_cast<arrow::Int64Builder*>(builder)->Append(static_cast<int64_t>(sum));
    }
  }

  static Sum ReadSum(const arrow::Array& sums, int64_t row) {
    if constexpr (kDecimal) return DecimalSum::Value(sums, row);
    if constexpr (kFloating) return static_cast<const arrow::DoubleArray&>(sums).Value(row);
    if constexpr (!kDecimal && !kFloating) {
      return static_cast<uint64_t>(static_cast<const arrow::Int64Array&>(sums).Value(row));
    }
  }

  void AddTo(size_t group, Sum value, bool add) {
    if constexpr (kDecimal) {
      __int128 sum = sums_[group];
      const bool overflow =
          add ? __builtin_add_overflow(sum, value, &sum) : __builtin_sub_overflow(sum, value, &sum);
      if (overflow) overflow_[group] = true;
      sums_[group] = sum;
    } else {
      sums_[group] = add ? sums_[group] + value : sums_[group] - value;
    }
  }

  Status Change(const arrow::Array& values, Groups groups, const arrow::BooleanArray* selected,
                bool add) {
    const bool check_null = values.null_count() > 0;
    for (size_t i = 0; i < groups.size(); ++i) {
      const int64_t row = static_cast<int64_t>(i);
      if ((check_null && values.IsNull(row)) || !Selected(selected, row)) continue;
      const size_t group = static_cast<size_t>(groups[i]);
      AddTo(group, Policy::Value(values, row), add);
      counts_[group] += add ? 1 : -1;
    }
    return {};
  }

  Status AppendResult(size_t group, arrow::ArrayBuilder* builder) const {
    if (counts_[group] == 0 || overflow_[group]) {
      SLUICE_RETURN_ARROW(builder->AppendNull());
      return {};
    }
    if constexpr (kDecimal) {
      std::optional<__int128> value = sums_[group];
      if (average_) {
        value = DecimalDivide(sums_[group], input_.scale(), counts_[group], 0,
                              {result_.precision(), result_.scale()});
      }
      if (!value || !FitsPrecision(*value, result_.precision())) {
        SLUICE_RETURN_ARROW(builder->AppendNull());
        return {};
      }
      SLUICE_RETURN_ARROW(
          static_cast<arrow::Decimal128Builder*>(builder)->Append(FromInt128(*value)));
      return {};
    } else if constexpr (kFloating) {
      const double value =
          average_ ? sums_[group] / static_cast<double>(counts_[group]) : sums_[group];
      if (result_.kind() == TypeKind::kFloat) {
        SLUICE_RETURN_ARROW(
            static_cast<arrow::FloatBuilder*>(builder)->Append(static_cast<float>(value)));
      } else {
        SLUICE_RETURN_ARROW(static_cast<arrow::DoubleBuilder*>(builder)->Append(value));
      }
      return {};
    } else {
      const int64_t sum = static_cast<int64_t>(sums_[group]);
      return AppendInteger(average_ ? sum / counts_[group] : sum, builder);
    }
  }

  Status AppendInteger(int64_t value, arrow::ArrayBuilder* builder) const {
    switch (result_.kind()) {
      case TypeKind::kTinyint:
        SLUICE_RETURN_ARROW(
            static_cast<arrow::Int8Builder*>(builder)->Append(static_cast<int8_t>(value)));
        return {};
      case TypeKind::kSmallint:
        SLUICE_RETURN_ARROW(
            static_cast<arrow::Int16Builder*>(builder)->Append(static_cast<int16_t>(value)));
        return {};
      case TypeKind::kInt:
        SLUICE_RETURN_ARROW(
            static_cast<arrow::Int32Builder*>(builder)->Append(static_cast<int32_t>(value)));
        return {};
      default:
        SLUICE_RETURN_ARROW(static_cast<arrow::Int64Builder*>(builder)->Append(value));
        return {};
    }
  }

  const bool average_;
  const SqlType input_;
  const SqlType result_;
  std::vector<Sum> sums_;
  std::vector<int64_t> counts_;
  std::vector<bool> overflow_;
};

/// MIN and MAX: the winning value of each group as a scalar of its own; changes get rarer as groups
/// fill.
template <typename Reader>
class ExtremeAccumulator final : public Accumulator {
 public:
  using Value = typename Reader::Value;

  ExtremeAccumulator(bool greatest, const SqlType& type)
      : greatest_(greatest), arrow_type_(type.ToArrow()) {}

  Status Resize(int64_t group_count) override {
    values_.resize(static_cast<size_t>(group_count));
    valid_.resize(static_cast<size_t>(group_count), false);
    return {};
  }
  Status Add(const arrow::Array* values, Groups groups,
             const arrow::BooleanArray* selected) override {
    for (size_t i = 0; i < groups.size(); ++i) {
      const int64_t row = static_cast<int64_t>(i);
      if (values->IsNull(row) || !Selected(selected, row)) continue;
      const size_t group = static_cast<size_t>(groups[i]);
      const auto value = Reader::Read(*values, row);
      if (valid_[group] && !(greatest_ ? Reader::Below(values_[group], value)
                                       : Reader::Below(value, values_[group])))
        continue;
      values_[group] = Value(value);
      valid_[group] = true;
    }
    return {};
  }
  bool retractable() const override { return false; }
  Status Retract(const arrow::Array*, Groups, const arrow::BooleanArray*) override {
    return Status::Unsupported(
        "MIN and MAX over an input with updates or deletes are not supported yet.");
  }
  Result<std::shared_ptr<arrow::Array>> Finish(int64_t begin, int64_t end) const override {
    std::unique_ptr<arrow::ArrayBuilder> builder;
    SLUICE_RETURN_ARROW(arrow::MakeBuilder(arrow::default_memory_pool(), arrow_type_, &builder));
    for (int64_t i = begin; i < end; ++i) {
      const size_t group = static_cast<size_t>(i);
      SLUICE_RETURN_ARROW(valid_[group] ? Reader::Append(values_[group], builder.get())
                                        : builder->AppendNull());
    }
    SLUICE_ASSIGN_OR_RETURN(std::shared_ptr<arrow::Array> array, FromArrow(builder->Finish()));
    return array;
  }
  Result<std::shared_ptr<arrow::Array>> SaveState(int64_t begin, int64_t end) const override {
    return Finish(begin, end);
  }
  Status MergeState(const arrow::Array& state, Groups groups) override {
    return Add(&state, groups, nullptr);
  }
  std::shared_ptr<arrow::DataType> state_type() const override { return arrow_type_; }
  int64_t memory_bytes() const override {
    return static_cast<int64_t>(values_.capacity() * sizeof(Value));
  }

 private:
  const bool greatest_;
  const std::shared_ptr<arrow::DataType> arrow_type_;
  std::vector<Value> values_;
  std::vector<bool> valid_;
};

template <typename T>
bool NumberBelow(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a) || std::isnan(b)) return !std::isnan(a);  // NaN is the greatest number.
  }
  return a < b;
}

template <typename ArrowType>
struct PrimitiveReader {
  using Array = typename arrow::TypeTraits<ArrowType>::ArrayType;
  using Value = typename ArrowType::c_type;
  static Value Read(const arrow::Array& values, int64_t row) {
    return static_cast<const Array&>(values).Value(row);
  }
  static bool Below(Value a, Value b) { return NumberBelow(a, b); }
  static arrow::Status Append(Value value, arrow::ArrayBuilder* builder) {
    return static_cast<typename arrow::TypeTraits<ArrowType>::BuilderType*>(builder)->Append(value);
  }
};
struct BooleanReader {
  struct Value {
    bool value = false;
    Value() = default;
    explicit Value(bool v) : value(v) {}
    operator bool() const { return value; }  // NOLINT: vector<bool> has no elements to keep.
  };
  static bool Read(const arrow::Array& values, int64_t row) {
    return static_cast<const arrow::BooleanArray&>(values).Value(row);
  }
  static bool Below(bool a, bool b) { return !a && b; }
  static arrow::Status Append(bool value, arrow::ArrayBuilder* builder) {
    return static_cast<arrow::BooleanBuilder*>(builder)->Append(value);
  }
};
struct DecimalReader {
  using Value = __int128;
  static Value Read(const arrow::Array& values, int64_t row) {
    return DecimalSum::Value(values, row);
  }
  static bool Below(Value a, Value b) { return a < b; }
  static arrow::Status Append(Value value, arrow::ArrayBuilder* builder) {
    return static_cast<arrow::Decimal128Builder*>(builder)->Append(FromInt128(value));
  }
};
struct BytesReader {
  using Value = std::string;
  static std::string_view Read(const arrow::Array& values, int64_t row) {
    return static_cast<const arrow::BinaryArray&>(values).GetView(row);
  }
  static bool Below(std::string_view a, std::string_view b) { return a < b; }
  static arrow::Status Append(const std::string& value, arrow::ArrayBuilder* builder) {
    return static_cast<arrow::BinaryBuilder*>(builder)->Append(value);
  }
};

/// Lets each value of a group through once.
class DistinctAccumulator final : public Accumulator {
 public:
  DistinctAccumulator(std::unique_ptr<Accumulator> inner, const SqlType& type,
                      arrow::MemoryPool* pool)
      : inner_(std::move(inner)),
        schema_({{"group", SqlType::Int().NotNull()}, {"value", type}}),
        seen_(schema_, pool) {}

  Status Resize(int64_t group_count) override {
    group_count_ = group_count;
    return inner_->Resize(group_count);
  }
  Status Add(const arrow::Array* values, Groups groups,
             const arrow::BooleanArray* selected) override {
    // Rows that are left out must not count as seen.
    std::vector<int64_t> rows;
    arrow::BooleanBuilder first;
    std::vector<bool> take(groups.size(), false);
    for (size_t i = 0; i < groups.size(); ++i) {
      const int64_t row = static_cast<int64_t>(i);
      take[i] = values->IsValid(row) && Selected(selected, row);
    }
    SLUICE_ASSIGN_OR_RETURN(const std::shared_ptr<arrow::RecordBatch> keys,
                            KeysOf(*values, groups));
    for (size_t i = 0; i < groups.size(); ++i) {
      bool is_new = false;
      if (take[i]) {
        const int64_t before = seen_.group_count();
        SLUICE_RETURN_NOT_OK(seen_.GroupIds(*keys->Slice(static_cast<int64_t>(i), 1)).status());
        is_new = seen_.group_count() > before;
      }
      SLUICE_RETURN_ARROW(first.Append(is_new));
    }
    std::shared_ptr<arrow::BooleanArray> mask;
    SLUICE_RETURN_ARROW(first.Finish(&mask));
    return inner_->Add(values, groups, mask.get());
  }
  bool retractable() const override { return false; }
  Status Retract(const arrow::Array*, Groups, const arrow::BooleanArray*) override {
    return Status::Unsupported(
        "DISTINCT aggregates over an input with updates or deletes are not supported yet.");
  }
  Result<std::shared_ptr<arrow::Array>> Finish(int64_t begin, int64_t end) const override {
    return inner_->Finish(begin, end);
  }

  std::shared_ptr<arrow::DataType> state_type() const override {
    return arrow::list(schema_.column(1).type.ToArrow());
  }
  /// The values seen, a list a group: enough to rebuild both the set and the inner accumulator.
  Result<std::shared_ptr<arrow::Array>> SaveState(int64_t begin, int64_t end) const override {
    SLUICE_ASSIGN_OR_RETURN(const std::shared_ptr<arrow::RecordBatch> keys,
                            seen_.Keys(0, seen_.group_count()));
    const auto& groups = static_cast<const arrow::Int32Array&>(*keys->column(0));
    std::vector<std::vector<int64_t>> rows_of_group(static_cast<size_t>(end - begin));
    for (int64_t row = 0; row < groups.length(); ++row) {
      if (groups.Value(row) >= begin && groups.Value(row) < end) {
        rows_of_group[static_cast<size_t>(groups.Value(row) - begin)].push_back(row);
      }
    }
    std::unique_ptr<arrow::ArrayBuilder> builder;
    SLUICE_RETURN_ARROW(arrow::MakeBuilder(arrow::default_memory_pool(), state_type(), &builder));
    auto* lists = static_cast<arrow::ListBuilder*>(builder.get());
    for (const std::vector<int64_t>& rows : rows_of_group) {
      SLUICE_RETURN_ARROW(lists->Append());
      for (const int64_t row : rows) {
        SLUICE_ASSIGN_OR_RETURN(const std::shared_ptr<arrow::Scalar> value,
                                FromArrow(keys->column(1)->GetScalar(row)));
        SLUICE_RETURN_ARROW(lists->value_builder()->AppendScalar(*value));
      }
    }
    SLUICE_ASSIGN_OR_RETURN(std::shared_ptr<arrow::Array> array, FromArrow(builder->Finish()));
    return array;
  }
  Status MergeState(const arrow::Array& state, Groups groups) override {
    const auto& lists = static_cast<const arrow::ListArray&>(state);
    for (size_t i = 0; i < groups.size(); ++i) {
      const std::shared_ptr<arrow::Array> values = lists.value_slice(static_cast<int64_t>(i));
      const std::vector<int32_t> same_group(static_cast<size_t>(values->length()), groups[i]);
      SLUICE_RETURN_NOT_OK(Add(values.get(), same_group, nullptr));
    }
    return {};
  }
  int64_t memory_bytes() const override { return seen_.memory_bytes() + inner_->memory_bytes(); }

 private:
  Result<std::shared_ptr<arrow::RecordBatch>> KeysOf(const arrow::Array& values,
                                                     Groups groups) const {
    arrow::Int32Builder ids;
    SLUICE_RETURN_ARROW(ids.AppendValues(groups.data(), static_cast<int64_t>(groups.size())));
    SLUICE_ASSIGN_OR_RETURN(std::shared_ptr<arrow::Array> id_array, FromArrow(ids.Finish()));
    return arrow::RecordBatch::Make(schema_.ToArrow(), values.length(),
                                    arrow::ArrayVector{id_array, arrow::MakeArray(values.data())});
  }

  std::unique_ptr<Accumulator> inner_;
  const Schema schema_;
  GroupTable seen_;
  int64_t group_count_ = 0;
};

std::unique_ptr<Accumulator> MakeSum(bool average, const SqlType& input, const SqlType& result) {
  switch (input.kind()) {
    case TypeKind::kTinyint:
      return std::make_unique<SumAccumulator<IntegerSum<arrow::Int8Array>>>(average, input, result);
    case TypeKind::kSmallint:
      return std::make_unique<SumAccumulator<IntegerSum<arrow::Int16Array>>>(average, input,
                                                                             result);
    case TypeKind::kInt:
      return std::make_unique<SumAccumulator<IntegerSum<arrow::Int32Array>>>(average, input,
                                                                             result);
    case TypeKind::kBigint:
      return std::make_unique<SumAccumulator<IntegerSum<arrow::Int64Array>>>(average, input,
                                                                             result);
    case TypeKind::kFloat:
      return std::make_unique<SumAccumulator<FloatSum<arrow::FloatArray>>>(average, input, result);
    case TypeKind::kDouble:
      return std::make_unique<SumAccumulator<FloatSum<arrow::DoubleArray>>>(average, input, result);
    case TypeKind::kDecimal:
      return std::make_unique<SumAccumulator<DecimalSum>>(average, input, result);
    default:
      return nullptr;
  }
}

template <typename ArrowType>
std::unique_ptr<Accumulator> MakePrimitiveExtreme(bool greatest, const SqlType& type) {
  return std::make_unique<ExtremeAccumulator<PrimitiveReader<ArrowType>>>(greatest, type);
}

std::unique_ptr<Accumulator> MakeExtreme(bool greatest, const SqlType& type) {
  switch (type.ToArrow()->id()) {
    case arrow::Type::BOOL:
      return std::make_unique<ExtremeAccumulator<BooleanReader>>(greatest, type);
    case arrow::Type::INT8:
      return MakePrimitiveExtreme<arrow::Int8Type>(greatest, type);
    case arrow::Type::INT16:
      return MakePrimitiveExtreme<arrow::Int16Type>(greatest, type);
    case arrow::Type::INT32:
      return MakePrimitiveExtreme<arrow::Int32Type>(greatest, type);
    case arrow::Type::INT64:
      return MakePrimitiveExtreme<arrow::Int64Type>(greatest, type);
    case arrow::Type::FLOAT:
      return MakePrimitiveExtreme<arrow::FloatType>(greatest, type);
    case arrow::Type::DOUBLE:
      return MakePrimitiveExtreme<arrow::DoubleType>(greatest, type);
    case arrow::Type::DATE32:
      return MakePrimitiveExtreme<arrow::Date32Type>(greatest, type);
    case arrow::Type::TIME32:
      return MakePrimitiveExtreme<arrow::Time32Type>(greatest, type);
    case arrow::Type::TIMESTAMP:
      return MakePrimitiveExtreme<arrow::TimestampType>(greatest, type);
    case arrow::Type::DURATION:
      return MakePrimitiveExtreme<arrow::DurationType>(greatest, type);
    case arrow::Type::INTERVAL_MONTHS:
      return MakePrimitiveExtreme<arrow::MonthIntervalType>(greatest, type);
    case arrow::Type::DECIMAL128:
      return std::make_unique<ExtremeAccumulator<DecimalReader>>(greatest, type);
    case arrow::Type::STRING:
    case arrow::Type::BINARY:
      return std::make_unique<ExtremeAccumulator<BytesReader>>(greatest, type);
    default:
      return nullptr;
  }
}

}  // namespace

Result<std::unique_ptr<Accumulator>> MakeAccumulator(const AggregateCall& call,
                                                     arrow::MemoryPool* pool) {
  std::unique_ptr<Accumulator> accumulator;
  if (call.name == "COUNT") {
    accumulator = std::make_unique<CountAccumulator>();
  } else if (call.name == "SUM" || call.name == "AVG") {
    accumulator = MakeSum(call.name == "AVG", call.arguments[0]->type(), call.type);
  } else {
    accumulator = MakeExtreme(call.name == "MAX", call.type);
  }
  if (accumulator == nullptr) return Status::Internal("no accumulator for " + call.name);
  if (call.distinct) {
    accumulator = std::make_unique<DistinctAccumulator>(std::move(accumulator),
                                                        call.arguments[0]->type(), pool);
  }
  return accumulator;
}

}  // namespace sluice::expr
