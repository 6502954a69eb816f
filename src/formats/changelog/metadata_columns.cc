#include "formats/changelog/metadata_columns.h"

#include <algorithm>

namespace sluice::formats::changelog {
namespace {

constexpr int64_t kMaxSeconds = INT64_MAX / 1000;

const MetadataSpec* Find(std::span<const MetadataSpec> specs, std::string_view key) {
  const auto at = std::find_if(specs.begin(), specs.end(),
                               [&](const MetadataSpec& spec) { return spec.key == key; });
  return at == specs.end() ? nullptr : &*at;
}

/// Which of the two forms of a time the text at `position`, a string, has.
text::TimestampRules RulesOf(const char* position, const SqlType& type) {
  const char* end = ++position;
  while (*end != '"' && *end != '\n') ++end;  // A line end follows every record.
  const std::string_view text(position, static_cast<size_t>(end - position));
  const bool iso = text.find('T') != std::string_view::npos;
  return text::MakeTimestampRules(iso ? text::TimestampStyle::kIso : text::TimestampStyle::kSql,
                                  text.ends_with('Z'), type.precision());
}

}  // namespace

Schema MetadataSchema(std::span<const MetadataSpec> specs) {
  std::vector<Column> columns;
  for (const MetadataSpec& spec : specs) columns.push_back({std::string(spec.key), spec.type});
  return Schema(std::move(columns));
}

Status MetadataColumns::Open(
    std::span<const MetadataSpec> specs, const Schema& wanted, const json::JsonOptions& options,
    const std::function<text::ColumnBuilder&(const SqlType&)>& builder_of) {
  std::vector<std::string_view> inner_names;
  for (const Column& column : wanted.columns()) {
    const MetadataSpec* spec = Find(specs, column.name);
    if (spec == nullptr)
      return Status::Validation("The format has no metadata column '" + column.name + "'.");
    Wanted& added = wanted_.emplace_back();
    added.spec = *spec;
    if (!spec->inner.empty()) {
      inner_member_ = spec->member;
      added.inner_index = static_cast<int>(inner_names.size());
      inner_names.push_back(spec->inner);
    }
    const bool number = spec->form == MetadataForm::kMillis || spec->form == MetadataForm::kSeconds;
    added.column = std::make_unique<json::JsonColumn>(
        column.name, number ? SqlType::Bigint() : spec->type, options, &builder_of(spec->type));
  }
  if (!inner_names.empty()) inner_ = std::make_unique<Envelope>(inner_names);
  return {};
}

bool MetadataColumns::Append(const Envelope& envelope, std::string_view schema,
                             json::JsonReader& reader) {
  bool has_inner = false;
  if (inner_ != nullptr && envelope.has_value(inner_member_)) {
    reader.cursor().GoTo(envelope.position(inner_member_));
    if (!inner_->Read(reader.cursor())) return reader.FailRecord();
    has_inner = true;
  }
  for (Wanted& wanted : wanted_) {
    const char* position = nullptr;
    if (wanted.spec.member < 0) {
      position = schema.data();
    } else if (wanted.inner_index < 0) {
      position = envelope.position(wanted.spec.member);
    } else if (has_inner) {
      position = inner_->position(wanted.inner_index);
    }
    if (position == nullptr) {
      wanted.column->builder->AppendNull();
    } else if (!AppendValue(wanted, position, reader)) {
      return reader.FailRecord();
    }
  }
  return true;
}

bool MetadataColumns::AppendValue(Wanted& wanted, const char* position, json::JsonReader& reader) {
  json::JsonColumn& column = *wanted.column;
  if (wanted.spec.form == MetadataForm::kTime && *position == '"')
    column.rules.timestamp = RulesOf(position, wanted.spec.type);
  if (!reader.ReadColumn(position, column)) return false;
  if (wanted.spec.form == MetadataForm::kSeconds) {
    text::ColumnBuilder& builder = *column.builder;
    int64_t& value = builder.values<int64_t>()[builder.length() - 1];
    if (value > kMaxSeconds || value < -kMaxSeconds)
      return reader.Reject("The seconds of '" + column.path + "' are out of range.");
    value *= 1000;  // Zero where the value is NULL.
  }
  return true;
}

}  // namespace sluice::formats::changelog
