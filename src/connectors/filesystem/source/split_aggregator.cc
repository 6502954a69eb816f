#include "connectors/filesystem/source/split_aggregator.h"

#include <arrow/api.h>

#include "connectors/filesystem/partition/partition_path.h"
#include "connectors/filesystem/source/split_reader.h"
#include "types/arrow_status.h"

namespace sluice::connectors::filesystem {

namespace {

Result<std::shared_ptr<arrow::Array>> OneValue(const arrow::Scalar& value,
                                               arrow::MemoryPool* pool) {
  return FromArrow(arrow::MakeArrayFromScalar(value, 1, pool));
}

}  // namespace

bool FilesMayTell(const expr::AggregateCall& call, const SqlType& type) {
  if (call.name == "COUNT") return true;
  switch (type.kind()) {
    case TypeKind::kTinyint:
    case TypeKind::kSmallint:
    case TypeKind::kInt:
    case TypeKind::kBigint:
    case TypeKind::kDecimal:
    case TypeKind::kDate:
    case TypeKind::kTime:
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLtz:
      return true;
    default:
      return false;
  }
}

Result<std::unique_ptr<SplitAggregator>> SplitAggregator::Make(
    std::shared_ptr<const FileSourceSpec> spec, arrow::MemoryPool* pool) {
  std::unique_ptr<SplitAggregator> made(new SplitAggregator(std::move(spec), pool));
  for (const expr::AggregateCall& call : made->spec_->aggregates->calls) {
    SLUICE_ASSIGN_OR_RETURN(std::unique_ptr<expr::Accumulator> accumulator,
                            expr::MakeAccumulator(call, pool));
    made->accumulators_.push_back(std::move(accumulator));
  }
  return made;
}

Status SplitAggregator::Begin(const FileSplit& split) {
  rows_of_split_.push_back(0);
  std::vector<std::shared_ptr<arrow::Scalar>>& values = values_.emplace_back();
  for (size_t key = 0; key < spec_->partition_keys.size(); ++key) {
    if (key >= split.partition.size()) {
      return Status::Corrupt("The split of " + split.file.path +
                             " has no value for partition column '" + spec_->partition_keys[key] +
                             "': the table's partition keys have changed since the checkpoint.");
    }
    SLUICE_ASSIGN_OR_RETURN(
        std::shared_ptr<arrow::Scalar> value,
        PartitionValueFromText(spec_->partition_types[key], split.partition[key]));
    values.push_back(std::move(value));
  }
  for (const auto& accumulator : accumulators_) {
    SLUICE_RETURN_NOT_OK(accumulator->Resize(static_cast<int64_t>(rows_of_split_.size())));
  }
  return {};
}

Status SplitAggregator::Add(const FileSplit& split) {
  SLUICE_ASSIGN_OR_RETURN(const std::unique_ptr<formats::BulkFile> file,
                          OpenContainer(*spec_, split, pool_));
  SLUICE_RETURN_NOT_OK(Begin(split));
  const int64_t end = std::min<int64_t>(split.end, file->part_count());
  // A split that another plan has begun goes on behind its rows.
  int64_t skip_rows = split.records;
  for (int64_t part = split.position; part < end; ++part) {
    SLUICE_RETURN_NOT_OK(AddPart(file.get(), static_cast<int>(part), skip_rows));
    skip_rows = 0;
  }
  End();
  return {};
}

Status SplitAggregator::AddPart(formats::BulkFile* file, int part, int64_t skip_rows) {
  if (skip_rows == 0 && spec_->aggregates->told_by_files) {
    SLUICE_ASSIGN_OR_RETURN(const bool told, AddFacts(*file, part));
    if (told) return {};
  }
  return AddRows(file, part, skip_rows);
}

void SplitAggregator::End() {
  if (rows_of_split_.back() > 0) return;
  // A group that has no rows is none.
  rows_of_split_.pop_back();
  values_.pop_back();
}

Result<bool> SplitAggregator::AddFacts(const formats::BulkFile& file, int part) {
  const int64_t row_count = file.row_count(part);
  if (row_count < 0) return false;
  const FileAggregates& planned = *spec_->aggregates;
  std::vector<formats::ColumnFacts> facts(planned.calls.size());
  for (size_t i = 0; i < planned.calls.size(); ++i) {
    const std::optional<OutputColumn>& argument = planned.arguments[i];
    if (!argument || argument->from != OutputColumn::From::kFile) continue;
    facts[i] =
        file.Facts(part, spec_->read_schema.projection[static_cast<size_t>(argument->index)]);
    const bool no_values = facts[i].null_count == row_count;
    if (planned.calls[i].name == "COUNT" ? facts[i].null_count < 0
                                         : !no_values && facts[i].min_max == nullptr) {
      return false;
    }
  }
  rows_of_split_.back() += row_count;
  const std::vector<int32_t> group_of_row(1, group());
  for (size_t i = 0; i < planned.calls.size(); ++i) {
    const std::optional<OutputColumn>& argument = planned.arguments[i];
    if (!argument || argument->from != OutputColumn::From::kFile) {
      SLUICE_RETURN_NOT_OK(AddConstant(i, row_count));
    } else if (planned.calls[i].name == "COUNT") {
      SLUICE_RETURN_NOT_OK(AddCount(i, row_count - facts[i].null_count));
    } else if (facts[i].null_count != row_count) {
      const ArrayPtr value = facts[i].min_max->Slice(planned.calls[i].name == "MIN" ? 0 : 1, 1);
      SLUICE_RETURN_NOT_OK(accumulators_[i]->Add(value.get(), group_of_row, nullptr));
    }
  }
  return true;
}

Status SplitAggregator::AddRows(formats::BulkFile* file, int part, int64_t skip_rows) {
  SLUICE_ASSIGN_OR_RETURN(const std::unique_ptr<formats::BulkFile::Rows> rows,
                          file->ReadPart(part));
  while (true) {
    SLUICE_ASSIGN_OR_RETURN(std::optional<Batch> batch, rows->Next());
    if (!batch) return {};
    const int64_t skipped = std::min(skip_rows, batch->row_count());
    skip_rows -= skipped;
    const Batch wanted = batch->Slice(skipped, batch->row_count() - skipped);
    rows_of_split_.back() += wanted.row_count();
    const std::span<const int32_t> group_of_row = GroupOfRows(wanted.row_count());
    for (size_t i = 0; i < accumulators_.size(); ++i) {
      const std::optional<OutputColumn>& argument = spec_->aggregates->arguments[i];
      if (!argument || argument->from != OutputColumn::From::kFile) {
        SLUICE_RETURN_NOT_OK(AddConstant(i, wanted.row_count()));
        continue;
      }
      SLUICE_RETURN_NOT_OK(
          accumulators_[i]->Add(wanted.column(argument->index).get(), group_of_row, nullptr));
    }
  }
}

std::span<const int32_t> SplitAggregator::GroupOfRows(int64_t row_count) {
  const auto count = static_cast<size_t>(row_count);
  if (group_of_rows_.size() < count || (count > 0 && group_of_rows_[0] != group()))
    group_of_rows_.assign(std::max(count, group_of_rows_.size()), group());
  return std::span<const int32_t>(group_of_rows_).first(count);
}

Status SplitAggregator::AddConstant(size_t call, int64_t row_count) {
  const std::optional<OutputColumn>& argument = spec_->aggregates->arguments[call];
  if (!argument) return AddCount(call, row_count);
  const arrow::Scalar& value = *values_.back()[static_cast<size_t>(argument->index)];
  if (!value.is_valid || row_count == 0) return {};
  if (spec_->aggregates->calls[call].name == "COUNT") return AddCount(call, row_count);
  SLUICE_ASSIGN_OR_RETURN(const ArrayPtr one, OneValue(value, pool_));
  return accumulators_[call]->Add(one.get(), std::vector<int32_t>(1, group()), nullptr);
}

Status SplitAggregator::AddCount(size_t call, int64_t count) {
  SLUICE_ASSIGN_OR_RETURN(const ArrayPtr state, OneValue(arrow::Int64Scalar(count), pool_));
  return accumulators_[call]->MergeState(*state, std::vector<int32_t>(1, group()));
}

Result<Batch> SplitAggregator::Finish() {
  const auto split_count = static_cast<int64_t>(rows_of_split_.size());
  arrow::ArrayVector columns;
  for (const int key : spec_->aggregates->keys) {
    const SqlType& type = spec_->partition_types[static_cast<size_t>(key)];
    SLUICE_ASSIGN_ARROW(const auto builder, arrow::MakeBuilder(type.ToArrow(), pool_));
    for (const auto& values : values_) {
      SLUICE_RETURN_ARROW(builder->AppendScalar(*values[static_cast<size_t>(key)]));
    }
    SLUICE_ASSIGN_ARROW(ArrayPtr column, builder->Finish());
    columns.push_back(std::move(column));
  }
  for (const auto& accumulator : accumulators_) {
    SLUICE_ASSIGN_OR_RETURN(ArrayPtr column, accumulator->SaveState(0, split_count));
    columns.push_back(std::move(column));
  }
  arrow::Int64Builder rows(pool_);
  SLUICE_RETURN_ARROW(rows.AppendValues(rows_of_split_));
  SLUICE_ASSIGN_ARROW(ArrayPtr counted, rows.Finish());
  columns.push_back(std::move(counted));
  return Batch(arrow::RecordBatch::Make(spec_->output_schema, split_count, std::move(columns)));
}

}  // namespace sluice::connectors::filesystem
