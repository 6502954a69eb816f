// csv bytes to batches: blocks of records are cut into fields by position, then converted column by
// column.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "formats/csv/csv_columns.h"
#include "formats/csv/csv_options.h"
#include "formats/csv/csv_tokenizer.h"
#include "formats/format.h"

namespace sluice::formats::csv {

class CsvDecoder final : public RowDecoder {
 public:
  CsvDecoder(CsvOptions options, const ReadSchema& schema, const FormatContext& context);

  Result<DecodedRows> DecodeChunk(std::string_view chunk, bool first_in_file) override;
  Result<DecodedRows> DecodeMessages(std::span<const std::string_view> messages) override;

 private:
  /// Text being decoded and what came out so far.
  struct Pass {
    const char* text = nullptr;
    size_t text_size = 0;  // Bytes that may be read.
    int64_t row_count = 0;
    bool stopped = false;
    DecodedRows out;
  };
  struct FirstBad {
    int row;
    BadRecord record;
  };

  /// True when the file is in another encoding: the result says so.
  bool Refuse(Pass& pass, std::string_view file_start);
  void DecodeText(Pass& pass, size_t begin);
  void DecodeMessage(Pass& pass, std::string_view message, size_t begin, int32_t number,
                     bool check_utf8);
  void ConvertBlock(Pass& pass);
  void ConvertColumns(Pass& pass, int* rows, FirstBad* first_bad);
  void MapRecords(Pass& pass, int rows);
  void AddBadCuts(Pass& pass);
  void AddBad(Pass& pass, BadRecord record);
  BadRecord FieldError(const BadField& field, const CsvColumn& column) const;
  Result<DecodedRows> Finish(Pass& pass);
  void Reset();

  const CsvOptions options_;
  const ReadSchema schema_;
  arrow::MemoryPool* pool_;
  std::shared_ptr<arrow::Schema> arrow_schema_;
  std::vector<std::unique_ptr<CsvColumn>> columns_;  // In output order.
  std::vector<int> slot_of_output_;
  std::unique_ptr<CsvTokenizer> tokenizer_;
  RecordBlock block_;
  double rows_per_byte_ = 0;  // Of the last chunk.
  std::vector<char> arena_;   // Messages one after the other.
};

}  // namespace sluice::formats::csv
