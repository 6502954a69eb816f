#include "formats/parquet/forbidden_nulls.h"

#include <algorithm>

#include <arrow/array/array_nested.h>

namespace sluice::formats::parquet_format {

namespace {

bool ForbidsInside(const SqlType& type);

bool Forbids(const SqlType& type) { return !type.nullable() || ForbidsInside(type); }

bool ForbidsInside(const SqlType& type) {
  switch (type.kind()) {
    case TypeKind::kArray:
      return Forbids(type.element());
    case TypeKind::kMap:  // Keys of maps and what MULTISET holds are never NULL in a file.
      return Forbids(type.value());
    case TypeKind::kRow:
      return std::any_of(type.fields().begin(), type.fields().end(),
                         [](const RowField& field) { return Forbids(field.type); });
    default:
      return false;
  }
}

int64_t FirstNull(const arrow::Array& values) {
  if (values.null_count() == 0) return -1;
  int64_t row = 0;
  while (!values.IsNull(row)) ++row;
  return row;
}

/// The row of `list` that holds the element found at `index` of what its rows hold; -1 as it is.
int64_t RowOfElement(const arrow::ListArray& list, int64_t index) {
  if (index < 0) return -1;
  int64_t row = 0;
  while (list.value_offset(row + 1) - list.value_offset(0) <= index) ++row;
  return row;
}

int64_t FindInList(const arrow::ListArray& list, const arrow::Array& elements,
                   const SqlType& type) {
  const int64_t begin = list.value_offset(0);
  const auto held = elements.Slice(begin, list.value_offset(list.length()) - begin);
  return RowOfElement(list, FindForbiddenNull(*held, type));
}

/// Of `a` and `b` the earlier row, -1 standing for none.
int64_t Earlier(int64_t a, int64_t b) { return a < 0 ? b : b < 0 ? a : std::min(a, b); }

int64_t FindInRow(const arrow::StructArray& rows, const SqlType& type) {
  int64_t found = -1;
  for (size_t i = 0; i < type.fields().size(); ++i) {
    const SqlType& field = type.fields()[i].type;
    const auto values = rows.field(static_cast<int>(i));
    if (!field.nullable() && values->null_count() > 0) {
      int64_t row = 0;
      while (row < rows.length() && (rows.IsNull(row) || values->IsValid(row))) ++row;
      if (row < rows.length()) found = Earlier(found, row);
    }
    if (ForbidsInside(field))
      found = Earlier(found, FindForbiddenNull(*values, field.WithNullable(true)));
  }
  return found;
}

}  // namespace

int64_t FindForbiddenNull(const arrow::Array& values, const SqlType& type) {
  const int64_t own = type.nullable() ? -1 : FirstNull(values);
  if (!ForbidsInside(type) || values.length() == 0) return own;
  if (type.kind() == TypeKind::kRow)
    return Earlier(own, FindInRow(static_cast<const arrow::StructArray&>(values), type));
  const auto& list = static_cast<const arrow::ListArray&>(values);
  if (type.kind() == TypeKind::kArray)
    return Earlier(own, FindInList(list, *list.values(), type.element()));
  const auto& map = static_cast<const arrow::MapArray&>(values);
  return Earlier(own, FindInList(map, *map.items(), type.value()));
}

}  // namespace sluice::formats::parquet_format
