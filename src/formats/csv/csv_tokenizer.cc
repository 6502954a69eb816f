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

// Looking for simple records costs as much as cutting a few of others.
constexpr int kLeastRowsByHand = 16;
constexpr size_t kLeastSimpleBytes = 256;

}  // namespace

/// Where the tokeniser stands within one call of Fill.
struct CsvTokenizer::State {
  size_t scan = 0;  // Bytes before it have been looked at.
  size_t skip_to =
      0;  // Structure characters before it are literal (escaped, doubled, the LF of CR LF).
  size_t record_begin = 0;
  size_t field_begin = 0;
  size_t quote_begin = 0;  // Behind the opening quote.
  int field = 0;
  int row = 0;
  bool in_quote = false;
  bool closed = false;   // The field was quoted and has ended: `quoted` is it.
  bool escaped = false;  // The field has escapes or doubled quotes.
  bool broken = false;   // The record is bad; `reason` says why.
  FieldRef quoted{};
  FieldRef last{};   // The field put last.
  FieldRef extra{};  // The first field beyond the last column.
  std::string reason;
};

CsvTokenizer::CsvTokenizer(const CsvOptions& options, const std::vector<int>& slot_of_column,
                           text::VectorLevel level)
    : options_(options),
      structure_(StructureNeedles(options)),
      line_ends_(Needles{{'\n', '\r', '\n', '\n', '\n'}}),
      column_count_(static_cast<int>(slot_of_column.size())),
      plain_(!options.trim_spaces && !options.allow_comments && !options.escaping &&
             options.field_delimiter.size() == 1),
      simple_records_(options.field_delimiter[0],
                      options.quoting ? std::optional<char>(options.quote) : std::nullopt,
                      column_count_, level),
      rows_by_hand_(kLeastRowsByHand),
      slot_of_column_(slot_of_column),
      unwanted_(RecordBlock::kRows),
      targets_(slot_of_column.size()) {}

void CsvTokenizer::SetText(const char* text, size_t begin, size_t end, size_t readable,
                           int32_t first_record, int32_t record_limit, bool check_utf8) {
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
  return delimiter.size() == 1 ||
         (at + delimiter.size() <= end_ &&
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
void CsvTokenizer::StartRecord(State& state, size_t at) const {
  if (options_.allow_comments) {
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
  state.in_quote = false;
  state.closed = false;
  state.escaped = false;
  state.broken = false;
}

/// A field ends before `at`.
template <bool kPlain>
inline void CsvTokenizer::PutField(State& state, size_t at) {
  FieldRef ref;
  if (state.closed) {
    ref = state.quoted;
    state.closed = false;
  } else {
    size_t begin = state.field_begin;
    if (!kPlain && options_.trim_spaces) {
      begin = SkipBlanks(begin);
      while (at > begin && IsBlank(text_[at - 1])) --at;
      if (begin > at) begin = at;
    }
    ref.begin = static_cast<uint32_t>(begin);
    ref.size_and_flags = static_cast<uint32_t>(at - begin);
    if (!kPlain && state.escaped) ref.size_and_flags |= FieldRef::kEscaped;
  }
  state.escaped = false;
  if (state.field < column_count_) [[likely]] {
    targets_[static_cast<size_t>(state.field)][state.row] = ref;
  } else {
    if (state.field == column_count_) state.extra = ref;
    state.last = ref;
  }
  ++state.field;
}

/// A quote at `at` opens quoted text only as the first character of its field.
inline bool CsvTokenizer::OpensQuote(const State& state, size_t at) const {
  if (state.closed) return false;
  return at == state.field_begin || (options_.trim_spaces && SkipBlanks(state.field_begin) == at);
}

/// The quote at `at` closes the quoted text, unless it is the first of a doubled one.
inline void CsvTokenizer::CloseQuote(State& state, size_t at) {
  size_t next = at + 1;
  if (next < end_ && text_[next] == options_.quote) {
    state.escaped = true;
    state.skip_to = at + 2;
    return;
  }
  state.in_quote = false;
  state.closed = true;
  state.quoted.begin = static_cast<uint32_t>(state.quote_begin);
  state.quoted.size_and_flags = static_cast<uint32_t>(at - state.quote_begin) | FieldRef::kQuoted |
                                (state.escaped ? FieldRef::kEscaped : 0);
  if (options_.trim_spaces) next = SkipBlanks(next);
  if (next >= end_ || text_[next] == '\n' || text_[next] == '\r' || IsDelimiter(next) ||
      state.broken) [[likely]]
    return;
  state.broken = true;
  state.reason = fmt::format(
      "Unexpected character ('{}' (code {})): Expected column separator character ('{}') or "
      "end-of-line behind a closing quote.",
      Printable(std::string_view(text_ + next, 1)), static_cast<unsigned char>(text_[next]),
      Printable(options_.field_delimiter));
}

void CsvTokenizer::Reject(const State& state, size_t at, std::string reason, bool kept) {
  bad_.push_back({next_record_, static_cast<uint32_t>(state.record_begin),
                  static_cast<uint32_t>(at), kept, std::move(reason)});
}

/// The record has too many or too few fields for the table.
void CsvTokenizer::CheckArity(State& state, RecordBlock* block, size_t at) {
  const int count = state.field;
  if (count > column_count_) {
    const bool one_empty = count == column_count_ + 1 && state.last.size_and_flags == 0;
    if (options_.ignore_trailing_unmappable || (one_empty && options_.allow_trailing_comma)) return;
    state.broken = true;
    state.reason = fmt::format(
        "Too many entries: expected at most {} (value #{} ({} chars) \"{}\"). Set "
        "'{}ignore-trailing-unmappable' "
        "= 'true' to drop such fields.",
        column_count_, column_count_, state.extra.size(),
        Printable({text_ + state.extra.begin, state.extra.size()}), options_.prefix);
    return;
  }
  if (options_.fail_on_missing_columns) {
    state.broken = true;
    state.reason =
        fmt::format("Not enough column values: expected {}, found {}.", column_count_, count);
    return;
  }
  std::string reason =
      fmt::format("Row length mismatch. {} fields expected but was {}.", column_count_, count);
  if (!options_.ignore_parse_errors) {
    state.broken = true;
    state.reason = std::move(reason);
    return;
  }
  for (int column = count; column < column_count_; ++column) {
    const int slot = slot_of_column_[static_cast<size_t>(column)];
    if (slot >= 0) block->column(slot)[state.row] = {0, FieldRef::kMissing};
  }
  Reject(state, at, std::move(reason), true);
}

/// The record ends before `at`. False when nothing more is to be read: enough records, or a bad one
/// that is not to be ignored.
template <bool kPlain>
inline bool CsvTokenizer::EndRecord(State& state, RecordBlock* block, size_t at, size_t next) {
  if (state.field + 1 != column_count_ || state.broken || check_utf8_) [[unlikely]] {
    return EndOddRecord(state, block, at, next);
  }
  PutField<kPlain>(state, at);
  block->record_begin[static_cast<size_t>(state.row)] = static_cast<uint32_t>(state.record_begin);
  block->record_number[static_cast<size_t>(state.row)] = next_record_;
  ++state.row;
  ++next_record_;
  if (!kPlain) {
    StartRecord(state, next);
  } else {
    state.record_begin = state.field_begin = next;
    state.field = 0;
  }
  return next_record_ < end_record_;
}

/// A record that may be blank, bad or of the wrong length.
bool CsvTokenizer::EndOddRecord(State& state, RecordBlock* block, size_t at, size_t next) {
  const bool blank =
      state.field == 0 && state.field_begin == at && !state.closed && column_count_ != 1;
  if (!blank) {
    PutField<false>(state, at);
    if (state.field != column_count_ && !state.broken) CheckArity(state, block, at);
    if (check_utf8_ && !state.broken &&
        !IsValidUtf8({text_ + state.record_begin, at - state.record_begin})) {
      state.broken = true;
      state.reason = "The record has bytes that are not UTF-8.";
    }
    if (state.broken) {
      Reject(state, at, std::move(state.reason), false);
    } else {
      block->record_begin[static_cast<size_t>(state.row)] =
          static_cast<uint32_t>(state.record_begin);
      block->record_number[static_cast<size_t>(state.row)] = next_record_;
      ++state.row;
    }
  }
  ++next_record_;
  const bool go_on = (!state.broken || options_.ignore_parse_errors) && next_record_ < end_record_;
  StartRecord(state, next);
  return go_on;
}

/// The text ends inside quotes: the record is taken to end at the first line end, which is where
/// reading can go on.
bool CsvTokenizer::EndUnclosedQuote(State& state, RecordBlock* block) {
  const size_t line_end = FindLineEnd(state.quote_begin);
  size_t next = std::min(line_end + 1, end_);
  if (next < end_ && text_[line_end] == '\r' && text_[next] == '\n') ++next;
  state.broken = true;
  state.reason =
      "The quote that opens field " + std::to_string(state.field + 1) + " is never closed.";
  state.closed = true;
  state.quoted = {static_cast<uint32_t>(state.quote_begin), FieldRef::kQuoted};
  state.scan = state.skip_to = next;
  return EndOddRecord(state, block, line_end, next);
}

void CsvTokenizer::Fill(RecordBlock* block, int row_limit) {
  if (position_ >= end_ || block->row_count >= row_limit) return;
  for (size_t i = 0; i < targets_.size(); ++i) {
    targets_[i] = slot_of_column_[i] < 0 ? unwanted_.data() : block->column(slot_of_column_[i]);
  }
  while (position_ < end_ && block->row_count < row_limit) {
    const bool simple = MayHaveSimpleRecords();
    if (simple) FillSimple(block, row_limit);
    if (position_ < end_ && block->row_count < row_limit)
      FillAny(block, simple ? std::min(row_limit, block->row_count + rows_by_hand_) : row_limit);
  }
}

bool CsvTokenizer::MayHaveSimpleRecords() const {
  return plain_ && !check_utf8_ && end_ - position_ >= kLeastSimpleBytes;
}

/// Takes simple records as long as they follow one another.
void CsvTokenizer::FillSimple(RecordBlock* block, int row_limit) {
  const int before = block->row_count;
  while (block->row_count < row_limit && next_record_ < end_record_) {
    const int rows = simple_records_.Find(
        text_, position_, end_, std::min(row_limit - block->row_count, end_record_ - next_record_));
    if (rows == 0) break;
    const auto columns = static_cast<size_t>(column_count_);
    const uint32_t* const ends = simple_records_.field_ends();
    const auto row = static_cast<size_t>(block->row_count);
    for (size_t column = 0; column < columns; ++column) {
      if (slot_of_column_[column] < 0) continue;
      FieldRef* to = targets_[column] + row;
      const uint32_t* end = ends + column;
      for (int i = 0; i < rows; ++i, end += columns) *to++ = {end[-1] + 1, end[0] - end[-1] - 1};
    }
    for (size_t i = 0; i < static_cast<size_t>(rows); ++i) {
      block->record_begin[row + i] = ends[static_cast<ptrdiff_t>(i * columns) - 1] + 1;
      block->record_number[row + i] = next_record_ + static_cast<int32_t>(i);
    }
    position_ = ends[static_cast<size_t>(rows) * columns - 1] + 1;
    block->row_count += rows;
    next_record_ += rows;
  }
  if (next_record_ >= end_record_) position_ = end_;
  rows_by_hand_ = block->row_count > before ? kLeastRowsByHand
                                            : std::min(2 * rows_by_hand_, RecordBlock::kRows);
}

void CsvTokenizer::FillAny(RecordBlock* block, int row_limit) {
  State state;
  state.row = block->row_count;
  StartRecord(state, position_);
  state.scan = state.record_begin;
  if (plain_) {
    FillFrom<true>(state, block, row_limit);
  } else {
    FillFrom<false>(state, block, row_limit);
  }
  block->row_count = state.row;
}

/// Handles the structure characters one after the other; what lies between is never looked at.
template <bool kPlain>
void CsvTokenizer::FillFrom(State& outer, RecordBlock* block, int row_limit) {
  State& state = outer;
  const char delimiter = options_.field_delimiter[0];
  const char quote = options_.quote;
  while (true) {
    while (state.scan < end_) {
      const size_t base = state.scan;
      state.scan += 64;
      for (uint64_t mask = MatchAt(base); mask != 0; mask &= mask - 1) {
        const size_t at = base + static_cast<size_t>(std::countr_zero(mask));
        if (at < state.skip_to) [[unlikely]]
          continue;
        const char c = text_[at];
        if (state.in_quote) {
          if (c == quote) {
            CloseQuote(state, at);
          } else if (!kPlain && options_.escaping && c == options_.escape) {
            state.escaped = true;
            state.skip_to = at + 2;
          }
        } else if (kPlain ? c == delimiter : IsDelimiter(at)) {
          PutField<kPlain>(state, at);
          state.field_begin = at + (kPlain ? 1 : options_.field_delimiter.size());
        } else if (c == '\n' || c == '\r') {
          size_t next = at + 1;
          if (c == '\r' && next < end_ && text_[next] == '\n') state.skip_to = ++next;
          const bool go_on = EndRecord<kPlain>(state, block, at, next);
          if (!go_on || state.row >= row_limit) {
            position_ = go_on ? next : end_;
            return;
          }
        } else if (c == quote && options_.quoting) {
          if (!OpensQuote(state, at)) continue;
          state.in_quote = true;
          state.quote_begin = at + 1;
        } else if (!kPlain && options_.escaping && c == options_.escape) {
          state.skip_to = at + 2;
          state.escaped = true;
        }
      }
    }
    if (state.in_quote) {
      const bool go_on = EndUnclosedQuote(state, block);
      if (go_on && state.row < row_limit) continue;
      position_ = go_on ? state.scan : end_;
      return;
    }
    const bool open = state.field > 0 || state.closed || state.field_begin < end_;
    if (open) EndRecord<kPlain>(state, block, end_, end_);
    position_ = end_;
    return;
  }
}

}  // namespace sluice::formats::csv
