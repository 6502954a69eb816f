// A JSON text as a flat tree of spans into it. Numbers keep their text, which JSON_VALUE shows as
// written.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::expr {

enum class JsonKind : uint8_t { kNull, kTrue, kFalse, kNumber, kString, kArray, kObject };

struct JsonNode {
  JsonKind kind = JsonKind::kNull;
  // The value's text, quotes and brackets included.
  uint32_t begin = 0;
  uint32_t end = 0;
  // Of a member of an object: the text of its key, with quotes.
  uint32_t key_begin = 0;
  uint32_t key_end = 0;
  int32_t first_child = -1;
  int32_t next = -1;
};

/// One parsed text; reused from row to row to keep its memory. Borrows the text.
class JsonDocument {
 public:
  /// False when `text` is not one JSON value (RFC 8259), or nests deeper than 512 levels.
  bool Parse(std::string_view text);

  const JsonNode& node(int32_t index) const { return nodes_[static_cast<size_t>(index)]; }
  const JsonNode& root() const { return nodes_[0]; }
  std::string_view text(const JsonNode& node) const {
    return text_.substr(node.begin, node.end - node.begin);
  }
  std::string_view key_text(const JsonNode& node) const {
    return text_.substr(node.key_begin, node.key_end - node.key_begin);
  }

 private:
  bool ParseValue(int depth, int32_t* index);
  bool ParseMembers(int32_t parent, int depth, bool object);
  bool ParseString();
  bool ParseNumber();
  bool ParseWord(std::string_view word);
  void SkipBlanks();

  std::string_view text_;
  size_t at_ = 0;
  std::vector<JsonNode> nodes_;
};

/// The value of a quoted JSON string (with its quotes), escapes decoded; lone surrogates become
/// U+FFFD.
void AppendJsonUnescaped(std::string_view quoted, std::string* out);
/// `text` in quotes with JSON's escapes.
void AppendJsonQuoted(std::string_view text, std::string* out);
/// The value without blanks between its tokens.
void AppendCompactJson(const JsonDocument& document, const JsonNode& node, std::string* out);

/// A path such as "lax $.a[0].*".
struct JsonPath {
  struct Step {
    enum Kind { kMember, kIndex, kAnyMember, kAnyElement } kind = kMember;
    std::string name;
    int64_t index = 0;
  };
  bool lax = false;  // Without a word a path is strict: a missing member is an error.
  std::vector<Step> steps;
};
/// False when it is not a path; `*error` says why.
bool ParseJsonPath(std::string_view text, JsonPath* path, std::string* error);

/// Nodes a path leads to. False when a strict path meets something missing.
bool FollowJsonPath(const JsonDocument& document, const JsonPath& path,
                    std::vector<int32_t>* found);

}  // namespace sluice::expr
