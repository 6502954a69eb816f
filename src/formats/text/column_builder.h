// Builds one Arrow array of any SQL type, appended to by decoders' inner loops: no virtual call, no
// Status per value. Room is made ahead of the loop (Reserve, ReserveBytes) or, value by value, by
// one comparison.
//
// Out of memory is the only failure: growing throws std::bad_alloc, which the decoder catches at
// its boundary.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

#include <arrow/array/data.h>
#include <arrow/buffer.h>
#include <arrow/memory_pool.h>

#include "common/result.h"
#include "types/sql_type.h"

namespace sluice::formats::text {

/// Bytes from an Arrow pool that grow by doubling. Not initialised.
class GrowingBuffer {
 public:
  explicit GrowingBuffer(arrow::MemoryPool* pool) : pool_(pool) {}
  uint8_t* data() const { return data_; }
  int64_t capacity() const { return capacity_; }
  void Grow(int64_t min_capacity);
  /// Hands the buffer over with `size` bytes; this one is empty then.
  std::shared_ptr<arrow::Buffer> Finish(int64_t size);

 private:
  arrow::MemoryPool* pool_;
  std::unique_ptr<arrow::ResizableBuffer> buffer_;
  uint8_t* data_ = nullptr;
  int64_t capacity_ = 0;
};

class ColumnBuilder {
 public:
  ColumnBuilder(const SqlType& type, arrow::MemoryPool* pool);

  const SqlType& type() const { return type_; }
  int64_t length() const { return length_; }
  ColumnBuilder& child(int index) const { return *children_[static_cast<size_t>(index)]; }
  int child_count() const { return static_cast<int>(children_.size()); }

  /// Makes room for `rows` more values (of a nested type: for its own offsets and nulls only).
  void Reserve(int64_t rows) {
    if (length_ + rows > capacity_) GrowRows(length_ + rows);
  }
  /// Makes room for `bytes` more of text; kTextSlack bytes behind it may be overwritten by wide
  /// stores.
  void ReserveBytes(int64_t bytes) {
    if (byte_length_ + bytes + kTextSlack > bytes_.capacity())
      GrowBytes(byte_length_ + bytes + kTextSlack);
  }

  /// Values of a fixed size; `T` is the Arrow form (Decimal128 for DECIMAL). BOOLEAN is uint8_t
  /// here and packed at the end.
  template <typename T>
  void Append(T value) {
    Reserve(1);
    values<T>()[length_++] = value;
  }
  /// Copies text in.
  void AppendBytes(std::string_view text) {
    Reserve(1);
    ReserveBytes(static_cast<int64_t>(text.size()));
    if (!text.empty()) std::memcpy(bytes_end(), text.data(), text.size());
    CommitBytes(static_cast<int64_t>(text.size()));
  }
  /// NULL at every level below too.
  void AppendNull();
  /// Closes a list or map whose elements were appended to the children, or a row whose fields were.
  void CloseNested();

  /// For loops over many rows: room was reserved, values go to values<T>()[length()] and on, then
  /// AdvanceRows.
  template <typename T>
  T* values() const {
    return reinterpret_cast<T*>(values_.data());
  }
  /// For fixed sizes only.
  void AdvanceRows(int64_t rows) { length_ += rows; }
  /// Marks value `row`, below length() + what is reserved, as NULL.
  void SetNull(int64_t row) {
    if (nulls_.data() == nullptr || row / 8 >= nulls_.capacity()) GrowNulls(row);
    nulls_.data()[row / 8] &= static_cast<uint8_t>(~(1u << (row % 8)));
    ++null_count_;
  }

  /// Text: end of the bytes written so far; after writing there, CommitBytes closes the value.
  char* bytes_end() const { return reinterpret_cast<char*>(bytes_.data()) + byte_length_; }
  int64_t byte_length() const { return byte_length_; }
  void CommitBytes(int64_t bytes) {
    byte_length_ += bytes;
    offsets()[++length_] = static_cast<int32_t>(byte_length_);
  }
  /// Text of value `row`.
  std::string_view text(int64_t row) const {
    const int32_t* at = offsets() + row;
    return {reinterpret_cast<const char*>(bytes_.data()) + at[0],
            static_cast<size_t>(at[1] - at[0])};
  }
  /// First element of the list at `row`.
  int64_t list_begin(int64_t row) const { return offsets()[row]; }

  /// Drops the values from `length` on.
  void Truncate(int64_t length);
  /// The array so far; the builder is empty and usable then.
  std::shared_ptr<arrow::ArrayData> Finish();

  static constexpr int64_t kTextSlack = 64;

 private:
  enum class Layout : uint8_t { kFixed, kBoolean, kText, kList, kRow };
  int32_t* offsets() const { return reinterpret_cast<int32_t*>(values_.data()); }
  void GrowRows(int64_t rows);
  void GrowBytes(int64_t bytes);
  void GrowNulls(int64_t row);
  std::shared_ptr<arrow::Buffer> FinishNulls();
  std::shared_ptr<arrow::Buffer> PackBooleans();

  SqlType type_;
  std::shared_ptr<arrow::DataType> arrow_type_;
  arrow::MemoryPool* pool_;
  Layout layout_;
  int width_ = 0;  // Bytes of a fixed value; 4 for offsets.
  int64_t length_ = 0;
  int64_t capacity_ = 0;  // Rows that values_ has room for.
  int64_t byte_length_ = 0;
  int64_t null_count_ = 0;
  GrowingBuffer values_;  // Values or offsets; one byte a BOOLEAN.
  GrowingBuffer bytes_;
  GrowingBuffer nulls_;  // Allocated at the first NULL; bits beyond the last NULL are ones.
  std::vector<std::unique_ptr<ColumnBuilder>> children_;
};

}  // namespace sluice::formats::text
