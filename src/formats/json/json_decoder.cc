#include "formats/json/json_decoder.h"

#include <algorithm>
#include <new>

#include <arrow/record_batch.h>
#include <fmt/format.h>
#include <simdjson.h>

#include "common/text.h"
#include "formats/text/bad_records.h"
#include "formats/text/byte_order_mark.h"

namespace sluice::formats::json {
namespace {

constexpr size_t kMaxTextBytes = (size_t{1} << 31) - 1024;  // Text columns have offsets of 32 bits.

Status TooLarge(size_t bytes) {
  return Status::DataError(
      "A piece of " + WithThousands(static_cast<int64_t>(bytes)) +
      " bytes of json cannot be decoded at once: records must stay below 2 GiB.");
}

bool IsBlank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

}  // namespace

JsonDecoder::JsonDecoder(JsonOptions options, const ReadSchema& schema,
                         const FormatContext& context, Records records)
    : options_(std::move(options)), pool_(context.pool), arrow_schema_(schema.output().ToArrow()) {
  for (const int index : schema.projection) {
    const Column& column = schema.physical.column(index);
    builders_.push_back(std::make_unique<text::ColumnBuilder>(column.type, pool_));
    columns_.push_back(
        std::make_unique<JsonColumn>(column.name, column.type, options_, builders_.back().get()));
    fields_.Add(column.name, columns_.back().get());
  }
  if (options_.fail_on_missing_field) {  // A field must be there whether it is asked for or not.
    for (const Column& column : schema.physical.columns()) {
      if (fields_.Find(column.name) < 0) fields_.Add(column.name, nullptr);
    }
  }
  reader_ = std::make_unique<JsonReader>(options_, &fields_);
  if (records == Records::kRows)
    block_ = std::make_unique<RecordBlock>(options_, reader_.get(), &fields_);
}

text::ColumnBuilder& JsonDecoder::AddBuilder(const SqlType& type) {
  return *builders_.emplace_back(std::make_unique<text::ColumnBuilder>(type, pool_));
}

Result<DecodedRows> JsonDecoder::DecodeChunk(std::string_view chunk, bool first_in_file) {
  if (chunk.size() >= kMaxTextBytes) return TooLarge(chunk.size());
  try {
    Reset();
    Pass pass;
    if (const std::optional<std::string> mark =
            first_in_file ? text::ForeignMark(chunk) : std::nullopt) {
      BadRecord bad;
      bad.reason = *mark;
      pass.out.bad.push_back(std::move(bad));
      pass.out.bad_count = 1;
      pass.out.failed = true;  // Whatever ignore-parse-errors says: no record of it can be read.
      return Finish(pass);
    }
    const size_t begin = first_in_file ? text::ByteOrderMarkBytes(chunk) : 0;
    pass.check_utf8 = !simdjson::validate_utf8(chunk.data(), chunk.size());
    ReserveRows(chunk.size());
    DecodeLines(pass, chunk, begin);
    LearnSizes(chunk.size(), pass.row_count);
    pass.out.record_count = pass.record;
    text::FillLines(chunk, false, &pass.out.bad);
    return Finish(pass);
  } catch (const std::bad_alloc&) {
    return Status::Unavailable("Out of memory while decoding json.");
  }
}

void JsonDecoder::DecodeLines(Pass& pass, std::string_view chunk, size_t begin) {
  size_t at = begin;
  if (block_ != nullptr && !pass.check_utf8 && block_->IsWorthwhile()) {
    if (!DecodeShapedLines(pass, chunk, &at)) return;
  }
  while (at < chunk.size()) {
    if (!DecodeLine(pass, chunk, &at)) return;
  }
}

/// Lines of one shape together, others one by one.
bool JsonDecoder::DecodeShapedLines(Pass& pass, std::string_view chunk, size_t* at) {
  block_->Start(chunk.data(), *at, chunk.size());
  while (*at < chunk.size()) {
    size_t next = *at;
    while (const size_t line_end = block_->Add(next)) next = line_end + 1;
    const int rows = block_->row_count();
    const bool full = block_->full();
    if (rows > 0 && DecodeBlock(pass)) {
      pass.out.line_count += rows;
      *at = next;
    }
    while (*at < next) {
      if (!DecodeLine(pass, chunk, at)) return false;
    }
    if (full || *at >= chunk.size()) continue;
    if (!DecodeLine(pass, chunk, at)) return false;
    block_->Miss(pass.last, *at);
  }
  block_->Finish();
  return true;
}

bool JsonDecoder::DecodeBlock(Pass& pass) {
  const int rows = block_->row_count();
  if (!block_->Convert()) {
    TakeBack(pass.row_count);
    return false;
  }
  if (pass.mapped || pass.row_count != pass.record) {
    StartMap(pass, pass.row_count);
    for (int row = 0; row < rows; ++row)
      pass.out.record_of_row.push_back(static_cast<int32_t>(pass.record + row));
  }
  pass.row_count += rows;
  pass.record += rows;
  return true;
}

bool JsonDecoder::DecodeLine(Pass& pass, std::string_view chunk, size_t* at) {
  const char* text = chunk.data();
  const size_t offset = *at;
  const void* found = std::memchr(text + offset, '\n', chunk.size() - offset);
  const size_t line_end =
      found == nullptr ? chunk.size() : static_cast<size_t>(static_cast<const char*>(found) - text);
  pass.out.line_count += found == nullptr ? 0 : 1;
  std::string_view line(text + offset, line_end - offset);
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  *at = line_end + 1;
  const bool blank =
      line.empty() || (static_cast<unsigned char>(line.front()) <= ' ' && IsBlank(line));
  pass.last = {};
  bool go_on = true;
  if (!blank) {
    // Nearly all lines are read where they are: what follows serves as padding.
    const bool has_padding = line_end + kPadding <= chunk.size() && line_end < chunk.size();
    pass.last = has_padding ? line : Padded(line);
    go_on = DecodeRecord(pass, pass.last, offset);
  }
  ++pass.record;
  return go_on;
}

/// Makes room for as many rows as the last chunk suggests: growing by doubling would copy each
/// column several times.
void JsonDecoder::ReserveRows(size_t bytes) {
  const auto rows = static_cast<int64_t>(static_cast<double>(bytes) * rows_per_byte_ * 1.05) + 16;
  for (const auto& builder : builders_) builder->Reserve(rows);
}

void JsonDecoder::LearnSizes(size_t bytes, int64_t rows) {
  if (bytes > 0) rows_per_byte_ = static_cast<double>(rows) / static_cast<double>(bytes);
}

std::string_view JsonDecoder::Padded(std::string_view text) {
  if (arena_.size() < text.size() + kPadding) arena_.resize(text.size() + kPadding);
  if (!text.empty()) std::memcpy(arena_.data(), text.data(), text.size());
  std::memset(arena_.data() + text.size(), '\n', kPadding);
  return {arena_.data(), text.size()};
}

Result<DecodedRows> JsonDecoder::DecodeMessages(std::span<const std::string_view> messages) {
  size_t total = kPadding;
  for (const std::string_view message : messages) total += message.size() + 1;
  if (total >= kMaxTextBytes) return TooLarge(total);
  try {
    Reset();
    if (arena_.size() < total) arena_.resize(total);
    size_t used = 0;
    for (const std::string_view message : messages) {
      if (!message.empty()) std::memcpy(arena_.data() + used, message.data(), message.size());
      used += message.size();
      arena_[used++] = '\n';
    }
    std::memset(arena_.data() + used, '\n', kPadding);
    Pass pass;
    pass.check_utf8 = !simdjson::validate_utf8(arena_.data(), used);
    ReserveRows(total);
    size_t next = 0;
    size_t at = 0;
    bool go_on = true;
    if (block_ != nullptr && !pass.check_utf8 && block_->IsWorthwhile())
      go_on = DecodeShapedMessages(pass, messages, &next, &at, used);
    while (go_on && next < messages.size()) go_on = DecodeMessage(pass, messages, &next, &at);
    LearnSizes(total, pass.row_count);
    pass.out.record_count = pass.record;
    return Finish(pass);
  } catch (const std::bad_alloc&) {
    return Status::Unavailable("Out of memory while decoding json.");
  }
}

bool JsonDecoder::DecodeMessage(Pass& pass, std::span<const std::string_view> messages,
                                size_t* next, size_t* at) {
  const std::string_view message = messages[(*next)++];
  pass.last = {arena_.data() + *at, message.size()};
  *at += message.size() + 1;
  const bool go_on = message.data() == nullptr || DecodeRecord(pass, pass.last, 0);
  ++pass.record;
  return go_on;
}

/// Messages of one shape together, others one by one.
bool JsonDecoder::DecodeShapedMessages(Pass& pass, std::span<const std::string_view> messages,
                                       size_t* next, size_t* at, size_t used) {
  block_->Start(arena_.data(), 0, used + kPadding);
  while (*next < messages.size()) {
    size_t message = *next;
    size_t begin = *at;
    while (message < messages.size() && messages[message].data() != nullptr) {
      const size_t end = begin + messages[message].size();
      if (block_->Add(begin, end) == 0) break;
      begin = end + 1;
      ++message;
    }
    const bool full = block_->full();
    if (message > *next && DecodeBlock(pass)) {
      *next = message;
      *at = begin;
    }
    while (*next < message) {
      if (!DecodeMessage(pass, messages, next, at)) return false;
    }
    if (full || *next >= messages.size()) continue;
    if (!DecodeMessage(pass, messages, next, at)) return false;
    block_->Miss(pass.last, *at);
  }
  block_->Finish();
  return true;
}

inline bool JsonDecoder::DecodeRecord(Pass& pass, std::string_view record, size_t offset) {
  const int64_t rows_before = pass.row_count;
  const bool too_large = static_cast<int64_t>(record.size()) > options_.max_record_bytes;
  if (too_large || (pass.check_utf8 && !simdjson::validate_utf8(record.data(), record.size())))
      [[unlikely]] {
    return RejectUnread(pass, record, offset, too_large);
  }
  if (ReadRecord(record, &pass.row_count)) [[likely]] {
    if (reader_->error_count() > 0) [[unlikely]]
      AddErrors(pass, record, offset, true);
    if (pass.mapped || rows_before != pass.record || pass.row_count != rows_before + 1)
      MapRows(pass, rows_before);
    return true;
  }
  pass.row_count = rows_before;
  TakeBack(rows_before);
  AddErrors(pass, record, offset, false);
  pass.out.failed = !options_.ignore_parse_errors;
  return options_.ignore_parse_errors;
}

bool JsonDecoder::RejectUnread(Pass& pass, std::string_view record, size_t offset, bool too_large) {
  BadRecord bad;
  bad.record = pass.record;
  bad.byte_offset = static_cast<int64_t>(offset);
  bad.byte_length = static_cast<int64_t>(record.size());
  bad.reason = "The record has bytes that are not UTF-8.";
  if (too_large) {
    bad.reason =
        fmt::format("The record has {} bytes, more than '{}decode.max-record-size' allows.",
                    WithThousands(static_cast<int64_t>(record.size())), options_.prefix);
  }
  bad.reason += HowToDrop();
  bad.text = Printable(record);
  AddBad(pass, std::move(bad));
  pass.out.failed = !options_.ignore_parse_errors;
  return options_.ignore_parse_errors;
}

std::string JsonDecoder::HowToDrop() const {
  if (options_.ignore_parse_errors || options_.fail_on_missing_field) return "";
  return " Set '" + options_.prefix + "ignore-parse-errors' = 'true' to drop such records.";
}

/// From the first row whose number is not its record's, record_of_row is kept.
void JsonDecoder::StartMap(Pass& pass, int64_t rows_before) {
  if (pass.mapped) return;
  std::vector<int32_t>& map = pass.out.record_of_row;
  map.resize(static_cast<size_t>(rows_before));
  for (size_t i = 0; i < map.size(); ++i) map[i] = static_cast<int32_t>(i);
  pass.mapped = true;
}

void JsonDecoder::MapRows(Pass& pass, int64_t rows_before) {
  StartMap(pass, rows_before);
  pass.out.record_of_row.resize(static_cast<size_t>(pass.row_count),
                                static_cast<int32_t>(pass.record));
}

void JsonDecoder::AddErrors(Pass& pass, std::string_view record, size_t offset, bool kept) {
  const std::vector<JsonError>& errors = reader_->errors();
  // Of a record that is dropped only the reason counts, not what became NULL before.
  const size_t first = kept ? 0 : errors.size() - 1;
  for (size_t i = first; i < errors.size(); ++i) {
    BadRecord bad;
    bad.record = pass.record;
    bad.byte_offset = static_cast<int64_t>(offset);
    bad.byte_length = static_cast<int64_t>(record.size());
    bad.column = errors[i].column;
    bad.reason = Complaint(record) + errors[i].reason;
    if (errors[i].column.empty()) bad.reason += HowToDrop();
    bad.text = errors[i].text.empty() ? Printable(record) : errors[i].text;
    bad.field_only = kept && !errors[i].column.empty();
    AddBad(pass, std::move(bad));
  }
  if (kept) pass.out.bad_count += reader_->error_count() - static_cast<int64_t>(errors.size());
}

void JsonDecoder::AddBad(Pass& pass, BadRecord bad) {
  ++pass.out.bad_count;
  if (options_.keep_bad_records || pass.out.bad.size() < text::kMaxKeptBadRecords)
    pass.out.bad.push_back(std::move(bad));
}

std::string JsonDecoder::Complaint(std::string_view record) const {
  return "Failed to deserialize JSON '" + Printable(record) + "'. ";
}

void JsonDecoder::TakeBack(int64_t row_count) {
  for (const auto& builder : builders_) builder->Truncate(row_count);
}

/// Forgets what an earlier call that ended early may have left.
void JsonDecoder::Reset() { TakeBack(0); }

Result<DecodedRows> JsonDecoder::Finish(Pass& pass) {
  arrow::ArrayDataVector arrays;
  for (const auto& builder : builders_) arrays.push_back(builder->Finish());
  pass.out.rows = Batch(arrow::RecordBatch::Make(arrow_schema_, pass.row_count, std::move(arrays)));
  Complete(&pass.out);
  return std::move(pass.out);
}

}  // namespace sluice::formats::json
