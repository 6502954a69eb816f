#include "formats/csv/csv_options.h"

#include "common/text.h"

namespace sluice::formats::csv {
namespace {

const OptionSpec kSpecs[] = {
    {"field-delimiter", OptionType::kString, ",",
     "One character between fields; \\t, \\u0001 and the like are understood."},
    {"disable-quote-character", OptionType::kBoolean, "false",
     "Neither quotes when writing nor treats quotes when reading."},
    {"quote-character", OptionType::kString, "\"", "One ASCII character that encloses text."},
    {"allow-comments", OptionType::kBoolean, "false", "Skips lines that begin with #."},
    {"ignore-parse-errors", OptionType::kBoolean, "false",
     "Fields that do not parse become NULL, broken records are dropped; both are counted."},
    {"array-element-delimiter", OptionType::kString, ";",
     "One character between elements of an ARRAY or ROW."},
    {"escape-character", OptionType::kString, "",
     "One ASCII character that takes the next one literally."},
    {"null-literal", OptionType::kString, "", "Text that stands for NULL."},
    {"write-bigdecimal-in-scientific-notation", OptionType::kBoolean, "true",
     "Writes DECIMAL 100.00 as 1E+2; false: all digits."},
    {"trim-spaces", OptionType::kBoolean, "false", "Cuts blanks around fields, outside of quotes."},
    {"ignore-trailing-unmappable", OptionType::kBoolean, "false",
     "Drops fields beyond the last column."},
    {"allow-trailing-comma", OptionType::kBoolean, "true",
     "Tolerates one empty field beyond the last column."},
    {"fail-on-missing-columns", OptionType::kBoolean, "false",
     "Refuses records with too few fields, also with errors ignored."},
    {"empty-string-as-null", OptionType::kBoolean, "false",
     "Reads empty fields as NULL for every type."},
    {"ignore-first-line", OptionType::kBoolean, "false",
     "Skips the first record of each file. For reading only."},
};

Status NotOneCharacter(const std::string& key, std::string_view value) {
  return Status::InvalidArgument(
      "Option '" + key +
      "' must be a string with single character, but was: " + std::string(value));
}

/// The character named by option `key`: one code point, no line end.
Result<std::string> SingleCharacter(const OptionReader& reader, const std::string& prefix,
                                    std::string_view key, bool unescape) {
  const std::string name = prefix + std::string(key);
  const std::string written = reader.Text(key).value_or("");
  const std::string character = unescape ? UnescapeJava(written) : written;
  if (CodePointCount(character) != 1 || !IsValidUtf8(character))
    return NotOneCharacter(name, written);
  if (character == "\n" || character == "\r") {
    return Status::InvalidArgument("Option '" + name +
                                   "' must not be a line end: line ends separate records.");
  }
  return character;
}

Result<char> SingleAscii(const OptionReader& reader, const std::string& prefix,
                         std::string_view key) {
  SLUICE_ASSIGN_OR_RETURN(const std::string character, SingleCharacter(reader, prefix, key, false));
  if (character.size() != 1) {
    return Status::InvalidArgument("Option '" + prefix + std::string(key) +
                                   "' must be an ASCII character, but was: " + character);
  }
  return character[0];
}

Status CheckDifferent(const std::string& prefix, std::string_view a, std::string_view a_value,
                      std::string_view b, std::string_view b_value) {
  if (a_value != b_value) return {};
  return Status::InvalidArgument("Options '" + prefix + std::string(a) + "' and '" + prefix +
                                 std::string(b) +
                                 "' must differ, but both are: " + Printable(a_value));
}

Status CheckAllDifferent(const CsvOptions& options) {
  const std::string quote = options.quoting ? std::string(1, options.quote) : "";
  const std::string escape = options.escaping ? std::string(1, options.escape) : "";
  struct Named {
    std::string_view key;
    std::string_view value;
  };
  std::vector<Named> named = {{"field-delimiter", options.field_delimiter}};
  if (options.quoting) named.push_back({"quote-character", quote});
  if (options.escaping) named.push_back({"escape-character", escape});
  // The default ; only matters for tables with arrays and rows; validation looks again when it
  // knows the columns.
  if (options.array_delimiter_written)
    named.push_back({"array-element-delimiter", options.array_delimiter});
  for (size_t i = 0; i < named.size(); ++i) {
    for (size_t j = i + 1; j < named.size(); ++j) {
      SLUICE_RETURN_NOT_OK(CheckDifferent(options.prefix, named[i].key, named[i].value,
                                          named[j].key, named[j].value));
    }
  }
  return {};
}

/// An escape character takes what follows, so one at the end would take the delimiter.
bool EndsInsideEscape(std::string_view text, char escape) {
  size_t i = 0;
  while (i < text.size()) i += text[i] == escape ? 2 : 1;
  return i > text.size();
}

/// A NULL that is written could not be read back as one.
Status CheckNullLiteral(const CsvOptions& options) {
  const std::string literal = options.null_literal.value_or("");
  if (literal.empty()) return {};
  std::string_view what;
  if (literal.find(options.field_delimiter) != std::string_view::npos) {
    what = "contains the field delimiter";
  } else if (literal.find_first_of("\r\n") != std::string_view::npos) {
    what = "contains a line end";
  } else if (options.quoting && literal.front() == options.quote) {
    what = "begins with the quote character";
  } else if (options.escaping && EndsInsideEscape(literal, options.escape)) {
    what = "ends with the escape character";
  } else if (options.trim_spaces && (IsBlank(literal.front()) || IsBlank(literal.back()))) {
    what = "has blanks around it, which 'trim-spaces' cuts";
  } else {
    return {};
  }
  return Status::InvalidArgument("Option '" + options.prefix + "null-literal' " +
                                 std::string(what) +
                                 " and is never a whole field: " + Printable(literal));
}

/// Records that begin with an empty or quoted field would be comments.
Status CheckComments(const CsvOptions& options) {
  if (!options.allow_comments) return {};
  std::string_view key;
  if (options.field_delimiter == "#") {
    key = "field-delimiter";
  } else if (options.quoting && options.quote == '#') {
    key = "quote-character";
  } else if (options.escaping && options.escape == '#') {
    key = "escape-character";
  } else {
    return {};
  }
  return Status::InvalidArgument("Option '" + options.prefix + std::string(key) +
                                 "' is the # of comments. Choose another one or remove '" +
                                 options.prefix + "allow-comments'.");
}

void AppendUtf8(uint32_t code_point, std::string* out) {
  if (code_point < 0x80) {
    *out += static_cast<char>(code_point);
  } else if (code_point < 0x800) {
    *out += static_cast<char>(0xC0 | code_point >> 6);
    *out += static_cast<char>(0x80 | (code_point & 63));
  } else {
    *out += static_cast<char>(0xE0 | code_point >> 12);
    *out += static_cast<char>(0x80 | (code_point >> 6 & 63));
    *out += static_cast<char>(0x80 | (code_point & 63));
  }
}

int HexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/// \uXXXX at `i` (behind the backslash, on the u). Returns the length read, 0 if it is none.
size_t UnescapeUnicode(std::string_view text, size_t i, std::string* out) {
  size_t at = i;
  while (at < text.size() && text[at] == 'u') ++at;
  if (at + 4 > text.size()) return 0;
  uint32_t code_point = 0;
  for (size_t k = 0; k < 4; ++k) {
    const int digit = HexValue(text[at + k]);
    if (digit < 0) return 0;
    code_point = code_point * 16 + static_cast<uint32_t>(digit);
  }
  AppendUtf8(code_point, out);
  return at + 4 - i;
}

size_t UnescapeOctal(std::string_view text, size_t i, std::string* out) {
  const size_t longest = text[i] <= '3' ? 3 : 2;
  uint32_t code_point = 0;
  size_t length = 0;
  while (length < longest && i + length < text.size() && text[i + length] >= '0' &&
         text[i + length] <= '7') {
    code_point = code_point * 8 + static_cast<uint32_t>(text[i + length++] - '0');
  }
  AppendUtf8(code_point, out);
  return length;
}

}  // namespace

std::span<const OptionSpec> CsvOptionSpecs() { return kSpecs; }

std::string UnescapeJava(std::string_view text) {
  static constexpr std::string_view kNames = "btnfr";
  static constexpr std::string_view kControls = "\b\t\n\f\r";
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      out += text[i];
      continue;
    }
    const char next = text[++i];
    if (const size_t at = kNames.find(next); at != std::string_view::npos) {
      out += kControls[at];
    } else if (next == 'u') {
      const size_t length = UnescapeUnicode(text, i, &out);
      if (length == 0) {
        out += "\\u";
      } else {
        i += length - 1;
      }
    } else if (next >= '0' && next <= '7') {
      i += UnescapeOctal(text, i, &out) - 1;
    } else {
      out += next;
    }
  }
  return out;
}

Result<CsvOptions> ParseCsvOptions(const FormatOptions& options) {
  const OptionReader reader(options.options, kSpecs);
  CsvOptions csv;
  csv.prefix = options.prefix;
  struct Flag {
    std::string_view key;
    bool* value;
  };
  bool disable_quote = false;
  bool scientific = true;
  const Flag flags[] = {{"disable-quote-character", &disable_quote},
                        {"allow-comments", &csv.allow_comments},
                        {"ignore-parse-errors", &csv.ignore_parse_errors},
                        {"write-bigdecimal-in-scientific-notation", &scientific},
                        {"trim-spaces", &csv.trim_spaces},
                        {"ignore-trailing-unmappable", &csv.ignore_trailing_unmappable},
                        {"allow-trailing-comma", &csv.allow_trailing_comma},
                        {"fail-on-missing-columns", &csv.fail_on_missing_columns},
                        {"empty-string-as-null", &csv.empty_string_as_null},
                        {"ignore-first-line", &csv.ignore_first_line}};
  for (const Flag& flag : flags) {
    SLUICE_ASSIGN_OR_RETURN(*flag.value, reader.Boolean(flag.key));
  }
  if (disable_quote && reader.Has("quote-character")) {
    return Status::InvalidArgument(
        "Format cannot define a quote character and disabled quote character at the same time.");
  }
  csv.quoting = !disable_quote;
  csv.plain_decimal = !scientific;
  SLUICE_ASSIGN_OR_RETURN(csv.field_delimiter,
                          SingleCharacter(reader, csv.prefix, "field-delimiter", true));
  SLUICE_ASSIGN_OR_RETURN(csv.array_delimiter,
                          SingleCharacter(reader, csv.prefix, "array-element-delimiter", false));
  csv.array_delimiter_written = reader.Has("array-element-delimiter");
  if (csv.quoting) {
    SLUICE_ASSIGN_OR_RETURN(csv.quote, SingleAscii(reader, csv.prefix, "quote-character"));
  }
  if (reader.Has("escape-character")) {
    csv.escaping = true;
    SLUICE_ASSIGN_OR_RETURN(csv.escape, SingleAscii(reader, csv.prefix, "escape-character"));
    if (std::string_view("nrt0").find(csv.escape) != std::string_view::npos) {
      return Status::InvalidArgument("Option '" + csv.prefix + "escape-character' must not be '" +
                                     csv.escape +
                                     "': twice it stands for a control character when it is read.");
    }
  }
  if (reader.Has("null-literal")) csv.null_literal = options.options.find("null-literal")->second;
  SLUICE_RETURN_NOT_OK(CheckAllDifferent(csv));
  SLUICE_RETURN_NOT_OK(CheckNullLiteral(csv));
  SLUICE_RETURN_NOT_OK(CheckComments(csv));
  return csv;
}

}  // namespace sluice::formats::csv
