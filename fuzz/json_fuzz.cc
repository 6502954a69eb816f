// json bytes under every option, with simdjson as the judge of what is JSON: whatever comes is
// decoded or refused, and what was decoded is written and read back to the same bytes.
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include <simdjson.h>

#include "common/check.h"
#include "formats/json/json_cursor.h"
#include "formats/json/json_format.h"
#include "formats/testing/render.h"
#include "formats/text/byte_order_mark.h"

namespace {

using namespace sluice;           // NOLINT: one small file.
using namespace sluice::formats;  // NOLINT

constexpr size_t kHeaderBytes = 2;

OptionMap OptionsFor(uint8_t selector) {
  OptionMap options;
  if ((selector & 1) != 0) options.emplace("timestamp-format.standard", "ISO-8601");
  if ((selector & 2) != 0) options.emplace("fail-on-missing-field", "true");
  if ((selector & 4) != 0) options.emplace("encode.decimal-as-plain-number", "true");
  if ((selector & 8) != 0) options.emplace("encode.ignore-null-fields", "true");
  if ((selector & 16) != 0) options.emplace("decode.max-depth", "5");
  return options;
}

Schema SchemaFor(uint8_t selector) {
  const SqlType row =
      SqlType::Row({{"a", SqlType::Int()}, {"s", SqlType::Array(SqlType::String())}});
  switch (selector % 3) {
    case 0:
      return Schema({{"a", SqlType::Int()},
                     {"b", SqlType::String()},
                     {"c", SqlType::Double()},
                     {"d", SqlType::Decimal(20, 4)}});
    case 1:
      return Schema({{"a", SqlType::Array(row)},
                     {"b", SqlType::Map(SqlType::String(), row)},
                     {"r", row},
                     {"m", SqlType::Multiset(SqlType::String())}});
    default:
      return Schema({{"a", SqlType::Boolean()},
                     {"b", SqlType::Smallint()},
                     {"c", SqlType::Float()},
                     {"d", SqlType::Date()},
                     {"e", SqlType::Time(3)},
                     {"t", SqlType::Timestamp(6)},
                     {"l", SqlType::TimestampLtz(3)},
                     {"x", SqlType::Bytes()},
                     {"i", SqlType::Bigint()}});
  }
}

/// Where simdjson refuses what we (and Flink) read on purpose.
bool IsKnownDifference(simdjson::error_code error) {
  return error == simdjson::UNESCAPED_CHARS ||  // Control characters inside strings.
         error == simdjson::STRING_ERROR ||     // Half surrogates; its other cases are ours too.
         error == simdjson::NUMBER_ERROR ||     // Also numbers beyond 64 bits.
         error == simdjson::DEPTH_ERROR;
}

void CompareWithSimdjson(std::string_view text) {
  if (text.empty() || (text.front() != '{' && text.front() != '[') ||
      !simdjson::validate_utf8(text.data(), text.size()))
    return;
  std::string padded(text);
  padded.append(json::kPadding, '\n');
  json::JsonCursor cursor;
  cursor.Start({padded.data(), text.size()}, 1000);
  bool ours = cursor.SkipValue();
  if (ours) {
    cursor.SkipBlanks();
    ours = cursor.at_end();
  }
  simdjson::dom::parser parser;
  const simdjson::error_code error = parser.parse(padded.data(), text.size(), false).error();
  if (error == simdjson::SUCCESS) {
    SLUICE_CHECK(ours || cursor.failed_on_depth(),
                 "simdjson takes this, we do not: " + cursor.DescribeError());
  } else if (ours) {
    SLUICE_CHECK(IsKnownDifference(error),
                 std::string("we take this, simdjson does not: ") + simdjson::error_message(error));
  }
}

void CheckValid(const DecodedRows& decoded) {
  SLUICE_CHECK(decoded.rows.rows()->ValidateFull().ok(), "the batch is not valid");
  SLUICE_CHECK(decoded.record_of_row.empty() ||
                   decoded.record_of_row.size() == static_cast<size_t>(decoded.rows.row_count()),
               "record_of_row has another length than the batch");
}

void CheckWritesBack(const OptionMap& options, const Schema& schema, const Batch& batch) {
  auto encoder =
      kJsonFormat.make_encoder(testing::Options(kJsonFormat, options), schema, Framing::kFile, {});
  std::string once;
  SLUICE_CHECK((*encoder)->Encode(batch, &once, nullptr).ok(), "cannot write what was read");
  OptionMap reading = options;
  reading.erase("decode.max-depth");
  reading.erase("fail-on-missing-field");
  auto decoder =
      kJsonFormat.make_decoder(testing::Options(kJsonFormat, reading), testing::AllOf(schema), {});
  const auto again = (*decoder)->DecodeChunk(once, false);
  SLUICE_CHECK(!again->failed, "what was written cannot be read: " + testing::FirstBad(*again));
  std::string twice;
  SLUICE_CHECK((*encoder)->Encode(again->rows, &twice, nullptr).ok(), "cannot write again");
  SLUICE_CHECK(once == twice, "written again it differs:\n" + once + "\n" + twice);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < kHeaderBytes) return 0;
  OptionMap options = OptionsFor(data[0]);
  const Schema schema = SchemaFor(data[1]);
  const std::string_view text(reinterpret_cast<const char*>(data) + kHeaderBytes,
                              size - kHeaderBytes);
  CompareWithSimdjson(text);
  const std::vector<std::string_view> messages = {text, text.substr(0, text.size() / 2),
                                                  std::string_view()};
  auto strict =
      kJsonFormat.make_decoder(testing::Options(kJsonFormat, options), testing::AllOf(schema), {});
  const auto strict_rows = (*strict)->DecodeChunk(text, true);
  CheckValid(*strict_rows);
  CheckValid(*(*strict)->DecodeMessages(messages));

  if (options.erase("fail-on-missing-field") > 0) return 0;  // Excludes the option below.
  options.emplace("ignore-parse-errors", "true");
  auto tolerant =
      kJsonFormat.make_decoder(testing::Options(kJsonFormat, options), testing::AllOf(schema), {});
  const auto rows = (*tolerant)->DecodeChunk(text, true);
  CheckValid(*rows);
  CheckValid(*(*tolerant)->DecodeMessages(messages));
  SLUICE_CHECK(!rows->failed || sluice::formats::text::ForeignMark(text),
               "a read that ignores errors fails");
  if (!strict_rows->failed) {
    SLUICE_CHECK(testing::RenderRows(strict_rows->rows) == testing::RenderRows(rows->rows),
                 "ignoring errors changes good rows");
  }
  CheckWritesBack(options, schema, rows->rows);
  return 0;
}
