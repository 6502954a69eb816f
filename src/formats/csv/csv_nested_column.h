// ARRAY and ROW columns of csv: elements of simple types in one text field, cut at the array
// delimiter.
#pragma once

#include "formats/csv/csv_columns.h"

namespace sluice::formats::csv {

/// What an empty field of a type that is neither text nor a number means. NULL, as our writer (and
/// Flink's) writes NULL as nothing; but quoted, or where NULL has a literal of its own, it is the
/// empty value.
inline bool EmptyIsNull(FieldRef field, const CsvOptions& options) {
  if (field.size() > 0) return false;
  return options.empty_string_as_null || (!field.quoted() && !options.null_literal.has_value());
}

class NestedColumn final : public CsvColumn {
 public:
  NestedColumn(const std::string& name, const SqlType& type, const CsvOptions& options,
               arrow::MemoryPool* pool);

 protected:
  void ConvertRows(const FieldRef* fields, int rows) override;

 private:
  bool AppendArray(int row, std::string_view text);
  bool AppendRow(int row, std::string_view text);
  /// One element or field. False: the read fails.
  bool AppendElement(int row, int child, std::string_view text);
  /// Cuts the next element off `rest`; false when there is none.
  bool NextElement(std::string_view* rest, bool* more, std::string_view* element) const;

  std::vector<text::ScalarRules> child_rules_;
  std::string copy_;  // Elements point into it.
};

}  // namespace sluice::formats::csv
