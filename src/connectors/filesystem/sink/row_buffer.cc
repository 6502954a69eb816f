#include "connectors/filesystem/sink/row_buffer.h"

#include <arrow/array/array_binary.h>
#include <arrow/array/builder_binary.h>
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
    SLUICE_RETURN_NOT_OK(Begin(batch.schema(), pool));
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

Status RowBuffer::Begin(const std::shared_ptr<arrow::Schema>& schema, arrow::MemoryPool* pool) {
  SLUICE_ASSIGN_ARROW(builder_, arrow::RecordBatchBuilder::Make(schema, pool, taken_rows_));
  for (size_t i = 0; i < taken_text_bytes_.size(); ++i) {
    if (taken_text_bytes_[i] == 0) continue;
    auto* const texts = builder_->GetFieldAs<arrow::BinaryBuilder>(static_cast<int>(i));
    SLUICE_RETURN_ARROW(texts->ReserveData(taken_text_bytes_[i]));
  }
  return {};
}

void RowBuffer::NoteTaken(const arrow::RecordBatch& rows) {
  taken_rows_ = rows.num_rows();
  taken_text_bytes_.assign(static_cast<size_t>(rows.num_columns()), 0);
  for (int i = 0; i < rows.num_columns(); ++i) {
    const arrow::Array& column = *rows.column(i);
    const arrow::Type::type id = column.type_id();
    if (id != arrow::Type::BINARY && id != arrow::Type::STRING) continue;
    const auto& texts = static_cast<const arrow::BinaryArray&>(column);
    taken_text_bytes_[static_cast<size_t>(i)] = texts.total_values_length();
  }
}

Result<Batch> RowBuffer::Take() {
  if (builder_ == nullptr) return Status::Internal("take from an empty row buffer");
  SLUICE_ASSIGN_ARROW(auto rows, builder_->Flush());
  NoteTaken(*rows);
  builder_.reset();
  row_count_ = 0;
  share_.Set(0);
  return Batch(std::move(rows));
}

}  // namespace sluice::connectors::filesystem
