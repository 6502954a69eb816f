#include "formats/text/temporal_text.h"

#include <array>
#include <bit>
#include <charconv>
#include <cstring>

#include "formats/text/swar.h"

namespace sluice::formats::text {
namespace {

constexpr int64_t kSecondsPerDay = 86400;

struct Civil {
  int64_t year;
  unsigned month;
  unsigned day;
};

/// Inverse of DaysFromCivil, by counting in 400-year eras that begin on 1 March.
Civil CivilFromAnyDays(int64_t days) {
  days += 719468;  // From 0000-03-01.
  const int64_t era = (days >= 0 ? days : days - 146096) / 146097;
  const auto day_of_era = static_cast<unsigned>(days - era * 146097);
  const unsigned year_of_era =
      (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  const unsigned day_of_year =
      day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const unsigned shifted_month = (5 * day_of_year + 2) / 153;
  const unsigned day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
  const unsigned month = shifted_month < 10 ? shifted_month + 3 : shifted_month - 9;
  return {static_cast<int64_t>(year_of_era) + era * 400 + (month <= 2 ? 1 : 0), month, day};
}

/// The same for years 0 to 9999 by multiplications (C. Neri and L. Schneider, "Euclidean affine
/// functions and their application to calendar algorithms", 2022).
Civil CivilFromDays(int64_t days) {
  if (days < -719468 || days > 2'932'896) return CivilFromAnyDays(days);
  const auto shifted = static_cast<uint32_t>(days + 719468);
  const uint32_t quarter_days = 4 * shifted + 3;
  const uint32_t century = quarter_days / 146097;
  const uint32_t century_days = (quarter_days % 146097) | 3;
  const uint64_t year_product = uint64_t{2939745} * century_days;
  const auto year_of_century = static_cast<uint32_t>(year_product >> 32);
  const uint32_t day_of_year = static_cast<uint32_t>(year_product) / 2939745 / 4;
  const uint32_t month_product = 2141 * day_of_year + 197913;
  const uint32_t month = month_product >> 16;
  const uint32_t day = (month_product & 0xFFFF) / 2141;
  const bool next_year = day_of_year >= 306;
  return {static_cast<int64_t>(100 * century + year_of_century) + (next_year ? 1 : 0),
          next_year ? month - 12 : month, day + 1};
}

unsigned DaysInMonth(int64_t year, unsigned month) {
  static constexpr unsigned kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  return month == 2 && leap ? 29 : kDays[month - 1];
}

char* PutTwo(unsigned value, char* out) {
  out[0] = static_cast<char>('0' + value / 10);
  out[1] = static_cast<char>('0' + value % 10);
  return out + 2;
}

char* PutYear(int64_t year, char* out) {
  if (year >= 0 && year <= 9999) {
    out = PutTwo(static_cast<unsigned>(year) / 100, out);
    return PutTwo(static_cast<unsigned>(year) % 100, out);
  }
  if (year > 9999) {
    *out++ = '+';
    return std::to_chars(out, out + 20, year).ptr;
  }
  *out++ = '-';
  for (int64_t limit = 1000; limit > 1 && -year < limit; limit /= 10) *out++ = '0';
  return std::to_chars(out, out + 20, -year).ptr;
}

char* PutDate(int64_t days, char* out) {
  const Civil civil = CivilFromDays(days);
  if (civil.year >= 0 && civil.year <= 9999) [[likely]] {
    const auto number = static_cast<uint32_t>(civil.year) * 10000 + civil.month * 100 + civil.day;
    const uint64_t digits = DigitBytes(number) | kZeros;  // yyyyMMdd
    StoreWord((digits & 0xFFFFFFFF) | (digits >> 32 & 0xFFFF) << 40 | 0x2D00002D00000000, out);
    out[8] = static_cast<char>(digits >> 48);
    out[9] = static_cast<char>(digits >> 56);
    return out + 10;
  }
  out = PutYear(civil.year, out);
  *out++ = '-';
  out = PutTwo(civil.month, out);
  *out++ = '-';
  return PutTwo(civil.day, out);
}

using FourChars = std::array<char, 4>;

/// "HHmm" of the minutes of a day.
constexpr std::array<FourChars, 24 * 60> kMinuteTexts = [] {
  std::array<FourChars, 24 * 60> texts{};
  for (unsigned i = 0; i < 24 * 60; ++i) {
    const unsigned number = i / 60 * 100 + i % 60;
    for (unsigned place = 0, rest = number; place < 4; ++place, rest /= 10)
      texts[i][3 - place] = static_cast<char>('0' + rest % 10);
  }
  return texts;
}();

/// `second_of_day` is below a day.
char* PutClock(uint32_t second_of_day, char* out) {
  const uint32_t minute = second_of_day / 60;
  const char* const digits = kMinuteTexts[minute].data();
  std::memcpy(out, digits, 2);
  out[2] = ':';
  std::memcpy(out + 3, digits + 2, 2);
  out[5] = ':';
  std::memcpy(out + 6, kMinuteTexts[second_of_day - minute * 60].data() + 2, 2);
  return out + 8;
}

/// ".12" without trailing zeros, nothing for zero. `digits`: how many the fraction has in full, 3,
/// 6 or 9.
char* PutFraction(uint32_t fraction, int digits, char* out) {
  if (fraction == 0) return out;
  *out++ = '.';
  const uint32_t last = digits == 9 ? fraction % 10 : 0;
  const uint32_t eight = digits == 9   ? fraction / 10
                         : digits == 6 ? fraction * 100
                                       : fraction * 100'000;
  const uint64_t bytes = DigitBytes(eight);
  StoreWord(bytes | kZeros, out);
  if (last != 0) {
    out[8] = static_cast<char>('0' + last);
    return out + 9;
  }
  return out + 8 - std::countl_zero(bytes) / 8;
}

// ---- Reading ----

constexpr char kNotADate[] = "expected a date like 2020-01-31";
constexpr char kNoSuchDay[] = "there is no such day";
constexpr char kNotATime[] = "expected a time like 10:00:00";
constexpr char kNotATimestamp[] = "expected a timestamp like 2020-01-31 10:00:00";
constexpr char kNotAnIsoTimestamp[] = "expected a timestamp like 2020-01-31T10:00:00";
constexpr char kNoSeconds[] = "seconds are required, as in 2020-01-31 10:00:00";
constexpr char kNoZone[] = "TIMESTAMP_LTZ needs a final Z, as in 2020-01-31 10:00:00Z";
constexpr char kNoIsoZone[] =
    "TIMESTAMP_LTZ needs a final Z or an offset, as in 2020-01-31T10:00:00+02:00";
constexpr char kUnwantedZone[] =
    "TIMESTAMP takes no Z and no offset; declare the column as TIMESTAMP_LTZ";
constexpr char kOutOfRange[] = "the instant does not fit the column's precision in 64 bits";
constexpr char kTrailing[] = "unexpected characters after the value";

/// Reads forward over one text.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : p_(text.data()), end_(text.data() + text.size()) {}

  bool at_end() const { return p_ == end_; }
  bool Take(char c) {
    if (p_ == end_ || *p_ != c) return false;
    ++p_;
    return true;
  }
  char peek() const { return p_ == end_ ? '\0' : *p_; }
  /// `min` to `max` digits.
  bool Number(int min, int max, int64_t* value) {
    int count = 0;
    int64_t number = 0;
    for (; count < max && p_ < end_ && IsDigit(*p_); ++count) number = number * 10 + (*p_++ - '0');
    *value = number;
    return count >= min;
  }
  bool Two(unsigned* value) {
    if (end_ - p_ < 2 || !IsDigit(p_[0]) || !IsDigit(p_[1])) return false;
    *value = static_cast<unsigned>((p_[0] - '0') * 10 + (p_[1] - '0'));
    p_ += 2;
    return true;
  }
  /// Any number of digits, of which nine count: nanoseconds.
  uint32_t Fraction() {
    uint32_t nanos = 0;
    int count = 0;
    for (; p_ < end_ && IsDigit(*p_); ++p_) {
      if (count < 9) {
        nanos = nanos * 10 + static_cast<uint32_t>(*p_ - '0');
        ++count;
      }
    }
    for (; count < 9; ++count) nanos *= 10;
    return nanos;
  }

 private:
  const char* p_;
  const char* end_;
};

/// "2020", "+12020", "-0001".
bool ReadYear(Cursor& cursor, int64_t* year) {
  if (cursor.Take('+')) return cursor.Number(5, 9, year);
  if (cursor.Take('-')) {
    if (!cursor.Number(4, 9, year)) return false;
    *year = -*year;
    return true;
  }
  return cursor.Number(4, 4, year);
}

bool ReadOneOrTwo(Cursor& cursor, bool lenient, unsigned* value) {
  int64_t number = 0;
  if (!cursor.Number(lenient ? 1 : 2, 2, &number)) return false;
  *value = static_cast<unsigned>(number);
  return true;
}

enum class DayOverflow { kRefuse, kClip };

const char* ReadDays(Cursor& cursor, bool lenient, DayOverflow overflow, int64_t* days) {
  int64_t year = 0;
  unsigned month = 0;
  unsigned day = 0;
  if (!ReadYear(cursor, &year) || !cursor.Take('-') || !ReadOneOrTwo(cursor, lenient, &month) ||
      !cursor.Take('-') || !ReadOneOrTwo(cursor, lenient, &day)) {
    return kNotADate;
  }
  if (month < 1 || month > 12 || day < 1 || day > 31) return kNoSuchDay;
  const unsigned last = DaysInMonth(year, month);
  if (day > last) {
    if (overflow == DayOverflow::kRefuse) return kNoSuchDay;
    day = last;
  }
  *days = DaysFromCivil(year, month, day);
  return nullptr;
}

struct ClockTime {
  int64_t seconds = 0;
  uint32_t nanos = 0;
  bool has_seconds = false;
};

/// "10:00", "10:00:00", "10:00:00.5". 24:00 with all else zero is let through for the caller to
/// judge.
bool ReadClock(Cursor& cursor, ClockTime* time) {
  unsigned hour = 0;
  unsigned minute = 0;
  unsigned second = 0;
  if (!cursor.Two(&hour) || !cursor.Take(':') || !cursor.Two(&minute)) return false;
  if (cursor.peek() == ':') {
    cursor.Take(':');
    if (!cursor.Two(&second)) return false;
    time->has_seconds = true;
    if (cursor.Take('.')) time->nanos = cursor.Fraction();
  }
  if (hour > 24 || minute > 59 || second > 59) return false;
  if (hour == 24 && (minute != 0 || second != 0 || time->nanos != 0)) return false;
  time->seconds = hour * 3600 + minute * 60 + second;
  return true;
}

/// "Z", "+02", "+02:00", "+0200", "+02:00:30" at the end of the text.
bool ReadOffset(Cursor& cursor, int64_t* seconds) {
  *seconds = 0;
  if (cursor.Take('Z') || cursor.Take('z')) return true;
  const bool negative = cursor.peek() == '-';
  if (!cursor.Take('-') && !cursor.Take('+')) return false;
  unsigned hour = 0;
  unsigned minute = 0;
  unsigned second = 0;
  if (!cursor.Two(&hour)) return false;
  if (!cursor.at_end()) {
    cursor.Take(':');
    if (!cursor.Two(&minute)) return false;
    if (cursor.Take(':') && !cursor.Two(&second)) return false;
  }
  if (hour > 18 || minute > 59 || second > 59) return false;
  *seconds = hour * 3600 + minute * 60 + second;
  if (negative) *seconds = -*seconds;
  return true;
}

constexpr int64_t kNanosPerUnit[] = {1'000'000'000, 100'000'000, 10'000'000, 1'000'000, 100'000,
                                     10'000,        1'000,       100,        10,        1};

const char* JoinInstant(int64_t seconds, uint32_t nanos, const TimestampRules& rules,
                        int64_t* value) {
  const int64_t cut = nanos - nanos % kNanosPerUnit[rules.precision];
  const int64_t fraction = cut / (1'000'000'000 / rules.units_per_second);
  // The seconds alone of the smallest values do not fit.
  const __int128 wide = static_cast<__int128>(seconds) * rules.units_per_second + fraction;
  *value = static_cast<int64_t>(wide);
  return *value == wide ? nullptr : kOutOfRange;
}

/// Bytes x of digits become 0 to 9, those of the separators 0, anything else shows in the top bit.
bool MatchPattern(uint64_t difference, uint64_t allowance) {
  return (((difference + allowance) | difference) & 0x8080808080808080) == 0;
}

unsigned Nibble(uint64_t word, int index) {
  return static_cast<unsigned>(word >> (8 * index)) & 0xF;
}

/// Days from 1970 to the first of each month of 1900 to 2155, and one more: what data mostly holds,
/// one look-up instead of thirty operations.
constexpr unsigned kFirstTableYear = 1900;
constexpr unsigned kTableMonths = 256 * 12;
constexpr std::array<int32_t, kTableMonths + 1> kMonthStarts = [] {
  std::array<int32_t, kTableMonths + 1> starts{};
  for (unsigned month = 0; month <= kTableMonths; ++month)
    starts[month] =
        static_cast<int32_t>(DaysFromCivil(kFirstTableYear + month / 12, month % 12 + 1, 1));
  return starts;
}();

/// False for days that do not exist, and outside of the table.
bool ReadTableDay(unsigned year, unsigned month, unsigned day, int32_t* days) {
  const unsigned index = (year - kFirstTableYear) * 12 + month - 1;
  if (month - 1 > 11 || index >= kTableMonths) return false;
  const int32_t start = kMonthStarts[index];
  *days = start + static_cast<int32_t>(day) - 1;
  return day - 1 < static_cast<unsigned>(kMonthStarts[index + 1] - start);
}

/// "yyyy-MM-ddxHH:mm:ss" of ordinary years, without branches per character. False: the general
/// reader decides.
bool ReadCommonTimestamp(const char* p, char separator, int64_t* seconds) {
  const uint64_t date = LoadWord(p) ^ LoadWord("0000-00-");
  const uint64_t middle_pattern =
      LoadWord("00 00:00") ^ (static_cast<uint64_t>(' ' ^ separator) << 16);
  const uint64_t middle = LoadWord(p + 8) ^ middle_pattern;
  // 0x76 lets 0 to 9 pass below the top bit, 0x7F only 0.
  if (!MatchPattern(date, 0x7F76767F76767676) || !MatchPattern(middle, 0x76767F76767F7676))
    return false;
  if (p[16] != ':' || !IsDigit(p[17]) || !IsDigit(p[18])) return false;
  const unsigned year =
      Nibble(date, 0) * 1000 + Nibble(date, 1) * 100 + Nibble(date, 2) * 10 + Nibble(date, 3);
  const unsigned month = Nibble(date, 5) * 10 + Nibble(date, 6);
  const unsigned day = Nibble(middle, 0) * 10 + Nibble(middle, 1);
  const unsigned hour = Nibble(middle, 3) * 10 + Nibble(middle, 4);
  const unsigned minute = Nibble(middle, 6) * 10 + Nibble(middle, 7);
  const auto second = static_cast<unsigned>((p[17] - '0') * 10 + (p[18] - '0'));
  int32_t days = 0;
  if (hour > 23 || minute > 59 || second > 59 || !ReadTableDay(year, month, day, &days))
    return false;
  *seconds = days * kSecondsPerDay + hour * 3600 + minute * 60 + second;
  return true;
}

/// "yyyy-MM-dd" of ordinary years.
bool ReadCommonDate(const char* p, int32_t* days) {
  const uint64_t date = LoadWord(p) ^ LoadWord("0000-00-");
  if (!MatchPattern(date, 0x7F76767F76767676) || !IsDigit(p[8]) || !IsDigit(p[9])) return false;
  const unsigned year =
      Nibble(date, 0) * 1000 + Nibble(date, 1) * 100 + Nibble(date, 2) * 10 + Nibble(date, 3);
  const unsigned month = Nibble(date, 5) * 10 + Nibble(date, 6);
  const auto day = static_cast<unsigned>((p[8] - '0') * 10 + (p[9] - '0'));
  return ReadTableDay(year, month, day, days);
}

/// ".ddd" of a column of milliseconds, the most common fraction: no division by what is known at
/// run time only. False: another form.
bool ReadMillis(const char* rest, int64_t seconds, const TimestampRules& rules, int64_t* value) {
  if (rules.precision != 3 || rules.instant) return false;
  uint32_t word;
  std::memcpy(&word, rest, 4);
  if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap32(word);
  const uint32_t digits = word ^ 0x3030302E;  // 0 for the point, 0 to 9 for digits.
  if ((((digits + 0x7676767F) | digits) & 0x80808080) != 0) return false;
  *value = seconds * 1000 + (digits >> 8 & 0xF) * 100 + (digits >> 16 & 0xF) * 10 + (digits >> 24);
  return true;
}

/// What may follow the seconds: nothing, a fraction, Z as the column wants.
const char* FinishCommonTimestamp(std::string_view rest, int64_t seconds,
                                  const TimestampRules& rules, int64_t* value, bool* done) {
  uint32_t nanos = 0;
  *done = false;
  if (!rest.empty() && rest.front() == '.') {
    size_t i = 1;
    int count = 0;
    for (; i < rest.size() && IsDigit(rest[i]) && count < 9; ++i, ++count) {
      nanos = nanos * 10 + static_cast<uint32_t>(rest[i] - '0');
    }
    nanos *= static_cast<uint32_t>(kNanosPerUnit[count]);
    rest.remove_prefix(i);
  }
  if (rules.instant ? rest != "Z" : !rest.empty()) return nullptr;
  *done = true;
  return JoinInstant(seconds, nanos, rules, value);
}

const char* CheckZone(Cursor& cursor, const TimestampRules& rules, int64_t* offset) {
  *offset = 0;
  const char next = cursor.peek();
  if (!rules.instant) {
    if (cursor.at_end()) return nullptr;
    return next == 'Z' || next == '+' || next == '-' ? kUnwantedZone : kTrailing;
  }
  if (rules.style == TimestampStyle::kSql) {
    if (!cursor.Take('Z')) return kNoZone;
  } else if (!ReadOffset(cursor, offset)) {
    return kNoIsoZone;
  }
  return cursor.at_end() ? nullptr : kTrailing;
}

}  // namespace

char* WriteDate(int64_t days, char* out) { return PutDate(days, out); }

char* WriteClock(uint32_t second_of_day, uint32_t fraction, int digits, char* out) {
  return PutFraction(fraction, digits, PutClock(second_of_day, out));
}

char* WriteTime(int32_t millis_of_day, char* out) {
  // What a damaged file gives may be no time of a day.
  const uint32_t millis = static_cast<uint32_t>(millis_of_day) % 86'400'000;
  return WriteClock(millis / 1000, millis % 1000, 3, out);
}

namespace {

/// Compiled for each unit: divisions by constants are multiplications.
template <int64_t kUnits>
char* PutTimestamp(int64_t value, char separator, bool instant, char* out) {
  int64_t seconds = value / kUnits;
  int64_t fraction = value % kUnits;
  if (fraction < 0) {
    fraction += kUnits;
    --seconds;
  }
  int64_t days = seconds / kSecondsPerDay;
  int64_t second_of_day = seconds % kSecondsPerDay;
  if (second_of_day < 0) {
    second_of_day += kSecondsPerDay;
    --days;
  }
  out = PutDate(days, out);
  *out++ = separator;
  out = PutClock(static_cast<unsigned>(second_of_day), out);
  constexpr int kDigits = kUnits == 1000 ? 3 : kUnits == 1'000'000 ? 6 : 9;
  out = PutFraction(static_cast<uint32_t>(fraction), kDigits, out);
  if (instant) *out++ = 'Z';
  return out;
}

}  // namespace

char* WriteTimestamp(int64_t value, int64_t units_per_second, TimestampStyle style, bool instant,
                     char* out) {
  const char separator = style == TimestampStyle::kSql ? ' ' : 'T';
  if (units_per_second == 1000) return PutTimestamp<1000>(value, separator, instant, out);
  if (units_per_second == 1'000'000) return PutTimestamp<1'000'000>(value, separator, instant, out);
  return PutTimestamp<1'000'000'000>(value, separator, instant, out);
}

const char* ParseDate(std::string_view text, bool lenient, int32_t* days) {
  if (text.size() == 10 && ReadCommonDate(text.data(), days)) return nullptr;
  Cursor cursor(text);
  int64_t wide = 0;
  if (const char* reason = ReadDays(cursor, lenient, DayOverflow::kRefuse, &wide)) return reason;
  if (!cursor.at_end()) return kTrailing;
  if (wide < INT32_MIN || wide > INT32_MAX) return kOutOfRange;
  *days = static_cast<int32_t>(wide);
  return nullptr;
}

const char* ParseTime(std::string_view text, const TimeRules& rules, int32_t* millis_of_day) {
  Cursor cursor(text);
  ClockTime time;
  if (!ReadClock(cursor, &time)) return kNotATime;
  if (!cursor.at_end()) return kTrailing;
  if (rules.seconds_required && !time.has_seconds) return "seconds are required, as in 10:00:00";
  if (time.seconds == kSecondsPerDay) {
    if (!rules.end_of_day) return "the last time of a day is 23:59:59.999";
    time.seconds = 0;
  }
  const int digits = rules.precision < 3 ? rules.precision : 3;
  const uint32_t nanos = time.nanos - time.nanos % static_cast<uint32_t>(kNanosPerUnit[digits]);
  *millis_of_day = static_cast<int32_t>(time.seconds * 1000 + nanos / 1'000'000);
  return nullptr;
}

TimestampRules MakeTimestampRules(TimestampStyle style, bool instant, int precision) {
  return {style, instant, precision,
          precision <= 3   ? 1000
          : precision <= 6 ? 1'000'000
                           : 1'000'000'000};
}

const char* ParseTimestamp(std::string_view text, const TimestampRules& rules, int64_t* value) {
  const bool sql = rules.style == TimestampStyle::kSql;
  const char separator = sql ? ' ' : 'T';
  int64_t seconds = 0;
  if (text.size() >= 19 && ReadCommonTimestamp(text.data(), separator, &seconds)) {
    if (text.size() == 23 && ReadMillis(text.data() + 19, seconds, rules, value)) return nullptr;
    bool done = false;
    const char* reason = FinishCommonTimestamp(text.substr(19), seconds, rules, value, &done);
    if (done) return reason;
  }
  Cursor cursor(text);
  int64_t days = 0;
  const DayOverflow overflow = sql ? DayOverflow::kClip : DayOverflow::kRefuse;
  if (const char* reason = ReadDays(cursor, false, overflow, &days)) {
    return reason == kNoSuchDay ? reason : sql ? kNotATimestamp : kNotAnIsoTimestamp;
  }
  if (!cursor.Take(separator)) return sql ? kNotATimestamp : kNotAnIsoTimestamp;
  ClockTime time;
  if (!ReadClock(cursor, &time)) return sql ? kNotATimestamp : kNotAnIsoTimestamp;
  if (sql && !time.has_seconds) return kNoSeconds;
  if (!sql && time.seconds == kSecondsPerDay) return kNotAnIsoTimestamp;
  int64_t offset = 0;
  if (const char* reason = CheckZone(cursor, rules, &offset)) return reason;
  return JoinInstant(days * kSecondsPerDay + time.seconds - offset, time.nanos, rules, value);
}

}  // namespace sluice::formats::text
