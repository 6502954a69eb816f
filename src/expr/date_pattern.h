// Java's date and time patterns: those of DateTimeFormatter for timestamps, and those of the older
// SimpleDateFormat for FROM_UNIXTIME, UNIX_TIMESTAMP, TO_DATE and DATE_FORMAT on text (sql.md
// §9.10).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "types/time_zone.h"

namespace sluice::expr {

enum class PatternStyle {
  kTimestamp,  // DateTimeFormatter: exact reading, S is the fraction, u the year.
  kCalendar,   // SimpleDateFormat: lenient reading, S is milliseconds, u the day of the week from
               // Monday 1.
};

/// A wall-clock time to print.
struct WallTime {
  int64_t day = 0;            // Since 1970-01-01.
  int32_t second_of_day = 0;  // 0 to 86,399.
  int32_t nanos = 0;
  int32_t offset_seconds = 0;      // Of the zone, for X, Z and the like.
  const TimeZone* zone = nullptr;  // Null: the time has no zone, and zone letters fail.
};

/// What was read. Missing fields have the values of 1970-01-01 00:00:00.
struct ParsedTime {
  int64_t epoch_seconds = 0;  // As if the wall clock were UTC, unless `offset_seconds` is there:
                              // then still the wall clock.
  int32_t nanos = 0;
  std::optional<int32_t> offset_seconds;  // The text named its offset or zone.
  std::optional<TimeZone> zone;
};

class DatePattern {
 public:
  /// Fails with kDataError on an unknown letter, as the peer fails when the job runs.
  static Result<DatePattern> Compile(std::string_view pattern, PatternStyle style);

  /// Appends the text of `time`. Fails when the pattern asks for a zone and there is none.
  Status Format(const WallTime& time, std::string* out, size_t* fraction_at = nullptr) const;
  /// Reads `text`; false when it does not follow the pattern.
  bool Parse(std::string_view text, ParsedTime* time) const;

  /// The length of time within which the text stays the same: 86,400 s for dates, 3,600, 60, 1, or
  /// 0 when fractions are printed.
  int64_t unchanged_seconds() const { return unchanged_seconds_; }
  /// Digits of the one fraction the pattern prints when all else stays the same for a second; 0
  /// when there is none, or more than that changes. The digits begin where Format leaves off in
  /// `*fraction_at`.
  int fraction_digits() const { return fraction_digits_; }
  bool needs_zone() const { return needs_zone_; }

  struct Token {
    char letter = 0;   // 0: literal text; '[' and ']': bounds of an optional part.
    int count = 0;     // How many letters.
    std::string text;  // Of a literal.
  };
  const std::vector<Token>& tokens() const { return tokens_; }

 private:
  PatternStyle style_ = PatternStyle::kTimestamp;
  std::vector<Token> tokens_;
  int64_t unchanged_seconds_ = 0;
  int fraction_digits_ = 0;
  bool needs_zone_ = false;
  size_t fixed_size_ =
      0;  // Bytes of the texts that ParseFixed reads; 0 when the pattern is not of that kind.

  void FindShortcuts();
  bool ParseFixed(std::string_view text, ParsedTime* time) const;
};

/// English names, from January and Monday.
extern const std::string_view kMonthNames[12];
extern const std::string_view kWeekdayNames[7];

}  // namespace sluice::expr
