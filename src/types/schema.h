// Names and types of the columns of a batch.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/type_fwd.h>

#include "types/sql_type.h"

namespace sluice {

struct Column {
  std::string name;
  SqlType type;
  friend bool operator==(const Column&, const Column&) = default;
};

/// An immutable list of columns. Names may repeat only in intermediate results.
class Schema {
 public:
  Schema() = default;
  explicit Schema(std::vector<Column> columns) : columns_(std::move(columns)) {}

  const std::vector<Column>& columns() const { return columns_; }
  const Column& column(int index) const { return columns_[static_cast<size_t>(index)]; }
  int column_count() const { return static_cast<int>(columns_.size()); }
  /// Index of the column of that exact name, -1 if there is none.
  int IndexOf(std::string_view name) const;
  /// The columns at `indices`, in that order.
  Schema Select(const std::vector<int>& indices) const;

  /// Arrow schema with the same names; nullable flags follow the SQL types.
  std::shared_ptr<arrow::Schema> ToArrow() const;
  /// "[a: INT, b: STRING]".
  std::string ToString() const;

  friend bool operator==(const Schema&, const Schema&) = default;

 private:
  std::vector<Column> columns_;
};

}  // namespace sluice
