#include "formats/avro/table_schema.h"

#include <algorithm>
#include <set>

namespace sluice::formats::avro {
namespace {

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

Status CheckName(const std::string& name) {
  bool good = !name.empty() && IsLetter(name[0]);
  for (const char c : name) good = good && (IsLetter(c) || (c >= '0' && c <= '9'));
  if (good) return {};
  const bool first = !name.empty() && name[0] >= '0' && name[0] <= '9';
  return Status::InvalidArgument(
      std::string(first ? "Illegal initial character: " : "Illegal character in: ") + name +
      ". Names of Avro fields are letters, digits and underscores, and begin with no digit.");
}

Status CheckType(const SqlType& type) {
  switch (type.kind()) {
    case TypeKind::kNull:
    case TypeKind::kIntervalYearMonth:
    case TypeKind::kIntervalDayTime:
      return Status::InvalidArgument("Unsupported to derive Schema for type: " + type.ToString());
    case TypeKind::kArray:
      return CheckType(type.element());
    case TypeKind::kMap:
    case TypeKind::kMultiset:
      if (!type.key().is_character()) {
        return Status::InvalidArgument(
            "Avro format doesn't support non-string as key type of map. The key type is: " +
            type.key().WithNullable(true).ToString());
      }
      return CheckType(type.value());
    case TypeKind::kRow:
      for (const RowField& field : type.fields()) {
        SLUICE_RETURN_NOT_OK(CheckName(field.name));
        SLUICE_RETURN_NOT_OK(CheckType(field.type));
      }
      return {};
    default:
      return {};
  }
}

std::string_view UnitName(int precision) {
  return precision <= 3 ? "millis" : precision <= 6 ? "micros" : "nanos";
}

class Generator {
 public:
  explicit Generator(const AvroOptions& options) : options_(options) {}

  std::string Row(const std::vector<Column>& columns, const std::string& name, bool outermost) {
    std::string text = R"({"type":"record","name":")" + Unused(name) + '"';
    // Types within have the namespace of what holds them.
    if (outermost && !options_.record_namespace.empty()) {
      text += R"(,"namespace":")" + options_.record_namespace + '"';
    }
    text += R"(,"fields":[)";
    for (size_t i = 0; i < columns.size(); ++i) {
      const Column& column = columns[i];
      text += (i > 0 ? "," : "") + std::string(R"({"name":")") + column.name + R"(","type":)" +
              Nullable(column.type, name + "_" + column.name);
      text += column.type.nullable() ? R"(,"default":null})" : "}";
    }
    return text + "]}";
  }

 private:
  /// Two rows may come to the same name (r.a_b and r_a.b), which Avro forbids.
  std::string Unused(const std::string& name) {
    std::string unused = name;
    for (int number = 2; !names_.insert(unused).second; ++number) {
      unused = name + "_" + std::to_string(number);
    }
    return unused;
  }

  std::string Nullable(const SqlType& type, const std::string& name) {
    const std::string text = Value(type, name);
    return type.nullable() ? R"(["null",)" + text + "]" : text;
  }

  std::string Value(const SqlType& type, const std::string& name) {
    switch (type.kind()) {
      case TypeKind::kArray:
        return R"({"type":"array","items":)" + Nullable(type.element(), name) + "}";
      case TypeKind::kMap:
        return R"({"type":"map","values":)" + Nullable(type.value(), name) + "}";
      case TypeKind::kMultiset:  // Flink's counts may be null, though they never are.
        return R"({"type":"map","values":["null","int"]})";
      case TypeKind::kRow: {
        std::vector<Column> columns;
        for (const RowField& field : type.fields()) columns.push_back({field.name, field.type});
        return Row(columns, name, false);
      }
      default:
        return Scalar(type);
    }
  }

  std::string Scalar(const SqlType& type) const {
    switch (type.kind()) {
      case TypeKind::kBoolean:
        return "\"boolean\"";
      case TypeKind::kTinyint:
      case TypeKind::kSmallint:
      case TypeKind::kInt:
        return "\"int\"";
      case TypeKind::kBigint:
        return "\"long\"";
      case TypeKind::kFloat:
        return "\"float\"";
      case TypeKind::kDouble:
        return "\"double\"";
      case TypeKind::kDecimal:
        return R"({"type":"bytes","logicalType":"decimal","precision":)" +
               std::to_string(type.precision()) + R"(,"scale":)" + std::to_string(type.scale()) +
               "}";
      case TypeKind::kChar:
      case TypeKind::kVarchar:
        return "\"string\"";
      case TypeKind::kDate:
        return R"({"type":"int","logicalType":"date"})";
      case TypeKind::kTime:
        return R"({"type":"int","logicalType":"time-millis"})";
      case TypeKind::kTimestamp:
      case TypeKind::kTimestampLtz: {
        const bool local = type.kind() == TypeKind::kTimestamp && !options_.legacy_timestamps;
        return R"({"type":"long","logicalType":")" + std::string(local ? "local-" : "") +
               "timestamp-" + std::string(UnitName(type.precision())) + "\"}";
      }
      default:
        return "\"bytes\"";
    }
  }

  const AvroOptions& options_;
  std::set<std::string> names_;
};

bool IsBeyondFlink(const SqlType& type, bool legacy) {
  switch (type.kind()) {
    case TypeKind::kTimestamp:
      return type.precision() > 3;
    case TypeKind::kTimestampLtz:
      return legacy || type.precision() > 6;
    case TypeKind::kArray:
      return IsBeyondFlink(type.element(), legacy);
    case TypeKind::kMap:
      return IsBeyondFlink(type.value(), legacy);
    case TypeKind::kRow:
      return std::any_of(type.fields().begin(), type.fields().end(),
                         [&](const RowField& field) { return IsBeyondFlink(field.type, legacy); });
    default:
      return false;
  }
}

}  // namespace

Status CheckColumns(const Schema& schema) {
  for (const Column& column : schema.columns()) {
    Status status = CheckName(column.name);
    if (status.ok()) status = CheckType(column.type);
    if (!status.ok()) {
      return Status(status.code(), status.message() + " Column: `" + column.name + "`.");
    }
  }
  return {};
}

std::string TableSchemaJson(const Schema& schema, const AvroOptions& options) {
  return Generator(options).Row(schema.columns(), options.record_name, true);
}

std::string BeyondFlink(const Schema& schema, const AvroOptions& options) {
  std::string list;
  for (const Column& column : schema.columns()) {
    if (!IsBeyondFlink(column.type, options.legacy_timestamps)) continue;
    list += (list.empty() ? "`" : ", `") + column.name + "` " + column.type.ToString();
  }
  return list;
}

}  // namespace sluice::formats::avro
