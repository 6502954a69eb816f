// Casts from and to CHAR and VARCHAR, and among binary types.
#include <limits>

#include <arrow/api.h>

#include "common/text.h"
#include "expr/cast_internal.h"
#include "expr/utf8.h"
#include "expr/zone_offsets.h"
#include "types/calendar.h"
#include "types/text_writer.h"
#include "types/value_text.h"

namespace sluice::expr::internal {

namespace {

/// Number of bytes of the first `limit` code points; `*count` receives how many there are, at most
/// `limit`.
size_t PrefixBytes(std::string_view text, int32_t limit, int32_t* count) {
  int32_t seen = 0;
  size_t at = 0;
  for (; at < text.size(); ++at) {
    if ((static_cast<unsigned char>(text[at]) & 0xC0) != 0x80) {
      if (seen == limit) break;
      ++seen;
    }
  }
  *count = seen;
  return at;
}

/// Cuts and pads to the length of CHAR(n) or VARCHAR(n).
void AppendFitted(const SqlType& type, std::string_view text, TextBuilder& out) {
  const int32_t limit = type.length();
  if (type.kind() == TypeKind::kVarchar && text.size() <= static_cast<size_t>(limit)) {
    out.Append(text);
    return;
  }
  int32_t count = 0;
  const size_t bytes = PrefixBytes(text, limit, &count);
  out.Append(text.substr(0, bytes));
  if (type.kind() == TypeKind::kChar) out.AppendRepeated(' ', limit - count);
}

/// Longer than any number, date or time.
constexpr int32_t kUnlimited = 64;

template <typename T>
Result<ArrayPtr> IntegersToText(const CastJob& job) {
  return MapText(
      job.call(), job.values->length() * 8,
      [](TextBuilder& out, T value) {
        out.Advance(text::WriteInteger(out.Reserve(text::kMaxIntegerBytes), value));
      },
      NumberOperand<T>(job.argument()));
}

Result<ArrayPtr> TimestampsToText(const CastJob& job) {
  const int precision = job.from.precision();
  const int64_t units = TimestampUnitsPerSecond(precision);
  const bool local = job.from.kind() == TypeKind::kTimestampLtz;
  ZoneOffsets offsets(job.context.session_zone);
  // The date of the value before: rows of a stream are mostly of one day.
  int64_t cached_day = std::numeric_limits<int64_t>::min();
  char cached[text::kMaxDateBytes];
  size_t cached_size = 0;
  return MapText(
      job.call(), job.values->length() * (20 + precision),
      [&, precision, units, local](TextBuilder& out, int64_t value) {
        int64_t seconds = 0;
        int32_t nanos = 0;
        SplitTimestamp(value, units, &seconds, &nanos);
        if (local) seconds = offsets.ToLocal(seconds);
        const int64_t day = FloorDiv(seconds, kSecondsPerDay);
        if (day != cached_day) {
          cached_day = day;
          cached_size = static_cast<size_t>(text::WriteDate(cached, day) - cached);
        }
        char* at = out.Reserve(text::kMaxTimestampBytes);
        std::memcpy(at, cached, sizeof(cached));
        at += cached_size;
        *at++ = ' ';
        at = text::WriteTimeOfDay(at, static_cast<uint32_t>(seconds - day * kSecondsPerDay));
        out.Advance(text::WriteFraction(at, static_cast<uint32_t>(nanos), precision));
      },
      NumberOperand<int64_t>(job.argument()));
}

/// Values of any other type, by way of a scratch string.
Result<ArrayPtr> AnythingToText(const CastJob& job) {
  const int64_t rows = job.values->length();
  NullMask nulls(rows, job.context.pool);
  nulls.Merge(Operand(job.argument()));
  TextBuilder out(rows, rows * 16, job.context.pool);
  std::string scratch;
  for (int64_t row = 0; row < rows; ++row) {
    if (!nulls.IsNull(row)) {
      scratch.clear();
      AppendValueText(job.from, *job.values, row, job.context.session_zone, &scratch);
      AppendFitted(job.to, scratch, out);
    }
    out.EndRow();
  }
  return out.Finish(job.to.ToArrow(), nulls);
}

Result<ArrayPtr> BooleansToText(const CastJob& job) {
  return MapText(
      job.call(), job.values->length() * 5,
      [](TextBuilder& out, bool value) { out.Append(value ? "TRUE" : "FALSE"); },
      BooleanOperand(job.argument()));
}

Result<ArrayPtr> DatesToText(const CastJob& job) {
  return MapText(
      job.call(), job.values->length() * 10,
      [](TextBuilder& out, int32_t days) {
        out.Advance(text::WriteDate(out.Reserve(text::kMaxDateBytes), days));
      },
      NumberOperand<int32_t>(job.argument()));
}

/// Bytes that are not UTF-8 become U+FFFD, as in Java: text columns hold nothing else.
Result<ArrayPtr> BytesToText(const CastJob& job) {
  const TextOperand input(job.argument());
  std::string scratch;
  return MapText(
      job.call(), input.byte_count(),
      [&](TextBuilder& out, std::string_view bytes) {
        if (IsValidUtf8(bytes)) [[likely]] {
          AppendFitted(job.to, bytes, out);
          return;
        }
        scratch.clear();
        for (size_t at = 0; at < bytes.size();) utf8::Append(utf8::Decode(bytes, &at), &scratch);
        AppendFitted(job.to, scratch, out);
      },
      input);
}

}  // namespace

Result<ArrayPtr> CastToText(const CastJob& job) {
  if (job.from.is_binary()) return BytesToText(job);
  if (job.from.is_character()) {
    const TextOperand input(job.argument());
    return MapText(
        job.call(), input.byte_count(),
        [&](TextBuilder& out, std::string_view value) { AppendFitted(job.to, value, out); }, input);
  }
  if (job.to.kind() != TypeKind::kVarchar || job.to.length() < kUnlimited) {
    return AnythingToText(job);
  }
  switch (job.from.kind()) {
    case TypeKind::kBoolean:
      return BooleansToText(job);
    case TypeKind::kTinyint:
      return IntegersToText<int8_t>(job);
    case TypeKind::kSmallint:
      return IntegersToText<int16_t>(job);
    case TypeKind::kInt:
      return IntegersToText<int32_t>(job);
    case TypeKind::kBigint:
      return IntegersToText<int64_t>(job);
    case TypeKind::kDate:
      return DatesToText(job);
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLtz:
      return TimestampsToText(job);
    default:
      return AnythingToText(job);
  }
}

namespace {

/// `parse(text, T*)` answers a TextError; with TRY_CAST an error is NULL.
template <typename T, typename Parse>
Result<ArrayPtr> ParseTexts(const CastJob& job, Parse parse) {
  const bool try_cast = job.options.try_cast;
  return MapValues<T>(
      job.call(),
      [&, try_cast](std::string_view text) -> Result<std::optional<T>> {
        T value{};
        const TextError error = parse(text, &value);
        if (error == TextError::kNone) [[likely]]
          return std::optional<T>(value);
        if (try_cast) return std::optional<T>();
        return TextErrorStatus(job.to, text, error);
      },
      TextOperand(job.argument()));
}

template <typename T>
Result<ArrayPtr> ParseIntegers(const CastJob& job) {
  return ParseTexts<T>(job, [](std::string_view text, T* value) {
    int64_t wide = 0;
    const TextError error =
        ParseIntegerText(text, std::numeric_limits<T>::min(), std::numeric_limits<T>::max(), &wide);
    *value = static_cast<T>(wide);
    return error;
  });
}

Result<ArrayPtr> ParseDecimals(const CastJob& job) {
  const int precision = job.to.precision();
  const int scale = job.to.scale();
  const bool try_cast = job.options.try_cast;
  return MapValues<__int128>(
      job.call(),
      [&, precision, scale, try_cast](std::string_view text) -> Result<std::optional<__int128>> {
        arrow::Decimal128 value;
        const TextError error = ParseDecimalText(text, precision, scale, &value);
        if (error == TextError::kNone) {
          return std::optional<__int128>(static_cast<__int128>(value.high_bits()) << 64 |
                                         value.low_bits());
        }
        // A decimal that is too large is NULL in every kind of cast.
        if (try_cast || error == TextError::kOverflow) return std::optional<__int128>();
        return TextErrorStatus(job.to, text, error);
      },
      TextOperand(job.argument()));
}

Result<ArrayPtr> ParseTimestamps(const CastJob& job) {
  const bool local = job.to.kind() == TypeKind::kTimestampLtz;
  const int precision = job.to.precision();
  ZoneOffsets offsets(job.context.session_zone);
  return ParseTexts<int64_t>(job, [&, local, precision](std::string_view text, int64_t* value) {
    int64_t seconds = 0;
    int32_t nanos = 0;
    const TextError error = ParseTimestampText(text, &seconds, &nanos);
    if (error != TextError::kNone) return error;
    if (local) seconds = offsets.ToInstant(seconds);
    return JoinTimestamp(seconds, nanos, precision, value) ? TextError::kNone
                                                           : TextError::kOverflow;
  });
}

Result<ArrayPtr> BytesOf(const CastJob& job) {
  const auto length = static_cast<size_t>(job.to.length());
  const bool fixed = job.to.kind() == TypeKind::kBinary;
  const TextOperand input(job.argument());
  return MapText(
      job.call(), input.byte_count(),
      [=](TextBuilder& out, std::string_view value) {
        out.Append(value.substr(0, length));
        if (fixed && value.size() < length) {
          out.AppendRepeated('\0', static_cast<int64_t>(length - value.size()));
        }
      },
      input);
}

}  // namespace

Result<ArrayPtr> CastBinaryToBinary(const CastJob& job) { return BytesOf(job); }

Result<ArrayPtr> CastFromText(const CastJob& job) {
  switch (job.to.kind()) {
    case TypeKind::kBoolean:
      return ParseTexts<bool>(job, &ParseBooleanText);
    case TypeKind::kTinyint:
      return ParseIntegers<int8_t>(job);
    case TypeKind::kSmallint:
      return ParseIntegers<int16_t>(job);
    case TypeKind::kInt:
      return ParseIntegers<int32_t>(job);
    case TypeKind::kBigint:
      return ParseIntegers<int64_t>(job);
    case TypeKind::kFloat:
      return ParseTexts<float>(job, &ParseFloatText);
    case TypeKind::kDouble:
      return ParseTexts<double>(job, &ParseDoubleText);
    case TypeKind::kDecimal:
      return ParseDecimals(job);
    case TypeKind::kBinary:
    case TypeKind::kVarbinary:
      return BytesOf(job);
    case TypeKind::kDate:
      return ParseTexts<int32_t>(job, &ParseDateText);
    case TypeKind::kTime: {
      static constexpr int32_t kCut[] = {1000, 100, 10, 1};
      const int32_t cut = kCut[std::min(job.to.precision(), 3)];
      return ParseTexts<int32_t>(job, [cut](std::string_view text, int32_t* value) {
        const TextError error = ParseTimeText(text, value);
        *value = *value / cut * cut;
        return error;
      });
    }
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLtz:
      return ParseTimestamps(job);
    default:
      return Status::Unsupported("CAST from " + job.from.ToString() + " to " + job.to.ToString());
  }
}

}  // namespace sluice::expr::internal
