#include "formats/parquet/page_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <parquet/arrow/reader.h>
#include <parquet/arrow/writer.h>

#include "common/random.h"
#include "formats/parquet/compact_writer.h"
#include "formats/parquet/page_column.h"
#include "formats/parquet/paged_file.h"
#include "formats/parquet/parquet_test_support.h"

namespace sluice::formats::parquet_format {
namespace {

using ::parquet::Compression;
using ::parquet::Encoding;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr int64_t kRowCount = 5000;

/// Numbers that repeat, of which the rows for which `is_null` holds are NULL.
template <typename Builder>
std::shared_ptr<arrow::Array> Numbers(const std::shared_ptr<arrow::DataType>& type,
                                      bool (*is_null)(int64_t row)) {
  Builder builder(type, arrow::default_memory_pool());
  Random random(5);
  for (int64_t row = 0; row < kRowCount; ++row) {
    const auto value = static_cast<typename Builder::value_type>(random.Below(300));
    EXPECT_TRUE((is_null(row) ? builder.AppendNull() : builder.Append(value)).ok());
  }
  return builder.Finish().ValueOrDie();
}

bool Never(int64_t) { return false; }
bool Always(int64_t) { return true; }
bool Sometimes(int64_t row) { return row % 7 == 3 || row / 1000 == 2; }

/// Each kind of number with NULLs here, there and nowhere, one column that has no room for them,
/// and a text, which the library reads from our pages.
std::shared_ptr<arrow::Table> MakeTable() {
  arrow::StringBuilder texts;
  for (int64_t row = 0; row < kRowCount; ++row) {
    EXPECT_TRUE((row % 11 == 0 ? texts.AppendNull() : texts.Append(std::to_string(row % 97))).ok());
  }
  const auto time = arrow::timestamp(arrow::TimeUnit::MICRO);
  return arrow::Table::Make(
      arrow::schema({arrow::field("c0", arrow::int32()), arrow::field("c1", arrow::int64()),
                     arrow::field("c2", arrow::float64()), arrow::field("c3", arrow::float32()),
                     arrow::field("c4", arrow::date32()), arrow::field("c5", time),
                     arrow::field("c6", arrow::int64(), /*nullable=*/false),
                     arrow::field("c7", arrow::utf8())}),
      {Numbers<arrow::Int32Builder>(arrow::int32(), &Sometimes),
       Numbers<arrow::Int64Builder>(arrow::int64(), &Never),
       Numbers<arrow::DoubleBuilder>(arrow::float64(), &Sometimes),
       Numbers<arrow::FloatBuilder>(arrow::float32(), &Always),
       Numbers<arrow::Date32Builder>(arrow::date32(), &Never),
       Numbers<arrow::TimestampBuilder>(time, &Sometimes),
       Numbers<arrow::Int64Builder>(arrow::int64(), &Never), texts.Finish().ValueOrDie()});
}

Schema TableSchema() {
  return NumberedSchema({SqlType::Int(), SqlType::Bigint(), SqlType::Double(), SqlType::Float(),
                         SqlType::Date(), SqlType::Timestamp(6), SqlType::Bigint().NotNull(),
                         SqlType::String()});
}

std::string Write(const arrow::Table& table, ::parquet::WriterProperties::Builder& properties) {
  const auto stream = arrow::io::BufferOutputStream::Create().ValueOrDie();
  const arrow::Status status = ::parquet::arrow::WriteTable(
      table, arrow::default_memory_pool(), stream, 3000, properties.data_pagesize(4000)->build());
  EXPECT_TRUE(status.ok()) << status.ToString();
  return stream->Finish().ValueOrDie()->ToString();
}

void ExpectSameRows(const arrow::Table& table, const std::string& bytes, const std::string& what) {
  const auto read = ReadFile(bytes, TableSchema(), {{"utc-timezone", "true"}});
  ASSERT_TRUE(read.ok()) << what << ": " << read.status().ToString();
  ASSERT_EQ(read->row_count(), kRowCount) << what;
  for (int i = 0; i < table.num_columns(); ++i) {
    const auto expected = arrow::Concatenate(table.column(i)->chunks()).ValueOrDie();
    EXPECT_TRUE(expected->Equals(read->column(i))) << what << ", column " << i;
  }
}

TEST(PageReaderTest, EveryCodecAndVersion) {
  const auto table = MakeTable();
  for (const Compression::type codec :
       {Compression::UNCOMPRESSED, Compression::SNAPPY, Compression::GZIP, Compression::ZSTD,
        Compression::LZ4, Compression::LZ4_HADOOP, Compression::BROTLI}) {
    for (const auto version :
         {::parquet::ParquetDataPageVersion::V1, ::parquet::ParquetDataPageVersion::V2}) {
      for (const bool dictionary : {true, false}) {
        ::parquet::WriterProperties::Builder properties;
        properties.compression(codec)->data_page_version(version)->enable_page_checksum();
        if (!dictionary) properties.disable_dictionary();
        ExpectSameRows(*table, Write(*table, properties),
                       "codec " + std::to_string(codec) + ", dictionary " +
                           std::to_string(dictionary) + ", version " +
                           std::to_string(static_cast<int>(version)));
      }
    }
  }
}

TEST(PageReaderTest, EncodingsOfNumbers) {
  const auto table = MakeTable();
  for (const Encoding::type encoding :
       {Encoding::PLAIN, Encoding::BYTE_STREAM_SPLIT, Encoding::DELTA_BINARY_PACKED}) {
    ::parquet::WriterProperties::Builder properties;
    properties.disable_dictionary();
    for (const char* name : {"c0", "c1", "c4", "c5", "c6"}) properties.encoding(name, encoding);
    if (encoding != Encoding::DELTA_BINARY_PACKED)
      for (const char* name : {"c2", "c3"}) properties.encoding(name, encoding);
    ExpectSameRows(*table, Write(*table, properties), std::to_string(encoding));
  }
  // The dictionary becomes too large: pages of indices, then plain ones.
  ::parquet::WriterProperties::Builder properties;
  properties.dictionary_pagesize_limit(600);
  ExpectSameRows(*table, Write(*table, properties), "a dictionary that is given up");
}

// What is PLAIN and has no NULL is not copied, and lies where loops over vectors want it.
TEST(PageColumnTest, ValuesAreAlignedInTheirPages) {
  const auto table = MakeTable();
  for (const auto version :
       {::parquet::ParquetDataPageVersion::V1, ::parquet::ParquetDataPageVersion::V2}) {
    ::parquet::WriterProperties::Builder properties;
    properties.disable_dictionary()->compression(Compression::SNAPPY)->data_page_version(version);
    const auto file = std::make_shared<arrow::io::BufferReader>(
        arrow::Buffer::FromString(Write(*table, properties)));
    const auto whole = ::parquet::ParquetFileReader::Open(file);
    const auto paged = OpenPagedFile(whole.get(), file, ::parquet::ReaderProperties(), {});
    const auto row_group = paged->RowGroup(0);
    for (const int leaf : {1, 4, 6}) {
      const auto column = PageColumn::Make(row_group.get(), leaf, table->field(leaf)->type(),
                                           arrow::default_memory_pool());
      arrow::ArrayVector pages;
      while (const auto page = column->Next()) {
        EXPECT_EQ(page->data()->buffers[1]->address() % 64, 0) << leaf;
        EXPECT_NE(page->data()->buffers[1]->parent(), nullptr) << leaf;
        pages.push_back(page);
      }
      EXPECT_GT(pages.size(), 2);
      const auto joined = arrow::Concatenate(pages).ValueOrDie();
      EXPECT_TRUE(joined->Equals(table->column(leaf)->chunk(0)->Slice(0, joined->length())));
    }
  }
}

/// Where the bytes of the pages of a column's first chunk are: [begin, end).
std::vector<std::pair<size_t, size_t>> PageBodies(const std::string& bytes, int leaf) {
  const auto file = ::parquet::ParquetFileReader::Open(
      std::make_shared<arrow::io::BufferReader>(arrow::Buffer::FromString(bytes)));
  const auto chunk = file->metadata()->RowGroup(0)->ColumnChunk(leaf);
  auto at = static_cast<size_t>(ChunkBegin(*chunk));
  const size_t end = at + static_cast<size_t>(chunk->total_compressed_size());
  std::vector<std::pair<size_t, size_t>> bodies;
  while (at < end) {
    PageHeader header;
    size_t header_bytes = 0;
    EXPECT_EQ(ParsePageHeader(std::string_view(bytes).substr(at), &header, &header_bytes),
              HeaderParse::kDone);
    at += header_bytes;
    bodies.emplace_back(at, at + static_cast<size_t>(header.compressed_bytes));
    at = bodies.back().second;
  }
  return bodies;
}

TEST(PageReaderTest, AnyChangedByteOfAPageIsFoundByItsChecksum) {
  const auto table = MakeTable();
  Random random(9);
  for (const auto version :
       {::parquet::ParquetDataPageVersion::V1, ::parquet::ParquetDataPageVersion::V2}) {
    ::parquet::WriterProperties::Builder properties;
    properties.compression(Compression::SNAPPY)->enable_page_checksum()->data_page_version(version);
    const std::string good = Write(*table, properties);
    for (const int leaf : {0, 1, 7}) {
      for (const auto& [begin, end] : PageBodies(good, leaf)) {
        std::string bad = good;
        bad[begin + random.Below(end - begin)] ^= static_cast<char>(1 + random.Below(255));
        const auto read = ReadFile(bad, TableSchema(), {});
        EXPECT_EQ(read.status().code(), StatusCode::kDataError);
        EXPECT_THAT(read.status().ToString(),
                    AllOf(HasSubstr("'c" + std::to_string(leaf) + "'"), HasSubstr("row group 0"),
                          HasSubstr("CRC checksum verification failed")));
      }
    }
  }
}

TEST(PageReaderTest, DamageWithoutChecksumsIsAnErrorOrOtherValues) {
  const auto table = MakeTable();
  Random random(13);
  for (const Compression::type codec :
       {Compression::UNCOMPRESSED, Compression::SNAPPY, Compression::ZSTD, Compression::LZ4}) {
    for (const bool dictionary : {true, false}) {
      ::parquet::WriterProperties::Builder properties;
      properties.compression(codec);
      if (!dictionary) properties.disable_dictionary();
      const std::string good = Write(*table, properties);
      int refused = 0;
      for (int turn = 0; turn < 60; ++turn) {
        std::string bad = good;
        const auto bodies = PageBodies(good, turn % 8);
        const auto& [begin, end] = bodies[random.Below(bodies.size())];
        // Headers too.
        const size_t at = begin - std::min<size_t>(20, begin) + random.Below(end - begin + 20);
        bad[at] = static_cast<char>(random.Next());
        const auto read = ReadFile(bad, TableSchema(), {{"utc-timezone", "true"}});
        if (read.ok()) continue;
        ++refused;
        EXPECT_EQ(read.status().code(), StatusCode::kDataError) << read.status().ToString();
      }
      EXPECT_GT(refused, 0) << codec;
    }
  }
}

TEST(PageReaderTest, CorruptSnappyNamesColumnAndRowGroup) {
  const auto table = MakeTable();
  ::parquet::WriterProperties::Builder properties;
  properties.compression(Compression::SNAPPY)->disable_dictionary();
  std::string bytes = Write(*table, properties);
  bytes[PageBodies(bytes, 1)[1].first] ^= 1;  // The size that the block states.
  const auto read = ReadFile(bytes, TableSchema(), {});
  EXPECT_THAT(read.status().ToString(),
              AllOf(HasSubstr("'c1'"), HasSubstr("row group 0"), HasSubstr("Corrupt snappy")));
}

std::string DataHeader(int32_t uncompressed, int32_t compressed, int32_t values) {
  std::string bytes;
  CompactWriter writer(&bytes);
  writer.BeginItem();
  writer.I32(1, 0);
  writer.I32(2, uncompressed);
  writer.I32(3, compressed);
  writer.I32(4, -2);
  writer.BeginStruct(5);
  writer.I32(1, values);
  writer.I32(2, Encoding::PLAIN);
  writer.I32(3, Encoding::RLE);
  writer.I32(4, Encoding::RLE);
  writer.BeginStruct(5);  // Statistics, which are not looked at.
  writer.Binary(1, "max");
  writer.I64(3, 0);
  writer.End();
  writer.End();
  writer.BeginList(9, ThriftType::kBinary, 20);  // What a later version may add.
  for (int i = 0; i < 20; ++i) writer.Bytes("later");
  writer.End();
  return bytes;
}

TEST(PageHeaderTest, TakesWhatItKnowsAndNoMore) {
  const std::string bytes = DataHeader(700, 300, 80);
  PageHeader header;
  size_t header_bytes = 0;
  ASSERT_EQ(ParsePageHeader(bytes + "the page", &header, &header_bytes), HeaderParse::kDone);
  EXPECT_EQ(header_bytes, bytes.size());
  EXPECT_EQ(header.kind, PageHeader::Kind::kData);
  EXPECT_EQ(header.uncompressed_bytes, 700);
  EXPECT_EQ(header.compressed_bytes, 300);
  EXPECT_EQ(header.crc, 0xFFFFFFFEU);
  EXPECT_EQ(header.value_count, 80);
  EXPECT_EQ(header.encoding, Encoding::PLAIN);
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_EQ(ParsePageHeader(std::string_view(bytes).substr(0, size), &header, &header_bytes),
              HeaderParse::kNeedsMore)
        << size;
  }
}

TEST(PageHeaderTest, RefusesSizesBelowZeroAndWhatIsNoHeader) {
  PageHeader header;
  size_t header_bytes = 0;
  for (const std::string& bytes :
       {DataHeader(-1, 300, 80), DataHeader(700, -1, 80), DataHeader(700, 300, -1),
        std::string("\x15\x00\x00", 3),  // No numbers of values.
        std::string("\x15\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF",
                    12),                                   // A varint of 80 bits.
        std::string("\x1D", 1) + std::string(40, '\x01'),  // No type of Thrift.
        std::string(60, '\x1C')}) {                        // Too deep.
    EXPECT_EQ(ParsePageHeader(bytes, &header, &header_bytes), HeaderParse::kDamaged);
  }
}

}  // namespace
}  // namespace sluice::formats::parquet_format
