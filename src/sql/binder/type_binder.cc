// Types as written, checked and turned into SQL types (sql.md §5.1).
#include <algorithm>
#include <iterator>

#include "common/nearest_name.h"
#include "sql/binder/binder.h"

namespace sluice::sql {
namespace {

struct PlainType {
  std::string_view name;
  SqlType type;
};

const SqlType* FindPlainType(std::string_view name) {
  static const PlainType kPlain[] = {
      {"STRING", SqlType::String()},   {"BYTES", SqlType::Bytes()},
      {"TINYINT", SqlType::Tinyint()}, {"SMALLINT", SqlType::Smallint()},
      {"INT", SqlType::Int()},         {"BIGINT", SqlType::Bigint()},
      {"FLOAT", SqlType::Float()},     {"DOUBLE", SqlType::Double()},
      {"BOOLEAN", SqlType::Boolean()}, {"DATE", SqlType::Date()},
      {"NULL", SqlType::Null()},
  };
  const auto* found = std::find_if(std::begin(kPlain), std::end(kPlain),
                                   [&](const PlainType& plain) { return plain.name == name; });
  return found == std::end(kPlain) ? nullptr : &found->type;
}

/// The argument at `index`, or `otherwise` when it was not written; checked against its range in
/// the words of Flink.
Result<int32_t> Argument(const TypeSyntax& syntax, size_t index, int64_t otherwise, int64_t least,
                         int64_t most, std::string_view what) {
  const int64_t value = index < syntax.arguments.size() ? syntax.arguments[index] : otherwise;
  if (value >= least && value <= most) return static_cast<int32_t>(value);
  return Status::Validation(std::string(what) + " must be between " + std::to_string(least) +
                                " and " + std::to_string(most) + " (both inclusive).",
                            syntax.range.begin);
}

Result<SqlType> BindDecimal(const TypeSyntax& syntax) {
  SLUICE_ASSIGN_OR_RETURN(const int32_t precision,
                          Argument(syntax, 0, 10, 1, 38, "Decimal precision"));
  const int64_t scale = syntax.arguments.size() > 1 ? syntax.arguments[1] : 0;
  if (scale < 0 || scale > precision) {
    return Status::Validation("Decimal scale must be between 0 and the precision " +
                                  std::to_string(precision) + " (both inclusive).",
                              syntax.range.begin);
  }
  return SqlType::Decimal(precision, static_cast<int>(scale));
}

Result<SqlType> BindRow(const TypeSyntax& syntax) {
  std::vector<RowField> fields;
  for (size_t i = 0; i < syntax.children.size(); ++i) {
    const Identifier& name = syntax.field_names[i];
    for (const RowField& other : fields) {
      if (other.name == name.name) {
        return Status::Validation(
            "Field names must be unique. Found duplicates: [" + name.name + "]", name.range.begin);
      }
    }
    SLUICE_ASSIGN_OR_RETURN(SqlType type, BindType(*syntax.children[i]));
    fields.push_back({name.name, std::move(type), syntax.field_comments[i].value_or("")});
  }
  return SqlType::Row(std::move(fields));
}

Status UnknownType(const TypeSyntax& syntax) {
  static const std::vector<std::string> kNames = {
      "BOOLEAN", "TINYINT",   "SMALLINT",  "INT",           "INTEGER",  "BIGINT",    "FLOAT",
      "DOUBLE",  "DECIMAL",   "NUMERIC",   "CHAR",          "VARCHAR",  "DATE",      "STRING",
      "BINARY",  "VARBINARY", "BYTES",     "TIME",          "ARRAY",    "TIMESTAMP", "MAP",
      "ROW",     "DEC",       "CHARACTER", "TIMESTAMP_LTZ", "MULTISET",
  };
  const std::string name = syntax.user_name.ToString();
  return Status::Validation("Unknown type '" + name + "'." + DidYouMean(name, kNames),
                            syntax.range.begin);
}

Result<SqlType> BindNullable(const TypeSyntax& syntax) {
  const std::string& name = syntax.name;
  constexpr int64_t kMax = SqlType::kMaxLength;
  if (const SqlType* plain = FindPlainType(name)) return *plain;
  if (name == "DECIMAL") return BindDecimal(syntax);
  if (name == "CHAR") {
    SLUICE_ASSIGN_OR_RETURN(const int32_t length,
                            Argument(syntax, 0, 1, 1, kMax, "Character string length"));
    return SqlType::Char(length);
  }
  if (name == "VARCHAR") {
    SLUICE_ASSIGN_OR_RETURN(const int32_t length,
                            Argument(syntax, 0, kMax, 1, kMax, "Variable character string length"));
    return SqlType::Varchar(length);
  }
  if (name == "BINARY") {
    SLUICE_ASSIGN_OR_RETURN(const int32_t length,
                            Argument(syntax, 0, 1, 1, kMax, "Binary string length"));
    return SqlType::Binary(length);
  }
  if (name == "VARBINARY") {
    SLUICE_ASSIGN_OR_RETURN(const int32_t length,
                            Argument(syntax, 0, kMax, 1, kMax, "Variable binary string length"));
    return SqlType::Varbinary(length);
  }
  if (name == "TIME") {
    SLUICE_ASSIGN_OR_RETURN(const int32_t precision,
                            Argument(syntax, 0, 0, 0, 9, "Time precision"));
    return SqlType::Time(precision);
  }
  if (name == "TIMESTAMP") {
    SLUICE_ASSIGN_OR_RETURN(const int32_t precision,
                            Argument(syntax, 0, 6, 0, 9, "Timestamp precision"));
    return SqlType::Timestamp(precision);
  }
  if (name == "TIMESTAMP_LTZ") {
    SLUICE_ASSIGN_OR_RETURN(
        const int32_t precision,
        Argument(syntax, 0, 6, 0, 9, "Timestamp with local time zone precision"));
    return SqlType::TimestampLtz(precision);
  }
  if (name == "INTERVAL") {
    const std::string_view unit = syntax.interval_qualifier;
    const bool months =
        unit.starts_with("YEAR") || unit.starts_with("QUARTER") || unit.starts_with("MONTH");
    return months ? SqlType::IntervalYearMonth() : SqlType::IntervalDayTime();
  }
  if (name == "ARRAY" || name == "MULTISET") {
    SLUICE_ASSIGN_OR_RETURN(SqlType element, BindType(*syntax.children[0]));
    return name == "ARRAY" ? SqlType::Array(std::move(element))
                           : SqlType::Multiset(std::move(element));
  }
  if (name == "MAP") {
    SLUICE_ASSIGN_OR_RETURN(SqlType key, BindType(*syntax.children[0]));
    SLUICE_ASSIGN_OR_RETURN(SqlType value, BindType(*syntax.children[1]));
    return SqlType::Map(std::move(key), std::move(value));
  }
  if (name == "ROW") return BindRow(syntax);
  if (name.empty()) return UnknownType(syntax);
  if (name == "REAL")
    return Status::Validation("Type is not supported: REAL. Write FLOAT.", syntax.range.begin);
  // RAW, STRUCTURED, VARIANT, BITMAP, TIMESTAMP WITH TIME ZONE: known to Flink, of tier L here.
  const std::string_view shown =
      name == "TIMESTAMP_TZ" ? std::string_view("TIMESTAMP WITH TIME ZONE") : name;
  return Status::Unsupported("The type " + std::string(shown) + " is not supported yet.")
      .At(syntax.range.begin);
}

}  // namespace

Result<SqlType> BindType(const TypeSyntax& syntax) {
  SLUICE_ASSIGN_OR_RETURN(SqlType type, BindNullable(syntax));
  return syntax.not_null() ? type.NotNull() : type;
}

}  // namespace sluice::sql
