#include "types/sql_type.h"

#include <arrow/type.h>

#include "common/quoted_name.h"

namespace sluice {

struct SqlType::Children {
  SqlType element;  // Also the key of a MAP.
  SqlType value;
  std::vector<RowField> fields;
};

SqlType SqlType::Of(TypeKind kind, int32_t first, int32_t second) {
  SqlType type;
  type.kind_ = kind;
  type.first_ = first;
  type.second_ = second;
  return type;
}

SqlType SqlType::Array(SqlType element) {
  SqlType type = Of(TypeKind::kArray);
  type.children_ = std::make_shared<const Children>(Children{std::move(element), {}, {}});
  return type;
}

SqlType SqlType::Map(SqlType key, SqlType value) {
  SqlType type = Of(TypeKind::kMap);
  type.children_ = std::make_shared<const Children>(Children{std::move(key), std::move(value), {}});
  return type;
}

SqlType SqlType::Multiset(SqlType element) {
  SqlType type = Of(TypeKind::kMultiset);
  type.children_ =
      std::make_shared<const Children>(Children{std::move(element), Int().NotNull(), {}});
  return type;
}

SqlType SqlType::Row(std::vector<RowField> fields) {
  SqlType type = Of(TypeKind::kRow);
  type.children_ = std::make_shared<const Children>(Children{{}, {}, std::move(fields)});
  return type;
}

SqlType SqlType::WithNullable(bool nullable) const {
  SqlType type = *this;
  type.nullable_ = nullable;
  return type;
}

namespace {
const SqlType& NullType() {
  static const SqlType type;
  return type;
}
}  // namespace

const SqlType& SqlType::element() const { return children_ ? children_->element : NullType(); }
const SqlType& SqlType::value() const { return children_ ? children_->value : NullType(); }

const std::vector<RowField>& SqlType::fields() const {
  static const std::vector<RowField> kNone;
  return children_ ? children_->fields : kNone;
}

bool operator==(const SqlType& a, const SqlType& b) {
  if (a.kind_ != b.kind_ || a.nullable_ != b.nullable_ || a.first_ != b.first_ ||
      a.second_ != b.second_)
    return false;
  if (a.children_ == b.children_) return true;
  if (!a.children_ || !b.children_) return false;
  return a.children_->element == b.children_->element && a.children_->value == b.children_->value &&
         a.children_->fields == b.children_->fields;
}

namespace {

std::shared_ptr<arrow::DataType> TimestampArrow(int precision, bool local_zone) {
  const arrow::TimeUnit::type unit = precision <= 3   ? arrow::TimeUnit::MILLI
                                     : precision <= 6 ? arrow::TimeUnit::MICRO
                                                      : arrow::TimeUnit::NANO;
  return local_zone ? arrow::timestamp(unit, "UTC") : arrow::timestamp(unit);
}

std::shared_ptr<arrow::Field> ArrowField(const std::string& name, const SqlType& type) {
  return arrow::field(name, type.ToArrow(), type.nullable());
}

}  // namespace

std::shared_ptr<arrow::DataType> SqlType::ToArrow() const {
  switch (kind_) {
    case TypeKind::kNull:
      return arrow::null();
    case TypeKind::kBoolean:
      return arrow::boolean();
    case TypeKind::kTinyint:
      return arrow::int8();
    case TypeKind::kSmallint:
      return arrow::int16();
    case TypeKind::kInt:
      return arrow::int32();
    case TypeKind::kBigint:
      return arrow::int64();
    case TypeKind::kFloat:
      return arrow::float32();
    case TypeKind::kDouble:
      return arrow::float64();
    case TypeKind::kDecimal:
      return arrow::decimal128(first_, second_);
    case TypeKind::kChar:
    case TypeKind::kVarchar:
      return arrow::utf8();
    case TypeKind::kBinary:
    case TypeKind::kVarbinary:
      return arrow::binary();
    case TypeKind::kDate:
      return arrow::date32();
    case TypeKind::kTime:
      return arrow::time32(arrow::TimeUnit::MILLI);
    case TypeKind::kTimestamp:
      return TimestampArrow(first_, false);
    case TypeKind::kTimestampLtz:
      return TimestampArrow(first_, true);
    case TypeKind::kIntervalYearMonth:
      return arrow::month_interval();
    case TypeKind::kIntervalDayTime:
      return arrow::duration(arrow::TimeUnit::MILLI);
    case TypeKind::kArray:
      return arrow::list(ArrowField("element", element()));
    case TypeKind::kMap:
    case TypeKind::kMultiset:
      return std::make_shared<arrow::MapType>(ArrowField("key", key().NotNull()),
                                              ArrowField("value", value()));
    case TypeKind::kRow: {
      arrow::FieldVector fields;
      for (const RowField& field : this->fields())
        fields.push_back(ArrowField(field.name, field.type));
      return arrow::struct_(std::move(fields));
    }
  }
  return arrow::null();
}

namespace {

std::string WithNumber(const char* name, int32_t number) {
  return std::string(name) + "(" + std::to_string(number) + ")";
}

std::string Render(const SqlType& type, bool full) {
  const auto render = [full](const SqlType& t) { return full ? t.ToFullString() : t.ToString(); };
  switch (type.kind()) {
    case TypeKind::kNull:
      return "NULL";
    case TypeKind::kBoolean:
      return "BOOLEAN";
    case TypeKind::kTinyint:
      return "TINYINT";
    case TypeKind::kSmallint:
      return "SMALLINT";
    case TypeKind::kInt:
      return "INT";
    case TypeKind::kBigint:
      return "BIGINT";
    case TypeKind::kFloat:
      return "FLOAT";
    case TypeKind::kDouble:
      return "DOUBLE";
    case TypeKind::kDecimal:
      return "DECIMAL(" + std::to_string(type.precision()) + ", " + std::to_string(type.scale()) +
             ")";
    case TypeKind::kChar:
      return WithNumber("CHAR", type.length());
    case TypeKind::kVarchar:
      if (!full && type.length() == SqlType::kMaxLength) return "STRING";
      return WithNumber("VARCHAR", type.length());
    case TypeKind::kBinary:
      return WithNumber("BINARY", type.length());
    case TypeKind::kVarbinary:
      if (!full && type.length() == SqlType::kMaxLength) return "BYTES";
      return WithNumber("VARBINARY", type.length());
    case TypeKind::kDate:
      return "DATE";
    case TypeKind::kTime:
      return WithNumber("TIME", type.precision());
    case TypeKind::kTimestamp:
      return WithNumber("TIMESTAMP", type.precision());
    case TypeKind::kTimestampLtz:
      if (full) return WithNumber("TIMESTAMP", type.precision()) + " WITH LOCAL TIME ZONE";
      return WithNumber("TIMESTAMP_LTZ", type.precision());
    case TypeKind::kIntervalYearMonth:
      return "INTERVAL YEAR TO MONTH";
    case TypeKind::kIntervalDayTime:
      return "INTERVAL DAY TO SECOND(3)";
    case TypeKind::kArray:
      return "ARRAY<" + render(type.element()) + ">";
    case TypeKind::kMap:
      return "MAP<" + render(type.key()) + ", " + render(type.value()) + ">";
    case TypeKind::kMultiset:
      return "MULTISET<" + render(type.element()) + ">";
    case TypeKind::kRow: {
      std::string text = "ROW<";
      for (const RowField& field : type.fields()) {
        if (text.size() > 4) text += ", ";
        text += QuotedName(field.name) + " " + render(field.type);
        if (!field.comment.empty()) text += " '" + field.comment + "'";
      }
      return text + ">";
    }
  }
  return "?";
}

}  // namespace

std::string SqlType::ToString() const {
  return Render(*this, false) + (nullable_ ? "" : " NOT NULL");
}
std::string SqlType::ToFullString() const {
  return Render(*this, true) + (nullable_ ? "" : " NOT NULL");
}

}  // namespace sluice
