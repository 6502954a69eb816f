// LIKE and SIMILAR TO.
#include "common/text.h"
#include "expr/functions/lists.h"
#include "expr/kernel_support.h"
#include "expr/regex.h"
#include "expr/signature.h"
#include "expr/utf8.h"

namespace sluice::expr {

namespace {

/// A LIKE pattern, cut at its '%'.
class LikePattern {
 public:
  static Result<LikePattern> Parse(std::string_view pattern, std::string_view escape) {
    LikePattern like;
    like.pieces_.emplace_back();
    for (size_t at = 0; at < pattern.size();) {
      const size_t length = utf8::LengthAt(pattern, at);
      const std::string_view code_point = pattern.substr(at, length);
      at += length;
      if (!escape.empty() && code_point == escape) {
        const bool special = at < pattern.size() && (pattern[at] == '%' || pattern[at] == '_' ||
                                                     pattern.substr(at).starts_with(escape));
        if (!special) {
          return Status::DataError("Invalid escape sequence '" + Printable(pattern) + "', " +
                                   std::to_string(at - length));
        }
        const size_t next = utf8::LengthAt(pattern, at);
        like.pieces_.back().AddText(pattern.substr(at, next));
        at += next;
      } else if (code_point == "%") {
        like.pieces_.emplace_back();
      } else if (code_point == "_") {
        like.pieces_.back().AddAny();
      } else {
        like.pieces_.back().AddText(code_point);
      }
    }
    return like;
  }

  bool Matches(std::string_view text) const {
    const Piece& first = pieces_.front();
    size_t end = 0;
    if (!first.MatchAt(text, 0, &end)) return false;
    if (pieces_.size() == 1) return end == text.size();
    // Pieces in the middle: the leftmost place each time leaves most room for those that follow.
    size_t at = end;
    for (size_t i = 1; i + 1 < pieces_.size(); ++i) {
      if (!pieces_[i].Find(text, at, &at)) return false;
    }
    return pieces_.back().MatchEnd(text, at);
  }

 private:
  /// Text and '_' between two '%'.
  struct Piece {
    struct Step {
      std::string text;  // Empty for '_'.
    };
    std::vector<Step> steps;

    void AddText(std::string_view text) {
      if (steps.empty() || steps.back().text.empty()) steps.emplace_back();
      steps.back().text += text;
    }
    void AddAny() { steps.emplace_back(); }

    bool MatchAt(std::string_view text, size_t at, size_t* end) const {
      for (const Step& step : steps) {
        if (step.text.empty()) {
          if (at >= text.size()) return false;
          at += utf8::LengthAt(text, at);
        } else {
          if (text.compare(at, step.text.size(), step.text) != 0) return false;
          at += step.text.size();
        }
      }
      *end = at;
      return true;
    }
    bool Find(std::string_view text, size_t from, size_t* end) const {
      if (steps.empty()) {
        *end = from;
        return true;
      }
      if (steps.size() == 1 && !steps[0].text.empty()) {
        const size_t found = text.find(steps[0].text, from);
        *end = found + steps[0].text.size();
        return found != std::string_view::npos;
      }
      for (size_t at = from; at <= text.size();) {
        if (MatchAt(text, at, end)) return true;
        if (at == text.size()) return false;
        at += utf8::LengthAt(text, at);
      }
      return false;
    }
    bool MatchEnd(std::string_view text, size_t from) const {
      if (steps.empty()) return true;
      // Counted in code points from the end, since '_' has no fixed size.
      int64_t count = 0;
      for (const Step& step : steps) count += step.text.empty() ? 1 : utf8::Count(step.text);
      size_t begin = text.size();
      for (; count > 0; --count) {
        if (begin <= from) return false;
        --begin;
        while (begin > from && utf8::IsContinuation(text[begin])) --begin;
      }
      size_t end = 0;
      return MatchAt(text, begin, &end) && end == text.size();
    }
  };

  std::vector<Piece> pieces_;
};

Result<std::string_view> CheckEscape(std::string_view escape) {
  if (utf8::Count(escape) == 1) return escape;
  return Status::DataError("Invalid escape character '" + Printable(escape) +
                           "': ESCAPE takes one character.");
}

Result<ArrayPtr> LikeKernel(const KernelCall& call) {
  const TextOperand input(call.arguments[0]);
  const TextOperand patterns(call.arguments[1]);
  std::optional<TextOperand> escapes;
  if (call.arguments.size() == 3) escapes.emplace(call.arguments[2]);
  const auto parse = [&](std::string_view pattern, std::string_view escape) -> Result<LikePattern> {
    if (escapes) {
      SLUICE_ASSIGN_OR_RETURN(escape, CheckEscape(escape));
    }
    return LikePattern::Parse(pattern, escape);
  };
  const bool constant = patterns.constant() && (!escapes || escapes->constant());
  if (constant && !patterns.IsNull(0) && (!escapes || !escapes->IsNull(0))) {
    SLUICE_ASSIGN_OR_RETURN(const LikePattern like,
                            parse(patterns[0], escapes ? (*escapes)[0] : std::string_view()));
    return MapValues<bool>(
        call, [&](std::string_view text) { return like.Matches(text); }, input);
  }
  if (!escapes) {
    return MapValues<bool>(
        call,
        [&](std::string_view text, std::string_view pattern) -> Result<bool> {
          SLUICE_ASSIGN_OR_RETURN(const LikePattern like, parse(pattern, {}));
          return like.Matches(text);
        },
        input, patterns);
  }
  return MapValues<bool>(
      call,
      [&](std::string_view text, std::string_view pattern,
          std::string_view escape) -> Result<bool> {
        SLUICE_ASSIGN_OR_RETURN(const LikePattern like, parse(pattern, escape));
        return like.Matches(text);
      },
      input, patterns, *escapes);
}

/// SQL's pattern as a regular expression over the whole text. '.' keeps its regex meaning, as in
/// the peer.
std::string SimilarToRegex(std::string_view pattern, std::string_view escape) {
  std::string regex = "(?s)\\A(?:";
  bool inside_class = false;
  for (size_t at = 0; at < pattern.size(); ++at) {
    const char c = pattern[at];
    if (!escape.empty() && pattern.substr(at).starts_with(escape) &&
        at + escape.size() < pattern.size()) {
      at += escape.size();
      regex += '\\';
      regex += pattern[at];
    } else if (inside_class) {
      if (c == ']') inside_class = false;
      regex += c;
    } else if (c == '%') {
      regex += ".*";
    } else if (c == '_') {
      regex += '.';
    } else if (c == '[') {
      inside_class = true;
      regex += c;
    } else if (c == '\\' || c == '^' || c == '$') {
      regex += '\\';
      regex += c;
    } else {
      regex += c;
    }
  }
  return regex + ")\\z";
}

Result<ArrayPtr> SimilarKernel(const KernelCall& call) {
  const TextOperand patterns(call.arguments[1]);
  std::optional<TextOperand> escapes;
  if (call.arguments.size() == 3) escapes.emplace(call.arguments[2]);
  std::string last_pattern;
  std::string last_regex;
  return MapValues<bool>(
      call,
      [&](std::string_view text, std::string_view pattern) -> Result<bool> {
        if (last_regex.empty() || pattern != last_pattern) {
          std::string_view escape;
          if (escapes && !escapes->IsNull(0)) {
            SLUICE_ASSIGN_OR_RETURN(escape, CheckEscape((*escapes)[0]));
          }
          last_pattern = std::string(pattern);
          last_regex = SimilarToRegex(pattern, escape);
        }
        std::string error;
        Regex* regex = Regex::Get(last_regex, &error);
        if (regex == nullptr) {
          return Status::DataError("SIMILAR TO does not understand the pattern '" +
                                   Printable(pattern) + "': " + error);
        }
        return regex->Find(text, 0);
      },
      TextOperand(call.arguments[0]), patterns);
}

}  // namespace

std::span<const ScalarFunction> PatternOperators() {
  using A = Accept;
  static const ScalarFunction kFunctions[] = {
      {.name = "LIKE",
       .group = "string",
       .signatures = {{{A::kText, A::kText}, SqlType::Boolean()},
                      {{A::kText, A::kText, A::kText}, SqlType::Boolean()}},
       .kernel = &LikeKernel,
       .supported_forms = "'LIKE(<STRING>, <STRING>, <STRING>)'",
       .is_operator = true},
      {.name = "SIMILAR TO",
       .group = "string",
       .signatures = {{{A::kText, A::kText}, SqlType::Boolean()},
                      {{A::kText, A::kText, A::kText}, SqlType::Boolean()}},
       .kernel = &SimilarKernel,
       .supported_forms = "'SIMILAR TO(<STRING>, <STRING>, <STRING>)'",
       .is_operator = true},
  };
  return kFunctions;
}

}  // namespace sluice::expr
