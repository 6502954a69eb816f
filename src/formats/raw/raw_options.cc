#include "formats/raw/raw_options.h"

#include "common/text.h"
#include "formats/raw/charset.h"

namespace sluice::formats::raw {
namespace {

const OptionSpec kSpecs[] = {
    {"charset", OptionType::kString, "UTF-8", "Character set of CHAR and VARCHAR."},
    {"endianness", OptionType::kString, "big-endian",
     "Byte order of numbers: big-endian or little-endian."},
    {"ignore-parse-errors", OptionType::kBoolean, "false",
     "Records that do not fit the column are dropped and counted."},
    {"malformed-text",
     OptionType::kEnum,
     "fail",
     "Bytes that are not of the character set when reading, characters that it lacks when writing: "
     "fail, or replace by U+FFFD and '?'.",
     {"fail", "replace"}},
};

bool Holds(TypeKind kind) {
  return FixedBytes(kind) > 0 || kind == TypeKind::kChar || kind == TypeKind::kVarchar ||
         kind == TypeKind::kBinary || kind == TypeKind::kVarbinary;
}

}  // namespace

std::span<const OptionSpec> RawOptionSpecs() { return kSpecs; }

size_t FixedBytes(TypeKind kind) {
  switch (kind) {
    case TypeKind::kBoolean:
    case TypeKind::kTinyint:
      return 1;
    case TypeKind::kSmallint:
      return 2;
    case TypeKind::kInt:
    case TypeKind::kFloat:
      return 4;
    case TypeKind::kBigint:
    case TypeKind::kDouble:
      return 8;
    default:
      return 0;
  }
}

Result<RawOptions> ParseRawOptions(const FormatOptions& options) {
  const OptionReader reader(options.options, kSpecs);
  RawOptions raw;
  raw.prefix = options.prefix;
  raw.charset = *reader.Text("charset");
  SLUICE_RETURN_NOT_OK(Charset::Find(raw.charset, raw.prefix).status());
  const std::string endianness = *reader.Text("endianness");
  if (!EqualsIgnoreCaseAscii(endianness, "big-endian") &&
      !EqualsIgnoreCaseAscii(endianness, "little-endian")) {
    return Status::InvalidArgument("Unsupported endianness name: " + endianness +
                                   ". Valid values of '" + raw.prefix +
                                   "endianness' option are 'big-endian' and 'little-endian'.");
  }
  raw.little_endian = EqualsIgnoreCaseAscii(endianness, "little-endian");
  SLUICE_ASSIGN_OR_RETURN(raw.ignore_parse_errors, reader.Boolean("ignore-parse-errors"));
  SLUICE_ASSIGN_OR_RETURN(const std::string malformed, reader.Enum("malformed-text"));
  raw.replace_malformed = malformed == "replace";
  return raw;
}

Status CheckRawColumns(const Schema& physical) {
  if (physical.column_count() > 1) {
    std::string list;
    for (const Column& column : physical.columns()) {
      list += (list.empty() ? "`" : ", `") + column.name + "` " + column.type.ToString();
    }
    return Status::InvalidArgument(
        "The 'raw' format only supports single physical column. However the defined schema "
        "contains multiple physical columns: [" +
        list + "]");
  }
  for (const Column& column : physical.columns()) {
    if (Holds(column.type.kind())) continue;
    return Status::InvalidArgument("The 'raw' format doesn't supports '" + column.type.ToString() +
                                   "' as column type.");
  }
  return {};
}

Status CheckRawFiles(const RawOptions& options, const Schema& physical) {
  for (const Column& column : physical.columns()) {
    if (FixedBytes(column.type.kind()) > 0) {
      return Status::InvalidArgument("The 'raw' format cannot hold '" + column.type.ToString() +
                                     "' in files: they are cut at the byte 0A, which may be part "
                                     "of a number. Use STRING, BYTES or another format.");
    }
    if (!column.type.is_character()) continue;
    SLUICE_ASSIGN_OR_RETURN(const auto charset, Charset::Find(options.charset, options.prefix));
    if (!charset->fits_lines()) {
      return Status::InvalidArgument(
          "The 'raw' format cannot hold text in " + options.charset +
          " in files: they are cut at the byte 0A, which may be part of a character. Use UTF-8.");
    }
  }
  return {};
}

}  // namespace sluice::formats::raw
