// Random schemas and rows for the property tests of formats.
#pragma once

#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <arrow/api.h>

#include "common/random.h"
#include "formats/text/column_builder.h"
#include "types/batch.h"
#include "types/schema.h"

namespace sluice::formats {

/// What a format's values may be.
struct RandomLimits {
  int nesting = 3;
  bool nan = true;
  bool last_second_digits = true;  // Eight or nine digits in the last second before 1970.
  bool line_breaks = true;         // In texts.
};

class RandomTable {
 public:
  RandomTable(uint64_t seed, RandomLimits limits) : random_(seed), limits_(limits) {}

  SqlType Type(int depth = 0) {
    const uint64_t kind = random_.Below(depth < limits_.nesting ? 22 : 17);
    SqlType type = TypeOf(kind, depth);
    return random_.OneIn(5) ? type.NotNull() : type;
  }

  Schema MakeSchema() {
    std::vector<Column> columns;
    const uint64_t count = 1 + random_.Below(5);
    for (uint64_t i = 0; i < count; ++i) {
      std::string name = "c";
      name += std::to_string(i);
      columns.push_back({std::move(name), Type()});
    }
    return Schema(columns);
  }

  Batch MakeRows(const Schema& schema, int rows) {
    arrow::ArrayDataVector arrays;
    for (const Column& column : schema.columns()) {
      text::ColumnBuilder builder(column.type, arrow::default_memory_pool());
      for (int i = 0; i < rows; ++i) Append(builder);
      arrays.push_back(builder.Finish());
    }
    return Batch(arrow::RecordBatch::Make(schema.ToArrow(), rows, std::move(arrays)));
  }

 private:
  SqlType TypeOf(uint64_t kind, int depth) {
    const int precision = static_cast<int>(random_.Below(10));
    switch (kind) {
      case 0:
        return SqlType::Boolean();
      case 1:
        return SqlType::Tinyint();
      case 2:
        return SqlType::Smallint();
      case 3:
        return SqlType::Int();
      case 4:
      case 5:
        return SqlType::Bigint();
      case 6:
        return SqlType::Float();
      case 7:
        return SqlType::Double();
      case 8:
      case 9: {
        const int digits = 1 + static_cast<int>(random_.Below(38));
        return SqlType::Decimal(digits, static_cast<int>(random_.Below(digits + 1)));
      }
      case 10:
      case 11:
        return SqlType::String();
      case 12:
        return SqlType::Bytes();
      case 13:
        return SqlType::Date();
      case 14:
        return SqlType::Time(3);
      case 15:
        return SqlType::Timestamp(precision);
      case 16:
        return SqlType::TimestampLtz(precision);
      case 17:
      case 18:
        return SqlType::Array(Type(depth + 1));
      case 19:
        return SqlType::Map(SqlType::String().NotNull(), Type(depth + 1));
      default: {
        std::vector<RowField> fields;
        const uint64_t count = 1 + random_.Below(3);
        for (uint64_t i = 0; i < count; ++i) {
          std::string name = "f";
          name += std::to_string(i);
          fields.push_back({std::move(name), Type(depth + 1)});
        }
        return SqlType::Row(std::move(fields));
      }
    }
  }

  std::string Text() {
    static const std::string kPieces[] = {"a",  "B", "7",  " ", ",", "\"",
                                          "\\", "é", "한", "😀", "\n"};
    std::string text;
    const uint64_t pieces = std::size(kPieces) - (limits_.line_breaks ? 0 : 1);
    for (uint64_t n = random_.Below(5); n > 0; --n) text += kPieces[random_.Below(pieces)];
    if (random_.OneIn(200)) text.append(20000, 'x');
    return text;
  }

  // Small numbers, large ones, and the limits.
  template <typename T>
  T Integer() {
    switch (random_.Below(6)) {
      case 0:
        return std::numeric_limits<T>::min();
      case 1:
        return std::numeric_limits<T>::max();
      case 2:
        return static_cast<T>(random_.Next());
      default:
        return static_cast<T>(random_.Below(20));
    }
  }

  double Real() {
    switch (random_.Below(8)) {
      case 0:
        return limits_.nan ? std::nan("") : 0;
      case 1:
        return std::numeric_limits<double>::infinity();
      case 2:
        return -std::numeric_limits<double>::infinity();
      case 3:
        return -0.0;
      default:
        return (static_cast<double>(random_.Below(2'000'000)) - 1e6) / 128;
    }
  }

  arrow::Decimal128 Decimal(int precision) {
    std::string digits = random_.OneIn(2) ? "-" : "";
    const auto count = random_.OneIn(4) ? precision : 1 + random_.Below(precision);
    for (uint64_t i = 0; i < static_cast<uint64_t>(count); ++i)
      digits += static_cast<char>('0' + (random_.OneIn(4) ? 9 : random_.Below(10)));
    return arrow::Decimal128(digits);
  }

  // Years 1 to 9999, for nanoseconds 1700 to 2200; a third within seconds of 1970.
  int64_t Timestamp(int precision) {
    static constexpr int64_t kPower[] = {1, 10, 100, 1000};
    const int digits = precision <= 3 ? 3 : precision <= 6 ? 6 : 9;
    int64_t units = 1;
    for (int i = 0; i < digits; ++i) units *= 10;
    const int64_t low = precision > 6 ? -8'520'336'000 : -62'135'596'800;
    const int64_t high = precision > 6 ? 7'258'118'400 : 253'402'300'799;
    const int64_t seconds = random_.OneIn(3) ? random_.Between(-2, 2) : random_.Between(low, high);
    const int64_t cut = kPower[digits - precision];
    int64_t fraction = random_.Between(0, units - 1) / cut * cut;
    if (seconds == -1 && !limits_.last_second_digits) fraction = fraction / 1000 * 1000 / cut * cut;
    return seconds * units + fraction;
  }

  void Append(text::ColumnBuilder& builder) {
    const SqlType& type = builder.type();
    if (type.nullable() && random_.OneIn(5)) return builder.AppendNull();
    switch (type.kind()) {
      case TypeKind::kBoolean:
        return builder.Append<uint8_t>(random_.Below(2));
      case TypeKind::kTinyint:
        return builder.Append(Integer<int8_t>());
      case TypeKind::kSmallint:
        return builder.Append(Integer<int16_t>());
      case TypeKind::kInt:
        return builder.Append(Integer<int32_t>());
      case TypeKind::kBigint:
        return builder.Append(Integer<int64_t>());
      case TypeKind::kFloat:
        return builder.Append(static_cast<float>(Real()));
      case TypeKind::kDouble:
        return builder.Append(Real());
      case TypeKind::kDecimal:
        return builder.Append(Decimal(type.precision()));
      case TypeKind::kDate:
        return builder.Append(static_cast<int32_t>(random_.Between(-719'162, 2'932'896)));
      case TypeKind::kTime:
        return builder.Append(static_cast<int32_t>(random_.Below(86'400'000)));
      case TypeKind::kTimestamp:
      case TypeKind::kTimestampLtz:
        return builder.Append(Timestamp(type.precision()));
      case TypeKind::kVarchar:
      case TypeKind::kVarbinary:
        return builder.AppendBytes(Text());
      default:
        return AppendNested(builder);
    }
  }

  void AppendNested(text::ColumnBuilder& builder) {
    if (builder.type().kind() == TypeKind::kRow) {
      for (int i = 0; i < builder.child_count(); ++i) Append(builder.child(i));
    } else {
      const uint64_t count = random_.OneIn(20) ? 50 : random_.Below(4);
      for (uint64_t i = 0; i < count; ++i) {
        if (builder.child_count() == 2) {  // Keys of a map differ and are not NULL.
          builder.child(0).AppendBytes(Text() + std::to_string(i));
          Append(builder.child(1));
        } else {
          Append(builder.child(0));
        }
      }
    }
    builder.CloseNested();
  }

  Random random_;
  const RandomLimits limits_;
};

}  // namespace sluice::formats
