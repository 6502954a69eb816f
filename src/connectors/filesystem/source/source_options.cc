#include "connectors/filesystem/source/source_options.h"

#include "common/text.h"
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
      {.key = "scan.parallelism",
       .type = OptionType::kInt,
       .doc = "Subtasks of the source; the job's when absent."},
      {.key = "source.report-statistics",
       .type = OptionType::kEnum,
       .default_text = "ALL",
       .doc = "Whether the optimiser may ask files for statistics: with NONE, COUNT, MIN and MAX "
              "are made from rows instead of footers.",
       .allowed = {"ALL", "NONE"}},
      {.key = "source.file.min-age",
       .type = OptionType::kDuration,
       .default_text = "0 s",
       .doc = "Watching: a file is read when it has not changed for this long, for writers that do "
              "not rename."},
      {.key = "source.file.identity",
       .type = OptionType::kEnum,
       .default_text = "path",
       .doc =
           "Watching: what makes a file new. By its path alone it is read once, whatever becomes "
           "of it; by path, size and time a file that has changed is read again as a whole.",
       .allowed = {"path", "path-size-time"}},
      {.key = "source.file.when-done",
       .type = OptionType::kEnum,
       .default_text = "none",
       .doc = "Watching: what becomes of a file once a checkpoint has recorded that all of it is "
              "read.",
       .allowed = {"none", "move", "delete"}},
      {.key = "source.file.move-to",
       .type = OptionType::kString,
       .doc = "Directory for 'source.file.when-done' = 'move', on the same file system; folders "
              "below the table's are kept. Inside the table it must be hidden, as in 'in/_done'."},
      {.key = "source.watch.mode",
       .type = OptionType::kEnum,
       .default_text = "auto",
       .doc = "How new files are noticed: by the system's notifications where the disk is local "
              "(inotify), or by listing every 'source.monitor-interval' only.",
       .allowed = {"auto", "listing"}},
      {.key = "source.watch.listing-interval",
       .type = OptionType::kDuration,
       .default_text = "10 min",
       .doc =
           "Where notifications or a cursor tell what is new, the whole directory is still listed "
           "this often, for what they may have missed."},
      {.key = "source.listing.cursor",
       .type = OptionType::kEnum,
       .default_text = "none",
       .doc = "Object stores: 'directory' lists from the last two directories on, in the order of "
              "their names, and everything only every 'source.watch.listing-interval'. For tables "
              "whose new files come in new directories, as with dt=….",
       .allowed = {"none", "directory"}},
      {.key = "source.processed-paths.forget-after",
       .type = OptionType::kDuration,
       .doc = "Forget files that have been gone from the directory for this long (at most twice as "
              "long); a file that comes back after that is read again. Absent: remember for ever."},
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

Status ReadWatchOptions(const OptionReader& reader, SourceOptions* options) {
  SLUICE_ASSIGN_OR_RETURN(const std::string mode, reader.Enum("source.watch.mode"));
  options->notifications = mode == "auto";
  SLUICE_ASSIGN_OR_RETURN(options->full_listing_interval_ms,
                          reader.DurationMillis("source.watch.listing-interval"));
  if (options->full_listing_interval_ms <= 0) {
    return Status::InvalidArgument(
        "Invalid value for option 'source.watch.listing-interval': it must be > 0.");
  }
  SLUICE_ASSIGN_OR_RETURN(const std::string identity, reader.Enum("source.file.identity"));
  options->identity = identity == "path" ? FileIdentity::kPath : FileIdentity::kPathSizeAndTime;
  SLUICE_ASSIGN_OR_RETURN(const std::string cursor, reader.Enum("source.listing.cursor"));
  options->listing_cursor = cursor == "directory";
  if (!reader.Has("source.processed-paths.forget-after")) return {};
  SLUICE_ASSIGN_OR_RETURN(options->forget_after_ms,
                          reader.DurationMillis("source.processed-paths.forget-after"));
  return {};
}

Status ReadDoneOptions(const OptionReader& reader, const TableInfo& table, SourceOptions* options) {
  SLUICE_ASSIGN_OR_RETURN(const std::string action, reader.Enum("source.file.when-done"));
  options->when_done = action == "move"     ? WhenDone::kMove
                       : action == "delete" ? WhenDone::kDelete
                                            : WhenDone::kNone;
  const std::optional<std::string> move_to = reader.Text("source.file.move-to");
  if (move_to.has_value() != (options->when_done == WhenDone::kMove)) {
    return Status::InvalidArgument(
        "'source.file.when-done' = 'move' and 'source.file.move-to' go together: set both or "
        "neither.");
  }
  if (options->when_done == WhenDone::kNone) return {};
  if (!options->monitor_interval_ms) {
    return Status::InvalidArgument(
        "'source.file.when-done' is for watched directories: set 'source.monitor-interval' too.");
  }
  if (!move_to) return {};
  const auto path = table.options.find("path");
  const std::string root = path == table.options.end() ? "" : path->second;
  if (move_to->empty()) {
    return Status::InvalidArgument("Invalid value for option 'source.file.move-to': it is empty.");
  }
  SLUICE_RETURN_NOT_OK(CheckMoveTarget(root, *move_to));
  options->move_to = *move_to;
  return {};
}

}  // namespace

bool IsReadWithTable(std::string_view table_root, std::string_view directory) {
  while (table_root.ends_with('/')) table_root.remove_suffix(1);
  if (!directory.starts_with(table_root)) return false;
  const std::string_view below = directory.substr(table_root.size());
  if (!below.empty() && !below.starts_with('/')) return false;
  for (const std::string_view name : Split(below, '/')) {
    if (!name.empty() && fs::IsHiddenName(name)) return false;
  }
  return true;
}

Status CheckMoveTarget(std::string_view table_root, std::string_view move_to) {
  if (!IsReadWithTable(table_root, move_to)) return {};
  while (table_root.ends_with('/')) table_root.remove_suffix(1);
  return Status::InvalidArgument(
      "Invalid value for option 'source.file.move-to': " + std::string(move_to) +
      " is inside the watched directory and not hidden, so that what is moved there would be read "
      "again. Choose a directory beside the table, or a hidden name such as " +
      std::string(table_root) + "/_done.");
}

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
  SLUICE_RETURN_NOT_OK(ReadWatchOptions(reader, &options));
  SLUICE_RETURN_NOT_OK(ReadDoneOptions(reader, table, &options));
  SLUICE_ASSIGN_OR_RETURN(const std::string empty_files, reader.Enum("source.empty-files"));
  options.fail_on_empty_files = empty_files == "fail";
  SLUICE_ASSIGN_OR_RETURN(options.max_record_bytes, reader.MemorySize("source.max-record-size"));
  SLUICE_ASSIGN_OR_RETURN(const std::string statistics, reader.Enum("source.report-statistics"));
  options.report_statistics = statistics != "none";
  SLUICE_RETURN_NOT_OK(ReadScanParallelism(reader).status());  // The planner uses it.
  if (options.max_record_bytes <= 0) {
    return Status::InvalidArgument(
        "Invalid value for option 'source.max-record-size': it must be > 0.");
  }
  return options;
}

}  // namespace sluice::connectors::filesystem
