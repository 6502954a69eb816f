#include "formats/json/json_options.h"

#include "common/text.h"

namespace sluice::formats::json {
namespace {

// Ready before any other static: the changelog JSONs copy them.
constinit const OptionSpec kSpecs[] = {
    {"fail-on-missing-field", OptionType::kBoolean, "false",
     "A field that is not there fails the read instead of being NULL."},
    {"ignore-parse-errors", OptionType::kBoolean, "false",
     "Fields that do not parse become NULL, records that are no JSON are dropped; both are "
     "counted."},
    {"timestamp-format.standard", OptionType::kString, "SQL",
     "SQL (2020-01-01 10:00:00), ISO-8601 (2020-01-01T10:00:00) or ISO-8601-WITH-OFFSET."},
    {"map-null-key.mode", OptionType::kString, "FAIL",
     "What writing does with a NULL key of a MAP: FAIL, DROP or LITERAL."},
    {"map-null-key.literal", OptionType::kString, "null",
     "Key written for a NULL key with map-null-key.mode LITERAL."},
    {"encode.decimal-as-plain-number", OptionType::kBoolean, "false",
     "Writes DECIMAL 100.00 with all digits instead of 1E+2."},
    {"encode.ignore-null-fields", OptionType::kBoolean, "false",
     "Leaves out fields that are NULL."},
    {"decode.json-parser.enabled", OptionType::kBoolean, "true",
     "Accepted for compatibility: there is one decoder."},
    {"decode.max-depth", OptionType::kInt, "1000",
     "Levels of objects and arrays that a record may have."},
    {"decode.max-record-size", OptionType::kMemorySize, "128 mb", "Size that one record may have."},
};

Status Unsupported(std::string_view value, std::string_view option, std::string_view supported) {
  return Status::InvalidArgument("Unsupported value '" + std::string(value) + "' for " +
                                 std::string(option) + ". Supported values are [" +
                                 std::string(supported) + "].");
}

Status ReadTimestampFormat(const std::string& value, JsonOptions* json) {
  if (value == "SQL") {
    json->timestamp_style = text::TimestampStyle::kSql;
  } else if (value == "ISO-8601" || value == "ISO-8601-WITH-OFFSET") {
    json->timestamp_style = text::TimestampStyle::kIso;  // Offsets are read in both.
  } else {
    return Unsupported(value, "timestamp-format.standard", "SQL, ISO-8601");
  }
  return {};
}

Status ReadMapNullKeyMode(const std::string& value, JsonOptions* json) {
  if (EqualsIgnoreCaseAscii(value, "FAIL")) {
    json->map_null_key_mode = MapNullKeyMode::kFail;
  } else if (EqualsIgnoreCaseAscii(value, "DROP")) {
    json->map_null_key_mode = MapNullKeyMode::kDrop;
  } else if (EqualsIgnoreCaseAscii(value, "LITERAL")) {
    json->map_null_key_mode = MapNullKeyMode::kLiteral;
  } else {
    return Unsupported(value, "option map-null-key.mode", "LITERAL, FAIL, DROP");
  }
  return {};
}

}  // namespace

std::span<const OptionSpec> JsonOptionSpecs() { return kSpecs; }

Result<JsonOptions> ParseJsonOptions(const FormatOptions& options) {
  const OptionReader reader(options.options, kSpecs);
  JsonOptions json;
  json.prefix = options.prefix;
  SLUICE_ASSIGN_OR_RETURN(json.fail_on_missing_field, reader.Boolean("fail-on-missing-field"));
  SLUICE_ASSIGN_OR_RETURN(json.ignore_parse_errors, reader.Boolean("ignore-parse-errors"));
  SLUICE_ASSIGN_OR_RETURN(json.decimal_as_plain_number,
                          reader.Boolean("encode.decimal-as-plain-number"));
  SLUICE_ASSIGN_OR_RETURN(json.ignore_null_fields, reader.Boolean("encode.ignore-null-fields"));
  SLUICE_RETURN_NOT_OK(reader.Boolean("decode.json-parser.enabled").status());
  SLUICE_RETURN_NOT_OK(ReadTimestampFormat(*reader.Text("timestamp-format.standard"), &json));
  SLUICE_RETURN_NOT_OK(ReadMapNullKeyMode(*reader.Text("map-null-key.mode"), &json));
  json.map_null_key_literal = reader.Text("map-null-key.literal").value_or("");
  if (json.fail_on_missing_field && json.ignore_parse_errors) {
    return Status::InvalidArgument(
        "fail-on-missing-field and ignore-parse-errors shouldn't both be true.");
  }
  SLUICE_ASSIGN_OR_RETURN(const int64_t depth, reader.Integer("decode.max-depth"));
  if (depth < 1 || depth > 1'000'000) {
    return Status::InvalidArgument(
        "Option '" + json.prefix +
        "decode.max-depth' must be between 1 and 1000000, but was: " + std::to_string(depth));
  }
  json.max_depth = static_cast<int>(depth);
  SLUICE_ASSIGN_OR_RETURN(json.max_record_bytes, reader.MemorySize("decode.max-record-size"));
  if (json.max_record_bytes < 1) {
    return Status::InvalidArgument("Option '" + json.prefix +
                                   "decode.max-record-size' must be at least 1 byte, but was: " +
                                   *reader.Text("decode.max-record-size"));
  }
  return json;
}

Status CheckJsonType(const SqlType& type) {
  switch (type.kind()) {
    case TypeKind::kArray:
      return CheckJsonType(type.element());
    case TypeKind::kMap:
    case TypeKind::kMultiset:
      if (!type.key().is_character()) {
        return Status::InvalidArgument(
            "JSON format doesn't support non-string as key type of map. The type is: " +
            type.ToString());
      }
      return type.kind() == TypeKind::kMap ? CheckJsonType(type.value()) : Status();
    case TypeKind::kRow:
      for (const RowField& field : type.fields()) SLUICE_RETURN_NOT_OK(CheckJsonType(field.type));
      return {};
    default:
      return {};
  }
}

}  // namespace sluice::formats::json
