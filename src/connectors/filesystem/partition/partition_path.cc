#include "connectors/filesystem/partition/partition_path.h"

#include <limits>

#include <arrow/api.h>

#include "common/check.h"
#include "common/text.h"
#include "fs/file_system.h"
#include "types/calendar.h"
#include "types/text_writer.h"
#include "types/value_text.h"

namespace sluice::connectors::filesystem {

namespace {

// Hive's list, as FileUtils of Hive and PartitionPathUtils of Flink have it.
bool IsEscaped(unsigned char c) {
  if (c < 0x20 || c == 0x7F) return true;
  return std::string_view("\"#%'*/:=?\\{}[]^").find(static_cast<char>(c)) != std::string_view::npos;
}

void AppendEscaped(unsigned char c, std::string* out) {
  constexpr char kHex[] = "0123456789ABCDEF";
  out->push_back('%');
  out->push_back(kHex[c >> 4]);
  out->push_back(kHex[c & 15]);
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Names whose bytes are no text (BINARY values) would not be portable: their bytes beyond ASCII are
// escaped too.
std::string EscapeValue(std::string_view text) {
  if (IsValidUtf8(text)) return EscapePathName(text);
  std::string escaped;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x80 || IsEscaped(byte)) {
      AppendEscaped(byte, &escaped);
    } else {
      escaped.push_back(c);
    }
  }
  return escaped;
}

std::string EscapeKey(std::string_view key) {
  std::string escaped = EscapePathName(key);
  if (!fs::IsHiddenName(escaped)) return escaped;
  std::string visible;
  AppendEscaped(static_cast<unsigned char>(escaped[0]), &visible);
  return visible.append(escaped, 1, std::string::npos);
}

// Java's LocalDateTime.toString: seconds only when there are any, the fraction in groups of three
// digits.
std::string IsoTimestampText(int64_t epoch_seconds, int32_t nanos) {
  const int64_t days = FloorDiv(epoch_seconds, kSecondsPerDay);
  const auto second_of_day = static_cast<uint32_t>(epoch_seconds - days * kSecondsPerDay);
  std::string text;
  if (CivilFromDays(days).year > 9999) text.push_back('+');
  AppendDateText(static_cast<int32_t>(days), &text);
  char buffer[text::kMaxTimestampBytes];
  const char* end = text::WriteTimeOfDay(buffer, second_of_day);
  text.push_back('T');
  const bool with_seconds = second_of_day % 60 != 0 || nanos != 0;
  text.append(buffer, static_cast<size_t>(end - buffer) - (with_seconds ? 0 : 3));
  if (nanos != 0) {
    const int digits = nanos % 1'000'000 == 0 ? 3 : nanos % 1000 == 0 ? 6 : 9;
    end = text::WriteFraction(buffer, static_cast<uint32_t>(nanos), digits);
    text.append(buffer, static_cast<size_t>(end - buffer));
  }
  return text;
}

Status DoesNotFit(const SqlType& type, std::string_view text, std::string_view expected) {
  return Status::DataError("Cannot read the partition value '" + Printable(text) + "' as " +
                           type.WithNullable(true).ToString() + ": expected " +
                           std::string(expected) + ".");
}

bool IsDigits(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// "[+-]yyyy-M-d"; what days a month has is checked by the parser.
bool HasDateShape(std::string_view text) {
  if (text.starts_with("+") || text.starts_with("-")) text.remove_prefix(1);
  const std::vector<std::string_view> parts = Split(text, '-');
  return parts.size() == 3 && IsDigits(parts[0]) && parts[0].size() >= 4 && IsDigits(parts[1]) &&
         parts[1].size() <= 2 && IsDigits(parts[2]) && parts[2].size() <= 2;
}

template <typename ScalarType>
Result<std::shared_ptr<arrow::Scalar>> IntegerFromText(const SqlType& type, std::string_view text) {
  using Value = typename ScalarType::ValueType;
  const std::optional<int64_t> value = ParseInt64(text);
  if (!value || *value < std::numeric_limits<Value>::min() ||
      *value > std::numeric_limits<Value>::max()) {
    return DoesNotFit(type, text, "a whole number in its range");
  }
  return std::make_shared<ScalarType>(static_cast<Value>(*value));
}

// 0001-01-01 and 9999-12-31: what a DATE can hold.
constexpr int64_t kFirstDay = -719162;
constexpr int64_t kLastDay = 2932896;

Result<std::shared_ptr<arrow::Scalar>> DateFromText(const SqlType& type, std::string_view text) {
  if (HasDateShape(text)) {
    int32_t days = 0;
    if (ParseDateText(text.starts_with("+") ? text.substr(1) : text, &days) == TextError::kNone) {
      return std::make_shared<arrow::Date32Scalar>(days);
    }
  } else if (const auto days = ParseInt64(text); days && *days >= kFirstDay && *days <= kLastDay) {
    return std::make_shared<arrow::Date32Scalar>(static_cast<int32_t>(*days));
  }
  return DoesNotFit(type, text, "a date like 2020-05-20, or the day number that Flink writes");
}

Result<std::shared_ptr<arrow::Scalar>> TimeFromText(const SqlType& type, std::string_view text) {
  int32_t millis = 0;
  if (text.find(':') != std::string_view::npos) {
    if (ParseTimeText(text, &millis) == TextError::kNone) {
      return std::make_shared<arrow::Time32Scalar>(millis, arrow::TimeUnit::MILLI);
    }
  } else if (const auto number = ParseInt64(text);
             number && *number >= 0 && *number < kMillisPerDay) {
    return std::make_shared<arrow::Time32Scalar>(static_cast<int32_t>(*number),
                                                 arrow::TimeUnit::MILLI);
  }
  return DoesNotFit(type, text,
                    "a time like 12:34:56, or the milliseconds of the day that Flink writes");
}

Result<std::shared_ptr<arrow::Scalar>> TimestampFromText(const SqlType& type,
                                                         std::string_view text) {
  std::string normal(text);
  if (type.kind() == TypeKind::kTimestampLtz && normal.ends_with("Z")) normal.pop_back();
  if (normal.starts_with("+")) normal.erase(0, 1);
  const size_t separator = normal.find_first_of("T ");
  bool good = HasDateShape(std::string_view(normal).substr(0, separator));
  if (separator != std::string::npos) {
    normal[separator] = ' ';
    const auto colons =
        std::count(normal.begin() + static_cast<std::ptrdiff_t>(separator), normal.end(), ':');
    good = good && (colons == 1 || colons == 2);
    if (colons == 1) normal.append(":00");
  }
  int64_t seconds = 0;
  int32_t nanos = 0;
  int64_t value = 0;
  if (!good || ParseTimestampText(normal, &seconds, &nanos) != TextError::kNone) {
    return DoesNotFit(type, text, "a timestamp like 2020-05-20T12:34:56");
  }
  if (!JoinTimestamp(seconds, nanos, type.precision(), &value)) {
    return DoesNotFit(type, text,
                      "one between the years 1677 and 2262, which nanoseconds can hold");
  }
  return std::make_shared<arrow::TimestampScalar>(value, type.ToArrow());
}

// Of a text that is not all UTF-8: the bytes of the character at its start, 0 where there is none.
size_t CharacterLength(std::string_view text) {
  for (size_t length = 1; length <= std::min<size_t>(4, text.size()); ++length) {
    if (IsValidUtf8(text.substr(0, length))) return length;
  }
  return 0;
}

Result<std::shared_ptr<arrow::Scalar>> CharacterFromText(const SqlType& type,
                                                         std::string_view text) {
  std::string value = TextOfName(text);
  if (type.kind() == TypeKind::kChar) {
    const size_t count = CodePointCount(value);
    const auto length = static_cast<size_t>(type.length());
    if (count < length) value.append(length - count, ' ');
  }
  return std::make_shared<arrow::StringScalar>(std::move(value));
}

Result<std::shared_ptr<arrow::Scalar>> DecimalFromText(const SqlType& type, std::string_view text) {
  arrow::Decimal128 value;
  if (ParseDecimalText(text, type.precision(), type.scale(), &value) != TextError::kNone) {
    return DoesNotFit(type, text,
                      "a number of at most " + std::to_string(type.precision() - type.scale()) +
                          " digits before the point");
  }
  return std::make_shared<arrow::Decimal128Scalar>(value, type.ToArrow());
}

}  // namespace

std::string TextOfName(std::string_view bytes) {
  if (IsValidUtf8(bytes)) return std::string(bytes);
  std::string text;
  while (!bytes.empty()) {
    const size_t length = CharacterLength(bytes);
    if (length > 0) {
      text.append(bytes.substr(0, length));
    } else {
      const auto byte = static_cast<unsigned char>(bytes[0]);
      text += static_cast<char>(0xC0 | (byte >> 6));
      text += static_cast<char>(0x80 | (byte & 0x3F));
    }
    bytes.remove_prefix(std::max<size_t>(length, 1));
  }
  return text;
}

std::string EscapePathName(std::string_view text) {
  std::string escaped;
  escaped.reserve(text.size());
  for (const char c : text) {
    if (IsEscaped(static_cast<unsigned char>(c))) {
      AppendEscaped(static_cast<unsigned char>(c), &escaped);
    } else {
      escaped.push_back(c);
    }
  }
  return escaped;
}

std::string UnescapePathName(std::string_view text) {
  std::string plain;
  plain.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size()) {
      const int high = HexDigit(text[i + 1]);
      const int low = HexDigit(text[i + 2]);
      if (high >= 0 && low >= 0) {
        plain.push_back(static_cast<char>(high * 16 + low));
        i += 2;
        continue;
      }
    }
    plain.push_back(text[i]);
  }
  return plain;
}

std::string PartitionDirectoryName(std::string_view key, const std::optional<std::string>& value,
                                   std::string_view default_name) {
  const bool is_null = !value || value->empty();
  return EscapeKey(key) + "=" + (is_null ? EscapePathName(default_name) : EscapeValue(*value));
}

std::string PartitionPath(const std::vector<std::string>& keys,
                          const std::vector<std::optional<std::string>>& values,
                          std::string_view default_name) {
  SLUICE_CHECK(keys.size() == values.size(),
               std::to_string(keys.size()) + " keys, " + std::to_string(values.size()) + " values");
  std::string path;
  for (size_t i = 0; i < keys.size(); ++i) {
    if (i > 0) path.push_back('/');
    path += PartitionDirectoryName(keys[i], values[i], default_name);
  }
  return path;
}

std::optional<PartitionName> ParsePartitionDirectoryName(std::string_view name,
                                                         std::string_view default_name) {
  const size_t equals = name.rfind('=');
  if (equals == std::string_view::npos || equals == 0) return std::nullopt;
  PartitionName parsed{UnescapePathName(name.substr(0, equals)),
                       UnescapePathName(name.substr(equals + 1))};
  if (*parsed.value == default_name) parsed.value.reset();
  return parsed;
}

Status CheckPartitionType(std::string_view key, const SqlType& type) {
  if (!type.is_nested() && !type.is_interval() && type.kind() != TypeKind::kNull) return {};
  return Status::Validation("Partition column '" + std::string(key) + "' has type " +
                            type.ToString() +
                            ", which has no text for a directory name. Use a scalar type.");
}

std::optional<std::string> PartitionText(const SqlType& type, const arrow::Array& values,
                                         int64_t row) {
  if (values.IsNull(row)) return std::nullopt;
  std::string text;
  switch (type.kind()) {
    case TypeKind::kBoolean:
      text = static_cast<const arrow::BooleanArray&>(values).Value(row) ? "true" : "false";
      break;
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLtz: {
      int64_t seconds = 0;
      int32_t nanos = 0;
      SplitTimestamp(static_cast<const arrow::TimestampArray&>(values).Value(row),
                     TimestampUnitsPerSecond(type.precision()), &seconds, &nanos);
      text = IsoTimestampText(seconds, nanos);
      break;
    }
    default:
      AppendValueText(type, values, row, TimeZone(), &text);
  }
  if (text.empty()) return std::nullopt;
  return text;
}

Result<std::shared_ptr<arrow::Scalar>> PartitionValueFromText(
    const SqlType& type, const std::optional<std::string>& text) {
  if (!text || text->empty()) return arrow::MakeNullScalar(type.ToArrow());
  switch (type.kind()) {
    case TypeKind::kBoolean:
      if (EqualsIgnoreCaseAscii(*text, "true")) return std::make_shared<arrow::BooleanScalar>(true);
      if (EqualsIgnoreCaseAscii(*text, "false"))
        return std::make_shared<arrow::BooleanScalar>(false);
      return DoesNotFit(type, *text, "true or false");
    case TypeKind::kTinyint:
      return IntegerFromText<arrow::Int8Scalar>(type, *text);
    case TypeKind::kSmallint:
      return IntegerFromText<arrow::Int16Scalar>(type, *text);
    case TypeKind::kInt:
      return IntegerFromText<arrow::Int32Scalar>(type, *text);
    case TypeKind::kBigint:
      return IntegerFromText<arrow::Int64Scalar>(type, *text);
    case TypeKind::kFloat: {
      float value = 0;
      if (ParseFloatText(*text, &value) != TextError::kNone)
        return DoesNotFit(type, *text, "a number");
      return std::make_shared<arrow::FloatScalar>(value);
    }
    case TypeKind::kDouble: {
      double value = 0;
      if (ParseDoubleText(*text, &value) != TextError::kNone)
        return DoesNotFit(type, *text, "a number");
      return std::make_shared<arrow::DoubleScalar>(value);
    }
    case TypeKind::kDecimal:
      return DecimalFromText(type, *text);
    case TypeKind::kChar:
    case TypeKind::kVarchar:
      return CharacterFromText(type, *text);
    case TypeKind::kBinary:
    case TypeKind::kVarbinary:
      return std::make_shared<arrow::BinaryScalar>(*text);
    case TypeKind::kDate:
      return DateFromText(type, *text);
    case TypeKind::kTime:
      return TimeFromText(type, *text);
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLtz:
      return TimestampFromText(type, *text);
    default:
      return Status::Unsupported("Type " + type.ToString() + " cannot be a partition column's.");
  }
}

}  // namespace sluice::connectors::filesystem
