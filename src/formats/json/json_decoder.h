// json lines and messages to batches; also the base of the changelog JSONs, whose records are
// envelopes around rows.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "formats/format.h"
#include "formats/json/json_reader.h"
#include "formats/json/record_block.h"

namespace sluice::formats::json {

class JsonDecoder : public RowDecoder {
 public:
  /// What a record is. Plain rows may be read by many at once, never by ReadRecord then.
  enum class Records : uint8_t { kRows, kEnvelopes };

  JsonDecoder(JsonOptions options, const ReadSchema& schema, const FormatContext& context,
              Records records = Records::kRows);

  Result<DecodedRows> DecodeChunk(std::string_view chunk, bool first_in_file) final;
  Result<DecodedRows> DecodeMessages(std::span<const std::string_view> messages) final;

 protected:
  /// Reads `record` behind `*row` rows and counts its own. False: it is bad, reader().errors() tell
  /// why, and the columns may have more than `*row` values.
  virtual bool ReadRecord(std::string_view record, int64_t* row) {
    return reader_->ReadRecord(record, row);
  }
  /// Rows from `row_count` on have not been.
  virtual void TakeBack(int64_t row_count);
  /// Adds what the columns do not hold. `*out` has its rows.
  virtual void Complete(DecodedRows* out) { (void)out; }
  /// The words in front of the reason why a record is bad.
  virtual std::string Complaint(std::string_view record) const;

  const JsonOptions& options() const { return options_; }
  JsonReader& reader() { return *reader_; }
  /// A column behind those of the rows, filled by ReadRecord.
  text::ColumnBuilder& AddBuilder(const SqlType& type);

 private:
  struct Pass {
    int64_t row_count = 0;
    int64_t record = 0;       // Of the record being read.
    bool check_utf8 = false;  // Some record has bytes that are not UTF-8.
    bool mapped = false;      // record_of_row is in use.
    std::string_view last;    // The record read last, with padding; empty: a blank line.
    DecodedRows out;
  };

  void DecodeLines(Pass& pass, std::string_view chunk, size_t begin);
  // Each of these is false when the read fails there; `*at` and `*next` are moved on.
  bool DecodeLine(Pass& pass, std::string_view chunk, size_t* at);
  bool DecodeShapedLines(Pass& pass, std::string_view chunk, size_t* at);
  bool DecodeMessage(Pass& pass, std::span<const std::string_view> messages, size_t* next,
                     size_t* at);
  bool DecodeShapedMessages(Pass& pass, std::span<const std::string_view> messages, size_t* next,
                            size_t* at, size_t used);
  /// The records of block_, if they can be read together.
  bool DecodeBlock(Pass& pass);
  /// False: the read fails here.
  bool DecodeRecord(Pass& pass, std::string_view record, size_t offset);
  /// What to do about a record that cannot be read, where the options leave a choice.
  std::string HowToDrop() const;
  bool RejectUnread(Pass& pass, std::string_view record, size_t offset, bool too_large);
  void ReserveRows(size_t bytes);
  void LearnSizes(size_t bytes, int64_t rows);
  void MapRows(Pass& pass, int64_t rows_before);
  void StartMap(Pass& pass, int64_t rows_before);
  void AddErrors(Pass& pass, std::string_view record, size_t offset, bool kept);
  void AddBad(Pass& pass, BadRecord bad);
  /// `text` with kPadding readable bytes and a line end behind it.
  std::string_view Padded(std::string_view text);
  Result<DecodedRows> Finish(Pass& pass);
  void Reset();

  const JsonOptions options_;
  arrow::MemoryPool* pool_;
  std::shared_ptr<arrow::Schema> arrow_schema_;
  std::vector<std::unique_ptr<text::ColumnBuilder>> builders_;  // In output order.
  std::vector<std::unique_ptr<JsonColumn>> columns_;
  FieldTable fields_;
  std::unique_ptr<JsonReader> reader_;
  std::unique_ptr<RecordBlock> block_;  // Null for envelopes.
  double rows_per_byte_ = 0;            // Of the last chunk.
  std::vector<char>
      arena_;  // Copies where padding is missing: messages, the last lines of a chunk.
};

}  // namespace sluice::formats::json
