#include "formats/text/bound_column.h"

#include <arrow/type.h>

namespace sluice::formats::text {
namespace {

/// Bytes of one value or offset, 0 for bits.
int Width(TypeKind kind) {
  switch (kind) {
    case TypeKind::kTinyint:
      return 1;
    case TypeKind::kSmallint:
      return 2;
    case TypeKind::kBigint:
    case TypeKind::kDouble:
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLtz:
    case TypeKind::kIntervalDayTime:
      return 8;
    case TypeKind::kDecimal:
      return 16;
    case TypeKind::kBoolean:
      return 0;
    default:
      return 4;  // Values of 32 bits and offsets.
  }
}

}  // namespace

BoundColumn::BoundColumn(const SqlType& type)
    : type_(type), kind_(type.kind()), scale_(type.scale()) {
  if (type.is_timestamp()) {
    units_per_second_ = type.precision() <= 3   ? 1000
                        : type.precision() <= 6 ? 1'000'000
                                                : 1'000'000'000;
  }
  if (kind_ == TypeKind::kArray) {
    children_.emplace_back(type.element());
  } else if (kind_ == TypeKind::kMap || kind_ == TypeKind::kMultiset) {
    children_.emplace_back(type.key());
    children_.emplace_back(type.value());
  } else if (kind_ == TypeKind::kRow) {
    for (const RowField& field : type.fields()) children_.emplace_back(field.type);
  }
}

void BoundColumn::Bind(const arrow::ArrayData& data) {
  offset_ = data.offset;
  nulls_ = data.buffers[0] == nullptr ? nullptr : data.buffers[0]->data();
  values_ =
      data.buffers.size() > 1 && data.buffers[1] != nullptr ? data.buffers[1]->data() : nullptr;
  if (values_ != nullptr) values_ += offset_ * Width(kind_);
  static constexpr int32_t kNoOffsets[2] = {0, 0};  // An empty array may come without offsets.
  if (values_ == nullptr) values_ = reinterpret_cast<const uint8_t*>(kNoOffsets);
  const bool has_bytes = data.buffers.size() > 2 && data.buffers[2] != nullptr;
  bytes_ = has_bytes ? reinterpret_cast<const char*>(data.buffers[2]->data()) : "";
  byte_count_ = has_bytes ? data.buffers[2]->size() : 0;
  child_offset_ = 0;
  if (kind_ == TypeKind::kMap || kind_ == TypeKind::kMultiset) {
    const arrow::ArrayData& entries = *data.child_data[0];
    child_offset_ = entries.offset;
    for (size_t i = 0; i < children_.size(); ++i) children_[i].Bind(*entries.child_data[i]);
    return;
  }
  for (size_t i = 0; i < children_.size(); ++i) children_[i].Bind(*data.child_data[i]);
}

}  // namespace sluice::formats::text
