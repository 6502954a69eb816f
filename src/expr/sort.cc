#include "expr/sort.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include <arrow/array/array_binary.h>
#include <arrow/array/array_decimal.h>
#include <arrow/array/array_primitive.h>
#include <arrow/array/builder_primitive.h>
#include <arrow/compute/api_vector.h>

#include "types/arrow_status.h"

namespace sluice::expr {
namespace {

/// Negative, zero or positive as row a of a column is below, equal to or above row b. NULLs are
/// handled by the caller.
using RowCompare = std::function<int(int64_t a, int64_t b)>;

template <typename T>
int Order(const T& a, const T& b) {
  return a < b ? -1 : b < a ? 1 : 0;
}

/// NaN is the greatest number and equal to itself.
template <typename T>
int OrderFloating(T a, T b) {
  const bool a_nan = std::isnan(a);
  const bool b_nan = std::isnan(b);
  if (a_nan || b_nan) return static_cast<int>(a_nan) - static_cast<int>(b_nan);
  return Order(a, b);
}

template <typename ArrayType>
RowCompare CompareValues(const std::shared_ptr<arrow::Array>& values) {
  return [array = std::static_pointer_cast<ArrayType>(values)](int64_t a, int64_t b) {
    return Order(array->Value(a), array->Value(b));
  };
}

template <typename ArrayType>
RowCompare CompareFloats(const std::shared_ptr<arrow::Array>& values) {
  return [array = std::static_pointer_cast<ArrayType>(values)](int64_t a, int64_t b) {
    return OrderFloating(array->Value(a), array->Value(b));
  };
}

Result<RowCompare> MakeCompare(const std::shared_ptr<arrow::Array>& values) {
  switch (values->type_id()) {
    case arrow::Type::BOOL:
      return CompareValues<arrow::BooleanArray>(values);
    case arrow::Type::INT8:
      return CompareValues<arrow::Int8Array>(values);
    case arrow::Type::INT16:
      return CompareValues<arrow::Int16Array>(values);
    case arrow::Type::INT32:
    case arrow::Type::DATE32:
    case arrow::Type::TIME32:
    case arrow::Type::INTERVAL_MONTHS:
      return RowCompare([raw = values->data()->GetValues<int32_t>(1), values](
                            int64_t a, int64_t b) { return Order(raw[a], raw[b]); });
    case arrow::Type::INT64:
    case arrow::Type::TIMESTAMP:
    case arrow::Type::DURATION:
      return RowCompare([raw = values->data()->GetValues<int64_t>(1), values](
                            int64_t a, int64_t b) { return Order(raw[a], raw[b]); });
    case arrow::Type::FLOAT:
      return CompareFloats<arrow::FloatArray>(values);
    case arrow::Type::DOUBLE:
      return CompareFloats<arrow::DoubleArray>(values);
    case arrow::Type::DECIMAL128:
      return RowCompare([array = std::static_pointer_cast<arrow::Decimal128Array>(values)](
                            int64_t a, int64_t b) {
        return Order(arrow::Decimal128(array->GetValue(a)), arrow::Decimal128(array->GetValue(b)));
      });
    case arrow::Type::STRING:
    case arrow::Type::BINARY:
      return RowCompare(
          [array = std::static_pointer_cast<arrow::BinaryArray>(values)](int64_t a, int64_t b) {
            return Order(array->GetView(a), array->GetView(b));
          });
    default:
      return Status::Validation("Values of type " + values->type()->ToString() + " have no order.");
  }
}

struct KeyCompare {
  std::shared_ptr<arrow::Array> values;
  RowCompare compare;
  bool descending;
  bool nulls_first;

  int operator()(int64_t a, int64_t b) const {
    if (values->null_count() > 0) {
      const bool a_null = values->IsNull(a);
      const bool b_null = values->IsNull(b);
      if (a_null || b_null) {
        if (a_null && b_null) return 0;
        return a_null == nulls_first ? -1 : 1;
      }
    }
    const int order = compare(a, b);
    return descending ? -order : order;
  }
};

}  // namespace

Result<std::vector<int64_t>> SortIndices(const arrow::RecordBatch& rows,
                                         const std::vector<SortKey>& keys, int64_t limit) {
  std::vector<KeyCompare> compares;
  for (const SortKey& key : keys) {
    const std::shared_ptr<arrow::Array> values = rows.column(key.column);
    SLUICE_ASSIGN_OR_RETURN(RowCompare compare, MakeCompare(values));
    compares.push_back({values, std::move(compare), key.descending, key.nulls_first});
  }
  std::vector<int64_t> indices(static_cast<size_t>(rows.num_rows()));
  std::iota(indices.begin(), indices.end(), int64_t{0});
  // Positions break ties: the order is stable without a stable algorithm.
  const auto before = [&](int64_t a, int64_t b) {
    for (const KeyCompare& compare : compares) {
      if (const int order = compare(a, b); order != 0) return order < 0;
    }
    return a < b;
  };
  if (limit >= 0 && limit < rows.num_rows()) {
    std::partial_sort(indices.begin(), indices.begin() + limit, indices.end(), before);
    indices.resize(static_cast<size_t>(limit));
  } else {
    std::sort(indices.begin(), indices.end(), before);
  }
  return indices;
}

namespace {

Result<std::shared_ptr<arrow::RecordBatch>> Take(const arrow::RecordBatch& rows,
                                                 const std::shared_ptr<arrow::Array>& indices,
                                                 arrow::MemoryPool* pool) {
  arrow::compute::ExecContext context(pool, nullptr, nullptr);
  context.set_use_threads(false);
  arrow::ArrayVector columns;
  columns.reserve(static_cast<size_t>(rows.num_columns()));
  for (const std::shared_ptr<arrow::Array>& column : rows.columns()) {
    SLUICE_ASSIGN_OR_RETURN(
        const arrow::Datum taken,
        FromArrow(arrow::compute::Take(column, indices,
                                       arrow::compute::TakeOptions::NoBoundsCheck(), &context)));
    columns.push_back(taken.make_array());
  }
  return arrow::RecordBatch::Make(rows.schema(), indices->length(), std::move(columns));
}

std::shared_ptr<arrow::Array> IndexArray(const std::vector<int64_t>& indices) {
  return std::make_shared<arrow::Int64Array>(static_cast<int64_t>(indices.size()),
                                             arrow::Buffer::Wrap(indices.data(), indices.size()));
}

Result<Batch> TakeBatch(const Batch& batch, const std::shared_ptr<arrow::Array>& indices,
                        arrow::MemoryPool* pool) {
  SLUICE_ASSIGN_OR_RETURN(std::shared_ptr<arrow::RecordBatch> rows,
                          Take(*batch.rows(), indices, pool));
  if (!batch.row_kinds()) return Batch(std::move(rows));
  SLUICE_ASSIGN_OR_RETURN(const arrow::Datum kinds,
                          FromArrow(arrow::compute::Take(batch.row_kinds(), indices)));
  return Batch(std::move(rows), std::static_pointer_cast<arrow::Int8Array>(kinds.make_array()));
}

}  // namespace

Result<std::shared_ptr<arrow::RecordBatch>> TakeRows(const arrow::RecordBatch& rows,
                                                     const std::vector<int64_t>& indices,
                                                     arrow::MemoryPool* pool) {
  return Take(rows, IndexArray(indices), pool);
}

Result<Batch> TakeRows(const Batch& batch, const std::vector<int64_t>& indices,
                       arrow::MemoryPool* pool) {
  return TakeBatch(batch, IndexArray(indices), pool);
}

Result<Batch> FilterRows(const Batch& batch, const arrow::Datum& condition,
                         arrow::MemoryPool* pool) {
  if (condition.is_scalar()) {
    const auto& value = static_cast<const arrow::BooleanScalar&>(*condition.scalar());
    return value.is_valid && value.value ? batch : batch.Slice(0, 0);
  }
  const auto verdicts = std::static_pointer_cast<arrow::BooleanArray>(condition.make_array());
  const int64_t kept = verdicts->true_count();
  if (kept == batch.row_count()) return batch;
  if (kept == 0) return batch.Slice(0, 0);
  std::vector<int64_t> indices;
  indices.reserve(static_cast<size_t>(kept));
  const bool has_nulls = verdicts->null_count() > 0;
  for (int64_t row = 0; row < verdicts->length(); ++row) {
    if (verdicts->Value(row) && (!has_nulls || verdicts->IsValid(row))) indices.push_back(row);
  }
  return TakeRows(batch, indices, pool);
}

}  // namespace sluice::expr
