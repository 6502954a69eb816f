#include "formats/json/decimal_bytes.h"

#include <climits>
#include <optional>

#include <arrow/util/decimal.h>

#include "common/base64.h"
#include "formats/text/number_text.h"

namespace sluice::formats::json {
namespace {

constexpr size_t kMaxBytes = 32;

/// On the value of member `name`.
bool ReadScaledMember(JsonCursor& cursor, std::string_view name, std::optional<int64_t>* scale,
                      std::string* base64) {
  if (name == "scale" && (cursor.peek() == '-' || text::IsDigit(cursor.peek()))) {
    NumberToken number;
    int64_t value = 0;
    if (!cursor.ReadNumber(&number)) return false;
    if (text::ParseInteger(number.text, INT_MIN + 1, INT_MAX, &value)) *scale = value;
    return true;
  }
  if (name == "value" && cursor.peek() == '"') {
    std::string_view text;
    bool had_escapes = false;
    if (!cursor.ReadString(&text, &had_escapes)) return false;
    *base64 = text;
    return true;
  }
  return cursor.SkipValue();
}

}  // namespace

bool DecimalFromBytes(std::string_view base64, int scale, std::string* number) {
  std::string bytes;
  if (!AppendFromBase64(base64, &bytes) || bytes.empty() || bytes.size() > kMaxBytes) return false;
  const auto unscaled = arrow::Decimal256::FromBigEndian(
      reinterpret_cast<const uint8_t*>(bytes.data()), static_cast<int32_t>(bytes.size()));
  if (!unscaled.ok()) return false;
  *number = unscaled->ToIntegerString();
  if (scale != 0) *number += "E" + std::to_string(-int64_t{scale});
  return true;
}

bool ReadScaledBytes(JsonCursor& cursor, ScaledBytes* value) {
  std::optional<int64_t> scale;
  std::string base64;
  if (!cursor.Enter()) return false;
  cursor.Advance(1);
  cursor.SkipBlanks();
  while (!cursor.Take('}')) {
    if (cursor.peek() != '"') return cursor.FailUnexpected();
    std::string_view text;
    bool had_escapes = false;
    if (!cursor.ReadString(&text, &had_escapes)) return false;
    const std::string name(text);
    cursor.SkipBlanks();
    if (!cursor.Take(':')) return cursor.FailUnexpected();
    cursor.SkipBlanks();
    if (!ReadScaledMember(cursor, name, &scale, &base64)) return false;
    cursor.SkipBlanks();
    if (cursor.Take(',')) {
      cursor.SkipBlanks();
    } else if (cursor.peek() != '}') {
      return cursor.FailUnexpected();
    }
  }
  cursor.Leave();
  if (scale) *value = {static_cast<int>(*scale), std::move(base64)};
  return true;
}

}  // namespace sluice::formats::json
