#include "types/batch.h"

#include <arrow/util/byte_size.h>

namespace sluice {

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
  const arrow::Result<int64_t> size = arrow::util::ReferencedBufferSize(*rows_);
  return size.ok() ? *size : arrow::util::TotalBufferSize(*rows_);
}

}  // namespace sluice
