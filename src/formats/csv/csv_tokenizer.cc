#include "formats/csv/csv_tokenizer.h"

#include <fmt/format.h>

#include "common/text.h"

namespace sluice::formats::csv {
namespace {

char EscapeNeedle(const CsvOptions& options) { return options.escaping ? options.escape : '\n'; }
char QuoteNeedle(const CsvOptions& options) { return options.quoting ? options.quote : '\n'; }

Needles StructureNeedles(const CsvOptions& options) {
  return {{options.field_delimiter[0], '\n', '\r', QuoteNeedle(options), EscapeNeedle(options)}};
}

Needles QuotedNeedles(const CsvOptions& options) {
  const char quote = options.quote;
  const char escape = options.escaping ? options.escape : quote;
  return {{quote, escape, quote, quote, quote}};
}

bool IsBlank(char c) { return c == ' ' || c == '\t'; }

}  // namespace

/// Where the tokeniser stands within one call of Fill.
struct CsvTokenizer::State {
  size_t scan = 0;          // Bytes before it have been looked at.
  uint64_t mask = 0;        // Structure characters in [scan, scan + 64) not yet handled.
  size_t skip_to = 0;       // Structure characters before it are literal (escaped, or LF of CR LF).
  size_t record_begin = 0;
  size_t field_begin = 0;
  int field = 0;
  bool pending = false;     // A quoted field has been closed: `closed` is it.
  bool escaped = false;     // The unquoted field has escapes.
  bool broken = false;      // The record is bad; `reason` says why.
  FieldRef closed{};
  FieldRef last{};          // The field put last.
  FieldRef extra{};         // The first field beyond the last column.
  std::string reason;
};

CsvTokenizer::CsvTokenizer(const CsvOptions& options, const std::vector<int>& slot_of_column)
    : options_(options),
      structure_(StructureNeedles(options)),
      quoted_(QuotedNeedles(options)),
      line_ends_(Needles{{'\n', '\r', '\n', '\n', '\n'}}),
      column_count_(static_cast<int>(slot_of_column.size())),
      slot_of_column_(slot_of_column),
      unwanted_(RecordBlock::kRows) {}

void CsvTokenizer::SetText(const char* text, size_t begin, size_t end, size_t readable, int32_t first_record,
                           int32_t record_limit, bool check_utf8) {
  text_ = text;
  position_ = begin;
  end_ = end;
  readable_ = readable;
  next_record_ = first_record;
  end_record_ = record_limit > INT32_MAX - first_record ? INT32_MAX : first_record + record_limit;
  check_utf8_ = check_utf8;
  bad_.clear();
}

inline bool CsvTokenizer::IsDelimiter(size_t at) const {
  const std::string& delimiter = options_.field_delimiter;
  if (text_[at] != delimiter[0]) return false;
  return delimiter.size() == 1 || (at + delimiter.size() <= end_ &&
                                   std::memcmp(text_ + at, delimiter.data(), delimiter.size()) == 0);
}

size_t CsvTokenizer::SkipBlanks(size_t at) const {
  while (at < end_ && IsBlank(text_[at]) && !IsDelimiter(at)) ++at;
  return at;
}

size_t CsvTokenizer::FindLineEnd(size_t at) const {
  // The scanner may not read past end_: its own tail copy takes care.
  return FindFirst(line_ends_, text_, at, end_);
}

inline uint64_t CsvTokenizer::MatchAt(size_t at) const {
  if (at + 64 <= end_) return structure_.Match64(text_ + at);
  const size_t rest = end_ - at;
  if (at + 64 <= readable_) return structure_.Match64(text_ + at) & ((uint64_t{1} << rest) - 1);
  return MatchTail(structure_, text_ + at, rest);
}

/// Puts the state at the start of a record, behind comment lines.
inline void CsvTokenizer::StartRecord(State& state, size_t at) const {
  if (options_.allow_comments) [[unlikely]] {
    while (at < end_) {
      const size_t first = SkipBlanks(at);
      if (first == end_ || text_[first] != '#') break;
      const size_t line_end = FindLineEnd(first);
      at = std::min(line_end + 1, end_);
      if (line_end + 1 < end_ && text_[line_end] == '\r' && text_[line_end + 1] == '\n') ++at;
      state.skip_to = at;
    }
  }
  state.record_begin = at;
  state.field_begin = at;
  state.field = 0;
  state.pending = false;
  state.escaped = false;
  state.broken = false;
}

/// A field ends before `at`.
inline void CsvTokenizer::PutField(State& state, RecordBlock* block, size_t at) const {
  FieldRef ref;
  if (state.pending) {
    ref = state.closed;
    state.pending = false;
  } else {
    size_t begin = state.field_begin;
    if (options_.trim_spaces) [[unlikely]] {
      begin = SkipBlanks(begin);
      while (at > begin && IsBlank(text_[at - 1])) --at;
      if (begin > at) begin = at;
    }
    ref.begin = static_cast<uint32_t>(begin);
    ref.size_and_flags = static_cast<uint32_t>(at - begin) | (state.escaped ? FieldRef::kEscaped : 0);
    state.escaped = false;
  }
  if (state.field < column_count_) [[likely]] {
    const int slot = slot_of_column_[static_cast<size_t>(state.field)];
    if (slot >= 0) block->column(slot)[block->row_count] = ref;
  } else if (state.field == column_count_) {
    state.extra = ref;
  }
  state.last = ref;
  ++state.field;
}

/// A quote stands at `at`. False: it is an ordinary character. Otherwise the quoted text was read and the scan moved behind.
bool CsvTokenizer::TakeQuote(State& state, size_t at) {
  if (state.pending || (at != state.field_begin &&
                        !(options_.trim_spaces && SkipBlanks(state.field_begin) == at))) {
    return false;
  }
  bool escaped = false;
  size_t close = at + 1;
  while (true) {
    close = FindFirst(quoted_, text_, close, end_);
    if (close >= end_) break;
    if (text_[close] != options_.quote) {  // The escape character.
      escaped = true;
      close = std::min(close + 2, end_);
    } else if (close + 1 < end_ && text_[close + 1] == options_.quote) {
      escaped = true;
      close += 2;
    } else {
      break;
    }
  }
  state.pending = true;
  state.closed.begin = static_cast<uint32_t>(at + 1);
  if (close >= end_) {  // Never closed: the record ends at the first line end, which is where reading can go on.
    close = FindLineEnd(at + 1);
    state.broken = true;
    state.reason = "The quote that opens field " + std::to_string(state.field + 1) + " is never closed.";
    state.scan = state.skip_to = close;
    state.mask = 0;
    state.closed.size_and_flags = static_cast<uint32_t>(close - at - 1) | FieldRef::kQuoted;
    return true;
  }
  state.closed.size_and_flags =
      static_cast<uint32_t>(close - at - 1) | FieldRef::kQuoted | (escaped ? FieldRef::kEscaped : 0);
  size_t next = close + 1;
  if (options_.trim_spaces) next = SkipBlanks(next);
  if (next < end_ && text_[next] != '\n' && text_[next] != '\r' && !IsDelimiter(next) && !state.broken) {
    state.broken = true;
    state.reason = fmt::format(
        "Unexpected character ('{}' (code {})): Expected column separator character ('{}') or end-of-line behind a closing "
        "quote.",
        Printable(std::string_view(text_ + next, 1)), static_cast<unsigned char>(text_[next]),
        Printable(options_.field_delimiter));
  }
  state.scan = next;
  state.mask = 0;
  return true;
}

void CsvTokenizer::Reject(const State& state, size_t at, std::string reason, bool kept) {
  bad_.push_back({next_record_, static_cast<uint32_t>(state.record_begin), static_cast<uint32_t>(at), kept, std::move(reason)});
}

/// The record has too many or too few fields for the table.
void CsvTokenizer::CheckArity(State& state, RecordBlock* block, size_t at) {
  const int count = state.field;
  if (count > column_count_) {
    const bool one_empty = count == column_count_ + 1 && state.last.size_and_flags == 0;
    if (options_.ignore_trailing_unmappable || (one_empty && options_.allow_trailing_comma)) return;
    state.broken = true;
    state.reason = fmt::format("Too many entries: expected at most {} (value #{} ({} chars) \"{}\"). Set '{}ignore-trailing-unmappable' "
                               "= 'true' to drop such fields.",
                               column_count_, column_count_, state.extra.size(),
                               Printable({text_ + state.extra.begin, state.extra.size()}), options_.prefix);
    return;
  }
  if (options_.fail_on_missing_columns) {
    state.broken = true;
    state.reason = fmt::format("Not enough column values: expected {}, found {}.", column_count_, count);
    return;
  }
  std::string reason = fmt::format("Row length mismatch. {} fields expected but was {}.", column_count_, count);
  if (!options_.ignore_parse_errors) {
    state.broken = true;
    state.reason = std::move(reason);
    return;
  }
  for (int column = count; column < column_count_; ++column) {
    const int slot = slot_of_column_[static_cast<size_t>(column)];
    if (slot >= 0) block->column(slot)[block->row_count] = {0, FieldRef::kMissing};
  }
  Reject(state, at, std::move(reason), true);
}

/// The record ends before `at`. False when nothing more is to be read: a bad record that is not to be ignored.
inline bool CsvTokenizer::EndRecord(State& state, RecordBlock* block, size_t at, size_t next) {
  const bool blank = state.field == 0 && state.field_begin == at && !state.pending && column_count_ != 1;
  if (!blank) {
    PutField(state, block, at);
    if (state.field != column_count_ && !state.broken) [[unlikely]] CheckArity(state, block, at);
    if (check_utf8_ && !state.broken) [[unlikely]] {
      if (!IsValidUtf8({text_ + state.record_begin, at - state.record_begin})) {
        state.broken = true;
        state.reason = "The record has bytes that are not UTF-8.";
      }
    }
    if (!state.broken) [[likely]] {
      block->record_begin[static_cast<size_t>(block->row_count)] = static_cast<uint32_t>(state.record_begin);
      block->record_number[static_cast<size_t>(block->row_count)] = next_record_;
      ++block->row_count;
    } else {
      Reject(state, at, std::move(state.reason), false);
    }
  }
  ++next_record_;
  position_ = next;
  if ((state.broken && !options_.ignore_parse_errors) || next_record_ >= end_record_) {
    position_ = end_;
    return false;
  }
  StartRecord(state, next);
  return true;
}

void CsvTokenizer::Fill(RecordBlock* block, int row_limit) {
  if (position_ >= end_ || block->row_count >= row_limit) return;
  State state;
  StartRecord(state, position_);
  state.scan = state.record_begin;
  while (state.scan < end_) {
    const size_t base = state.scan;
    state.scan += 64;
    state.mask = MatchAt(base);
    while (state.mask != 0) {
      const size_t at = base + static_cast<size_t>(std::countr_zero(state.mask));
      state.mask &= state.mask - 1;
      if (at < state.skip_to) [[unlikely]] continue;
      const char c = text_[at];
      if (c == '\n' || c == '\r') {
        size_t next = at + 1;
        if (c == '\r' && next < end_ && text_[next] == '\n') ++next;
        state.skip_to = next;
        if (!EndRecord(state, block, at, next) || block->row_count >= row_limit) return;
      } else if (IsDelimiter(at)) {
        PutField(state, block, at);
        state.field_begin = at + options_.field_delimiter.size();
      } else if (options_.quoting && c == options_.quote) {
        TakeQuote(state, at);  // Moves the scan and clears the mask when it is one.
      } else if (options_.escaping && c == options_.escape) {
        state.skip_to = at + 2;
        state.escaped = true;
      }
    }
  }
  const bool open = state.field > 0 || state.pending || state.field_begin < end_;
  if (open) EndRecord(state, block, end_, end_);
  position_ = end_;
}

}  // namespace sluice::formats::csv
