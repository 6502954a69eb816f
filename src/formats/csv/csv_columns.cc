#include "formats/csv/csv_columns.h"

#include "common/text.h"
#include "formats/csv/csv_nested_column.h"
#include "formats/text/swar.h"

namespace sluice::formats::csv {
namespace {

using text::ColumnBuilder;
using text::DecimalOutcome;
using text::ScalarRules;

enum class Outcome : uint8_t { kOk, kNull, kBad };

Outcome OkIf(bool ok) { return ok ? Outcome::kOk : Outcome::kBad; }

// One struct a type: Read takes any text; Quick reads the common form where it stands and may give
// up.

template <typename T>
struct IntegerReader {
  using Value = T;
  static bool Quick(const ScalarRules&, const char* text, FieldRef field, T* value) {
    const char* end = text + field.begin + field.size();
    const bool negative = text[field.begin] == '-';
    const unsigned count = field.size() - (negative ? 1 : 0);
    // Words are loaded backwards from the end: they must not begin before the text.
    if (count - 1 >= 16 || end - text < 16) return false;
    uint64_t number = 0;
    if (!text::ReadLastDigits(end, count, &number)) return false;
    const auto wide = negative ? -static_cast<int64_t>(number) : static_cast<int64_t>(number);
    *value = static_cast<T>(wide);
    return *value == wide;
  }
  static Outcome Read(const ScalarRules& rules, std::string_view text, T* value) {
    int64_t wide = 0;
    if (!text::ParseInteger(text::TrimJava(text), rules.min, rules.max, &wide))
      return Outcome::kBad;
    *value = static_cast<T>(wide);
    return Outcome::kOk;
  }
};

/// Fields read by ReadFixedPoint, where there are bytes enough before them.
inline bool QuickFixedPoint(const char* text, FieldRef field, uint64_t* mantissa,
                            int* fraction_digits, bool* negative) {
  const char* begin = text + field.begin;
  *negative = *begin == '-';
  return field.begin >= 16 && text::ReadFixedPoint(begin + (*negative ? 1 : 0),
                                                   begin + field.size(), mantissa, fraction_digits);
}

struct DoubleReader {
  using Value = double;
  static bool Quick(const ScalarRules&, const char* text, FieldRef field, double* value) {
    uint64_t mantissa = 0;
    int fraction = 0;
    bool negative = false;
    if (QuickFixedPoint(text, field, &mantissa, &fraction, &negative) &&
        text::DoubleFromParts(mantissa, fraction, negative, value)) {
      return true;
    }
    return text::ParseDouble({text + field.begin, field.size()}, value);
  }
  static Outcome Read(const ScalarRules&, std::string_view text, double* value) {
    return OkIf(text::ParseDouble(text::TrimJava(text), value));
  }
};

struct FloatReader {
  using Value = float;
  static bool Quick(const ScalarRules&, const char* text, FieldRef field, float* value) {
    return text::ParseFloat({text + field.begin, field.size()}, value);
  }
  static Outcome Read(const ScalarRules&, std::string_view text, float* value) {
    return OkIf(text::ParseFloat(text::TrimJava(text), value));
  }
};

struct DecimalReader {
  using Value = arrow::Decimal128;
  static bool Quick(const ScalarRules& rules, const char* text, FieldRef field,
                    arrow::Decimal128* value) {
    uint64_t mantissa = 0;
    int fraction = 0;
    bool negative = false;
    if (QuickFixedPoint(text, field, &mantissa, &fraction, &negative) &&
        text::DecimalFromParts(mantissa, fraction, negative, rules.precision, rules.scale, value)) {
      return true;
    }
    return text::ParseDecimal({text + field.begin, field.size()}, rules.precision, rules.scale,
                              value) == DecimalOutcome::kOk;
  }
  static Outcome Read(const ScalarRules& rules, std::string_view text, arrow::Decimal128* value) {
    switch (text::ParseDecimal(text::TrimJava(text), rules.precision, rules.scale, value)) {
      case DecimalOutcome::kOk:
        return Outcome::kOk;
      case DecimalOutcome::kTooLarge:
        return Outcome::kNull;
      case DecimalOutcome::kInvalid:
        return Outcome::kBad;
    }
    return Outcome::kBad;
  }
};

struct BooleanReader {
  using Value = uint8_t;
  static uint32_t Word(const char* letters) {
    uint32_t word;
    std::memcpy(&word, letters, 4);
    return word;
  }
  static bool Quick(const ScalarRules&, const char* text, FieldRef field, uint8_t* value) {
    // Without a branch between the two words: they come in no order.
    uint32_t word = 0;
    if (field.size() < 4) return false;
    std::memcpy(&word, text + field.begin, 4);
    const bool is_true = (word == Word("true")) & (field.size() == 4);
    const bool is_false = (word == Word("fals")) & (field.size() == 5) &
                          (text[field.begin + field.size() - 1] == 'e');
    *value = is_true ? 1 : 0;
    return is_true | is_false;
  }
  static Outcome Read(const ScalarRules&, std::string_view text, uint8_t* value) {
    *value = EqualsIgnoreCaseAscii(text::TrimJava(text), "true") ? 1 : 0;
    return Outcome::kOk;
  }
};

struct DateReader {
  using Value = int32_t;
  static bool Quick(const ScalarRules& rules, const char* text, FieldRef field, int32_t* value) {
    return text::ParseDate({text + field.begin, field.size()}, rules.lenient_date, value) ==
           nullptr;
  }
  static Outcome Read(const ScalarRules& rules, std::string_view text, int32_t* value) {
    return OkIf(text::ParseDate(text, rules.lenient_date, value) == nullptr);
  }
};

struct TimeReader {
  using Value = int32_t;
  static bool Quick(const ScalarRules& rules, const char* text, FieldRef field, int32_t* value) {
    return text::ParseTime({text + field.begin, field.size()}, rules.time, value) == nullptr;
  }
  static Outcome Read(const ScalarRules& rules, std::string_view text, int32_t* value) {
    return OkIf(text::ParseTime(text, rules.time, value) == nullptr);
  }
};

struct TimestampReader {
  using Value = int64_t;
  static bool Quick(const ScalarRules& rules, const char* text, FieldRef field, int64_t* value) {
    return text::ParseTimestamp({text + field.begin, field.size()}, rules.timestamp, value) ==
           nullptr;
  }
  static Outcome Read(const ScalarRules& rules, std::string_view text, int64_t* value) {
    return OkIf(text::ParseTimestamp(text::TrimJava(text), rules.timestamp, value) == nullptr);
  }
};

/// Columns of values of a fixed size.
template <typename Reader>
class FixedColumn final : public CsvColumn {
 public:
  using CsvColumn::CsvColumn;
  using Value = typename Reader::Value;
  FixedColumn(const std::string& name, const SqlType& type, const CsvOptions& options,
              arrow::MemoryPool* pool)
      : CsvColumn(name, type, options, pool) {}

 protected:
  void ConvertRows(const FieldRef* fields, int rows) override {
    builder_.Reserve(rows);
    const int64_t first = builder_.length();
    Value* out = builder_.values<Value>() + first;
    const ScalarRules rules = rules_;
    for (int row = 0; row < rows; ++row) {
      const FieldRef field = fields[row];
      const bool plain = field.plain() && field.size() > 0;
      if (plain && !IsNullForAll(field) && Reader::Quick(rules, text_, field, out + row)) [[likely]]
        continue;
      if (!ReadSlowly(row, field, out + row, first + row)) {
        builder_.AdvanceRows(row);
        return;
      }
    }
    builder_.AdvanceRows(rows);
  }

 private:
  bool ReadSlowly(int row, FieldRef field, Value* out, int64_t array_row) {
    std::string_view text;
    Outcome outcome = Outcome::kNull;
    if (!IsNullForAll(field)) {
      text = Resolve(field);
      if (!text.empty()) outcome = Reader::Read(rules_, text, out);
    }
    if (outcome == Outcome::kOk) return true;
    if (outcome == Outcome::kBad && !Report(row, text, DescribeBadScalar(rules_, text)))
      return false;
    *out = Value{};
    builder_.SetNull(array_row);
    return true;
  }
};

/// CHAR, VARCHAR.
class TextColumn final : public CsvColumn {
 public:
  TextColumn(const std::string& name, const SqlType& type, const CsvOptions& options,
             arrow::MemoryPool* pool)
      : CsvColumn(name, type, options, pool) {}

 protected:
  void ConvertRows(const FieldRef* fields, int rows) override {
    builder_.Reserve(rows);
    int64_t bytes = 0;
    for (int row = 0; row < rows; ++row) bytes += fields[row].missing() ? 0 : fields[row].size();
    builder_.ReserveBytes(bytes);
    for (int row = 0; row < rows; ++row) {
      const FieldRef field = fields[row];
      if (IsNull(field)) [[unlikely]] {
        builder_.AppendNull();
        continue;
      }
      const char* from = text_ + field.begin;
      char* to = builder_.bytes_end();
      const size_t size = field.size();
      if (field.escaped()) [[unlikely]] {
        const char* end = ResolveEscapes({from, size}, field.quoted(), options_, to);
        builder_.CommitBytes(end - to);
        continue;
      }
      if (size <= 16 && field.begin + 16 <= text_size_) {
        std::memcpy(to, from, 16);  // One load and store; the slack takes what is too much.
      } else if (size <= 32 && field.begin + 32 <= text_size_) {
        std::memcpy(to, from, 32);
      } else {
        std::memcpy(to, from, size);
      }
      builder_.CommitBytes(static_cast<int64_t>(size));
    }
  }

 private:
  bool IsNull(FieldRef field) const {
    return IsNullForAll(field) || (options_.empty_string_as_null && field.size() == 0);
  }
};

/// BINARY, VARBINARY: Base64.
class BinaryColumn final : public CsvColumn {
 public:
  BinaryColumn(const std::string& name, const SqlType& type, const CsvOptions& options,
               arrow::MemoryPool* pool)
      : CsvColumn(name, type, options, pool) {}

 protected:
  void ConvertRows(const FieldRef* fields, int rows) override {
    for (int row = 0; row < rows; ++row) {
      const FieldRef field = fields[row];
      if (IsNullForAll(field) || EmptyIsNull(field, options_)) {
        builder_.AppendNull();
        continue;
      }
      const std::string_view text = Resolve(field);
      if (AppendScalar(rules_, text, builder_)) continue;
      if (!Report(row, text, DescribeBadScalar(rules_, text))) return;
      builder_.AppendNull();
    }
  }
};

template <typename Column>
std::unique_ptr<CsvColumn> Create(const std::string& name, const SqlType& type,
                                  const CsvOptions& options, arrow::MemoryPool* pool) {
  return std::make_unique<Column>(name, type, options, pool);
}

}  // namespace

char* ResolveEscapes(std::string_view raw, bool quoted, const CsvOptions& options, char* out) {
  for (size_t i = 0; i < raw.size(); ++i) {
    char c = raw[i];
    if (options.escaping && c == options.escape && i + 1 < raw.size()) {
      c = raw[++i];
      if (c == 'n')
        c = '\n';
      else if (c == 'r')
        c = '\r';
      else if (c == 't')
        c = '\t';
      else if (c == '0')
        c = '\0';
    } else if (quoted && c == options.quote && i + 1 < raw.size() && raw[i + 1] == options.quote) {
      ++i;
    }
    *out++ = c;
  }
  return out;
}

std::unique_ptr<CsvColumn> CsvColumn::Make(const std::string& name, const SqlType& type,
                                           const CsvOptions& options, arrow::MemoryPool* pool) {
  switch (type.kind()) {
    case TypeKind::kBoolean:
      return Create<FixedColumn<BooleanReader>>(name, type, options, pool);
    case TypeKind::kTinyint:
      return Create<FixedColumn<IntegerReader<int8_t>>>(name, type, options, pool);
    case TypeKind::kSmallint:
      return Create<FixedColumn<IntegerReader<int16_t>>>(name, type, options, pool);
    case TypeKind::kInt:
      return Create<FixedColumn<IntegerReader<int32_t>>>(name, type, options, pool);
    case TypeKind::kBigint:
      return Create<FixedColumn<IntegerReader<int64_t>>>(name, type, options, pool);
    case TypeKind::kFloat:
      return Create<FixedColumn<FloatReader>>(name, type, options, pool);
    case TypeKind::kDouble:
      return Create<FixedColumn<DoubleReader>>(name, type, options, pool);
    case TypeKind::kDecimal:
      return Create<FixedColumn<DecimalReader>>(name, type, options, pool);
    case TypeKind::kDate:
      return Create<FixedColumn<DateReader>>(name, type, options, pool);
    case TypeKind::kTime:
      return Create<FixedColumn<TimeReader>>(name, type, options, pool);
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLtz:
      return Create<FixedColumn<TimestampReader>>(name, type, options, pool);
    case TypeKind::kBinary:
    case TypeKind::kVarbinary:
      return Create<BinaryColumn>(name, type, options, pool);
    case TypeKind::kArray:
    case TypeKind::kRow:
      return Create<NestedColumn>(name, type, options, pool);
    default:
      return Create<TextColumn>(name, type, options, pool);
  }
}

CsvColumn::CsvColumn(const std::string& name, const SqlType& type, const CsvOptions& options,
                     arrow::MemoryPool* pool)
    : options_(options),
      has_literal_(options.null_literal.has_value()),
      literal_(options.null_literal.value_or("")),
      rules_(text::MakeScalarRules(type, text::Dialect::kCsv, text::TimestampStyle::kSql)),
      builder_(type, pool),
      name_(name) {}

void CsvColumn::Convert(const FieldRef* fields, int rows, const char* text, size_t text_size) {
  text_ = text;
  text_size_ = text_size;
  bad_.clear();
  bad_count_ = 0;
  ConvertRows(fields, rows);
}

std::string_view CsvColumn::Resolve(FieldRef field) {
  if (!field.escaped()) return Raw(field);
  scratch_.resize(field.size());
  const char* end = ResolveEscapes(Raw(field), field.quoted(), options_, scratch_.data());
  return {scratch_.data(), static_cast<size_t>(end - scratch_.data())};
}

bool CsvColumn::Report(int row, std::string_view text, std::string reason) {
  ++bad_count_;
  if (options_.keep_bad_records || bad_.size() < kMaxDescribedFields)
    bad_.push_back({row, std::move(reason), Printable(text)});
  return options_.ignore_parse_errors;
}

}  // namespace sluice::formats::csv
