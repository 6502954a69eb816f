#include "formats/parquet/storage_error.h"

#include <parquet/exception.h>

#include "types/arrow_status.h"

namespace sluice::formats::parquet_format {

Status StorageError(const arrow::Status& status) {
  // The library's own findings about the bytes have no detail; an errno and our own errors do.
  if (!status.IsIOError() || status.detail() == nullptr) return {};
  return FromArrow(status);
}

Status StorageError(const std::exception& error) {
  const auto* thrown = dynamic_cast<const ::parquet::ParquetStatusException*>(&error);
  return thrown == nullptr ? Status() : StorageError(thrown->status());
}

}  // namespace sluice::formats::parquet_format
