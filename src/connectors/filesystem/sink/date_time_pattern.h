// Reads a date, or a date and time, by a pattern of Java's DateTimeFormatter: the letters
// u y M L d D H k h K m s S A n N a, quoted text and [optional] parts. Strict: the text must match
// whole and exist in the calendar.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"

namespace sluice::connectors::filesystem {

class DateTimePattern {
 public:
  /// Fails with kInvalidArgument on an unknown letter, an open quote or bracket, and on a pattern
  /// from which no date can be had (no year, or no day).
  static Result<DateTimePattern> Make(std::string_view pattern);

  /// Milliseconds since 1970-01-01 00:00:00 of the same wall clock; a date alone is midnight.
  std::optional<int64_t> ParseLocalMillis(std::string_view text) const;

  /// False for a character that is in no text of this form.
  bool MayHold(char c) const;

 private:
  struct Item {
    char letter = 0;  // 0: literal text; '[' and ']': an optional part.
    int width = 0;
    std::string text;
    size_t partner = 0;     // '[': index of its ']'.
    bool adjacent = false;  // A numeric item follows at once: this one takes exactly its width.
  };
  struct Fields;

  bool Match(size_t item, size_t end, std::string_view text, size_t* at, Fields* fields) const;
  bool MatchItem(const Item& item, std::string_view text, size_t* at, Fields* fields) const;

  std::vector<Item> items_;
};

}  // namespace sluice::connectors::filesystem
