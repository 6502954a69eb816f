#include "runtime/operators/join_table.h"

#include <limits>

#include "common/text.h"

namespace sluice::runtime {

std::vector<bool> RowsWithNull(const arrow::RecordBatch& keys) {
  std::vector<bool> with_null(static_cast<size_t>(keys.num_rows()));
  for (const std::shared_ptr<arrow::Array>& column : keys.columns()) {
    if (column->null_count() == 0) continue;
    for (int64_t row = 0; row < column->length(); ++row) {
      if (column->IsNull(row)) with_null[static_cast<size_t>(row)] = true;
    }
  }
  return with_null;
}

Result<std::unique_ptr<JoinTable>> JoinTable::Make(std::shared_ptr<arrow::RecordBatch> rows,
                                                   const arrow::RecordBatch& keys,
                                                   const Schema& key_schema,
                                                   arrow::MemoryPool* pool) {
  if (rows->num_rows() > std::numeric_limits<int32_t>::max()) {
    return Status::Unsupported("The right input of a join has " + WithThousands(rows->num_rows()) +
                               " rows in one subtask; 2,147,483,647 are possible. Raise the "
                               "parallelism or put the larger input on the left.");
  }
  std::unique_ptr<JoinTable> table(
      new JoinTable(std::move(rows), expr::GroupTable(key_schema, pool)));
  SLUICE_ASSIGN_OR_RETURN(const std::vector<int32_t> group_of_row, table->groups_.GroupIds(keys));
  const std::vector<bool> unequal = RowsWithNull(keys);
  std::vector<size_t>& first = table->first_;
  first.assign(static_cast<size_t>(table->groups_.group_count()) + 1, 0);
  for (size_t row = 0; row < group_of_row.size(); ++row) {
    if (!unequal[row]) ++first[static_cast<size_t>(group_of_row[row]) + 1];
  }
  for (size_t group = 1; group < first.size(); ++group) first[group] += first[group - 1];
  table->row_of_.resize(first.back());
  std::vector<size_t> next(first.begin(), first.end() - 1);
  for (size_t row = 0; row < group_of_row.size(); ++row) {
    if (unequal[row]) continue;
    table->row_of_[next[static_cast<size_t>(group_of_row[row])]++] = static_cast<int32_t>(row);
  }
  return table;
}

Result<std::vector<int32_t>> JoinTable::Find(const arrow::RecordBatch& keys) const {
  SLUICE_ASSIGN_OR_RETURN(std::vector<int32_t> groups, groups_.FindGroupIds(keys));
  const std::vector<bool> unequal = RowsWithNull(keys);
  for (size_t row = 0; row < groups.size(); ++row) {
    if (unequal[row]) groups[row] = -1;
  }
  return groups;
}

int64_t JoinTable::memory_bytes() const {
  return groups_.memory_bytes() + static_cast<int64_t>(first_.capacity() * sizeof(size_t) +
                                                       row_of_.capacity() * sizeof(int32_t));
}

}  // namespace sluice::runtime
