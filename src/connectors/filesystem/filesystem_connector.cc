#include "connectors/filesystem/filesystem_connector.h"

#include <algorithm>
#include <deque>
#include <set>

#include "common/text.h"
#include "connectors/filesystem/partition/partition_path.h"
#include "connectors/filesystem/sink/file_table_sink.h"
#include "connectors/filesystem/sink/sink_options.h"
#include "connectors/filesystem/source/file_table_source.h"
#include "connectors/filesystem/source/source_options.h"
#include "connectors/quarantine/bad_record_options.h"
#include "formats/all_formats.h"
#include "fs/all_file_systems.h"

namespace sluice::connectors {
namespace {

const OptionSpec kCommonSpecs[] = {
    {.key = "path",
     .type = OptionType::kString,
     .doc = "Directory of the table, with or without a scheme; a single file can be read.",
     .required = true},
    {.key = "format",
     .type = OptionType::kString,
     .doc = "Format of the files; its own options begin with its name and a dot.",
     .required = true},
    {.key = "partition.default-name",
     .type = OptionType::kString,
     .default_text = "__DEFAULT_PARTITION__",
     .doc = "Directory value that stands for NULL and the empty string."},
    {.key = "s3.*", .doc = "Access to the store of this table, as in SET."},
    {.key = "s3a.*", .doc = "The same as s3.*."},
    {.key = "fs.s3a.*", .doc = "The same as s3.*."},
    {.key = "oss.*", .doc = "Access to the store of this table, as in SET."},
    {.key = "fs.oss.*", .doc = "Access to the store of this table, as in SET."},
};

std::span<const OptionSpec> Specs() {
  static const std::vector<OptionSpec> kSpecs = [] {
    std::vector<OptionSpec> specs(std::begin(kCommonSpecs), std::end(kCommonSpecs));
    const auto source = filesystem::SourceOptionSpecs();
    specs.insert(specs.end(), source.begin(), source.end());
    const auto sink = filesystem::SinkOptionSpecs();
    specs.insert(specs.end(), sink.begin(), sink.end());
    const auto bad_records = BadRecordOptionSpecs();
    specs.insert(specs.end(), bad_records.begin(), bad_records.end());
    return specs;
  }();
  return kSpecs;
}

/// Keys, required keys and the form of values, those of the format included.
Status CheckOptions(const TableInfo& table, const formats::Format* format) {
  std::vector<OptionSpec> specs(Specs().begin(), Specs().end());
  const auto generic = GenericTableOptions();
  specs.insert(specs.end(), generic.begin(), generic.end());
  std::deque<std::string> keys;  // Owns what the specs point at.
  if (format != nullptr) {
    for (const OptionSpec& spec : format->options) {
      OptionSpec& copy = specs.emplace_back(spec);
      copy.key = keys.emplace_back(std::string(format->name) + "." + std::string(spec.key));
    }
  }
  return ValidateOptions("filesystem", table.options, specs);
}

Status CheckPartitionKeys(const TableInfo& table) {
  std::set<std::string> seen;
  for (const std::string& key : table.partition_keys) {
    const int column = table.physical.IndexOf(key);
    if (column < 0) {
      std::vector<std::string> names;
      for (const Column& known : table.physical.columns()) names.push_back(known.name);
      return Status::Validation("Partition column '" + key +
                                "' not defined in the table schema. Available columns: [" +
                                Join(names, ", ") + "]");
    }
    if (!seen.insert(key).second) {
      return Status::Validation("Partition column '" + key + "' of table '" + table.identifier +
                                "' is named twice in PARTITIONED BY.");
    }
    SLUICE_RETURN_NOT_OK(filesystem::CheckPartitionType(key, table.physical.column(column).type));
  }
  return {};
}

Status CheckPath(const TableInfo& table, const ConnectorContext& context) {
  const std::string& path = table.options.at("path");
  if (TrimAscii(path).empty()) {
    return Status::InvalidArgument(
        "Can not create a Path from an empty string. Set 'path' of "
        "table '" +
        table.identifier + "' to a directory.");
  }
  const auto name = table.options.find("partition.default-name");
  if (name != table.options.end() && name->second.empty()) {
    return Status::InvalidArgument(
        "Invalid value for option 'partition.default-name': it must not "
        "be empty, it is the name of a directory.");
  }
  return FileSystemsOf(table.options, context)->Locate(path).status();
}

Result<const formats::Format*> FormatOf(const TableInfo& table) {
  const auto name = table.options.find("format");
  if (name == table.options.end()) return static_cast<const formats::Format*>(nullptr);
  return formats::FindFormat(name->second);
}

/// The format sees the columns that are not in the path; types it cannot hold are refused here,
/// when the table is created.
Status CheckColumns(const TableInfo& table, const formats::Format& format,
                    const formats::FormatOptions& options) {
  std::vector<Column> columns;
  for (const Column& column : table.physical.columns()) {
    const auto& keys = table.partition_keys;
    if (std::find(keys.begin(), keys.end(), column.name) == keys.end()) columns.push_back(column);
  }
  const Schema schema(std::move(columns));
  if (format.validate != nullptr && schema.column_count() > 0) {
    SLUICE_RETURN_NOT_OK(format.validate(options, schema, formats::Direction::kRead));
  }
  return format.validate_files == nullptr ? Status() : format.validate_files(options, schema);
}

// Each bad record would make another one, for ever where the directory is watched.
Status CheckBadRecordsAreNotRead(const TableInfo& table, const BadRecordOptions& bad_records,
                                 const ConnectorContext& context) {
  if (!bad_records.puts_aside()) return {};
  SLUICE_ASSIGN_OR_RETURN(const fs::FileSystems::Located root,
                          FileSystemsOf(table.options, context)->Locate(table.options.at("path")));
  if (!filesystem::IsReadWithTable(root.path, bad_records.directory)) return {};
  return Status::InvalidArgument(
      "Invalid value for option 'bad-records.path': " + bad_records.directory +
      " is inside the table's own 'path' and not hidden, so that what is put aside would be read "
      "as rows of the table. Choose a directory beside it, or a hidden name such as " +
      fs::JoinPath(root.path, "_bad") + ".");
}

Status Validate(const TableInfo& table, const ConnectorContext& context) {
  SLUICE_ASSIGN_OR_RETURN(const formats::Format* format, FormatOf(table));
  SLUICE_RETURN_NOT_OK(CheckOptions(table, format));
  SLUICE_RETURN_NOT_OK(CheckPath(table, context));
  const formats::FormatOptions format_options =
      formats::ExtractFormatOptions(table.options, std::string(format->name) + ".");
  SLUICE_RETURN_NOT_OK(formats::ValidateFormatOptions(*format, format_options));
  SLUICE_RETURN_NOT_OK(CheckColumns(table, *format, format_options));
  SLUICE_RETURN_NOT_OK(CheckPartitionKeys(table));
  SLUICE_RETURN_NOT_OK(filesystem::ReadSourceOptions(table).status());
  SLUICE_ASSIGN_OR_RETURN(const BadRecordOptions bad_records,
                          ReadBadRecordOptions(table.options, *format, format->encoding,
                                               format_options, *context.file_systems));
  SLUICE_RETURN_NOT_OK(CheckBadRecordsAreNotRead(table, bad_records, context));
  return filesystem::ReadSinkOptions(table).status();
}

std::vector<MetadataColumn> Metadata(const TableInfo&) { return filesystem::FileMetadataColumns(); }

Result<std::unique_ptr<TableSource>> MakeSource(const TableInfo& table,
                                                const ConnectorContext& context) {
  SLUICE_RETURN_NOT_OK(Validate(table, context));
  SLUICE_ASSIGN_OR_RETURN(const formats::Format* format, FormatOf(table));
  ConnectorContext own = context;
  own.file_systems = FileSystemsOf(table.options, context);
  return filesystem::MakeFileTableSource(table, own, *format);
}

Result<std::unique_ptr<TableSink>> MakeSink(const TableInfo& table,
                                            const ConnectorContext& context) {
  SLUICE_RETURN_NOT_OK(Validate(table, context));
  SLUICE_ASSIGN_OR_RETURN(const formats::Format* format, FormatOf(table));
  ConnectorContext own = context;
  own.file_systems = FileSystemsOf(table.options, context);
  return filesystem::MakeFileTableSink(table, own, *format);
}

}  // namespace

fs::FileSystems* FileSystemsOf(const OptionMap& table_options, const ConnectorContext& context) {
  OptionMap merged = context.configuration == nullptr ? OptionMap() : *context.configuration;
  bool own = false;
  for (const auto& [key, value] : table_options) {
    if (!fs::IsFileSystemOption(key)) continue;
    merged[key] = value;
    own = true;
  }
  return own ? &fs::FileSystemsFor(merged) : context.file_systems;
}

const Connector kFilesystemConnector{
    .name = "filesystem",
    .doc =
        "Files of one format in a directory, optionally in Hive-style partitions; read as a "
        "whole or watched, written exactly once.",
    .options = Specs(),
    .metadata = &Metadata,
    .validate = &Validate,
    .make_source = &MakeSource,
    .make_sink = &MakeSink,
};

}  // namespace sluice::connectors
