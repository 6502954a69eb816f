// Options of the changelog JSONs: those of json for the rows within, and each dialect's own.
#pragma once

#include <string>
#include <vector>

#include "formats/format.h"
#include "formats/json/json_options.h"

namespace sluice::formats::changelog {

struct ChangelogOptions {
  json::JsonOptions json;
  bool schema_include = false;     // debezium-json.
  bool decimals_as_bytes = false;  // debezium-json: where no schema tells.
  std::string skipped_operations;  // debezium-json: letters of "op" that give no row.
  std::string database_include;    // canal-json: regular expressions; empty: all.
  std::string table_include;
};

/// The options that all dialects take, then `own`.
std::vector<OptionSpec> ChangelogOptionSpecs(std::span<const OptionSpec> own);

/// Reads and checks the values of `options`, whose keys are among `specs`.
Result<ChangelogOptions> ParseChangelogOptions(const FormatOptions& options,
                                               std::span<const OptionSpec> specs);

}  // namespace sluice::formats::changelog
