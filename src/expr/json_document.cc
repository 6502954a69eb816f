#include "expr/json_document.h"

#include "expr/utf8.h"

namespace sluice::expr {

namespace {

constexpr int kMaxDepth = 512;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

int HexDigit(char c) {
  if (IsDigit(c)) return c - '0';
  const char lower = static_cast<char>(c | 32);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

}  // namespace

void JsonDocument::SkipBlanks() {
  while (at_ < text_.size() &&
         (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r')) {
    ++at_;
  }
}

bool JsonDocument::Parse(std::string_view text) {
  text_ = text;
  at_ = 0;
  nodes_.clear();
  if (text.size() >= UINT32_MAX) return false;
  SkipBlanks();
  int32_t root = 0;
  if (!ParseValue(0, &root)) return false;
  SkipBlanks();
  return at_ == text_.size();
}

bool JsonDocument::ParseValue(int depth, int32_t* index) {
  if (at_ >= text_.size() || depth > kMaxDepth) return false;
  *index = static_cast<int32_t>(nodes_.size());
  nodes_.emplace_back();
  const auto begin = static_cast<uint32_t>(at_);
  JsonKind kind = JsonKind::kNull;
  bool good = false;
  switch (text_[at_]) {
    case '{':
      kind = JsonKind::kObject;
      good = ParseMembers(*index, depth, true);
      break;
    case '[':
      kind = JsonKind::kArray;
      good = ParseMembers(*index, depth, false);
      break;
    case '"':
      kind = JsonKind::kString;
      good = ParseString();
      break;
    case 't':
      kind = JsonKind::kTrue;
      good = ParseWord("true");
      break;
    case 'f':
      kind = JsonKind::kFalse;
      good = ParseWord("false");
      break;
    case 'n':
      good = ParseWord("null");
      break;
    default:
      kind = JsonKind::kNumber;
      good = ParseNumber();
  }
  JsonNode& node = nodes_[static_cast<size_t>(*index)];
  node.kind = kind;
  node.begin = begin;
  node.end = static_cast<uint32_t>(at_);
  return good;
}

bool JsonDocument::ParseMembers(int32_t parent, int depth, bool object) {
  const char close = object ? '}' : ']';
  ++at_;
  SkipBlanks();
  if (at_ < text_.size() && text_[at_] == close) {
    ++at_;
    return true;
  }
  int32_t last = -1;
  while (true) {
    uint32_t key_begin = 0;
    uint32_t key_end = 0;
    SkipBlanks();
    if (object) {
      key_begin = static_cast<uint32_t>(at_);
      if (at_ >= text_.size() || text_[at_] != '"' || !ParseString()) return false;
      key_end = static_cast<uint32_t>(at_);
      SkipBlanks();
      if (at_ >= text_.size() || text_[at_++] != ':') return false;
      SkipBlanks();
    }
    int32_t child = 0;
    if (!ParseValue(depth + 1, &child)) return false;
    nodes_[static_cast<size_t>(child)].key_begin = key_begin;
    nodes_[static_cast<size_t>(child)].key_end = key_end;
    if (last < 0) {
      nodes_[static_cast<size_t>(parent)].first_child = child;
    } else {
      nodes_[static_cast<size_t>(last)].next = child;
    }
    last = child;
    SkipBlanks();
    if (at_ >= text_.size()) return false;
    const char c = text_[at_++];
    if (c == close) return true;
    if (c != ',') return false;
  }
}

bool JsonDocument::ParseString() {
  ++at_;
  while (at_ < text_.size()) {
    const auto c = static_cast<unsigned char>(text_[at_++]);
    if (c == '"') return true;
    if (c < 0x20) return false;
    if (c != '\\') continue;
    if (at_ >= text_.size()) return false;
    const char escape = text_[at_++];
    if (escape == 'u') {
      for (int i = 0; i < 4; ++i) {
        if (at_ >= text_.size() || HexDigit(text_[at_++]) < 0) return false;
      }
    } else if (std::string_view("\"\\/bfnrt").find(escape) == std::string_view::npos) {
      return false;
    }
  }
  return false;
}

bool JsonDocument::ParseNumber() {
  const auto digits = [this] {
    const size_t begin = at_;
    while (at_ < text_.size() && IsDigit(text_[at_])) ++at_;
    return at_ > begin;
  };
  if (text_[at_] == '-') ++at_;
  if (at_ < text_.size() && text_[at_] == '0') {
    ++at_;
  } else if (!digits()) {
    return false;
  }
  if (at_ < text_.size() && text_[at_] == '.') {
    ++at_;
    if (!digits()) return false;
  }
  if (at_ < text_.size() && (text_[at_] == 'e' || text_[at_] == 'E')) {
    ++at_;
    if (at_ < text_.size() && (text_[at_] == '+' || text_[at_] == '-')) ++at_;
    if (!digits()) return false;
  }
  return true;
}

bool JsonDocument::ParseWord(std::string_view word) {
  if (text_.compare(at_, word.size(), word) != 0) return false;
  at_ += word.size();
  return true;
}

void AppendJsonUnescaped(std::string_view quoted, std::string* out) {
  const std::string_view text = quoted.substr(1, quoted.size() - 2);
  const auto unit = [&text](size_t at) {
    uint32_t value = 0;
    for (size_t i = 0; i < 4; ++i)
      value = value << 4 | static_cast<uint32_t>(HexDigit(text[at + i]));
    return value;
  };
  for (size_t at = 0; at < text.size();) {
    if (text[at] != '\\') {
      out->push_back(text[at++]);
      continue;
    }
    const char escape = text[at + 1];
    at += 2;
    switch (escape) {
      case 'b':
        out->push_back('\b');
        break;
      case 'f':
        out->push_back('\f');
        break;
      case 'n':
        out->push_back('\n');
        break;
      case 'r':
        out->push_back('\r');
        break;
      case 't':
        out->push_back('\t');
        break;
      case 'u': {
        char32_t code = unit(at);
        at += 4;
        const bool high = code >= 0xD800 && code < 0xDC00;
        if (high && text.substr(at).starts_with("\\u")) {
          const uint32_t low = unit(at + 2);
          if (low >= 0xDC00 && low < 0xE000) {
            code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
            at += 6;
          }
        }
        utf8::Append(code >= 0xD800 && code < 0xE000 ? 0xFFFD : code, out);
        break;
      }
      default:
        out->push_back(escape);
    }
  }
}

void AppendJsonQuoted(std::string_view text, std::string* out) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  out->push_back('"');
  for (const char c : text) {
    switch (c) {
      case '"':
        out->append("\\\"");
        break;
      case '\\':
        out->append("\\\\");
        break;
      case '\b':
        out->append("\\b");
        break;
      case '\f':
        out->append("\\f");
        break;
      case '\n':
        out->append("\\n");
        break;
      case '\r':
        out->append("\\r");
        break;
      case '\t':
        out->append("\\t");
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          out->append("\\u00");
          out->push_back(kDigits[static_cast<unsigned char>(c) >> 4]);
          out->push_back(kDigits[static_cast<unsigned char>(c) & 15]);
        } else {
          out->push_back(c);
        }
    }
  }
  out->push_back('"');
}

namespace {

void AppendString(std::string_view quoted, std::string* out) {
  if (quoted.find('\\') == std::string_view::npos) {
    out->append(quoted);
    return;
  }
  std::string value;
  AppendJsonUnescaped(quoted, &value);
  AppendJsonQuoted(value, out);
}

}  // namespace

void AppendCompactJson(const JsonDocument& document, const JsonNode& node, std::string* out) {
  switch (node.kind) {
    case JsonKind::kObject:
    case JsonKind::kArray: {
      const bool object = node.kind == JsonKind::kObject;
      out->push_back(object ? '{' : '[');
      for (int32_t child = node.first_child; child >= 0; child = document.node(child).next) {
        if (child != node.first_child) out->push_back(',');
        if (object) {
          AppendString(document.key_text(document.node(child)), out);
          out->push_back(':');
        }
        AppendCompactJson(document, document.node(child), out);
      }
      out->push_back(object ? '}' : ']');
      return;
    }
    case JsonKind::kString:
      AppendString(document.text(node), out);
      return;
    default:
      out->append(document.text(node));
  }
}

}  // namespace sluice::expr
