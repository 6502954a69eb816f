// Values to text and back, by the rules of CAST (sql.md §5.5). Used by CAST, partition paths,
// result printing and formats that follow the same rules; formats with rules of their own use the
// pieces.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <arrow/array/array_base.h>
#include <arrow/array/builder_base.h>
#include <arrow/scalar.h>
#include <arrow/util/decimal.h>

#include "common/result.h"
#include "types/sql_type.h"
#include "types/time_zone.h"

namespace sluice {

// ---- Value to text ----

/// Appends CAST(value AS STRING) of `values[row]`; "NULL" when it is null. `values` has type
/// type.ToArrow(). `zone` shows TIMESTAMP_LTZ. CHAR(n) values are taken as they are (padding is
/// stored, not made here).
void AppendValueText(const SqlType& type, const arrow::Array& values, int64_t row,
                     const TimeZone& zone, std::string* out);
std::string ScalarText(const SqlType& type, const arrow::Scalar& value, const TimeZone& zone);

/// Java's text of a number: shortest digits that read back, "1.0E10" form below 1e-3 and from 1e7,
/// "NaN", "Infinity".
void AppendDoubleText(double value, std::string* out);
void AppendFloatText(float value, std::string* out);
/// Plain digits with `scale` fraction digits: "1.10", "-0.05".
void AppendDecimalText(const arrow::Decimal128& unscaled, int scale, std::string* out);
/// "2020-01-02" from days since 1970-01-01.
void AppendDateText(int32_t days, std::string* out);
/// "01:02:03" from milliseconds of the day; with `precision` above 0 also a fraction of one to
/// three digits without zeros at its end: "10:00:00.0", "10:00:00.12".
void AppendTimeText(int32_t millis_of_day, int precision, std::string* out);
/// "2020-01-02 03:04:05.120" with exactly `precision` fraction digits, none for 0.
void AppendTimestampText(int64_t epoch_seconds, int32_t nanos, int precision, std::string* out);
/// "+1-03".
void AppendYearMonthText(int32_t months, std::string* out);
/// "+1 02:03:04.567".
void AppendDayTimeText(int64_t millis, std::string* out);

// ---- Text to value ----

enum class TextError : uint8_t { kNone, kInvalid, kEmpty, kOverflow };

/// "-12", "+5", " 12 ", "12.7" (fraction cut). Overflow is checked against [min, max].
TextError ParseIntegerText(std::string_view text, int64_t min, int64_t max, int64_t* value);
/// Java's Double.parseDouble: blanks trimmed, "1e3", "1.5f", "NaN", "Infinity".
TextError ParseDoubleText(std::string_view text, double* value);
TextError ParseFloatText(std::string_view text, float* value);
/// Also "1e3"; rounds HALF_UP to `scale`; kOverflow when more than `precision` digits remain.
TextError ParseDecimalText(std::string_view text, int precision, int scale,
                           arrow::Decimal128* value);
/// t true y yes 1 / f false n no 0 in any case, untrimmed.
TextError ParseBooleanText(std::string_view text, bool* value);
/// "2020-01-02", "2020-1-2", "2020-02", "2020"; outer blanks and what follows a blank are ignored.
TextError ParseDateText(std::string_view text, int32_t* days);
/// "12:34:56[.f]", "12:34", "12"; below 24:00.
TextError ParseTimeText(std::string_view text, int32_t* millis_of_day);
/// "yyyy-M-d[ H:m:s[.f1-9]]" and nothing around it. `stop` (may be null) receives the byte at which
/// reading stopped.
TextError ParseTimestampText(std::string_view text, int64_t* epoch_seconds, int32_t* nanos,
                             size_t* stop = nullptr);

/// The value of `text` as CAST(text AS type) gives it, for every scalar type; TIMESTAMP_LTZ is read
/// in `zone`. A DECIMAL that does not fit is a null scalar. Fails with kDataError and Flink's words
/// ("For input string: 'abc'. Invalid character found.").
Result<std::shared_ptr<arrow::Scalar>> ValueFromText(const SqlType& type, std::string_view text,
                                                     const TimeZone& zone);
/// The message of a failed cast of `text`.
Status TextErrorStatus(const SqlType& type, std::string_view text, TextError error);

// ---- The Arrow form of times ----

/// Units per second of the Arrow form of TIMESTAMP(precision): 1,000, 1,000,000 or 1,000,000,000.
int64_t TimestampUnitsPerSecond(int precision);
/// Splits an Arrow timestamp value with `units_per_second` into floor seconds and nanoseconds (0 to
/// 999,999,999).
void SplitTimestamp(int64_t value, int64_t units_per_second, int64_t* epoch_seconds,
                    int32_t* nanos);
/// Joins them, the fraction cut toward the past to `precision`; false when it does not fit
/// (nanoseconds before 1677 or after 2262).
bool JoinTimestamp(int64_t epoch_seconds, int32_t nanos, int precision, int64_t* value);

}  // namespace sluice
