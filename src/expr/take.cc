// Picking rows by index or condition.
#include <arrow/api.h>
#include <arrow/compute/api_vector.h>
#include <arrow/compute/exec.h>

#include "expr/sort.h"
#include "types/arrow_status.h"

namespace sluice::expr {

namespace {

Result<std::shared_ptr<arrow::RecordBatch>> Take(const arrow::RecordBatch& rows,
                                                 const arrow::Datum& indices,
                                                 arrow::MemoryPool* pool) {
  arrow::compute::ExecContext execution(pool);
  const auto options = arrow::compute::TakeOptions::NoBoundsCheck();
  arrow::ArrayVector columns;
  columns.reserve(static_cast<size_t>(rows.num_columns()));
  for (const std::shared_ptr<arrow::Array>& column : rows.columns()) {
    SLUICE_ASSIGN_ARROW(arrow::Datum taken,
                        arrow::compute::Take(arrow::Datum(column), indices, options, &execution));
    columns.push_back(taken.make_array());
  }
  return arrow::RecordBatch::Make(rows.schema(), indices.length(), std::move(columns));
}

Result<Batch> TakeBatch(const Batch& batch, const arrow::Datum& indices, arrow::MemoryPool* pool) {
  SLUICE_ASSIGN_OR_RETURN(auto rows, Take(*batch.rows(), indices, pool));
  std::shared_ptr<arrow::Int8Array> kinds;
  if (batch.row_kinds() != nullptr) {
    arrow::compute::ExecContext execution(pool);
    SLUICE_ASSIGN_ARROW(
        arrow::Datum taken,
        arrow::compute::Take(arrow::Datum(batch.row_kinds()), indices,
                             arrow::compute::TakeOptions::NoBoundsCheck(), &execution));
    kinds = std::static_pointer_cast<arrow::Int8Array>(taken.make_array());
  }
  return Batch(std::move(rows), std::move(kinds));
}

arrow::Datum Indices(const std::vector<int64_t>& indices) {
  return arrow::Datum(std::make_shared<arrow::Int64Array>(static_cast<int64_t>(indices.size()),
                                                          arrow::Buffer::Wrap(indices)));
}

}  // namespace

Result<std::shared_ptr<arrow::RecordBatch>> TakeRows(const arrow::RecordBatch& rows,
                                                     const std::vector<int64_t>& indices,
                                                     arrow::MemoryPool* pool) {
  return Take(rows, Indices(indices), pool);
}

Result<Batch> TakeRows(const Batch& batch, const std::vector<int64_t>& indices,
                       arrow::MemoryPool* pool) {
  return TakeBatch(batch, Indices(indices), pool);
}

Result<Batch> TakeRows32(const Batch& batch, const std::vector<int32_t>& indices,
                         arrow::MemoryPool* pool) {
  const auto array = std::make_shared<arrow::Int32Array>(static_cast<int64_t>(indices.size()),
                                                         arrow::Buffer::Wrap(indices));
  return TakeBatch(batch, arrow::Datum(array), pool);
}

Result<Batch> FilterRows(const Batch& batch, const arrow::Datum& condition,
                         arrow::MemoryPool* pool) {
  if (condition.is_scalar()) {
    const auto& scalar = static_cast<const arrow::BooleanScalar&>(*condition.scalar());
    return scalar.is_valid && scalar.value ? batch : batch.Slice(0, 0);
  }
  const arrow::BooleanArray keep(condition.array());
  const int64_t kept = keep.true_count();
  if (kept == keep.length()) return batch;
  if (kept == 0) return batch.Slice(0, 0);
  std::vector<int32_t> indices;
  indices.reserve(static_cast<size_t>(kept));
  const bool has_nulls = keep.null_count() > 0;
  for (int64_t row = 0; row < keep.length(); ++row) {
    if (keep.Value(row) && !(has_nulls && keep.IsNull(row))) {
      indices.push_back(static_cast<int32_t>(row));
    }
  }
  return TakeRows32(batch, indices, pool);
}

}  // namespace sluice::expr
