#include "formats/format.h"

#include <deque>

namespace sluice::formats {

Schema ReadSchema::output() const {
  std::vector<Column> columns = physical.Select(projection).columns();
  columns.insert(columns.end(), metadata.columns().begin(), metadata.columns().end());
  return Schema(std::move(columns));
}

FormatOptions ExtractFormatOptions(const OptionMap& table_options, std::string_view prefix) {
  FormatOptions format;
  format.prefix = prefix;
  for (auto it = table_options.lower_bound(prefix);
       it != table_options.end() && it->first.starts_with(prefix); ++it) {
    format.options.emplace(it->first.substr(prefix.size()), it->second);
  }
  return format;
}

Status ValidateFormatOptions(const Format& format, const FormatOptions& options) {
  // Messages show the keys as the user wrote them, so both sides get the prefix for the check.
  std::deque<std::string> keys;  // Owns what the specs point at.
  std::vector<OptionSpec> specs;
  for (const OptionSpec& spec : format.options) {
    OptionSpec& copy = specs.emplace_back(spec);
    copy.key = keys.emplace_back(options.prefix + std::string(spec.key));
  }
  OptionMap written;
  for (const auto& [key, value] : options.options) written.emplace(options.prefix + key, value);
  SLUICE_RETURN_NOT_OK(ValidateOptions(format.name, written, specs));
  // A table without columns has no types to refuse: what is left are the values and their
  // combinations.
  if (format.validate == nullptr) return {};
  return format.validate(options, Schema(), Direction::kRead);
}

}  // namespace sluice::formats
