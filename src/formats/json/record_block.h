// Records of one shape, a block at a time: their values are read column by column, as csv is, with
// no step waiting for the length of the value before it.
//
// It reads what is written in the common way and leaves everything else, up to all that is wrong,
// to JsonReader: a value that JsonReader does not take either makes Convert fail, and the records
// are read anew one by one. So what a text means is decided in one place.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "formats/json/json_reader.h"
#include "formats/json/json_scan.h"
#include "formats/json/record_template.h"

namespace sluice::formats::json {

class RecordBlock {
 public:
  static constexpr int kRows = 256;
  static constexpr size_t kUnknown = ~size_t{0};

  /// All of these outlive the block; `fields` are the columns that `reader` fills.
  RecordBlock(const JsonOptions& options, JsonReader* reader, FieldTable* fields);

  /// Asked once for each piece of text. False while records rarely share a shape: looking for it
  /// costs more than it saves.
  bool IsWorthwhile() { return pause_ == 0 || --pause_ == 0; }

  /// A new piece of text: `readable` bytes of it may be read, records are looked for from `begin`.
  void Start(const char* text, size_t begin, size_t readable);
  /// Adds the record at `begin`, which must end at `end` if that is known. Returns the position of
  /// the line end behind it; 0 when it has another shape or the block is full.
  size_t Add(size_t begin, size_t end = kUnknown);
  int row_count() const { return rows_; }
  bool full() const { return rows_ == kRows; }
  /// Appends the values of the block's records to the columns and empties it. False: they are not
  /// of the common form; the columns may have more values than before.
  bool Convert();
  /// `record`, text as JsonCursor wants it, was read on its own, having another shape (empty: it
  /// was a blank line). Now and then such a record shows which shape to look for. Goes on at
  /// `next`.
  void Miss(std::string_view record, size_t next);
  /// The text has been read.
  void Finish();

 private:
  using Spans = const ValueSpan*;

  void LearnShape(std::string_view record);
  bool ConvertValues(size_t place, JsonColumn* column);
  template <typename T>
  bool ConvertIntegers(Spans spans, JsonColumn& column);
  template <typename T, typename Join>
  bool ConvertFixedPoints(Spans spans, JsonColumn& column, Join join);
  bool ConvertBooleans(Spans spans, JsonColumn& column);
  bool ConvertTexts(Spans spans, JsonColumn& column);
  bool ConvertTimestamps(Spans spans, JsonColumn& column);
  bool ConvertOthers(Spans spans, JsonColumn& column);
  bool CheckUnwanted(Spans spans);
  /// Any value, by JsonReader.
  bool ReadValue(int row, ValueSpan span, JsonColumn& column);
  bool SkipValue(int row, ValueSpan span);
  void StartCursor(int row);
  /// Loops over the block's rows with `quick(span, to)` for values of a fixed size.
  template <typename T, typename Quick>
  bool ConvertFixed(Spans spans, JsonColumn& column, Quick quick);

  const JsonOptions& options_;
  JsonReader* reader_;
  FieldTable* fields_;
  RecordTemplate shape_;
  StructureScan scan_;
  const char* text_ = nullptr;
  size_t readable_ = 0;
  int rows_ = 0;
  std::array<uint32_t, kRows> record_begin_;
  std::array<uint32_t, kRows> record_end_;
  std::vector<ValueSpan> spans_;  // kRows of each place.
  std::vector<int> missing_;      // Fields that the shape does not have.

  int64_t matched_ = 0;  // Records of this text.
  int64_t missed_ = 0;
  int misses_of_shape_;
  int pause_ = 0;  // Pieces of text to be read without looking for a shape.
};

}  // namespace sluice::formats::json
