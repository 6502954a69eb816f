#include "connectors/filesystem/sink/partition_sorter.h"

#include <algorithm>

#include "connectors/filesystem/sink/temporary_directories.h"

namespace sluice::connectors::filesystem {

namespace {

// What is merged and handed on at once.
constexpr int64_t kPieceBytes = 1 << 20;
constexpr int64_t kLeastBytes = 256 << 10;

/// `wanted`, or the share of the memory limit that all writers have for it.
int64_t Share(int64_t wanted, int64_t part, const runtime::TaskContext& context) {
  if (context.budget == nullptr) return wanted;
  const int64_t share = context.budget->limit_bytes() / (part * std::max(context.parallelism, 1));
  return std::clamp(share, std::min(kLeastBytes, wanted), wanted);
}

std::string TemporaryDirectory(const FileSinkPlan& plan, const runtime::TaskContext& context) {
  if (plan.temporary_directories.empty()) return TemporaryDirectories({}).front();
  const auto writer = static_cast<size_t>(std::max(context.subtask, 0));
  return plan.temporary_directories[writer % plan.temporary_directories.size()];
}

}  // namespace

PartitionSorter::PartitionSorter(const FileSinkPlan* plan, const runtime::TaskContext* context,
                                 HeldBytes* held)
    : plan_(*plan),
      context_(*context),
      sort_bytes_(Share(plan->limits.sort_bytes, 12, *context)),
      sorted_bytes_(Share(plan->limits.sorted_bytes, 6, *context)),
      staged_(context->budget, held),
      runs_(context->budget, held, context->memory_pool, TemporaryDirectory(*plan, *context)) {}

Status PartitionSorter::Add(std::shared_ptr<arrow::RecordBatch> rows,
                            const arrow::RecordBatch& keys, const std::vector<int>& key_columns,
                            int64_t now_ms, const PartitionOf& partition_of) {
  SLUICE_ASSIGN_OR_RETURN(auto ids, index_.Identify(keys, key_columns));
  for (const int64_t row : ids.new_rows) {
    SLUICE_ASSIGN_OR_RETURN(PartitionRef partition, partition_of(row));
    entries_.push_back({std::move(partition), now_ms});
  }
  staged_.Add(std::move(rows), std::move(ids.id_of_row));
  return {};
}

Result<SortedRows> PartitionSorter::Sort() {
  if (staged_.empty()) return SortedRows();
  const int64_t row_bytes = std::max<int64_t>(staged_.held_bytes() / staged_.row_count(), 1);
  const int64_t many_rows = plan_.limits.open_file_bytes / row_bytes;
  SLUICE_ASSIGN_OR_RETURN(StagedRows::Sorted sorted, staged_.Sort(
                                                         static_cast<int32_t>(entries_.size()),
                                                         [&](int32_t partition, int64_t rows) {
                                                           return rows >= many_rows &&
                                                                  !runs_.Holds(partition);
                                                         },
                                                         context_.memory_pool));
  runs_.Add(std::move(sorted.small));
  return std::move(sorted.large);
}

bool PartitionSorter::MustSpill() const {
  const int64_t bytes = runs_.memory_bytes();
  const bool crowded = context_.budget != nullptr && context_.budget->over();
  return bytes > sorted_bytes_ || (crowded && bytes > sorted_bytes_ / 4);
}

Result<RowRuns::Piece> PartitionSorter::ReadPiece() { return runs_.Next(kPieceBytes); }

void PartitionSorter::Clear() {
  index_ = expr::KeyIndex();
  entries_.clear();
}

}  // namespace sluice::connectors::filesystem
