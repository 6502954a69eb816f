#include "connectors/filesystem/sink/file_layout.h"

#include <algorithm>

#include "formats/all_file_operations.h"
#include "formats/all_formats.h"

namespace sluice::connectors::filesystem {
namespace {

constexpr uint8_t kVersion = 1;
constexpr int kDepthLimit = 64;

// Kinds by number: those of version 1 in the order of TypeKind.
void PutType(const SqlType& type, ByteWriter* out) {
  out->PutU8(static_cast<uint8_t>(type.kind()));
  out->PutU8(type.nullable() ? 1 : 0);
  out->PutI64(type.length());
  out->PutI64(type.kind() == TypeKind::kDecimal ? type.scale() : 0);
  switch (type.kind()) {
    case TypeKind::kArray:
    case TypeKind::kMultiset:
      PutType(type.element(), out);
      break;
    case TypeKind::kMap:
      PutType(type.key(), out);
      PutType(type.value(), out);
      break;
    case TypeKind::kRow:
      out->PutU64(type.fields().size());
      for (const RowField& field : type.fields()) {
        out->PutText(field.name);
        PutType(field.type, out);
      }
      break;
    default:
      break;
  }
}

Result<SqlType> ReadType(ByteReader* in, int depth) {
  const auto kind = static_cast<TypeKind>(in->U8());
  const bool nullable = in->U8() != 0;
  const auto first = static_cast<int32_t>(in->I64());
  const auto second = static_cast<int32_t>(in->I64());
  const Status damaged = Status::Corrupt("A column type in the checkpoint is damaged.");
  if (!in->ok() || depth > kDepthLimit || kind > TypeKind::kRow) return damaged;
  const auto plain = [&]() -> SqlType {
    switch (kind) {
      case TypeKind::kBoolean:
        return SqlType::Boolean();
      case TypeKind::kTinyint:
        return SqlType::Tinyint();
      case TypeKind::kSmallint:
        return SqlType::Smallint();
      case TypeKind::kInt:
        return SqlType::Int();
      case TypeKind::kBigint:
        return SqlType::Bigint();
      case TypeKind::kFloat:
        return SqlType::Float();
      case TypeKind::kDouble:
        return SqlType::Double();
      case TypeKind::kDecimal:
        return SqlType::Decimal(first, second);
      case TypeKind::kChar:
        return SqlType::Char(first);
      case TypeKind::kVarchar:
        return SqlType::Varchar(first);
      case TypeKind::kBinary:
        return SqlType::Binary(first);
      case TypeKind::kVarbinary:
        return SqlType::Varbinary(first);
      case TypeKind::kDate:
        return SqlType::Date();
      case TypeKind::kTime:
        return SqlType::Time(first);
      case TypeKind::kTimestamp:
        return SqlType::Timestamp(first);
      case TypeKind::kTimestampLtz:
        return SqlType::TimestampLtz(first);
      case TypeKind::kIntervalYearMonth:
        return SqlType::IntervalYearMonth();
      case TypeKind::kIntervalDayTime:
        return SqlType::IntervalDayTime();
      default:
        return SqlType::Null();
    }
  };
  SqlType type;
  if (kind == TypeKind::kArray || kind == TypeKind::kMultiset) {
    SLUICE_ASSIGN_OR_RETURN(SqlType element, ReadType(in, depth + 1));
    type = kind == TypeKind::kArray ? SqlType::Array(std::move(element))
                                    : SqlType::Multiset(std::move(element));
  } else if (kind == TypeKind::kMap) {
    SLUICE_ASSIGN_OR_RETURN(SqlType key, ReadType(in, depth + 1));
    SLUICE_ASSIGN_OR_RETURN(SqlType value, ReadType(in, depth + 1));
    type = SqlType::Map(std::move(key), std::move(value));
  } else if (kind == TypeKind::kRow) {
    std::vector<RowField> fields;
    for (size_t count = in->Count(); count > 0 && in->ok(); --count) {
      RowField& field = fields.emplace_back();
      field.name = in->Text();
      SLUICE_ASSIGN_OR_RETURN(field.type, ReadType(in, depth + 1));
    }
    type = SqlType::Row(std::move(fields));
  } else {
    type = plain();
  }
  return type.WithNullable(nullable);
}

}  // namespace

void PutSchema(const Schema& schema, ByteWriter* out) {
  out->PutU64(schema.columns().size());
  for (const Column& column : schema.columns()) {
    out->PutText(column.name);
    PutType(column.type, out);
  }
}

Result<Schema> ReadSchema(ByteReader* in) {
  std::vector<Column> columns;
  for (size_t count = in->Count(); count > 0 && in->ok(); --count) {
    Column& column = columns.emplace_back();
    column.name = in->Text();
    SLUICE_ASSIGN_OR_RETURN(column.type, ReadType(in, 0));
  }
  return Schema(std::move(columns));
}

Result<FileLayout> LayoutOfTable(const TableInfo& table) {
  FileLayout layout;
  SLUICE_ASSIGN_OR_RETURN(layout.format, formats::FindFormat(table.options.at("format")));
  layout.operations = &formats::FileOperationsOf(*layout.format);
  layout.options =
      formats::ExtractFormatOptions(table.options, std::string(layout.format->name) + ".");
  std::vector<int> columns;
  for (int column = 0; column < table.physical.column_count(); ++column) {
    const auto& keys = table.partition_keys;
    if (std::find(keys.begin(), keys.end(), table.physical.column(column).name) == keys.end()) {
      columns.push_back(column);
    }
  }
  layout.schema = table.physical.Select(columns);
  return layout;
}

std::string EncodeLayout(const FileLayout& layout) {
  ByteWriter out;
  out.PutU8(kVersion);
  out.PutText(layout.format->name);
  out.PutText(layout.options.prefix);
  out.PutU64(layout.options.options.size());
  for (const auto& [key, value] : layout.options.options) {
    out.PutText(key);
    out.PutText(value);
  }
  PutSchema(layout.schema, &out);
  return std::move(out).Take();
}

Result<FileLayout> DecodeLayout(std::string_view bytes) {
  ByteReader in(bytes);
  if (in.U8() != kVersion) {
    return Status::Corrupt("The layout of part files in the checkpoint has an unknown form.");
  }
  FileLayout layout;
  const std::string format = in.Text();
  layout.options.prefix = in.Text();
  for (size_t count = in.Count(); count > 0 && in.ok(); --count) {
    std::string key = in.Text();
    layout.options.options[std::move(key)] = in.Text();
  }
  SLUICE_ASSIGN_OR_RETURN(layout.schema, ReadSchema(&in));
  if (!in.AtEnd()) {
    return Status::Corrupt("The layout of part files in the checkpoint is damaged.");
  }
  SLUICE_ASSIGN_OR_RETURN(layout.format, formats::FindFormat(format));
  layout.operations = &formats::FileOperationsOf(*layout.format);
  return layout;
}

}  // namespace sluice::connectors::filesystem
