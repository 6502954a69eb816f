#include "sql/syntax/token_stream.h"

#include <algorithm>

#include "common/nearest_name.h"

namespace sluice::sql {
namespace {

std::string PositionText(const SourcePosition& position) {
  return " at line " + std::to_string(position.line) + ", column " +
         std::to_string(position.column);
}

std::string Encountered(const Token& token) {
  return "SQL parse failed. Encountered \"" + TokenImage(token) + "\"" +
         PositionText(token.range.begin) + ".";
}

bool IsKeyword(std::string_view wanted) {
  return (wanted[0] >= 'A' && wanted[0] <= 'Z') || wanted[0] == '_';
}

bool Is(const Token& token, std::string_view wanted) {
  if (token.kind == TokenKind::kHintStart) return wanted == "/*+";
  if (token.kind == TokenKind::kHintEnd) return wanted == "*/";
  return IsKeyword(wanted) ? token.IsWord(wanted) : token.IsSymbol(wanted);
}

// One alternative a line as the peer has it; many share lines, or the error would fill the screen.
std::string AlternativesText(const std::vector<std::string>& words) {
  constexpr size_t kMostLines = 8;
  constexpr size_t kMostColumns = 96;
  if (words.empty()) return {};
  std::string text = "\nWas expecting one of:";
  size_t line = kMostColumns;
  for (const std::string& word : words) {
    const std::string entry = word + " ...";
    if (words.size() <= kMostLines || line + entry.size() + 2 > kMostColumns) {
      text += "\n    " + entry;
      line = 4 + entry.size();
    } else {
      text += "  " + entry;
      line += 2 + entry.size();
    }
  }
  return text;
}

// A string, comment or quoted name that the end of the text cuts off. The end is what the parser
// met; the mark is at its start.
Status UnclosedText(const Token& token, const SourcePosition& end) {
  return Status::ParseError("SQL parse failed. Encountered \"<EOF>\"" + PositionText(end) + ".\n" +
                                token.value + " It starts" + PositionText(token.range.begin) + ".",
                            token.range.begin);
}

}  // namespace

std::string TokenImage(const Token& token) {
  if (token.kind == TokenKind::kEnd) return "<EOF>";
  constexpr size_t kMostBytes = 60;
  std::string image(token.text);
  if (image.size() > kMostBytes) {
    size_t cut = kMostBytes;
    while (cut > 0 && (static_cast<unsigned char>(image[cut]) & 0xC0) == 0x80) --cut;
    image.resize(cut);
    image += "...";
  }
  std::ranges::replace(image, '\n', ' ');
  std::ranges::replace(image, '\r', ' ');
  return image;
}

const Token& TokenStream::Peek(size_t ahead) {
  while (tokens_.size() <= index_ + ahead) {
    if (!tokens_.empty() && tokens_.back().kind == TokenKind::kEnd) return tokens_.back();
    tokens_.push_back(lexer_.Next());
  }
  return tokens_[index_ + ahead];
}

const Token& TokenStream::Take() {
  const Token& token = Peek();
  if (token.kind != TokenKind::kEnd) ++index_;
  return token;
}

bool TokenStream::At(std::string_view wanted) {
  if (Is(Peek(), wanted)) return true;
  Note("\"" + std::string(wanted) + "\"");
  return false;
}

bool TokenStream::Accept(std::string_view wanted) {
  if (!At(wanted)) return false;
  Take();
  return true;
}

bool TokenStream::AcceptAll(std::initializer_list<std::string_view> wanted) {
  size_t ahead = 0;
  for (std::string_view word : wanted) {
    if (Is(Peek(ahead), word)) {
      ++ahead;
      continue;
    }
    if (ahead == 0) Note("\"" + std::string(word) + "\"");
    return false;
  }
  index_ += ahead;
  return true;
}

Status TokenStream::Expect(std::string_view wanted) {
  return Accept(wanted) ? Status::OK() : Fail();
}

Status TokenStream::ExpectAll(std::initializer_list<std::string_view> wanted) {
  for (std::string_view word : wanted) SLUICE_RETURN_NOT_OK(Expect(word));
  return {};
}

bool TokenStream::PeekIs(size_t ahead, std::string_view wanted) { return Is(Peek(ahead), wanted); }

void TokenStream::Note(std::string_view what) {
  if (index_ < expected_index_) return;
  if (index_ > expected_index_) expected_.clear();
  expected_index_ = index_;
  expected_.emplace_back(what);
}

std::string TokenStream::ExpectedText(const Token& token) const {
  std::vector<std::string> words = expected_;
  std::ranges::sort(words);
  const auto repeated = std::ranges::unique(words);
  words.erase(repeated.begin(), repeated.end());
  std::vector<std::string> keywords;
  bool name_expected = false;
  for (const std::string& word : words) {
    name_expected |= word == "<IDENTIFIER>" || word == "<expression>";
    if (word.starts_with('"')) keywords.push_back(word.substr(1, word.size() - 2));
  }
  std::string text = AlternativesText(words);
  if (token.text == "...") {
    text += "\n\"...\" is a placeholder: write the real columns, options or values in its place.";
  } else if (token.kind == TokenKind::kWord && token.word_class == WordClass::kReserved) {
    if (name_expected) {
      text += "\n\"" + std::string(token.text) +
              "\" is a reserved word: as a name it is written `" + std::string(token.text) + "`.";
    }
  } else if (token.kind == TokenKind::kWord && !name_expected) {
    const std::string advice = DidYouMean(token.value, keywords);
    if (!advice.empty()) text += "\n" + advice.substr(1);
  } else if (token.kind == TokenKind::kSymbol && token.text == "!=") {
    text += "\nBang equal '!=' is not allowed under the current SQL conformance level: write <>.";
  } else if (token.kind == TokenKind::kSymbol && token.text == "::") {
    text += "\nA cast is written CAST(value AS type).";
  }
  return text;
}

Status TokenStream::Fail() {
  const size_t at = std::max(index_, expected_.empty() ? 0 : expected_index_);
  const Token& token = Peek(at - index_);
  if (token.unclosed) {
    Lexer end = lexer_;
    const auto size = static_cast<uint32_t>(lexer_.text().size());
    return UnclosedText(token, end.RangeFrom(token.range, size, size).begin);
  }
  if (token.kind == TokenKind::kError) return FailAt(token, token.value);
  std::string message = Encountered(token);
  if (at == expected_index_) message += ExpectedText(token);
  return Status::ParseError(std::move(message), token.range.begin);
}

Status TokenStream::FailHere(std::string_view advice) {
  const Token& token = Peek();
  if (token.kind == TokenKind::kError) return Fail();
  return FailAt(token, advice);
}

Status TokenStream::FailAt(const Token& token, std::string_view advice) const {
  return Status::ParseError(Encountered(token) + "\n" + std::string(advice), token.range.begin);
}

Status TokenStream::Unsupported(std::string_view feature, const SourceRange& at) const {
  return Status::Unsupported(std::string(feature) + " is not supported yet (tier L), found" +
                             PositionText(at.begin) +
                             ". It is valid Flink SQL and planned for a later release.")
      .At(at.begin);
}

SourceRange TokenStream::Span(size_t first) {
  if (first >= index_) return Peek().range;
  return Cover(tokens_[first].range, tokens_[index_ - 1].range);
}

size_t TokenStream::FindMatch(size_t open) {
  const auto known = matches_.find(open);
  if (known != matches_.end()) return known->second;
  std::vector<size_t> stack;
  for (size_t i = open;; ++i) {
    const Token& token = Peek(i - index_);
    const bool at_end = token.kind == TokenKind::kEnd || token.IsSymbol(";");
    if (token.IsSymbol("(")) {
      stack.push_back(i);
    } else if (token.IsSymbol(")") && !stack.empty()) {
      matches_[stack.back()] = i;
      stack.pop_back();
    }
    if (at_end) {
      for (size_t unclosed : stack) matches_[unclosed] = 0;
    }
    if (at_end || stack.empty()) break;
  }
  return matches_[open];
}

void TokenStream::Forget() {
  tokens_.erase(tokens_.begin(), tokens_.begin() + static_cast<std::ptrdiff_t>(index_));
  index_ = 0;
  expected_index_ = 0;
  expected_.clear();
  matches_.clear();
}

void TokenStream::SkipStatement(bool in_set) {
  while (Peek().kind != TokenKind::kEnd) {
    if (Take().IsSymbol(";") && !(in_set && !Peek().IsWord("END"))) {
      if (!in_set) return;
      in_set = false;  // Now at END: its own ';' is the last.
    }
  }
}

void TokenStream::ReadOnAt(uint32_t offset) {
  const SourceRange from = Peek().range;
  tokens_.erase(tokens_.begin() + static_cast<std::ptrdiff_t>(index_), tokens_.end());
  matches_.clear();
  lexer_.Reset(from, offset);
}

}  // namespace sluice::sql
