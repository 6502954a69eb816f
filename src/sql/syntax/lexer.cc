#include "sql/syntax/lexer.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

namespace sluice::sql {
namespace {

using namespace std::string_view_literals;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
char ToUpper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

int HexValue(char c) {
  if (IsDigit(c)) return c - '0';
  c = ToUpper(c);
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

// Letters of names as the peer's lexer has them; digits of other scripts lie inside these ranges.
bool IsLetter(char32_t c) {
  if (c < 0x80) return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
  if (c < 0x100) return c >= 0xC0 && c != 0xD7 && c != 0xF7;
  return (c >= 0x100 && c <= 0x1FFF) || (c >= 0x3040 && c <= 0x318F) ||
         (c >= 0x3300 && c <= 0x337F) || (c >= 0x3400 && c <= 0x3D2D) ||
         (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0xF900 && c <= 0xFAFF);
}

void AppendUtf8(char32_t c, std::string* out) {
  if (c < 0x80) {
    out->push_back(static_cast<char>(c));
  } else if (c < 0x800) {
    out->push_back(static_cast<char>(0xC0 | (c >> 6)));
    out->push_back(static_cast<char>(0x80 | (c & 0x3F)));
  } else if (c < 0x10000) {
    out->push_back(static_cast<char>(0xE0 | (c >> 12)));
    out->push_back(static_cast<char>(0x80 | ((c >> 6) & 0x3F)));
    out->push_back(static_cast<char>(0x80 | (c & 0x3F)));
  } else {
    out->push_back(static_cast<char>(0xF0 | (c >> 18)));
    out->push_back(static_cast<char>(0x80 | ((c >> 12) & 0x3F)));
    out->push_back(static_cast<char>(0x80 | ((c >> 6) & 0x3F)));
    out->push_back(static_cast<char>(0x80 | (c & 0x3F)));
  }
}

// Appends a UTF-16 unit; `high` holds a high surrogate that waits for its other half. False on a
// lone surrogate.
bool AppendUtf16(char32_t unit, char32_t* high, std::string* out) {
  if (*high != 0) {
    if (unit < 0xDC00 || unit > 0xDFFF) return false;
    AppendUtf8(0x10000 + ((*high - 0xD800) << 10) + (unit - 0xDC00), out);
    *high = 0;
    return true;
  }
  if (unit >= 0xDC00 && unit <= 0xDFFF) return false;
  if (unit >= 0xD800 && unit <= 0xDBFF) {
    *high = unit;
    return true;
  }
  AppendUtf8(unit, out);
  return true;
}

// Four hexadecimal digits at text[offset], or -1.
int32_t FourHex(std::string_view text, size_t offset) {
  if (offset + 4 > text.size()) return -1;
  int32_t value = 0;
  for (size_t i = 0; i < 4; ++i) {
    int digit = HexValue(text[offset + i]);
    if (digit < 0) return -1;
    value = value * 16 + digit;
  }
  return value;
}

std::string CodePointName(char32_t c) {
  char buffer[16];
  std::snprintf(buffer, sizeof buffer, "U+%04X", static_cast<unsigned>(c));
  return buffer;
}

// What to say about characters that word processors and chat programs put into copied SQL.
std::string StrayCharacterAdvice(char32_t c) {
  if (c == '"') {
    return "Double quotes are not used in this dialect: put names into back-ticks (`name`) and "
           "texts into single quotes ('text').";
  }
  if (c == 0xA0 || c == 0x3000 || (c >= 0x2000 && c <= 0x200B) || c == 0xFEFF || c == 0x202F) {
    return "The character " + CodePointName(c) +
           " looks like a blank and is none: replace it by one.";
  }
  if (c == 0x2018 || c == 0x2019 || c == 0x201C || c == 0x201D || c == 0xFF07) {
    return "Typographic quotes do not quote: texts stand in single quotes (').";
  }
  if (c == 0xFF08 || c == 0xFF09 || c == 0xFF0C || c == 0xFF1B || c == 0xFF1D || c == 0x3001) {
    return "Full-width punctuation (" + CodePointName(c) + ") must be written as its ASCII form.";
  }
  return "The character " + CodePointName(c) + " cannot stand here.";
}

// Longest first.
constexpr std::array kSymbols{"..."sv, "<>"sv, "<="sv, ">="sv, "!="sv, "||"sv, "=>"sv, "->"sv,
                              "::"sv,  ".."sv, "("sv,  ")"sv,  "["sv,  "]"sv,  "{"sv,  "}"sv,
                              ","sv,   ";"sv,  "."sv,  "+"sv,  "-"sv,  "*"sv,  "/"sv,  "%"sv,
                              "="sv,   "<"sv,  ">"sv,  ":"sv,  "?"sv,  "@"sv,  "|"sv,  "^"sv,
                              "&"sv,   "~"sv,  "#"sv,  "!"sv,  "\\"sv};

constexpr std::array kCharsets{"_UTF8"sv,     "_UTF-8"sv,  "_UTF16"sv,      "_UTF-16"sv,
                               "_UTF-16LE"sv, "_LATIN1"sv, "_ISO-8859-1"sv, "_US-ASCII"sv};

}  // namespace

uint32_t CharacterBytes(std::string_view text, size_t offset, char32_t* code_point) {
  const auto lead = static_cast<unsigned char>(text[offset]);
  if (lead < 0x80) {
    *code_point = lead;
    return 1;
  }
  const uint32_t length = lead >= 0xF0 && lead < 0xF5 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC2 ? 2 : 0;
  *code_point = 0xFFFD;
  if (length == 0 || lead >= 0xF5 || offset + length > text.size()) return 0;
  char32_t value = lead & (0x7Fu >> length);
  for (uint32_t i = 1; i < length; ++i) {
    const auto next = static_cast<unsigned char>(text[offset + i]);
    if ((next & 0xC0) != 0x80) return 0;
    value = (value << 6) | (next & 0x3F);
  }
  const bool overlong = (length == 3 && value < 0x800) || (length == 4 && value < 0x10000);
  if (overlong || value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF)) return 0;
  *code_point = value;
  return length;
}

uint32_t RawLineEnd(std::string_view text, uint32_t offset) {
  uint32_t end = offset;
  bool quoted = false;
  for (; end < text.size(); ++end) {
    const char c = text[end];
    if (c == '\n' || c == '\r' || (c == ';' && !quoted)) break;
    if (c == '\'') quoted = !quoted;
    const bool comment = !quoted && text.substr(end).starts_with("--");
    if (comment && (end == offset || text[end - 1] == ' ' || text[end - 1] == '\t')) break;
  }
  return end;
}

bool DecodeUnicodeEscapes(std::string_view raw, char32_t escape, std::string* decoded) {
  decoded->clear();
  char32_t high = 0;
  for (size_t i = 0; i < raw.size();) {
    char32_t c = 0;
    const uint32_t length = std::max(CharacterBytes(raw, i, &c), 1u);
    if (c != escape) {
      if (high != 0) return false;
      decoded->append(raw.substr(i, length));
      i += length;
      continue;
    }
    i += length;
    char32_t next = 0;
    if (i < raw.size() && CharacterBytes(raw, i, &next) > 0 && next == escape) {
      if (high != 0) return false;
      decoded->append(raw.substr(i, length));
      i += length;
      continue;
    }
    const int32_t unit = FourHex(raw, i);
    if (unit < 0 || !AppendUtf16(static_cast<char32_t>(unit), &high, decoded)) return false;
    i += 4;
  }
  return high == 0;
}

Lexer::Lexer(std::string_view text) : text_(text) {
  if (text_.starts_with("\xEF\xBB\xBF")) cursor_.offset = 3;  // A byte order mark is no text.
}

char Lexer::At(uint32_t ahead) const {
  const size_t offset = static_cast<size_t>(cursor_.offset) + ahead;
  return offset < text_.size() ? text_[offset] : '\0';
}

void Lexer::Advance() {
  cursor_.last = cursor_.position;
  const char c = text_[cursor_.offset];
  if (c == '\n' || (c == '\r' && At(1) != '\n')) {
    ++cursor_.offset;
    cursor_.position = {cursor_.position.line + 1, 1};
    return;
  }
  char32_t code_point = 0;
  cursor_.offset += std::max(CharacterBytes(text_, cursor_.offset, &code_point), 1u);
  ++cursor_.position.column;
}

bool Lexer::TakeCharacter(std::string* value) {
  char32_t c = 0;
  const uint32_t length = CharacterBytes(text_, cursor_.offset, &c);
  if (length == 0) return false;
  value->append(text_.substr(cursor_.offset, length));
  Advance();
  return true;
}

Token Lexer::NotUtf8(Token token) {
  const Cursor bad = cursor_;
  Advance();
  return Error(std::move(token), bad, "The text is not valid UTF-8 here.");
}

void Lexer::AdvanceTo(uint32_t offset) {
  while (cursor_.offset < offset && cursor_.offset < text_.size()) Advance();
}

void Lexer::Reset(const SourceRange& from, uint32_t offset) {
  cursor_ = {from.begin_byte, from.begin, from.begin};
  in_hint_ = false;
  AdvanceTo(offset);
}

SourceRange Lexer::RangeFrom(const SourceRange& from, uint32_t begin, uint32_t end) const {
  Lexer copy = *this;
  copy.Reset(from, begin);
  SourceRange range{copy.cursor_.position, copy.cursor_.position, begin, end};
  copy.AdvanceTo(end);
  if (end > begin) range.end = copy.cursor_.last;
  return range;
}

bool Lexer::SkipBlanks() {
  while (cursor_.offset < text_.size()) {
    const char c = At();
    if (c == '\n' || c == '\r') {
      line_break_ = true;
      Advance();
    } else if (c == ' ' || c == '\t' || c == '\f') {
      Advance();
    } else if ((c == '-' && At(1) == '-') || (c == '/' && At(1) == '/')) {
      while (cursor_.offset < text_.size() && At() != '\n' && At() != '\r') Advance();
    } else if (c == '/' && At(1) == '*' && At(2) != '+') {
      comment_start_ = cursor_;
      const size_t close = text_.find("*/", cursor_.offset + 2);
      if (close == std::string_view::npos) {
        AdvanceTo(static_cast<uint32_t>(text_.size()));
        return false;
      }
      line_break_ |= text_.substr(cursor_.offset, close - cursor_.offset).find_first_of("\r\n") !=
                     std::string_view::npos;
      AdvanceTo(static_cast<uint32_t>(close + 2));
    } else {
      break;
    }
  }
  return true;
}

Token Lexer::Finish(Token token, TokenKind kind, const Cursor& start) const {
  token.kind = kind;
  token.text = text_.substr(start.offset, cursor_.offset - start.offset);
  token.range = {start.position, cursor_.offset > start.offset ? cursor_.last : start.position,
                 start.offset, cursor_.offset};
  return token;
}

Token Lexer::Error(Token token, const Cursor& start, std::string reason, bool unclosed) const {
  token = Finish(std::move(token), TokenKind::kError, start);
  token.value = std::move(reason);
  token.unclosed = unclosed;
  return token;
}

Token Lexer::Next() {
  Token token;
  line_break_ = false;
  const bool closed = SkipBlanks();
  token.after_line_break = line_break_;
  if (!closed) return Error(std::move(token), comment_start_, "This comment is not closed.", true);
  const Cursor start = cursor_;
  if (cursor_.offset >= text_.size()) return Finish(std::move(token), TokenKind::kEnd, start);

  char32_t c = 0;
  const uint32_t length = CharacterBytes(text_, cursor_.offset, &c);
  if (length == 0) return NotUtf8(std::move(token));
  if (IsLetter(c)) return ReadWord(std::move(token));
  if (IsDigit(At()) || (c == '.' && IsDigit(At(1)))) return ReadNumber(std::move(token));
  if (c == '\'') return ReadString(std::move(token), start, TokenKind::kString);
  if (c == '`') return ReadQuotedName(std::move(token));
  return ReadSymbol(std::move(token));
}

uint32_t Lexer::WordEnd(uint32_t offset) const {
  while (offset < text_.size()) {
    char32_t c = 0;
    const uint32_t length = CharacterBytes(text_, offset, &c);
    if (length == 0 || !(IsLetter(c) || IsDigit(text_[offset]))) break;
    offset += length;
  }
  return offset;
}

Token Lexer::ReadWord(Token token) {
  const Cursor start = cursor_;
  const uint32_t end = WordEnd(cursor_.offset);
  std::string upper(text_.substr(start.offset, end - start.offset));
  std::ranges::transform(upper, upper.begin(), ToUpper);
  const char next = end < text_.size() ? text_[end] : '\0';
  if (next == '\'') {
    const bool prefix = upper == "N" || upper == "E" || upper == "X" ||
                        std::ranges::find(kCharsets, upper) != kCharsets.end();
    if (prefix) AdvanceTo(end);
    if (upper == "X") return ReadBinaryString(std::move(token), start);
    if (upper == "E") return ReadEscapedString(std::move(token), start);
    if (prefix) return ReadString(std::move(token), start, TokenKind::kString);
  }
  if (upper == "U" && next == '&' && end + 1 < text_.size() && text_[end + 1] == '\'') {
    AdvanceTo(end + 1);
    return ReadString(std::move(token), start, TokenKind::kUnicodeString);
  }
  if (upper[0] == '_' && next == '-') {
    for (std::string_view charset : kCharsets) {  // Those with a hyphen: _UTF-16LE'x'.
      const size_t size = charset.size();
      std::string written(text_.substr(start.offset, size));
      std::ranges::transform(written, written.begin(), ToUpper);
      if (written != charset || start.offset + size >= text_.size()) continue;
      if (text_[start.offset + size] != '\'') continue;
      AdvanceTo(start.offset + static_cast<uint32_t>(size));
      return ReadString(std::move(token), start, TokenKind::kString);
    }
  }
  AdvanceTo(end);
  token.word_class = ClassifyWord(upper);
  token.value = std::move(upper);
  return Finish(std::move(token), TokenKind::kWord, start);
}

Token Lexer::ReadNumber(Token token) {
  const Cursor start = cursor_;
  uint32_t end = start.offset;
  auto digits = [&] {
    while (end < text_.size() && IsDigit(text_[end])) ++end;
  };
  auto at = [&](uint32_t offset) { return offset < text_.size() ? text_[offset] : '\0'; };
  digits();
  TokenKind kind = TokenKind::kInteger;
  uint32_t value_end = end;
  if (at(end) == '.' && at(end + 1) != '.') {
    ++end;
    const uint32_t fraction = end;
    digits();
    // "5." is an integer: an empty fraction makes no decimal.
    if (end > fraction) {
      kind = TokenKind::kDecimal;
      value_end = end;
    }
  }
  if (ToUpper(at(end)) == 'E') {
    uint32_t exponent = end + 1;
    if (at(exponent) == '+' || at(exponent) == '-') ++exponent;
    if (IsDigit(at(exponent))) {
      kind = TokenKind::kDouble;
      end = exponent;
      digits();
      value_end = end;
    }
  }
  const uint32_t tail = WordEnd(end);
  AdvanceTo(tail);
  if (tail > end) {
    return Error(std::move(token), start,
                 "A name cannot begin with a digit: put it into back-ticks.");
  }
  token.value = text_.substr(start.offset, value_end - start.offset);
  return Finish(std::move(token), kind, start);
}

Token Lexer::ReadString(Token token, const Cursor& start, TokenKind kind) {
  Advance();
  while (cursor_.offset < text_.size()) {
    if (At() == '\'') {
      if (At(1) != '\'') {
        Advance();
        return Finish(std::move(token), kind, start);
      }
      Advance();
    }
    if (!TakeCharacter(&token.value)) return NotUtf8(std::move(token));
  }
  return Error(std::move(token), start, "This string is not closed.", true);
}

Token Lexer::ReadEscapedString(Token token, const Cursor& start) {
  constexpr std::string_view kLetters = "nrtbf\\'";
  constexpr std::string_view kValues = "\n\r\t\b\f\\'";
  Advance();
  char32_t high = 0;
  while (cursor_.offset < text_.size()) {
    const Cursor here = cursor_;
    if (At() == '\'' && At(1) != '\'') {
      Advance();
      if (high != 0) {
        return Error(std::move(token), here, "Half a surrogate pair is left in this string.");
      }
      return Finish(std::move(token), TokenKind::kString, start);
    }
    char32_t c = 0;
    uint32_t length = CharacterBytes(text_, cursor_.offset, &c);
    bool good = length > 0;
    if (c == '\\') {
      const size_t letter = kLetters.find(At(1));
      const int32_t unit = At(1) == 'u' ? FourHex(text_, cursor_.offset + 2) : -1;
      if (unit >= 0) {
        good = AppendUtf16(static_cast<char32_t>(unit), &high, &token.value);
        length = 6;
      } else {
        good = letter != std::string_view::npos && At(1) != '\0' && high == 0;
        if (good) token.value.push_back(kValues[letter]);
        length = 2;
      }
    } else if (good) {
      good = high == 0;
      token.value.append(text_.substr(cursor_.offset, length));
      if (c == '\'') length = 2;
    }
    if (!good && cursor_.offset + 1 < text_.size()) {
      Advance();
      return Error(
          std::move(token), here,
          "Not an escape of E'…' strings; these are \\n \\r \\t \\b \\f \\\\ \\' \\uXXXX.");
    }
    AdvanceTo(cursor_.offset + length);
  }
  return Error(std::move(token), start, "This string is not closed.", true);
}

Token Lexer::ReadBinaryString(Token token, const Cursor& start) {
  Token digits = ReadString(Token{}, start, TokenKind::kBinaryString);
  digits.after_line_break = token.after_line_break;
  if (digits.kind == TokenKind::kError) return digits;
  std::string bytes;
  bool good = digits.value.size() % 2 == 0;
  for (size_t i = 0; good && i < digits.value.size(); i += 2) {
    const int high = HexValue(digits.value[i]);
    const int low = HexValue(digits.value[i + 1]);
    good = high >= 0 && low >= 0;
    bytes.push_back(static_cast<char>(high * 16 + low));
  }
  if (!good) {
    return Error(std::move(token), start,
                 "A binary string holds an even number of hexadecimal digits: x'4F2A'.");
  }
  digits.value = std::move(bytes);
  return digits;
}

Token Lexer::ReadQuotedName(Token token) {
  const Cursor start = cursor_;
  Advance();
  while (cursor_.offset < text_.size() && At() != '\n' && At() != '\r') {
    if (At() == '`') {
      Advance();
      if (At() != '`') {
        if (token.value.empty()) return Error(std::move(token), start, "A name cannot be empty.");
        return Finish(std::move(token), TokenKind::kQuotedName, start);
      }
    }
    if (!TakeCharacter(&token.value)) return NotUtf8(std::move(token));
  }
  const bool at_end = cursor_.offset >= text_.size();
  return Error(std::move(token), start, "This quoted name is not closed on its line.", at_end);
}

Token Lexer::ReadSymbol(Token token) {
  const Cursor start = cursor_;
  const std::string_view rest = text_.substr(cursor_.offset);
  if (rest.starts_with("/*+")) {
    in_hint_ = true;
    AdvanceTo(cursor_.offset + 3);
    return Finish(std::move(token), TokenKind::kHintStart, start);
  }
  if (in_hint_ && rest.starts_with("*/")) {
    in_hint_ = false;
    AdvanceTo(cursor_.offset + 2);
    return Finish(std::move(token), TokenKind::kHintEnd, start);
  }
  for (std::string_view symbol : kSymbols) {
    if (!rest.starts_with(symbol)) continue;
    AdvanceTo(cursor_.offset + static_cast<uint32_t>(symbol.size()));
    return Finish(std::move(token), TokenKind::kSymbol, start);
  }
  char32_t c = 0;
  CharacterBytes(text_, cursor_.offset, &c);
  if (c == '"') {  // The whole "text" is one token of the message.
    const size_t close = rest.find_first_of("\"\r\n", 1);
    if (close != std::string_view::npos && rest[close] == '"') {
      AdvanceTo(cursor_.offset + static_cast<uint32_t>(close));
    }
  }
  Advance();
  return Error(std::move(token), start, StrayCharacterAdvice(c));
}

}  // namespace sluice::sql
