// Literals: strings in all their spellings, numbers, DATE '…', INTERVAL '…' DAY.
#include <algorithm>
#include <array>
#include <charconv>

#include "sql/syntax/literal.h"
#include "sql/syntax/parser_impl.h"

namespace sluice::sql {
namespace {

struct UnitWord {
  std::string_view word;
  TimeUnit unit;
  bool of_interval = true;
};
constexpr std::array kUnitWords{
    UnitWord{"YEAR", TimeUnit::kYear},
    UnitWord{"YEARS", TimeUnit::kYear},
    UnitWord{"QUARTER", TimeUnit::kQuarter},
    UnitWord{"QUARTERS", TimeUnit::kQuarter},
    UnitWord{"MONTH", TimeUnit::kMonth},
    UnitWord{"MONTHS", TimeUnit::kMonth},
    UnitWord{"WEEK", TimeUnit::kWeek},
    UnitWord{"WEEKS", TimeUnit::kWeek},
    UnitWord{"DAY", TimeUnit::kDay},
    UnitWord{"DAYS", TimeUnit::kDay},
    UnitWord{"HOUR", TimeUnit::kHour},
    UnitWord{"HOURS", TimeUnit::kHour},
    UnitWord{"MINUTE", TimeUnit::kMinute},
    UnitWord{"MINUTES", TimeUnit::kMinute},
    UnitWord{"SECOND", TimeUnit::kSecond},
    UnitWord{"SECONDS", TimeUnit::kSecond},
    UnitWord{"MILLENNIUM", TimeUnit::kMillennium, false},
    UnitWord{"CENTURY", TimeUnit::kCentury, false},
    UnitWord{"DECADE", TimeUnit::kDecade, false},
    UnitWord{"ISOYEAR", TimeUnit::kIsoYear, false},
    UnitWord{"DOY", TimeUnit::kDoy, false},
    UnitWord{"DOW", TimeUnit::kDow, false},
    UnitWord{"ISODOW", TimeUnit::kIsoDow, false},
    UnitWord{"MILLISECOND", TimeUnit::kMillisecond, false},
    UnitWord{"MICROSECOND", TimeUnit::kMicrosecond, false},
    UnitWord{"NANOSECOND", TimeUnit::kNanosecond, false},
    UnitWord{"EPOCH", TimeUnit::kEpoch, false},
    UnitWord{"FRAC_SECOND", TimeUnit::kMicrosecond, false},
};

const UnitWord* FindUnit(const Token& token) {
  if (token.kind != TokenKind::kWord) return nullptr;
  std::string_view word = token.value;
  if (word.starts_with("SQL_TSI_")) word.remove_prefix(8);  // ODBC's names for TIMESTAMPADD.
  const auto* found = std::ranges::find(kUnitWords, word, &UnitWord::word);
  return found == kUnitWords.end() ? nullptr : found;
}

LiteralKind NumberKind(TokenKind kind) {
  return kind == TokenKind::kInteger   ? LiteralKind::kInteger
         : kind == TokenKind::kDecimal ? LiteralKind::kDecimal
                                       : LiteralKind::kDouble;
}

}  // namespace

std::optional<TimeUnit> Parser::PeekTimeUnit(size_t ahead) {
  const UnitWord* word = FindUnit(tokens_.Peek(ahead));
  return word == nullptr ? std::nullopt : std::optional(word->unit);
}

Result<TimeUnit> Parser::ParseTimeUnit() {
  const std::optional<TimeUnit> unit = PeekTimeUnit();
  tokens_.Note("<time unit>");
  if (!unit) return tokens_.Fail();
  tokens_.Take();
  return *unit;
}

bool Parser::AtIntervalUnit() {
  const UnitWord* word = FindUnit(tokens_.Peek());
  return word != nullptr && word->of_interval;
}

// One string token, U&'…' with its UESCAPE, or several on lines of their own that make up one text.
Result<std::string> Parser::ParseStringParts() {
  std::string text;
  bool unicode = false;
  const Token& start = tokens_.Peek();
  for (bool first = true;; first = false) {
    const Token& token = tokens_.Peek();
    const bool is_unicode = token.kind == TokenKind::kUnicodeString;
    if (token.kind != TokenKind::kString && !is_unicode) break;
    if (!first && !token.after_line_break) {
      return tokens_.FailHere("String literal continued on same line");
    }
    unicode |= is_unicode;
    text += tokens_.Take().value;
  }
  if (!unicode) return text;
  char32_t escape = '\\';
  if (tokens_.Accept("UESCAPE")) {
    const Token& token = tokens_.Peek();
    const bool one_character = token.kind == TokenKind::kString && !token.value.empty() &&
                               CharacterBytes(token.value, 0, &escape) == token.value.size();
    if (!one_character) return tokens_.FailHere("UESCAPE must be a single character");
    tokens_.Take();
  }
  std::string decoded;
  if (!DecodeUnicodeEscapes(text, escape, &decoded)) {
    return tokens_.FailAt(
        start, "Unicode escape is malformed: four hexadecimal digits follow the escape character.");
  }
  return decoded;
}

Result<ExprPtr> Parser::ParseLiteralToken() {
  const size_t first = tokens_.index();
  auto literal = New<LiteralExpr>();
  const TokenKind kind = tokens_.Peek().kind;
  if (kind == TokenKind::kString || kind == TokenKind::kUnicodeString) {
    literal->literal_kind = LiteralKind::kString;
    SLUICE_ASSIGN_OR_RETURN(literal->text, ParseStringParts());
  } else if (kind == TokenKind::kBinaryString) {
    literal->literal_kind = LiteralKind::kBinary;
    literal->text = tokens_.Take().value;
    while (tokens_.Peek().kind == TokenKind::kString && tokens_.Peek().after_line_break) {
      return tokens_.FailHere("A binary string is written in one piece: x'4F2A'.");
    }
  } else {
    literal->literal_kind = NumberKind(kind);
    literal->text = tokens_.Take().value;
  }
  return Done(std::move(literal), first);
}

bool Parser::AtTimeLiteral() {
  const Token& word = tokens_.Peek();
  if (word.kind != TokenKind::kWord) return false;
  const bool zoned = word.value == "TIME" || word.value == "TIMESTAMP";
  if (zoned && (tokens_.PeekIs(1, "WITH") || tokens_.PeekIs(1, "WITHOUT"))) return true;
  const bool known = zoned || word.value == "DATE" || word.value == "DECIMAL" ||
                     word.value == "NUMERIC" || word.value == "DEC";
  return known && tokens_.Peek(1).kind == TokenKind::kString;
}

// DATE '…', TIME '…', TIMESTAMP [WITH LOCAL TIME ZONE] '…', DECIMAL '…'.
Result<ExprPtr> Parser::ParseTimeLiteral() {
  const size_t first = tokens_.index();
  const std::string word = tokens_.Take().value;
  bool local = false;
  if (tokens_.Accept("WITHOUT")) {
    SLUICE_RETURN_NOT_OK(tokens_.ExpectAll({"TIME", "ZONE"}));
  } else if (tokens_.Accept("WITH")) {
    local = tokens_.Accept("LOCAL");
    SLUICE_RETURN_NOT_OK(tokens_.ExpectAll({"TIME", "ZONE"}));
    if (!local || word == "TIME") {
      return tokens_.Unsupported(word + " WITH " + (local ? "LOCAL " : "") + "TIME ZONE literal",
                                 tokens_.Span(first));
    }
  }
  const Token& text_token = tokens_.Peek();
  SLUICE_ASSIGN_OR_RETURN(std::string written, ParseString());
  auto literal = New<LiteralExpr>();
  bool good = false;
  std::string_view format;
  if (word == "DATE") {
    literal->literal_kind = LiteralKind::kDate;
    good = NormalizeDate(written, &literal->text);
    format = "yyyy-MM-dd";
  } else if (word == "TIME") {
    literal->literal_kind = LiteralKind::kTime;
    good = NormalizeTime(written, &literal->text);
    format = "HH:mm:ss";
  } else if (word == "TIMESTAMP") {
    literal->literal_kind = local ? LiteralKind::kTimestampLtz : LiteralKind::kTimestamp;
    good = NormalizeTimestamp(written, &literal->text);
    format = "yyyy-MM-dd HH:mm:ss";
  } else {
    literal->literal_kind = LiteralKind::kDecimal;
    Lexer number(written);
    const bool negative = written.starts_with('-');
    if (negative) number.Next();
    const Token token = number.Next();
    good = (token.kind == TokenKind::kInteger || token.kind == TokenKind::kDecimal) &&
           number.Next().kind == TokenKind::kEnd;
    literal->text = (negative ? "-" : "") + token.value;
    format = "123.45";
  }
  if (!good) {
    const std::string kind = word == "NUMERIC" || word == "DEC" ? "DECIMAL" : word;
    return Status::ParseError("SQL parse failed. Illegal " + kind + " literal '" + written +
                                  "': not in format '" + std::string(format) + "'",
                              text_token.range.begin);
  }
  return Done(std::move(literal), first);
}

Result<ExprPtr> Parser::ParseInterval() {
  const size_t first = tokens_.index();
  SLUICE_RETURN_NOT_OK(tokens_.Expect("INTERVAL"));
  const bool minus = tokens_.Accept("-");
  if (!minus) tokens_.Accept("+");
  const TokenKind kind = tokens_.Peek().kind;
  if (kind == TokenKind::kString || kind == TokenKind::kInteger || kind == TokenKind::kDecimal) {
    auto literal = New<LiteralExpr>();
    literal->literal_kind = LiteralKind::kInterval;
    literal->negative = minus;
    literal->bare_number = kind != TokenKind::kString;
    if (literal->bare_number) {
      literal->text = tokens_.Take().value;
    } else {
      SLUICE_ASSIGN_OR_RETURN(literal->text, ParseString());
    }
    SLUICE_ASSIGN_OR_RETURN(literal->interval, ParseIntervalQualifier());
    return Done(std::move(literal), first);
  }
  auto interval = New<IntervalExpr>();
  tokens_.Note("<QUOTED_STRING>");
  if (tokens_.PeekIs(0, "(")) {
    SLUICE_ASSIGN_OR_RETURN(interval->value, ParseParenthesized());
  } else {
    const size_t name = tokens_.index();
    SLUICE_ASSIGN_OR_RETURN(NamePath path, ParsePath());
    auto column = New<ColumnRefExpr>();
    column->path = std::move(path);
    interval->value = Done(std::move(column), name);
  }
  if (minus) {
    auto negated = New<UnaryExpr>();
    negated->op = UnaryOp::kMinus;
    negated->operand = std::move(interval->value);
    interval->value = Done(std::move(negated), first);
  }
  SLUICE_ASSIGN_OR_RETURN(interval->qualifier, ParseIntervalQualifier());
  return Done(std::move(interval), first);
}

Result<IntervalQualifier> Parser::ParseIntervalQualifier() {
  const size_t first = tokens_.index();
  IntervalQualifier qualifier;
  const Token& word = tokens_.Peek();
  if (PeekTimeUnit() && !AtIntervalUnit()) {
    return tokens_.FailHere("Intervals have no unit " + word.value +
                            "; a millisecond is INTERVAL '0.001' SECOND.");
  }
  SLUICE_ASSIGN_OR_RETURN(qualifier.start, ParseTimeUnit());
  if (tokens_.Accept("(")) {
    SLUICE_ASSIGN_OR_RETURN(int64_t precision, ParseInteger("<precision>"));
    qualifier.leading_precision = static_cast<int>(std::min<int64_t>(precision, 99));
    if (qualifier.start == TimeUnit::kSecond && tokens_.Accept(",")) {
      SLUICE_ASSIGN_OR_RETURN(int64_t fraction, ParseInteger("<precision>"));
      qualifier.fraction_precision = static_cast<int>(std::min<int64_t>(fraction, 99));
    }
    SLUICE_RETURN_NOT_OK(tokens_.Expect(")"));
  }
  if (qualifier.start != TimeUnit::kSecond && tokens_.PeekIs(0, "TO") &&
      FindUnit(tokens_.Peek(1)) != nullptr) {
    tokens_.Take();
    const Token& end = tokens_.Peek();
    SLUICE_ASSIGN_OR_RETURN(qualifier.end, ParseTimeUnit());
    const bool months = qualifier.start == TimeUnit::kYear && *qualifier.end == TimeUnit::kMonth;
    const bool days = qualifier.start >= TimeUnit::kDay && *qualifier.end > qualifier.start &&
                      *qualifier.end <= TimeUnit::kSecond && *qualifier.end >= TimeUnit::kHour;
    if (!months && !days) {
      return tokens_.FailAt(end,
                            "An interval goes from YEAR TO MONTH, or from DAY down to SECOND.");
    }
    if (*qualifier.end == TimeUnit::kSecond && tokens_.Accept("(")) {
      SLUICE_ASSIGN_OR_RETURN(int64_t fraction, ParseInteger("<precision>"));
      qualifier.fraction_precision = static_cast<int>(std::min<int64_t>(fraction, 99));
      SLUICE_RETURN_NOT_OK(tokens_.Expect(")"));
    }
  }
  qualifier.range = tokens_.Span(first);
  return qualifier;
}

}  // namespace sluice::sql
