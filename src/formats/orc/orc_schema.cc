#include "formats/orc/orc_schema.h"

#include <algorithm>

#include "common/text.h"
#include "formats/option_checks.h"

namespace sluice::formats::orc_format {

namespace {

// The first type at any depth that cannot be held, null when all can.
const SqlType* FindUnsupported(const SqlType& type) {
  switch (type.kind()) {
    case TypeKind::kNull:
    case TypeKind::kTime:
    case TypeKind::kMultiset:
    case TypeKind::kIntervalYearMonth:
    case TypeKind::kIntervalDayTime:
      return &type;
    case TypeKind::kArray:
      return FindUnsupported(type.element());
    case TypeKind::kMap: {
      const SqlType* const key = FindUnsupported(type.key());
      return key != nullptr ? key : FindUnsupported(type.value());
    }
    case TypeKind::kRow:
      if (type.fields().empty()) return &type;
      for (const RowField& field : type.fields()) {
        if (const SqlType* const found = FindUnsupported(field.type)) return found;
      }
      return nullptr;
    default:
      return nullptr;
  }
}

OrcKind KindOf(const SqlType& type) {
  switch (type.kind()) {
    case TypeKind::kBoolean:
      return OrcKind::kBoolean;
    case TypeKind::kTinyint:
      return OrcKind::kByte;
    case TypeKind::kSmallint:
      return OrcKind::kShort;
    case TypeKind::kInt:
      return OrcKind::kInt;
    case TypeKind::kBigint:
      return OrcKind::kLong;
    case TypeKind::kFloat:
      return OrcKind::kFloat;
    case TypeKind::kDouble:
      return OrcKind::kDouble;
    case TypeKind::kDecimal:
      return OrcKind::kDecimal;
    case TypeKind::kChar:
      return OrcKind::kChar;
    case TypeKind::kVarchar:
      return type.length() == SqlType::kMaxLength ? OrcKind::kString : OrcKind::kVarchar;
    case TypeKind::kDate:
      return OrcKind::kDate;
    case TypeKind::kTimestamp:
      return OrcKind::kTimestamp;
    case TypeKind::kTimestampLtz:
      return OrcKind::kTimestampInstant;
    case TypeKind::kArray:
      return OrcKind::kList;
    case TypeKind::kMap:
      return OrcKind::kMap;
    case TypeKind::kRow:
      return OrcKind::kStruct;
    default:
      return OrcKind::kBinary;
  }
}

void AppendType(const SqlType& type, std::vector<OrcType>* types) {
  const size_t column = types->size();
  const OrcKind kind = KindOf(type);
  types->push_back({.kind = kind});
  if (kind == OrcKind::kChar || kind == OrcKind::kVarchar)
    (*types)[column].length = static_cast<uint64_t>(type.length());
  if (kind == OrcKind::kDecimal) {
    (*types)[column].precision = static_cast<uint64_t>(type.precision());
    (*types)[column].scale = static_cast<uint64_t>(type.scale());
  }
  const auto append_child = [&](const SqlType& child) {
    (*types)[column].children.push_back(types->size());
    AppendType(child, types);
  };
  if (kind == OrcKind::kList) append_child(type.element());
  if (kind == OrcKind::kMap) {
    append_child(type.key());
    append_child(type.value());
  }
  if (kind != OrcKind::kStruct) return;
  for (const RowField& field : type.fields()) {
    (*types)[column].field_names.push_back(field.name);
    append_child(field.type);
  }
}

bool IsAnyOf(OrcKind kind, std::initializer_list<OrcKind> kinds) {
  return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

bool IsInteger(OrcKind kind) { return kind >= OrcKind::kByte && kind <= OrcKind::kLong; }

bool CanReadScalar(const OrcType& file, const SqlType& type) {
  using Kind = OrcKind;
  switch (type.kind()) {
    case TypeKind::kBoolean:
      return file.kind == Kind::kBoolean;
    case TypeKind::kTinyint:
    case TypeKind::kSmallint:
    case TypeKind::kInt:
    case TypeKind::kBigint:
      return IsInteger(file.kind);
    case TypeKind::kFloat:
      return IsAnyOf(file.kind, {Kind::kFloat, Kind::kByte, Kind::kShort});
    case TypeKind::kDouble:
      return IsAnyOf(file.kind,
                     {Kind::kFloat, Kind::kDouble, Kind::kByte, Kind::kShort, Kind::kInt});
    case TypeKind::kDecimal:
      return file.kind == Kind::kDecimal || IsInteger(file.kind);
    case TypeKind::kChar:
    case TypeKind::kVarchar:
    case TypeKind::kBinary:
    case TypeKind::kVarbinary:
      return IsAnyOf(file.kind, {Kind::kString, Kind::kVarchar, Kind::kChar, Kind::kBinary});
    case TypeKind::kDate:
      return file.kind == Kind::kDate;
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLtz:
      return IsAnyOf(file.kind, {Kind::kTimestamp, Kind::kTimestampInstant});
    default:
      return false;
  }
}

class Planner {
 public:
  explicit Planner(const std::vector<OrcType>& types) : types_(types) {}

  /// False when the values cannot be converted.
  bool Plan(const SqlType& type, size_t column, ReadNode* node) const {
    node->type = type;
    node->column = static_cast<int64_t>(column);
    const OrcType& file = types_[column];
    switch (type.kind()) {
      case TypeKind::kArray:
        node->children.resize(1);
        return file.kind == OrcKind::kList &&
               Plan(type.element(), file.children[0], node->children.data());
      case TypeKind::kMap:
        node->children.resize(2);
        return file.kind == OrcKind::kMap &&
               Plan(type.key().WithNullable(true), file.children[0], node->children.data()) &&
               Plan(type.value(), file.children[1], &node->children[1]);
      case TypeKind::kRow:
        return file.kind == OrcKind::kStruct && PlanFields(type, file, node);
      default:
        return CanReadScalar(file, type);
    }
  }

 private:
  bool PlanFields(const SqlType& type, const OrcType& file, ReadNode* node) const {
    for (const RowField& field : type.fields()) {
      ReadNode& child = node->children.emplace_back();
      child.type = field.type;
      const auto found = std::find(file.field_names.begin(), file.field_names.end(), field.name);
      if (found == file.field_names.end()) {
        if (!field.type.nullable()) return false;
        continue;
      }
      const auto position = static_cast<size_t>(found - file.field_names.begin());
      if (!Plan(field.type, file.children[position], &child)) return false;
    }
    return true;
  }

  const std::vector<OrcType>& types_;
};

// Hive before 2 does not know the names of a table's columns when it writes.
bool IsPositional(const OrcType& root) {
  return !root.field_names.empty() &&
         std::all_of(root.field_names.begin(), root.field_names.end(), [](const std::string& name) {
           return name.starts_with("_col") && ParseInt64(std::string_view(name).substr(4));
         });
}

void Touch(const ReadNode& node, std::vector<bool>* touched) {
  if (node.column < 0) return;
  (*touched)[static_cast<size_t>(node.column)] = true;
  for (const ReadNode& child : node.children) Touch(child, touched);
}

}  // namespace

Status CheckColumnTypes(const Schema& schema) {
  for (const Column& column : schema.columns()) {
    const SqlType* const found = FindUnsupported(column.type);
    if (found == nullptr) continue;
    return Status::Unsupported("Unsupported type: " + found->WithNullable(true).ToString() +
                               ". The 'orc' format cannot hold column '" + column.name +
                               "' of type " + column.type.ToString() + ".");
  }
  return {};
}

std::vector<OrcType> MakeOrcTypes(const Schema& schema) {
  std::vector<OrcType> types(1);
  for (const Column& column : schema.columns()) {
    types[0].field_names.push_back(column.name);
    types[0].children.push_back(types.size());
    AppendType(column.type, &types);
  }
  return types;
}

int FindField(const Schema& physical, int index, const OrcType& root) {
  if (IsPositional(root)) return index < static_cast<int>(root.children.size()) ? index : -1;
  const auto found =
      std::find(root.field_names.begin(), root.field_names.end(), physical.column(index).name);
  return found == root.field_names.end() ? -1 : static_cast<int>(found - root.field_names.begin());
}

Result<std::vector<ReadNode>> PlanColumns(const ReadSchema& schema,
                                          const std::vector<OrcType>& types) {
  std::vector<ReadNode> nodes;
  for (const int index : schema.projection) {
    const Column& column = schema.physical.column(index);
    ReadNode& node = nodes.emplace_back();
    node.type = column.type;
    const int field = FindField(schema.physical, index, types[0]);
    if (field < 0) {
      if (column.type.nullable()) continue;
      return Status::DataError("Column '" + column.name + "' of type " + column.type.ToString() +
                               " is not in the file. Declare it without NOT NULL to read it as "
                               "NULL.");
    }
    const uint64_t id = types[0].children[static_cast<size_t>(field)];
    if (Planner(types).Plan(column.type, id, &node)) continue;
    const std::string file_type = TypeText(types, id);
    return Status::DataError("Column '" + column.name + "' cannot be read: the file has " +
                             file_type + ", the table declares " + column.type.ToString() +
                             ". Declare the column with a type that holds the file's values.");
  }
  return nodes;
}

std::vector<bool> TouchedColumns(const std::vector<ReadNode>& nodes, size_t column_count) {
  std::vector<bool> touched(column_count);
  touched[0] = true;
  for (const ReadNode& node : nodes) Touch(node, &touched);
  return touched;
}

namespace {

bool HasBloomFilter(const OrcType& type) {
  switch (type.kind) {
    case OrcKind::kByte:
    case OrcKind::kShort:
    case OrcKind::kInt:
    case OrcKind::kLong:
    case OrcKind::kFloat:
    case OrcKind::kDouble:
    case OrcKind::kString:
    case OrcKind::kVarchar:
    case OrcKind::kBinary:
    case OrcKind::kDate:
    case OrcKind::kTimestamp:
    case OrcKind::kTimestampInstant:
      return true;
    case OrcKind::kDecimal:
      return type.scale > 0;  // HashOfDecimal says why.
    default:
      return false;
  }
}

}  // namespace

Status CheckBloomColumns(const std::vector<std::string>& columns, const Schema& schema) {
  if (schema.column_count() == 0) return {};  // Options alone are checked; columns come later.
  const std::vector<OrcType> types = MakeOrcTypes(schema);
  for (const std::string& name : columns) {
    SLUICE_RETURN_NOT_OK(CheckOptionColumn("orc.bloom.filter.columns", name, schema));
    const int index = schema.IndexOf(name);
    if (!HasBloomFilter(types[types[0].children[static_cast<size_t>(index)]])) {
      return Status::InvalidArgument(
          "Column '" + name + "' of 'orc.bloom.filter.columns' is of type " +
          schema.column(index).type.ToString() +
          ". Bloom filters are written for whole numbers, FLOAT, DOUBLE, DECIMAL with a scale, "
          "DATE, "
          "timestamps, VARCHAR, STRING, BINARY and BYTES. Take it off the list.");
    }
  }
  return {};
}

}  // namespace sluice::formats::orc_format
