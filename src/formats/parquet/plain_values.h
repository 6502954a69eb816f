// The values of one flat column of a small file in Parquet's PLAIN encoding, with their bounds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/array/array_base.h>

#include "formats/parquet/parquet_options.h"
#include "types/sql_type.h"

namespace sluice::formats::parquet_format {

/// What the Arrow array of a column holds, and so how it is written.
enum class PlainKind {
  kBoolean,
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kFloat,
  kDouble,
  kDecimal,
  kBytes,
  kInt96
};

/// nullopt: of nested types.
std::optional<PlainKind> PlainKindOf(const SqlType& type, const ParquetOptions& options);

class PlainValues {
 public:
  /// Takes the values of `values` that are not NULL. `width`: bytes of a decimal. False when the
  /// array is not of the kind's type.
  bool Set(PlainKind kind, const arrow::Array& values, int width);

  const std::string& bytes() const { return bytes_; }
  int64_t count() const { return count_; }
  /// Value i as it stands in bytes(); not for booleans.
  std::string_view At(int64_t i) const {
    const auto index = static_cast<size_t>(i);
    if (width_ > 0) return std::string_view(bytes_).substr(index * width_, width_);
    const size_t begin = index == 0 ? 0 : ends_[index - 1];
    return std::string_view(bytes_).substr(begin, ends_[index] - begin);
  }
  /// Bytes of a value; 0 where they differ.
  size_t width() const { return width_; }
  /// False when there are no values, or none that can be compared.
  bool has_bounds() const { return has_bounds_; }
  /// As statistics hold them.
  const std::string& min() const { return min_; }
  const std::string& max() const { return max_; }

 private:
  void Reset();
  template <typename Source, typename Stored>
  void SetNumbers(const arrow::ArrayData& data);
  void SetBooleans(const arrow::ArrayData& data);
  void SetDecimals(const arrow::ArrayData& data, size_t width);
  void SetBytes(const arrow::ArrayData& data);
  void SetInt96(const arrow::ArrayData& data);

  std::string bytes_;
  std::vector<uint32_t> ends_;  // Of values whose lengths differ.
  size_t width_ = 0;
  int64_t count_ = 0;
  bool has_bounds_ = false;
  std::string min_;
  std::string max_;
};

}  // namespace sluice::formats::parquet_format
