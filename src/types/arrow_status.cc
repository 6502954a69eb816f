#include "types/arrow_status.h"

#include "types/carried_status.h"

namespace sluice {
namespace {

/// Carries a status of ours through Arrow.
class CarriedStatus final : public arrow::StatusDetail {
 public:
  static constexpr const char* kTypeId = "sluice::CarriedStatus";
  explicit CarriedStatus(Status status) : status_(std::move(status)) {}
  const char* type_id() const override { return kTypeId; }
  std::string ToString() const override { return std::string(StatusCodeName(status_.code())); }
  const Status& status() const { return status_; }

 private:
  const Status status_;
};

}  // namespace

arrow::Status ToArrow(const Status& status) {
  if (status.ok()) return arrow::Status::OK();
  return arrow::Status::IOError(status.ToString())
      .WithDetail(std::make_shared<CarriedStatus>(status));
}

Status FromArrow(const arrow::Status& status) {
  if (status.ok()) return {};
  if (status.detail() && status.detail()->type_id() == CarriedStatus::kTypeId) {
    return static_cast<const CarriedStatus&>(*status.detail()).status();
  }
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
