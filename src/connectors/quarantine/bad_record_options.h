// The options `bad-records.*` of a table that is read.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "connectors/connector.h"
#include "formats/format.h"

namespace sluice::connectors {

struct BadRecordOptions {
  /// Where bad records go; null: they are not put aside.
  std::shared_ptr<fs::FileSystem> file_system;
  std::string directory;
  std::optional<int64_t> max_count;  // The job stops with one more.
  std::optional<double> max_ratio;   // Of all records; looked at from the 1,000th on.
  /// The table sets ignore-parse-errors: fields that became NULL leave their row in place.
  bool keep_rows_with_nulled_fields = false;

  bool puts_aside() const { return file_system != nullptr; }
  bool active() const { return puts_aside() || max_count || max_ratio; }
};

std::span<const OptionSpec> BadRecordOptionSpecs();

/// The values have passed ValidateOptions. `format`, `format_options`: of the records that are
/// read; `encoding`: how they come, which for messages is never as a container. Fails with
/// kInvalidArgument naming the option, also where it can have no effect (containers).
Result<BadRecordOptions> ReadBadRecordOptions(const OptionMap& table_options,
                                              const formats::Format& format,
                                              formats::Encoding encoding,
                                              const formats::FormatOptions& format_options,
                                              fs::FileSystems& file_systems);

}  // namespace sluice::connectors
