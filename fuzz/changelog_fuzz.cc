// Messages of the four changelog formats under every option: whatever comes is decoded or refused,
// no half of an update gets away, and what was decoded is written and read back to the same rows.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/check.h"
#include "formats/changelog/changelog_formats.h"
#include "formats/testing/render.h"
#include "formats/text/byte_order_mark.h"

namespace {

using namespace sluice;           // NOLINT: one small file.
using namespace sluice::formats;  // NOLINT

constexpr size_t kHeaderBytes = 2;

const Format& FormatFor(uint8_t selector) {
  const Format* const formats[] = {&kDebeziumJsonFormat, &kCanalJsonFormat, &kMaxwellJsonFormat,
                                   &kOggJsonFormat};
  return *formats[selector % 4];
}

OptionMap OptionsFor(const Format& format, uint8_t selector) {
  OptionMap options;
  if ((selector & 1) != 0) options.emplace("timestamp-format.standard", "ISO-8601");
  if ((selector & 2) != 0) options.emplace("encode.ignore-null-fields", "true");
  if ((selector & 4) != 0) options.emplace("decode.max-depth", "6");
  if ((selector & 16) != 0 && format.name == "debezium-json")
    options.emplace("decimal.handling.mode", "precise");
  if ((selector & 8) == 0) return options;
  if (format.name == "debezium-json") options.emplace("schema-include", "true");
  if (format.name == "canal-json") options.emplace("table.include", "t.*");
  return options;
}

ReadSchema SchemaFor(const Format& format, bool with_metadata) {
  ReadSchema schema = testing::AllOf(
      Schema({{"k", SqlType::String()},
              {"v", SqlType::Int()},
              {"t", SqlType::Timestamp(3)},
              {"d", SqlType::Decimal(10, 2)},
              {"r", SqlType::Row({{"v", SqlType::Bigint()},
                                  {"m", SqlType::Map(SqlType::String(), SqlType::Double())}})}}));
  if (with_metadata) schema.metadata = format.metadata();
  return schema;
}

void CheckValid(const DecodedRows& decoded) {
  const int64_t rows = decoded.rows.row_count();
  SLUICE_CHECK(decoded.rows.rows()->ValidateFull().ok(), "the batch is not valid");
  SLUICE_CHECK(decoded.rows.row_kinds() == nullptr || decoded.rows.row_kinds()->length() == rows,
               "the kinds have another length than the batch");
  SLUICE_CHECK(
      decoded.record_of_row.empty() || decoded.record_of_row.size() == static_cast<size_t>(rows),
      "record_of_row has another length than the batch");
  for (int64_t i = 0; i < rows; ++i) {
    if (decoded.rows.row_kind(i) != RowKind::kUpdateBefore) continue;
    SLUICE_CHECK(i + 1 < rows && decoded.rows.row_kind(i + 1) == RowKind::kUpdateAfter,
                 "an update lacks its second row");
  }
}

void CheckWritesBack(const Format& format, OptionMap options, const Batch& batch) {
  options.erase("schema-include");
  options.erase("decimal.handling.mode");
  options.erase("table.include");
  options.erase("decode.max-depth");
  const ReadSchema schema = SchemaFor(format, false);
  auto encoder =
      format.make_encoder(testing::Options(format, options), schema.physical, Framing::kFile, {});
  std::string once;
  SLUICE_CHECK((*encoder)->Encode(batch, &once, nullptr).ok(), "cannot write what was read");
  auto decoder = format.make_decoder(testing::Options(format, options), schema, {});
  const auto again = (*decoder)->DecodeChunk(once, false);
  SLUICE_CHECK(!again->failed, "what was written cannot be read: " + testing::FirstBad(*again));
  SLUICE_CHECK(again->rows.row_count() == batch.row_count(), "rows are lost in writing");
  std::string twice;
  SLUICE_CHECK((*encoder)->Encode(again->rows, &twice, nullptr).ok(), "cannot write again");
  SLUICE_CHECK(once == twice, "written again it differs:\n" + once + "\n" + twice);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < kHeaderBytes) return 0;
  const Format& format = FormatFor(data[0]);
  OptionMap options = OptionsFor(format, data[1]);
  const std::string_view text(reinterpret_cast<const char*>(data) + kHeaderBytes,
                              size - kHeaderBytes);
  const std::vector<std::string_view> messages = {text, text.substr(0, text.size() / 2),
                                                  std::string_view(), ""};
  auto strict = format.make_decoder(testing::Options(format, options), SchemaFor(format, true), {});
  const auto strict_rows = (*strict)->DecodeChunk(text, true);
  CheckValid(*strict_rows);
  CheckValid(*(*strict)->DecodeMessages(messages));

  options.emplace("ignore-parse-errors", "true");
  auto tolerant =
      format.make_decoder(testing::Options(format, options), SchemaFor(format, true), {});
  const auto rows = (*tolerant)->DecodeChunk(text, true);
  CheckValid(*rows);
  CheckValid(*(*tolerant)->DecodeMessages(messages));
  SLUICE_CHECK(!rows->failed || sluice::formats::text::ForeignMark(text),
               "a read that ignores errors fails");
  if (!strict_rows->failed) {
    SLUICE_CHECK(testing::RenderRows(strict_rows->rows) == testing::RenderRows(rows->rows),
                 "ignoring errors changes good rows");
  }
  auto plain = format.make_decoder(testing::Options(format, options), SchemaFor(format, false), {});
  CheckWritesBack(format, options, (*plain)->DecodeChunk(text, true)->rows);
  return 0;
}
