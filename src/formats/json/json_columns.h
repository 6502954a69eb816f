// The columns of a json table as a tree: what each value is read into, and by which names fields
// are found.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "formats/format.h"
#include "formats/json/json_cursor.h"
#include "formats/json/json_options.h"
#include "formats/text/column_builder.h"
#include "formats/text/scalar_text.h"
#include "formats/text/swar.h"

namespace sluice::formats::json {

struct JsonColumn;

/// The fields of an object. Objects of a stream mostly have the same names in the same order: the
/// name that stood at each place last is compared first, together with its quotes and colon, so
/// that a hit costs one or two word comparisons.
class FieldTable {
 public:
  /// What stood at one place: `"name":` padded with zeros to whole words.
  struct Expected {
    std::string key;
    size_t size = 0;
    int field = -1;
  };
  static constexpr size_t kMaxExpected = 256;

  void Add(std::string name, JsonColumn* column);
  int field_count() const { return static_cast<int>(columns_.size()); }
  /// Null for a field that must be there but is not wanted.
  JsonColumn* column(int field) const { return columns_[static_cast<size_t>(field)]; }
  const std::string& name(int field) const { return names_[static_cast<size_t>(field)]; }
  /// -1 for a name that no field has.
  int Find(std::string_view name) const;

  /// Field expected at `place` when the text at `p` (64 bytes readable, `rest` of them text) begins
  /// with its key: then `*size` is the key's length; otherwise *size is 0.
  int Match(size_t place, const char* p, size_t rest, size_t* size) const;
  /// Remembers that field `field` (-1: unknown) stood at `place` under `name`, as plain characters.
  void Learn(size_t place, std::string_view name, int field);

  /// Starts an object. MarkSeen: false when the field came before in this object.
  void Begin() {
    ++epoch_;
    seen_count_ = 0;
  }
  bool MarkSeen(int field) {
    uint64_t& seen = seen_[static_cast<size_t>(field)];
    if (seen == epoch_) return false;
    seen = epoch_;
    ++seen_count_;
    return true;
  }
  bool all_seen() const { return seen_count_ == field_count(); }
  bool seen(int field) const { return seen_[static_cast<size_t>(field)] == epoch_; }

 private:
  std::vector<std::string> names_;
  std::vector<JsonColumn*> columns_;
  std::unordered_map<std::string_view, int>
      by_name_;  // Of names that are kept alive by stable_names_.
  std::vector<std::unique_ptr<std::string>> stable_names_;
  std::vector<Expected> expected_;
  std::vector<uint64_t> seen_;
  uint64_t epoch_ = 0;
  int seen_count_ = 0;
};

struct JsonColumn {
  JsonColumn(std::string path, const SqlType& type, const JsonOptions& options,
             text::ColumnBuilder* builder);

  std::string path;  // "order.items", for messages.
  TypeKind kind;
  text::ScalarRules rules;
  /// Of a DECIMAL: texts are not the number but its bytes (decimal_bytes.h), of this scale.
  std::optional<int> bytes_scale;
  /// Of a time: what a second has of the units that numbers count; 0: those of the column's
  /// precision, milliseconds of a TIME.
  int64_t epoch_units = 0;
  text::ColumnBuilder* builder;
  std::vector<std::unique_ptr<JsonColumn>> children;  // Element; key and value; fields.
  FieldTable fields;                                  // Of a ROW.
};

inline int FieldTable::Match(size_t place, const char* p, size_t rest, size_t* size) const {
  *size = 0;
  if (place >= expected_.size()) return -1;
  const Expected& expected = expected_[place];
  if (expected.size == 0 || expected.size > rest) return -1;
  const char* key = expected.key.data();
  size_t i = 0;
  for (; i + 8 <= expected.size; i += 8) {
    if (text::LoadWord(p + i) != text::LoadWord(key + i)) return -1;
  }
  if (i < expected.size) {
    const uint64_t mask = ~uint64_t{0} >> (8 * (8 - (expected.size - i)));
    if (((text::LoadWord(p + i) ^ text::LoadWord(key + i)) & mask) != 0) return -1;
  }
  *size = expected.size;
  return expected.field;
}

/// The same by looking the name up, which is remembered for the next object.
bool LookUpMember(JsonCursor& cursor, FieldTable& table, size_t place, int* field);

/// On a member of an object: finds its field (-1: unknown) and goes behind the colon.
inline bool ReadMember(JsonCursor& cursor, FieldTable& table, size_t place, int* field) {
  size_t key_size = 0;
  *field = table.Match(place, cursor.position(), cursor.rest(), &key_size);
  if (key_size == 0) [[unlikely]]
    return LookUpMember(cursor, table, place, field);
  cursor.Advance(key_size);
  return true;
}

}  // namespace sluice::formats::json
