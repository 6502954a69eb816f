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

/// Eight bytes, of which `size` count.
char* PutWord(const char (&word)[9], size_t size, char* to) {
  std::memcpy(to, word, 8);
  return to + size;
}

}  // namespace

CsvEncoder::CsvEncoder(CsvOptions options, const Schema& schema, Framing framing)
    : options_(std::move(options)),
      quoting_(options_),
      framing_(framing),
      null_literal_(options_.null_literal.value_or("")) {
  for (const Column& column : schema.columns()) {
    names_.push_back(column.name);
    columns_.emplace_back(column.type);
    ways_.push_back(WayOf(column.type.kind()));
  }
}

size_t CsvEncoder::RowRoom() const {
  const size_t field = kScalarRoom + 2 + null_literal_.size() + options_.field_delimiter.size();
  return columns_.size() * field + 1;
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
    buffer_.Truncate(0);
    row_room_ = RowRoom();
    for (int64_t row = 0; row < rows.num_rows(); ++row) {
      SLUICE_RETURN_NOT_OK(EncodeRow(row));
      if (row_ends != nullptr) row_ends->push_back(out->size() + buffer_.size());
    }
    out->append(buffer_.view());
    return {};
  } catch (const std::bad_alloc&) {
    return Status::Unavailable("Out of memory while encoding csv.");
  }
}

/// Room for the whole row is asked for once; only texts of any length ask again.
Status CsvEncoder::EncodeRow(int64_t row) {
  char* to = buffer_.Room(row_room_);
  for (size_t i = 0; i < columns_.size(); ++i) {
    if (i > 0) to = PutDelimiter(to);
    const BoundColumn& column = columns_[i];
    if (column.IsNull(row)) {
      text::CopyShort(null_literal_.data(), null_literal_.size(), to);
      to += null_literal_.size();
    } else if (ways_[i] == Way::kBare) {
      to = WriteScalar(column, row, to);
    } else if (ways_[i] == Way::kAlwaysQuoted) {
      *to++ = quoting_.quote();
      to = WriteScalar(column, row, to);
      *to++ = quoting_.quote();
    } else {
      buffer_.SetEnd(to);
      Status status = WriteField(column, row, i == 0);
      if (!status.ok()) [[unlikely]] {
        return Status(status.code(),
                      "Fail to serialize at field: " + names_[i] + ". " + status.message());
      }
      to = buffer_.Room(row_room_);
    }
  }
  if (framing_ == Framing::kFile) *to++ = '\n';
  buffer_.SetEnd(to);
  return {};
}

inline char* CsvEncoder::PutDelimiter(char* to) const {
  const std::string& delimiter = options_.field_delimiter;
  if (delimiter.size() == 1) {
    *to = delimiter[0];
    return to + 1;
  }
  text::CopyShort(delimiter.data(), delimiter.size(), to);
  return to + delimiter.size();
}

CsvEncoder::Way CsvEncoder::WayOf(TypeKind kind) const {
  switch (kind) {
    case TypeKind::kBoolean:
    case TypeKind::kTinyint:
    case TypeKind::kSmallint:
    case TypeKind::kInt:
    case TypeKind::kBigint:
    case TypeKind::kFloat:
    case TypeKind::kDouble:
    case TypeKind::kDecimal:
      return Way::kBare;
    case TypeKind::kTime:
      return quoting_.plain_temporal() ? Way::kBare : Way::kLookedAt;
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLtz:
      return quoting_.quotes_blank_only() ? Way::kAlwaysQuoted : Way::kLookedAt;
    default:
      return Way::kLookedAt;
  }
}

/// What may need quotes.
Status CsvEncoder::WriteField(const BoundColumn& column, int64_t row, bool first) {
  switch (column.kind()) {
    case TypeKind::kChar:
    case TypeKind::kVarchar:
      return quoting_.Write(column.text(row), first, &buffer_);
    case TypeKind::kDate: {
      char* to = buffer_.Room(kScalarRoom);
      // Years of four digits have nothing to quote; others begin with a sign.
      if (!quoting_.plain_temporal()) break;
      char* end = WriteScalar(column, row, to);
      if (*to == '+') break;
      buffer_.SetEnd(end);
      return {};
    }
    case TypeKind::kArray:
    case TypeKind::kRow:
      return WriteNested(column, row, first);
    default:
      break;
  }
  joined_.Truncate(0);
  joined_.SetEnd(WriteScalar(column, row, joined_.Room(ScalarRoom(column, row))));
  return quoting_.Write(joined_.view(), first, &buffer_);
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

void CsvEncoder::AppendElement(const BoundColumn& column, int64_t row) {
  if (column.IsNull(row)) {
    joined_.Put(null_literal_);
  } else if (column.type().is_character()) {
    joined_.Put(column.text(row));
  } else {
    joined_.SetEnd(WriteScalar(column, row, joined_.Room(ScalarRoom(column, row))));
  }
}

Status CsvEncoder::WriteNested(const BoundColumn& column, int64_t row, bool first) {
  joined_.Truncate(0);
  if (column.kind() == TypeKind::kRow) {
    for (size_t i = 0; i < column.children().size(); ++i) {
      if (i > 0) joined_.Put(options_.array_delimiter);
      AppendElement(column.children()[i], column.child_row(row));
    }
  } else {
    const BoundColumn& element = column.children()[0];
    for (int64_t i = column.list_begin(row); i < column.list_end(row); ++i) {
      if (i > column.list_begin(row)) joined_.Put(options_.array_delimiter);
      AppendElement(element, i);
    }
  }
  return quoting_.Write(joined_.view(), first, &buffer_);
}

}  // namespace sluice::formats::csv
