#include "formats/changelog/schema_forms.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "common/text.h"

namespace sluice::formats::changelog {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kDecimal = "org.apache.kafka.connect.data.Decimal";
constexpr std::string_view kVariableScaleDecimal = "io.debezium.data.VariableScaleDecimal";
constexpr int kMaxScale = 1000;

/// The member when `object` is an object that has it, else null.
const Json* Member(const Json* object, std::string_view name) {
  if (object == nullptr || !object->is_object()) return nullptr;
  const auto at = object->find(name);
  return at == object->end() ? nullptr : &*at;
}

bool HasText(const Json* object, std::string_view name, std::string_view text) {
  const Json* member = Member(object, name);
  return member != nullptr && member->is_string() && member->get_ref<const std::string&>() == text;
}

const Json* FieldOf(const Json* structure, std::string_view name) {
  const Json* fields = Member(structure, "fields");
  if (fields == nullptr || !fields->is_array()) return nullptr;
  const auto at = std::find_if(fields->begin(), fields->end(),
                               [&](const Json& field) { return HasText(&field, "field", name); });
  return at == fields->end() ? nullptr : &*at;
}

const Json* Step(const Json* schema, const std::string& name) {
  if (!name.empty()) return FieldOf(schema, name);
  return Member(schema, HasText(schema, "type", "map") ? "values" : "items");
}

/// nullopt: texts are numbers.
std::optional<int> BytesScale(const Json* schema) {
  // Its objects have their own scale; there are no texts.
  if (HasText(schema, "name", kVariableScaleDecimal)) return 0;
  if (!HasText(schema, "name", kDecimal) || !HasText(schema, "type", "bytes")) return std::nullopt;
  const Json* scale = Member(Member(schema, "parameters"), "scale");
  if (scale == nullptr || !scale->is_string()) return std::nullopt;
  const auto number = ParseInt64(scale->get_ref<const std::string&>());
  if (!number || *number < -kMaxScale || *number > kMaxScale) return std::nullopt;
  return static_cast<int>(*number);
}

/// Units a second of a number that is a time; 0 when the schema does not tell.
int64_t EpochUnits(const Json* schema) {
  static constexpr std::pair<std::string_view, int64_t> kTimes[] = {
      {"io.debezium.time.Timestamp", 1000},
      {"io.debezium.time.MicroTimestamp", 1'000'000},
      {"io.debezium.time.NanoTimestamp", 1'000'000'000},
      {"org.apache.kafka.connect.data.Timestamp", 1000},
      {"io.debezium.time.Time", 1000},
      {"io.debezium.time.MicroTime", 1'000'000},
      {"io.debezium.time.NanoTime", 1'000'000'000},
      {"org.apache.kafka.connect.data.Time", 1000},
  };
  for (const auto& [name, units] : kTimes) {
    if (HasText(schema, "name", name)) return units;
  }
  return 0;
}

bool IsTime(TypeKind kind) {
  return kind == TypeKind::kTime || kind == TypeKind::kTimestamp || kind == TypeKind::kTimestampLtz;
}

}  // namespace

SchemaForms::SchemaForms(json::FieldTable& top, bool decimals_as_bytes)
    : decimals_as_bytes_(decimals_as_bytes) {
  for (int i = 0; i < top.field_count(); ++i) {
    if (top.column(i) != nullptr) Collect(*top.column(i), {top.name(i)});
  }
  for (const Place& place : places_) ApplyDefault(*place.column);
}

void SchemaForms::Collect(json::JsonColumn& column, std::vector<std::string> path) {
  if (column.kind == TypeKind::kDecimal || IsTime(column.kind)) {
    places_.push_back({&column, std::move(path)});
    return;
  }
  for (size_t i = 0; i < column.children.size(); ++i) {
    std::vector<std::string> inner = path;
    inner.push_back(column.kind == TypeKind::kRow ? column.fields.name(static_cast<int>(i)) : "");
    Collect(*column.children[i], std::move(inner));
  }
}

void SchemaForms::ApplyDefault(json::JsonColumn& column) const {
  column.epoch_units = 0;
  if (column.kind != TypeKind::kDecimal) return;
  column.bytes_scale = decimals_as_bytes_ ? std::optional(column.rules.scale) : std::nullopt;
}

void SchemaForms::Follow(std::string_view schema) {
  if (places_.empty() || schema == last_schema_) return;
  last_schema_ = schema;
  const Json parsed = Json::parse(schema, nullptr, /*allow_exceptions=*/false);
  const Json* row = FieldOf(&parsed, "after");
  if (row == nullptr) row = FieldOf(&parsed, "before");
  for (const Place& place : places_) {
    const Json* found = row;
    for (const std::string& name : place.path) found = Step(found, name);
    if (found == nullptr) {
      ApplyDefault(*place.column);
    } else if (place.column->kind == TypeKind::kDecimal) {
      place.column->bytes_scale = BytesScale(found);
    } else {
      place.column->epoch_units = EpochUnits(found);
    }
  }
}

}  // namespace sluice::formats::changelog
