// The shape that the records of a stream mostly share: which names stand in which order, and what
// stands between the values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "formats/json/json_columns.h"
#include "formats/json/json_cursor.h"

namespace sluice::formats::json {

/// Where a value stands in the text.
struct ValueSpan {
  uint32_t begin;
  uint32_t end;
};

class RecordTemplate {
 public:
  /// Takes the shape of `record`, text as JsonCursor wants it. False, and no shape is known, when
  /// the record is no object or not laid out as Match can tell: a blank before a comma, a name with
  /// escapes, twice, or very long.
  bool Learn(JsonCursor& cursor, std::string_view record, int max_depth, const FieldTable& fields);

  bool known() const { return !fields_.empty(); }
  size_t field_count() const { return fields_.size(); }
  /// Of the table, for the value at `place`; -1 for one that the table does not have.
  int field(size_t place) const { return fields_[place]; }

  /// True when the record at `begin` has this shape, given the next field_count() positions of
  /// StructureScan: then spans[place * stride] is where each value must stand. Nothing is said of
  /// the values themselves. Reads up to kPadding bytes behind each position.
  bool Match(const char* text, uint32_t begin, const uint32_t* positions, ValueSpan* spans,
             size_t stride) const;
  /// Bytes between the end of the last value and the line end.
  uint32_t end_size() const { return end_size_; }

 private:
  /// Up to sixteen bytes of what stands before a value.
  struct Piece {
    uint32_t place;
    uint32_t offset;
    uint64_t words[2];
    uint64_t masks[2];
  };
  bool LearnMembers(JsonCursor& cursor, std::string_view record, const FieldTable& fields);
  bool AddSeparator(std::string_view separator);

  std::vector<int> fields_;          // Of each place.
  std::vector<uint32_t> separator_;  // Size of what stands before the value at each place.
  std::vector<Piece> pieces_;
  uint64_t end_word_ = 0;  // What stands behind the last value, in the highest bytes.
  uint64_t end_mask_ = 0;
  uint32_t end_size_ = 0;
};

inline bool RecordTemplate::Match(const char* text, uint32_t begin, const uint32_t* positions,
                                  ValueSpan* spans, size_t stride) const {
  const size_t count = fields_.size();
  const uint32_t line_end = positions[count - 1];
  if (text[line_end] != '\n' || line_end - begin < 8) return false;
  uint64_t difference = (text::LoadWord(text + line_end - 8) ^ end_word_) & end_mask_;
  for (const Piece& piece : pieces_) {
    const uint32_t start = piece.place == 0 ? begin : positions[piece.place - 1];
    const char* at = text + start + piece.offset;
    difference |= (text::LoadWord(at) ^ piece.words[0]) & piece.masks[0];
    difference |= (text::LoadWord(at + 8) ^ piece.words[1]) & piece.masks[1];
  }
  if (difference != 0) return false;
  bool ordered = true;
  uint32_t start = begin;
  for (size_t place = 0; place < count; ++place) {
    const uint32_t end = place + 1 == count ? line_end - end_size_ : positions[place];
    const ValueSpan span{start + separator_[place], end};
    ordered &= span.begin < span.end;
    spans[place * stride] = span;
    start = positions[place];
  }
  return ordered;
}

}  // namespace sluice::formats::json
