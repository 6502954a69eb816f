#include "formats/format.h"

#include "formats/option_checks.h"

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
  SLUICE_RETURN_NOT_OK(CheckOptionKeys(format.name, format.options, options));
  // A table without columns has no types to refuse: what is left are the values and their
  // combinations.
  if (format.validate == nullptr) return {};
  return format.validate(options, Schema(), Direction::kRead);
}

}  // namespace sluice::formats
