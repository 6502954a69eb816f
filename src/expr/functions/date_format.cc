// DATE_FORMAT, TO_TIMESTAMP, TO_TIMESTAMP_LTZ, TO_DATE.
#include <algorithm>
#include <cmath>
#include <limits>

#include "expr/cast_internal.h"
#include "expr/functions/date_text.h"
#include "expr/functions/lists.h"
#include "expr/kernel_support.h"
#include "expr/signature.h"
#include "expr/zone_offsets.h"
#include "types/calendar.h"
#include "types/value_text.h"

namespace sluice::expr {

namespace {

constexpr std::string_view kDefaultPattern = "yyyy-MM-dd HH:mm:ss";

/// DATE_FORMAT(TIMESTAMP | TIMESTAMP_LTZ, pattern).
Result<ArrayPtr> FormatTimestamps(const KernelCall& call) {
  const SqlType& type = *call.arguments[0].type;
  const bool local = type.kind() == TypeKind::kTimestampLtz;
  return FormatTimes(call, TimestampUnitsPerSecond(type.precision()),
                     local ? &call.context.session_zone : nullptr, PatternStyle::kTimestamp,
                     kDefaultPattern);
}

/// DATE_FORMAT(text, pattern): the text is read as yyyy-MM-dd HH:mm:ss first.
Result<ArrayPtr> FormatTexts(const KernelCall& call) {
  SLUICE_ASSIGN_OR_RETURN(const DatePattern source,
                          DatePattern::Compile(kDefaultPattern, PatternStyle::kCalendar));
  PatternSource patterns(PatternStyle::kCalendar);
  const TimeZone utc;
  std::string scratch;
  return MapText(
      call, call.row_count * 20,
      [&](TextBuilder& out, std::string_view text, std::string_view pattern) -> Result<bool> {
        ParsedTime time;
        if (!source.Parse(text, &time)) return false;
        SLUICE_ASSIGN_OR_RETURN(const DatePattern* target, patterns.Get(pattern));
        scratch.clear();
        SLUICE_RETURN_NOT_OK(
            target->Format(WallTimeOf(time.epoch_seconds, time.nanos, 0, &utc), &scratch));
        out.Append(scratch);
        return true;
      },
      TextOperand(call.arguments[0]), TextOperand(call.arguments[1]));
}

Result<ArrayPtr> DateFormatKernel(const KernelCall& call) {
  return call.arguments[0].type->is_character() ? FormatTexts(call) : FormatTimestamps(call);
}

Result<Signature> ResolveDateFormat(std::span<const Argument> arguments) {
  const SqlType& type = arguments[0].type;
  const SqlType pattern = AcceptedType(Accept::kText, arguments[1].type);
  if (pattern.kind() == TypeKind::kNull) return TypesDoNotFit();
  if (!type.is_timestamp() && !type.is_character()) return TypesDoNotFit();
  return Signature{{type, pattern}, SqlType::String()};
}

/// Reads "yyyy-MM-dd[ HH:mm:ss[.f]]"; a day beyond the month's end becomes the last one, as in the
/// peer.
bool ReadDefault(std::string_view text, int64_t* seconds, int32_t* nanos) {
  if (ParseTimestampText(text, seconds, nanos) == TextError::kNone) return true;
  // "2020-04-31 …": the day has two digits behind the second '-'.
  const size_t first = text.find('-', 4);
  const size_t second = first == std::string_view::npos ? first : text.find('-', first + 1);
  if (second == std::string_view::npos || second + 3 > text.size()) return false;
  const std::string_view day = text.substr(second + 1, 2);
  if (day != "29" && day != "30" && day != "31") return false;
  std::string changed(text);
  for (const std::string_view last : {"30", "29", "28"}) {
    changed.replace(second + 1, 2, last);
    if (ParseTimestampText(changed, seconds, nanos) == TextError::kNone) return true;
  }
  return false;
}

/// Reads texts with an optional pattern argument into seconds and nanoseconds of a wall clock;
/// `fn(ParsedTime)` makes the value.
template <typename Fn>
Result<ArrayPtr> ReadTimes(const KernelCall& call, Fn fn) {
  const TextOperand texts(call.arguments[0]);
  const auto read_default = [&](std::string_view text) -> std::optional<int64_t> {
    ParsedTime time;
    if (!ReadDefault(text, &time.epoch_seconds, &time.nanos)) return std::nullopt;
    return fn(time);
  };
  if (call.arguments.size() == 1) return MapValues<int64_t>(call, read_default, texts);
  PatternSource patterns(PatternStyle::kTimestamp);
  return MapValues<int64_t>(
      call,
      [&](std::string_view text, std::string_view pattern) -> Result<std::optional<int64_t>> {
        if (text.size() == kDefaultPattern.size() && pattern == kDefaultPattern) {
          return read_default(text);
        }
        SLUICE_ASSIGN_OR_RETURN(const DatePattern* compiled, patterns.Get(pattern));
        ParsedTime time;
        if (!compiled->Parse(text, &time)) return std::optional<int64_t>();
        return fn(time);
      },
      texts, TextOperand(call.arguments[1]));
}

std::optional<int64_t> Millis(int64_t seconds, int32_t nanos) {
  return seconds * 1000 + nanos / 1000000;
}

Result<ArrayPtr> ToTimestampKernel(const KernelCall& call) {
  return ReadTimes(call,
                   [](const ParsedTime& time) { return Millis(time.epoch_seconds, time.nanos); });
}

// Milliseconds of the years 0001 to 9999.
constexpr int64_t kFirstMillis = DaysFromCivil(1, 1, 1) * kMillisPerDay;
constexpr int64_t kEndMillis = DaysFromCivil(10000, 1, 1) * kMillisPerDay;

std::optional<int64_t> InYears(__int128 millis) {
  if (millis < kFirstMillis || millis >= kEndMillis) return std::nullopt;
  return static_cast<int64_t>(millis);
}

constexpr int64_t kMaxEpochPrecision = 18;

/// An integer that counts 10^-precision seconds, as milliseconds, cut toward the past.
std::optional<int64_t> MillisOfInteger(int64_t value, int64_t precision) {
  if (precision < 0 || precision > kMaxEpochPrecision) return std::nullopt;
  const auto exponent = static_cast<int>(precision);
  if (exponent == 3) return InYears(value);
  if (exponent < 3) {
    return InYears(static_cast<__int128>(value) * internal::PowerOfTen(3 - exponent));
  }
  return InYears(FloorDiv(value, static_cast<int64_t>(internal::PowerOfTen(exponent - 3))));
}

std::optional<int64_t> MillisOfDouble(double value, int64_t precision) {
  if (precision < 0 || precision > kMaxEpochPrecision) return std::nullopt;
  const double millis = value * std::pow(10.0, static_cast<double>(3 - precision));
  if (!(std::fabs(millis) < 1e18)) return std::nullopt;
  return InYears(static_cast<int64_t>(std::floor(millis)));
}

Result<ArrayPtr> EpochToTimestamp(const KernelCall& call) {
  const KernelArgument& number = call.arguments[0];
  const auto map = [&](const auto& operand, auto convert) -> Result<ArrayPtr> {
    using Value = std::decay_t<decltype(operand[0])>;
    if (call.arguments.size() == 1) {
      return MapValues<int64_t>(
          call, [&](Value value) { return convert(value, 3); }, operand);
    }
    return MapValues<int64_t>(
        call, [&](Value value, int64_t precision) { return convert(value, precision); }, operand,
        NumberOperand<int64_t>(call.arguments[1]));
  };
  if (number.type->kind() == TypeKind::kBigint) {
    return map(NumberOperand<int64_t>(number), &MillisOfInteger);
  }
  if (number.type->kind() == TypeKind::kDecimal) {
    const int scale = number.type->scale();
    return map(DecimalOperand(number),
               [scale](__int128 value, int64_t precision) -> std::optional<int64_t> {
                 if (precision < 0 || precision > kMaxEpochPrecision) return std::nullopt;
                 // Nine fraction digits are more than milliseconds need.
                 const auto wanted = static_cast<int>(3 - precision) + scale;
                 if (wanted <= -38 || wanted >= 38) return std::nullopt;
                 if (scale == 0) {
                   if (value != static_cast<int64_t>(value)) return std::nullopt;
                   return MillisOfInteger(static_cast<int64_t>(value), precision);
                 }
                 const int drop = scale - static_cast<int>(3 - precision);
                 if (drop <= 0) return InYears(value * internal::PowerOfTen(-drop));
                 const __int128 divisor = internal::PowerOfTen(drop);
                 __int128 millis = value / divisor;
                 if (value % divisor < 0) --millis;
                 return InYears(millis);
               });
  }
  return map(NumberOperand<double>(number), &MillisOfDouble);
}

/// Instant of what was read, in milliseconds.
int64_t InstantMillis(const ParsedTime& time, ZoneOffsets& offsets) {
  int64_t seconds = time.epoch_seconds;
  if (time.offset_seconds) {
    seconds -= *time.offset_seconds;
  } else if (time.zone) {
    seconds = time.zone->LocalToInstantSeconds(seconds);
  } else {
    seconds = offsets.ToInstant(seconds);
  }
  return *Millis(seconds, time.nanos);
}

Result<ArrayPtr> TextToInstant(const KernelCall& call) {
  if (call.arguments.size() < 3) {
    const TimeZone utc;
    ZoneOffsets offsets(utc);
    return ReadTimes(call, [&](const ParsedTime& time) -> std::optional<int64_t> {
      return InstantMillis(time, offsets);
    });
  }
  PatternSource patterns(PatternStyle::kTimestamp);
  std::string zone_name;
  std::optional<TimeZone> zone;
  return MapValues<int64_t>(
      call,
      [&](std::string_view text, std::string_view pattern,
          std::string_view name) -> Result<std::optional<int64_t>> {
        if (!zone || name != zone_name) {
          const Result<TimeZone> found = TimeZone::Find(name);
          if (!found.ok()) return std::optional<int64_t>();
          zone = *found;
          zone_name = std::string(name);
        }
        SLUICE_ASSIGN_OR_RETURN(const DatePattern* compiled, patterns.Get(pattern));
        ParsedTime time;
        const bool read = pattern == kDefaultPattern
                              ? ReadDefault(text, &time.epoch_seconds, &time.nanos)
                              : compiled->Parse(text, &time);
        if (!read) return std::optional<int64_t>();
        ZoneOffsets offsets(*zone);
        return std::optional<int64_t>(InstantMillis(time, offsets));
      },
      TextOperand(call.arguments[0]), TextOperand(call.arguments[1]),
      TextOperand(call.arguments[2]));
}

Result<ArrayPtr> ToTimestampLtzKernel(const KernelCall& call) {
  return call.arguments[0].type->is_numeric() ? EpochToTimestamp(call) : TextToInstant(call);
}

Result<Signature> ResolveToTimestampLtz(std::span<const Argument> arguments) {
  Signature signature{{}, SqlType::TimestampLtz(3)};
  const SqlType& first = arguments[0].type;
  if (first.is_numeric()) {
    if (arguments.size() > 2) return TypesDoNotFit();
    const bool decimal = first.kind() == TypeKind::kDecimal;
    signature.arguments.push_back(decimal
                                      ? first
                                      : (first.is_integer() ? SqlType::Bigint() : SqlType::Double())
                                            .WithNullable(first.nullable()));
  } else {
    signature.arguments.push_back(AcceptedType(Accept::kText, first));
  }
  for (size_t i = 1; i < arguments.size(); ++i) {
    signature.arguments.push_back(
        AcceptedType(first.is_numeric() ? Accept::kInteger : Accept::kText, arguments[i].type));
  }
  for (const SqlType& type : signature.arguments) {
    if (type.kind() == TypeKind::kNull) return TypesDoNotFit();
  }
  if (arguments.size() == 3) {
    // A zone that does not exist is told when planning.
    if (const std::optional<std::string> zone = LiteralText(arguments[2])) {
      const Result<TimeZone> found = TimeZone::Find(*zone);
      if (!found.ok()) return Status::Validation(found.status().message());
    }
  }
  return signature;
}

Result<ArrayPtr> ToDateKernel(const KernelCall& call) {
  const TextOperand texts(call.arguments[0]);
  if (call.arguments.size() == 1) {
    return MapValues<int32_t>(
        call,
        [](std::string_view text) -> std::optional<int32_t> {
          int32_t days = 0;
          if (ParseDateText(text, &days) != TextError::kNone) return std::nullopt;
          return days;
        },
        texts);
  }
  PatternSource patterns(PatternStyle::kCalendar);
  return MapValues<int32_t>(
      call,
      [&](std::string_view text, std::string_view pattern) -> Result<std::optional<int32_t>> {
        SLUICE_ASSIGN_OR_RETURN(const DatePattern* compiled, patterns.Get(pattern));
        ParsedTime time;
        if (!compiled->Parse(text, &time)) return std::optional<int32_t>();
        return std::optional<int32_t>(
            static_cast<int32_t>(FloorDiv(time.epoch_seconds, kSecondsPerDay)));
      },
      texts, TextOperand(call.arguments[1]));
}

}  // namespace

std::span<const ScalarFunction> DateFormatFunctions() {
  constexpr std::string_view kGroup = "temporal";
  using A = Accept;
  static const ScalarFunction kFunctions[] = {
      {.name = "DATE_FORMAT",
       .group = kGroup,
       .resolve = &ResolveDateFormat,
       .min_arguments = 2,
       .max_arguments = 2,
       .nulls = Nulls::kAlways,
       .kernel = &DateFormatKernel,
       .supported_forms =
           "'DATE_FORMAT(<TIMESTAMP>, <CHARACTER>)'\n'DATE_FORMAT(<CHARACTER>, <CHARACTER>)'",
       .doc =
           {"DATE_FORMAT(timestamp | text, pattern)",
            "A time as text by a pattern of Java's letters; TIMESTAMP_LTZ in the session's zone.",
            "DATE_FORMAT(TIMESTAMP '2020-05-20 12:34:56.789', 'yyyyMMddHHmmssSSS') => "
            "'20200520123456789'"}},
      {.name = "TO_TIMESTAMP",
       .group = kGroup,
       .signatures = {{{A::kText}, SqlType::Timestamp(3)},
                      {{A::kText, A::kText}, SqlType::Timestamp(3)}},
       .nulls = Nulls::kAlways,
       .kernel = &ToTimestampKernel,
       .doc = {"TO_TIMESTAMP(text[, pattern])",
               "A TIMESTAMP(3) of a text, NULL when it cannot be read.",
               "TO_TIMESTAMP('20/05/2020', 'dd/MM/yyyy') => TIMESTAMP '2020-05-20 00:00:00.000'"}},
      {.name = "TO_TIMESTAMP_LTZ",
       .group = kGroup,
       .resolve = &ResolveToTimestampLtz,
       .min_arguments = 1,
       .max_arguments = 3,
       .nulls = Nulls::kAlways,
       .kernel = &ToTimestampLtzKernel,
       .supported_forms =
           "'TO_TIMESTAMP_LTZ(<NUMERIC>[, <INTEGER>])'\n'TO_TIMESTAMP_LTZ(<CHARACTER>[, "
           "<CHARACTER>[, <CHARACTER>]])'",
       .doc = {"TO_TIMESTAMP_LTZ(number[, precision = 3]) | (text[, pattern[, zone = 'UTC']])",
               "An instant of a count of 10^-precision seconds since 1970, or of a text.",
               "CAST(TO_TIMESTAMP_LTZ(100, 2) AS STRING) => '1970-01-01 00:00:01.000'"}},
      {.name = "TO_DATE",
       .group = kGroup,
       .signatures = {{{A::kText}, SqlType::Date()}, {{A::kText, A::kText}, SqlType::Date()}},
       .nulls = Nulls::kAlways,
       .kernel = &ToDateKernel,
       .doc = {"TO_DATE(text[, pattern])", "A DATE of a text, NULL when it cannot be read.",
               "TO_DATE('05.20.2020', 'MM.dd.yyyy') => DATE '2020-05-20'"}},
  };
  return kFunctions;
}

}  // namespace sluice::expr
