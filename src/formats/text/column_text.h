// Text of one column for a block of rows. Values of a column are formatted one after the other
// before rows are put together (RowAssembler): no value waits for the length of the one before it,
// and the branch on the type is taken once a block.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include "formats/text/bound_column.h"
#include "formats/text/output_buffer.h"
#include "formats/text/temporal_text.h"

namespace sluice::formats::text {

/// How scalars of bounded length are written.
struct ScalarStyle {
  TimestampStyle timestamp_style = TimestampStyle::kSql;
  bool plain_decimal = false;
  bool quote_times = false;      // DATE, TIME and timestamps go between quotes.
  bool quote_nonfinite = false;  // NaN and infinities too.
  char quote = '"';
  std::string null_text;  // At most ColumnText::kMaxNullText bytes.
};

/// Texts of days that came lately.
class DayTexts {
 public:
  DayTexts() { days_.fill(kNoDay); }
  /// Writes "yyyy-MM-dd", and up to six bytes behind it.
  char* Write(int64_t day, char* out) {
    const auto at = static_cast<size_t>(static_cast<uint64_t>(day) % kDays);
    if (days_[at] != day) [[unlikely]] {
      char text[kMaxTemporalChars];
      const char* end = WriteDate(day, text);
      if (end - text != 10) {  // Another form is too long to be kept.
        std::memcpy(out, text, static_cast<size_t>(end - text));
        return out + (end - text);
      }
      days_[at] = day;
      std::memcpy(texts_[at].data(), text, 10);
    }
    std::memcpy(out, texts_[at].data(), 16);
    return out + 10;
  }

 private:
  static constexpr size_t kDays = 64;
  static constexpr int64_t kNoDay = INT64_MIN;
  std::array<int64_t, kDays> days_;
  std::array<std::array<char, 16>, kDays> texts_{};
};

class ColumnText {
 public:
  static constexpr int kRows = 64;
  /// Copies are this wide where the text allows it.
  static constexpr size_t kWide = 32;
  static constexpr size_t kMaxNullText = 32;

  ColumnText();

  /// True for types that FormatScalars takes.
  static bool IsBounded(TypeKind kind);
  /// The block is rows [first, first + rows) of `column`.
  void FormatScalars(const BoundColumn& column, int64_t first, int rows, const ScalarStyle& style);

  /// Starts a block of texts that are told row by row by Refer or Begin and End. `readable`: kWide
  /// bytes may be read from the start of every text referred to.
  void StartTexts(bool readable);
  /// Value `row` is `text`, which outlives the block, between quotes if `quoted`.
  void Refer(int row, std::string_view text, bool quoted) {
    data_[row] = text.data();
    sizes_[row] = static_cast<uint32_t>(text.size());
    quoted_[row] = quoted ? 1 : 0;
  }
  /// Value `row` is what is put into the buffer until End.
  OutputBuffer& Begin(int row);
  void End(int row) {
    sizes_[row] = static_cast<uint32_t>(own_.size() - static_cast<size_t>(own_begin_[row]));
  }
  /// Ends a block of texts.
  void FinishTexts(int rows);

  // What RowAssembler reads.
  bool readable() const { return readable_; }
  const char* data(int row) const { return data_[row]; }
  uint32_t size(int row) const { return sizes_[row]; }
  uint32_t quoted(int row) const { return quoted_[row]; }

 private:
  static constexpr size_t kSlotBytes = 32;
  static constexpr size_t kLongSlotBytes = 64;

  template <typename Write>
  void FormatEach(const BoundColumn& column, int64_t first, int rows, const ScalarStyle& style,
                  Write write);
  template <typename T>
  void FormatFloating(const BoundColumn& column, int64_t first, int rows, const ScalarStyle& style,
                      char* (*write)(T, char*));
  template <typename Write>
  void FormatTimes(const BoundColumn& column, int64_t first, int rows, const ScalarStyle& style,
                   Write write);
  void FormatTimestamps(const BoundColumn& column, int64_t first, int rows,
                        const ScalarStyle& style);
  void UseSlots(size_t slot_bytes);
  char* slot(int row) { return slots_.get() + static_cast<size_t>(row) * slot_bytes_; }

  std::unique_ptr<char[]> slots_;  // One of slot_bytes_ a row, for scalars.
  size_t slot_bytes_ = 0;
  std::unique_ptr<DayTexts> days_;  // Of DATE and timestamps.
  OutputBuffer own_;                // Texts written by Begin and End, one behind the other.
  bool in_slots_ = false;
  bool has_own_ = false;
  bool readable_ = true;
  const char* data_[kRows];
  uint32_t sizes_[kRows];
  uint8_t quoted_[kRows];
  int64_t own_begin_[kRows];  // -1: not in own_.
};

}  // namespace sluice::formats::text
