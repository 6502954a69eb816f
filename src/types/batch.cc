#include "types/batch.h"

#include <arrow/array/data.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>
#include <arrow/util/bit_util.h>
#include <arrow/util/byte_size.h>

namespace sluice {

namespace {

int64_t ReferencedBytes(const arrow::ArrayData& data, int64_t offset, int64_t length);

/// Offsets of 32 bits and what they span: bytes, or elements of the child.
int64_t SpannedBytes(const arrow::ArrayData& data, int64_t offset, int64_t length) {
  if (data.buffers[1] == nullptr || length == 0) return 0;
  const auto* offsets = reinterpret_cast<const int32_t*>(data.buffers[1]->data()) + offset;
  const int64_t count = offsets[length] - offsets[0];
  const int64_t bytes =
      data.child_data.empty() ? count : ReferencedBytes(*data.child_data[0], offsets[0], count);
  return (length + 1) * static_cast<int64_t>(sizeof(int32_t)) + bytes;
}

/// Bytes of `length` values from `offset` on, beyond the offset that `data` has itself. Without
/// Arrow's list of byte ranges, whose making takes longer than the copy of a small slice.
int64_t ReferencedBytes(const arrow::ArrayData& data, int64_t offset, int64_t length) {
  offset += data.offset;
  int64_t bytes = 0;
  if (!data.buffers.empty() && data.buffers[0] != nullptr)
    bytes += arrow::bit_util::BytesForBits(length);
  switch (data.type->id()) {
    case arrow::Type::STRING:
    case arrow::Type::BINARY:
    case arrow::Type::LIST:
    case arrow::Type::MAP:
      return bytes + SpannedBytes(data, offset, length);
    case arrow::Type::STRUCT:
      for (const auto& child : data.child_data) bytes += ReferencedBytes(*child, offset, length);
      return bytes;
    default:
      break;
  }
  if (arrow::is_fixed_width(data.type->id()))
    return bytes + arrow::bit_util::BytesForBits(length * data.type->bit_width());
  return arrow::util::TotalBufferSize(data);  // No type of ours.
}

}  // namespace

std::string_view RowKindText(RowKind kind) {
  switch (kind) {
    case RowKind::kInsert:
      return "+I";
    case RowKind::kUpdateBefore:
      return "-U";
    case RowKind::kUpdateAfter:
      return "+U";
    case RowKind::kDelete:
      return "-D";
  }
  return "??";
}

Batch Batch::Slice(int64_t offset, int64_t length) const {
  std::shared_ptr<arrow::Int8Array> kinds;
  if (row_kinds_)
    kinds = std::static_pointer_cast<arrow::Int8Array>(row_kinds_->Slice(offset, length));
  return Batch(rows_->Slice(offset, length), std::move(kinds));
}

int64_t Batch::byte_size() const {
  if (!rows_) return 0;
  int64_t bytes = 0;
  for (const auto& column : rows_->column_data())
    bytes += ReferencedBytes(*column, 0, rows_->num_rows());
  return bytes;
}

}  // namespace sluice
