// Dense ids of keys over many batches: which partition each row goes to, when there are more
// partitions than a batch has rows.
//
// One look-up a row in a table that stays: IdentifyKeys begins anew with every batch and is better
// for few keys. Equality as there: NULL is a key of its own, NaN equals NaN, -0.0 equals 0.0.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <arrow/record_batch.h>

#include "common/result.h"

namespace sluice::expr {

/// Thread: one at a time.
class KeyIndex {
 public:
  KeyIndex();
  ~KeyIndex();
  KeyIndex(KeyIndex&&) noexcept;
  KeyIndex& operator=(KeyIndex&&) noexcept;

  struct Ids {
    std::vector<int32_t> id_of_row;
    /// First rows of the keys that are new, in the order of their ids, which follow the known ones.
    std::vector<int64_t> new_rows;
  };
  /// The same columns, of the same types, at every call. No key columns: id 0.
  Result<Ids> Identify(const arrow::RecordBatch& rows, const std::vector<int>& key_columns);
  int32_t key_count() const;
  int64_t memory_bytes() const;

 private:
  struct Rep;
  std::unique_ptr<Rep> rep_;
};

}  // namespace sluice::expr
