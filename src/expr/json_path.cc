// JSON paths.
#include <optional>

#include "common/text.h"
#include "expr/json_document.h"

namespace sluice::expr {

namespace {

class PathReader {
 public:
  PathReader(std::string_view text, std::string* error) : text_(text), error_(error) {}

  bool Read(JsonPath* path) {
    text_ = TrimAscii(text_);
    if (EqualsIgnoreCaseAscii(text_.substr(0, 4), "lax ")) {
      path->lax = true;
      text_ = TrimAscii(text_.substr(4));
    } else if (EqualsIgnoreCaseAscii(text_.substr(0, 7), "strict ")) {
      text_ = TrimAscii(text_.substr(7));
    }
    if (text_.empty() || text_[0] != '$') return Fail("it must begin with '$'");
    at_ = 1;
    while (at_ < text_.size()) {
      if (!ReadStep(path)) return false;
    }
    return true;
  }

 private:
  bool Fail(const std::string& why) {
    if (error_ != nullptr) {
      *error_ = "'" + Printable(text_) + "' is not a JSON path: " + why;
    }
    return false;
  }

  bool ReadStep(JsonPath* path) {
    JsonPath::Step step;
    if (text_[at_] == '.') {
      ++at_;
      if (at_ < text_.size() && text_[at_] == '*') {
        ++at_;
        step.kind = JsonPath::Step::kAnyMember;
      } else {
        const size_t begin = at_;
        while (at_ < text_.size() && text_[at_] != '.' && text_[at_] != '[') ++at_;
        if (at_ == begin) return Fail("a name is missing behind '.'");
        step.name = std::string(text_.substr(begin, at_ - begin));
      }
      path->steps.push_back(std::move(step));
      return true;
    }
    if (text_[at_] != '[') return Fail("unexpected '" + std::string(1, text_[at_]) + "'");
    ++at_;
    const size_t close = Closing();
    if (close == std::string_view::npos) return Fail("a ']' is missing");
    const std::string_view inner = TrimAscii(text_.substr(at_, close - at_));
    at_ = close + 1;
    if (inner == "*") {
      step.kind = JsonPath::Step::kAnyElement;
    } else if (inner.size() >= 2 && (inner[0] == '\'' || inner[0] == '"') &&
               inner.back() == inner[0]) {
      for (size_t i = 1; i + 1 < inner.size(); ++i) {
        if (inner[i] == '\\' && i + 2 < inner.size()) ++i;
        step.name += inner[i];
      }
    } else if (const std::optional<int64_t> index = ParseInt64(inner)) {
      step.kind = JsonPath::Step::kIndex;
      step.index = *index;
    } else {
      return Fail("[" + std::string(inner) + "] is neither a number, a quoted name nor *");
    }
    path->steps.push_back(std::move(step));
    return true;
  }

  /// Position of the ']' that ends the step, brackets in quotes aside.
  size_t Closing() const {
    char quote = 0;
    for (size_t i = at_; i < text_.size(); ++i) {
      const char c = text_[i];
      if (quote != 0) {
        if (c == '\\') ++i;
        if (c == quote) quote = 0;
      } else if (c == '\'' || c == '"') {
        quote = c;
      } else if (c == ']') {
        return i;
      }
    }
    return std::string_view::npos;
  }

  std::string_view text_;
  std::string* error_;
  size_t at_ = 0;
};

bool KeyIs(const JsonDocument& document, const JsonNode& node, std::string_view name) {
  const std::string_view quoted = document.key_text(node);
  if (quoted.find('\\') == std::string_view::npos) {
    return quoted.substr(1, quoted.size() - 2) == name;
  }
  std::string key;
  AppendJsonUnescaped(quoted, &key);
  return key == name;
}

/// Adds what a step leads to; false when it leads nowhere.
bool Follow(const JsonDocument& document, const JsonNode& node, const JsonPath::Step& step,
            std::vector<int32_t>* found) {
  using Step = JsonPath::Step;
  const bool object_step = step.kind == Step::kMember || step.kind == Step::kAnyMember;
  if (node.kind != (object_step ? JsonKind::kObject : JsonKind::kArray)) return false;
  if (step.kind == Step::kAnyMember || step.kind == Step::kAnyElement) {
    for (int32_t child = node.first_child; child >= 0; child = document.node(child).next) {
      found->push_back(child);
    }
    return true;
  }
  int32_t match = -1;
  if (step.kind == Step::kMember) {
    // Of equal keys the last one counts.
    for (int32_t child = node.first_child; child >= 0; child = document.node(child).next) {
      if (KeyIs(document, document.node(child), step.name)) match = child;
    }
  } else {
    int64_t index = step.index;
    if (index < 0) {
      for (int32_t child = node.first_child; child >= 0; child = document.node(child).next) ++index;
    }
    for (int32_t child = node.first_child; child >= 0 && index >= 0;
         child = document.node(child).next) {
      if (index-- == 0) match = child;
    }
  }
  if (match < 0) return false;
  found->push_back(match);
  return true;
}

}  // namespace

bool ParseJsonPath(std::string_view text, JsonPath* path, std::string* error) {
  *path = {};
  return PathReader(text, error).Read(path);
}

bool FollowJsonPath(const JsonDocument& document, const JsonPath& path,
                    std::vector<int32_t>* found) {
  *found = {0};
  bool definite = true;  // No wildcard yet: what is missing is an error of a strict path.
  for (const JsonPath::Step& step : path.steps) {
    std::vector<int32_t> next;
    for (const int32_t index : *found) {
      if (!Follow(document, document.node(index), step, &next) && definite && !path.lax)
        return false;
    }
    definite =
        definite && (step.kind == JsonPath::Step::kMember || step.kind == JsonPath::Step::kIndex);
    *found = std::move(next);
  }
  return true;
}

}  // namespace sluice::expr
