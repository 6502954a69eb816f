// NULL as a key of a MAP. Arrow refuses a map whose keys have a NULL (making one ends the process),
// so a NULL key of a map with text keys is a text that no STRING can be: it is no UTF-8, and every
// place that makes a STRING of bytes checks that (docs/decisions/0017). Arrow's kernels and our
// hashes treat it as one more text. Who shows, compares or writes keys asks here.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include <arrow/array/array_nested.h>
#include <arrow/memory_pool.h>

#include "common/result.h"
#include "types/sql_type.h"

namespace sluice {

inline constexpr std::string_view kNullMapKey("\xFFNULL", 5);

inline bool IsNullMapKey(std::string_view key) {
  return key.size() == kNullMapKey.size() && key == kNullMapKey;
}

/// True when the key of entry `entry` of the map's entries is NULL. For maps of any key type.
bool IsNullMapKey(const arrow::MapArray& maps, int64_t entry);

/// Keys with NULLs in the form that a map's column holds them. A NULL among keys that are no texts
/// is kDataError.
Result<std::shared_ptr<arrow::Array>> ToMapKeys(const SqlType& key,
                                                std::shared_ptr<arrow::Array> values,
                                                arrow::MemoryPool* pool);

/// The way back: keys as a map's column holds them, with their NULLs.
std::shared_ptr<arrow::Array> FromMapKeys(const SqlType& key,
                                          const std::shared_ptr<arrow::Array>& values);

}  // namespace sluice
