#include "formats/parquet/whole_file_encoder.h"

#include <cmath>

#include <gtest/gtest.h>
#include <parquet/file_reader.h>
#include <parquet/metadata.h>
#include <parquet/statistics.h>

#include "common/text.h"
#include "formats/parquet/parquet_file_operations.h"
#include "formats/parquet/parquet_test_support.h"

namespace sluice::formats::parquet_format {
namespace {

Result<std::unique_ptr<WholeFileEncoder>> MakeEncoder(const Schema& schema,
                                                      const OptionMap& options = {}) {
  return kParquetFileOperations.make_whole_file_encoder(
      testing::BulkOptions(kParquetFormat, options), schema, FormatContext());
}

std::string Encoded(const Schema& schema, const Batch& rows, const OptionMap& options = {}) {
  auto encoder = MakeEncoder(schema, options);
  if (!encoder.ok() || *encoder == nullptr) return "no encoder: " + encoder.status().ToString();
  auto file = (*encoder)->Encode(rows);
  if (!file.ok()) return file.status().ToString();
  return file->has_value() ? std::string(**file) : "the bulk writer is wanted";
}

std::unique_ptr<::parquet::ParquetFileReader> Open(const std::string& bytes) {
  ::parquet::ReaderProperties properties;
  properties.set_page_checksum_verification(true);
  return ::parquet::ParquetFileReader::Open(
      std::make_shared<arrow::io::BufferReader>(arrow::Buffer::FromString(bytes)), properties);
}

Schema EveryFlatType() {
  return NumberedSchema({SqlType::Boolean(), SqlType::Tinyint(), SqlType::Smallint(),
                         SqlType::Bigint().NotNull(), SqlType::Float(), SqlType::Double(),
                         SqlType::Decimal(3, 1), SqlType::Decimal(38, 10), SqlType::String(),
                         SqlType::Date(), SqlType::Time(3), SqlType::Timestamp(3),
                         SqlType::Timestamp(6), SqlType::TimestampLtz(6)});
}

Batch SomeRows(const Schema& schema) {
  return BatchFromJson(
      schema,
      {"[true, null, false]", "[-128, null, 127]", "[null, null, 7]",
       "[9223372036854775807, 0, -9223372036854775808]", "[0.5, null, -1]", "[1.5, null, -1e300]",
       R"(["-99.9", null, "0.1"])", R"(["1234567890123456789.0123456789", null, "-1.0000000000"])",
       R"(["", null, "text"])", "[0, null, -719162]", "[0, null, 86399999]",
       "[-1, null, 1577836800123]", "[-1, null, 1577836800123456]", "[0, null, 1]"});
}

TEST(WholeFileEncoder, EveryFlatTypeReadsAsTheBulkWritersFile) {
  const Schema schema = EveryFlatType();
  const Batch rows = SomeRows(schema);
  for (const OptionMap& options :
       {OptionMap{}, OptionMap{{"write.int64.timestamp", "true"}, {"compression", "ZSTD"}},
        OptionMap{{"compression", "UNCOMPRESSED"}, {"enable.dictionary", "false"}}}) {
    const std::string file = Encoded(schema, rows, options);
    const auto bulk = WriteFile(schema, {rows}, options);
    ASSERT_TRUE(bulk.ok());
    const auto read = ReadFile(file, schema, options);
    ASSERT_TRUE(read.ok()) << read.status().ToString();
    EXPECT_TRUE(read->rows()->Equals(*rows.rows())) << read->rows()->ToString();

    const auto ours = Open(file);
    const auto theirs = Open(*bulk);
    EXPECT_TRUE(ours->metadata()->schema()->Equals(*theirs->metadata()->schema()));
    EXPECT_EQ(ours->metadata()->created_by(), theirs->metadata()->created_by());
    for (int i = 0; i < schema.column_count(); ++i) {
      const auto mine = ours->metadata()->RowGroup(0)->ColumnChunk(i);
      const auto other = theirs->metadata()->RowGroup(0)->ColumnChunk(i);
      EXPECT_EQ(mine->num_values(), other->num_values());
      ASSERT_EQ(mine->is_stats_set(), other->is_stats_set()) << i;
      if (mine->is_stats_set()) {
        EXPECT_EQ(mine->statistics()->HasMinMax(), other->statistics()->HasMinMax()) << i;
        EXPECT_EQ(mine->statistics()->EncodeMin(), other->statistics()->EncodeMin()) << i;
        EXPECT_EQ(mine->statistics()->EncodeMax(), other->statistics()->EncodeMax()) << i;
        EXPECT_EQ(mine->statistics()->null_count(), other->statistics()->null_count()) << i;
      }
      const auto bounds = mine->key_value_metadata();
      const auto other_bounds = other->key_value_metadata();
      ASSERT_EQ(bounds == nullptr, other_bounds == nullptr) << i;
      if (bounds != nullptr) {
        EXPECT_TRUE(bounds->Equals(*other_bounds)) << bounds->ToString();
      }
    }
  }
}

TEST(WholeFileEncoder, AnEncoderMakesManyFiles) {
  const Schema schema = NumberedSchema({SqlType::Int(), SqlType::String()});
  auto encoder = MakeEncoder(schema);
  ASSERT_TRUE(encoder.ok());
  for (const char* const values : {"[1, 2, 3]", "[null, null, null]", "[7, 7, null]"}) {
    const Batch rows = BatchFromJson(schema, {values, R"(["a", "b", null])"});
    const auto file = (*encoder)->Encode(rows);
    ASSERT_TRUE(file.ok() && file->has_value());
    const auto read = ReadFile(std::string(**file), schema);
    ASSERT_TRUE(read.ok()) << read.status().ToString();
    EXPECT_TRUE(read->rows()->Equals(*rows.rows())) << read->rows()->ToString();
  }
}

/// `rows` numbers, value i being `value(i)`.
template <typename Value>
Batch Numbers(const Schema& schema, int rows, const Value& value) {
  std::vector<std::string> values;
  for (int i = 0; i < rows; ++i) values.push_back(value(i));
  return BatchFromJson(schema, {"[" + Join(values, ",") + "]"});
}

TEST(WholeFileEncoder, DictionariesWhereTheyMakeAColumnSmaller) {
  const Schema schema = NumberedSchema({SqlType::String()});
  for (const int distinct : {1, 2, 3, 100, 255, 256, 257, 1000, 3000}) {
    const Batch rows = Numbers(schema, 3000, [distinct](int i) {
      return "\"the text of value " + std::to_string(i % distinct) + "\"";
    });
    const std::string file = Encoded(schema, rows);
    const auto read = ReadFile(file, schema);
    ASSERT_TRUE(read.ok()) << distinct << ": " << read.status().ToString();
    EXPECT_TRUE(read->rows()->Equals(*rows.rows())) << distinct;
    const auto metadata = Open(file)->metadata();
    // The first rows decide, as for the bulk writer.
    EXPECT_EQ(metadata->RowGroup(0)->ColumnChunk(0)->has_dictionary_page(), distinct <= 100)
        << distinct;
  }
  const Schema numbers = NumberedSchema({SqlType::Bigint().NotNull()});
  for (const int count : {1, 7, 8, 9, 100, 1001}) {
    const Batch rows = Numbers(numbers, count, [](int i) { return std::to_string(i % 5); });
    const auto read = ReadFile(Encoded(numbers, rows), numbers);
    ASSERT_TRUE(read.ok()) << count << ": " << read.status().ToString();
    EXPECT_TRUE(read->rows()->Equals(*rows.rows())) << count;
  }
}

TEST(WholeFileEncoder, SlicesAndBoundsOfFloats) {
  const Schema schema = NumberedSchema({SqlType::Double(), SqlType::String(), SqlType::Boolean()});
  const Batch all =
      BatchFromJson(schema, {"[9, null, 0.0, NaN, -2, 5]", R"(["zz", "b", null, "a", "c", "aa"])",
                             "[true, null, false, true, false, true]"});
  const Batch rows = all.Slice(1, 4);
  const std::string file = Encoded(schema, rows);
  const auto read = ReadFile(file, schema);
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_TRUE(read->rows()->Equals(*rows.rows(), arrow::EqualOptions().nans_equal(true)));
  const auto metadata = Open(file)->metadata();
  const auto group = metadata->RowGroup(0);
  const auto doubles =
      std::static_pointer_cast<::parquet::DoubleStatistics>(group->ColumnChunk(0)->statistics());
  EXPECT_EQ(doubles->min(), -2.0);  // NaN has no place in an order.
  EXPECT_EQ(doubles->max(), 0.0);
  EXPECT_FALSE(std::signbit(doubles->max()));
  EXPECT_EQ(group->ColumnChunk(1)->statistics()->EncodeMin(), "a");
  EXPECT_EQ(group->ColumnChunk(1)->statistics()->EncodeMax(), "c");
}

TEST(WholeFileEncoder, LeavesToTheBulkWriterWhatOnlyItDoes) {
  const Schema schema = NumberedSchema({SqlType::String().NotNull()});
  const auto wanted = [](const Result<std::unique_ptr<WholeFileEncoder>>& made) {
    return made.ok() && *made == nullptr;
  };
  EXPECT_TRUE(wanted(MakeEncoder(NumberedSchema({SqlType::Array(SqlType::Int())}))));
  EXPECT_TRUE(wanted(MakeEncoder(schema, {{"writer.version", "PARQUET_2_0"}})));
  EXPECT_TRUE(wanted(MakeEncoder(schema, {{"bloom.filter.enabled", "true"}})));
  EXPECT_FALSE(MakeEncoder(schema, {{"compression", "FOO"}}).ok());
  const std::string long_text(400'000, 'x');
  EXPECT_EQ(Encoded(schema, BatchFromJson(schema, {"[\"" + long_text + "\"]"})),
            "the bulk writer is wanted");
  // Longer bounds than readers want to see are left out.
  const std::string file =
      Encoded(schema, BatchFromJson(schema, {"[\"" + long_text.substr(0, 5000) + "\"]"}));
  const auto metadata = Open(file)->metadata();
  EXPECT_FALSE(metadata->RowGroup(0)->ColumnChunk(0)->statistics()->HasMinMax());
}

TEST(WholeFileEncoder, JoinsWithFilesOfTheBulkWriter) {
  const Schema schema = NumberedSchema({SqlType::Bigint(), SqlType::Timestamp(3)});
  std::vector<std::string> numbers;
  for (int i = 0; i < 20'000; ++i) numbers.push_back(std::to_string(i * 7919LL % 1'000'003));
  const std::string column = "[" + Join(numbers, ",") + "]";
  const Batch rows = BatchFromJson(schema, {column, column});
  // Large enough that joining does not rather write them anew.
  const OptionMap options{{"compression", "UNCOMPRESSED"},
                          {"page.size", "4194304"},
                          {"dictionary.page.size", "4194304"}};
  const std::string small = Encoded(schema, rows, options);
  const auto bulk = WriteFile(schema, {rows}, options);
  ASSERT_TRUE(bulk.ok());
  const auto file = [](const std::string& bytes) {
    return std::make_shared<arrow::io::BufferReader>(arrow::Buffer::FromString(bytes));
  };
  const std::vector<std::shared_ptr<arrow::io::RandomAccessFile>> inputs{file(small), file(*bulk)};
  const auto stream = arrow::io::BufferOutputStream::Create().ValueOrDie();
  const Status joined =
      kParquetFileOperations.join_files({}, schema, inputs, stream.get(), FormatContext());
  ASSERT_TRUE(joined.ok()) << joined.ToString();
  const auto read = ReadFile(stream->Finish().ValueOrDie()->ToString(), schema, options);
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_EQ(read->row_count(), 2 * rows.row_count());
}

}  // namespace
}  // namespace sluice::formats::parquet_format
