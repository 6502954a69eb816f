// Looking into text: POSITION, INSTR, REPLACE, SPLIT, TRANSLATE and tests.
#include <algorithm>

#include <arrow/api.h>

#include "expr/functions/lists.h"
#include "expr/kernel_support.h"
#include "expr/letter_case.h"
#include "expr/signature.h"
#include "expr/utf8.h"

namespace sluice::expr {

namespace {

/// 1-based code point position of `wanted` at or after code point `from` (1-based); 0 when absent.
/// The empty text is at 1.
int32_t Position(std::string_view text, std::string_view wanted, int64_t from) {
  if (wanted.empty()) return 1;
  const size_t begin = from <= 1 ? 0 : utf8::Offset(text, from - 1);
  const size_t found = text.find(wanted, begin);
  if (found == std::string_view::npos) return 0;
  return static_cast<int32_t>(utf8::Count(text.substr(0, found))) + 1;
}

/// POSITION(a IN s [FROM i]) and LOCATE(a, s[, i]).
Result<ArrayPtr> LocateKernel(const KernelCall& call) {
  const TextOperand wanted(call.arguments[0]);
  const TextOperand text(call.arguments[1]);
  if (call.arguments.size() == 2) {
    return MapValues<int32_t>(
        call, [](std::string_view a, std::string_view s) { return Position(s, a, 1); }, wanted,
        text);
  }
  return MapValues<int32_t>(
      call,
      [](std::string_view a, std::string_view s, int64_t from) { return Position(s, a, from); },
      wanted, text, NumberOperand<int64_t>(call.arguments[2]));
}

/// 1-based position of the nth appearance, searching forward from `from` or backward from -`from`.
int32_t Instr(std::string_view text, std::string_view wanted, int64_t from, int64_t nth) {
  if (from == 0 || nth <= 0) return 0;
  if (from > 0) {
    int32_t position = 0;
    for (int64_t i = 0; i < nth; ++i) {
      position = Position(text, wanted, from);
      if (position == 0 || wanted.empty()) return position;
      from = position + 1;
    }
    return position;
  }
  // Backward: the last start that leaves room, then to the left, appearances may overlap.
  const int64_t length = utf8::Count(text);
  for (int64_t start = length - utf8::Count(wanted) + 2 + from; start >= 1; --start) {
    const size_t at = utf8::Offset(text, start - 1);
    if (text.substr(at).starts_with(wanted) && --nth == 0) return static_cast<int32_t>(start);
  }
  return 0;
}

Result<ArrayPtr> InstrKernel(const KernelCall& call) {
  const TextOperand text(call.arguments[0]);
  const TextOperand wanted(call.arguments[1]);
  switch (call.arguments.size()) {
    case 2:
      return MapValues<int32_t>(
          call, [](std::string_view s, std::string_view a) { return Position(s, a, 1); }, text,
          wanted);
    case 3:
      return MapValues<int32_t>(
          call,
          [](std::string_view s, std::string_view a, int64_t from) { return Instr(s, a, from, 1); },
          text, wanted, NumberOperand<int64_t>(call.arguments[2]));
    default:
      return MapValues<int32_t>(call, &Instr, text, wanted,
                                NumberOperand<int64_t>(call.arguments[2]),
                                NumberOperand<int64_t>(call.arguments[3]));
  }
}

Result<ArrayPtr> ReplaceKernel(const KernelCall& call) {
  const TextOperand input(call.arguments[0]);
  return MapText(
      call, input.byte_count(),
      [](TextBuilder& out, std::string_view text, std::string_view from, std::string_view to) {
        if (from.empty()) {
          out.Append(to);
          for (size_t at = 0; at < text.size();) {
            const size_t length = utf8::LengthAt(text, at);
            out.Append(text.substr(at, length));
            out.Append(to);
            at += length;
          }
          return;
        }
        size_t at = 0;
        while (true) {
          const size_t found = text.find(from, at);
          if (found == std::string_view::npos) break;
          out.Append(text.substr(at, found - at));
          out.Append(to);
          at = found + from.size();
        }
        out.Append(text.substr(at));
      },
      input, TextOperand(call.arguments[1]), TextOperand(call.arguments[2]));
}

Result<ArrayPtr> TranslateKernel(const KernelCall& call) {
  const TextOperand input(call.arguments[0]);
  return MapText(
      call, input.byte_count(),
      [](TextBuilder& out, std::string_view text, std::string_view from, std::string_view to) {
        for (size_t at = 0; at < text.size();) {
          const size_t length = utf8::LengthAt(text, at);
          const std::string_view code_point = text.substr(at, length);
          at += length;
          int64_t index = -1;
          int64_t position = 0;
          for (size_t i = 0; i < from.size() && index < 0; ++position) {
            const size_t step = utf8::LengthAt(from, i);
            if (from.substr(i, step) == code_point) index = position;
            i += step;
          }
          if (index < 0) {
            out.Append(code_point);
            continue;
          }
          const size_t target = utf8::Offset(to, index);
          if (target < to.size()) out.Append(to.substr(target, utf8::LengthAt(to, target)));
        }
      },
      input, TextOperand(call.arguments[1]), TextOperand(call.arguments[2]));
}

/// Field `index` (from 0) of `text` cut at `separator`; nullopt when there is none.
std::optional<std::string_view> Field(std::string_view text, std::string_view separator,
                                      int64_t index) {
  if (index < 0 || text.empty()) return std::nullopt;
  if (separator.empty()) separator = " ";
  size_t at = 0;
  while (true) {
    const size_t end = text.find(separator, at);
    if (index == 0) return text.substr(at, end == std::string_view::npos ? end : end - at);
    if (end == std::string_view::npos) return std::nullopt;
    at = end + separator.size();
    --index;
  }
}

Result<ArrayPtr> SplitIndexKernel(const KernelCall& call) {
  const TextOperand input(call.arguments[0]);
  const NumberOperand<int64_t> index(call.arguments[2]);
  const auto append = [](TextBuilder& out, std::optional<std::string_view> field) {
    if (field) out.Append(*field);
    return field.has_value();
  };
  if (call.arguments[1].type->is_character()) {
    return MapText(
        call, input.byte_count(),
        [&](TextBuilder& out, std::string_view text, std::string_view separator, int64_t i) {
          return append(out, Field(text, separator, i));
        },
        input, TextOperand(call.arguments[1]), index);
  }
  // The separator as the number of a character.
  return MapText(
      call, input.byte_count(),
      [&](TextBuilder& out, std::string_view text, int64_t code, int64_t i) {
        if (code < 0 || code > 255) return false;
        char bytes[4];
        const int length = utf8::Encode(static_cast<char32_t>(code), bytes);
        return append(out, Field(text, {bytes, static_cast<size_t>(length)}, i));
      },
      input, NumberOperand<int64_t>(call.arguments[1]), index);
}

Result<ArrayPtr> SplitKernel(const KernelCall& call) {
  const TextOperand input(call.arguments[0]);
  const TextOperand separators(call.arguments[1]);
  auto values = std::make_shared<arrow::StringBuilder>(call.context.pool);
  arrow::ListBuilder lists(call.context.pool, values, call.result_type.ToArrow());
  for (int64_t row = 0; row < call.row_count; ++row) {
    if (input.IsNull(row) || separators.IsNull(row)) {
      SLUICE_RETURN_ARROW(lists.AppendNull());
      continue;
    }
    SLUICE_RETURN_ARROW(lists.Append());
    const std::string_view text = input[row];
    const std::string_view separator = separators[row];
    size_t at = 0;
    if (separator.empty()) {  // Every character by itself.
      for (; at < text.size(); at += utf8::LengthAt(text, at)) {
        SLUICE_RETURN_ARROW(values->Append(text.substr(at, utf8::LengthAt(text, at))));
      }
      continue;
    }
    while (true) {
      const size_t end = text.find(separator, at);
      SLUICE_RETURN_ARROW(
          values->Append(text.substr(at, end == std::string_view::npos ? end : end - at)));
      if (end == std::string_view::npos) break;
      at = end + separator.size();
    }
  }
  ArrayPtr result;
  SLUICE_RETURN_ARROW(lists.Finish(&result));
  return result;
}

template <bool at_start>
Result<ArrayPtr> EdgeKernel(const KernelCall& call) {
  return MapValues<bool>(
      call,
      [](std::string_view text, std::string_view part) {
        return at_start ? text.starts_with(part) : text.ends_with(part);
      },
      TextOperand(call.arguments[0]), TextOperand(call.arguments[1]));
}

/// NULL and the empty text are FALSE.
template <typename Fn>
Result<ArrayPtr> TestKernel(const KernelCall& call, Fn holds) {
  const TextOperand input(call.arguments[0]);
  auto bits = AllocateBytes(arrow::bit_util::BytesForBits(call.row_count), call.context.pool);
  std::memset(bits->mutable_data(), 0, static_cast<size_t>(bits->size()));
  for (int64_t row = 0; row < call.row_count; ++row) {
    if (!input.IsNull(row) && !input[row].empty() && holds(input[row])) {
      arrow::bit_util::SetBit(bits->mutable_data(), row);
    }
  }
  return MakeFixedArray(arrow::boolean(), call.row_count,
                        NullMask(call.row_count, call.context.pool), std::move(bits));
}

Result<ArrayPtr> IsAlphaKernel(const KernelCall& call) {
  return TestKernel(call, [](std::string_view text) {
    for (size_t at = 0; at < text.size();) {
      if (!IsLetter(utf8::Decode(text, &at))) return false;
    }
    return true;
  });
}

Result<ArrayPtr> IsDigitKernel(const KernelCall& call) {
  return TestKernel(call, [](std::string_view text) {
    for (size_t at = 0; at < text.size();) {
      if (!IsDigitCodePoint(utf8::Decode(text, &at))) return false;
    }
    return true;
  });
}

/// Digits with an optional sign and one point that has a digit on a side.
bool IsDecimalText(std::string_view text) {
  if (text[0] == '-' || text[0] == '+') text.remove_prefix(1);
  bool digit = false;
  bool point = false;
  for (const char c : text) {
    if (c == '.' && !point) {
      point = true;
    } else if (c >= '0' && c <= '9') {
      digit = true;
    } else {
      return false;
    }
  }
  return digit;
}

Result<ArrayPtr> IsDecimalKernel(const KernelCall& call) {
  if (!call.arguments[0].type->is_character()) {  // Numbers are decimals.
    const Operand input(call.arguments[0]);
    auto bits = AllocateBytes(arrow::bit_util::BytesForBits(call.row_count), call.context.pool);
    for (int64_t row = 0; row < call.row_count; ++row) {
      arrow::bit_util::SetBitTo(bits->mutable_data(), row, !input.IsNull(row));
    }
    return MakeFixedArray(arrow::boolean(), call.row_count,
                          NullMask(call.row_count, call.context.pool), std::move(bits));
  }
  return TestKernel(call, &IsDecimalText);
}

Result<ArrayPtr> EltKernel(const KernelCall& call) {
  const NumberOperand<int64_t> index(call.arguments[0]);
  std::vector<TextOperand> texts;
  for (const KernelArgument& argument : call.arguments.subspan(1)) texts.emplace_back(argument);
  NullMask nulls(call.row_count, call.context.pool);
  nulls.Merge(index);
  TextBuilder out(call.row_count, call.row_count * 8, call.context.pool);
  for (int64_t row = 0; row < call.row_count; ++row) {
    if (!nulls.IsNull(row)) {
      const int64_t i = index[row];
      if (i < 1 || i > static_cast<int64_t>(texts.size()) ||
          texts[static_cast<size_t>(i - 1)].IsNull(row)) {
        nulls.SetNull(row);
      } else {
        out.Append(texts[static_cast<size_t>(i - 1)][row]);
      }
    }
    out.EndRow();
  }
  return out.Finish(call.result_type.ToArrow(), nulls);
}

Result<Signature> ResolveElt(std::span<const Argument> arguments) {
  Signature signature;
  for (size_t i = 0; i < arguments.size(); ++i) {
    SqlType type = AcceptedType(i == 0 ? Accept::kInteger : Accept::kText, arguments[i].type);
    if (type.kind() == TypeKind::kNull) return TypesDoNotFit();
    if (i == 1) signature.result = type;
    if (i > 1 && !(type.kind() == TypeKind::kChar && type.length() == signature.result.length() &&
                   signature.result.kind() == TypeKind::kChar)) {
      signature.result = SqlType::Varchar(std::max(type.length(), signature.result.length()));
    }
    signature.arguments.push_back(std::move(type));
  }
  return signature;
}

}  // namespace

std::span<const ScalarFunction> StringSearchFunctions() {
  constexpr std::string_view kGroup = "string";
  using A = Accept;
  const SqlType integer = SqlType::Int();
  const SqlType text = SqlType::String();
  const SqlType boolean = SqlType::Boolean();
  static const ScalarFunction kFunctions[] = {
      {.name = "POSITION",
       .group = kGroup,
       .signatures = {{{A::kText, A::kText}, integer},
                      {{A::kText, A::kText, A::kInteger}, integer}},
       .kernel = &LocateKernel,
       .doc = {"POSITION(a IN s)", "Position of the first a in s, 0 when there is none.",
               "POSITION('l' IN 'hello') => 3"}},
      {.name = "LOCATE",
       .group = kGroup,
       .signatures = {{{A::kText, A::kText}, integer},
                      {{A::kText, A::kText, A::kInteger}, integer}},
       .kernel = &LocateKernel,
       .doc = {"LOCATE(a, s[, from])", "Position of the first a in s at or after from.",
               "LOCATE('l', 'hello', 4) => 4"}},
      {.name = "INSTR",
       .group = kGroup,
       .signatures = {{{A::kText, A::kText}, integer},
                      {{A::kText, A::kText, A::kInteger}, integer},
                      {{A::kText, A::kText, A::kInteger, A::kInteger}, integer}},
       .kernel = &InstrKernel,
       .doc = {"INSTR(s, a[, from[, nth]])",
               "Position of the nth a in s; a negative from searches backward from the end.",
               "INSTR('banana', 'an', -1) => 4"}},
      {.name = "REPLACE",
       .group = kGroup,
       .signatures = {{{A::kText, A::kText, A::kText}, text}},
       .kernel = &ReplaceKernel,
       .doc = {"REPLACE(s, a, b)", "Puts b in place of every a.",
               "REPLACE('aXbX', 'X', '-') => 'a-b-'"}},
      {.name = "TRANSLATE",
       .group = kGroup,
       .signatures = {{{A::kText, A::kText, A::kText}, text}},
       .kernel = &TranslateKernel,
       .doc = {"TRANSLATE(s, from, to)",
               "Puts the nth character of to in place of the nth of from, or nothing.",
               "TRANSLATE('abc', 'ab', 'xy') => 'xyc'"}},
      {.name = "SPLIT_INDEX",
       .group = kGroup,
       .signatures = {{{A::kText, A::kText, A::kInteger}, text},
                      {{A::kText, A::kInteger, A::kInteger}, text}},
       .nulls = Nulls::kAlways,
       .kernel = &SplitIndexKernel,
       .doc = {"SPLIT_INDEX(s, separator, index)", "Field of a separated text, counted from 0.",
               "SPLIT_INDEX('a,b,c', ',', 1) => 'b'"}},
      {.name = "SPLIT",
       .group = kGroup,
       .signatures = {{{A::kText, A::kText}, SqlType::Array(SqlType::String())}},
       .kernel = &SplitKernel,
       .doc = {"SPLIT(s, separator)", "All fields of a separated text.",
               "SPLIT('a,b,c', ',') => ARRAY['a', 'b', 'c']"}},
      {.name = "STARTSWITH",
       .group = kGroup,
       .signatures = {{{A::kText, A::kText}, boolean}, {{A::kBinary, A::kBinary}, boolean}},
       .kernel = &EdgeKernel<true>,
       .doc = {"STARTSWITH(s, a)", "TRUE when s begins with a.", "STARTSWITH('abc', 'a') => TRUE"}},
      {.name = "ENDSWITH",
       .group = kGroup,
       .signatures = {{{A::kText, A::kText}, boolean}, {{A::kBinary, A::kBinary}, boolean}},
       .kernel = &EdgeKernel<false>,
       .doc = {"ENDSWITH(s, a)", "TRUE when s ends with a.", "ENDSWITH('abc', 'c') => TRUE"}},
      {.name = "IS_ALPHA",
       .group = kGroup,
       .signatures = {{{A::kText}, boolean}},
       .nulls = Nulls::kNever,
       .kernel = &IsAlphaKernel,
       .doc = {"IS_ALPHA(s)", "TRUE when all characters are letters.", "IS_ALPHA('ab1') => FALSE"}},
      {.name = "IS_DIGIT",
       .group = kGroup,
       .signatures = {{{A::kText}, boolean}},
       .nulls = Nulls::kNever,
       .kernel = &IsDigitKernel,
       .doc = {"IS_DIGIT(s)", "TRUE when all characters are digits.", "IS_DIGIT('123') => TRUE"}},
      {.name = "IS_DECIMAL",
       .group = kGroup,
       .signatures = {{{A::kText}, boolean}, {{A::kNumber}, boolean}},
       .nulls = Nulls::kNever,
       .kernel = &IsDecimalKernel,
       .doc = {"IS_DECIMAL(s)", "TRUE when the text is a decimal number.",
               "IS_DECIMAL('1.5') => TRUE"}},
      {.name = "ELT",
       .group = kGroup,
       .resolve = &ResolveElt,
       .min_arguments = 2,
       .max_arguments = -1,
       .nulls = Nulls::kAlways,
       .kernel = &EltKernel,
       .doc = {"ELT(index, a, b, …)", "The text at an index from 1, NULL outside.",
               "ELT(2, 'a', 'b') => 'b'"}},
  };
  return kFunctions;
}

}  // namespace sluice::expr
