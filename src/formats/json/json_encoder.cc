#include "formats/json/json_encoder.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <new>

#include <arrow/record_batch.h>

#include "common/base64.h"
#include "formats/text/number_text.h"
#include "formats/text/swar.h"
#include "formats/text/temporal_text.h"
#include "types/map_keys.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace sluice::formats::json {

using text::BoundColumn;
using text::OutputBuffer;

namespace {

constexpr size_t kScalarRoom =
    static_cast<size_t>(std::max(text::kMaxNumberChars, text::kMaxTemporalChars)) + 2;
constexpr char kHex[] = "0123456789ABCDEF";

char* PutUnit(uint32_t unit, char* out) {
  out[0] = '\\';
  out[1] = 'u';
  for (int i = 0; i < 4; ++i) out[2 + i] = kHex[unit >> (12 - 4 * i) & 15];
  return out + 6;
}

/// Characters beyond the basic plane are written as two escapes, as Flink's UTF-8 writer does.
char* PutFourBytes(const char* p, char* out) {
  const auto byte = [&](int i) { return static_cast<uint32_t>(static_cast<unsigned char>(p[i])); };
  const uint32_t code_point =
      (byte(0) & 7) << 18 | (byte(1) & 63) << 12 | (byte(2) & 63) << 6 | (byte(3) & 63);
  const uint32_t beyond = code_point - 0x10000;
  out = PutUnit(0xD800 + (beyond >> 10 & 0x3FF), out);
  return PutUnit(0xDC00 + (beyond & 0x3FF), out);
}

/// One character that cannot be copied as it is. Returns the end in `out` and moves `p` on.
char* PutSpecial(const char*& p, const char* end, char* out) {
  const char c = *p;
  if (static_cast<unsigned char>(c) >= 0xF0) {
    if (end - p >= 4) {
      out = PutFourBytes(p, out);
      p += 4;
      return out;
    }
    *out++ = *p++;  // Not UTF-8: passed on as it is.
    return out;
  }
  ++p;
  static constexpr std::string_view kCharacters = "\"\\\b\f\n\r\t";
  static constexpr std::string_view kNames = "\"\\bfnrt";
  const size_t at = kCharacters.find(c);
  if (at == std::string_view::npos) return PutUnit(static_cast<unsigned char>(c), out);
  *out++ = '\\';
  *out++ = kNames[at];
  return out;
}

bool IsSpecial(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || c == '"' || c == '\\' || byte >= 0xF0;
}

#if defined(__SSE2__)
/// One bit a byte that cannot be copied as it is.
unsigned SpecialMask(__m128i bytes) {
  const __m128i control = _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(0x1F)), bytes);
  const __m128i beyond =
      _mm_cmpeq_epi8(_mm_max_epu8(bytes, _mm_set1_epi8(static_cast<char>(0xF0))), bytes);
  const __m128i quote = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('"'));
  const __m128i backslash = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'));
  return static_cast<unsigned>(_mm_movemask_epi8(
      _mm_or_si128(_mm_or_si128(control, beyond), _mm_or_si128(quote, backslash))));
}

__m128i LoadSixteen(const char* from) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
}

/// `readable`: 16 bytes may be read from the start of `text`.
bool HasSpecial(std::string_view text, bool readable) {
  const char* p = text.data();
  const size_t size = text.size();
  if (size < 16 && readable) return (SpecialMask(LoadSixteen(p)) & ((1u << size) - 1)) != 0;
  if (size < 16) return std::any_of(text.begin(), text.end(), IsSpecial);
  unsigned found = SpecialMask(LoadSixteen(p + size - 16));
  for (size_t i = 0; i + 16 <= size; i += 16) found |= SpecialMask(LoadSixteen(p + i));
  return found != 0;
}
#else
bool HasSpecial(std::string_view text, bool) {
  return std::any_of(text.begin(), text.end(), IsSpecial);
}
#endif

char* PutEscaped(std::string_view text, char* out) {
  const char* p = text.data();
  const char* end = p + text.size();
  while (p < end) {
#if defined(__SSE2__)
    while (end - p >= 16) {
      const __m128i bytes = LoadSixteen(p);
      _mm_storeu_si128(reinterpret_cast<__m128i*>(out), bytes);
      const unsigned mask = SpecialMask(bytes);
      if (mask != 0) {
        const int plain = std::countr_zero(mask);
        p += plain;
        out = PutSpecial(p, end, out + plain);
        continue;
      }
      p += 16;
      out += 16;
    }
#endif
    while (p < end && !IsSpecial(*p)) *out++ = *p++;
    if (p < end) out = PutSpecial(p, end, out);
  }
  return out;
}

char* PutWord(std::string_view word, char* out) {
  std::memcpy(out, word.data(), word.size());
  return out + word.size();
}

/// Numbers that JSON has no form for go between quotes.
template <typename T>
char* PutFloating(T value, char* (*write)(T, char*), char* out) {
  if (std::isfinite(value)) [[likely]]
    return write(value, out);
  *out++ = '"';
  out = write(value, out);
  *out++ = '"';
  return out;
}

/// Scalars of bounded length.
char* PutScalar(const BoundColumn& column, const JsonOptions& options, int64_t row, char* out) {
  switch (column.kind()) {
    case TypeKind::kBoolean:
      return column.boolean(row) ? PutWord("true", out) : PutWord("false", out);
    case TypeKind::kTinyint:
      return text::WriteInteger(column.value<int8_t>(row), out);
    case TypeKind::kSmallint:
      return text::WriteInteger(column.value<int16_t>(row), out);
    case TypeKind::kInt:
    case TypeKind::kIntervalYearMonth:
      return text::WriteInteger(column.value<int32_t>(row), out);
    case TypeKind::kBigint:
    case TypeKind::kIntervalDayTime:
      return text::WriteInteger(column.value<int64_t>(row), out);
    case TypeKind::kFloat:
      return PutFloating(column.value<float>(row), &text::WriteFloat, out);
    case TypeKind::kDouble:
      return PutFloating(column.value<double>(row), &text::WriteDouble, out);
    case TypeKind::kDecimal:
      return text::WriteDecimal(column.value<arrow::Decimal128>(row), column.scale(),
                                options.decimal_as_plain_number, out);
    default:
      break;
  }
  *out++ = '"';
  if (column.kind() == TypeKind::kDate) {
    out = text::WriteDate(column.value<int32_t>(row), out);
  } else if (column.kind() == TypeKind::kTime) {
    out = text::WriteTime(column.value<int32_t>(row), out);
  } else {
    out = text::WriteTimestamp(column.value<int64_t>(row), column.units_per_second(),
                               options.timestamp_style, column.kind() == TypeKind::kTimestampLtz,
                               out);
  }
  *out++ = '"';
  return out;
}

constexpr char kNullKey[] =
    "JSON format doesn't support to serialize map data with null keys. You can drop null key "
    "entries or encode null in literals "
    "by specifying map-null-key.mode option.";

}  // namespace

void WriteJsonText(std::string_view text, OutputBuffer* out) {
  char* to = out->Room(text.size() * 6 + 2 + 16);
  *to++ = '"';
  to = PutEscaped(text, to);
  *to++ = '"';
  out->SetEnd(to);
}

std::string JsonRowWriter::MakeKey(std::string_view name) {
  OutputBuffer key;
  key.Put(',');
  WriteJsonText(name, &key);
  key.Put(':');
  return std::string(key.view());
}

JsonRowWriter::Names JsonRowWriter::MakeNames(const SqlType& type) {
  Names names;
  if (type.kind() == TypeKind::kRow) {
    for (const RowField& field : type.fields()) {
      names.keys.push_back(MakeKey(field.name));
      names.children.push_back(MakeNames(field.type));
    }
  } else if (type.kind() == TypeKind::kArray) {
    names.children.push_back(MakeNames(type.element()));
  } else if (type.kind() == TypeKind::kMap || type.kind() == TypeKind::kMultiset) {
    names.children.push_back(MakeNames(type.value()));
  }
  return names;
}

JsonRowWriter::JsonRowWriter(const JsonOptions& options, const Schema& schema) : options_(options) {
  style_.timestamp_style = options.timestamp_style;
  style_.plain_decimal = options.decimal_as_plain_number;
  style_.quote_times = true;
  style_.quote_nonfinite = true;
  style_.null_text = "null";
  for (const Column& column : schema.columns()) {
    column_names_.push_back(column.name);
    columns_.emplace_back(column.type);
    names_.keys.push_back(MakeKey(column.name));
    names_.children.push_back(MakeNames(column.type));
    bounded_.push_back(!column.type.is_character() && !column.type.is_binary() &&
                       !column.type.is_nested());
    row_room_ += names_.keys.back().size() + kScalarRoom;
  }
}

Status JsonRowWriter::Bind(const arrow::RecordBatch& rows) {
  if (rows.num_columns() != static_cast<int>(columns_.size())) {
    return Status::Internal("The json encoder was made for " + std::to_string(columns_.size()) +
                            " columns and got " + std::to_string(rows.num_columns()) + ".");
  }
  for (int i = 0; i < rows.num_columns(); ++i)
    columns_[static_cast<size_t>(i)].Bind(*rows.column_data(i));
  return {};
}

/// Room for all names and numbers is asked for once; only texts and nested values ask again.
Status JsonRowWriter::Write(int64_t row, OutputBuffer* out) {
  char* to = out->Room(row_room_);
  *to++ = '{';
  bool first = true;
  for (size_t i = 0; i < columns_.size(); ++i) {
    const BoundColumn& column = columns_[i];
    const bool null = column.IsNull(row);
    if (null && options_.ignore_null_fields) continue;
    const std::string& key = names_.keys[i];
    const size_t skip = first ? 1 : 0;  // The comma.
    first = false;
    text::CopyShort(key.data() + skip, key.size() - skip, to);
    to += key.size() - skip;
    if (null) {
      to = PutWord("null", to);
    } else if (bounded_[i]) {
      to = PutScalar(column, options_, row, to);
    } else {
      out->SetEnd(to);
      Status status = WriteValue(column, names_.children[i], row, out);
      if (!status.ok()) [[unlikely]]
        return FieldError(i, status);
      to = out->Room(row_room_);
    }
  }
  *to++ = '}';
  out->SetEnd(to);
  return {};
}

Status JsonRowWriter::FieldError(size_t index, const Status& status) const {
  return Status(status.code(), "Could not serialize row. Fail to serialize at field: " +
                                   column_names_[index] + ". " + status.message());
}

std::string JsonRowWriter::Prefix(size_t index) const {
  std::string prefix = names_.keys[index];
  if (index == 0) prefix[0] = '{';
  return prefix;
}

/// Texts without escapes are not copied until rows are put together.
Status JsonRowWriter::FormatColumn(size_t index, int64_t first, int rows, text::ColumnText* texts) {
  static constexpr char kNull[text::ColumnText::kWide + 1] = "null                            ";
  const BoundColumn& column = columns_[index];
  if (text::ColumnText::IsBounded(column.kind())) {
    texts->FormatScalars(column, first, rows, style_);
    return {};
  }
  const bool character = column.type().is_character();
  const bool readable = character && column.texts_readable(first + rows, text::ColumnText::kWide);
  texts->StartTexts(readable);
  for (int i = 0; i < rows; ++i) {
    const int64_t row = first + i;
    if (column.IsNull(row)) {
      texts->Refer(i, {kNull, 4}, false);
      continue;
    }
    if (character) {
      const std::string_view value = column.text(row);
      if (!HasSpecial(value, readable)) [[likely]] {
        texts->Refer(i, value, true);
        continue;
      }
    }
    Status status = WriteValue(column, names_.children[index], row, &texts->Begin(i));
    if (!status.ok()) [[unlikely]]
      return FieldError(index, status);
    texts->End(i);
  }
  texts->FinishTexts(rows);
  return {};
}

Status JsonRowWriter::WriteFields(const std::vector<BoundColumn>& columns, const Names& names,
                                  int64_t row, OutputBuffer* out) {
  out->Put('{');
  bool first = true;
  for (size_t i = 0; i < columns.size(); ++i) {
    if (options_.ignore_null_fields && columns[i].IsNull(row)) continue;
    const std::string_view key = names.keys[i];
    out->Put(first ? key.substr(1) : key);
    first = false;
    SLUICE_RETURN_NOT_OK(WriteValue(columns[i], names.children[i], row, out));
  }
  out->Put('}');
  return {};
}

Status JsonRowWriter::WriteValue(const BoundColumn& column, const Names& names, int64_t row,
                                 OutputBuffer* out) {
  if (column.IsNull(row)) {
    out->Put("null");
    return {};
  }
  switch (column.kind()) {
    case TypeKind::kChar:
    case TypeKind::kVarchar:
      WriteJsonText(column.text(row), out);
      return {};
    case TypeKind::kBinary:
    case TypeKind::kVarbinary: {
      const std::string_view bytes = column.text(row);
      char* to = out->Room(Base64Size(bytes.size()) + 2);
      *to++ = '"';
      to = WriteBase64(bytes, to);
      *to++ = '"';
      out->SetEnd(to);
      return {};
    }
    case TypeKind::kArray:
      return WriteArray(column, names, row, out);
    case TypeKind::kMap:
    case TypeKind::kMultiset:
      return WriteMap(column, names, row, out);
    case TypeKind::kRow:
      return WriteFields(column.children(), names, column.child_row(row), out);
    default:
      out->SetEnd(PutScalar(column, options_, row, out->Room(kScalarRoom)));
      return {};
  }
}

Status JsonRowWriter::WriteArray(const BoundColumn& column, const Names& names, int64_t row,
                                 OutputBuffer* out) {
  out->Put('[');
  const int64_t begin = column.list_begin(row);
  for (int64_t i = begin; i < column.list_end(row); ++i) {
    if (i > begin) out->Put(',');
    SLUICE_RETURN_NOT_OK(WriteValue(column.children()[0], names.children[0], i, out));
  }
  out->Put(']');
  return {};
}

/// With a literal for NULL keys, an entry whose key comes again later as text is dropped: the last
/// wins.
bool JsonRowWriter::IsReplaced(const BoundColumn& keys, int64_t entry, int64_t end) const {
  if (options_.map_null_key_mode != MapNullKeyMode::kLiteral) return false;
  const auto key = [&](int64_t i) {
    return IsNullMapKey(keys.text(i)) ? std::string_view(options_.map_null_key_literal)
                                      : keys.text(i);
  };
  if (key(entry) != options_.map_null_key_literal) return false;
  for (int64_t later = entry + 1; later < end; ++later) {
    if (key(later) == key(entry)) return true;
  }
  return false;
}

Status JsonRowWriter::WriteMap(const BoundColumn& column, const Names& names, int64_t row,
                               OutputBuffer* out) {
  out->Put('{');
  const BoundColumn& keys = column.children()[0];
  const int64_t end = column.list_end(row);
  bool first = true;
  for (int64_t i = column.list_begin(row); i < end; ++i) {
    const bool null = IsNullMapKey(keys.text(i));
    if (null && options_.map_null_key_mode == MapNullKeyMode::kFail)
      return Status::DataError(kNullKey);
    if ((null && options_.map_null_key_mode == MapNullKeyMode::kDrop) || IsReplaced(keys, i, end))
      continue;
    if (!first) out->Put(',');
    first = false;
    WriteJsonText(null ? std::string_view(options_.map_null_key_literal) : keys.text(i), out);
    out->Put(':');
    SLUICE_RETURN_NOT_OK(WriteValue(column.children()[1], names.children[0], i, out));
  }
  out->Put('}');
  return {};
}

JsonEncoder::JsonEncoder(const JsonOptions& options, const Schema& schema, Framing framing)
    : writer_(options, schema),
      rows_(framing == Framing::kFile ? "}\n" : "}", '"'),
      framing_(framing),
      by_blocks_(!options.ignore_null_fields && schema.column_count() > 0) {
  for (size_t i = 0; i < writer_.column_count(); ++i) rows_.AddColumn(writer_.Prefix(i));
}

Status JsonEncoder::Encode(const Batch& batch, std::string* out, std::vector<size_t>* row_ends) {
  if (batch.rows() == nullptr) return {};
  try {
    SLUICE_RETURN_NOT_OK(writer_.Bind(*batch.rows()));
    buffer_.Truncate(0);
    SLUICE_RETURN_NOT_OK(by_blocks_ ? EncodeBlocks(batch.row_count(), row_ends, out->size())
                                    : EncodeRows(batch.row_count(), row_ends, out->size()));
    out->append(buffer_.view());
    return {};
  } catch (const std::bad_alloc&) {
    return Status::Unavailable("Out of memory while encoding json.");
  }
}

Status JsonEncoder::EncodeBlocks(int64_t rows, std::vector<size_t>* row_ends, size_t before) {
  constexpr int64_t kBlock = text::ColumnText::kRows;
  for (int64_t first = 0; first < rows; first += kBlock) {
    const auto count = static_cast<int>(std::min(kBlock, rows - first));
    for (size_t i = 0; i < writer_.column_count(); ++i)
      SLUICE_RETURN_NOT_OK(writer_.FormatColumn(i, first, count, &rows_.column(i)));
    rows_.Append(count, &buffer_, row_ends, before);
  }
  return {};
}

Status JsonEncoder::EncodeRows(int64_t rows, std::vector<size_t>* row_ends, size_t before) {
  for (int64_t row = 0; row < rows; ++row) {
    SLUICE_RETURN_NOT_OK(writer_.Write(row, &buffer_));
    if (framing_ == Framing::kFile) buffer_.Put('\n');
    if (row_ends != nullptr) row_ends->push_back(before + buffer_.size());
  }
  return {};
}

}  // namespace sluice::formats::json
