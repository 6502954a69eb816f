#include "formats/text/column_text.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "formats/text/number_text.h"

namespace sluice::formats::text {

namespace {

/// Of a text with sign or quotes. Short: numbers of up to 18 digits or shortest form (24), times
/// (DATE to "+5881580-07-11", timestamps to "+292278994-08-17 07:12:55.807Z" or nine fraction
/// digits before 2262, and two quotes: 32).
bool IsShort(const BoundColumn& column) {
  return column.kind() != TypeKind::kDecimal || column.type().precision() <= 18;
}

}  // namespace

// Wide stores of the last value may pass its slot.
ColumnText::ColumnText() : slots_(new char[(kRows + 1) * kLongSlotBytes]) {}

bool ColumnText::IsBounded(TypeKind kind) {
  switch (kind) {
    case TypeKind::kBoolean:
    case TypeKind::kTinyint:
    case TypeKind::kSmallint:
    case TypeKind::kInt:
    case TypeKind::kBigint:
    case TypeKind::kFloat:
    case TypeKind::kDouble:
    case TypeKind::kDecimal:
    case TypeKind::kDate:
    case TypeKind::kTime:
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLtz:
    case TypeKind::kIntervalYearMonth:
    case TypeKind::kIntervalDayTime:
      return true;
    default:
      return false;
  }
}

void ColumnText::UseSlots(size_t slot_bytes) {
  if (in_slots_ && slot_bytes_ == slot_bytes) return;
  in_slots_ = true;
  slot_bytes_ = slot_bytes;
  readable_ = true;
  for (int row = 0; row < kRows; ++row) data_[row] = slot(row);
  std::fill(quoted_, quoted_ + kRows, uint8_t{0});
}

template <typename Write>
inline void ColumnText::FormatEach(const BoundColumn& column, int64_t first, int rows,
                                   const ScalarStyle& style, Write write) {
  if (!column.has_nulls()) {
    for (int row = 0; row < rows; ++row) {
      char* to = slot(row);
      sizes_[row] = static_cast<uint32_t>(write(first + row, to) - to);
    }
    return;
  }
  for (int row = 0; row < rows; ++row) {
    char* to = slot(row);
    if (column.IsNull(first + row)) {
      std::memcpy(to, style.null_text.data(), style.null_text.size());
      sizes_[row] = static_cast<uint32_t>(style.null_text.size());
    } else {
      sizes_[row] = static_cast<uint32_t>(write(first + row, to) - to);
    }
  }
}

template <typename T>
void ColumnText::FormatFloating(const BoundColumn& column, int64_t first, int rows,
                                const ScalarStyle& style, char* (*write)(T, char*)) {
  FormatEach(column, first, rows, style, [&](int64_t row, char* to) {
    const T value = column.value<T>(row);
    if (!style.quote_nonfinite || std::isfinite(value)) [[likely]]
      return write(value, to);
    *to++ = style.quote;
    to = write(value, to);
    *to++ = style.quote;
    return to;
  });
}

template <typename Write>
inline void ColumnText::FormatTimes(const BoundColumn& column, int64_t first, int rows,
                                    const ScalarStyle& style, Write write) {
  if (!style.quote_times) return FormatEach(column, first, rows, style, write);
  FormatEach(column, first, rows, style, [&](int64_t row, char* to) {
    *to++ = style.quote;
    to = write(row, to);
    *to++ = style.quote;
    return to;
  });
}

void ColumnText::FormatScalars(const BoundColumn& column, int64_t first, int rows,
                               const ScalarStyle& style) {
  UseSlots(IsShort(column) ? kSlotBytes : kLongSlotBytes);
  const bool has_days = column.kind() == TypeKind::kDate || column.type().is_timestamp();
  if (has_days && days_ == nullptr) days_ = std::make_unique<DayTexts>();
  const auto integers = [&]<typename T>(T) {
    FormatEach(column, first, rows, style,
               [&](int64_t row, char* to) { return WriteInteger(column.value<T>(row), to); });
  };
  switch (column.kind()) {
    case TypeKind::kBoolean:
      return FormatEach(column, first, rows, style, [&](int64_t row, char* to) {
        const bool value = column.boolean(row);
        std::memcpy(to, value ? "true    " : "false   ", 8);
        return to + (value ? 4 : 5);
      });
    case TypeKind::kTinyint:
      return integers(int8_t{});
    case TypeKind::kSmallint:
      return integers(int16_t{});
    case TypeKind::kInt:
    case TypeKind::kIntervalYearMonth:
      return integers(int32_t{});
    case TypeKind::kBigint:
    case TypeKind::kIntervalDayTime:
      return integers(int64_t{});
    case TypeKind::kFloat:
      return FormatFloating<float>(column, first, rows, style, &WriteFloat);
    case TypeKind::kDouble:
      return FormatFloating<double>(column, first, rows, style, &WriteDouble);
    case TypeKind::kDecimal:
      return FormatEach(column, first, rows, style, [&](int64_t row, char* to) {
        return WriteDecimal(column.value<arrow::Decimal128>(row), column.scale(),
                            style.plain_decimal, to);
      });
    case TypeKind::kDate:
      return FormatTimes(column, first, rows, style, [&](int64_t row, char* to) {
        return days_->Write(column.value<int32_t>(row), to);
      });
    case TypeKind::kTime:
      return FormatTimes(column, first, rows, style, [&](int64_t row, char* to) {
        return WriteTime(column.value<int32_t>(row), to);
      });
    default:
      return FormatTimestamps(column, first, rows, style);
  }
}

void ColumnText::FormatTimestamps(const BoundColumn& column, int64_t first, int rows,
                                  const ScalarStyle& style) {
  const char separator = style.timestamp_style == TimestampStyle::kSql ? ' ' : 'T';
  const int instant = column.kind() == TypeKind::kTimestampLtz ? 1 : 0;
  // Compiled for each unit: divisions by constants are multiplications.
  const auto format = [&]<int64_t kUnits>(std::integral_constant<int64_t, kUnits>) {
    FormatTimes(column, first, rows, style, [&](int64_t row, char* to) {
      constexpr int64_t kUnitsPerDay = 86'400 * kUnits;
      constexpr int kDigits = kUnits == 1000 ? 3 : kUnits == 1'000'000 ? 6 : 9;
      const auto value = column.value<int64_t>(row);
      int64_t day = value / kUnitsPerDay;
      int64_t rest = value % kUnitsPerDay;
      if (rest < 0) {
        rest += kUnitsPerDay;
        --day;
      }
      to = days_->Write(day, to);
      *to++ = separator;
      to = WriteClock(static_cast<uint32_t>(rest / kUnits), static_cast<uint32_t>(rest % kUnits),
                      kDigits, to);
      *to = 'Z';
      return to + instant;
    });
  };
  switch (column.units_per_second()) {
    case 1000:
      return format(std::integral_constant<int64_t, 1000>());
    case 1'000'000:
      return format(std::integral_constant<int64_t, 1'000'000>());
    default:
      return format(std::integral_constant<int64_t, 1'000'000'000>());
  }
}

void ColumnText::StartTexts(bool readable) {
  in_slots_ = false;
  has_own_ = false;
  readable_ = readable;
  own_.Truncate(0);
}

OutputBuffer& ColumnText::Begin(int row) {
  if (!has_own_) {
    has_own_ = true;
    std::fill(own_begin_, own_begin_ + kRows, int64_t{-1});
  }
  own_begin_[row] = static_cast<int64_t>(own_.size());
  quoted_[row] = 0;
  return own_;
}

void ColumnText::FinishTexts(int rows) {
  if (!has_own_) return;
  own_.Room(kWide);  // Only now does the buffer stay where it is.
  for (int row = 0; row < rows; ++row) {
    if (own_begin_[row] >= 0) data_[row] = own_.at(static_cast<size_t>(own_begin_[row]));
  }
}

}  // namespace sluice::formats::text
