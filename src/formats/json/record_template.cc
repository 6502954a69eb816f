#include "formats/json/record_template.h"

#include <algorithm>

namespace sluice::formats::json {
namespace {

constexpr size_t kMaxSeparator = kPadding - 16;
constexpr size_t kMaxEnd = 8;

uint64_t LowBytes(size_t count) { return count == 0 ? 0 : ~uint64_t{0} >> (8 * (8 - count)); }

}  // namespace

bool RecordTemplate::AddSeparator(std::string_view separator) {
  if (separator.size() > kMaxSeparator) return false;
  const auto place = static_cast<uint32_t>(separator_.size());
  for (size_t at = 0; at < separator.size(); at += 16) {
    char bytes[16] = {};
    const size_t size = std::min<size_t>(16, separator.size() - at);
    std::memcpy(bytes, separator.data() + at, size);
    pieces_.push_back({place,
                       static_cast<uint32_t>(at),
                       {text::LoadWord(bytes), text::LoadWord(bytes + 8)},
                       {LowBytes(std::min<size_t>(size, 8)), LowBytes(size < 8 ? 0 : size - 8)}});
  }
  separator_.push_back(static_cast<uint32_t>(separator.size()));
  return true;
}

bool RecordTemplate::Learn(JsonCursor& cursor, std::string_view record, int max_depth,
                           const FieldTable& fields) {
  fields_.clear();
  separator_.clear();
  pieces_.clear();
  cursor.Start(record, max_depth);
  if (cursor.peek() == '{' && cursor.Enter() && LearnMembers(cursor, record, fields)) return true;
  fields_.clear();
  return false;
}

bool RecordTemplate::LearnMembers(JsonCursor& cursor, std::string_view record,
                                  const FieldTable& fields) {
  const char* last_end = cursor.position();
  cursor.Advance(1);
  cursor.SkipBlanks();
  while (true) {
    std::string_view name;
    bool had_escapes = false;
    if (cursor.peek() != '"' || !cursor.ReadString(&name, &had_escapes) || had_escapes)
      return false;
    const int field = fields.Find(name);
    if (field >= 0 && std::find(fields_.begin(), fields_.end(), field) != fields_.end())
      return false;
    cursor.SkipBlanks();
    if (!cursor.Take(':')) return false;
    cursor.SkipBlanks();
    const char* value = cursor.position();
    if (!AddSeparator({last_end, static_cast<size_t>(value - last_end)})) return false;
    fields_.push_back(field);
    if (!cursor.SkipValue()) return false;
    last_end = cursor.position();
    if (!cursor.Take(',')) break;
    cursor.SkipBlanks();
  }
  cursor.SkipBlanks();
  if (!cursor.Take('}')) return false;
  cursor.SkipBlanks();
  if (!cursor.at_end()) return false;
  // A line end of CR LF leaves the CR behind the record, where it is no part of it.
  const char* end = record.data() + record.size();
  if (*end == '\r') ++end;
  const auto size = static_cast<size_t>(end - last_end);
  if (size > kMaxEnd) return false;
  char bytes[8] = {};
  std::memcpy(bytes + 8 - size, last_end, size);
  end_word_ = text::LoadWord(bytes);
  end_mask_ = ~uint64_t{0} << (8 * (8 - size));
  end_size_ = static_cast<uint32_t>(size);
  return true;
}

}  // namespace sluice::formats::json
