#include "formats/csv/csv_framer.h"

#include <algorithm>

namespace sluice::formats::csv {
namespace {

char QuoteOrLineEnd(const CsvOptions& options) { return options.quoting ? options.quote : '\n'; }

bool EndsWithDelimiter(std::string_view text, size_t end, const std::string& delimiter) {
  return end >= delimiter.size() &&
         text.compare(end - delimiter.size(), delimiter.size(), delimiter) == 0;
}

bool IsDelimiter(const CsvOptions& options, std::string_view text, size_t at) {
  return text.compare(at, options.field_delimiter.size(), options.field_delimiter) == 0;
}

/// The next character that is none.
size_t SkipBlanks(const CsvOptions& options, std::string_view text, size_t at) {
  while (at < text.size() && IsBlank(text[at]) && !IsDelimiter(options, text, at)) ++at;
  return at;
}

size_t BehindLineEnd(std::string_view text, size_t at) {
  return text[at] == '\r' && at + 1 < text.size() && text[at + 1] == '\n' ? at + 2 : at + 1;
}

/// Behind the quoted text that opens before `at`; npos when it is not closed.
size_t BehindQuoted(const CsvOptions& options, std::string_view text, size_t at) {
  while (at < text.size()) {
    if (options.escaping && text[at] == options.escape) {
      at += 2;
    } else if (text[at] != options.quote) {
      ++at;
    } else if (at + 1 < text.size() && text[at + 1] == options.quote) {
      at += 2;
    } else {
      return at + 1;
    }
  }
  return std::string_view::npos;
}

}  // namespace

CsvFramer::CsvFramer(CsvOptions options)
    : options_(std::move(options)),
      structure_(Needles{{'\n', '\r', QuoteOrLineEnd(options_), '\n', '\n'}}),
      quote_(Needles{
          {options_.quote, options_.quote, options_.quote, options_.quote, options_.quote}}) {}

size_t CsvFramer::CompletePrefix(std::string_view bytes, bool at_end_of_file) {
  if (at_end_of_file || bytes.empty()) return bytes.size();
  // A CR at the very end may be the first half of CR LF: the record ends there only once more is
  // known.
  if (bytes.back() == '\r') bytes.remove_suffix(1);
  // Where a first record is looked for, what only stands before it is none.
  if (options_.ignore_first_line && BehindHeader(bytes, 0) > bytes.size()) return 0;
  const bool quick = !options_.escaping && !options_.trim_spaces && !options_.allow_comments;
  return quick ? QuickPrefix(bytes) : CarefulPrefix(bytes);
}

size_t CsvFramer::BehindHeader(std::string_view text, size_t begin) const {
  while (begin < text.size()) {
    const size_t next = NextRecord(options_, text, begin);
    const size_t first = SkipBlanks(options_, text, begin);
    const bool comment = options_.allow_comments && first < text.size() && text[first] == '#';
    const bool blank = text[begin] == '\n' || text[begin] == '\r';
    if ((!comment && !blank) || next > text.size()) return next;
    begin = next;
  }
  return std::string_view::npos;
}

/// Looks at line ends and quotes only; blocks without a quote cost a few instructions.
size_t CsvFramer::QuickPrefix(std::string_view text) const {
  size_t complete = 0;
  size_t scan = 0;
  while (scan < text.size()) {
    const size_t base = scan;
    const size_t rest = text.size() - base;
    uint64_t mask = rest >= 64 ? structure_.Match64(text.data() + base)
                               : MatchTail(structure_, text.data() + base, rest);
    scan += 64;
    while (mask != 0) {
      const size_t at = base + static_cast<size_t>(std::countr_zero(mask));
      mask &= mask - 1;
      if (text[at] == '\n' || text[at] == '\r') {
        complete = at + 1;
        continue;
      }
      const bool opens = at == 0 || text[at - 1] == '\n' || text[at - 1] == '\r' ||
                         EndsWithDelimiter(text, at, options_.field_delimiter);
      if (!opens) continue;
      size_t close = at + 1;
      while (true) {
        close = FindFirst(quote_, text.data(), close, text.size());
        if (close + 1 >= text.size())
          return complete;  // Not closed yet, or perhaps the first of a doubled quote.
        if (text[close + 1] != options_.quote) break;
        close += 2;
      }
      scan = close + 1;
      mask = 0;
    }
  }
  return complete;
}

size_t CsvFramer::CarefulPrefix(std::string_view text) const {
  size_t complete = 0;
  while (complete < text.size()) {
    const size_t next = NextRecord(options_, text, complete);
    if (next == std::string_view::npos) break;
    complete = next;
  }
  return complete;
}

size_t CsvFramer::NextRecord(const CsvOptions& options, std::string_view text, size_t begin) {
  size_t at = begin;
  const size_t first = options.allow_comments ? SkipBlanks(options, text, at) : at;
  if (options.allow_comments && first < text.size() && text[first] == '#') {
    const size_t line_end = text.find_first_of("\r\n", first);
    return line_end == std::string_view::npos ? line_end : BehindLineEnd(text, line_end);
  }
  bool field_start = true;
  while (at < text.size()) {
    if (field_start) {
      field_start = false;
      const size_t quote = options.trim_spaces ? SkipBlanks(options, text, at) : at;
      if (options.quoting && quote < text.size() && text[quote] == options.quote) {
        at = BehindQuoted(options, text, quote + 1);
        if (at == std::string_view::npos) return at;
        continue;
      }
    }
    const char c = text[at];
    if (c == '\n' || c == '\r') return BehindLineEnd(text, at);
    if (options.escaping && c == options.escape) {
      at += 2;
    } else if (IsDelimiter(options, text, at)) {
      at += options.field_delimiter.size();
      field_start = true;
    } else {
      ++at;
    }
  }
  return std::string_view::npos;
}

}  // namespace sluice::formats::csv
