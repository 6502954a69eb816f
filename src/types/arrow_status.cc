#include "types/arrow_status.h"

namespace sluice {

Status FromArrow(const arrow::Status& status) {
  if (status.ok()) return {};
  switch (status.code()) {
    case arrow::StatusCode::OutOfMemory:
      return Status::Unavailable("out of memory: " + status.message());
    case arrow::StatusCode::IOError:
      return Status::IoError(status.message());
    case arrow::StatusCode::Invalid:
    case arrow::StatusCode::TypeError:
    case arrow::StatusCode::CapacityError:
    case arrow::StatusCode::SerializationError:
      return Status::DataError(status.message());
    case arrow::StatusCode::Cancelled:
      return Status::Cancelled(status.message());
    case arrow::StatusCode::NotImplemented:
      return Status::Unsupported(status.message());
    default:
      return Status::Internal(status.ToString());
  }
}

}  // namespace sluice
