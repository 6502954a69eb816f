#include "connectors/filesystem/source/split_columns.h"

#include <arrow/api.h>

#include "connectors/filesystem/partition/partition_path.h"
#include "types/arrow_status.h"

namespace sluice::connectors::filesystem {

namespace {

std::shared_ptr<arrow::Scalar> MetadataValue(FileMetadata key, const fs::FileInfo& file) {
  switch (key) {
    case FileMetadata::kPath:
      return std::make_shared<arrow::StringScalar>(TextOfName(fs::PathOfUri(file.path)));
    case FileMetadata::kName:
      return std::make_shared<arrow::StringScalar>(TextOfName(file.name()));
    case FileMetadata::kSize:
      return std::make_shared<arrow::Int64Scalar>(file.size_bytes);
    case FileMetadata::kModificationTime:
      return std::make_shared<arrow::TimestampScalar>(file.modified_ms,
                                                      SqlType::TimestampLtz(3).ToArrow());
  }
  return nullptr;
}

}  // namespace

Result<std::shared_ptr<SplitColumns>> SplitColumns::Make(std::shared_ptr<const FileSourceSpec> spec,
                                                         const FileSplit& split,
                                                         arrow::MemoryPool* pool) {
  std::shared_ptr<SplitColumns> columns(new SplitColumns(std::move(spec), pool));
  const FileSourceSpec& planned = *columns->spec_;
  for (const OutputColumn& output : planned.outputs) {
    std::shared_ptr<arrow::Scalar>& value = columns->values_.emplace_back();
    if (output.from == OutputColumn::From::kMetadata) {
      value = MetadataValue(static_cast<FileMetadata>(output.index), split.file);
    } else if (output.from == OutputColumn::From::kPartition) {
      const auto key = static_cast<size_t>(output.index);
      if (key >= split.partition.size()) {
        return Status::Corrupt("The split of " + split.file.path +
                               " has no value for partition column '" +
                               planned.partition_keys[key] +
                               "': the table's partition keys have changed since the checkpoint.");
      }
      SLUICE_ASSIGN_OR_RETURN(
          value, PartitionValueFromText(planned.partition_types[key], split.partition[key]));
    }
  }
  columns->arrays_.resize(columns->values_.size());
  return columns;
}

Result<std::shared_ptr<arrow::Array>> SplitColumns::Constant(size_t column, int64_t row_count) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<arrow::Array>& made = arrays_[column];
  if (made == nullptr || made->length() < row_count) {
    SLUICE_ASSIGN_ARROW(made, arrow::MakeArrayFromScalar(
                                  *values_[column], std::max(row_count, int64_t{1024}), pool_));
  }
  return made->Slice(0, row_count);
}

Result<Batch> SplitColumns::Complete(const Batch& decoded) {
  arrow::ArrayVector columns;
  for (size_t i = 0; i < spec_->outputs.size(); ++i) {
    if (values_[i] == nullptr) {
      columns.push_back(decoded.column(spec_->outputs[i].index));
      continue;
    }
    SLUICE_ASSIGN_OR_RETURN(std::shared_ptr<arrow::Array> constant,
                            Constant(i, decoded.row_count()));
    columns.push_back(std::move(constant));
  }
  return Batch(
      arrow::RecordBatch::Make(spec_->output_schema, decoded.row_count(), std::move(columns)),
      decoded.row_kinds());
}

}  // namespace sluice::connectors::filesystem
