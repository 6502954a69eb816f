#include "formats/csv/csv_decoder.h"

#include <algorithm>
#include <new>

#include <arrow/record_batch.h>
#include <simdjson.h>

#include "common/text.h"
#include "formats/csv/csv_framer.h"
#include "formats/text/bad_records.h"
#include "formats/text/byte_order_mark.h"

namespace sluice::formats::csv {
namespace {

std::vector<int> SlotsOfColumns(const ReadSchema& schema) {
  std::vector<int> slots(static_cast<size_t>(schema.physical.column_count()), -1);
  int next = 0;
  for (const int column : schema.projection) {
    int& slot = slots[static_cast<size_t>(column)];
    if (slot < 0) slot = next++;
  }
  return slots;
}

int CountSlots(const std::vector<int>& slots) {
  return static_cast<int>(
      std::count_if(slots.begin(), slots.end(), [](int slot) { return slot >= 0; }));
}

Status TooLarge(size_t bytes) {
  return Status::DataError("A piece of " + WithThousands(static_cast<int64_t>(bytes)) +
                           " bytes of csv cannot be decoded at once: records must stay below 1 "
                           "GiB. A quote that is never "
                           "closed makes such records.");
}

}  // namespace

CsvDecoder::CsvDecoder(CsvOptions options, const ReadSchema& schema, const FormatContext& context)
    : options_(std::move(options)),
      schema_(schema),
      pool_(context.pool),
      arrow_schema_(schema.output().ToArrow()),
      block_(CountSlots(SlotsOfColumns(schema))) {
  const std::vector<int> slots = SlotsOfColumns(schema);
  for (const int column : schema.projection) {
    const Column& wanted = schema.physical.column(column);
    columns_.push_back(CsvColumn::Make(wanted.name, wanted.type, options_, pool_));
    slot_of_output_.push_back(slots[static_cast<size_t>(column)]);
  }
  tokenizer_ = std::make_unique<CsvTokenizer>(options_, slots);
}

Result<DecodedRows> CsvDecoder::DecodeChunk(std::string_view chunk, bool first_in_file) {
  if (chunk.size() >= kMaxTextBytes) return TooLarge(chunk.size());
  try {
    Reset();
    Pass pass;
    pass.text = chunk.data();
    pass.text_size = chunk.size();
    if (first_in_file && Refuse(pass, chunk)) return Finish(pass);
    size_t begin = first_in_file ? text::ByteOrderMarkBytes(chunk) : 0;
    if (first_in_file && options_.ignore_first_line) {
      begin = std::min(CsvFramer(options_).BehindHeader(chunk, begin), chunk.size());
    }
    DecodeText(pass, begin);
    pass.out.line_count = text::CountLineEnds(chunk, true);
    text::FillLines(chunk, true, &pass.out.bad);
    return Finish(pass);
  } catch (const std::bad_alloc&) {
    return Status::Unavailable("Out of memory while decoding csv.");
  }
}

bool CsvDecoder::Refuse(Pass& pass, std::string_view file_start) {
  const std::optional<std::string> mark = text::ForeignMark(file_start);
  if (!mark) return false;
  BadRecord bad;
  bad.reason = *mark;
  AddBad(pass, std::move(bad));
  pass.out.failed = true;  // Whatever ignore-parse-errors says: not one record of it can be read.
  return true;
}

void CsvDecoder::DecodeText(Pass& pass, size_t begin) {
  const bool broken_utf8 = !simdjson::validate_utf8(pass.text, pass.text_size);
  tokenizer_->SetText(pass.text, begin, pass.text_size, pass.text_size, 0, INT32_MAX, broken_utf8);
  // Room for as many rows as the last chunk suggests: growing by doubling would copy each column
  // several times.
  const auto expected =
      static_cast<int64_t>(static_cast<double>(pass.text_size) * rows_per_byte_ * 1.05) + 16;
  for (const auto& column : columns_) column->builder().Reserve(expected);
  while (!tokenizer_->at_end() && !pass.stopped) {
    tokenizer_->Fill(&block_, RecordBlock::kRows);
    ConvertBlock(pass);
  }
  pass.out.record_count = tokenizer_->next_record();
  if (pass.text_size > 0)
    rows_per_byte_ = static_cast<double>(pass.row_count) / static_cast<double>(pass.text_size);
}

Result<DecodedRows> CsvDecoder::DecodeMessages(std::span<const std::string_view> messages) {
  size_t total = 64;
  for (const std::string_view message : messages) total += message.size() + 1;
  if (total >= kMaxTextBytes) return TooLarge(total);
  try {
    Reset();
    if (arena_.size() < total) arena_.resize(total);
    // One arena, so that fields of all messages have positions in one text. The LF keeps a
    // character cut short at a message's end from running into the next.
    std::vector<size_t> begins;
    begins.reserve(messages.size());
    size_t used = 0;
    for (const std::string_view message : messages) {
      begins.push_back(used);
      if (!message.empty()) std::memcpy(arena_.data() + used, message.data(), message.size());
      used += message.size();
      arena_[used++] = '\n';
    }
    Pass pass;
    pass.text = arena_.data();
    pass.text_size = arena_.size();
    const bool broken_utf8 = !simdjson::validate_utf8(arena_.data(), used);
    for (size_t i = 0; i < messages.size() && !pass.stopped; ++i) {
      pass.out.record_count = static_cast<int64_t>(i) + 1;
      if (messages[i].data() == nullptr) continue;
      DecodeMessage(pass, messages[i], begins[i], static_cast<int32_t>(i), broken_utf8);
      if (block_.row_count == RecordBlock::kRows || tokenizer_->bad().size() > 0)
        ConvertBlock(pass);
    }
    if (!pass.stopped) ConvertBlock(pass);
    for (BadRecord& bad : pass.out.bad) {
      const auto message = static_cast<size_t>(bad.record);
      bad.byte_offset -= static_cast<int64_t>(begins[message]);
      bad.reason =
          "Failed to deserialize CSV row '" + Printable(messages[message]) + "'. " + bad.reason;
    }
    return Finish(pass);
  } catch (const std::bad_alloc&) {
    return Status::Unavailable("Out of memory while decoding csv.");
  }
}

void CsvDecoder::DecodeMessage(Pass& pass, std::string_view message, size_t begin, int32_t number,
                               bool check_utf8) {
  const int rows = block_.row_count;
  tokenizer_->SetText(pass.text, begin, begin + message.size(), pass.text_size, number, 1,
                      check_utf8);
  tokenizer_->Fill(&block_, rows + 1);
  if (block_.row_count == rows && tokenizer_->bad().empty()) {
    tokenizer_->bad().push_back({number, static_cast<uint32_t>(begin), static_cast<uint32_t>(begin),
                                 false, "The message is empty: it holds no record."});
  }
}

/// Appends the block's rows to the columns and its bad records to the result, in the order of the
/// records.
void CsvDecoder::ConvertBlock(Pass& pass) {
  int rows = block_.row_count;
  FirstBad first_bad{-1, {}};
  ConvertColumns(pass, &rows, &first_bad);
  if (first_bad.row >=
      0) {  // A field failed the read: rows behind it and records cut badly behind it do not count.
    pass.stopped = true;
    for (const auto& column : columns_) column->builder().Truncate(pass.row_count + rows);
    AddBad(pass, std::move(first_bad.record));
  } else {
    AddBadCuts(pass);
  }
  MapRecords(pass, rows);
  pass.row_count += rows;
  pass.out.failed = pass.stopped;
  block_.row_count = 0;
  tokenizer_->bad().clear();
}

void CsvDecoder::ConvertColumns(Pass& pass, int* rows, FirstBad* first_bad) {
  for (size_t i = 0; i < columns_.size(); ++i) {
    CsvColumn& column = *columns_[i];
    column.Convert(block_.column(slot_of_output_[i]), *rows, pass.text, pass.text_size);
    if (column.bad_count() == 0) [[likely]]
      continue;
    if (!options_.ignore_parse_errors) {  // Later columns only need to look at the rows before.
      const BadField& field = column.bad().front();
      *first_bad = {field.row, FieldError(field, column)};
      *rows = field.row;
      continue;
    }
    for (const BadField& field : column.bad()) AddBad(pass, FieldError(field, column));
    pass.out.bad_count += column.bad_count() - static_cast<int64_t>(column.bad().size());
  }
}

BadRecord CsvDecoder::FieldError(const BadField& field, const CsvColumn& column) const {
  BadRecord bad;
  bad.record = block_.record_number[static_cast<size_t>(field.row)];
  bad.byte_offset = block_.record_begin[static_cast<size_t>(field.row)];
  bad.column = column.name();
  bad.reason = "Fail to deserialize at field: " + column.name() + ". " + field.reason + ".";
  if (!options_.ignore_parse_errors) {
    bad.reason +=
        " Set '" + options_.prefix + "ignore-parse-errors' = 'true' to read such fields as NULL.";
  }
  bad.text = field.text;
  bad.field_only = options_.ignore_parse_errors;
  return bad;
}

void CsvDecoder::AddBadCuts(Pass& pass) {
  for (BadCut& cut : tokenizer_->bad()) {
    BadRecord bad;
    bad.record = cut.record_number;
    bad.byte_offset = cut.begin;
    bad.byte_length = cut.end - cut.begin;
    bad.reason = std::move(cut.reason);
    if (!options_.ignore_parse_errors) {
      bad.reason += " Set '" + options_.prefix + "ignore-parse-errors' = 'true' to read on.";
      pass.stopped = true;
    }
    bad.text = Printable({pass.text + cut.begin, cut.end - cut.begin});
    bad.field_only = cut.kept;
    AddBad(pass, std::move(bad));
  }
}

void CsvDecoder::AddBad(Pass& pass, BadRecord record) {
  ++pass.out.bad_count;
  if (options_.keep_bad_records || pass.out.bad.size() < text::kMaxKeptBadRecords)
    pass.out.bad.push_back(std::move(record));
}

/// Keeps record_of_row empty as long as row i is record i.
void CsvDecoder::MapRecords(Pass& pass, int rows) {
  std::vector<int32_t>& map = pass.out.record_of_row;
  if (map.empty()) {
    const bool same = rows == 0 || block_.record_number[static_cast<size_t>(rows - 1)] ==
                                       pass.row_count + rows - 1;
    if (same) return;  // Numbers only grow: the last one tells for all.
    map.resize(static_cast<size_t>(pass.row_count));
    for (size_t i = 0; i < map.size(); ++i) map[i] = static_cast<int32_t>(i);
  }
  map.insert(map.end(), block_.record_number.begin(), block_.record_number.begin() + rows);
}

Result<DecodedRows> CsvDecoder::Finish(Pass& pass) {
  arrow::ArrayDataVector arrays;
  for (const auto& column : columns_) arrays.push_back(column->builder().Finish());
  pass.out.rows = Batch(arrow::RecordBatch::Make(arrow_schema_, pass.row_count, std::move(arrays)));
  return std::move(pass.out);
}

/// Forgets what an earlier call that ended early may have left.
void CsvDecoder::Reset() {
  block_.row_count = 0;
  tokenizer_->bad().clear();
  for (const auto& column : columns_) column->builder().Truncate(0);
}

}  // namespace sluice::formats::csv
