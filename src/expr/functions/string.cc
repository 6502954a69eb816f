// Making and cutting text: CONCAT, UPPER, SUBSTRING, TRIM, pads and the like.
#include <algorithm>

#include "expr/functions/lists.h"
#include "expr/kernel_support.h"
#include "expr/letter_case.h"
#include "expr/signature.h"
#include "expr/utf8.h"

namespace sluice::expr {

namespace {

std::vector<TextOperand> TextOperands(std::span<const KernelArgument> arguments) {
  std::vector<TextOperand> operands;
  operands.reserve(arguments.size());
  for (const KernelArgument& argument : arguments) operands.emplace_back(argument);
  return operands;
}

Result<ArrayPtr> ConcatKernel(const KernelCall& call) {
  const int64_t rows = call.row_count;
  const std::vector<TextOperand> parts = TextOperands(call.arguments);
  NullMask nulls(rows, call.context.pool);
  int64_t bytes = 0;
  for (const TextOperand& part : parts) {
    nulls.Merge(part);
    bytes += part.byte_count(rows);
  }
  TextBuilder out(rows, bytes, call.context.pool);
  for (int64_t row = 0; row < rows; ++row) {
    if (!nulls.IsNull(row)) {
      for (const TextOperand& part : parts) out.Append(part[row]);
    }
    out.EndRow();
  }
  return out.Finish(call.result_type.ToArrow(), nulls);
}

/// NULL parts are left out; only a NULL separator makes NULL.
Result<ArrayPtr> ConcatWithKernel(const KernelCall& call) {
  const int64_t rows = call.row_count;
  const std::vector<TextOperand> parts = TextOperands(call.arguments);
  NullMask nulls(rows, call.context.pool);
  nulls.Merge(parts[0]);
  int64_t bytes = 0;
  for (const TextOperand& part : parts) bytes += part.byte_count(rows) + rows;
  TextBuilder out(rows, bytes, call.context.pool);
  for (int64_t row = 0; row < rows; ++row) {
    if (!nulls.IsNull(row)) {
      bool first = true;
      for (size_t i = 1; i < parts.size(); ++i) {
        if (parts[i].IsNull(row)) continue;
        if (!first) out.Append(parts[0][row]);
        first = false;
        out.Append(parts[i][row]);
      }
    }
    out.EndRow();
  }
  return out.Finish(call.result_type.ToArrow(), nulls);
}

Result<Signature> ResolveConcatOperator(std::span<const Argument> arguments) {
  Signature signature;
  bool fixed = true;
  bool binary = false;
  int64_t length = 0;
  for (const Argument& argument : arguments) {
    SqlType type = AcceptedType(Accept::kBytes, argument.type);
    if (type.kind() == TypeKind::kNull) return TypesDoNotFit();
    binary = binary || type.is_binary();
    fixed = fixed && (type.kind() == TypeKind::kChar || type.kind() == TypeKind::kBinary);
    length += type.length();
    signature.arguments.push_back(std::move(type));
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (binary && arguments[i].type.is_character()) return TypesDoNotFit();
    if (binary && arguments[i].type.kind() == TypeKind::kNull) {
      signature.arguments[i] = SqlType::Bytes();
    }
  }
  const auto total = static_cast<int32_t>(std::min<int64_t>(length, SqlType::kMaxLength));
  if (binary) {
    signature.result = fixed ? SqlType::Binary(total) : SqlType::Varbinary(total);
  } else {
    signature.result = fixed ? SqlType::Char(total) : SqlType::Varchar(total);
  }
  return signature;
}

/// The result has the type of the (first) text.
Result<Signature> ResolveSameText(std::span<const Argument> arguments) {
  SqlType type = AcceptedType(Accept::kText, arguments[0].type);
  if (type.kind() == TypeKind::kNull) return TypesDoNotFit();
  return Signature{{type}, type};
}

/// Appends the text cut to the length of CHAR(n): 'ß' in upper case is longer than it was.
void AppendCut(const SqlType& type, std::string_view text, TextBuilder& out) {
  if (text.size() > static_cast<size_t>(type.length())) {
    text = text.substr(0, utf8::Offset(text, type.length()));
  }
  out.Append(text);
}

/// Changes the case of ASCII letters, in a loop that can be vectorised.
template <bool upper>
void ConvertAscii(const char* from, size_t size, char* to) {
  constexpr char kFirst = upper ? 'a' : 'A';
  for (size_t i = 0; i < size; ++i) {
    const char c = from[i];
    to[i] = static_cast<char>(c ^ (static_cast<unsigned char>(c - kFirst) < 26 ? 32 : 0));
  }
}

/// Texts of ASCII only: all bytes at once, with offsets as they were.
template <bool upper>
ArrayPtr ConvertAllAscii(const KernelCall& call, const TextOperand& input) {
  const std::string_view bytes = input.bytes();
  NullMask nulls(call.row_count, call.context.pool);
  nulls.Merge(input);
  auto offsets = AllocateBytes((call.row_count + 1) * 4, call.context.pool);
  auto* moved = reinterpret_cast<int32_t*>(offsets->mutable_data());
  const int32_t first = input.offsets()[0];
  for (int64_t row = 0; row <= call.row_count; ++row) moved[row] = input.offsets()[row] - first;
  auto converted = AllocateBytes(static_cast<int64_t>(bytes.size()), call.context.pool);
  ConvertAscii<upper>(bytes.data(), bytes.size(),
                      reinterpret_cast<char*>(converted->mutable_data()));
  return arrow::MakeArray(
      arrow::ArrayData::Make(call.result_type.ToArrow(), call.row_count,
                             {nulls.buffer(), std::move(offsets), std::move(converted)},
                             nulls.any() ? arrow::kUnknownNullCount : 0));
}

template <bool upper>
Result<ArrayPtr> CaseKernel(const KernelCall& call) {
  const TextOperand input(call.arguments[0]);
  if (!input.constant() && utf8::IsAscii(input.bytes())) return ConvertAllAscii<upper>(call, input);
  std::string scratch;
  return MapText(
      call, input.byte_count(),
      [&](TextBuilder& out, std::string_view text) {
        if (utf8::IsAscii(text)) [[likely]] {
          char* at = out.Reserve(static_cast<int64_t>(text.size()));
          ConvertAscii<upper>(text.data(), text.size(), at);
          out.Advance(at + text.size());
          return;
        }
        scratch.clear();
        upper ? AppendUpper(text, &scratch) : AppendLower(text, &scratch);
        AppendCut(call.result_type, scratch, out);
      },
      input);
}

Result<ArrayPtr> InitcapKernel(const KernelCall& call) {
  const TextOperand input(call.arguments[0]);
  return MapText(
      call, input.byte_count(),
      [](TextBuilder& out, std::string_view text) {
        char* at = out.Reserve(static_cast<int64_t>(text.size()));
        bool inside = false;  // Of a word: a run of ASCII letters and digits.
        for (const char c : text) {
          const bool lower = c >= 'a' && c <= 'z';
          const bool upper = c >= 'A' && c <= 'Z';
          *at++ = (lower && !inside) || (upper && inside) ? static_cast<char>(c ^ 32) : c;
          inside = lower || upper || (c >= '0' && c <= '9');
        }
        out.Advance(at);
      },
      input);
}

Result<ArrayPtr> LengthKernel(const KernelCall& call) {
  return MapValues<int32_t>(
      call, [](std::string_view text) { return static_cast<int32_t>(utf8::Count(text)); },
      TextOperand(call.arguments[0]));
}

/// SUBSTRING(s, from[, count]): the part of `text`, or nullopt for a negative count.
std::optional<std::string_view> Substring(std::string_view text, int64_t from, int64_t count) {
  if (count < 0) return std::nullopt;
  const bool ascii = utf8::IsAscii(text);
  const auto length = ascii ? static_cast<int64_t>(text.size()) : utf8::Count(text);
  int64_t begin = 0;
  if (from > 0) {
    begin = from - 1;
  } else if (from < 0) {
    if (from < -length) return std::string_view();
    begin = length + from;
  }
  if (begin >= length) return std::string_view();
  count = std::min(count, length - begin);
  if (ascii) return text.substr(static_cast<size_t>(begin), static_cast<size_t>(count));
  const size_t start = utf8::Offset(text, begin);
  const std::string_view rest = text.substr(start);
  return rest.substr(0, utf8::Offset(rest, count));
}

Result<ArrayPtr> SubstringKernel(const KernelCall& call) {
  const TextOperand input(call.arguments[0]);
  const NumberOperand<int64_t> from(call.arguments[1]);
  const auto append = [](TextBuilder& out, std::optional<std::string_view> part) {
    if (!part) return false;
    out.Append(*part);
    return true;
  };
  if (call.arguments.size() == 2) {
    return MapText(
        call, input.byte_count(),
        [&](TextBuilder& out, std::string_view text, int64_t begin) {
          return append(out, Substring(text, begin, INT64_MAX));
        },
        input, from);
  }
  return MapText(
      call, input.byte_count(),
      [&](TextBuilder& out, std::string_view text, int64_t begin, int64_t count) {
        return append(out, Substring(text, begin, count));
      },
      input, from, NumberOperand<int64_t>(call.arguments[2]));
}

/// SUBSTRING and friends: text, integers; the result is VARCHAR of the text's length.
Result<Signature> ResolveTextAndIntegers(std::span<const Argument> arguments) {
  Signature signature;
  for (size_t i = 0; i < arguments.size(); ++i) {
    SqlType type = AcceptedType(i == 0 ? Accept::kText : Accept::kInteger, arguments[i].type);
    if (type.kind() == TypeKind::kNull) return TypesDoNotFit();
    signature.arguments.push_back(std::move(type));
  }
  signature.result = SqlType::Varchar(signature.arguments[0].length());
  return signature;
}

Result<ArrayPtr> LeftKernel(const KernelCall& call) {
  const TextOperand input(call.arguments[0]);
  return MapText(
      call, input.byte_count(),
      [](TextBuilder& out, std::string_view text, int64_t count) {
        if (count > 0) out.Append(*Substring(text, 1, count));
      },
      input, NumberOperand<int64_t>(call.arguments[1]));
}

Result<ArrayPtr> RightKernel(const KernelCall& call) {
  const TextOperand input(call.arguments[0]);
  return MapText(
      call, input.byte_count(),
      [](TextBuilder& out, std::string_view text, int64_t count) {
        if (count <= 0) return;
        out.Append(count >= utf8::Count(text) ? text : *Substring(text, -count, count));
      },
      input, NumberOperand<int64_t>(call.arguments[1]));
}

bool InSet(std::string_view set, std::string_view code_point) {
  for (size_t at = 0; at < set.size();) {
    const size_t length = utf8::LengthAt(set, at);
    if (set.substr(at, length) == code_point) return true;
    at += length;
  }
  return false;
}

std::string_view TrimLeft(std::string_view text, std::string_view set) {
  while (!text.empty()) {
    const size_t length = utf8::LengthAt(text, 0);
    if (!InSet(set, text.substr(0, length))) break;
    text.remove_prefix(length);
  }
  return text;
}

std::string_view TrimRight(std::string_view text, std::string_view set) {
  while (!text.empty()) {
    size_t begin = text.size() - 1;
    while (begin > 0 && utf8::IsContinuation(text[begin])) --begin;
    if (!InSet(set, text.substr(begin))) break;
    text.remove_suffix(text.size() - begin);
  }
  return text;
}

enum class Ends { kLeft, kRight, kBoth };

template <Ends ends>
Result<ArrayPtr> TrimKernel(const KernelCall& call) {
  const TextOperand input(call.arguments[0]);
  const auto trim = [](TextBuilder& out, std::string_view text, std::string_view set) {
    if (ends != Ends::kRight) text = TrimLeft(text, set);
    if (ends != Ends::kLeft) text = TrimRight(text, set);
    out.Append(text);
  };
  if (call.arguments.size() == 1) {
    return MapText(
        call, input.byte_count(),
        [&](TextBuilder& out, std::string_view text) { trim(out, text, " "); }, input);
  }
  return MapText(call, input.byte_count(), trim, input, TextOperand(call.arguments[1]));
}

/// TRIM(BOTH|LEADING|TRAILING, characters, s).
Result<ArrayPtr> TrimWordKernel(const KernelCall& call) {
  const std::string_view side = TextOperand(call.arguments[0])[0];
  const KernelArgument arguments[] = {call.arguments[2], call.arguments[1]};
  const KernelCall inner{call.context, arguments, call.result_type, call.row_count};
  if (side == "LEADING") return TrimKernel<Ends::kLeft>(inner);
  return side == "TRAILING" ? TrimKernel<Ends::kRight>(inner) : TrimKernel<Ends::kBoth>(inner);
}

Result<Signature> ResolveTrim(std::span<const Argument> arguments) {
  const std::optional<std::string> side = LiteralText(arguments[0]);
  if (!side || (*side != "BOTH" && *side != "LEADING" && *side != "TRAILING")) {
    return TypesDoNotFit();
  }
  Signature signature;
  for (const Argument& argument : arguments) {
    SqlType type = AcceptedType(Accept::kText, argument.type);
    if (type.kind() == TypeKind::kNull) return TypesDoNotFit();
    signature.arguments.push_back(std::move(type));
  }
  signature.result = SqlType::Varchar(signature.arguments[2].length());
  return signature;
}

Result<Signature> ResolveTrimSide(std::span<const Argument> arguments) {
  Signature signature;
  for (const Argument& argument : arguments) {
    SqlType type = AcceptedType(Accept::kText, argument.type);
    if (type.kind() == TypeKind::kNull) return TypesDoNotFit();
    signature.arguments.push_back(std::move(type));
  }
  signature.result =
      arguments.size() == 1 ? SqlType::Varchar(signature.arguments[0].length()) : SqlType::String();
  return signature;
}

/// A result of more bytes than one batch can hold is refused before memory is asked for.
bool TooLong(int64_t bytes) { return bytes > INT32_MAX; }
Status TextTooLong(std::string_view function) {
  return Status::DataError(std::string(function) + " would make a text of more than 2 GiB.");
}

template <bool left>
Result<ArrayPtr> PadKernel(const KernelCall& call) {
  const TextOperand input(call.arguments[0]);
  return MapText(
      call, input.byte_count() * 2,
      [](TextBuilder& out, std::string_view text, int64_t length,
         std::string_view pad) -> Result<bool> {
        if (length < 0) return false;
        const int64_t count = utf8::Count(text);
        if (count >= length) {
          out.Append(text.substr(0, utf8::Offset(text, length)));
          return true;
        }
        if (pad.empty()) return false;
        const int64_t missing = length - count;
        if (TooLong(missing)) return TextTooLong(left ? "LPAD" : "RPAD");
        if (!left) out.Append(text);
        const int64_t pad_count = utf8::Count(pad);
        for (int64_t i = 0; i < missing / pad_count; ++i) out.Append(pad);
        out.Append(pad.substr(0, utf8::Offset(pad, missing % pad_count)));
        if (left) out.Append(text);
        return true;
      },
      input, NumberOperand<int64_t>(call.arguments[1]), TextOperand(call.arguments[2]));
}

Result<ArrayPtr> RepeatKernel(const KernelCall& call) {
  const TextOperand input(call.arguments[0]);
  return MapText(
      call, input.byte_count() * 2,
      [](TextBuilder& out, std::string_view text, int64_t count) -> Status {
        if (count <= 0 || text.empty()) return {};
        if (TooLong(count) || TooLong(static_cast<int64_t>(text.size()) * count)) {
          return TextTooLong("REPEAT");
        }
        for (int64_t i = 0; i < count; ++i) out.Append(text);
        return {};
      },
      input, NumberOperand<int64_t>(call.arguments[1]));
}

Result<ArrayPtr> ReverseKernel(const KernelCall& call) {
  const TextOperand input(call.arguments[0]);
  return MapText(
      call, input.byte_count(),
      [](TextBuilder& out, std::string_view text) {
        char* const begin = out.Reserve(static_cast<int64_t>(text.size()));
        char* to = begin + text.size();
        for (size_t at = 0; at < text.size();) {
          const size_t length = utf8::LengthAt(text, at);
          to -= length;
          std::memcpy(to, text.data() + at, length);
          at += length;
        }
        out.Advance(begin + text.size());
      },
      input);
}

/// OVERLAY(s, r, from[, count]).
Result<ArrayPtr> OverlayKernel(const KernelCall& call) {
  const TextOperand input(call.arguments[0]);
  const TextOperand replacement(call.arguments[1]);
  const NumberOperand<int64_t> from(call.arguments[2]);
  const auto overlay = [](TextBuilder& out, std::string_view text, std::string_view with,
                          int64_t begin, int64_t count) {
    const int64_t length = utf8::Count(text);
    if (begin <= 0 || begin > length) {
      out.Append(text);
      return;
    }
    const size_t start = utf8::Offset(text, begin - 1);
    out.Append(text.substr(0, start));
    out.Append(with);
    const std::string_view rest = text.substr(start);
    out.Append(rest.substr(utf8::Offset(rest, std::max<int64_t>(count, 0))));
  };
  const int64_t bytes = input.byte_count() + replacement.byte_count(call.row_count);
  if (call.arguments.size() == 3) {
    return MapText(
        call, bytes,
        [&](TextBuilder& out, std::string_view text, std::string_view with, int64_t begin) {
          overlay(out, text, with, begin, utf8::Count(with));
        },
        input, replacement, from);
  }
  return MapText(call, bytes, overlay, input, replacement, from,
                 NumberOperand<int64_t>(call.arguments[3]));
}

Result<Signature> ResolveOverlay(std::span<const Argument> arguments) {
  Signature signature;
  int64_t length = 0;
  for (size_t i = 0; i < arguments.size(); ++i) {
    SqlType type = AcceptedType(i < 2 ? Accept::kText : Accept::kInteger, arguments[i].type);
    if (type.kind() == TypeKind::kNull) return TypesDoNotFit();
    if (i < 2) length += type.length();
    signature.arguments.push_back(std::move(type));
  }
  signature.result =
      SqlType::Varchar(static_cast<int32_t>(std::min<int64_t>(length, SqlType::kMaxLength)));
  return signature;
}

}  // namespace

std::span<const ScalarFunction> StringFunctions() {
  constexpr std::string_view kGroup = "string";
  using A = Accept;
  static const ScalarFunction kFunctions[] = {
      {.name = "||",
       .group = kGroup,
       .resolve = &ResolveConcatOperator,
       .min_arguments = 2,
       .max_arguments = 2,
       .kernel = &ConcatKernel,
       .supported_forms = "'<STRING> || <STRING>'",
       .is_operator = true},
      {.name = "CONCAT",
       .group = kGroup,
       .signatures = {{{A::kText}, SqlType::String(), true}},
       .kernel = &ConcatKernel,
       .supported_forms = "'CONCAT(<CHARACTER>)'",
       .doc = {"CONCAT(a, b, …)", "Joins texts; NULL when one of them is NULL.",
               "CONCAT('a', 'b', 'c') => 'abc'"}},
      {.name = "CONCAT_WS",
       .group = kGroup,
       .signatures = {{{A::kText, A::kText}, SqlType::String(), true}},
       .kernel = &ConcatWithKernel,
       .doc = {"CONCAT_WS(separator, a, b, …)", "Joins texts with a separator, leaving out NULLs.",
               "CONCAT_WS('~', 'AA', CAST(NULL AS STRING), 'BB', '', 'CC') => 'AA~BB~~CC'"}},
      {.name = "CHAR_LENGTH",
       .group = kGroup,
       .signatures = {{{A::kText}, SqlType::Int()}},
       .kernel = &LengthKernel,
       .doc = {"CHAR_LENGTH(s)", "Number of characters (code points).",
               "CHAR_LENGTH('héllo') => 5"}},
      {.name = "CHARACTER_LENGTH",
       .group = kGroup,
       .signatures = {{{A::kText}, SqlType::Int()}},
       .kernel = &LengthKernel,
       .doc = {"CHARACTER_LENGTH(s)", "The same as CHAR_LENGTH.", "CHARACTER_LENGTH('ab') => 2"}},
      {.name = "UPPER",
       .group = kGroup,
       .resolve = &ResolveSameText,
       .min_arguments = 1,
       .max_arguments = 1,
       .kernel = &CaseKernel<true>,
       .supported_forms = "'UPPER(<CHARACTER>)'",
       .doc = {"UPPER(s)", "Text in upper case.", "UPPER(CAST('Straße' AS STRING)) => 'STRASSE'"}},
      {.name = "LOWER",
       .group = kGroup,
       .resolve = &ResolveSameText,
       .min_arguments = 1,
       .max_arguments = 1,
       .kernel = &CaseKernel<false>,
       .supported_forms = "'LOWER(<CHARACTER>)'",
       .doc = {"LOWER(s)", "Text in lower case.", "LOWER('ÀB') => 'àb'"}},
      {.name = "INITCAP",
       .group = kGroup,
       .resolve = &ResolveSameText,
       .min_arguments = 1,
       .max_arguments = 1,
       .kernel = &InitcapKernel,
       .supported_forms = "'INITCAP(<CHARACTER>)'",
       .doc = {"INITCAP(s)", "First letter of each word in upper case, the others in lower case.",
               "INITCAP('hello wORLD') => 'Hello World'"}},
      {.name = "SUBSTRING",
       .group = kGroup,
       .resolve = &ResolveTextAndIntegers,
       .min_arguments = 2,
       .max_arguments = 3,
       .nulls = Nulls::kAlways,
       .kernel = &SubstringKernel,
       .doc = {"SUBSTRING(s, from[, count])",
               "Part of a text; positions start at 1, negative ones count from the end.",
               "SUBSTRING('hello', -3, 2) => 'll'"}},
      {.name = "SUBSTR",
       .group = kGroup,
       .resolve = &ResolveTextAndIntegers,
       .min_arguments = 2,
       .max_arguments = 3,
       .nulls = Nulls::kAlways,
       .kernel = &SubstringKernel,
       .doc = {"SUBSTR(s, from[, count])", "The same as SUBSTRING.",
               "SUBSTR('hello', 2, 3) => 'ell'"}},
      {.name = "LEFT",
       .group = kGroup,
       .resolve = &ResolveTextAndIntegers,
       .min_arguments = 2,
       .max_arguments = 2,
       .nulls = Nulls::kAlways,
       .kernel = &LeftKernel,
       .doc = {"LEFT(s, n)", "The first n characters.", "LEFT('hello', 2) => 'he'"}},
      {.name = "RIGHT",
       .group = kGroup,
       .resolve = &ResolveTextAndIntegers,
       .min_arguments = 2,
       .max_arguments = 2,
       .nulls = Nulls::kAlways,
       .kernel = &RightKernel,
       .doc = {"RIGHT(s, n)", "The last n characters.", "RIGHT('hello', 2) => 'lo'"}},
      {.name = "TRIM",
       .group = kGroup,
       .resolve = &ResolveTrim,
       .min_arguments = 3,
       .max_arguments = 3,
       .kernel = &TrimWordKernel,
       .doc = {"TRIM([BOTH | LEADING | TRAILING] [characters FROM] s)",
               "Cuts characters, by default blanks, off the ends.", "TRIM('  x ') => 'x'"}},
      {.name = "LTRIM",
       .group = kGroup,
       .resolve = &ResolveTrimSide,
       .min_arguments = 1,
       .max_arguments = 2,
       .kernel = &TrimKernel<Ends::kLeft>,
       .doc = {"LTRIM(s[, characters])", "Cuts characters off the left end.",
               "LTRIM('xyx1', 'xy') => '1'"}},
      {.name = "RTRIM",
       .group = kGroup,
       .resolve = &ResolveTrimSide,
       .min_arguments = 1,
       .max_arguments = 2,
       .kernel = &TrimKernel<Ends::kRight>,
       .doc = {"RTRIM(s[, characters])", "Cuts characters off the right end.",
               "RTRIM('1xyx', 'xy') => '1'"}},
      {.name = "BTRIM",
       .group = kGroup,
       .signatures = {{{A::kText}, SqlType::String()}, {{A::kText, A::kText}, SqlType::String()}},
       .kernel = &TrimKernel<Ends::kBoth>,
       .doc = {"BTRIM(s[, characters])", "Cuts characters off both ends.", "BTRIM(' x ') => 'x'"}},
      {.name = "LPAD",
       .group = kGroup,
       .signatures = {{{A::kText, A::kInteger, A::kText}, SqlType::String()}},
       .kernel = &PadKernel<true>,
       .doc = {"LPAD(s, n, pad)", "Fills up on the left to n characters, or cuts to n.",
               "LPAD('a', 3, 'xy') => 'xya'"}},
      {.name = "RPAD",
       .group = kGroup,
       .signatures = {{{A::kText, A::kInteger, A::kText}, SqlType::String()}},
       .kernel = &PadKernel<false>,
       .doc = {"RPAD(s, n, pad)", "Fills up on the right to n characters, or cuts to n.",
               "RPAD('abc', 2, 'x') => 'ab'"}},
      {.name = "REPEAT",
       .group = kGroup,
       .signatures = {{{A::kText, A::kInteger}, SqlType::String()}},
       .kernel = &RepeatKernel,
       .doc = {"REPEAT(s, n)", "The text n times.", "REPEAT('ab', 3) => 'ababab'"}},
      {.name = "REVERSE",
       .group = kGroup,
       .signatures = {{{A::kText}, SqlType::String()}},
       .nulls = Nulls::kAlways,
       .kernel = &ReverseKernel,
       .doc = {"REVERSE(s)", "Reverses s by code point.", "REVERSE('abc') => 'cba'"}},
      {.name = "OVERLAY",
       .group = kGroup,
       .resolve = &ResolveOverlay,
       .min_arguments = 3,
       .max_arguments = 4,
       .kernel = &OverlayKernel,
       .doc = {"OVERLAY(s PLACING r FROM from [FOR count])",
               "Replaces count characters (by default as many as r has) from a position.",
               "OVERLAY('hello' PLACING 'XX' FROM 2 FOR 3) => 'hXXo'"}},
  };
  return kFunctions;
}

}  // namespace sluice::expr
