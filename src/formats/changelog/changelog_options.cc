#include "formats/changelog/changelog_options.h"

#include <algorithm>

#include "expr/regex.h"

namespace sluice::formats::changelog {
namespace {

// Missing fields of a changed row are NULL always, and there is one decoder.
constexpr std::string_view kNotOffered[] = {"fail-on-missing-field", "decode.json-parser.enabled"};

bool Has(std::span<const OptionSpec> specs, std::string_view key) {
  return std::any_of(specs.begin(), specs.end(),
                     [&](const OptionSpec& spec) { return spec.key == key; });
}

Result<std::string> ReadPattern(const OptionReader& reader, const std::string& prefix,
                                std::string_view key) {
  std::string pattern = reader.Text(key).value_or("");
  std::string error;
  if (!pattern.empty() && expr::Regex::Get(pattern, &error) == nullptr) {
    return Status::InvalidArgument("Option '" + prefix + std::string(key) + "' = '" + pattern +
                                   "' is no regular expression: " + error);
  }
  return pattern;
}

// Letters of a list such as "t, m".
Result<std::string> ReadOperations(const OptionReader& reader, const std::string& prefix,
                                   std::string_view key) {
  const std::string list = reader.Text(key).value_or("");
  std::string letters;
  bool open = true;  // A letter may follow.
  for (const char c : list) {
    if (c == ' ') continue;
    const bool letter = c == 't' || c == 'm';
    if (letter != open || (!letter && c != ',')) {
      return Status::InvalidArgument("Option '" + prefix + std::string(key) + "' = '" + list +
                                     "' must be t, m or both separated by a comma.");
    }
    if (letter) letters.push_back(c);
    open = !letter;
  }
  return letters;
}

}  // namespace

std::vector<OptionSpec> ChangelogOptionSpecs(std::span<const OptionSpec> own) {
  std::vector<OptionSpec> specs;
  for (const OptionSpec& spec : json::JsonOptionSpecs()) {
    if (std::find(std::begin(kNotOffered), std::end(kNotOffered), spec.key) ==
        std::end(kNotOffered)) {
      specs.push_back(spec);
    }
  }
  specs.insert(specs.end(), own.begin(), own.end());
  return specs;
}

Result<ChangelogOptions> ParseChangelogOptions(const FormatOptions& options,
                                               std::span<const OptionSpec> specs) {
  ChangelogOptions parsed;
  SLUICE_ASSIGN_OR_RETURN(parsed.json, json::ParseJsonOptions(options));
  const OptionReader reader(options.options, specs);
  if (Has(specs, "schema-include")) {
    SLUICE_ASSIGN_OR_RETURN(parsed.schema_include, reader.Boolean("schema-include"));
    SLUICE_ASSIGN_OR_RETURN(const std::string mode, reader.Enum("decimal.handling.mode"));
    parsed.decimals_as_bytes = mode == "precise";
    if (!parsed.schema_include) {
      parsed.json.decimal_hint =
          ". If it is Base64, set '" + options.prefix + "decimal.handling.mode' = 'precise'";
    }
    SLUICE_ASSIGN_OR_RETURN(parsed.skipped_operations,
                            ReadOperations(reader, options.prefix, "skipped-operations"));
  }
  if (Has(specs, "database.include")) {
    SLUICE_ASSIGN_OR_RETURN(parsed.database_include,
                            ReadPattern(reader, options.prefix, "database.include"));
    SLUICE_ASSIGN_OR_RETURN(parsed.table_include,
                            ReadPattern(reader, options.prefix, "table.include"));
  }
  return parsed;
}

}  // namespace sluice::formats::changelog
