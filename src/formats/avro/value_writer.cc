#include "formats/avro/value_writer.h"

#include <algorithm>
#include <cstring>

#include <arrow/record_batch.h>
#include <arrow/util/decimal.h>

#include "common/text.h"
#include "formats/avro/binary_output.h"
#include "formats/text/swar.h"
#include "types/map_keys.h"

namespace sluice::formats::avro {
namespace {

using text::BoundColumn;
using text::OutputBuffer;

constexpr char kNullBranch = 0;     // Zigzag 0.
constexpr char kValueBranch = 2;    // Zigzag 1.
constexpr size_t kScalarRoom = 24;  // A branch, and at most 17 bytes of a DECIMAL.

/// The shortest big-endian two's complement, behind its length.
char* PutDecimal(const arrow::Decimal128& value, char* out) {
  const auto high = static_cast<uint64_t>(value.high_bits());
  const uint64_t low = value.low_bits();
  char bytes[16];
  for (int i = 0; i < 8; ++i) {
    bytes[i] = static_cast<char>(high >> (56 - 8 * i));
    bytes[8 + i] = static_cast<char>(low >> (56 - 8 * i));
  }
  size_t first = 0;
  const char fill = value.high_bits() < 0 ? '\xFF' : '\0';
  // A byte of sign may go as long as the next one shows the same sign.
  while (first < 15 && bytes[first] == fill && ((bytes[first + 1] ^ fill) & 0x80) == 0) ++first;
  const size_t size = 16 - first;
  *out++ = static_cast<char>(size * 2);
  std::memcpy(out, bytes + first, size);
  return out + size;
}

template <typename T>
char* PutRaw(T value, char* out) {
  std::memcpy(out, &value, sizeof(T));
  return out + sizeof(T);
}

bool IsBounded(const SqlType& type) {
  return !type.is_character() && !type.is_binary() && !type.is_nested();
}

/// A scalar that is not NULL.
char* PutScalar(const BoundColumn& column, int64_t row, char* out) {
  switch (column.kind()) {
    case TypeKind::kBoolean:
      *out = column.boolean(row) ? 1 : 0;
      return out + 1;
    case TypeKind::kTinyint:
      return PutLong(column.value<int8_t>(row), out);
    case TypeKind::kSmallint:
      return PutLong(column.value<int16_t>(row), out);
    case TypeKind::kInt:
    case TypeKind::kDate:
    case TypeKind::kTime:
      return PutLong(column.value<int32_t>(row), out);
    case TypeKind::kFloat:
      return PutRaw(column.value<float>(row), out);
    case TypeKind::kDouble:
      return PutRaw(column.value<double>(row), out);
    case TypeKind::kDecimal:
      return PutDecimal(column.value<arrow::Decimal128>(row), out);
    default:  // BIGINT, and timestamps in the unit that their logical type names.
      return PutLong(column.value<int64_t>(row), out);
  }
}

Status NullInNotNull() { return Status::DataError("NULL in a column that is NOT NULL"); }

}  // namespace

ValueWriter::ValueWriter(const Schema& schema) {
  for (const Column& column : schema.columns()) {
    names_.push_back(column.name);
    columns_.emplace_back(column.type);
    bounded_.push_back(IsBounded(column.type) ? 1 : 0);
  }
}

Status ValueWriter::Bind(const Batch& batch) {
  const int count = batch.rows() == nullptr ? 0 : batch.rows()->num_columns();
  if (count != static_cast<int>(columns_.size())) {
    return Status::Internal("The avro writer was made for " + std::to_string(columns_.size()) +
                            " columns and got " + std::to_string(count) + ".");
  }
  for (int i = 0; i < count; ++i) {
    columns_[static_cast<size_t>(i)].Bind(*batch.rows()->column_data(i));
  }
  return {};
}

Status ValueWriter::Write(int64_t row, OutputBuffer* out) {
  const size_t before = out->size();
  Status status = WriteRow(row, out);
  if (!status.ok()) [[unlikely]]
    out->Truncate(before);
  return status;
}

Status ValueWriter::WriteRow(int64_t row, OutputBuffer* out) {
  const size_t room = columns_.size() * kScalarRoom;
  char* to = out->Room(room);
  for (size_t i = 0; i < columns_.size(); ++i) {
    const BoundColumn& column = columns_[i];
    if (bounded_[i] != 0) {
      const bool nullable = column.type().nullable();
      if (column.IsNull(row)) {
        if (!nullable) {
          return Status::DataError("Cannot write column `" + names_[i] +
                                   "`: " + NullInNotNull().message() + ".");
        }
        *to++ = kNullBranch;
        continue;
      }
      if (nullable) *to++ = kValueBranch;
      to = PutScalar(column, row, to);
      continue;
    }
    out->SetEnd(to);
    const Status status = WriteValue(column, row, out);
    if (!status.ok()) [[unlikely]] {
      return Status(status.code(),
                    "Cannot write column `" + names_[i] + "`: " + status.message() + ".");
    }
    to = out->Room(room);
  }
  out->SetEnd(to);
  return {};
}

Status ValueWriter::WriteValue(const BoundColumn& column, int64_t row, OutputBuffer* out) {
  const bool nullable = column.type().nullable();
  if (column.IsNull(row)) {
    if (!nullable) return NullInNotNull();
    out->Put(kNullBranch);
    return {};
  }
  if (nullable) out->Put(kValueBranch);
  switch (column.kind()) {
    case TypeKind::kChar:
    case TypeKind::kVarchar:
    case TypeKind::kBinary:
    case TypeKind::kVarbinary:
      return WriteSized(column, row, out);
    case TypeKind::kArray:
      return WriteArray(column, row, out);
    case TypeKind::kMap:
    case TypeKind::kMultiset:
      return WriteMap(column, row, out);
    case TypeKind::kRow:
      for (const BoundColumn& field : column.children()) {
        SLUICE_RETURN_NOT_OK(WriteValue(field, column.child_row(row), out));
      }
      return {};
    default:
      out->SetEnd(PutScalar(column, row, out->Room(kScalarRoom)));
      return {};
  }
}

Status ValueWriter::WriteSized(const BoundColumn& column, int64_t row, OutputBuffer* out) {
  const std::string_view bytes = column.text(row);
  if (column.type().is_character() && !IsValidUtf8(bytes)) [[unlikely]] {
    return Status::DataError("the text is not UTF-8 and could not be read back: '" +
                             Printable(bytes, 60) + "'");
  }
  char* to = out->Room(bytes.size() + kMaxLongBytes);
  to = PutLong(static_cast<int64_t>(bytes.size()), to);
  text::CopyShort(bytes.data(), bytes.size(), to);
  out->SetEnd(to + bytes.size());
  return {};
}

/// All items in one block, and the empty one that ends the list.
Status ValueWriter::WriteArray(const BoundColumn& column, int64_t row, OutputBuffer* out) {
  const int64_t begin = column.list_begin(row);
  const int64_t end = column.list_end(row);
  if (end > begin) {
    out->SetEnd(PutLong(end - begin, out->Room(kMaxLongBytes)));
    for (int64_t i = begin; i < end; ++i) {
      SLUICE_RETURN_NOT_OK(WriteValue(column.children()[0], i, out));
    }
  }
  out->Put('\0');
  return {};
}

Status ValueWriter::WriteMap(const BoundColumn& column, int64_t row, OutputBuffer* out) {
  const BoundColumn& keys = column.children()[0];
  const BoundColumn& values = column.children()[1];
  const int64_t begin = column.list_begin(row);
  const int64_t end = column.list_end(row);
  if (end > begin) out->SetEnd(PutLong(end - begin, out->Room(kMaxLongBytes)));
  for (int64_t i = begin; i < end; ++i) {
    if (IsNullMapKey(keys.text(i)))
      return Status::DataError("a key of a map is NULL, which Avro cannot hold");
    SLUICE_RETURN_NOT_OK(WriteSized(keys, i, out));
    // Counts of a MULTISET are a union with null in Flink's schema.
    if (column.kind() == TypeKind::kMultiset) out->Put(kValueBranch);
    SLUICE_RETURN_NOT_OK(WriteValue(values, i, out));
  }
  out->Put('\0');
  return {};
}

}  // namespace sluice::formats::avro
