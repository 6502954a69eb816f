// The dictionary of one column of a small file, where it makes the column smaller.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "formats/parquet/plain_values.h"

namespace sluice::formats::parquet_format {

class SmallDictionary {
 public:
  /// False when `values` are smaller without one; gives up early where nearly all differ. `values`
  /// must outlive what is asked below.
  bool Build(const PlainValues& values);

  int64_t count() const { return static_cast<int64_t>(entries_.size()); }
  /// Appends the values, PLAIN, each once.
  void AppendValues(std::string* out) const;
  /// Appends the width of the indices and the indices, as a data page has them.
  void AppendIndices(std::string* out) const;

 private:
  int BitWidth() const;

  std::vector<std::string_view> entries_;
  std::vector<uint32_t> indices_;  // Of each value.
  std::vector<uint32_t> slots_;    // Entry + 1 by hash; 0: free.
};

}  // namespace sluice::formats::parquet_format
