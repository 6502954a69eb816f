#include "formats/changelog/decimal_forms.h"

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

}  // namespace

DecimalForms::DecimalForms(json::FieldTable& top, bool as_bytes) : as_bytes_(as_bytes) {
  for (int i = 0; i < top.field_count(); ++i) {
    if (top.column(i) != nullptr) Collect(*top.column(i), {top.name(i)});
  }
  for (const Decimal& decimal : decimals_) ApplyDefault(decimal);
}

void DecimalForms::Collect(json::JsonColumn& column, std::vector<std::string> path) {
  if (column.kind == TypeKind::kDecimal) {
    decimals_.push_back({&column, std::move(path)});
    return;
  }
  for (size_t i = 0; i < column.children.size(); ++i) {
    std::vector<std::string> inner = path;
    inner.push_back(column.kind == TypeKind::kRow ? column.fields.name(static_cast<int>(i)) : "");
    Collect(*column.children[i], std::move(inner));
  }
}

void DecimalForms::ApplyDefault(const Decimal& decimal) const {
  json::JsonColumn& column = *decimal.column;
  column.bytes_scale = as_bytes_ ? std::optional(column.rules.scale) : std::nullopt;
}

void DecimalForms::Follow(std::string_view schema) {
  if (decimals_.empty() || schema == last_schema_) return;
  last_schema_ = schema;
  const Json parsed = Json::parse(schema, nullptr, /*allow_exceptions=*/false);
  const Json* row = FieldOf(&parsed, "after");
  if (row == nullptr) row = FieldOf(&parsed, "before");
  for (const Decimal& decimal : decimals_) {
    const Json* found = row;
    for (const std::string& name : decimal.path) found = Step(found, name);
    if (found == nullptr) {
      ApplyDefault(decimal);
    } else {
      decimal.column->bytes_scale = BytesScale(found);
    }
  }
}

}  // namespace sluice::formats::changelog
