#include "formats/json/record_block.h"

#include <algorithm>

#include "formats/text/number_text.h"
#include "formats/text/swar.h"
#include "formats/text/temporal_text.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace sluice::formats::json {

using text::ColumnBuilder;

namespace {

constexpr int kMissesBeforeLearning = 8;
constexpr int kPause = 16;

bool IsNull(const char* text, ValueSpan span) {
  return span.end - span.begin == 4 && std::memcmp(text + span.begin, "null", 4) == 0;
}

/// Up to 16 digits without needless zeros. Reads 16 bytes before the end.
__attribute__((always_inline)) inline bool QuickInteger(const char* text, ValueSpan span,
                                                        int64_t* value) {
  const char* begin = text + span.begin;
  const char* end = text + span.end;
  const bool negative = *begin == '-';
  if (negative) ++begin;
  const auto count = static_cast<unsigned>(end - begin);
  if (count - 1 >= 16 || span.end < 16 || (*begin == '0' && count > 1)) return false;
  uint64_t number = 0;
  if (!text::ReadLastDigits(end, count, &number)) return false;
  *value = negative ? -static_cast<int64_t>(number) : static_cast<int64_t>(number);
  return true;
}

struct FixedPoint {
  uint64_t mantissa = 0;
  int fraction_digits = 0;
  bool negative = false;
};

/// Up to 8 digits before and 7 behind the point, as JSON writes them.
__attribute__((always_inline)) inline bool QuickFixedPoint(const char* text, ValueSpan span,
                                                           FixedPoint* number) {
  const char* begin = text + span.begin;
  number->negative = *begin == '-';
  if (number->negative) ++begin;
  if (span.begin < 16 || (*begin == '0' && text::IsDigit(begin[1]))) return false;
  return text::ReadFixedPoint(begin, text + span.end, &number->mantissa, &number->fraction_digits);
}

bool IsQuoted(const char* text, ValueSpan span) {
  return span.end - span.begin >= 2 && text[span.begin] == '"' && text[span.end - 1] == '"';
}

#if defined(__SSE2__)
/// One bit a byte that is a quote or a backslash.
unsigned StopMask(__m128i bytes) {
  return static_cast<unsigned>(_mm_movemask_epi8(_mm_or_si128(
      _mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')), _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\')))));
}

/// Copies `size` bytes, up to 15 more are read and written. False when there is a quote or
/// backslash among them.
bool CopyPlain(const char* from, size_t size, char* to) {
  size_t i = 0;
  for (; i + 16 < size; i += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i), bytes);
    if (StopMask(bytes) != 0) return false;
  }
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i), bytes);
  return (StopMask(bytes) & ((1u << (size - i)) - 1)) == 0;
}
#else
bool CopyPlain(const char* from, size_t size, char* to) {
  for (size_t i = 0; i < size; ++i) {
    if (from[i] == '"' || from[i] == '\\') return false;
    to[i] = from[i];
  }
  return true;
}
#endif

bool IsPlain(const char* from, size_t size) {
  return std::memchr(from, '"', size) == nullptr && std::memchr(from, '\\', size) == nullptr;
}

}  // namespace

RecordBlock::RecordBlock(const JsonOptions& options, JsonReader* reader, FieldTable* fields)
    : options_(options),
      reader_(reader),
      fields_(fields),
      misses_of_shape_(kMissesBeforeLearning - 1) {}

void RecordBlock::Start(const char* text, size_t begin, size_t readable) {
  text_ = text;
  readable_ = readable;
  rows_ = 0;
  matched_ = missed_ = 0;
  scan_.Start(text, begin, readable);
}

size_t RecordBlock::Add(size_t begin, size_t end) {
  if (rows_ == kRows || !shape_.known()) return 0;
  const size_t count = shape_.field_count();
  const uint32_t* positions = scan_.Peek(count);
  if (positions == nullptr) return 0;
  const size_t line_end = positions[count - 1];
  if ((end != kUnknown && line_end != end) || line_end + kPadding > readable_ || line_end < begin ||
      line_end - begin > static_cast<size_t>(options_.max_record_bytes)) {
    return 0;
  }
  const auto row = static_cast<size_t>(rows_);
  if (!shape_.Match(text_, static_cast<uint32_t>(begin), positions, spans_.data() + row, kRows))
    return 0;
  record_begin_[row] = static_cast<uint32_t>(begin);
  record_end_[row] = static_cast<uint32_t>(line_end);
  ++rows_;
  scan_.Take(count);
  return line_end;
}

bool RecordBlock::Convert() {
  bool ok = true;
  for (size_t place = 0; ok && place < shape_.field_count(); ++place) {
    const int field = shape_.field(place);
    ok = ConvertValues(place, field < 0 ? nullptr : fields_->column(field));
  }
  for (size_t i = 0; ok && i < missing_.size(); ++i) {
    ColumnBuilder& builder = *fields_->column(missing_[i])->builder;
    for (int row = 0; row < rows_; ++row) builder.AppendNull();
  }
  matched_ += ok ? rows_ : 0;
  missed_ += ok ? 0 : rows_;
  rows_ = 0;
  return ok;
}

void RecordBlock::Miss(std::string_view record, size_t next) {
  if (!record.empty()) {
    ++missed_;
    if (++misses_of_shape_ >= kMissesBeforeLearning) LearnShape(record);
  }
  scan_.SkipTo(next);
}

void RecordBlock::LearnShape(std::string_view record) {
  misses_of_shape_ = 0;
  missing_.clear();
  if (!shape_.Learn(reader_->cursor(), record, options_.max_depth, *fields_)) return;
  spans_.resize(shape_.field_count() * kRows);
  std::vector<bool> there(static_cast<size_t>(fields_->field_count()));
  for (size_t place = 0; place < shape_.field_count(); ++place) {
    if (shape_.field(place) >= 0) there[static_cast<size_t>(shape_.field(place))] = true;
  }
  for (int field = 0; field < fields_->field_count(); ++field) {
    if (!there[static_cast<size_t>(field)]) missing_.push_back(field);
  }
  // Such records are bad: nothing to be quick about.
  if (options_.fail_on_missing_field && !missing_.empty()) shape_ = RecordTemplate();
}

void RecordBlock::Finish() {
  if (missed_ > 64 && missed_ > matched_) pause_ = kPause;
}

bool RecordBlock::ConvertValues(size_t place, JsonColumn* column) {
  Spans spans = spans_.data() + place * kRows;
  if (column == nullptr) return CheckUnwanted(spans);
  column->builder->Reserve(rows_);
  switch (column->kind) {
    case TypeKind::kInt:
      return ConvertIntegers<int32_t>(spans, *column);
    case TypeKind::kBigint:
      return ConvertIntegers<int64_t>(spans, *column);
    case TypeKind::kDouble:
      return ConvertFixedPoints<double>(
          spans, *column, [](const FixedPoint& number, const text::ScalarRules&, double* to) {
            return text::DoubleFromParts(number.mantissa, number.fraction_digits, number.negative,
                                         to);
          });
    case TypeKind::kDecimal:
      return ConvertFixedPoints<arrow::Decimal128>(
          spans, *column,
          [](const FixedPoint& number, const text::ScalarRules& rules, arrow::Decimal128* to) {
            return text::DecimalFromParts(number.mantissa, number.fraction_digits, number.negative,
                                          rules.precision, rules.scale, to);
          });
    case TypeKind::kBoolean:
      return ConvertBooleans(spans, *column);
    case TypeKind::kChar:
    case TypeKind::kVarchar:
      return ConvertTexts(spans, *column);
    case TypeKind::kDate:
      return ConvertFixed<int32_t>(spans, *column, [&](ValueSpan span, int32_t* to) {
        return IsQuoted(text_, span) &&
               text::ParseDate({text_ + span.begin + 1, span.end - span.begin - 2},
                               column->rules.lenient_date, to) == nullptr;
      });
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLtz:
      return ConvertFixed<int64_t>(spans, *column, [&](ValueSpan span, int64_t* to) {
        return IsQuoted(text_, span) &&
               text::ParseTimestamp({text_ + span.begin + 1, span.end - span.begin - 2},
                                    column->rules.timestamp, to) == nullptr;
      });
    default:
      return ConvertOthers(spans, *column);
  }
}

template <typename T, typename Quick>
inline bool RecordBlock::ConvertFixed(Spans spans, JsonColumn& column, Quick quick) {
  ColumnBuilder& builder = *column.builder;
  const int rows = rows_;
  int done = 0;  // Rows that the builder knows of.
  T* out = builder.values<T>() + builder.length();
  for (int row = 0; row < rows; ++row) {
    if (quick(spans[row], out + (row - done))) [[likely]]
      continue;
    builder.AdvanceRows(row - done);
    if (!ReadValue(row, spans[row], column)) return false;
    done = row + 1;
    builder.Reserve(rows - done);
    out = builder.values<T>() + builder.length();
  }
  builder.AdvanceRows(rows - done);
  return true;
}

template <typename T>
bool RecordBlock::ConvertIntegers(Spans spans, JsonColumn& column) {
  return ConvertFixed<T>(spans, column, [text = text_](ValueSpan span, T* to) {
    int64_t wide = 0;
    if (!QuickInteger(text, span, &wide)) return false;
    *to = static_cast<T>(wide);
    return *to == wide;
  });
}

template <typename T, typename Join>
bool RecordBlock::ConvertFixedPoints(Spans spans, JsonColumn& column, Join join) {
  const text::ScalarRules rules = column.rules;
  return ConvertFixed<T>(spans, column, [&, text = text_](ValueSpan span, T* to) {
    FixedPoint number;
    return QuickFixedPoint(text, span, &number) && join(number, rules, to);
  });
}

bool RecordBlock::ConvertBooleans(Spans spans, JsonColumn& column) {
  return ConvertFixed<uint8_t>(spans, column, [text = text_](ValueSpan span, uint8_t* to) {
    // Without a branch between the two words: they come in no order.
    const uint64_t word = text::LoadWord(text + span.begin);
    const uint32_t size = span.end - span.begin;
    const bool is_true = (size == 4) & ((word & 0xFFFFFFFF) == text::LoadWord("true\0\0\0"));
    const bool is_false = (size == 5) & ((word & 0xFFFFFFFFFF) == text::LoadWord("false\0\0"));
    *to = is_true ? 1 : 0;
    return is_true | is_false;
  });
}

bool RecordBlock::ConvertTexts(Spans spans, JsonColumn& column) {
  ColumnBuilder& builder = *column.builder;
  int64_t bytes = 0;
  for (int row = 0; row < rows_; ++row) bytes += spans[row].end - spans[row].begin;
  for (int row = 0; row < rows_; ++row) {
    const ValueSpan span = spans[row];
    builder.Reserve(1);
    builder.ReserveBytes(bytes);  // What is left at most; nothing to do unless the slow way was.
    bytes -= span.end - span.begin;
    if (IsQuoted(text_, span)) [[likely]] {
      const size_t size = span.end - span.begin - 2;
      if (CopyPlain(text_ + span.begin + 1, size, builder.bytes_end())) [[likely]] {
        builder.CommitBytes(static_cast<int64_t>(size));
        continue;
      }
    }
    if (!ReadValue(row, span, column)) return false;
  }
  return true;
}

bool RecordBlock::ConvertOthers(Spans spans, JsonColumn& column) {
  for (int row = 0; row < rows_; ++row) {
    if (!ReadValue(row, spans[row], column)) return false;
  }
  return true;
}

bool RecordBlock::CheckUnwanted(Spans spans) {
  for (int row = 0; row < rows_; ++row) {
    const ValueSpan span = spans[row];
    int64_t number = 0;
    if (IsQuoted(text_, span)) {
      if (IsPlain(text_ + span.begin + 1, span.end - span.begin - 2)) continue;
    } else if (QuickInteger(text_, span, &number)) {
      continue;
    }
    if (!SkipValue(row, span)) return false;
  }
  return true;
}

void RecordBlock::StartCursor(int row) {
  const auto at = static_cast<size_t>(row);
  reader_->Begin({text_ + record_begin_[at], record_end_[at] - record_begin_[at]});
}

bool RecordBlock::ReadValue(int row, ValueSpan span, JsonColumn& column) {
  if (IsNull(text_, span)) {
    column.builder->AppendNull();
    return true;
  }
  StartCursor(row);
  JsonCursor& cursor = reader_->cursor();
  const char* end = text_ + span.end;
  return cursor.Enter() && reader_->ReadColumn(text_ + span.begin, column) &&
         reader_->error_count() == 0 && cursor.position() == end;
}

bool RecordBlock::SkipValue(int row, ValueSpan span) {
  StartCursor(row);
  JsonCursor& cursor = reader_->cursor();
  cursor.GoTo(text_ + span.begin);
  return cursor.Enter() && cursor.SkipValue() && cursor.position() == text_ + span.end;
}

}  // namespace sluice::formats::json
