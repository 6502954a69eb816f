#include "connectors/filesystem/source/source_options.h"

#include "connectors/filesystem/partition/partition_path.h"

namespace sluice::connectors::filesystem {

namespace {

// Inside a function: the connector's entry reads it while the program starts.
std::span<const OptionSpec> Specs() {
  static const OptionSpec kSpecs[] = {
      {.key = "source.monitor-interval",
       .type = OptionType::kDuration,
       .doc = "Watch the directory for new files at this interval, for ever; absent: read what is "
              "there and end."},
      {.key = "source.path.regex-pattern",
       .type = OptionType::kString,
       .doc = "Read only files whose whole path, without scheme, matches this regular expression."},
      {.key = "source.report-statistics",
       .type = OptionType::kEnum,
       .default_text = "ALL",
       .doc = "Whether the optimiser may ask files for statistics.",
       .allowed = {"ALL", "NONE"}},
      {.key = "source.file.min-age",
       .type = OptionType::kDuration,
       .default_text = "0 s",
       .doc = "Watching: a file is read when it has not changed for this long, for writers that do "
              "not rename."},
      {.key = "source.empty-files",
       .type = OptionType::kEnum,
       .default_text = "skip",
       .doc =
           "What a parquet, orc or avro file of 0 bytes is: skipped with a warning, or an error.",
       .allowed = {"skip", "fail"}},
      {.key = "source.max-record-size",
       .type = OptionType::kMemorySize,
       .default_text = "256 mb",
       .doc = "Largest record of a text file."},
  };
  return kSpecs;
}

const OptionSpec kDefaultName[] = {
    {.key = "partition.default-name",
     .type = OptionType::kString,
     .default_text = kDefaultPartitionName},
};

}  // namespace

std::span<const OptionSpec> SourceOptionSpecs() { return Specs(); }

Result<SourceOptions> ReadSourceOptions(const TableInfo& table) {
  const OptionReader reader(table.options, Specs());
  SourceOptions options;
  options.default_partition_name =
      *OptionReader(table.options, kDefaultName).Text("partition.default-name");
  if (reader.Has("source.monitor-interval")) {
    SLUICE_ASSIGN_OR_RETURN(options.monitor_interval_ms,
                            reader.DurationMillis("source.monitor-interval"));
    if (*options.monitor_interval_ms <= 0) {
      return Status::InvalidArgument(
          "Invalid value for option 'source.monitor-interval': the discoveryInterval must be > 0. "
          "Leave the option out to read "
          "once.");
    }
  }
  if (const auto pattern = reader.Text("source.path.regex-pattern")) {
    SLUICE_ASSIGN_OR_RETURN(options.path_pattern, PathPattern::Make(*pattern));
  }
  SLUICE_ASSIGN_OR_RETURN(options.min_age_ms, reader.DurationMillis("source.file.min-age"));
  SLUICE_ASSIGN_OR_RETURN(const std::string empty_files, reader.Enum("source.empty-files"));
  options.fail_on_empty_files = empty_files == "fail";
  SLUICE_ASSIGN_OR_RETURN(options.max_record_bytes, reader.MemorySize("source.max-record-size"));
  if (options.max_record_bytes <= 0) {
    return Status::InvalidArgument(
        "Invalid value for option 'source.max-record-size': it must be > 0.");
  }
  return options;
}

}  // namespace sluice::connectors::filesystem
