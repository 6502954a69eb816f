// Keys of rows as bytes: equal keys, and only those, have equal bytes.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <arrow/record_batch.h>

#include "common/result.h"

namespace sluice::expr {

/// The bytes of the key of each row of a batch. NULL differs from every value; NaN equals NaN and
/// -0.0 equals 0.0. Any type.
class KeyBytes {
 public:
  static Result<KeyBytes> Make(const arrow::RecordBatch& rows, const std::vector<int>& key_columns);

  int64_t row_count() const { return static_cast<int64_t>(offsets_.size()) - 1; }
  std::string_view key(int64_t row) const {
    const size_t begin = offsets_[static_cast<size_t>(row)];
    return {bytes_.data() + begin, offsets_[static_cast<size_t>(row) + 1] - begin};
  }

 private:
  std::vector<char> bytes_;
  std::vector<size_t> offsets_;
};

/// A 64-bit hash of bytes: the same on every machine and in every release, because state and
/// routing depend on it.
uint64_t StableHash(std::string_view bytes);

}  // namespace sluice::expr
