#include "types/schema.h"

#include <arrow/type.h>

namespace sluice {

int Schema::IndexOf(std::string_view name) const {
  for (size_t i = 0; i < columns_.size(); ++i) {
    if (columns_[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

Schema Schema::Select(const std::vector<int>& indices) const {
  std::vector<Column> selected;
  selected.reserve(indices.size());
  for (const int index : indices) selected.push_back(column(index));
  return Schema(std::move(selected));
}

std::shared_ptr<arrow::Schema> Schema::ToArrow() const {
  arrow::FieldVector fields;
  fields.reserve(columns_.size());
  for (const Column& column : columns_) {
    fields.push_back(arrow::field(column.name, column.type.ToArrow(), column.type.nullable()));
  }
  return arrow::schema(std::move(fields));
}

std::string Schema::ToString() const {
  std::string text = "[";
  for (const Column& column : columns_) {
    if (text.size() > 1) text += ", ";
    text += column.name + ": " + column.type.ToString();
  }
  return text + "]";
}

}  // namespace sluice
