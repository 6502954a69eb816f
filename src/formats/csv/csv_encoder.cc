#include "formats/csv/csv_encoder.h"

#include <algorithm>
#include <new>

#include <arrow/record_batch.h>

#include "common/base64.h"
#include "formats/text/number_text.h"
#include "formats/text/temporal_text.h"

namespace sluice::formats::csv {

using text::BoundColumn;

namespace {

constexpr size_t kScalarRoom =
    static_cast<size_t>(std::max(text::kMaxNumberChars, text::kMaxTemporalChars));

// What is put together stays in the second cache until it is handed over.
constexpr size_t kHandedOverBytes = 64 << 10;

/// Eight bytes, of which `size` count.
char* PutWord(const char (&word)[9], size_t size, char* to) {
  std::memcpy(to, word, 8);
  return to + size;
}

}  // namespace

CsvEncoder::CsvEncoder(CsvOptions options, const Schema& schema, Framing framing)
    : options_(std::move(options)),
      quoting_(options_),
      null_literal_(options_.null_literal.value_or("") + std::string(kSlack, ' ')),
      rows_(framing == Framing::kFile ? "\n" : "", options_.quote) {
  style_.plain_decimal = options_.plain_decimal;
  style_.quote = options_.quote;
  style_.null_text = null_text();
  for (const Column& column : schema.columns()) {
    rows_.AddColumn(names_.empty() ? std::string_view() : options_.field_delimiter);
    names_.push_back(column.name);
    columns_.emplace_back(column.type);
    ways_.push_back(WayOf(column.type.kind()));
  }
}

Status CsvEncoder::Encode(const Batch& batch, std::string* out, std::vector<size_t>* row_ends) {
  if (batch.rows() == nullptr) return {};
  const arrow::RecordBatch& rows = *batch.rows();
  if (rows.num_columns() != static_cast<int>(columns_.size())) {
    return Status::Internal("The csv encoder was made for " + std::to_string(columns_.size()) +
                            " columns and got " + std::to_string(rows.num_columns()) + ".");
  }
  try {
    for (int i = 0; i < rows.num_columns(); ++i)
      columns_[static_cast<size_t>(i)].Bind(*rows.column_data(i));
    const size_t size_before = out->size();
    buffer_.Truncate(0);
    constexpr int64_t kBlock = text::ColumnText::kRows;
    for (int64_t first = 0; first < rows.num_rows(); first += kBlock) {
      const auto count = static_cast<int>(std::min(kBlock, rows.num_rows() - first));
      for (size_t i = 0; i < columns_.size(); ++i) {
        Status status = FormatColumn(i, first, count);
        if (!status.ok()) [[unlikely]] {
          out->resize(size_before);
          return status;
        }
      }
      rows_.Append(count, &buffer_, row_ends, out->size());
      if (buffer_.size() < kHandedOverBytes && first + kBlock < rows.num_rows()) continue;
      out->append(buffer_.view());
      buffer_.Truncate(0);
    }
    return {};
  } catch (const std::bad_alloc&) {
    return Status::Unavailable("Out of memory while encoding csv.");
  }
}

CsvEncoder::Way CsvEncoder::WayOf(TypeKind kind) const {
  if (null_text().size() > text::ColumnText::kMaxNullText) return Way::kOther;
  switch (kind) {
    case TypeKind::kBoolean:
    case TypeKind::kTinyint:
    case TypeKind::kSmallint:
    case TypeKind::kInt:
    case TypeKind::kBigint:
    case TypeKind::kFloat:
    case TypeKind::kDouble:
    case TypeKind::kDecimal:
      return quoting_.plain_numbers() ? Way::kBounded : Way::kOther;
    case TypeKind::kDate:
    case TypeKind::kTime:
      return quoting_.plain_temporal() ? Way::kBounded : Way::kOther;
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLtz:
      return quoting_.quotes_blank_only() ? Way::kBounded : Way::kOther;
    case TypeKind::kChar:
    case TypeKind::kVarchar:
      return Way::kText;
    default:
      return Way::kOther;
  }
}

namespace {

/// Years of four digits have nothing to quote; others begin with a sign.
bool HasOddYear(const BoundColumn& column, int64_t first, int rows) {
  constexpr int32_t kFirstDay = -719'528;  // 0000-01-01 and 9999-12-31.
  constexpr int32_t kLastDay = 2'932'896;
  bool odd = false;
  for (int64_t row = first; row < first + rows; ++row) {
    const auto days = column.value<int32_t>(row);
    odd |= days < kFirstDay || days > kLastDay;
  }
  return odd;
}

}  // namespace

Status CsvEncoder::FormatColumn(size_t index, int64_t first, int rows) {
  const BoundColumn& column = columns_[index];
  Way way = ways_[index];
  if (column.kind() == TypeKind::kDate && HasOddYear(column, first, rows)) way = Way::kOther;
  if (way != Way::kBounded) return FormatTexts(index, way, first, rows);
  style_.quote_times = column.type().is_timestamp();
  rows_.column(index).FormatScalars(column, first, rows, style_);
  return {};
}

/// Texts that stand in the batch as they are to be written are not copied until rows are put
/// together.
Status CsvEncoder::FormatTexts(size_t index, Way way, int64_t first, int rows) {
  const BoundColumn& column = columns_[index];
  text::ColumnText& texts = rows_.column(index);
  const bool readable = way == Way::kText && column.texts_readable(first + rows, kSlack);
  texts.StartTexts(readable);
  for (int i = 0; i < rows; ++i) {
    const int64_t row = first + i;
    if (column.IsNull(row)) {
      texts.Refer(i, null_text(), false);
      continue;
    }
    if (way == Way::kText) {
      const std::string_view value = column.text(row);
      const CsvQuoting::Form form = quoting_.FormOf(value, readable, index == 0);
      if (form != CsvQuoting::Form::kOther) [[likely]] {
        texts.Refer(i, value, form == CsvQuoting::Form::kQuoted);
        continue;
      }
    }
    Status status = WriteField(column, row, index == 0, &texts.Begin(i));
    if (!status.ok()) [[unlikely]] {
      return Status(status.code(),
                    "Fail to serialize at field: " + names_[index] + ". " + status.message());
    }
    texts.End(i);
  }
  texts.FinishTexts(rows);
  return {};
}

/// What may need quotes.
Status CsvEncoder::WriteField(const BoundColumn& column, int64_t row, bool first,
                              text::OutputBuffer* out) {
  switch (column.kind()) {
    case TypeKind::kChar:
    case TypeKind::kVarchar:
      return quoting_.Write(column.text(row), first, out);
    case TypeKind::kArray:
    case TypeKind::kRow:
      return WriteNested(column, row, first, out);
    case TypeKind::kBoolean:
    case TypeKind::kTinyint:
    case TypeKind::kSmallint:
    case TypeKind::kInt:
    case TypeKind::kBigint:
    case TypeKind::kFloat:
    case TypeKind::kDouble:
    case TypeKind::kDecimal: {
      char* const start = out->Room(kScalarRoom);
      char* const end = WriteScalar(column, row, start);
      if (quoting_.MisreadBare({start, static_cast<size_t>(end - start)})) break;
      out->SetEnd(end);
      return {};
    }
    default:
      break;
  }
  joined_.Truncate(0);
  joined_.SetEnd(WriteScalar(column, row, joined_.Room(ScalarRoom(column, row))));
  return quoting_.Write(joined_.view(), first, out);
}

size_t CsvEncoder::ScalarRoom(const BoundColumn& column, int64_t row) {
  const bool binary = column.kind() == TypeKind::kBinary || column.kind() == TypeKind::kVarbinary;
  return binary ? Base64Size(column.text(row).size()) : kScalarRoom;
}

char* CsvEncoder::WriteScalar(const BoundColumn& column, int64_t row, char* to) const {
  switch (column.kind()) {
    case TypeKind::kBoolean:
      return column.boolean(row) ? PutWord("true    ", 4, to) : PutWord("false   ", 5, to);
    case TypeKind::kTinyint:
      return text::WriteInteger(column.value<int8_t>(row), to);
    case TypeKind::kSmallint:
      return text::WriteInteger(column.value<int16_t>(row), to);
    case TypeKind::kInt:
      return text::WriteInteger(column.value<int32_t>(row), to);
    case TypeKind::kBigint:
      return text::WriteInteger(column.value<int64_t>(row), to);
    case TypeKind::kFloat:
      return text::WriteFloat(column.value<float>(row), to);
    case TypeKind::kDouble:
      return text::WriteDouble(column.value<double>(row), to);
    case TypeKind::kDecimal:
      return text::WriteDecimal(column.value<arrow::Decimal128>(row), column.scale(),
                                options_.plain_decimal, to);
    case TypeKind::kDate:
      return text::WriteDate(column.value<int32_t>(row), to);
    case TypeKind::kTime:
      return text::WriteTime(column.value<int32_t>(row), to);
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLtz:
      return text::WriteTimestamp(column.value<int64_t>(row), column.units_per_second(),
                                  text::TimestampStyle::kSql,
                                  column.kind() == TypeKind::kTimestampLtz, to);
    case TypeKind::kBinary:
    case TypeKind::kVarbinary:
      return WriteBase64(column.text(row), to);
    default:
      return to;
  }
}

/// As in Flink the delimiter is not escaped in texts; no other type may hold it.
Status CsvEncoder::AppendElement(const BoundColumn& column, int64_t row) {
  if (column.IsNull(row)) {
    joined_.Put(null_text());
    return {};
  }
  if (column.type().is_character()) {
    joined_.Put(column.text(row));
    return {};
  }
  char* const start = joined_.Room(ScalarRoom(column, row));
  char* const end = WriteScalar(column, row, start);
  const std::string_view element(start, static_cast<size_t>(end - start));
  const bool splits = element.find(options_.array_delimiter) != std::string_view::npos;
  if (splits || element == null_text()) {
    return Status::DataError(
        "The element " + std::string(element) +
        (splits ? " holds the delimiter of elements" : " is the null literal") +
        " and would be read as another. Choose another '" + options_.prefix +
        (splits ? "array-element-delimiter'." : "null-literal'."));
  }
  joined_.SetEnd(end);
  return {};
}

Status CsvEncoder::WriteNested(const BoundColumn& column, int64_t row, bool first,
                               text::OutputBuffer* out) {
  joined_.Truncate(0);
  if (column.kind() == TypeKind::kRow) {
    for (size_t i = 0; i < column.children().size(); ++i) {
      if (i > 0) joined_.Put(options_.array_delimiter);
      SLUICE_RETURN_NOT_OK(AppendElement(column.children()[i], column.child_row(row)));
    }
  } else {
    const BoundColumn& element = column.children()[0];
    for (int64_t i = column.list_begin(row); i < column.list_end(row); ++i) {
      if (i > column.list_begin(row)) joined_.Put(options_.array_delimiter);
      SLUICE_RETURN_NOT_OK(AppendElement(element, i));
    }
  }
  return quoting_.Write(joined_.view(), first, out);
}

}  // namespace sluice::formats::csv
