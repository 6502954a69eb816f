#include "formats/json/json_reader.h"

#include <cmath>
#include <limits>
#include <unordered_set>

#include <fmt/format.h>

#include "common/text.h"
#include "formats/json/decimal_bytes.h"
#include "formats/text/number_text.h"
#include "formats/text/swar.h"
#include "types/calendar.h"

namespace sluice::formats::json {

using text::ColumnBuilder;

namespace {

constexpr char kNotAnObject[] = "Expected an object or an array of objects";

void AppendInteger(TypeKind kind, int64_t value, ColumnBuilder& builder) {
  switch (kind) {
    case TypeKind::kTinyint:
      builder.Append(static_cast<int8_t>(value));
      return;
    case TypeKind::kSmallint:
      builder.Append(static_cast<int16_t>(value));
      return;
    case TypeKind::kInt:
    case TypeKind::kIntervalYearMonth:
      builder.Append(static_cast<int32_t>(value));
      return;
    default:
      builder.Append(value);
  }
}

std::string NumberForTime(TypeKind kind) {
  if (kind == TypeKind::kTimestamp || kind == TypeKind::kTimestampLtz) {
    return "A number is no timestamp. Declare the column as BIGINT and use TO_TIMESTAMP_LTZ";
  }
  return "A number is not accepted for this type";
}

}  // namespace

void JsonReader::Begin(std::string_view text) {
  errors_.clear();
  error_count_ = 0;
  cursor_.Start(text, options_.max_depth);
  cursor_.SkipBlanks();
}

bool JsonReader::ReadRow(const char* position, int64_t row) {
  cursor_.GoTo(position);
  if (cursor_.peek() != '{') return cursor_.Fail("Expected an object as the row");
  return ReadObject(*top_, row);
}

bool JsonReader::ReadSomeFields(const char* position, int64_t row) {
  cursor_.GoTo(position);
  if (cursor_.peek() != '{') return cursor_.Fail("Expected an object as the row");
  return ReadFields(*top_, row);
}

bool JsonReader::ReadColumn(const char* position, JsonColumn& column) {
  cursor_.GoTo(position);
  return ReadValue(column);
}

bool JsonReader::Reject(std::string reason) { return BadRecord(std::move(reason)); }

bool JsonReader::ReadRecord(std::string_view text, int64_t* row) {
  Begin(text);
  bool ok = false;
  if (cursor_.peek() == '{') [[likely]] {
    ok = ReadObject(*top_, *row);
    if (ok) ++*row;
  } else if (cursor_.peek() == '[') {
    ok = ReadTopArray(row);
  } else {
    ok = cursor_.SkipValue() && cursor_.Fail(kNotAnObject);
  }
  return ok ? ExpectEnd() : FailRecord();
}

bool JsonReader::ExpectEnd() {
  cursor_.SkipBlanks();
  if (cursor_.at_end()) [[likely]]
    return true;
  return BadRecord(fmt::format("Unexpected text behind the JSON value: \"{}\".",
                               Printable({cursor_.position(), cursor_.rest()}, 40)));
}

bool JsonReader::FailRecord() {
  if (cursor_.error() == nullptr) return false;  // A field or a missing name: noted already.
  std::string reason = cursor_.DescribeError();
  if (cursor_.failed_on_depth()) {
    reason += fmt::format(" '{}decode.max-depth' is {}.", options_.prefix, options_.max_depth);
  }
  return BadRecord(std::move(reason));
}

bool JsonReader::ReadTopArray(int64_t* row) {
  int64_t next = *row;
  cursor_.Advance(1);
  cursor_.SkipBlanks();
  if (cursor_.Take(']')) return true;
  if (!cursor_.Enter()) return false;
  while (true) {
    if (cursor_.peek() == '{') {
      if (!ReadObject(*top_, next)) return false;
      ++next;
    } else {
      const char* first = cursor_.position();
      if (!cursor_.SkipValue()) return false;
      if (!options_.ignore_parse_errors) return cursor_.Fail(kNotAnObject);
      AddError({"", std::string(kNotAnObject) + ".",
                Printable({first, static_cast<size_t>(cursor_.position() - first)})});
    }
    cursor_.SkipBlanks();
    if (cursor_.Take(']')) break;
    if (!cursor_.Take(',')) return cursor_.FailUnexpected();
    cursor_.SkipBlanks();
  }
  cursor_.Leave();
  *row = next;
  return true;
}

inline bool JsonReader::ReadObject(FieldTable& table, int64_t row) {
  return ReadFields(table, row) && (table.all_seen() || FillMissing(table));
}

bool JsonReader::ReadFields(FieldTable& table, int64_t row) {
  if (!cursor_.Enter()) return false;
  cursor_.Advance(1);
  table.Begin();
  cursor_.SkipBlanks();
  if (!cursor_.Take('}')) {
    for (size_t place = 0;; ++place) {
      int field = -1;
      if (!ReadMember(cursor_, table, place, &field)) return false;
      cursor_.SkipBlanks();
      if (!(field >= 0 ? ReadField(table, field, row) : cursor_.SkipValue())) return false;
      cursor_.SkipBlanks();
      if (cursor_.Take(',')) {
        cursor_.SkipBlanks();
        continue;
      }
      if (!cursor_.Take('}')) return cursor_.FailUnexpected();
      break;
    }
  }
  cursor_.Leave();
  return true;
}

/// Up to 16 digits, loaded eight at a time: no branch per digit.
template <typename T>
inline bool JsonReader::QuickInteger(JsonColumn& column) {
  const char* p = cursor_.position();
  const bool negative = *p == '-';
  if (negative) ++p;
  const uint64_t word = text::LoadWord(p);
  unsigned digits = text::LeadingDigits(word);
  if (digits == 0 || (*p == '0' && digits > 1)) return false;
  uint64_t number = text::LeadingNumber(word, digits);
  if (digits == 8) {
    const uint64_t more = text::LoadWord(p + 8);
    const unsigned more_digits = text::LeadingDigits(more);
    if (more_digits == 8) return false;
    if (more_digits > 0)
      number = number * text::kIntegerPowers[more_digits] + text::LeadingNumber(more, more_digits);
    digits += more_digits;
  }
  p += digits;
  if (*p == '.' || (*p | 0x20) == 'e') return false;
  const auto wide = negative ? -static_cast<int64_t>(number) : static_cast<int64_t>(number);
  if (static_cast<T>(wide) != wide) return false;
  column.builder->Append(static_cast<T>(wide));
  cursor_.GoTo(p);
  return true;
}

/// Up to 8 digits before and 7 behind the point.
inline bool JsonReader::QuickFixedPoint(JsonColumn& column) {
  const char* p = cursor_.position();
  const bool negative = *p == '-';
  if (negative) ++p;
  const uint64_t word = text::LoadWord(p);
  const unsigned digits = text::LeadingDigits(word);
  if (digits == 0 || (*p == '0' && digits > 1)) return false;
  uint64_t mantissa = text::LeadingNumber(word, digits);
  unsigned fraction_digits = 0;
  p += digits;
  if (*p == '.') {
    const uint64_t fraction = text::LoadWord(++p);
    fraction_digits = text::LeadingDigits(fraction);
    if (fraction_digits - 1 >= 7) return false;
    mantissa = mantissa * text::kIntegerPowers[fraction_digits] +
               text::LeadingNumber(fraction, fraction_digits);
    p += fraction_digits;
  }
  if (text::IsDigit(*p) || *p == '.' || (*p | 0x20) == 'e') return false;
  if (column.kind == TypeKind::kDouble) {
    double value = 0;
    if (!text::DoubleFromParts(mantissa, static_cast<int>(fraction_digits), negative, &value))
      return false;
    column.builder->Append(value);
  } else {
    arrow::Decimal128 value;
    if (!text::DecimalFromParts(mantissa, static_cast<int>(fraction_digits), negative,
                                column.rules.precision, column.rules.scale, &value)) {
      return false;
    }
    column.builder->Append(value);
  }
  cursor_.GoTo(p);
  return true;
}

inline bool JsonReader::CopyText(JsonColumn& column) {
  ColumnBuilder& builder = *column.builder;
  builder.Reserve(1);
  builder.ReserveBytes(static_cast<int64_t>(cursor_.rest()));
  char* end = nullptr;
  if (!cursor_.CopyString(builder.bytes_end(), &end)) return false;
  builder.CommitBytes(end - builder.bytes_end());
  return true;
}

inline bool JsonReader::ReadTimestamp(JsonColumn& column) {
  std::string_view text;
  bool had_escapes = false;
  if (!cursor_.ReadString(&text, &had_escapes)) return false;
  int64_t value = 0;
  if (text::ParseTimestamp(text::TrimJava(text), column.rules.timestamp, &value) == nullptr)
      [[likely]] {
    column.builder->Append(value);
    return true;
  }
  if (options_.epoch_times && text.ends_with('Z')) {
    const text::TimestampRules iso = text::MakeTimestampRules(text::TimestampStyle::kIso, true,
                                                              column.rules.timestamp.precision);
    if (text::ParseTimestamp(text::TrimJava(text), iso, &value) == nullptr) {
      column.builder->Append(value);
      return true;
    }
  }
  return BadField(column, text, text::DescribeBadScalar(column.rules, text));
}

/// The common pairs of type and value first; everything else in ReadAnyValue.
inline bool JsonReader::ReadValue(JsonColumn& column) {
  const char c = cursor_.peek();
  switch (column.kind) {
    case TypeKind::kInt:
      if (QuickInteger<int32_t>(column)) [[likely]]
        return true;
      break;
    case TypeKind::kBigint:
      if (QuickInteger<int64_t>(column)) [[likely]]
        return true;
      break;
    case TypeKind::kDouble:
    case TypeKind::kDecimal:
      if (QuickFixedPoint(column)) [[likely]]
        return true;
      break;
    case TypeKind::kChar:
    case TypeKind::kVarchar:
      if (c == '"') [[likely]]
        return CopyText(column);
      break;
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLtz:
      if (c == '"') [[likely]]
        return ReadTimestamp(column);
      break;
    default:
      break;
  }
  return ReadAnyValue(column);
}

inline bool JsonReader::ReadField(FieldTable& table, int field, int64_t row) {
  JsonColumn* column = table.column(field);
  const bool first = table.MarkSeen(field);
  if (column == nullptr) return cursor_.SkipValue();
  if (!first) column->builder->Truncate(row);  // Of repeated names the last wins.
  return ReadValue(*column);
}

bool JsonReader::FillMissing(FieldTable& table) {
  for (int i = 0; i < table.field_count(); ++i) {
    if (table.seen(i)) continue;
    if (options_.fail_on_missing_field) {
      return BadRecord(fmt::format(
          "Some field is missing in the JSON data. Could not find field with name '{}'. Set "
          "'{}fail-on-missing-field' = 'false' to read it as NULL.",
          table.name(i), options_.prefix));
    }
    table.column(i)->builder->AppendNull();
  }
  return true;
}

bool JsonReader::ReadAnyValue(JsonColumn& column) {
  switch (cursor_.peek()) {
    case '"':
      return ReadText(column);
    case '-':
    case '0':
    case '1':
    case '2':
    case '3':
    case '4':
    case '5':
    case '6':
    case '7':
    case '8':
    case '9':
      return ReadNumberValue(column);
    case 't':
    case 'f':
      return ReadBoolean(column);
    case 'n':
      if (!cursor_.TakeWord("null")) return cursor_.FailUnexpected();
      column.builder->AppendNull();
      return true;
    case '{':
    case '[':
      return ReadNested(column);
    default:
      return cursor_.FailUnexpected();
  }
}

bool JsonReader::ReadText(JsonColumn& column) {
  if (column.kind == TypeKind::kVarchar || column.kind == TypeKind::kChar) return CopyText(column);
  std::string_view text;
  bool had_escapes = false;
  if (!cursor_.ReadString(&text, &had_escapes)) return false;
  if (column.bytes_scale) return AppendDecimalBytes(column, text, *column.bytes_scale);
  if (text::AppendScalar(column.rules, text, *column.builder)) [[likely]]
    return true;
  std::string reason = text::DescribeBadScalar(column.rules, text);
  if (column.kind == TypeKind::kDecimal) reason += options_.decimal_hint;
  return BadField(column, text, std::move(reason));
}

bool JsonReader::AppendDecimalBytes(JsonColumn& column, std::string_view base64, int scale) {
  std::string number;
  if (DecimalFromBytes(base64, scale, &number) &&
      text::AppendScalar(column.rules, number, *column.builder)) {
    return true;
  }
  return BadField(column, base64,
                  "\"" + Printable(base64, 40) + "\" is not the Base64 of a decimal's bytes");
}

bool JsonReader::ReadNumberValue(JsonColumn& column) {
  NumberToken number;
  return cursor_.ReadNumber(&number) && AppendNumber(column, number);
}

/// INT and BIGINT take the whole part of any number.
bool JsonReader::AppendCutInteger(JsonColumn& column, const NumberToken& number) {
  const text::ScalarRules& rules = column.rules;
  int64_t value = 0;
  bool fits = false;
  if (!number.has_exponent) {
    std::string_view whole = number.text.substr(0, number.text.find('.'));
    fits = text::ParseInteger(whole, rules.min, rules.max, &value);
  } else {
    double wide = 0;
    fits = text::ParseDouble(number.text, &wide) && wide > -9.2233720368547758e18 &&
           wide < 9.2233720368547758e18;
    if (fits) {
      value = static_cast<int64_t>(wide);
      fits = value >= rules.min && value <= rules.max;
    }
  }
  if (!fits)
    return BadField(column, number.text,
                    "Value out of range. Value:\"" + Printable(number.text) + "\"");
  AppendInteger(column.kind, value, *column.builder);
  return true;
}

/// False when the number is no time of the column.
bool JsonReader::AppendEpoch(JsonColumn& column, const NumberToken& number) {
  constexpr int64_t kFirstDay = -719'162;  // 0001-01-01 and 9999-12-31.
  constexpr int64_t kLastDay = 2'932'896;
  int64_t value = 0;
  switch (column.kind) {
    case TypeKind::kDate:
      if (!text::ParseInteger(number.text, kFirstDay, kLastDay, &value)) return false;
      column.builder->Append(static_cast<int32_t>(value));
      return true;
    case TypeKind::kTime: {
      constexpr int64_t kMillis = 1000;
      const int64_t units = column.epoch_units == 0 ? kMillis : column.epoch_units;
      if (!text::ParseInteger(number.text, 0, 86'400 * units - 1, &value)) return false;
      value /= units / kMillis;
      value -= value % static_cast<int64_t>(text::kIntegerPowers[3 - column.rules.time.precision]);
      column.builder->Append(static_cast<int32_t>(value));
      return true;
    }
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLtz: {
      if (!text::ParseInteger(number.text, INT64_MIN, INT64_MAX, &value)) return false;
      int64_t cut = column.rules.timestamp.units_per_second;
      if (column.epoch_units > cut) {
        value = FloorDiv(value, column.epoch_units / cut);
      } else if (column.epoch_units > 0 &&
                 __builtin_mul_overflow(value, cut / column.epoch_units, &value)) {
        return false;
      }
      for (int digit = 0; digit < column.rules.timestamp.precision; ++digit) cut /= 10;
      const int64_t rest = value % cut;
      value -= rest < 0 ? rest + cut : rest;
      column.builder->Append(value);
      return true;
    }
    default:
      return false;
  }
}

bool JsonReader::AppendNumber(JsonColumn& column, const NumberToken& number) {
  ColumnBuilder& builder = *column.builder;
  switch (column.kind) {
    case TypeKind::kBoolean:
      builder.Append<uint8_t>(0);
      return true;
    case TypeKind::kChar:
    case TypeKind::kVarchar:
      builder.AppendBytes(number.text);
      return true;
    case TypeKind::kInt:
    case TypeKind::kBigint:
    case TypeKind::kIntervalYearMonth:
    case TypeKind::kIntervalDayTime:
      return AppendCutInteger(column, number);
    case TypeKind::kFloat: {
      float value = 0;
      if (!text::ParseFloat(number.text, &value) || std::isinf(value)) break;
      builder.Append(value);
      return true;
    }
    case TypeKind::kDouble: {
      double value = 0;
      if (!text::ParseDouble(number.text, &value) || std::isinf(value)) break;
      builder.Append(value);
      return true;
    }
    case TypeKind::kTinyint:
    case TypeKind::kSmallint:
    case TypeKind::kDecimal:
      if (text::AppendScalar(column.rules, number.text, builder)) return true;
      return BadField(column, number.text, text::DescribeBadScalar(column.rules, number.text));
    default:
      if (options_.epoch_times && AppendEpoch(column, number)) return true;
      return BadField(column, number.text, NumberForTime(column.kind));
  }
  return BadField(column, number.text,
                  "The number \"" + Printable(number.text) + "\" is too large for the type");
}

bool JsonReader::ReadBoolean(JsonColumn& column) {
  const bool value = cursor_.peek() == 't';
  const std::string_view word = value ? "true" : "false";
  if (!cursor_.TakeWord(word)) return cursor_.FailUnexpected();
  if (column.kind == TypeKind::kBoolean) {
    column.builder->Append<uint8_t>(value ? 1 : 0);
    return true;
  }
  if (column.kind == TypeKind::kChar || column.kind == TypeKind::kVarchar) {
    column.builder->AppendBytes(word);
    return true;
  }
  return BadField(column, word, "A boolean is not accepted for this type");
}

bool JsonReader::ReadNested(JsonColumn& column) {
  const bool object = cursor_.peek() == '{';
  switch (column.kind) {
    case TypeKind::kRow: {
      if (!object) break;
      if (!ReadObject(column.fields, column.builder->length())) return false;
      column.builder->CloseNested();
      return true;
    }
    case TypeKind::kArray:
      if (object) break;
      return ReadArray(column);
    case TypeKind::kMap:
    case TypeKind::kMultiset:
      if (!object) break;
      return ReadMap(column);
    case TypeKind::kDecimal: {
      if (!object || !column.bytes_scale) break;
      ScaledBytes value;
      if (!ReadScaledBytes(cursor_, &value)) return false;
      return AppendDecimalBytes(column, value.base64, value.scale);
    }
    default:
      break;
  }
  return ReadWrongStructure(column);
}

bool JsonReader::ReadWrongStructure(JsonColumn& column) {
  const char* first = cursor_.position();
  const char* kind = *first == '{' ? "An object" : "An array";
  if (!cursor_.SkipValue()) return false;
  const std::string_view source(first, static_cast<size_t>(cursor_.position() - first));
  if (column.kind == TypeKind::kChar || column.kind == TypeKind::kVarchar) {
    AppendCompact(column, source);
    return true;
  }
  return BadField(column, source, std::string(kind) + " is not accepted for this type");
}

/// The source without blanks between its parts.
void JsonReader::AppendCompact(JsonColumn& column, std::string_view source) {
  ColumnBuilder& builder = *column.builder;
  builder.Reserve(1);
  builder.ReserveBytes(static_cast<int64_t>(source.size()));
  char* out = builder.bytes_end();
  bool in_string = false;
  for (size_t i = 0; i < source.size(); ++i) {
    const char c = source[i];
    if (in_string && c == '\\') {
      *out++ = c;
      *out++ = source[++i];
      continue;
    }
    if (c == '"') in_string = !in_string;
    if (!in_string && (c == ' ' || c == '\t' || c == '\n' || c == '\r')) continue;
    *out++ = c;
  }
  builder.CommitBytes(out - builder.bytes_end());
}

bool JsonReader::ReadArray(JsonColumn& column) {
  if (!cursor_.Enter()) return false;
  JsonColumn& element = *column.children[0];
  cursor_.Advance(1);
  cursor_.SkipBlanks();
  if (!cursor_.Take(']')) {
    while (true) {
      if (!ReadValue(element)) return false;
      cursor_.SkipBlanks();
      if (cursor_.Take(']')) break;
      if (!cursor_.Take(',')) return cursor_.FailUnexpected();
      cursor_.SkipBlanks();
    }
  }
  cursor_.Leave();
  column.builder->CloseNested();
  return true;
}

bool JsonReader::ReadMap(JsonColumn& column) {
  const char* start = cursor_.position();
  const size_t errors = errors_.size();
  const int64_t error_count = error_count_;
  if (!ReadMapEntries(column, nullptr)) return false;
  std::vector<bool> dropped;
  if (FindRepeatedKeys(column, &dropped))
      [[unlikely]] {  // Read again without the entries that a later one replaces.
    cursor_.GoTo(start);
    errors_.resize(errors);
    error_count_ = error_count;
    column.builder->Truncate(column.builder->length());
    if (!ReadMapEntries(column, &dropped)) return false;
  }
  column.builder->CloseNested();
  return true;
}

bool JsonReader::ReadMapEntries(JsonColumn& column, const std::vector<bool>* dropped) {
  if (!cursor_.Enter()) return false;
  ColumnBuilder& keys = *column.children[0]->builder;
  cursor_.Advance(1);
  cursor_.SkipBlanks();
  if (!cursor_.Take('}')) {
    for (size_t entry = 0;; ++entry) {
      if (cursor_.peek() != '"') return cursor_.FailUnexpected();
      const bool skip = dropped != nullptr && (*dropped)[entry];
      std::string_view name;
      bool had_escapes = false;
      if (!cursor_.ReadString(&name, &had_escapes)) return false;
      if (!skip) keys.AppendBytes(name);
      cursor_.SkipBlanks();
      if (!cursor_.Take(':')) return cursor_.FailUnexpected();
      cursor_.SkipBlanks();
      if (!(skip ? cursor_.SkipValue() : ReadValue(*column.children[1]))) return false;
      cursor_.SkipBlanks();
      if (cursor_.Take('}')) break;
      if (!cursor_.Take(',')) return cursor_.FailUnexpected();
      cursor_.SkipBlanks();
    }
  }
  cursor_.Leave();
  return true;
}

/// Looks at the entries of the map that is being read. True, and which to drop, when a key comes
/// twice.
bool JsonReader::FindRepeatedKeys(const JsonColumn& column, std::vector<bool>* dropped) const {
  const ColumnBuilder& map = *column.builder;
  const ColumnBuilder& keys = *column.children[0]->builder;
  const int64_t begin = map.length() == 0 ? 0 : map.list_begin(map.length());
  const int64_t end = keys.length();
  bool repeated = false;
  if (end - begin <= 8) {
    for (int64_t i = begin; i < end && !repeated; ++i) {
      for (int64_t j = i + 1; j < end && !repeated; ++j) repeated = keys.text(i) == keys.text(j);
    }
    if (!repeated) return false;
  }
  dropped->assign(static_cast<size_t>(end - begin), false);
  std::unordered_set<std::string_view> later;
  for (int64_t i = end - 1; i >= begin; --i) {
    if (!later.insert(keys.text(i)).second) {
      (*dropped)[static_cast<size_t>(i - begin)] = true;
      repeated = true;
    }
  }
  return repeated;
}

bool JsonReader::BadField(JsonColumn& column, std::string_view text, std::string reason) {
  reason = fmt::format("Fail to deserialize at field: {}. {}.", column.path, reason);
  if (!options_.ignore_parse_errors) {
    reason += fmt::format(" Set '{}ignore-parse-errors' = 'true' to read such fields as NULL.",
                          options_.prefix);
  }
  AddError({column.path, std::move(reason), Printable(text)});
  if (!options_.ignore_parse_errors) return false;
  column.builder->AppendNull();
  return true;
}

bool JsonReader::BadRecord(std::string reason) {
  // The record's own error comes last and always has room.
  if (errors_.size() >= kMaxErrors) errors_.pop_back();
  AddError({"", std::move(reason), ""});
  return false;
}

void JsonReader::AddError(JsonError error) {
  ++error_count_;
  if (errors_.size() < kMaxErrors) errors_.push_back(std::move(error));
}

}  // namespace sluice::formats::json
