#include "formats/text/column_builder.h"

#include <algorithm>
#include <new>

#include <arrow/type.h>
#include <arrow/util/bit_util.h>

namespace sluice::formats::text {
namespace {

constexpr int64_t kFirstRows = 64;

int ValueWidth(const arrow::DataType& type) {
  return type.id() == arrow::Type::BOOL ? 1 : type.byte_width();
}

}  // namespace

void GrowingBuffer::Grow(int64_t min_capacity) {
  const int64_t wanted = std::max(min_capacity, capacity_ * 2);
  if (buffer_ == nullptr) {
    auto made = arrow::AllocateResizableBuffer(wanted, pool_);
    if (!made.ok()) throw std::bad_alloc();
    buffer_ = std::move(made).ValueUnsafe();
  } else {
    if (!buffer_->Resize(wanted, false).ok()) throw std::bad_alloc();
  }
  data_ = buffer_->mutable_data();
  capacity_ = wanted;
}

std::shared_ptr<arrow::Buffer> GrowingBuffer::Finish(int64_t size) {
  if (buffer_ == nullptr) Grow(std::max<int64_t>(size, 1));
  // Memory that was reserved in vain goes back; a small rest is not worth a copy.
  const bool shrink = capacity_ - size > 64 * 1024 && capacity_ > size * 2;
  if (!buffer_->Resize(size, shrink).ok()) throw std::bad_alloc();
  data_ = nullptr;
  capacity_ = 0;
  return std::shared_ptr<arrow::Buffer>(std::move(buffer_));
}

ColumnBuilder::ColumnBuilder(const SqlType& type, arrow::MemoryPool* pool)
    : type_(type),
      arrow_type_(type.ToArrow()),
      pool_(pool),
      values_(pool),
      bytes_(pool),
      nulls_(pool) {
  switch (type.kind()) {
    case TypeKind::kArray:
    case TypeKind::kMap:
    case TypeKind::kMultiset:
      layout_ = Layout::kList;
      width_ = 4;
      children_.push_back(std::make_unique<ColumnBuilder>(type.element(), pool));
      if (type.kind() != TypeKind::kArray)
        children_.push_back(std::make_unique<ColumnBuilder>(type.value(), pool));
      return;
    case TypeKind::kRow:
      layout_ = Layout::kRow;
      for (const RowField& field : type.fields())
        children_.push_back(std::make_unique<ColumnBuilder>(field.type, pool));
      return;
    case TypeKind::kChar:
    case TypeKind::kVarchar:
    case TypeKind::kBinary:
    case TypeKind::kVarbinary:
      layout_ = Layout::kText;
      width_ = 4;
      return;
    case TypeKind::kBoolean:
      layout_ = Layout::kBoolean;
      width_ = 1;
      return;
    default:
      layout_ = Layout::kFixed;
      width_ = ValueWidth(*arrow_type_);
  }
}

void ColumnBuilder::GrowRows(int64_t rows) {
  rows = std::max({rows, capacity_ * 2, kFirstRows});
  if (layout_ != Layout::kRow) {
    const bool has_offsets = layout_ == Layout::kText || layout_ == Layout::kList;
    const bool first = values_.data() == nullptr;
    values_.Grow((rows + 1) * width_);
    if (first && has_offsets) offsets()[0] = 0;
  }
  capacity_ = rows;
}

void ColumnBuilder::GrowBytes(int64_t bytes) { bytes_.Grow(bytes); }

void ColumnBuilder::GrowNulls(int64_t row) {
  const int64_t used = nulls_.data() == nullptr ? 0 : nulls_.capacity();
  nulls_.Grow(std::max(row, capacity_) / 8 + 64);
  std::memset(nulls_.data() + used, 0xFF, static_cast<size_t>(nulls_.capacity() - used));
}

void ColumnBuilder::AppendNull() {
  Reserve(1);
  SetNull(length_);
  switch (layout_) {
    case Layout::kFixed:
    case Layout::kBoolean:
      std::memset(values_.data() + length_ * width_, 0, static_cast<size_t>(width_));
      ++length_;
      return;
    case Layout::kText:
      CommitBytes(0);
      return;
    case Layout::kRow:
      for (const auto& child : children_) child->AppendNull();
      ++length_;
      return;
    case Layout::kList:
      CloseNested();
      return;
  }
}

void ColumnBuilder::CloseNested() {
  Reserve(1);
  ++length_;
  if (layout_ == Layout::kList) offsets()[length_] = static_cast<int32_t>(children_[0]->length());
}

void ColumnBuilder::Truncate(int64_t length) {
  if (length >= length_) {
    // A list or row that was begun and not closed has left values in its children.
    if (layout_ == Layout::kList) {
      const int64_t elements = length_ == 0 || values_.data() == nullptr ? 0 : offsets()[length_];
      for (const auto& child : children_) child->Truncate(elements);
    } else if (layout_ == Layout::kRow) {
      for (const auto& child : children_) child->Truncate(length_);
    }
    return;
  }
  if (nulls_.data() != nullptr) {
    for (int64_t row = length; row < length_; ++row) {
      uint8_t* byte = row / 8 < nulls_.capacity() ? nulls_.data() + row / 8 : nullptr;
      const auto bit = static_cast<uint8_t>(1u << (row % 8));
      if (byte == nullptr || (*byte & bit) != 0) continue;
      *byte |= bit;
      --null_count_;
    }
  }
  length_ = length;
  if (layout_ == Layout::kText) {
    byte_length_ = offsets()[length];
  } else if (layout_ == Layout::kList) {
    for (const auto& child : children_) child->Truncate(offsets()[length]);
  } else if (layout_ == Layout::kRow) {
    for (const auto& child : children_) child->Truncate(length);
  }
}

std::shared_ptr<arrow::Buffer> ColumnBuilder::FinishNulls() {
  if (null_count_ == 0) return nullptr;
  const int64_t size = arrow::bit_util::BytesForBits(length_);
  if (size > nulls_.capacity()) GrowNulls(length_);
  return nulls_.Finish(size);
}

std::shared_ptr<arrow::Buffer> ColumnBuilder::PackBooleans() {
  const int64_t size = arrow::bit_util::BytesForBits(length_);
  GrowingBuffer packed(pool_);
  packed.Grow(size + 1);
  const uint8_t* from = values_.data();
  for (int64_t byte = 0; byte < size; ++byte) {
    unsigned bits = 0;
    const int64_t count = std::min<int64_t>(8, length_ - byte * 8);
    for (int64_t i = 0; i < count; ++i) bits |= static_cast<unsigned>(from[byte * 8 + i] & 1) << i;
    packed.data()[byte] = static_cast<uint8_t>(bits);
  }
  return packed.Finish(size);
}

std::shared_ptr<arrow::ArrayData> ColumnBuilder::Finish() {
  if (values_.data() == nullptr) Reserve(1);
  std::vector<std::shared_ptr<arrow::Buffer>> buffers = {FinishNulls()};
  std::vector<std::shared_ptr<arrow::ArrayData>> children;
  switch (layout_) {
    case Layout::kFixed:
      buffers.push_back(values_.Finish(length_ * width_));
      break;
    case Layout::kBoolean:
      buffers.push_back(PackBooleans());
      break;
    case Layout::kText:
      buffers.push_back(values_.Finish((length_ + 1) * width_));
      buffers.push_back(bytes_.Finish(byte_length_));
      break;
    case Layout::kList:
      buffers.push_back(values_.Finish((length_ + 1) * width_));
      if (type_.kind() == TypeKind::kArray) {
        children.push_back(children_[0]->Finish());
      } else {  // A map is a list of rows of key and value.
        auto key = children_[0]->Finish();
        auto value = children_[1]->Finish();
        const int64_t entries = key->length;
        children.push_back(arrow::ArrayData::Make(arrow_type_->field(0)->type(), entries, {nullptr},
                                                  {std::move(key), std::move(value)}, 0));
      }
      break;
    case Layout::kRow:
      for (const auto& child : children_) children.push_back(child->Finish());
      break;
  }
  auto data = arrow::ArrayData::Make(arrow_type_, length_, std::move(buffers), std::move(children),
                                     null_count_);
  // What was not handed over starts afresh.
  if (layout_ == Layout::kBoolean) values_ = GrowingBuffer(pool_);
  nulls_ = GrowingBuffer(pool_);
  length_ = capacity_ = byte_length_ = null_count_ = 0;
  return data;
}

}  // namespace sluice::formats::text
