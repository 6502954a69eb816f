#include "formats/raw/raw_codec.h"

#include <algorithm>
#include <bit>
#include <new>

#include <arrow/record_batch.h>

#include "common/text.h"
#include "formats/text/bad_records.h"

namespace sluice::formats::raw {
namespace {

/// The bytes of a number in the machine's order; its own inverse.
void Reorder(const char* from, size_t size, bool little_endian, char* to) {
  std::memcpy(to, from, size);
  if (little_endian != (std::endian::native == std::endian::little)) std::reverse(to, to + size);
}

constexpr size_t kMaxTextBytes = (size_t{1} << 31) - 1024;

}  // namespace

RawDecoder::RawDecoder(RawOptions options, std::unique_ptr<Charset> charset,
                       const ReadSchema& schema, const FormatContext& context)
    : options_(std::move(options)),
      charset_(std::move(charset)),
      physical_(schema.physical),
      output_columns_(static_cast<int>(schema.projection.size())),
      arrow_schema_(schema.output().ToArrow()),
      builder_(schema.physical.column(0).type, context.pool) {}

Result<DecodedRows> RawDecoder::DecodeChunk(std::string_view chunk, bool) {
  SLUICE_RETURN_NOT_OK(CheckRawFiles(options_, physical_));
  if (chunk.size() >= kMaxTextBytes)
    return Status::DataError("A piece of raw text must stay below 2 GiB.");
  try {
    builder_.Truncate(0);
    Pass pass;
    size_t at = 0;
    while (at < chunk.size()) {
      const size_t line_end = std::min(chunk.find('\n', at), chunk.size());
      std::string_view value = chunk.substr(at, line_end - at);
      if (!value.empty() && value.back() == '\r') value.remove_suffix(1);
      const size_t offset = at;
      at = line_end + 1;
      const bool go_on = Append(pass, value, offset);
      ++pass.record;
      if (!go_on) break;
    }
    pass.out.line_count = text::CountLineEnds(chunk, false);
    text::FillLines(chunk, false, &pass.out.bad);
    return Finish(pass);
  } catch (const std::bad_alloc&) {
    return Status::Unavailable("Out of memory while decoding raw.");
  }
}

Result<DecodedRows> RawDecoder::DecodeMessages(std::span<const std::string_view> messages) {
  size_t total = 0;
  for (const std::string_view message : messages) total += message.size();
  if (total >= kMaxTextBytes)
    return Status::DataError("Raw messages decoded at once must stay below 2 GiB.");
  try {
    builder_.Truncate(0);
    Pass pass;
    for (const std::string_view message : messages) {
      bool go_on = true;
      if (message.data() == nullptr) {
        builder_.AppendNull();
        ++pass.row_count;
      } else {
        go_on = Append(pass, message, 0);
      }
      ++pass.record;
      if (!go_on) break;
    }
    return Finish(pass);
  } catch (const std::bad_alloc&) {
    return Status::Unavailable("Out of memory while decoding raw.");
  }
}

bool RawDecoder::Append(Pass& pass, std::string_view bytes, size_t offset) {
  std::string reason = AppendValue(bytes);
  std::vector<int32_t>& map = pass.out.record_of_row;
  if (reason.empty()) [[likely]] {
    if (pass.row_count != pass.record) {
      for (auto i = static_cast<int64_t>(map.size()); i < pass.row_count; ++i)
        map.push_back(static_cast<int32_t>(i));
      map.push_back(static_cast<int32_t>(pass.record));
    }
    ++pass.row_count;
    return true;
  }
  if (!options_.ignore_parse_errors) {
    reason += " Set '" + options_.prefix + "ignore-parse-errors' = 'true' to drop such records.";
  }
  ++pass.out.bad_count;
  if (options_.keep_bad_records || pass.out.bad.size() < text::kMaxKeptBadRecords) {
    BadRecord bad;
    bad.record = pass.record;
    bad.byte_offset = static_cast<int64_t>(offset);
    bad.byte_length = static_cast<int64_t>(bytes.size());
    bad.column = physical_.column(0).name;
    bad.reason = std::move(reason);
    bad.text = Printable(bytes);
    pass.out.bad.push_back(std::move(bad));
  }
  pass.out.failed = !options_.ignore_parse_errors;
  return options_.ignore_parse_errors;
}

std::string RawDecoder::AppendValue(std::string_view bytes) {
  const SqlType& type = builder_.type();
  const size_t fixed = FixedBytes(type.kind());
  if (fixed > 0) {
    if (bytes.size() != fixed) {
      return "Size of data received for deserializing " + type.WithNullable(true).ToString() +
             " type is not " + std::to_string(fixed) + ".";
    }
    AppendFixed(bytes);
    return "";
  }
  if (!type.is_character()) {
    builder_.AppendBytes(bytes);
    return "";
  }
  if (charset_->is_utf8() && IsValidUtf8(bytes)) {
    builder_.AppendBytes(bytes);
    return "";
  }
  scratch_.clear();
  if (!charset_->Decode(bytes, options_.replace_malformed, &scratch_)) {
    return "The bytes are not " + options_.charset + ". '" + options_.prefix +
           "malformed-text' = 'replace' puts U+FFFD in the place of such bytes.";
  }
  builder_.AppendBytes(scratch_);
  return "";
}

void RawDecoder::AppendFixed(std::string_view bytes) {
  char value[8];
  Reorder(bytes.data(), bytes.size(), options_.little_endian, value);
  const auto append = [&]<typename T>(T number) {
    std::memcpy(&number, value, sizeof(T));
    builder_.Append(number);
  };
  switch (builder_.type().kind()) {
    case TypeKind::kBoolean:
      builder_.Append<uint8_t>(value[0] != 0 ? 1 : 0);
      return;
    case TypeKind::kTinyint:
      return append(int8_t{});
    case TypeKind::kSmallint:
      return append(int16_t{});
    case TypeKind::kInt:
      return append(int32_t{});
    case TypeKind::kFloat:
      return append(float{});
    case TypeKind::kBigint:
      return append(int64_t{});
    default:
      return append(double{});
  }
}

Result<DecodedRows> RawDecoder::Finish(Pass& pass) {
  pass.out.record_count = pass.record;
  const std::shared_ptr<arrow::ArrayData> array = builder_.Finish();
  const arrow::ArrayDataVector arrays(static_cast<size_t>(output_columns_), array);
  pass.out.rows = Batch(arrow::RecordBatch::Make(arrow_schema_, pass.row_count, arrays));
  return std::move(pass.out);
}

RawEncoder::RawEncoder(RawOptions options, std::unique_ptr<Charset> charset, const Schema& schema,
                       Framing framing)
    : options_(std::move(options)),
      charset_(std::move(charset)),
      name_(schema.column(0).name),
      framing_(framing),
      column_(schema.column(0).type) {}

Status RawEncoder::Encode(const Batch& batch, std::string* out, std::vector<size_t>* row_ends) {
  if (batch.rows() == nullptr) return {};
  if (batch.rows()->num_columns() != 1)
    return Status::Internal("The raw encoder takes one column.");
  column_.Bind(*batch.rows()->column_data(0));
  for (int64_t row = 0; row < batch.row_count(); ++row) {
    SLUICE_RETURN_NOT_OK(AppendValue(row, out));
    if (row_ends != nullptr) row_ends->push_back(out->size());
  }
  return {};
}

Status RawEncoder::AppendValue(int64_t row, std::string* out) {
  const bool file = framing_ == Framing::kFile;
  if (column_.IsNull(row)) {
    if (!file) return {};
    return Status::DataError("Column `" + name_ + "` is NULL, which raw cannot write into a file.");
  }
  const size_t fixed = FixedBytes(column_.kind());
  const size_t before = out->size();
  if (fixed > 0) {
    char value[8] = {};
    if (column_.kind() == TypeKind::kBoolean) {
      value[0] = column_.boolean(row) ? 1 : 0;
    } else {
      Reorder(column_.value_bytes(row, fixed), fixed, options_.little_endian, value);
    }
    out->append(value, fixed);
  } else if (column_.type().is_character()) {
    if (!charset_->Encode(column_.text(row), options_.replace_malformed, out)) {
      out->resize(before);
      return Status::DataError("Column `" + name_ + "` holds a character that " + charset_->name() +
                               " does not have: \"" + Printable(column_.text(row)) + "\". '" +
                               options_.prefix +
                               "malformed-text' = 'replace' writes ? in its place.");
    }
  } else {
    out->append(column_.text(row));
  }
  if (!file) return {};
  const std::string_view written = std::string_view(*out).substr(before);
  const bool cut = written.find('\n') != std::string_view::npos;
  if (cut || written.ends_with('\r')) {
    const std::string text = Printable(written);
    out->resize(before);
    return Status::DataError("Column `" + name_ + "` " +
                             (cut ? "holds a line feed (0A), which would cut the raw record in two"
                                  : "ends with a carriage return (0D), which would be read as part "
                                    "of the line end") +
                             ": \"" + text + "\".");
  }
  out->push_back('\n');
  return {};
}

}  // namespace sluice::formats::raw
