// Pieces of Arrow arrays that generators fill by hand.
#pragma once

#include <memory>

#include <arrow/array/data.h>
#include <arrow/buffer.h>
#include <arrow/util/bit_util.h>

#include "connectors/datagen/column_generator.h"
#include "types/arrow_status.h"

namespace sluice::connectors {

/// A buffer of `bytes` bytes, with `slack` more behind it that may be written.
inline Result<std::shared_ptr<arrow::Buffer>> AllocateBytes(int64_t bytes, arrow::MemoryPool* pool,
                                                            int64_t slack = 0) {
  SLUICE_ASSIGN_ARROW(std::unique_ptr<arrow::ResizableBuffer> buffer,
                      arrow::AllocateResizableBuffer(bytes + slack, pool));
  if (slack > 0) SLUICE_RETURN_ARROW(buffer->Resize(bytes, /*shrink_to_fit=*/false));
  return std::shared_ptr<arrow::Buffer>(std::move(buffer));
}

struct NullMask {
  std::shared_ptr<arrow::Buffer> bitmap;  // Null: no NULL.
  int64_t null_count = 0;
};

/// Draws the NULLs of a column.
Result<NullMask> DrawNulls(const RandomSettings& settings, const RowRange& range,
                           const GenerateContext& context);

/// An array of fixed-width values.
Result<std::shared_ptr<arrow::Array>> FixedWidthArray(const SqlType& type, int64_t count,
                                                      std::shared_ptr<arrow::Buffer> values,
                                                      NullMask nulls);

}  // namespace sluice::connectors
