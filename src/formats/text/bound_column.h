// Raw view of one Arrow array for encoders' inner loops: pointers that already respect offsets, no
// virtual calls.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <arrow/array/data.h>
#include <arrow/util/bit_util.h>

#include "types/sql_type.h"

namespace sluice::formats::text {

class BoundColumn {
 public:
  explicit BoundColumn(const SqlType& type);

  /// Looks at `data`, which must outlive the use and have the Arrow form of the type.
  void Bind(const arrow::ArrayData& data);

  TypeKind kind() const { return kind_; }
  const SqlType& type() const { return type_; }
  int scale() const { return scale_; }
  int64_t units_per_second() const { return units_per_second_; }

  bool has_nulls() const { return nulls_ != nullptr; }
  bool IsNull(int64_t row) const {
    return nulls_ != nullptr && !arrow::bit_util::GetBit(nulls_, row + offset_);
  }
  bool boolean(int64_t row) const { return arrow::bit_util::GetBit(values_, row + offset_); }
  template <typename T>
  T value(int64_t row) const {
    return reinterpret_cast<const T*>(values_)[row];
  }
  /// Where the `width` bytes of a fixed-size value stand.
  const char* value_bytes(int64_t row, size_t width) const {
    return reinterpret_cast<const char*>(values_) + static_cast<size_t>(row) * width;
  }
  std::string_view text(int64_t row) const {
    const int32_t* at = reinterpret_cast<const int32_t*>(values_) + row;
    return {bytes_ + at[0], static_cast<size_t>(at[1] - at[0])};
  }
  /// True when `bytes` bytes may be read from the start of each text before row `end`.
  bool texts_readable(int64_t end, int64_t bytes) const {
    return reinterpret_cast<const int32_t*>(values_)[end] + bytes <= byte_count_;
  }
  /// Elements of the list or map at `row` are rows [begin, end) of the children.
  int64_t list_begin(int64_t row) const {
    return reinterpret_cast<const int32_t*>(values_)[row] + child_offset_;
  }
  int64_t list_end(int64_t row) const { return list_begin(row + 1); }
  /// Row of a ROW's children.
  int64_t child_row(int64_t row) const { return row + offset_; }
  const std::vector<BoundColumn>& children() const { return children_; }

 private:
  SqlType type_;
  TypeKind kind_;
  int scale_ = 0;
  int64_t units_per_second_ = 1000;
  const uint8_t* nulls_ = nullptr;
  const uint8_t* values_ = nullptr;
  const char* bytes_ = nullptr;
  int64_t byte_count_ = 0;  // That bytes_ has.
  int64_t offset_ = 0;
  int64_t child_offset_ = 0;  // Of a map's entries.
  std::vector<BoundColumn> children_;
};

}  // namespace sluice::formats::text
