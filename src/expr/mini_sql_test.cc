// The reader of mini_sql.h. A Pratt parser over a list of tokens.
#include "expr/mini_sql.h"

#include <cctype>
#include <vector>

#include <arrow/api.h>

#include "common/text.h"
#include "types/value_text.h"

namespace sluice::expr::testing {

namespace {

struct Token {
  enum Kind { kEnd, kWord, kQuoted, kNumber, kString, kBinary, kSign } kind = kEnd;
  std::string text;   // Words as written; strings decoded.
  std::string upper;  // Words and signs.
};

Status Unexpected(const Token& token, std::string_view wanted) {
  return Status::ParseError("unexpected '" + token.text + "', wanted " + std::string(wanted),
                            {1, 1});
}

Result<std::vector<Token>> Scan(std::string_view sql) {
  std::vector<Token> tokens;
  for (size_t at = 0; at < sql.size();) {
    const char c = sql[at];
    if (std::isspace(static_cast<unsigned char>(c)) != 0) {
      ++at;
      continue;
    }
    Token token;
    const bool binary = (c == 'x' || c == 'X') && at + 1 < sql.size() && sql[at + 1] == '\'';
    if (c == '\'' || binary) {
      at += binary ? 2 : 1;
      while (at < sql.size() && (sql[at] != '\'' || sql.substr(at).starts_with("''"))) {
        if (sql[at] == '\'') ++at;
        token.text += sql[at++];
      }
      if (at++ >= sql.size()) return Status::ParseError("open string", {1, 1});
      token.kind = binary ? Token::kBinary : Token::kString;
    } else if (c == '`') {
      const size_t end = sql.find('`', at + 1);
      token = {Token::kQuoted, std::string(sql.substr(at + 1, end - at - 1)), {}};
      at = end + 1;
    } else if (std::isdigit(static_cast<unsigned char>(c)) != 0 ||
               (c == '.' && at + 1 < sql.size() &&
                std::isdigit(static_cast<unsigned char>(sql[at + 1])) != 0)) {
      const size_t begin = at;
      while (at < sql.size() &&
             (std::isalnum(static_cast<unsigned char>(sql[at])) != 0 || sql[at] == '.' ||
              ((sql[at] == '-' || sql[at] == '+') && (sql[at - 1] == 'e' || sql[at - 1] == 'E')))) {
        ++at;
      }
      token.kind = Token::kNumber;
      token.text = std::string(sql.substr(begin, at - begin));
    } else if (std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_') {
      const size_t begin = at;
      while (at < sql.size() &&
             (std::isalnum(static_cast<unsigned char>(sql[at])) != 0 || sql[at] == '_'))
        ++at;
      token.kind = Token::kWord;
      token.text = std::string(sql.substr(begin, at - begin));
      token.upper = ToUpperAscii(token.text);
    } else {
      token.kind = Token::kSign;
      for (const std::string_view two : {"<=", ">=", "<>", "||"}) {
        if (sql.substr(at).starts_with(two)) token.text = std::string(two);
      }
      if (token.text.empty()) token.text = std::string(1, c);
      token.upper = token.text;
      at += token.text.size();
    }
    tokens.push_back(std::move(token));
  }
  tokens.emplace_back();
  return tokens;
}

class Reader {
 public:
  Reader(std::vector<Token> tokens, const Schema& input, const TimeZone& zone)
      : tokens_(std::move(tokens)), input_(input), zone_(zone) {}

  Result<ExprPtr> Read() {
    SLUICE_ASSIGN_OR_RETURN(ExprPtr expression, Expression(0));
    if (Peek().kind != Token::kEnd) return Unexpected(Peek(), "the end");
    return expression;
  }
  Result<SqlType> ReadWholeType() {
    SLUICE_ASSIGN_OR_RETURN(SqlType type, Type());
    if (Peek().kind != Token::kEnd) return Unexpected(Peek(), "the end");
    return type;
  }

 private:
  const Token& Peek(size_t ahead = 0) const {
    return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
  }
  bool Is(std::string_view word, size_t ahead = 0) const {
    const Token& token = Peek(ahead);
    return (token.kind == Token::kWord || token.kind == Token::kSign) && token.upper == word;
  }
  bool Take(std::string_view word) {
    if (!Is(word)) return false;
    ++at_;
    return true;
  }
  Status Expect(std::string_view word) { return Take(word) ? Status() : Unexpected(Peek(), word); }
  Result<std::string> Text() {
    if (Peek().kind != Token::kString) return Unexpected(Peek(), "a string");
    return tokens_[at_++].text;
  }
  std::string Word() { return tokens_[at_++].upper; }

  // ---- Types ----

  Result<std::vector<int>> Numbers() {
    std::vector<int> numbers;
    if (!Take("(")) return numbers;
    do {
      numbers.push_back(std::stoi(tokens_[at_++].text));
    } while (Take(","));
    SLUICE_RETURN_NOT_OK(Expect(")"));
    return numbers;
  }

  Result<SqlType> Type() {
    SLUICE_ASSIGN_OR_RETURN(SqlType type, BareType());
    if (Take("NOT")) {
      SLUICE_RETURN_NOT_OK(Expect("NULL"));
      return type.NotNull();
    }
    return type;
  }

  Result<SqlType> BareType() {
    const std::string name = Word();
    if (name == "ARRAY" || name == "MULTISET") {
      SLUICE_RETURN_NOT_OK(Expect("<"));
      SLUICE_ASSIGN_OR_RETURN(SqlType element, Type());
      SLUICE_RETURN_NOT_OK(Expect(">"));
      return name == "ARRAY" ? SqlType::Array(element) : SqlType::Multiset(element);
    }
    if (name == "MAP") {
      SLUICE_RETURN_NOT_OK(Expect("<"));
      SLUICE_ASSIGN_OR_RETURN(SqlType key, Type());
      SLUICE_RETURN_NOT_OK(Expect(","));
      SLUICE_ASSIGN_OR_RETURN(SqlType value, Type());
      SLUICE_RETURN_NOT_OK(Expect(">"));
      return SqlType::Map(key, value);
    }
    if (name == "ROW") {
      SLUICE_RETURN_NOT_OK(Expect("<"));
      std::vector<RowField> fields;
      do {
        const std::string field = tokens_[at_++].text;
        SLUICE_ASSIGN_OR_RETURN(SqlType type, Type());
        fields.push_back({field, type});
      } while (Take(","));
      SLUICE_RETURN_NOT_OK(Expect(">"));
      return SqlType::Row(std::move(fields));
    }
    SLUICE_ASSIGN_OR_RETURN(const std::vector<int> n, Numbers());
    const auto at = [&n](size_t i, int fallback) { return n.size() > i ? n[i] : fallback; };
    if (name == "BOOLEAN") return SqlType::Boolean();
    if (name == "TINYINT") return SqlType::Tinyint();
    if (name == "SMALLINT") return SqlType::Smallint();
    if (name == "INT" || name == "INTEGER") return SqlType::Int();
    if (name == "BIGINT") return SqlType::Bigint();
    if (name == "FLOAT") return SqlType::Float();
    if (name == "DOUBLE") return SqlType::Double();
    if (name == "DECIMAL") return SqlType::Decimal(at(0, 10), at(1, 0));
    if (name == "CHAR") return SqlType::Char(at(0, 1));
    if (name == "VARCHAR") return SqlType::Varchar(at(0, SqlType::kMaxLength));
    if (name == "STRING") return SqlType::String();
    if (name == "BINARY") return SqlType::Binary(at(0, 1));
    if (name == "VARBINARY") return SqlType::Varbinary(at(0, SqlType::kMaxLength));
    if (name == "BYTES") return SqlType::Bytes();
    if (name == "DATE") return SqlType::Date();
    if (name == "TIME") return SqlType::Time(at(0, 0));
    if (name == "TIMESTAMP") return SqlType::Timestamp(at(0, 6));
    if (name == "TIMESTAMP_LTZ") return SqlType::TimestampLtz(at(0, 6));
    return Status::ParseError("unknown type " + name, {1, 1});
  }

  // ---- Expressions ----

  /// Binding powers: OR 1, AND 2, NOT 3, IS 4, comparison 5, + - || 6, * / % 7, unary 8, [ ] and
  /// . 9.
  Result<ExprPtr> Expression(int power) {
    SLUICE_ASSIGN_OR_RETURN(ExprPtr left, Prefix());
    while (true) {
      const ExprPtr before = left;
      SLUICE_ASSIGN_OR_RETURN(left, Infix(left, power));
      if (left == before) return left;
    }
  }

  Result<ExprPtr> Infix(ExprPtr left, int power) {
    static const std::pair<std::string_view, ComparisonOp> kComparisons[] = {
        {"=", ComparisonOp::kEqual},   {"<>", ComparisonOp::kNotEqual},
        {"<", ComparisonOp::kLess},    {"<=", ComparisonOp::kLessEqual},
        {">", ComparisonOp::kGreater}, {">=", ComparisonOp::kGreaterEqual}};
    static const std::tuple<std::string_view, ArithmeticOp, int> kArithmetic[] = {
        {"+", ArithmeticOp::kAdd, 6},
        {"-", ArithmeticOp::kSubtract, 6},
        {"*", ArithmeticOp::kMultiply, 7},
        {"/", ArithmeticOp::kDivide, 7},
        {"%", ArithmeticOp::kModulo, 7}};
    if (power < 9 && Take("[")) {
      SLUICE_ASSIGN_OR_RETURN(ExprPtr index, Expression(0));
      SLUICE_RETURN_NOT_OK(Expect("]"));
      return MakeItem(left, index);
    }
    if (power < 9 && Take(".")) return MakeField(left, tokens_[at_++].text);
    for (const auto& [text, op, own] : kArithmetic) {
      if (power < own && Take(text)) {
        SLUICE_ASSIGN_OR_RETURN(ExprPtr right, Expression(own));
        return MakeArithmetic(op, left, right);
      }
    }
    if (power < 6 && Take("||")) {
      SLUICE_ASSIGN_OR_RETURN(ExprPtr right, Expression(6));
      return MakeConcat(left, right);
    }
    for (const auto& [text, op] : kComparisons) {
      if (power < 5 && Take(text)) {
        SLUICE_ASSIGN_OR_RETURN(ExprPtr right, Expression(5));
        return MakeComparison(op, left, right);
      }
    }
    if (power < 5) {
      const bool negated =
          Is("NOT") && (Is("BETWEEN", 1) || Is("IN", 1) || Is("LIKE", 1) || Is("SIMILAR", 1));
      if (negated) ++at_;
      if (negated || Is("BETWEEN") || Is("IN") || Is("LIKE") || Is("SIMILAR"))
        return Range(left, negated);
    }
    if (power < 4 && Take("IS")) return IsTestOf(left);
    if (power < 2 && Take("AND")) {
      SLUICE_ASSIGN_OR_RETURN(ExprPtr right, Expression(2));
      return MakeAnd({left, right});
    }
    if (power < 1 && Take("OR")) {
      SLUICE_ASSIGN_OR_RETURN(ExprPtr right, Expression(1));
      return MakeOr({left, right});
    }
    return left;
  }

  Result<ExprPtr> Range(const ExprPtr& left, bool negated) {
    const std::string word = Word();
    if (word == "BETWEEN") {
      const bool symmetric = Take("SYMMETRIC");
      SLUICE_ASSIGN_OR_RETURN(ExprPtr low, Expression(5));
      SLUICE_RETURN_NOT_OK(Expect("AND"));
      SLUICE_ASSIGN_OR_RETURN(ExprPtr high, Expression(5));
      return MakeBetween(left, low, high, negated, symmetric);
    }
    if (word == "IN") {
      SLUICE_RETURN_NOT_OK(Expect("("));
      SLUICE_ASSIGN_OR_RETURN(std::vector<ExprPtr> list, List(")"));
      return MakeIn(left, std::move(list), negated);
    }
    if (word == "SIMILAR") SLUICE_RETURN_NOT_OK(Expect("TO"));
    SLUICE_ASSIGN_OR_RETURN(ExprPtr pattern, Expression(5));
    ExprPtr escape;
    if (Take("ESCAPE")) {
      SLUICE_ASSIGN_OR_RETURN(escape, Expression(5));
    }
    return MakeLike(left, pattern, escape, negated, word == "SIMILAR");
  }

  Result<ExprPtr> IsTestOf(const ExprPtr& left) {
    const bool negated = Take("NOT");
    const std::string word = Word();
    if (word == "NULL") return MakeIs(IsTest::kNull, left, negated);
    if (word == "TRUE") return MakeIs(IsTest::kTrue, left, negated);
    if (word == "FALSE") return MakeIs(IsTest::kFalse, left, negated);
    if (word == "UNKNOWN") return MakeIs(IsTest::kUnknown, left, negated);
    if (word == "DISTINCT") {
      SLUICE_RETURN_NOT_OK(Expect("FROM"));
      SLUICE_ASSIGN_OR_RETURN(ExprPtr right, Expression(5));
      return MakeIsDistinctFrom(left, right, negated);
    }
    for (const std::string_view kind : {"OBJECT", "ARRAY", "SCALAR", "VALUE"}) {
      if (Take(kind)) return MakeIsJson(left, kind, negated);
    }
    return MakeIsJson(left, {}, negated);
  }

  Result<std::vector<ExprPtr>> List(std::string_view close) {
    std::vector<ExprPtr> list;
    if (Take(close)) return list;
    do {
      SLUICE_ASSIGN_OR_RETURN(ExprPtr item, Expression(0));
      list.push_back(std::move(item));
    } while (Take(","));
    SLUICE_RETURN_NOT_OK(Expect(close));
    return list;
  }

  Result<ExprPtr> Prefix() {
    const Token token = Peek();
    switch (token.kind) {
      case Token::kNumber:
        ++at_;
        return MakeNumber(token.text);
      case Token::kString:
        ++at_;
        return MakeString(token.text);
      case Token::kBinary: {
        ++at_;
        std::string bytes;
        for (size_t i = 0; i + 1 < token.text.size(); i += 2) {
          bytes += static_cast<char>(std::stoi(token.text.substr(i, 2), nullptr, 16));
        }
        return MakeBinary(bytes);
      }
      case Token::kSign:
        return Sign();
      case Token::kQuoted:
      case Token::kWord:
        return FromWord();
      case Token::kEnd:
        break;
    }
    return Unexpected(token, "an expression");
  }

  Result<ExprPtr> Sign() {
    if (Take("-")) {
      SLUICE_ASSIGN_OR_RETURN(ExprPtr operand, Expression(8));
      return MakeNegate(std::move(operand));
    }
    if (Take("+")) return Expression(8);
    SLUICE_RETURN_NOT_OK(Expect("("));
    SLUICE_ASSIGN_OR_RETURN(std::vector<ExprPtr> list, List(")"));
    if (Take("OVERLAPS")) {
      SLUICE_RETURN_NOT_OK(Expect("("));
      SLUICE_ASSIGN_OR_RETURN(std::vector<ExprPtr> other, List(")"));
      list.insert(list.end(), other.begin(), other.end());
      return MakeCall("OVERLAPS", std::move(list));
    }
    return list.size() == 1 ? Result<ExprPtr>(list[0]) : MakeRow(std::move(list));
  }

  Result<ExprPtr> FromWord() {
    if (Peek().kind == Token::kWord && Peek(1).kind == Token::kString) return PrefixedText();
    if (Is("INTERVAL") && (Is("-", 1) || Peek(1).kind == Token::kNumber)) return PrefixedText();
    if (Take("TRUE")) return MakeBoolean(true);
    if (Take("FALSE")) return MakeBoolean(false);
    if (Take("NULL")) return MakeNull();
    if (Take("UNKNOWN")) return MakeNull(SqlType::Boolean());
    if (Take("NOT")) {
      SLUICE_ASSIGN_OR_RETURN(ExprPtr operand, Expression(3));
      return MakeNot(std::move(operand));
    }
    if (Take("CASE")) return Case();
    if (Is("[", 1) && (Is("ARRAY") || Is("MAP"))) {
      const std::string word = Word();
      ++at_;
      SLUICE_ASSIGN_OR_RETURN(std::vector<ExprPtr> list, List("]"));
      return word == "ARRAY" ? MakeArray(std::move(list)) : MakeMap(std::move(list));
    }
    if (Is("(", 1)) return Call();
    const std::string name = Peek().text;
    const int column = input_.IndexOf(name);
    if (column >= 0) {
      ++at_;
      return MakeColumn(column, input_.column(column).type);
    }
    ++at_;
    return MakeCall(name, {});
  }

  Result<ExprPtr> PrefixedText() {
    const std::string word = Word();
    if (word == "INTERVAL") {
      const bool negative = Take("-");
      const bool bare = Peek().kind == Token::kNumber;
      const std::string text = tokens_[at_++].text;
      const std::string start = Word();
      SLUICE_ASSIGN_OR_RETURN(const std::vector<int> precision, Numbers());
      std::string end;
      if (Take("TO")) {
        end = Word();
        SLUICE_RETURN_NOT_OK(Numbers().status());
      }
      return MakeInterval(text, negative, start, end,
                          bare                ? 0
                          : precision.empty() ? 2
                                              : precision[0]);
    }
    SLUICE_ASSIGN_OR_RETURN(const std::string text, Text());
    if (word == "DATE") return MakeDate(text);
    if (word == "TIME") return MakeTime(text);
    if (word == "TIMESTAMP") return MakeTimestamp(text);
    if (word == "TIMESTAMP_LTZ") return MakeTimestampLtz(text, zone_);
    if (word == "DECIMAL") return MakeDecimal(text);
    return Status::ParseError("unknown literal " + word, {1, 1});
  }

  Result<ExprPtr> Case() {
    ExprPtr operand;
    if (!Is("WHEN")) {
      SLUICE_ASSIGN_OR_RETURN(operand, Expression(0));
    }
    std::vector<std::pair<ExprPtr, ExprPtr>> branches;
    while (Take("WHEN")) {
      SLUICE_ASSIGN_OR_RETURN(ExprPtr condition, Expression(0));
      if (operand != nullptr) {
        SLUICE_ASSIGN_OR_RETURN(condition,
                                MakeComparison(ComparisonOp::kEqual, operand, condition));
      }
      SLUICE_RETURN_NOT_OK(Expect("THEN"));
      SLUICE_ASSIGN_OR_RETURN(ExprPtr result, Expression(0));
      branches.emplace_back(std::move(condition), std::move(result));
    }
    ExprPtr otherwise;
    if (Take("ELSE")) {
      SLUICE_ASSIGN_OR_RETURN(otherwise, Expression(0));
    }
    SLUICE_RETURN_NOT_OK(Expect("END"));
    return MakeCase(std::move(branches), std::move(otherwise));
  }

  Result<ExprPtr> Call() {
    const std::string name = tokens_[at_].text;
    const std::string upper = tokens_[at_].upper;
    at_ += 2;
    if (upper == "CAST" || upper == "TRY_CAST") {
      SLUICE_ASSIGN_OR_RETURN(ExprPtr operand, Expression(0));
      SLUICE_RETURN_NOT_OK(Expect("AS"));
      SLUICE_ASSIGN_OR_RETURN(const SqlType type, Type());
      SLUICE_RETURN_NOT_OK(Expect(")"));
      return MakeCast(std::move(operand), type, upper == "TRY_CAST");
    }
    if (upper == "ROW") {
      SLUICE_ASSIGN_OR_RETURN(std::vector<ExprPtr> list, List(")"));
      return MakeRow(std::move(list));
    }
    if (upper.starts_with("JSON_")) return JsonCall(upper);
    std::vector<ExprPtr> arguments;
    if (upper == "EXTRACT" || upper == "TIMESTAMPADD" || upper == "TIMESTAMPDIFF") {
      arguments.push_back(MakeSymbol(Word()));
      if (!Take("FROM")) SLUICE_RETURN_NOT_OK(Expect(","));
    } else if (upper == "TRIM") {
      return Trim();
    }
    while (!Take(")")) {
      // Words between the arguments of SUBSTRING, POSITION, OVERLAY, FLOOR. IN would be taken as
      // the operator.
      const bool position = upper == "POSITION" && arguments.empty();
      SLUICE_ASSIGN_OR_RETURN(ExprPtr argument, Expression(position ? 5 : 0));
      arguments.push_back(std::move(argument));
      if (Take("TO")) {
        arguments.push_back(MakeSymbol(Word()));
      } else if (!Is(")") && !Take(",") && !Take("FROM") && !Take("FOR") && !Take("IN") &&
                 !Take("PLACING")) {
        return Unexpected(Peek(), "',' or ')'");
      }
    }
    return MakeCall(name, std::move(arguments));
  }

  Result<ExprPtr> Trim() {
    std::string side = "BOTH";
    if (Is("BOTH") || Is("LEADING") || Is("TRAILING")) side = Word();
    ExprPtr characters = MakeString(" ");
    ExprPtr text;
    if (!Take("FROM")) {
      SLUICE_ASSIGN_OR_RETURN(text, Expression(0));
      if (Take("FROM")) {
        characters = text;
        text = nullptr;
      }
    }
    if (text == nullptr) {
      SLUICE_ASSIGN_OR_RETURN(text, Expression(0));
    }
    SLUICE_RETURN_NOT_OK(Expect(")"));
    return MakeCall("TRIM", {MakeSymbol(side), characters, text});
  }

  Result<ExprPtr> JsonCall(const std::string& name) {
    JsonClauses clauses;
    JsonBehavior exists = JsonBehavior::kFalse;
    bool absent = name == "JSON_ARRAY";
    std::vector<ExprPtr> arguments;
    while (!Take(")")) {
      if (Take(",") || Take("VALUE") || Take("KEY")) continue;
      if (Take("RETURNING")) {
        SLUICE_ASSIGN_OR_RETURN(clauses.returning, Type());
        continue;
      }
      if (Take("WITH") || Is("WITHOUT")) {
        clauses.wrapper = Take("WITHOUT")       ? JsonWrapper::kWithout
                          : Take("CONDITIONAL") ? JsonWrapper::kConditional
                                                : JsonWrapper::kUnconditional;
        Take("UNCONDITIONAL");
        Take("ARRAY");
        SLUICE_RETURN_NOT_OK(Expect("WRAPPER"));
        continue;
      }
      if (Is("NULL") && Is("ON", 1) && Is("NULL", 2)) {
        at_ += 3;
        absent = false;
        continue;
      }
      if (Take("ABSENT")) {
        at_ += 2;
        absent = true;
        continue;
      }
      const bool behavior = Is("DEFAULT") || Is("EMPTY") || (Is("ON", 1));
      if (!behavior) {
        SLUICE_ASSIGN_OR_RETURN(ExprPtr argument, Expression(0));
        arguments.push_back(std::move(argument));
        continue;
      }
      ExprPtr value;
      JsonBehavior what = JsonBehavior::kNull;
      const std::string word = Word();
      if (word == "DEFAULT") {
        SLUICE_ASSIGN_OR_RETURN(value, Expression(0));
        what = JsonBehavior::kDefault;
      } else if (word == "EMPTY") {
        what = Take("ARRAY") ? JsonBehavior::kEmptyArray : JsonBehavior::kEmptyObject;
        Take("OBJECT");
      } else if (word == "ERROR") {
        what = JsonBehavior::kError;
      } else if (word == "TRUE") {
        what = JsonBehavior::kTrue;
      } else if (word == "UNKNOWN") {
        what = JsonBehavior::kUnknown;
      }
      SLUICE_RETURN_NOT_OK(Expect("ON"));
      if (Take("EMPTY")) {
        clauses.on_empty = what;
        clauses.empty_default = value;
      } else {
        SLUICE_RETURN_NOT_OK(Expect("ERROR"));
        clauses.on_error = exists = what;
        clauses.error_default = value;
      }
    }
    if (name == "JSON_VALUE") return MakeJsonValue(arguments.at(0), arguments.at(1), clauses);
    if (name == "JSON_QUERY") return MakeJsonQuery(arguments.at(0), arguments.at(1), clauses);
    if (name == "JSON_EXISTS") return MakeJsonExists(arguments.at(0), arguments.at(1), exists);
    if (name == "JSON_OBJECT") return MakeJsonObject(std::move(arguments), absent);
    if (name == "JSON_ARRAY") return MakeJsonArray(std::move(arguments), absent);
    return MakeCall(name, std::move(arguments));
  }

  std::vector<Token> tokens_;
  const Schema& input_;
  const TimeZone& zone_;
  size_t at_ = 0;
};

}  // namespace

Result<ExprPtr> ReadExpression(std::string_view sql, const Schema& input,
                               const TimeZone& session_zone) {
  SLUICE_ASSIGN_OR_RETURN(std::vector<Token> tokens, Scan(sql));
  return Reader(std::move(tokens), input, session_zone).Read();
}

Result<SqlType> ReadType(std::string_view sql) {
  SLUICE_ASSIGN_OR_RETURN(std::vector<Token> tokens, Scan(sql));
  const Schema none;
  const TimeZone utc;
  return Reader(std::move(tokens), none, utc).ReadWholeType();
}

std::string Value(std::string_view sql, const EvalContext& context) {
  const Result<ExprPtr> expression = ReadExpression(sql, {}, context.session_zone);
  if (!expression.ok()) return "error: " + expression.status().message();
  const auto row = arrow::RecordBatch::Make(arrow::schema({}), 1, arrow::ArrayVector{});
  const auto value = EvaluateToArray(**expression, *row, context);
  if (!value.ok()) return "error: " + value.status().message();
  const arrow::Status valid = (*value)->ValidateFull();
  if (!valid.ok()) return "invalid: " + valid.ToString();
  const SqlType& type = (*expression)->type();
  if (!(*value)->type()->Equals(*type.ToArrow())) {
    return "wrong Arrow type: " + (*value)->type()->ToString() + " for " + type.ToString();
  }
  if (!type.is_binary() || (*value)->IsNull(0)) {
    std::string text;
    AppendValueText(type, **value, 0, context.session_zone, &text);
    return text;
  }
  std::string text = "x'";
  for (const char c : static_cast<const arrow::BinaryArray&>(**value).GetView(0)) {
    char digits[3];
    std::snprintf(digits, sizeof(digits), "%02x", static_cast<unsigned char>(c));
    text += digits;
  }
  return text + "'";
}

std::string TypeText(std::string_view sql) {
  const Result<ExprPtr> expression = ReadExpression(sql);
  return expression.ok() ? (*expression)->type().ToString()
                         : "error: " + expression.status().message();
}

}  // namespace sluice::expr::testing
