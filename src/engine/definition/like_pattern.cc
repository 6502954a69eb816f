#include "engine/definition/like_pattern.h"

#include <string>

#include "common/text.h"

namespace sluice::engine {
namespace {

/// Bytes of the UTF-8 character at `at`.
size_t CharacterBytes(std::string_view text, size_t at) {
  size_t end = at + 1;
  while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) ++end;
  return end - at;
}

/// Greedy with one point to come back to: the last '%'. Linear in text times pattern at worst.
bool Matches(std::string_view text, std::string_view pattern) {
  size_t t = 0;
  size_t p = 0;
  size_t retry_text = 0;
  size_t retry_pattern = std::string_view::npos;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '%') {
      retry_pattern = ++p;
      retry_text = t;
      continue;
    }
    if (p < pattern.size() && pattern[p] == '_') {
      ++p;
      t += CharacterBytes(text, t);
      continue;
    }
    const bool escaped = p + 1 < pattern.size() && pattern[p] == '\\';
    if (p < pattern.size() && pattern[p + (escaped ? 1 : 0)] == text[t]) {
      p += escaped ? 2 : 1;
      ++t;
      continue;
    }
    if (retry_pattern == std::string_view::npos) return false;
    p = retry_pattern;
    retry_text += CharacterBytes(text, retry_text);
    t = retry_text;
  }
  while (p < pattern.size() && pattern[p] == '%') ++p;
  return p == pattern.size();
}

}  // namespace

bool MatchesPattern(std::string_view text, std::string_view pattern, bool ignore_case) {
  if (!ignore_case) return Matches(text, pattern);
  return Matches(ToLowerAscii(text), ToLowerAscii(pattern));
}

}  // namespace sluice::engine
