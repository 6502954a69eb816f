#include "formats/option_checks.h"

#include <deque>
#include <string>
#include <vector>

#include "common/nearest_name.h"

namespace sluice::formats {

Status CheckOptionKeys(std::string_view format, std::span<const OptionSpec> specs,
                       const FormatOptions& options) {
  // Messages show the keys as the user wrote them, so both sides get the prefix for the check.
  std::deque<std::string> keys;  // Owns what the specs point at.
  std::vector<OptionSpec> prefixed;
  for (const OptionSpec& spec : specs) {
    OptionSpec& copy = prefixed.emplace_back(spec);
    copy.key = keys.emplace_back(options.prefix + std::string(spec.key));
  }
  OptionMap written;
  for (const auto& [key, value] : options.options) written.emplace(options.prefix + key, value);
  return ValidateOptions(format, written, prefixed);
}

Status InvalidOption(const FormatOptions& options, std::string_view key, std::string_view value,
                     std::string_view expected) {
  return Status::InvalidArgument("Invalid value for option '" + options.prefix + std::string(key) +
                                 "'. Could not parse value '" + std::string(value) +
                                 "': expected " + std::string(expected) + ".");
}

Result<int64_t> RangedOption(const FormatOptions& options, const OptionReader& reader,
                             std::string_view key, int64_t low, int64_t high) {
  SLUICE_ASSIGN_OR_RETURN(const int64_t value, reader.Integer(key));
  if (value >= low && value <= high) return value;
  return InvalidOption(options, key, std::to_string(value),
                       "a number from " + std::to_string(low) + " to " + std::to_string(high));
}

Status CheckOptionColumn(std::string_view key, const std::string& column, const Schema& schema) {
  if (schema.column_count() == 0 || schema.IndexOf(column) >= 0) return {};
  std::vector<std::string> known;
  for (const Column& one : schema.columns()) known.push_back(one.name);
  return Status::InvalidArgument("Column '" + column + "' of '" + std::string(key) +
                                 "' is not in the files of the table." + DidYouMean(column, known));
}

}  // namespace sluice::formats
