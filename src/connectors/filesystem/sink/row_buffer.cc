#include "connectors/filesystem/sink/row_buffer.h"

#include <arrow/array/data.h>

#include "types/arrow_status.h"

namespace sluice::connectors::filesystem {
namespace {

// A builder's first allocation for each column, about.
constexpr int64_t kColumnOverheadBytes = 256;

}  // namespace

Status RowBuffer::Add(const Batch& rows, arrow::MemoryPool* pool) {
  const auto& batch = *rows.rows();
  if (builder_ == nullptr) {
    SLUICE_ASSIGN_ARROW(builder_, arrow::RecordBatchBuilder::Make(batch.schema(), pool, 0));
    share_.Set(kColumnOverheadBytes * batch.num_columns());
  }
  for (int i = 0; i < batch.num_columns(); ++i) {
    const arrow::ArrayData& column = *batch.column_data(i);
    SLUICE_RETURN_ARROW(
        builder_->GetField(i)->AppendArraySlice(arrow::ArraySpan(column), 0, batch.num_rows()));
  }
  row_count_ += batch.num_rows();
  share_.Set(share_.bytes() + rows.byte_size());
  return {};
}

Result<Batch> RowBuffer::Take() {
  if (builder_ == nullptr) return Status::Internal("take from an empty row buffer");
  SLUICE_ASSIGN_ARROW(auto rows, builder_->Flush());
  builder_.reset();
  row_count_ = 0;
  share_.Set(0);
  return Batch(std::move(rows));
}

}  // namespace sluice::connectors::filesystem
