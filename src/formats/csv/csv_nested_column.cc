#include "formats/csv/csv_nested_column.h"

#include <fmt/format.h>

namespace sluice::formats::csv {

NestedColumn::NestedColumn(const std::string& name, const SqlType& type, const CsvOptions& options,
                           arrow::MemoryPool* pool)
    : CsvColumn(name, type, options, pool) {
  for (int i = 0; i < builder_.child_count(); ++i) {
    child_rules_.push_back(text::MakeScalarRules(builder_.child(i).type(), text::Dialect::kCsv,
                                                 text::TimestampStyle::kSql));
  }
}

void NestedColumn::ConvertRows(const FieldRef* fields, int rows) {
  const bool is_row = builder_.type().kind() == TypeKind::kRow;
  for (int row = 0; row < rows; ++row) {
    const FieldRef field = fields[row];
    const bool null =
        IsNullForAll(field) || (is_row ? field.size() == 0 : EmptyIsNull(field, options_));
    if (null) {
      builder_.AppendNull();
      continue;
    }
    copy_ = Resolve(field);
    const int64_t length = builder_.length();
    if (is_row ? AppendRow(row, copy_) : AppendArray(row, copy_)) continue;
    builder_.Truncate(length);
    if (!options_.ignore_parse_errors) return;
    builder_.AppendNull();
  }
}

bool NestedColumn::NextElement(std::string_view* rest, bool* more,
                               std::string_view* element) const {
  if (!*more) return false;
  const size_t at = rest->find(options_.array_delimiter);
  *element = rest->substr(0, at);
  *more = at != std::string_view::npos;
  if (*more) rest->remove_prefix(at + options_.array_delimiter.size());
  return true;
}

bool NestedColumn::AppendArray(int row, std::string_view text) {
  std::string_view element;
  bool more = !text.empty();
  while (NextElement(&text, &more, &element)) {
    if (!AppendElement(row, 0, element)) return false;
  }
  builder_.CloseNested();
  return true;
}

bool NestedColumn::AppendRow(int row, std::string_view text) {
  const int count = builder_.child_count();
  const std::string_view whole = text;
  std::string_view element;
  bool more = true;
  int child = 0;
  for (; child < count && NextElement(&text, &more, &element); ++child) {
    if (!AppendElement(row, child, element)) return false;
  }
  if (child < count) {
    if (!Report(row, whole,
                fmt::format("Row length mismatch. {} fields expected but was {}", count, child)))
      return false;
    for (; child < count; ++child) builder_.child(child).AppendNull();
  }
  builder_.CloseNested();
  return true;
}

bool NestedColumn::AppendElement(int row, int child, std::string_view text) {
  text::ColumnBuilder& column = builder_.child(child);
  const text::ScalarRules& rules = child_rules_[static_cast<size_t>(child)];
  // As for a whole field: nothing is an empty text or no bytes, and NULL for everything else.
  const bool is_text = column.type().is_character() || column.type().is_binary();
  if ((has_literal_ && text == literal_) ||
      (text.empty() && (!is_text || options_.empty_string_as_null))) {
    column.AppendNull();
    return true;
  }
  if (AppendScalar(rules, text, column)) return true;
  if (!Report(row, text, DescribeBadScalar(rules, text))) return false;
  column.AppendNull();
  return true;
}

}  // namespace sluice::formats::csv
