// Names in back-ticks, as SQL text shows them.
#pragma once

#include <string>
#include <string_view>

namespace sluice {

/// `name` in back-ticks; one inside is doubled.
inline std::string QuotedName(std::string_view name) {
  std::string text = "`";
  for (const char c : name) {
    if (c == '`') text += '`';
    text += c;
  }
  return text + "`";
}

}  // namespace sluice
