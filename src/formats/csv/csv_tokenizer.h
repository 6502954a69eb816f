// Cuts csv text into records and fields, a block of rows at a time, by position only: nothing is
// copied or converted.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "formats/csv/csv_options.h"
#include "formats/csv/csv_scan.h"
#include "formats/csv/record_scan.h"

namespace sluice::formats::csv {

/// Text handed in at once is shorter than this: positions and flags share 32 bits.
constexpr size_t kMaxTextBytes = (size_t{1} << 30) - 16;

/// Where a field's text is. Quotes are not part of it; doubled quotes and escapes still are.
struct FieldRef {
  uint32_t begin;
  uint32_t size_and_flags;

  static constexpr uint32_t kQuoted = 1u << 31;
  static constexpr uint32_t kEscaped = 1u << 30;  // Doubled quotes or escapes to be resolved.
  static constexpr uint32_t kMissing = (1u << 30) - 1;

  uint32_t size() const { return size_and_flags & kMissing; }
  bool plain() const { return (size_and_flags & ~kMissing) == 0; }
  bool quoted() const { return (size_and_flags & kQuoted) != 0; }
  bool escaped() const { return (size_and_flags & kEscaped) != 0; }
  bool missing() const { return size_and_flags == kMissing; }
};

/// Up to kRows tokenised records, the wanted fields column by column.
struct RecordBlock {
  static constexpr int kRows = 1024;

  explicit RecordBlock(int slot_count) : fields(static_cast<size_t>(slot_count) * kRows) {}
  const FieldRef* column(int slot) const {
    return fields.data() + static_cast<size_t>(slot) * kRows;
  }
  FieldRef* column(int slot) { return fields.data() + static_cast<size_t>(slot) * kRows; }

  int row_count = 0;
  std::vector<FieldRef> fields;
  std::array<uint32_t, kRows> record_begin;  // Of the record in the text.
  std::array<int32_t, kRows> record_number;
};

/// A record that could not be cut into the table's fields, or was cut short with missing fields
/// left NULL.
struct BadCut {
  int32_t record_number;
  uint32_t begin;
  uint32_t end;
  bool kept;  // Only fields are missing; the row stays.
  std::string reason;
};

class CsvTokenizer {
 public:
  /// `slot_of_column[c]`: place of column c in the blocks, -1 when nobody wants it.
  CsvTokenizer(const CsvOptions& options, const std::vector<int>& slot_of_column,
               text::VectorLevel level = text::BestVectorLevel());

  /// Text to cut: records in [begin, end). Bytes up to `readable` may be read. `check_utf8`: some
  /// byte of the text is not UTF-8; the records with such bytes are bad. At most `record_limit`
  /// records are read, blank lines counted.
  void SetText(const char* text, size_t begin, size_t end, size_t readable, int32_t first_record,
               int32_t record_limit, bool check_utf8);

  /// Appends rows to `block` until it has `row_limit` or the text ends. Bad records are put into
  /// bad() in order; without ignore-parse-errors the first one ends the text.
  void Fill(RecordBlock* block, int row_limit);

  bool at_end() const { return position_ >= end_; }
  /// Records seen so far, the ones of SetText's `first_record` included.
  int32_t next_record() const { return next_record_; }
  std::vector<BadCut>& bad() { return bad_; }

 private:
  struct State;
  bool MayHaveSimpleRecords() const;
  void FillSimple(RecordBlock* block, int row_limit);
  void FillAny(RecordBlock* block, int row_limit);
  template <bool kPlain>
  void FillFrom(State& state, RecordBlock* block, int row_limit);
  template <bool kPlain>
  bool EndRecord(State& state, RecordBlock* block, size_t at, size_t next);
  template <bool kPlain>
  void PutField(State& state, size_t at);
  bool OpensQuote(const State& state, size_t at) const;
  void CloseQuote(State& state, size_t at);
  bool EndUnclosedQuote(State& state, RecordBlock* block);
  bool EndOddRecord(State& state, RecordBlock* block, size_t at, size_t next);
  void StartRecord(State& state, size_t at) const;
  void CheckArity(State& state, RecordBlock* block, size_t at);
  void Reject(const State& state, size_t at, std::string reason, bool kept);
  bool IsDelimiter(size_t at) const;
  size_t SkipBlanks(size_t at) const;
  size_t FindLineEnd(size_t at) const;
  uint64_t MatchAt(size_t at) const;

  const CsvOptions& options_;
  const Scanner structure_;  // Delimiter, line ends, quote, escape.
  const Scanner line_ends_;
  const int column_count_;
  const bool plain_;  // No trimming, comments or escapes, and a delimiter of one byte: the common
                      // case, compiled apart.
  RecordScan simple_records_;
  int rows_by_hand_;  // Records that the tokeniser cuts before simple ones are looked for again.
  std::vector<int> slot_of_column_;
  std::vector<FieldRef> unwanted_;  // Where fields go that nobody wants.
  std::vector<FieldRef*> targets_;  // Of each column in the block being filled.

  const char* text_ = nullptr;
  size_t position_ = 0;
  size_t end_ = 0;
  size_t readable_ = 0;
  int32_t next_record_ = 0;
  int32_t end_record_ = 0;
  bool check_utf8_ = false;
  std::vector<BadCut> bad_;
};

}  // namespace sluice::formats::csv
