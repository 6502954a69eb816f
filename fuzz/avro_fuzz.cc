// Avro from outside: container files under several tables, schemas alone, and messages in both
// encodings. Whatever comes is read or refused; a file has the same rows whatever is wanted of it
// and however it is cut into parts; a message that was read is written and read back the same.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <arrow/buffer.h>
#include <arrow/io/memory.h>

#include "common/check.h"
#include "formats/avro/avro_file.h"
#include "formats/avro/avro_format.h"
#include "formats/avro/avro_schema.h"
#include "formats/testing/render.h"

namespace {

using namespace sluice;           // NOLINT: one small file.
using namespace sluice::formats;  // NOLINT

constexpr size_t kHeaderBytes = 2;

Schema SchemaFor(uint8_t selector) {
  const SqlType row =
      SqlType::Row({{"x", SqlType::Int()}, {"y", SqlType::Array(SqlType::String())}});
  switch (selector % 4) {
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
    case 2:
      return Schema({{"a", SqlType::Boolean()},
                     {"b", SqlType::Smallint()},
                     {"c", SqlType::Float().NotNull()},
                     {"d", SqlType::Date()},
                     {"e", SqlType::Time(3)},
                     {"t", SqlType::Timestamp(9)},
                     {"l", SqlType::TimestampLtz(3)},
                     {"x", SqlType::Bytes()},
                     {"i", SqlType::Bigint()}});
    default:
      return Schema({{"v", SqlType::String()}, {"i", SqlType::Bigint()}});
  }
}

/// Rows of a file as texts; nullopt when it cannot be read.
std::optional<std::vector<std::string>> ReadFile(std::string_view bytes, ReadSchema schema,
                                                 int64_t part_bytes) {
  auto source = std::make_shared<arrow::io::BufferReader>(std::make_shared<arrow::Buffer>(
      reinterpret_cast<const uint8_t*>(bytes.data()), static_cast<int64_t>(bytes.size())));
  const auto file = avro::AvroFile::Open(std::move(schema), source, {}, part_bytes);
  if (!file.ok()) return std::nullopt;
  std::vector<std::string> texts;
  for (int part = 0; part < (*file)->part_count(); ++part) {
    const auto rows = (*file)->ReadPart(part);
    if (!rows.ok()) return std::nullopt;
    while (true) {
      const auto batch = (*rows)->Next();
      if (!batch.ok()) return std::nullopt;
      if (!*batch) break;
      SLUICE_CHECK((*batch)->rows()->ValidateFull().ok(), "the batch is not valid");
      // A count that was blown up need not be printed row by row.
      const int64_t shown = std::min<int64_t>((*batch)->row_count(), 64);
      for (int64_t i = 0; i < shown; ++i) {
        texts.push_back(testing::RenderRow(*(*batch)->rows(), i));
      }
      texts.push_back(std::to_string((*batch)->row_count()));
      if (texts.size() > 10'000) return std::nullopt;
    }
  }
  return texts;
}

void CheckFile(std::string_view bytes, const Schema& schema) {
  const auto whole = ReadFile(bytes, testing::AllOf(schema), avro::kPartBytes);
  (void)ReadFile(bytes, testing::AllOf(schema), 100);
  const auto counted = ReadFile(bytes, {schema, {}}, avro::kPartBytes);
  if (whole && counted) {
    SLUICE_CHECK(whole->empty() == counted->empty(), "a count differs from the rows");
  }
}

void CheckMessage(std::string_view message, const Schema& schema, const OptionMap& options) {
  const auto decoder =
      kAvroFormat.make_decoder({options, "avro."}, testing::AllOf(schema), FormatContext());
  const std::vector<std::string_view> messages = {message, message.substr(0, message.size() / 2),
                                                  std::string_view(), message};
  const auto decoded = (*decoder)->DecodeMessages(messages);
  SLUICE_CHECK(decoded->rows.rows()->ValidateFull().ok(), "the batch is not valid");
  const auto encoder =
      kAvroFormat.make_encoder({options, "avro."}, schema, Framing::kMessage, FormatContext());
  std::string bytes;
  std::vector<size_t> ends;
  const Status status = (*encoder)->Encode(decoded->rows, &bytes, &ends);
  SLUICE_CHECK(status.ok(), "what was read cannot be written: " + status.ToString());
  std::vector<std::string_view> again;
  size_t begin = 0;
  for (const size_t end : ends) {
    again.push_back(std::string_view(bytes).substr(begin, end - begin));
    begin = end;
  }
  const auto second = (*decoder)->DecodeMessages(again);
  SLUICE_CHECK(testing::FirstBad(*second).empty(),
               "what was written cannot be read: " + testing::FirstBad(*second));
  SLUICE_CHECK(testing::RenderRows(second->rows) == testing::RenderRows(decoded->rows),
               "written and read again it differs");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < kHeaderBytes) return 0;
  const Schema schema = SchemaFor(data[1]);
  const std::string_view bytes(reinterpret_cast<const char*>(data) + kHeaderBytes,
                               size - kHeaderBytes);
  switch (data[0] % 4) {
    case 0:
      CheckFile(bytes, schema);
      break;
    case 1:
      if (const auto parsed = avro::AvroSchema::Parse(bytes); parsed.ok()) {
        (void)avro::MakeReadPlan(parsed->root(), testing::AllOf(schema));
        (void)avro::TypeText(parsed->root());
      }
      break;
    case 2:
      CheckMessage(bytes, schema, {{"ignore-parse-errors", "true"}});
      break;
    default:
      CheckMessage(bytes, schema, {{"ignore-parse-errors", "true"}, {"encoding", "json"}});
  }
  return 0;
}
