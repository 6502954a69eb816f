#include "expr/functions/date_text.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "expr/zone_offsets.h"
#include "types/calendar.h"

namespace sluice::expr {

Result<const DatePattern*> PatternSource::Get(std::string_view pattern) {
  if (!have_last_ || pattern != last_text_) {
    SLUICE_ASSIGN_OR_RETURN(last_, DatePattern::Compile(pattern, style_));
    last_text_ = std::string(pattern);
    have_last_ = true;
  }
  return &last_;
}

WallTime WallTimeOf(int64_t local_seconds, int32_t nanos, int32_t offset_seconds,
                    const TimeZone* zone) {
  const int64_t day = FloorDiv(local_seconds, kSecondsPerDay);
  return {day, static_cast<int32_t>(local_seconds - day * kSecondsPerDay), nanos, offset_seconds,
          zone};
}

namespace {

constexpr int64_t kFarSeconds = 1000000000000000;

/// The text of one value and the range of values that have the same text.
class TextRange {
 public:
  TextRange(const DatePattern& pattern, int64_t units_per_second, const TimeZone* zone)
      : pattern_(pattern), units_(units_per_second), zone_(zone) {}

  int64_t begin = 0;
  uint64_t length = 0;  // Values v with uint64(v - begin) < length have `text`.
  std::string text;
  size_t fraction_at =
      0;  // Where the fraction stands that `text` was made with, if patterns print one.

  Status MoveTo(int64_t value) {
    const int64_t exact = FloorDiv(value, units_);
    // Thirty million years: what lies beyond (a count of seconds that is none) prints as the end of
    // that.
    const int64_t seconds = std::clamp(exact, -kFarSeconds, kFarSeconds);
    const auto nanos =
        seconds != exact ? 0
                         : static_cast<int32_t>((value - seconds * units_) * (1000000000 / units_));
    TimeZone::OffsetRange range{std::numeric_limits<int64_t>::min(),
                                std::numeric_limits<int64_t>::max(), 0};
    if (zone_ != nullptr) {
      if (seconds < range_.begin_seconds || seconds >= range_.end_seconds) {
        range_ = zone_->RangeAt(seconds);
      }
      range = range_;
    }
    const int64_t local = seconds + range.offset_seconds;
    text.clear();
    SLUICE_RETURN_NOT_OK(pattern_.Format(WallTimeOf(local, nanos, range.offset_seconds, zone_),
                                         &text, &fraction_at));
    const int64_t step = pattern_.fraction_digits() > 0 ? 1 : pattern_.unchanged_seconds();
    if (step == 0 || seconds != exact) {
      begin = value;
      length = 1;
      return {};
    }
    const int64_t first = FloorDiv(local, step) * step - range.offset_seconds;
    const int64_t from = std::max(first, range.begin_seconds);
    const int64_t to = std::min(first + step, range.end_seconds);
    // Values near the ends of 64 bits would overflow; such a range is given up.
    int64_t end = 0;
    if (__builtin_mul_overflow(from, units_, &begin) || __builtin_mul_overflow(to, units_, &end)) {
      begin = value;
      length = 1;
      return {};
    }
    length = static_cast<uint64_t>(end) - static_cast<uint64_t>(begin);
    return {};
  }

 private:
  const DatePattern& pattern_;
  int64_t units_;
  const TimeZone* zone_;
  TimeZone::OffsetRange range_{1, 0, 0};
};

constexpr size_t kCopyBytes = 32;

/// Texts of some ranges, found by where they begin: rows that jump between the hours of a few days
/// are formatted once an hour, not once a row.
class RangeCache {
 public:
  struct Entry {
    int64_t begin = 0;
    uint64_t length = 0;
    size_t size = 0;
    size_t fraction_at = 0;
    char text[kCopyBytes] = {};

    bool Has(int64_t value) const {
      return static_cast<uint64_t>(value) - static_cast<uint64_t>(begin) < length;
    }
  };

  RangeCache(const DatePattern& pattern, int64_t units_per_second)
      : step_(static_cast<uint64_t>(units_per_second) *
              static_cast<uint64_t>(std::max<int64_t>(
                  pattern.fraction_digits() > 0 ? 1 : pattern.unchanged_seconds(), 1))) {}

  /// Where the range of `value` is kept, if it is.
  Entry& At(int64_t value) { return entries_[static_cast<uint64_t>(value) / step_ % kEntries]; }

 private:
  static constexpr size_t kEntries = 128;
  uint64_t step_;
  std::array<Entry, kEntries> entries_;
};

/// The first `digits` of nine fraction digits of `rest` units, of which `units` make a second.
inline void WriteDigits(char* at, uint64_t rest, int64_t units, int digits) {
  auto nanos = static_cast<uint32_t>(rest) * static_cast<uint32_t>(1000000000 / units);
  for (int i = 9; i > digits; --i) nanos /= 10;
  for (int i = digits - 1; i >= 0; --i) {
    at[i] = static_cast<char>('0' + nanos % 10);
    nanos /= 10;
  }
}

/// One pattern for all rows. Rows of a stream mostly share the day, or even the second: most rows
/// are one comparison and one copy of fixed size. Others mostly have a range that came before.
Result<ArrayPtr> FormatConstant(const KernelCall& call, const NumberOperand<int64_t>& values,
                                const DatePattern& pattern, int64_t units, const TimeZone* zone) {
  const int64_t rows = call.row_count;
  NullMask nulls(rows, call.context.pool);
  for (const KernelArgument& argument : call.arguments) nulls.Merge(Operand(argument));
  TextRange range(pattern, units, zone);
  // Room for 20 characters a row and for the excess of the fixed copy.
  TextBuilder out(rows, rows * 20 + static_cast<int64_t>(kCopyBytes), call.context.pool);
  RangeCache cache(pattern, units);
  RangeCache::Entry entry;
  const bool check = nulls.any();
  const int fraction_digits = pattern.fraction_digits();
  for (int64_t row = 0; row < rows; ++row) {
    if (check && nulls.IsNull(row)) {
      out.EndRow();
      continue;
    }
    const int64_t value = values[row];
    if (!entry.Has(value)) {
      RangeCache::Entry& kept = cache.At(value);
      if (!kept.Has(value)) [[unlikely]] {
        SLUICE_RETURN_NOT_OK(range.MoveTo(value));
        kept = {range.begin, range.length, range.text.size(), range.fraction_at, {}};
        std::memcpy(kept.text, range.text.data(), std::min(kept.size, kCopyBytes));
      }
      entry = kept;
      if (entry.size > kCopyBytes) kept.length = 0;  // Such texts are in `range` only.
    }
    if (entry.size <= kCopyBytes) [[likely]] {
      char* at = out.Reserve(static_cast<int64_t>(kCopyBytes));
      std::memcpy(at, entry.text, kCopyBytes);
      if (fraction_digits > 0) {
        WriteDigits(at + entry.fraction_at, static_cast<uint64_t>(value - entry.begin), units,
                    fraction_digits);
      }
      out.Advance(at + entry.size);
    } else if (fraction_digits > 0) {
      WriteDigits(range.text.data() + range.fraction_at, static_cast<uint64_t>(value - entry.begin),
                  units, fraction_digits);
      out.Append(range.text);
    } else {
      out.Append(range.text);
    }
    out.EndRow();
  }
  return out.Finish(call.result_type.ToArrow(), nulls);
}

}  // namespace

Result<ArrayPtr> FormatTimes(const KernelCall& call, int64_t units_per_second, const TimeZone* zone,
                             PatternStyle style, std::string_view fallback) {
  const NumberOperand<int64_t> values(call.arguments[0]);
  const bool has_pattern = call.arguments.size() > 1;
  if (!has_pattern || call.arguments[1].constant) {
    std::string_view text = fallback;
    if (has_pattern) {
      const TextOperand pattern(call.arguments[1]);
      if (pattern.IsNull(0)) return NullResult(call);
      text = pattern[0];
    }
    SLUICE_ASSIGN_OR_RETURN(const DatePattern pattern, DatePattern::Compile(text, style));
    return FormatConstant(call, values, pattern, units_per_second, zone);
  }
  PatternSource patterns(style);
  return MapText(
      call, call.row_count * 20,
      [&](TextBuilder& out, int64_t value, std::string_view text) -> Status {
        SLUICE_ASSIGN_OR_RETURN(const DatePattern* pattern, patterns.Get(text));
        TextRange range(*pattern, units_per_second, zone);
        SLUICE_RETURN_NOT_OK(range.MoveTo(value));
        out.Append(range.text);
        return {};
      },
      values, TextOperand(call.arguments[1]));
}

}  // namespace sluice::expr
