#include "formats/json/json_columns.h"

namespace sluice::formats::json {

void FieldTable::Add(std::string name, JsonColumn* column) {
  stable_names_.push_back(std::make_unique<std::string>(name));
  by_name_.emplace(*stable_names_.back(), field_count());  // The first of two equal names counts.
  names_.push_back(std::move(name));
  columns_.push_back(column);
  seen_.push_back(0);
}

int FieldTable::Find(std::string_view name) const {
  const auto at = by_name_.find(name);
  return at == by_name_.end() ? -1 : at->second;
}

void FieldTable::Learn(size_t place, std::string_view name, int field) {
  if (place >= kMaxExpected) return;
  if (place >= expected_.size()) expected_.resize(place + 1);
  Expected& expected = expected_[place];
  expected.key.assign(1, '"');
  expected.key.append(name);
  expected.key.append("\":");
  expected.size = expected.key.size();
  expected.field = field;
  expected.key.append(8, '\0');
}

bool LookUpMember(JsonCursor& cursor, FieldTable& table, size_t place, int* field) {
  if (cursor.peek() != '"') return cursor.FailUnexpected();
  std::string_view name;
  bool had_escapes = false;
  if (!cursor.ReadString(&name, &had_escapes)) return false;
  *field = table.Find(name);
  if (!had_escapes) table.Learn(place, name, *field);
  cursor.SkipBlanks();
  return cursor.Take(':') || cursor.FailUnexpected();
}

JsonColumn::JsonColumn(std::string path_text, const SqlType& type, const JsonOptions& options,
                       text::ColumnBuilder* column)
    : path(std::move(path_text)),
      kind(type.kind()),
      rules(text::MakeScalarRules(type, text::Dialect::kJson, options.timestamp_style)),
      builder(column) {
  if (kind == TypeKind::kRow) {
    for (int i = 0; i < builder->child_count(); ++i) {
      const RowField& field = type.fields()[static_cast<size_t>(i)];
      children.push_back(std::make_unique<JsonColumn>(path + "." + field.name, field.type, options,
                                                      &builder->child(i)));
      fields.Add(field.name, children.back().get());
    }
    return;
  }
  for (int i = 0; i < builder->child_count(); ++i) {
    children.push_back(
        std::make_unique<JsonColumn>(path, builder->child(i).type(), options, &builder->child(i)));
  }
}

}  // namespace sluice::formats::json
