// Aggregates of whole splits, of what files tell about themselves where that is exact, of their
// rows elsewhere.
//
// Thread: one at a time; blocking: runs on the I/O pool.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "connectors/filesystem/source/file_source_spec.h"
#include "connectors/filesystem/source/file_split.h"
#include "expr/aggregate.h"
#include "types/batch.h"

namespace sluice::connectors::filesystem {

/// True when containers can tell what `call` gives for a column of theirs of `type`, at least
/// often: it is worth leaving the rows alone. FLOAT and DOUBLE cannot, because bounds leave out
/// NaN, and neither can texts, whose bounds are cut short.
bool FilesMayTell(const expr::AggregateCall& call, const SqlType& type);

class SplitAggregator {
 public:
  static Result<std::unique_ptr<SplitAggregator>> Make(std::shared_ptr<const FileSourceSpec> spec,
                                                       arrow::MemoryPool* pool);

  /// Aggregates what of `split` is not behind its position. After a failure only the splits before
  /// it count.
  Status Add(const FileSplit& split);
  /// The same, part by part: Begin, AddPart for those wanted, End.
  Status Begin(const FileSplit& split);
  Status AddPart(formats::BulkFile* file, int part, int64_t skip_rows);
  void End();
  /// A row of state for each split that has rows, as TableSource::ApplyAggregates has them.
  Result<Batch> Finish();

 private:
  using ArrayPtr = std::shared_ptr<arrow::Array>;
  SplitAggregator(std::shared_ptr<const FileSourceSpec> spec, arrow::MemoryPool* pool)
      : spec_(std::move(spec)), pool_(pool) {}
  /// False, and nothing has changed, when the part does not tell everything.
  Result<bool> AddFacts(const formats::BulkFile& file, int part);
  Status AddRows(formats::BulkFile* file, int part, int64_t skip_rows);
  /// What `row_count` rows that all have the partition's value give.
  Status AddConstant(size_t call, int64_t row_count);
  Status AddCount(size_t call, int64_t count);
  /// group() for so many rows.
  std::span<const int32_t> GroupOfRows(int64_t row_count);
  int32_t group() const { return static_cast<int32_t>(rows_of_split_.size()) - 1; }

  const std::shared_ptr<const FileSourceSpec> spec_;
  arrow::MemoryPool* const pool_;
  std::vector<std::unique_ptr<expr::Accumulator>> accumulators_;
  std::vector<int64_t> rows_of_split_;
  std::vector<int32_t> group_of_rows_;  // One group, as often as a batch has had rows.
  std::vector<std::vector<std::shared_ptr<arrow::Scalar>>> values_;  // By split, then key.
};

}  // namespace sluice::connectors::filesystem
