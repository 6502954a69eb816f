// What the text of a literal says: numbers, dates and times, intervals. The types are the binder's,
// the arithmetic is here.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/result.h"
#include "sql/syntax/expression.h"

namespace sluice::sql {

/// An exact number (LiteralKind::kInteger or kDecimal).
struct ExactNumber {
  int64_t unscaled = 0;  // 1.50 is 150 with scale 2.
  int precision = 0;     // All digits written before the point (a lone 0 counts) and after it.
  int scale = 0;
  bool is_integer = false;
};
/// Fails with kValidation "Numeric literal '…' out of range" when the unscaled value does not fit
/// into 64 bits.
Result<ExactNumber> ReadExactNumber(const LiteralExpr& literal);

/// An interval literal: months (YEAR, QUARTER, MONTH) or nanoseconds (the rest). Only one of the
/// two is not zero.
struct IntervalValue {
  bool is_months = false;
  int64_t months = 0;
  int64_t nanos = 0;
};
/// Fails with kValidation: text of another shape ("Illegal interval literal format '1x' for
/// INTERVAL DAY"), a part out of its range, or a leading field longer than its precision ("Interval
/// field value 100 exceeds precision of DAY(2) field"). Seconds, bare numbers and fields with a
/// written precision may be longer.
Result<IntervalValue> ReadInterval(const LiteralExpr& literal);

/// True for YEAR, QUARTER, MONTH (intervals of months).
bool IsMonthUnit(TimeUnit unit);

/// Checks a date or time text and pads its fields ("2020-1-2" gives "2020-01-02"); false when it is
/// none. A timestamp without time of day gets 00:00:00.
bool NormalizeDate(std::string_view text, std::string* normal);
bool NormalizeTime(std::string_view text, std::string* normal);
bool NormalizeTimestamp(std::string_view text, std::string* normal);

}  // namespace sluice::sql
