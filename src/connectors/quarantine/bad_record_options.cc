#include "connectors/quarantine/bad_record_options.h"

#include <cstdlib>

#include "common/text.h"

namespace sluice::connectors {
namespace {

constexpr std::string_view kPath = "bad-records.path";
constexpr std::string_view kMaxCount = "bad-records.max-count";
constexpr std::string_view kMaxRatio = "bad-records.max-ratio";

// Inside a function: the connectors' entries read it while the program starts.
std::span<const OptionSpec> Specs() {
  static const OptionSpec kSpecs[] = {
      {.key = kPath,
       .type = OptionType::kString,
       .doc =
           "Directory into which records that cannot be decoded are put, one JSON object a line, "
           "instead of failing the job."},
      {.key = kMaxCount,
       .type = OptionType::kLong,
       .doc = "Most bad records of this table before the job stops."},
      {.key = kMaxRatio,
       .type = OptionType::kDouble,
       .doc = "Largest share of bad records of this table (0 to 1) before the job stops; looked at "
              "from the 1,000th record on."},
  };
  return kSpecs;
}

std::optional<double> ParseRatio(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  return end == text.c_str() || *end != '\0' ? std::nullopt : std::optional(value);
}

Status Invalid(std::string_view key, const std::string& why) {
  return Status::InvalidArgument("Invalid value for option '" + std::string(key) + "': " + why);
}

}  // namespace

std::span<const OptionSpec> BadRecordOptionSpecs() { return Specs(); }

Result<BadRecordOptions> ReadBadRecordOptions(const OptionMap& table_options,
                                              const formats::Format& format,
                                              formats::Encoding encoding,
                                              const formats::FormatOptions& format_options,
                                              fs::FileSystems& file_systems) {
  const OptionReader reader(table_options, Specs());
  BadRecordOptions options;
  for (const std::string_view key : {kPath, kMaxCount, kMaxRatio}) {
    if (reader.Has(key) && encoding == formats::Encoding::kBulk) {
      return Status::InvalidArgument("Option '" + std::string(key) + "' has no effect on format '" +
                                     std::string(format.name) +
                                     "', whose files are good or bad as a whole. Leave it out.");
    }
  }
  if (const auto path = reader.Text(kPath)) {
    if (TrimAscii(*path).empty()) return Invalid(kPath, "it is empty. Name a directory.");
    SLUICE_ASSIGN_OR_RETURN(const fs::FileSystems::Located located, file_systems.Locate(*path));
    options.file_system = located.file_system;
    options.directory = located.path;
  }
  if (reader.Has(kMaxCount)) {
    SLUICE_ASSIGN_OR_RETURN(options.max_count, reader.Integer(kMaxCount));
    if (*options.max_count < 0) return Invalid(kMaxCount, "it must not be negative.");
  }
  if (const auto text = reader.Text(kMaxRatio)) {
    options.max_ratio = ParseRatio(*text);
    if (!options.max_ratio || !(*options.max_ratio >= 0 && *options.max_ratio <= 1)) {
      return Invalid(kMaxRatio, "it must be a number from 0 to 1, but is '" + *text + "'.");
    }
  }
  const auto ignore = format_options.options.find("ignore-parse-errors");
  options.keep_rows_with_nulled_fields =
      ignore != format_options.options.end() && EqualsIgnoreCaseAscii(ignore->second, "true");
  if (options.active() && !options.puts_aside() && !options.keep_rows_with_nulled_fields) {
    return Status::InvalidArgument(
        "Option '" + std::string(options.max_count ? kMaxCount : kMaxRatio) +
        "' has no effect here: the first bad record fails the job. Set '" + std::string(kPath) +
        "' to put bad records aside, or '" + format_options.prefix +
        "ignore-parse-errors' = 'true' to leave them out.");
  }
  return options;
}

}  // namespace sluice::connectors
