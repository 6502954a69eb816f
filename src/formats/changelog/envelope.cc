#include "formats/changelog/envelope.h"

#include <algorithm>

namespace sluice::formats::changelog {

Envelope::Envelope(const std::vector<std::string_view>& names) : members_(names.size()) {
  for (const std::string_view name : names) fields_.Add(std::string(name), nullptr);
}

bool Envelope::Read(json::JsonCursor& cursor) {
  std::fill(members_.begin(), members_.end(), std::string_view());
  if (cursor.peek() != '{' || cursor.at_end()) return cursor.Fail("Expected an object");
  if (!cursor.Enter()) return false;
  cursor.Advance(1);
  cursor.SkipBlanks();
  if (!cursor.Take('}')) {
    for (size_t place = 0;; ++place) {
      int member = -1;
      if (!json::ReadMember(cursor, fields_, place, &member)) return false;
      cursor.SkipBlanks();
      const char* begin = cursor.position();
      if (!cursor.SkipValue()) return false;
      if (member >= 0) {
        members_[static_cast<size_t>(member)] = {begin,
                                                 static_cast<size_t>(cursor.position() - begin)};
      }
      cursor.SkipBlanks();
      if (cursor.Take('}')) break;
      if (!cursor.Take(',')) return cursor.FailUnexpected();
      cursor.SkipBlanks();
    }
  }
  cursor.Leave();
  return true;
}

}  // namespace sluice::formats::changelog
