// Finds the members of an object without reading their values.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "formats/json/json_columns.h"
#include "formats/json/json_cursor.h"

namespace sluice::formats::changelog {

class Envelope {
 public:
  /// Members are numbered in the order of `names`.
  explicit Envelope(const std::vector<std::string_view>& names);

  /// Reads the object at the cursor and goes behind it; members of other names are skipped. Of
  /// repeated names the last counts. False: not an object, or no JSON; the cursor tells.
  bool Read(json::JsonCursor& cursor);

  /// True when the last object had the member; it may be null.
  bool has(int member) const { return text(member).data() != nullptr; }
  /// True when it is there and not null.
  bool has_value(int member) const { return has(member) && text(member) != "null"; }
  /// The member's JSON text, which stands in the record.
  std::string_view text(int member) const { return members_[static_cast<size_t>(member)]; }
  const char* position(int member) const { return text(member).data(); }

 private:
  json::FieldTable fields_;
  std::vector<std::string_view> members_;
};

}  // namespace sluice::formats::changelog
