#include "runtime/operators/rows_in_state.h"

#include <arrow/array/concatenate.h>
#include <arrow/buffer.h>
#include <arrow/io/memory.h>
#include <arrow/ipc/reader.h>
#include <arrow/ipc/writer.h>

#include "types/arrow_status.h"

namespace sluice::runtime {

Result<std::string> RowsToBytes(const arrow::RecordBatch& rows) {
  SLUICE_ASSIGN_ARROW(const auto stream, arrow::io::BufferOutputStream::Create());
  SLUICE_ASSIGN_ARROW(const auto writer, arrow::ipc::MakeStreamWriter(stream, rows.schema()));
  SLUICE_RETURN_ARROW(writer->WriteRecordBatch(rows));
  SLUICE_RETURN_ARROW(writer->Close());
  SLUICE_ASSIGN_ARROW(const std::shared_ptr<arrow::Buffer> buffer, stream->Finish());
  return buffer->ToString();
}

Result<std::shared_ptr<arrow::RecordBatch>> RowsFromBytes(
    const std::string& bytes, const std::shared_ptr<arrow::Schema>& schema) {
  const auto input = std::make_shared<arrow::io::BufferReader>(arrow::Buffer::FromString(bytes));
  SLUICE_ASSIGN_ARROW(const auto reader, arrow::ipc::RecordBatchStreamReader::Open(input));
  std::shared_ptr<arrow::RecordBatch> rows;
  SLUICE_RETURN_ARROW(reader->ReadNext(&rows));
  if (rows == nullptr || rows->num_columns() != schema->num_fields()) {
    return Status::Corrupt("Rows in the state have other columns than the statement.");
  }
  for (int i = 0; i < schema->num_fields(); ++i) {
    if (!rows->column(i)->type()->Equals(*schema->field(i)->type())) {
      return Status::Corrupt("Column " + schema->field(i)->name() + " is " +
                             rows->column(i)->type()->ToString() + " in the state and " +
                             schema->field(i)->type()->ToString() + " in the statement.");
    }
  }
  return arrow::RecordBatch::Make(schema, rows->num_rows(), rows->columns());
}

Result<std::shared_ptr<arrow::RecordBatch>> Concatenate(
    const arrow::RecordBatchVector& batches, const std::shared_ptr<arrow::Schema>& schema,
    arrow::MemoryPool* pool) {
  if (batches.size() == 1) return batches.front();
  int64_t row_count = 0;
  for (const auto& batch : batches) row_count += batch->num_rows();
  arrow::ArrayVector columns;
  for (int i = 0; i < schema->num_fields(); ++i) {
    if (batches.empty()) {
      SLUICE_ASSIGN_ARROW(auto empty, arrow::MakeEmptyArray(schema->field(i)->type(), pool));
      columns.push_back(std::move(empty));
      continue;
    }
    arrow::ArrayVector chunks;
    for (const auto& batch : batches) chunks.push_back(batch->column(i));
    SLUICE_ASSIGN_ARROW(auto column, arrow::Concatenate(chunks, pool));
    columns.push_back(std::move(column));
  }
  return arrow::RecordBatch::Make(schema, row_count, std::move(columns));
}

}  // namespace sluice::runtime
