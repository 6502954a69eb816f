#include "connectors/filesystem/sink/file_table_sink.h"

#include <algorithm>

#include "common/nearest_name.h"
#include "common/text.h"
#include "connectors/filesystem/partition/partition_path.h"
#include "connectors/filesystem/sink/committer.h"
#include "connectors/filesystem/sink/file_writer.h"
#include "connectors/filesystem/sink/sink_names.h"
#include "connectors/filesystem/sink/temporary_directories.h"
#include "formats/all_file_operations.h"

namespace sluice::connectors::filesystem {
namespace {

/// The option by which a container names its codec.
std::string_view CodecOption(const formats::Format& format) {
  const auto is_codec = [](const OptionSpec& spec) {
    return spec.key.starts_with("compress") || spec.key == "codec";
  };
  const auto found = std::find_if(format.options.begin(), format.options.end(), is_codec);
  return found == format.options.end() ? "*" : std::string_view(found->key);
}

constexpr std::string_view kRemoveAbandonedKey = "sluice.remove-abandoned";
constexpr std::string_view kMaxOpenFilesKey = "sluice.sink.max-open-files";
constexpr std::string_view kRetainedKey = "execution.checkpointing.num-retained";

bool CanWrite(const formats::Format& format) {
  return format.encoding == formats::Encoding::kRow ? format.make_encoder != nullptr
                                                    : format.make_bulk_writer != nullptr;
}

std::string KindList(const RowKindSet& kinds) {
  std::string text = "+I";
  if (kinds.update_before) text += ",-U";
  if (kinds.update_after) text += ",+U";
  if (kinds.remove) text += ",-D";
  return text;
}

class FileTableSink final : public TableSink {
 public:
  FileTableSink(TableInfo table, const ConnectorContext& context, const formats::Format& format,
                const formats::FileOperations& operations, SinkOptions options, Schema file_schema)
      : table_(std::move(table)),
        context_(context),
        format_(format),
        operations_(operations),
        options_(std::move(options)),
        file_schema_(std::move(file_schema)) {}

  RowKindSet accepted_kinds() const override { return format_.write_kinds; }
  bool supports_overwrite() const override { return true; }
  bool supports_partitioning() const override { return true; }
  Result<SinkPlan> MakePlan(const SinkRequest& request) override;

 private:
  Status CheckRequest(const SinkRequest& request) const;
  Status CheckFormat() const;
  Status CheckCompression() const;
  Status CheckCompaction() const;
  Status CheckTarget(const SinkRequest& request) const;
  Status FillPartitioning(const SinkRequest& request, FileSinkPlan* plan) const;
  Status CheckStaticValue(const std::string& key, const std::string& text,
                          const SqlType& type) const;
  Result<std::shared_ptr<const FileSinkPlan>> MakeFilePlan(const SinkRequest& request) const;
  Status ReadConfiguration(FileSinkPlan* plan) const;
  std::vector<std::string> Warnings(const SinkRequest& request) const;

  const TableInfo table_;
  const ConnectorContext context_;
  const formats::Format& format_;
  const formats::FileOperations& operations_;
  const SinkOptions options_;
  const Schema file_schema_;
};

Status FileTableSink::CheckRequest(const SinkRequest& request) const {
  if (request.overwrite && context_.streaming) {
    return Status::Validation("Streaming mode not support overwrite. INSERT OVERWRITE into " +
                              table_.identifier + " needs SET 'execution.runtime-mode' = 'batch'.");
  }
  if (options_.parallelism > 0 && !request.input_kinds.insert_only()) {
    return Status::Validation(
        "Currently, filesystem sink doesn't support setting parallelism (" +
        std::to_string(options_.parallelism) +
        ") by 'sink.parallelism' when the input stream is not INSERT only. The row kinds of "
        "input stream are [" +
        KindList(request.input_kinds) +
        "]. Remove 'sink.parallelism', or write an insert-only "
        "query.");
  }
  const auto& policies = options_.commit.policies;
  const bool metastore = std::count(policies.begin(), policies.end(), PolicyKind::kMetastore) > 0;
  if (metastore && context_.streaming && !table_.partition_keys.empty()) {
    return Status::Validation(
        "Can not configure a 'metastore' partition commit policy for a file system table. You can "
        "only configure 'metastore' partition commit policy for a hive table. Remove it from "
        "'sink.partition-commit.policy.kind'.");
  }
  if (!request.metadata_keys.empty()) {
    return Status::Validation("Table '" + table_.identifier +
                              "' declares persistable metadata columns, but the 'filesystem' "
                              "connector writes none (" +
                              Join(request.metadata_keys, ", ") + "). Declare them VIRTUAL.");
  }
  return {};
}

Status FileTableSink::CheckFormat() const {
  if (options_.roll_on_checkpoint == false && format_.encoding == formats::Encoding::kBulk &&
      operations_.resume_writer == nullptr) {
    return Status::Validation(
        "Option 'sink.rolling-policy.on-checkpoint' = 'false': a file of format '" +
        std::string(format_.name) +
        "' cannot be continued after a restart, so it must end at every checkpoint. Remove the "
        "option, or use parquet, csv, json or raw. 'auto-compaction' = 'true' also gives larger "
        "files.");
  }
  SLUICE_RETURN_NOT_OK(CheckCompression());
  SLUICE_RETURN_NOT_OK(CheckCompaction());
  if (file_schema_.column_count() > 0) return {};
  // json writes {} for such a row; the others would write nothing and lose it.
  if (format_.name == "json") return {};
  return Status::Validation(
      "Table '" + table_.identifier + "' has partition columns only, and a file of format '" +
      std::string(format_.name) +
      "' cannot hold a row without columns: the rows would be lost. Add a column that is no "
      "partition key, or use format 'json'.");
}

Status FileTableSink::CheckCompression() const {
  if (options_.compression == Compression::kNone) return {};
  const std::string option =
      "Option 'sink.compression' = '" + std::string(NameOf(options_.compression)) + "': ";
  if (format_.encoding != formats::Encoding::kRow) {
    return Status::Validation(option + "files of format '" + std::string(format_.name) +
                              "' are compressed inside, by '" + std::string(format_.name) + "." +
                              std::string(CodecOption(format_)) + "'. Remove 'sink.compression'.");
  }
  if (CanBeContinued(options_.compression) || !context_.streaming) return {};
  if (options_.compaction.enabled) {
    return Status::Validation(option +
                              "such files cannot be merged. Use gzip, bzip2, xz or zstd, or set "
                              "'auto-compaction' = 'false'.");
  }
  if (options_.roll_on_checkpoint == false) {
    return Status::Validation(
        option +
        "such a file cannot be continued after a checkpoint. Use gzip, bzip2, "
        "xz or zstd, or remove 'sink.rolling-policy.on-checkpoint'.");
  }
  return {};
}

Status FileTableSink::CheckCompaction() const {
  const CompactionOptions& compaction = options_.compaction;
  if (!compaction.enabled || !context_.streaming) return {};
  const bool readable = format_.encoding == formats::Encoding::kRow ||
                        operations_.join_files != nullptr || format_.open_bulk_file != nullptr;
  if (!readable) {
    return Status::Validation("Option 'auto-compaction' = 'true': files of format '" +
                              std::string(format_.name) +
                              "' cannot be merged, as this program cannot read them. Set it to "
                              "'false', or use another format.");
  }
  if (compaction.scope == CompactionScope::kPartition) {
    if (!table_.partition_keys.empty() && !options_.commit.policies.empty()) return {};
    return Status::Validation(
        "Option 'compaction.scope' = 'partition' merges the files of a partition when it is "
        "committed, but table '" +
        table_.identifier +
        (table_.partition_keys.empty() ? "' has no partitions. Use 'checkpoint'."
                                       : "' commits none. Set 'sink.partition-commit.policy.kind', "
                                         "e.g. to 'success-file'."));
  }
  if (options_.roll_on_checkpoint == false) {
    return Status::Validation(
        "Options 'auto-compaction' = 'true' and 'sink.rolling-policy.on-checkpoint' = 'false' "
        "contradict each other: the files of a checkpoint are merged, so they must end with it. "
        "Remove one of them, or set 'compaction.scope' = 'partition'.");
  }
  return {};
}

Status FileTableSink::CheckTarget(const SinkRequest& request) const {
  SLUICE_ASSIGN_OR_RETURN(const auto located,
                          context_.file_systems->Locate(table_.options.at("path")));
  if (request.overwrite && table_.partition_keys.empty() && fs::PathOfUri(located.path) == "/") {
    return Status::Validation(
        "INSERT OVERWRITE cannot replace the root of a file system, the "
        "'path' of table '" +
        table_.identifier + "'.");
  }
  // An object of that name is in nobody's way there, and planning asks nothing of a store.
  if (!located.file_system->has_directories()) return {};
  const auto info = located.file_system->Stat(located.path);
  if (info.ok() && !info->is_directory) {
    return Status::Validation("The 'path' of table '" + table_.identifier + "', " + located.path +
                              ", is a file. Writing needs a directory.");
  }
  if (options_.commit.late_rows == LateRows::kAside) {
    SLUICE_ASSIGN_OR_RETURN(const auto aside,
                            context_.file_systems->Locate(options_.commit.late_rows_path));
    const bool nested = (aside.path + "/").starts_with(located.path + "/") ||
                        (located.path + "/").starts_with(aside.path + "/");
    if (nested || aside.file_system->scheme() != located.file_system->scheme()) {
      return Status::Validation("Option 'sink.partition-commit.late-rows.path': '" +
                                options_.commit.late_rows_path +
                                "' must be a directory beside that of table '" + table_.identifier +
                                "', on the same file system and neither inside nor around it.");
    }
  }
  return {};  // Other failures are told, with what to do, when the job starts to write.
}

Status FileTableSink::CheckStaticValue(const std::string& key, const std::string& text,
                                       const SqlType& type) const {
  if (text.empty()) return {};  // The default partition.
  const auto value = PartitionValueFromText(type, text);
  if (value.ok()) return {};
  return Status::Validation("The value '" + text + "' of the static partition column '" + key +
                            "' does not fit its type " + type.ToString() + ". " +
                            value.status().message());
}

Status FileTableSink::FillPartitioning(const SinkRequest& request, FileSinkPlan* plan) const {
  plan->partition_keys = table_.partition_keys;
  for (const std::string& key : table_.partition_keys) {
    const int column = table_.physical.IndexOf(key);
    if (column < 0) {
      return Status::Validation("Partition column '" + key + "' not defined in the table schema.");
    }
    plan->partition_columns.push_back(column);
    plan->partition_types.push_back(table_.physical.column(column).type);
  }
  plan->static_values.resize(table_.partition_keys.size());
  for (const auto& [key, text] : request.static_partition) {
    const auto it = std::find(table_.partition_keys.begin(), table_.partition_keys.end(), key);
    if (it == table_.partition_keys.end()) {
      return Status::Validation("Unknown target column '" + key +
                                "' in PARTITION (…): it is no "
                                "partition column of " +
                                table_.identifier + "." + DidYouMean(key, table_.partition_keys));
    }
    const auto index = static_cast<size_t>(it - table_.partition_keys.begin());
    SLUICE_RETURN_NOT_OK(CheckStaticValue(key, text, plan->partition_types[index]));
    plan->static_values[index] = text;
  }
  for (int column = 0; column < table_.physical.column_count(); ++column) {
    const auto& columns = plan->partition_columns;
    if (std::find(columns.begin(), columns.end(), column) != columns.end()) continue;
    plan->file_columns.push_back(column);
  }
  return {};
}

Status FileTableSink::ReadConfiguration(FileSinkPlan* plan) const {
  const OptionMap none;
  const OptionMap& keys = context_.configuration == nullptr ? none : *context_.configuration;
  if (plan->may_sort()) {
    plan->temporary_directories = TemporaryDirectories(keys);
    SLUICE_RETURN_NOT_OK(CheckTemporaryDirectories(plan->temporary_directories));
  }
  if (const auto remove = keys.find(kRemoveAbandonedKey); remove != keys.end()) {
    SLUICE_ASSIGN_OR_RETURN(plan->remove_abandoned, ParseBooleanOption(remove->second));
  }
  if (const auto limit = keys.find(kMaxOpenFilesKey); limit != keys.end()) {
    const std::optional<int64_t> count = ParseInt64(TrimAscii(limit->second));
    if (!count || *count < 1) {
      return Status::InvalidArgument("Invalid value for key '" + std::string(kMaxOpenFilesKey) +
                                     "': '" + limit->second + "'. It must be at least 1.");
    }
    plan->limits.open_files = *count;
  }
  if (const auto retained = keys.find(kRetainedKey); retained != keys.end()) {
    const std::optional<int64_t> count = ParseInt64(TrimAscii(retained->second));
    if (count && *count > 0) plan->compaction.retained_checkpoints = *count;
  }
  return {};
}

Result<std::shared_ptr<const FileSinkPlan>> FileTableSink::MakeFilePlan(
    const SinkRequest& request) const {
  auto plan = std::make_shared<FileSinkPlan>();
  plan->table = table_.identifier;
  plan->sink_id = request.operator_id;
  plan->path = table_.options.at("path");
  plan->file_systems = context_.file_systems;
  plan->layout = {
      .format = &format_,
      .operations = &operations_,
      .options = formats::ExtractFormatOptions(table_.options, std::string(format_.name) + "."),
      .schema = file_schema_};
  plan->compression = options_.compression;
  plan->part_prefix = options_.part_prefix;
  plan->part_suffix = options_.part_suffix;
  plan->session_zone = context_.session_zone;
  SLUICE_RETURN_NOT_OK(FillPartitioning(request, plan.get()));
  const auto name = table_.options.find("partition.default-name");
  plan->default_partition_name =
      name == table_.options.end() ? std::string(kDefaultPartitionName) : name->second;
  plan->streaming = context_.streaming;
  plan->overwrite = request.overwrite;
  plan->sort_rows = options_.sort_rows;
  plan->commit = options_.commit;
  plan->record = options_.record;
  SLUICE_ASSIGN_OR_RETURN(plan->policies, MakeCommitPolicies(options_.commit));
  for (const PolicyKind kind : options_.commit.policies) {
    plan->policies_tell_files =
        plan->policies_tell_files || kind == PolicyKind::kCustom || kind == PolicyKind::kCommand ||
        kind == PolicyKind::kHttp ||
        (kind == PolicyKind::kSuccessFile && options_.commit.success_file_json);
  }
  if (context_.streaming) {
    RollingOptions rolling = options_.rolling;
    const bool compacting = options_.compaction.enabled;
    rolling.on_checkpoint = options_.roll_on_checkpoint.value_or(
        compacting || format_.rolls_on_checkpoint || !CanBeContinued(options_.compression));
    plan->compaction = options_.compaction;
    if (plan->compaction.parallelism == 0) {
      plan->compaction.parallelism =
          options_.parallelism > 0 ? options_.parallelism : request.default_parallelism;
    }
    SLUICE_ASSIGN_OR_RETURN(plan->rolling, RollingPolicy::Make(rolling));
    plan->spans_checkpoints =
        !rolling.on_checkpoint && format_.encoding == formats::Encoding::kBulk;
    if (!plan->partition_keys.empty() && !options_.commit.policies.empty()) {
      SLUICE_ASSIGN_OR_RETURN(plan->trigger,
                              CommitTrigger::Make(options_.commit, plan->partition_keys));
    }
  }
  plan->layout_text = std::string(format_.name) + "|" + file_schema_.ToString();
  for (const auto& [key, value] : plan->layout.options.options) {
    plan->layout_text += "|" + key + "=" + value;
  }
  if (plan->compression != Compression::kNone) {
    plan->layout_text += "|sink.compression=" + std::string(NameOf(plan->compression));
  }
  SLUICE_RETURN_NOT_OK(ReadConfiguration(plan.get()));
  return std::shared_ptr<const FileSinkPlan>(std::move(plan));
}

std::vector<std::string> FileTableSink::Warnings(const SinkRequest& request) const {
  std::vector<std::string> warnings;
  if (!context_.streaming) return warnings;
  const PartitionCommitOptions& commit = options_.commit;
  const bool partitioned = !table_.partition_keys.empty();
  if (partitioned && commit.policies.empty()) {
    warnings.push_back("Partitions of " + table_.identifier +
                       " are written but never committed: 'sink.partition-commit.policy.kind' is "
                       "not set. Set it to 'success-file' to get a marker when a partition is "
                       "complete.");
  }
  if (!partitioned && !commit.policies.empty()) {
    warnings.push_back("'sink.partition-commit.policy.kind' has no effect on " + table_.identifier +
                       " in streaming mode: the table has no partitions.");
  }
  if (partitioned && commit.trigger == TriggerKind::kPartitionTime && request.watermark_on_ltz &&
      !commit.zone_written && !context_.session_zone.is_utc()) {
    warnings.push_back(
        "The watermark before " + table_.identifier +
        " is on a TIMESTAMP_LTZ column and the session's time zone is " +
        context_.session_zone.name() +
        ", but partition times are read as UTC: partitions are committed too early or too late. "
        "Set 'sink.partition-commit.watermark-time-zone' = '" +
        context_.session_zone.name() + "'.");
  }
  if (partitioned && commit.trigger == TriggerKind::kPartitionTime && !commit.policies.empty() &&
      !request.table_without_watermark.empty()) {
    warnings.push_back(
        "Partitions of " + table_.identifier +
        " are committed by 'sink.partition-commit.trigger' = 'partition-time', but table " +
        request.table_without_watermark +
        " declares no watermark: none is committed before the job is stopped with a drain. Add "
        "WATERMARK FOR to that table, or set the trigger to 'process-time'.");
  }
  return warnings;
}

Result<SinkPlan> FileTableSink::MakePlan(const SinkRequest& request) {
  SLUICE_RETURN_NOT_OK(CheckRequest(request));
  SLUICE_RETURN_NOT_OK(CheckFormat());
  SLUICE_RETURN_NOT_OK(CheckTarget(request));
  SLUICE_ASSIGN_OR_RETURN(const auto file_plan, MakeFilePlan(request));

  SinkPlan plan;
  plan.needs_checkpoints = context_.streaming;
  plan.warnings = Warnings(request);
  SinkPlan::Stage writer;
  writer.parallelism = options_.parallelism;
  if (options_.parallelism > 0 && options_.parallelism != request.default_parallelism) {
    writer.exchange = runtime::Exchange::kRebalance;
  }
  if (options_.shuffle_by_partition) {
    for (size_t key = 0; key < file_plan->partition_keys.size(); ++key) {
      if (file_plan->static_values[key]) continue;
      writer.key_columns.push_back(file_plan->partition_columns[key]);
    }
    if (!writer.key_columns.empty()) writer.exchange = runtime::Exchange::kHash;
  }
  plan.exchange = writer.exchange;
  plan.key_columns = writer.key_columns;
  writer.operator_spec = {.id = request.operator_id + ":writer",
                          .name = "FileWriter(" + table_.identifier + ")",
                          .make = [file_plan](int) -> Result<std::unique_ptr<runtime::Operator>> {
                            return std::make_unique<FileWriter>(file_plan);
                          }};
  plan.stages.push_back(std::move(writer));

  SinkPlan::Stage committer;
  committer.exchange = runtime::Exchange::kGather;
  committer.parallelism = 1;
  committer.operator_spec = {
      .id = request.operator_id + ":committer",
      .name = "FileCommitter(" + table_.identifier + ")",
      .make = [file_plan](int) -> Result<std::unique_ptr<runtime::Operator>> {
        return std::make_unique<FileCommitter>(file_plan);
      }};
  plan.stages.push_back(std::move(committer));
  return plan;
}

}  // namespace

Result<std::unique_ptr<TableSink>> MakeFileTableSink(const TableInfo& table,
                                                     const ConnectorContext& context,
                                                     const formats::Format& format,
                                                     const formats::FileOperations* operations) {
  if (!CanWrite(format)) {
    return Status::Validation(
        "Could not find any format factory for identifier '" + std::string(format.name) +
        "' that can write: the format is for reading only. Table: '" + table.identifier + "'.");
  }
  std::vector<int> file_columns;
  for (int column = 0; column < table.physical.column_count(); ++column) {
    const auto& keys = table.partition_keys;
    if (std::find(keys.begin(), keys.end(), table.physical.column(column).name) == keys.end()) {
      file_columns.push_back(column);
    }
  }
  Schema file_schema = table.physical.Select(file_columns);
  SLUICE_ASSIGN_OR_RETURN(SinkOptions options, ReadSinkOptions(table));
  const formats::FormatOptions format_options =
      formats::ExtractFormatOptions(table.options, std::string(format.name) + ".");
  if (format.validate != nullptr && file_schema.column_count() > 0) {
    SLUICE_RETURN_NOT_OK(format.validate(format_options, file_schema, formats::Direction::kWrite));
  }
  if (operations == nullptr) operations = &formats::FileOperationsOf(format);
  return std::make_unique<FileTableSink>(table, context, format, *operations, std::move(options),
                                         std::move(file_schema));
}

}  // namespace sluice::connectors::filesystem
