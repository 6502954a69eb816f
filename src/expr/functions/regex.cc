// REGEXP and its family.
#include "expr/regex.h"

#include <arrow/api.h>

#include "expr/functions/lists.h"
#include "expr/kernel_support.h"
#include "expr/utf8.h"

namespace sluice::expr {

namespace {

/// The regex of a row: constants are looked up once.
class RegexSource {
 public:
  explicit RegexSource(const TextOperand& patterns) : patterns_(patterns) {
    if (patterns.constant() && !patterns.IsNull(0)) constant_ = Regex::Get(patterns[0]);
  }
  Regex* Get(std::string_view pattern) const {
    return patterns_.constant() ? constant_ : Regex::Get(pattern);
  }

 private:
  const TextOperand& patterns_;
  Regex* constant_ = nullptr;
};

/// Byte behind an empty match at `at` from which to search on.
size_t Next(std::string_view text, size_t at) {
  return at < text.size() ? at + utf8::LengthAt(text, at) : at + 1;
}

/// Calls `fn(begin, end)` for each match until it answers false.
template <typename Fn>
Status EachMatch(Regex& regex, std::string_view text, Fn fn) {
  for (size_t from = 0; from <= text.size();) {
    SLUICE_ASSIGN_OR_RETURN(const bool found, regex.Find(text, from));
    if (!found) return {};
    const auto [begin, end] = *regex.Group(0);
    if (!fn(begin, end)) return {};
    from = end > begin ? end : Next(text, end);
  }
  return {};
}

Result<ArrayPtr> RegexpKernel(const KernelCall& call) {
  const TextOperand patterns(call.arguments[1]);
  const RegexSource source(patterns);
  return MapValues<bool>(
      call,
      [&](std::string_view text, std::string_view pattern) -> Result<bool> {
        Regex* regex = source.Get(pattern);
        if (regex == nullptr || pattern.empty()) return false;
        return regex->Find(text, 0);
      },
      TextOperand(call.arguments[0]), patterns);
}

template <bool substr>
Result<ArrayPtr> ExtractKernel(const KernelCall& call) {
  const TextOperand input(call.arguments[0]);
  const TextOperand patterns(call.arguments[1]);
  const RegexSource source(patterns);
  const auto extract = [&](TextBuilder& out, std::string_view text, std::string_view pattern,
                           int64_t index) -> Result<bool> {
    Regex* regex = source.Get(pattern);
    if (regex == nullptr) return false;
    SLUICE_ASSIGN_OR_RETURN(const bool found, regex->Find(text, 0));
    if (!found) return false;
    const auto group = regex->Group(index);
    if (!group) return false;
    out.Append(text.substr(group->first, group->second - group->first));
    return true;
  };
  if (call.arguments.size() == 2) {
    return MapText(
        call, input.byte_count(),
        [&](TextBuilder& out, std::string_view text, std::string_view pattern) {
          return extract(out, text, pattern, 0);
        },
        input, patterns);
  }
  return MapText(call, input.byte_count(), extract, input, patterns,
                 NumberOperand<int64_t>(call.arguments[2]));
}

/// The replacement is literal text; a bad regex gives NULL.
Result<ArrayPtr> ReplaceKernel(const KernelCall& call) {
  const TextOperand input(call.arguments[0]);
  const TextOperand patterns(call.arguments[1]);
  const RegexSource source(patterns);
  return MapText(
      call, input.byte_count(),
      [&](TextBuilder& out, std::string_view text, std::string_view pattern,
          std::string_view replacement) -> Result<bool> {
        Regex* regex = source.Get(pattern);
        if (regex == nullptr) return false;
        size_t copied = 0;
        SLUICE_RETURN_NOT_OK(EachMatch(*regex, text, [&](size_t begin, size_t end) {
          out.Append(text.substr(copied, begin - copied));
          out.Append(replacement);
          copied = end;
          return true;
        }));
        out.Append(text.substr(copied));
        return true;
      },
      input, patterns, TextOperand(call.arguments[2]));
}

Result<ArrayPtr> CountKernel(const KernelCall& call) {
  const TextOperand patterns(call.arguments[1]);
  const RegexSource source(patterns);
  return MapValues<int32_t>(
      call,
      [&](std::string_view text, std::string_view pattern) -> Result<std::optional<int32_t>> {
        Regex* regex = source.Get(pattern);
        if (regex == nullptr) return std::optional<int32_t>();
        int32_t count = 0;
        SLUICE_RETURN_NOT_OK(EachMatch(*regex, text, [&](size_t, size_t) {
          ++count;
          return true;
        }));
        return std::optional<int32_t>(count);
      },
      TextOperand(call.arguments[0]), patterns);
}

Result<ArrayPtr> InstrKernel(const KernelCall& call) {
  const TextOperand patterns(call.arguments[1]);
  const RegexSource source(patterns);
  return MapValues<int32_t>(
      call,
      [&](std::string_view text, std::string_view pattern) -> Result<std::optional<int32_t>> {
        Regex* regex = source.Get(pattern);
        if (regex == nullptr) return std::optional<int32_t>();
        SLUICE_ASSIGN_OR_RETURN(const bool found, regex->Find(text, 0));
        if (!found) return std::optional<int32_t>(0);
        const size_t begin = regex->Group(0)->first;
        return std::optional<int32_t>(static_cast<int32_t>(utf8::Count(text.substr(0, begin))) + 1);
      },
      TextOperand(call.arguments[0]), patterns);
}

Result<ArrayPtr> ExtractAllKernel(const KernelCall& call) {
  const TextOperand input(call.arguments[0]);
  const TextOperand patterns(call.arguments[1]);
  std::optional<NumberOperand<int64_t>> groups;
  if (call.arguments.size() == 3) groups.emplace(call.arguments[2]);
  auto values = std::make_shared<arrow::StringBuilder>(call.context.pool);
  arrow::ListBuilder lists(call.context.pool, values, call.result_type.ToArrow());
  for (int64_t row = 0; row < call.row_count; ++row) {
    const bool null = input.IsNull(row) || patterns.IsNull(row) || (groups && groups->IsNull(row));
    Regex* regex = null ? nullptr : Regex::Get(patterns[row]);
    const int64_t index = null ? 0 : groups ? (*groups)[row] : 1;
    if (regex == nullptr || index < 0 || index > regex->group_count()) {
      SLUICE_RETURN_ARROW(lists.AppendNull());
      continue;
    }
    SLUICE_RETURN_ARROW(lists.Append());
    const std::string_view text = input[row];
    arrow::Status appended;
    SLUICE_RETURN_NOT_OK(EachMatch(*regex, text, [&](size_t, size_t) {
      const auto group = regex->Group(index);
      appended = group ? values->Append(text.substr(group->first, group->second - group->first))
                       : values->AppendNull();
      return appended.ok();
    }));
    SLUICE_RETURN_ARROW(appended);
  }
  ArrayPtr result;
  SLUICE_RETURN_ARROW(lists.Finish(&result));
  return result;
}

}  // namespace

std::span<const ScalarFunction> RegexFunctions() {
  constexpr std::string_view kGroup = "string";
  using A = Accept;
  const SqlType text = SqlType::String();
  static const ScalarFunction kFunctions[] = {
      {.name = "REGEXP",
       .group = kGroup,
       .signatures = {{{A::kText, A::kText}, SqlType::Boolean()}},
       .kernel = &RegexpKernel,
       .doc = {"REGEXP(s, regex)", "TRUE when some part of s matches.",
               "REGEXP('abc', 'b.') => TRUE"}},
      {.name = "REGEXP_EXTRACT",
       .group = kGroup,
       .signatures = {{{A::kText, A::kText}, text}, {{A::kText, A::kText, A::kInteger}, text}},
       .nulls = Nulls::kAlways,
       .kernel = &ExtractKernel<false>,
       .doc = {"REGEXP_EXTRACT(s, regex[, group = 0])", "A group of the first match.",
               "REGEXP_EXTRACT('foothebar', 'foo(.*?)(bar)', 2) => 'bar'"}},
      {.name = "REGEXP_REPLACE",
       .group = kGroup,
       .signatures = {{{A::kText, A::kText, A::kText}, text}},
       .kernel = &ReplaceKernel,
       .doc = {"REGEXP_REPLACE(s, regex, replacement)",
               "Puts the replacement, taken literally, in place of every match.",
               "REGEXP_REPLACE('a1b22', '[0-9]+', '#') => 'a#b#'"}},
      {.name = "REGEXP_COUNT",
       .group = kGroup,
       .signatures = {{{A::kText, A::kText}, SqlType::Int()}},
       .nulls = Nulls::kAlways,
       .kernel = &CountKernel,
       .doc = {"REGEXP_COUNT(s, regex)", "Number of matches.", "REGEXP_COUNT('abcb', 'b') => 2"}},
      {.name = "REGEXP_INSTR",
       .group = kGroup,
       .signatures = {{{A::kText, A::kText}, SqlType::Int()}},
       .nulls = Nulls::kAlways,
       .kernel = &InstrKernel,
       .doc = {"REGEXP_INSTR(s, regex)", "Position of the first match, 0 when there is none.",
               "REGEXP_INSTR('abcb', 'c') => 3"}},
      {.name = "REGEXP_SUBSTR",
       .group = kGroup,
       .signatures = {{{A::kText, A::kText}, text}},
       .nulls = Nulls::kAlways,
       .kernel = &ExtractKernel<true>,
       .doc = {"REGEXP_SUBSTR(s, regex)", "The first match.",
               "REGEXP_SUBSTR('a12b3', '[0-9]+') => '12'"}},
      {.name = "REGEXP_EXTRACT_ALL",
       .group = kGroup,
       .signatures = {{{A::kText, A::kText}, SqlType::Array(text)},
                      {{A::kText, A::kText, A::kInteger}, SqlType::Array(text)}},
       .nulls = Nulls::kAlways,
       .kernel = &ExtractAllKernel,
       .doc = {"REGEXP_EXTRACT_ALL(s, regex[, group = 1])", "A group of every match.",
               "REGEXP_EXTRACT_ALL('a1b2', '([0-9])') => ARRAY['1', '2']"}},
  };
  return kFunctions;
}

}  // namespace sluice::expr
