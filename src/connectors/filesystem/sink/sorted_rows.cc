#include "connectors/filesystem/sink/sorted_rows.h"

#include <arrow/array/concatenate.h>

#include "expr/sort.h"
#include "types/arrow_status.h"
#include "types/batch.h"

namespace sluice::connectors::filesystem {

Result<std::shared_ptr<arrow::RecordBatch>> JoinBatches(
    const std::vector<std::shared_ptr<arrow::RecordBatch>>& batches, arrow::MemoryPool* pool) {
  if (batches.size() == 1) return batches.front();
  int64_t rows = 0;
  for (const auto& batch : batches) rows += batch->num_rows();
  arrow::ArrayVector columns;
  arrow::ArrayVector pieces(batches.size());
  for (int i = 0; i < batches.front()->num_columns(); ++i) {
    for (size_t b = 0; b < batches.size(); ++b) pieces[b] = batches[b]->column(i);
    SLUICE_ASSIGN_ARROW(auto column, arrow::Concatenate(pieces, pool));
    columns.push_back(std::move(column));
  }
  return arrow::RecordBatch::Make(batches.front()->schema(), rows, std::move(columns));
}

void StagedRows::Add(std::shared_ptr<arrow::RecordBatch> rows, std::vector<int32_t> partitions) {
  row_count_ += rows->num_rows();
  const int64_t bytes = Batch(rows).byte_size() + rows->num_rows() * 4;
  partitions_.insert(partitions_.end(), partitions.begin(), partitions.end());
  batches_.push_back(std::move(rows));
  share_.Set(share_.bytes() + bytes);
}

namespace {

Result<std::shared_ptr<arrow::RecordBatch>> Pick(const std::shared_ptr<arrow::RecordBatch>& rows,
                                                 const std::vector<int32_t>& order,
                                                 arrow::MemoryPool* pool) {
  SLUICE_ASSIGN_OR_RETURN(const Batch taken, expr::TakeRows32(Batch(rows), order, pool));
  return taken.rows();
}

}  // namespace

Result<StagedRows::Sorted> StagedRows::Sort(
    int32_t partition_count, const std::function<bool(int32_t partition, int64_t rows)>& is_large,
    arrow::MemoryPool* pool) {
  Sorted sorted;
  if (batches_.empty()) return sorted;
  std::vector<int32_t> next(static_cast<size_t>(partition_count));
  for (const int32_t partition : partitions_) ++next[static_cast<size_t>(partition)];
  // Places of the two halves in one order: first the small ones, then the large ones.
  std::vector<bool> large(next.size());
  int32_t small_rows = 0;
  for (int32_t p = 0; p < partition_count; ++p) {
    const int32_t count = next[static_cast<size_t>(p)];
    if (count == 0) continue;
    large[static_cast<size_t>(p)] = is_large(p, count);
    if (!large[static_cast<size_t>(p)]) small_rows += count;
  }
  int32_t small_at = 0;
  int32_t large_at = 0;
  for (int32_t p = 0; p < partition_count; ++p) {
    const int32_t count = next[static_cast<size_t>(p)];
    if (count == 0) continue;
    const bool is = large[static_cast<size_t>(p)];
    SortedRows& half = is ? sorted.large : sorted.small;
    int32_t& at = is ? large_at : small_at;
    half.segments.push_back({.partition = p, .begin = at});
    next[static_cast<size_t>(p)] = is ? small_rows + at : at;
    at += count;
  }
  std::vector<int32_t> order(partitions_.size());
  for (size_t row = 0; row < partitions_.size(); ++row) {
    order[static_cast<size_t>(next[static_cast<size_t>(partitions_[row])]++)] =
        static_cast<int32_t>(row);
  }
  SLUICE_ASSIGN_OR_RETURN(const auto joined, JoinBatches(batches_, pool));
  batches_.clear();
  partitions_.clear();
  row_count_ = 0;
  std::vector<int32_t> large_order(order.begin() + small_rows, order.end());
  order.resize(static_cast<size_t>(small_rows));
  if (!order.empty()) {
    SLUICE_ASSIGN_OR_RETURN(sorted.small.rows, Pick(joined, order, pool));
  }
  if (!large_order.empty()) {
    SLUICE_ASSIGN_OR_RETURN(sorted.large.rows, Pick(joined, large_order, pool));
  }
  share_.Set(0);
  return sorted;
}

}  // namespace sluice::connectors::filesystem
