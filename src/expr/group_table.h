// Maps key rows to dense group ids: the hash table of aggregation and DISTINCT.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <arrow/memory_pool.h>
#include <arrow/record_batch.h>

#include "common/result.h"
#include "types/schema.h"

namespace sluice::expr {

/// Groups keep the order in which their keys first came. NULL is a key, NaN equals NaN, -0.0 equals
/// 0.0; any type can be a key.
///
/// Thread: one at a time. State: the keys, as Keys() gives them; re-made by GroupIds(Keys()) on an
/// empty table.
class GroupTable {
 public:
  explicit GroupTable(Schema keys, arrow::MemoryPool* pool = arrow::default_memory_pool());
  ~GroupTable();
  GroupTable(GroupTable&&) noexcept;
  GroupTable& operator=(GroupTable&&) noexcept;

  /// Group of each row of `keys`, whose columns are those of the key schema; new keys make new
  /// groups. No key columns: group 0.
  Result<std::vector<int32_t>> GroupIds(const arrow::RecordBatch& keys);
  /// Like GroupIds without making groups: -1 for unknown keys.
  Result<std::vector<int32_t>> FindGroupIds(const arrow::RecordBatch& keys) const;
  int64_t group_count() const;
  /// The keys of groups [begin, end), one row each in the order of their ids.
  Result<std::shared_ptr<arrow::RecordBatch>> Keys(int64_t begin, int64_t end) const;
  int64_t memory_bytes() const;

 private:
  struct Rep;
  std::unique_ptr<Rep> rep_;
};

}  // namespace sluice::expr
