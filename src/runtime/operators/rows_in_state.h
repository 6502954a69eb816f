// Rows as the bytes of a state field.
#pragma once

#include <memory>
#include <string>

#include <arrow/record_batch.h>

#include "common/result.h"

namespace sluice::runtime {

/// Arrow IPC stream form, schema included.
Result<std::string> RowsToBytes(const arrow::RecordBatch& rows);
/// Fails with kCorrupt when the bytes are not rows of `schema` (names aside).
Result<std::shared_ptr<arrow::RecordBatch>> RowsFromBytes(
    const std::string& bytes, const std::shared_ptr<arrow::Schema>& schema);

/// One batch of all rows, kinds included. No batch gives zero rows of `schema`.
Result<std::shared_ptr<arrow::RecordBatch>> Concatenate(
    const arrow::RecordBatchVector& batches, const std::shared_ptr<arrow::Schema>& schema,
    arrow::MemoryPool* pool);

}  // namespace sluice::runtime
