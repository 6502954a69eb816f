// What a file source was planned to do. Immutable; shared by coordinator, readers and their jobs on
// the pools.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <arrow/type_fwd.h>

#include "connectors/connector.h"
#include "connectors/filesystem/source/source_options.h"
#include "connectors/filesystem/source/table_listing.h"
#include "connectors/quarantine/bad_record_options.h"
#include "formats/format.h"

namespace sluice::connectors::filesystem {

enum class FileMetadata { kPath, kName, kSize, kModificationTime };

/// Where an output column comes from.
struct OutputColumn {
  enum class From { kFile, kPartition, kMetadata };
  From from = From::kFile;
  int index = 0;  // Into the decoded columns, the partition keys, or FileMetadata.
};

/// Aggregates by partition that are made instead of rows.
struct FileAggregates {
  std::vector<int> keys;  // Partition keys, by position.
  std::vector<expr::AggregateCall> calls;
  std::vector<std::optional<OutputColumn>> arguments;  // One a call, of the file or the partition.
  bool told_by_files = true;                           // Mostly; else rows are to be read.
};

struct FileSourceSpec {
  std::string table_identifier;
  SourceOptions options;
  const formats::Format* format = nullptr;
  formats::FormatOptions format_options;
  TimeZone session_zone;
  std::shared_ptr<fs::FileSystem> file_system;
  std::shared_ptr<TableListing> listing;

  formats::ReadSchema read_schema;  // Columns that files hold, and those wanted.
  std::vector<OutputColumn> outputs;
  std::shared_ptr<arrow::Schema> output_schema;

  std::vector<std::string> partition_keys;
  std::vector<SqlType> partition_types;
  /// Set when pruning has chosen: the partitions that existed then, and those to read.
  std::optional<std::vector<PartitionDirectory>> known_partitions;
  std::optional<std::vector<PartitionValues>> chosen_partitions;
  expr::ExprPtr
      partition_predicate;  // Over partition keys; decides about partitions that appear later.

  BadRecordOptions bad_records;

  std::vector<expr::ExprPtr> filters;  // Over read_schema.physical, for formats with statistics.
  std::optional<int64_t> limit_rows;
  std::optional<FileAggregates> aggregates;

  runtime::RowTransform transform;
  runtime::WatermarkSettings watermark;

  /// Whether the bytes of several whole files of one partition may be decoded as one text.
  bool files_join() const;
  bool bounded() const { return !options.monitor_interval_ms; }
  bool is_bulk() const { return format->encoding == formats::Encoding::kBulk; }
};

/// Typed arrays of partition values, one column a key. A text that does not fit its type gives
/// NULL; `bad` (may be null) receives (row, key) of each.
Result<std::shared_ptr<arrow::RecordBatch>> PartitionValueRows(
    const std::vector<std::string>& keys, const std::vector<SqlType>& types,
    const std::vector<PartitionValues>& partitions, std::vector<std::pair<size_t, size_t>>* bad);

/// Fails with kDataError naming directory and column when a value of `partition` does not fit its
/// type.
Status CheckPartitionValues(const std::vector<std::string>& keys, const std::vector<SqlType>& types,
                            const PartitionDirectory& partition);

/// True for the partitions whose row passes `predicate`.
Result<std::vector<bool>> EvaluatePartitions(const expr::Expr& predicate,
                                             const arrow::RecordBatch& rows,
                                             const TimeZone& session_zone);

}  // namespace sluice::connectors::filesystem
