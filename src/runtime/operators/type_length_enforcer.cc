#include "runtime/operators/type_length_enforcer.h"

#include <algorithm>
#include <string>
#include <string_view>

#include <arrow/array/array_binary.h>
#include <arrow/array/builder_binary.h>

#include "common/text.h"
#include "types/arrow_status.h"

namespace sluice::runtime {
namespace {

bool HasLength(const SqlType& type) {
  return (type.is_character() || type.is_binary()) && type.length() < SqlType::kMaxLength;
}

bool IsFixed(const SqlType& type) {
  return type.kind() == TypeKind::kChar || type.kind() == TypeKind::kBinary;
}

size_t LengthOf(const SqlType& type, std::string_view value) {
  return type.is_character() ? CodePointCount(value) : value.size();
}

// The first `count` characters or bytes.
std::string_view Head(const SqlType& type, std::string_view value, size_t count) {
  if (type.is_binary()) return value.substr(0, count);
  size_t end = 0;
  for (; end < value.size(); ++end) {
    const bool begins = (static_cast<unsigned char>(value[end]) & 0xc0) != 0x80;
    if (begins && count-- == 0) break;
  }
  return value.substr(0, end);
}

}  // namespace

TypeLengthEnforcer::TypeLengthEnforcer(const Schema& schema, bool trim_and_pad)
    : schema_(schema), trim_and_pad_(trim_and_pad) {}

bool TypeLengthEnforcer::HasWork(const Schema& schema) {
  return std::any_of(schema.columns().begin(), schema.columns().end(),
                     [](const Column& column) { return HasLength(column.type); });
}

Status TypeLengthEnforcer::Process(Batch batch, Output& out) {
  arrow::ArrayVector columns = batch.rows()->columns();
  for (int i = 0; i < schema_.column_count(); ++i) {
    if (!HasLength(schema_.column(i).type)) continue;
    const auto index = static_cast<size_t>(i);
    SLUICE_ASSIGN_OR_RETURN(columns[index], Enforce(schema_.column(i), columns[index]));
  }
  return out.Emit(
      Batch(arrow::RecordBatch::Make(batch.rows()->schema(), batch.row_count(), std::move(columns)),
            batch.row_kinds()));
}

Result<std::shared_ptr<arrow::Array>> TypeLengthEnforcer::Enforce(
    const Column& column, const std::shared_ptr<arrow::Array>& values) const {
  const SqlType& type = column.type;
  const auto& texts = static_cast<const arrow::BinaryArray&>(*values);
  const auto length = static_cast<size_t>(type.length());
  const auto fits = [&](int64_t row) {
    if (texts.IsNull(row)) return true;
    const size_t size = LengthOf(type, texts.GetView(row));
    return size == length || (size < length && !IsFixed(type));
  };
  int64_t row = 0;
  while (row < texts.length() && fits(row)) ++row;
  if (row == texts.length()) return values;
  if (!trim_and_pad_) {
    return Status::DataError(
        "Column '" + column.name + "' is " + type.WithNullable(true).ToString() +
        ", however, a value of length " + std::to_string(LengthOf(type, texts.GetView(row))) +
        " is being written into it: '" +
        (type.is_character() ? Printable(texts.GetView(row), 40) : std::string("<binary>")) +
        "'. You can set job configuration 'table.exec.sink.type-length-enforcer'='TRIM_PAD' to "
        "trim or pad such values, or 'IGNORE' to write them as they are.");
  }
  arrow::BinaryBuilder builder(context().memory_pool);
  SLUICE_RETURN_ARROW(builder.Reserve(texts.length()));
  for (row = 0; row < texts.length(); ++row) {
    if (texts.IsNull(row)) {
      SLUICE_RETURN_ARROW(builder.AppendNull());
      continue;
    }
    std::string value(Head(type, texts.GetView(row), length));
    if (const size_t size = LengthOf(type, value); size < length && IsFixed(type)) {
      value.append(length - size, type.is_character() ? ' ' : '\0');
    }
    SLUICE_RETURN_ARROW(builder.Append(value));
  }
  std::shared_ptr<arrow::Array> enforced;
  SLUICE_RETURN_ARROW(builder.Finish(&enforced));
  return FromArrow(enforced->View(values->type()));
}

}  // namespace sluice::runtime
