// csv bytes under every option: whatever comes is decoded or refused, in one piece or in many to
// the same rows, and what was decoded is written and read back to the same bytes.
#include <cstdint>
#include <string>
#include <string_view>

#include "common/check.h"
#include "formats/csv/csv_format.h"
#include "formats/testing/render.h"
#include "formats/text/byte_order_mark.h"

namespace {

using namespace sluice;           // NOLINT: one small file.
using namespace sluice::formats;  // NOLINT

constexpr size_t kHeaderBytes = 4;

OptionMap OptionsFor(const uint8_t* header) {
  static constexpr std::string_view kFlags[] = {
      "allow-comments",          "trim-spaces",          "ignore-trailing-unmappable",
      "fail-on-missing-columns", "empty-string-as-null", "ignore-first-line"};
  static constexpr std::string_view kDelimiters[] = {",", "\\t",     "|", ";",
                                                     "¦", "\\u0001", " ", ":"};
  static constexpr std::string_view kQuotes[] = {"\"", "'", "#", "\x02"};
  OptionMap options;
  for (size_t i = 0; i < std::size(kFlags); ++i) {
    if ((header[0] >> i & 1) != 0) options.emplace(kFlags[i], "true");
  }
  if ((header[0] & 64) != 0) options.emplace("allow-trailing-comma", "false");
  options.emplace("field-delimiter", kDelimiters[header[1] % 8]);
  options.emplace("array-element-delimiter", header[1] % 8 == 3 ? "," : ";");
  if ((header[1] & 8) != 0) {
    options.emplace("disable-quote-character", "true");
  } else if ((header[1] & 16) != 0) {
    options.emplace("quote-character", kQuotes[header[1] >> 5 & 3]);
  }
  if ((header[2] & 1) != 0) options.emplace("escape-character", (header[2] & 2) != 0 ? "\\" : "!");
  if ((header[2] & 4) != 0)
    options.emplace("null-literal", (header[2] & 8) != 0    ? "\\N"
                                    : (header[2] & 16) != 0 ? ""
                                                            : "1");
  if ((header[2] & 32) != 0) options.emplace("write-bigdecimal-in-scientific-notation", "false");
  return options;
}

Schema SchemaFor(uint8_t selector) {
  switch (selector % 4) {
    case 0:
      return Schema({{"s", SqlType::String()}});
    case 1:
      return Schema({{"i", SqlType::Int()}, {"s", SqlType::String()}, {"d", SqlType::Double()}});
    case 2:
      return Schema(
          {{"a", SqlType::Array(SqlType::String())},
           {"r", SqlType::Row({{"x", SqlType::Decimal(20, 3)}, {"y", SqlType::Timestamp(9)}})},
           {"b", SqlType::Bytes()},
           {"t", SqlType::Time(3)}});
    default:
      return Schema({{"b", SqlType::Boolean()},
                     {"i8", SqlType::Tinyint()},
                     {"f", SqlType::Float()},
                     {"dc", SqlType::Decimal(38, 18)},
                     {"dt", SqlType::Date()},
                     {"ts", SqlType::Timestamp(3)},
                     {"l", SqlType::TimestampLtz(6)},
                     {"i", SqlType::Bigint()}});
  }
}

struct Rows {
  std::vector<std::string> rows;
  int64_t bad = 0;
  bool failed = false;
  Batch batch;
};

Rows Take(const DecodedRows& decoded) {
  SLUICE_CHECK(decoded.rows.rows()->ValidateFull().ok(), "the batch is not valid");
  SLUICE_CHECK(decoded.record_of_row.empty() ||
                   decoded.record_of_row.size() == static_cast<size_t>(decoded.rows.row_count()),
               "record_of_row has another length than the batch");
  return {testing::RenderRows(decoded.rows), decoded.bad_count, decoded.failed, decoded.rows};
}

Rows DecodeWhole(RowDecoder& decoder, std::string_view text) {
  return Take(*decoder.DecodeChunk(text, true));
}

Rows DecodeInPieces(RowDecoder& decoder, RowFramer& framer, std::string_view text, size_t piece) {
  Rows all;
  std::string buffer;
  bool first = true;
  for (size_t at = 0; at < text.size(); at += piece) {
    buffer += text.substr(at, piece);
    const size_t mark = first ? text::ByteOrderMarkBytes(buffer) : 0;
    const bool at_end = at + piece >= text.size();
    const size_t records = framer.CompletePrefix(std::string_view(buffer).substr(mark), at_end);
    const size_t complete = records > 0 || at_end ? mark + records : 0;
    if (complete == 0) continue;
    Rows some = Take(*decoder.DecodeChunk(std::string_view(buffer).substr(0, complete), first));
    first = false;
    for (std::string& row : some.rows) all.rows.push_back(std::move(row));
    all.bad += some.bad;
    if (some.failed) break;  // Another encoding: the reader ends here.
    buffer.erase(0, complete);
  }
  return all;
}

void CheckWritesBack(OptionMap options, const Schema& schema, const Batch& batch) {
  options.erase("ignore-first-line");  // For reading only.
  auto encoder =
      kCsvFormat.make_encoder(testing::Options(kCsvFormat, options), schema, Framing::kFile, {});
  if (!encoder.ok()) return;  // Cannot be read back, and says so.
  std::string once;
  if (!(*encoder)->Encode(batch, &once, nullptr).ok()) return;  // Cannot be read back, and says so.
  auto decoder =
      kCsvFormat.make_decoder(testing::Options(kCsvFormat, options), testing::AllOf(schema), {});
  const auto again = (*decoder)->DecodeChunk(once, false);
  SLUICE_CHECK(!again->failed,
               "what was written cannot be read: " + testing::FirstBad(*again) + "\n" + once);
  std::string twice;
  SLUICE_CHECK((*encoder)->Encode(again->rows, &twice, nullptr).ok(), "cannot write again");
  SLUICE_CHECK(once == twice, "written again it differs:\n" + once + "\n" + twice);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < kHeaderBytes) return 0;
  OptionMap options = OptionsFor(data);
  const Schema schema = SchemaFor(data[3]);
  const std::string_view text(reinterpret_cast<const char*>(data) + kHeaderBytes,
                              size - kHeaderBytes);
  auto strict =
      kCsvFormat.make_decoder(testing::Options(kCsvFormat, options), testing::AllOf(schema), {});
  if (!strict.ok()) return 0;  // Options that exclude each other.
  const Rows strict_rows = DecodeWhole(**strict, text);
  const std::vector<std::string_view> messages = {text, text.substr(0, text.size() / 2),
                                                  std::string_view()};
  (void)Take(*(*strict)->DecodeMessages(messages));

  options.emplace("ignore-parse-errors", "true");
  auto tolerant =
      kCsvFormat.make_decoder(testing::Options(kCsvFormat, options), testing::AllOf(schema), {});
  const Rows whole = DecodeWhole(**tolerant, text);
  (void)Take(*(*tolerant)->DecodeMessages(messages));
  auto framer = kCsvFormat.make_framer(testing::Options(kCsvFormat, options));
  // At most 64 pieces: a record that goes on is framed from its begin with each of them.
  const size_t piece = std::max<size_t>(1 + data[3] / 4 % 61, size / 64);
  const Rows pieces = DecodeInPieces(**tolerant, **framer, text, piece);
  SLUICE_CHECK(pieces.rows == whole.rows && pieces.bad == whole.bad,
               "in pieces of " + std::to_string(piece) + " other rows come out");
  if (!strict_rows.failed)
    SLUICE_CHECK(strict_rows.rows == whole.rows, "ignoring errors changes good rows");

  // Blanks that trimming takes away, or a delimiter that values contain unquoted, do not survive by
  // design.
  const auto is = [&options](std::string_view key, std::string_view value) {
    const auto it = options.find(key);
    return it != options.end() && it->second == value;
  };
  const bool hidden = options.contains("allow-comments") && is("quote-character", "#");
  const bool lossy = hidden || options.contains("trim-spaces") || is("field-delimiter", ":") ||
                     is("null-literal", "1");
  if (!lossy) CheckWritesBack(options, schema, whole.batch);
  return 0;
}
