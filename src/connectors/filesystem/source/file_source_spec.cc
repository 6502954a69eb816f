#include "connectors/filesystem/source/file_source_spec.h"

#include <algorithm>

#include <arrow/api.h>

#include "connectors/filesystem/partition/partition_path.h"
#include "types/arrow_status.h"

namespace sluice::connectors::filesystem {

bool FileSourceSpec::files_join() const {
  // Rows that tell of their file, records put aside with their place in it, and first lines to be
  // skipped need each file by itself; with a LIMIT few files are to be read.
  constexpr int64_t kLeastRecordLimit = 256 << 10;
  const bool names_file = std::any_of(outputs.begin(), outputs.end(), [](const auto& output) {
    return output.from == OutputColumn::From::kMetadata;
  });
  const auto skip = format_options.options.find("ignore-first-line");
  const bool skips = skip != format_options.options.end() && skip->second != "false";
  return !is_bulk() && !names_file && !skips && !bad_records.active() && !limit_rows &&
         format->read_kinds.insert_only() && options.max_record_bytes >= kLeastRecordLimit;
}

Result<std::shared_ptr<arrow::RecordBatch>> PartitionValueRows(
    const std::vector<std::string>& keys, const std::vector<SqlType>& types,
    const std::vector<PartitionValues>& partitions, std::vector<std::pair<size_t, size_t>>* bad) {
  arrow::FieldVector fields;
  arrow::ArrayVector columns;
  for (size_t key = 0; key < keys.size(); ++key) {
    std::unique_ptr<arrow::ArrayBuilder> builder;
    SLUICE_RETURN_ARROW(
        arrow::MakeBuilder(arrow::default_memory_pool(), types[key].ToArrow(), &builder));
    for (size_t row = 0; row < partitions.size(); ++row) {
      const auto value = PartitionValueFromText(types[key], partitions[row][key]);
      if (value.ok()) {
        SLUICE_RETURN_ARROW(builder->AppendScalar(**value));
        continue;
      }
      if (bad != nullptr) bad->emplace_back(row, key);
      SLUICE_RETURN_ARROW(builder->AppendNull());
    }
    SLUICE_ASSIGN_ARROW(std::shared_ptr<arrow::Array> column, builder->Finish());
    columns.push_back(std::move(column));
    fields.push_back(arrow::field(keys[key], types[key].ToArrow()));
  }
  return arrow::RecordBatch::Make(arrow::schema(std::move(fields)),
                                  static_cast<int64_t>(partitions.size()), std::move(columns));
}

Status CheckPartitionValues(const std::vector<std::string>& keys, const std::vector<SqlType>& types,
                            const PartitionDirectory& partition) {
  for (size_t key = 0; key < keys.size(); ++key) {
    const auto value = PartitionValueFromText(types[key], partition.values[key]);
    if (value.ok()) continue;
    return value.status().WithContext("Cannot read directory " + partition.path +
                                      " for partition column '" + keys[key] +
                                      "'. Rename or move it, or declare the column as STRING.");
  }
  return {};
}

Result<std::vector<bool>> EvaluatePartitions(const expr::Expr& predicate,
                                             const arrow::RecordBatch& rows,
                                             const TimeZone& session_zone) {
  expr::EvalContext context;
  context.session_zone = session_zone;
  SLUICE_ASSIGN_OR_RETURN(const std::shared_ptr<arrow::Array> verdicts,
                          expr::EvaluateToArray(predicate, rows, context));
  const auto& matches = static_cast<const arrow::BooleanArray&>(*verdicts);
  std::vector<bool> passed;
  for (int64_t row = 0; row < matches.length(); ++row)
    passed.push_back(matches.IsValid(row) && matches.Value(row));
  return passed;
}

}  // namespace sluice::connectors::filesystem
