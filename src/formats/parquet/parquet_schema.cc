#include "formats/parquet/parquet_schema.h"

namespace sluice::formats::parquet_format {

namespace {

using ::parquet::ConvertedType;
using ::parquet::LogicalType;
using ::parquet::Repetition;
using ::parquet::Type;
using ::parquet::schema::GroupNode;
using ::parquet::schema::NodePtr;
using ::parquet::schema::PrimitiveNode;

class SchemaMaker {
 public:
  explicit SchemaMaker(const ParquetOptions& options) : options_(options) {}

  NodePtr Node(const std::string& name, const SqlType& type) const {
    const Repetition::type repetition =
        type.nullable() ? Repetition::OPTIONAL : Repetition::REQUIRED;
    switch (type.kind()) {
      case TypeKind::kArray:
        return List(name, repetition, type.element());
      case TypeKind::kMap:
        return Map(name, repetition, type.key(), type.value());
      case TypeKind::kMultiset:
        return Map(name, repetition, type.element(), SqlType::Int().NotNull());
      case TypeKind::kRow: {
        ::parquet::schema::NodeVector fields;
        for (const RowField& field : type.fields()) fields.push_back(Node(field.name, field.type));
        return GroupNode::Make(name, repetition, fields);
      }
      default:
        return Primitive(name, repetition, type);
    }
  }

 private:
  NodePtr List(const std::string& name, Repetition::type repetition, const SqlType& element) const {
    const NodePtr repeated =
        GroupNode::Make("list", Repetition::REPEATED, {Node("element", element)});
    return GroupNode::Make(name, repetition, {repeated}, LogicalType::List());
  }

  NodePtr Map(const std::string& name, Repetition::type repetition, const SqlType& key,
              const SqlType& value) const {
    // MAP_KEY_VALUE on the inner group is what Flink's library writes for older readers.
    const NodePtr entries = GroupNode::Make("key_value", Repetition::REPEATED,
                                            {Node("key", key.NotNull()), Node("value", value)},
                                            ConvertedType::MAP_KEY_VALUE);
    return GroupNode::Make(name, repetition, {entries}, LogicalType::Map());
  }

  NodePtr Primitive(const std::string& name, Repetition::type repetition,
                    const SqlType& type) const {
    const auto plain = [&](Type::type physical) {
      return PrimitiveNode::Make(name, repetition, physical);
    };
    const auto logical = [&](std::shared_ptr<const LogicalType> annotation, Type::type physical,
                             int length = -1) {
      return PrimitiveNode::Make(name, repetition, std::move(annotation), physical, length);
    };
    switch (type.kind()) {
      case TypeKind::kBoolean:
        return plain(Type::BOOLEAN);
      case TypeKind::kTinyint:
        return logical(LogicalType::Int(8, true), Type::INT32);
      case TypeKind::kSmallint:
        return logical(LogicalType::Int(16, true), Type::INT32);
      case TypeKind::kInt:
        return plain(Type::INT32);
      case TypeKind::kBigint:
        return plain(Type::INT64);
      case TypeKind::kFloat:
        return plain(Type::FLOAT);
      case TypeKind::kDouble:
        return plain(Type::DOUBLE);
      case TypeKind::kDecimal:
        return logical(LogicalType::Decimal(type.precision(), type.scale()),
                       Type::FIXED_LEN_BYTE_ARRAY, DecimalByteCount(type.precision()));
      case TypeKind::kChar:
      case TypeKind::kVarchar:
        return logical(LogicalType::String(), Type::BYTE_ARRAY);
      case TypeKind::kDate:
        return logical(LogicalType::Date(), Type::INT32);
      case TypeKind::kTime:
        return logical(LogicalType::Time(true, LogicalType::TimeUnit::MILLIS), Type::INT32);
      case TypeKind::kTimestamp:
      case TypeKind::kTimestampLtz:
        if (!options_.write_int64) return plain(Type::INT96);
        return logical(LogicalType::Timestamp(type.kind() == TypeKind::kTimestampLtz, Unit()),
                       Type::INT64);
      default:
        return plain(Type::BYTE_ARRAY);
    }
  }

  LogicalType::TimeUnit::unit Unit() const {
    switch (options_.int64_unit) {
      case arrow::TimeUnit::MILLI:
        return LogicalType::TimeUnit::MILLIS;
      case arrow::TimeUnit::NANO:
        return LogicalType::TimeUnit::NANOS;
      default:
        return LogicalType::TimeUnit::MICROS;
    }
  }

  const ParquetOptions& options_;
};

bool IsSupported(const SqlType& type) {
  switch (type.kind()) {
    case TypeKind::kNull:
    case TypeKind::kIntervalYearMonth:
    case TypeKind::kIntervalDayTime:
      return false;
    case TypeKind::kArray:
    case TypeKind::kMultiset:
      return IsSupported(type.element());
    case TypeKind::kMap:
      return IsSupported(type.key()) && IsSupported(type.value());
    case TypeKind::kRow:
      return !type.fields().empty() &&
             std::all_of(type.fields().begin(), type.fields().end(),
                         [](const RowField& field) { return IsSupported(field.type); });
    default:
      return true;
  }
}

}  // namespace

bool MayHaveDictionary(const SqlType& type) {
  // Flink 2.3 fails on a dictionary of a DECIMAL column of up to 18 digits, which its own writer
  // never makes: parquet-mr has none for fixed-length bytes in version 1 files.
  return type.kind() != TypeKind::kDecimal || type.precision() > 18;
}

int DecimalByteCount(int precision) {
  // Least n with 10^precision - 1 < 2^(8n - 1): log2(10) = 3.3219 bits a digit and one for the
  // sign.
  static constexpr int kBytes[] = {0,  1,  1,  2,  2,  3,  3,  4,  4,  4,  5,  5,  6,
                                   6,  6,  7,  7,  8,  8,  9,  9,  9,  10, 10, 11, 11,
                                   11, 12, 12, 13, 13, 13, 14, 14, 15, 15, 16, 16, 16};
  return kBytes[precision];
}

Status CheckColumnTypes(const Schema& schema) {
  for (const Column& column : schema.columns()) {
    if (IsSupported(column.type)) continue;
    return Status::Unsupported("The 'parquet' format cannot hold column '" + column.name +
                               "' of type " + column.type.ToString() + ".");
  }
  return {};
}

std::shared_ptr<GroupNode> MakeParquetSchema(const Schema& schema, const ParquetOptions& options) {
  const SchemaMaker maker(options);
  ::parquet::schema::NodeVector fields;
  for (const Column& column : schema.columns())
    fields.push_back(maker.Node(column.name, column.type));
  return std::static_pointer_cast<GroupNode>(
      GroupNode::Make("flink_schema", Repetition::REQUIRED, fields));
}

}  // namespace sluice::formats::parquet_format
