// One Parquet file written by several writers, as over restarts, and files joined by row groups.
#include <sys/resource.h>

#include <limits>

#include <arrow/io/memory.h>
#include <gtest/gtest.h>
#include <parquet/bloom_filter.h>
#include <parquet/bloom_filter_reader.h>
#include <parquet/file_reader.h>
#include <parquet/metadata.h>
#include <parquet/page_index.h>

#include "formats/parquet/parquet_file_operations.h"
#include "formats/parquet/parquet_footer.h"
#include "formats/parquet/parquet_test_support.h"

namespace sluice::formats::parquet_format {
namespace {

const Schema& TestSchema() {
  static const Schema kSchema({{"id", SqlType::Bigint()},
                               {"text", SqlType::String()},
                               {"list", SqlType::Array(SqlType::Int())}});
  return kSchema;
}

Batch Numbers(int64_t first, int64_t count) {
  std::string ids = "[", texts = "[", lists = "[";
  for (int64_t id = first; id < first + count; ++id) {
    const std::string comma = id == first ? "" : ",";
    ids += comma + std::to_string(id);
    texts += comma + (id % 5 == 0 ? "null" : "\"t" + std::to_string(id % 7) + "\"");
    lists += comma + (id % 3 == 0 ? "null" : "[" + std::to_string(id) + ",null]");
  }
  return BatchFromJson(TestSchema(), {ids + "]", texts + "]", lists + "]"});
}

/// A file on disk that outlives its writers.
class File {
 public:
  Result<std::unique_ptr<SpanningWriter>> Writer(const std::string& state,
                                                 const OptionMap& options = {}) {
    auto stream = arrow::io::BufferOutputStream::Create().ValueOrDie();
    (void)stream->Write(bytes_.data(), static_cast<int64_t>(bytes_.size()));
    stream_ = stream;
    return kParquetFileOperations.resume_writer({options, "parquet."}, TestSchema(), stream, state,
                                                FormatContext());
  }
  /// The bytes that are there now; what the writer writes from here on is lost in a crash.
  void Persist() {
    bytes_.assign(reinterpret_cast<const char*>(stream_->Finish().ValueOrDie()->data()),
                  static_cast<size_t>(size()));
  }
  int64_t size() { return size_; }
  void Measure() { size_ = *stream_->Tell(); }
  const std::string& bytes() const { return bytes_; }

 private:
  std::shared_ptr<arrow::io::BufferOutputStream> stream_;
  std::string bytes_;
  int64_t size_ = 0;
};

void ExpectIds(const std::string& bytes, int64_t count) {
  auto rows = ReadFile(bytes, TestSchema());
  ASSERT_TRUE(rows.ok()) << rows.status().ToString();
  ASSERT_EQ(rows->row_count(), count);
  EXPECT_TRUE(rows->rows()->Equals(*Numbers(0, count).rows()));
}

TEST(ParquetSpanningTest, WritersContinueEachOthersFile) {
  // Row groups that end, rows that stay in the state, and states without a row.
  File file;
  std::string state;
  int64_t next = 0;
  for (int generation = 0; generation < 5; ++generation) {
    auto writer = file.Writer(state);
    ASSERT_TRUE(writer.ok()) << writer.status().ToString();
    for (int i = 0; i < generation; ++i) {
      ASSERT_TRUE((*writer)->Write(Numbers(next, 100)).ok());
      next += 100;
      if (generation == 3) {
        ASSERT_TRUE((*writer)->Flush().ok());
      }
    }
    auto saved = (*writer)->Save();
    ASSERT_TRUE(saved.ok()) << saved.status().ToString();
    state = *saved;
    file.Measure();
    // Rows behind the checkpoint are lost with the process.
    ASSERT_TRUE((*writer)->Write(Numbers(9000, 10)).ok());
    writer->reset();
    file.Persist();
  }
  auto writer = file.Writer(state);
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE((*writer)->Write(Numbers(next, 50)).ok());
  next += 50;
  ASSERT_TRUE((*writer)->Finish().ok());
  file.Measure();
  file.Persist();
  ExpectIds(file.bytes(), next);
  const auto reader = ::parquet::ParquetFileReader::Open(
      std::make_shared<arrow::io::BufferReader>(arrow::Buffer::FromString(file.bytes())));
  // Three flushed ones, and the rest in one.
  EXPECT_GE(reader->metadata()->num_row_groups(), 4);
  // Every row group has its page index.
  for (int i = 0; i < reader->metadata()->num_row_groups(); ++i) {
    EXPECT_NE(reader->GetPageIndexReader()->RowGroup(i)->GetOffsetIndex(0), nullptr) << i;
  }
}

TEST(ParquetSpanningTest, TellsWhatItsStateWouldBe) {
  File file;
  auto writer = file.Writer({});
  ASSERT_TRUE(writer.ok()) << writer.status().ToString();
  EXPECT_EQ((*writer)->state_bytes(), 0);
  ASSERT_TRUE((*writer)->Write(Numbers(0, 20'000)).ok());
  const int64_t told = (*writer)->state_bytes();
  const auto saved = (*writer)->Save();
  ASSERT_TRUE(saved.ok()) << saved.status().ToString();
  EXPECT_GT(told, static_cast<int64_t>(saved->size() / 2));
  EXPECT_LT(told, static_cast<int64_t>(saved->size() * 2));
  ASSERT_TRUE((*writer)->Flush().ok());
  EXPECT_EQ((*writer)->state_bytes(), 0);
}

TEST(ParquetSpanningTest, ManyRowsEndTheRowGroupInsteadOfFillingTheState) {
  File file;
  auto writer = file.Writer("");
  ASSERT_TRUE(writer.ok());
  for (int i = 0; i < 60; ++i) ASSERT_TRUE((*writer)->Write(Numbers(i * 8192, 8192)).ok());
  EXPECT_GT((*writer)->buffered_bytes(), 0);
  auto state = (*writer)->Save();
  ASSERT_TRUE(state.ok());
  EXPECT_LT(state->size(), 4096u);
  EXPECT_EQ((*writer)->buffered_bytes(), 0);
  // A few rows stay in the state and not in the file.
  file.Measure();
  const int64_t before = file.size();
  ASSERT_TRUE((*writer)->Write(Numbers(60 * 8192, 100)).ok());
  state = (*writer)->Save();
  ASSERT_TRUE(state.ok());
  file.Measure();
  EXPECT_LE(file.size() - before, 4);
}

TEST(ParquetSpanningTest, SmallRowGroupsAndBloomFilters) {
  const OptionMap options = {{"block.size", "2000"}, {"bloom.filter.enabled", "true"}};
  File file;
  std::string state;
  for (int64_t i = 0; i < 6; ++i) {
    auto writer = file.Writer(state, options);
    ASSERT_TRUE(writer.ok()) << writer.status().ToString();
    ASSERT_TRUE((*writer)->Write(Numbers(i * 300, 300)).ok());
    if (i < 5) {
      auto saved = (*writer)->Save();
      ASSERT_TRUE(saved.ok());
      state = *saved;
    } else {
      ASSERT_TRUE((*writer)->Finish().ok());
    }
    file.Measure();
    writer->reset();
    file.Persist();
  }
  ExpectIds(file.bytes(), 1800);
}

TEST(ParquetSpanningTest, NoRows) {
  File file;
  auto writer = file.Writer("");
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE((*writer)->Finish().ok());
  file.Measure();
  file.Persist();
  ExpectIds(file.bytes(), 0);
}

TEST(ParquetSpanningTest, DamagedStatesAreRefused) {
  File file;
  auto writer = file.Writer("");
  ASSERT_TRUE((*writer)->Write(Numbers(0, 100)).ok());
  ASSERT_TRUE((*writer)->Flush().ok());
  ASSERT_TRUE((*writer)->Write(Numbers(100, 100)).ok());
  const std::string state = *(*writer)->Save();
  for (size_t cut = 1; cut < state.size(); cut += 7) {
    File other;
    const auto resumed = other.Writer(state.substr(0, cut));
    if (resumed.ok()) continue;  // Cut at the end of the footer or between batches.
    EXPECT_FALSE(resumed.status().message().empty());
  }
  EXPECT_FALSE(File().Writer("\x7F" + state).ok());
}

std::shared_ptr<arrow::io::RandomAccessFile> InMemory(const std::string& bytes) {
  return std::make_shared<arrow::io::BufferReader>(arrow::Buffer::FromString(bytes));
}

Result<std::string> Join(const std::vector<std::string>& files) {
  std::vector<std::shared_ptr<arrow::io::RandomAccessFile>> inputs;
  for (const std::string& file : files) inputs.push_back(InMemory(file));
  auto out = arrow::io::BufferOutputStream::Create().ValueOrDie();
  SLUICE_RETURN_NOT_OK(kParquetFileOperations.join_files({{}, "parquet."}, TestSchema(), inputs,
                                                         out.get(), FormatContext()));
  return out->Finish().ValueOrDie()->ToString();
}

TEST(ParquetJoinTest, RowGroupsAreCopied) {
  std::vector<std::string> files;
  constexpr int64_t kRows = 200'000;
  for (int64_t i = 0; i < 3; ++i) {
    const OptionMap options = {{"bloom.filter.enabled", "true"},
                               {"compression", i == 1 ? "ZSTD" : "SNAPPY"}};
    files.push_back(*WriteFile(
        TestSchema(), {Numbers(i * kRows, kRows / 2), Numbers(i * kRows + kRows / 2, kRows / 2)},
        options, true));
  }
  const auto joined = Join(files);
  ASSERT_TRUE(joined.ok()) << joined.status().ToString();
  ExpectIds(*joined, 3 * kRows);
  const auto reader = ::parquet::ParquetFileReader::Open(InMemory(*joined));
  ASSERT_EQ(reader->metadata()->num_row_groups(), 6);
  const auto first = ::parquet::ParquetFileReader::Open(InMemory(files[1]));
  // The bytes of a chunk are those of the input.
  const auto copy = reader->metadata()->RowGroup(2)->ColumnChunk(0);
  const auto source = first->metadata()->RowGroup(0)->ColumnChunk(0);
  EXPECT_EQ(copy->total_compressed_size(), source->total_compressed_size());
  const auto begin = [](const ::parquet::ColumnChunkMetaData& chunk) {
    const int64_t data = chunk.data_page_offset();
    return static_cast<size_t>(
        chunk.has_dictionary_page() ? std::min(data, chunk.dictionary_page_offset()) : data);
  };
  const auto size = static_cast<size_t>(copy->total_compressed_size());
  EXPECT_EQ(joined->substr(begin(*copy), size), files[1].substr(begin(*source), size));
  // Page indexes point at the pages in the new file.
  const auto index = reader->GetPageIndexReader()->RowGroup(3)->GetOffsetIndex(0);
  ASSERT_NE(index, nullptr);
  EXPECT_EQ(index->page_locations()[0].offset,
            reader->metadata()->RowGroup(3)->ColumnChunk(0)->data_page_offset());
  EXPECT_NE(reader->GetPageIndexReader()->RowGroup(5)->GetColumnIndex(0), nullptr);
  auto& filters = reader->GetBloomFilterReader();
  const auto filter = filters.RowGroup(4)->GetColumnBloomFilter(0);
  ASSERT_NE(filter, nullptr);
  EXPECT_TRUE(filter->FindHash(filter->Hash(int64_t{2 * kRows})));
}

TEST(ParquetJoinTest, RefusesWhatDoesNotFit) {
  const std::string small = *WriteFile(TestSchema(), {Numbers(0, 10)});
  EXPECT_EQ(Join({small, small}).status().code(), StatusCode::kUnsupported);
  const Schema other({{"id", SqlType::Int()}});
  const std::string different = *WriteFile(other, {BatchFromJson(other, {"[1,2]"})});
  EXPECT_EQ(Join({small, different}).status().code(), StatusCode::kUnsupported);
  EXPECT_EQ(Join({small, "no Parquet file"}).status().code(), StatusCode::kDataError);
  EXPECT_FALSE(Join({small, small.substr(0, small.size() - 1)}).ok());
  EXPECT_TRUE(Join({small}).ok());
}

/// The same file with its footer changed.
template <typename Change>
std::string WithFooter(const std::string& bytes, const Change& change) {
  const auto file = InMemory(bytes);
  int64_t offset = 0;
  ParquetFooter footer = *ParquetFooter::Read(file.get(), &offset);
  std::string begin = bytes.substr(0, static_cast<size_t>(offset));
  change(&footer, &begin);
  return begin + footer.ToFileEnd();
}

TEST(ParquetJoinTest, FilesWithoutOptionalFieldsAreJoined) {
  // What other writers leave out: where a row group begins, its compressed size, its ordinal. The
  // offset of a chunk is not optional, but its place is in the metadata as well.
  constexpr int64_t kRows = 100'000;
  const std::vector<int16_t> left_out[] = {{5}, {5, 7}, {5, 6, 7}};
  for (const std::vector<int16_t>& ids : left_out) {
    const auto change = [&ids](ParquetFooter* footer, std::string*) {
      ThriftNode& group = footer->row_groups()[0];
      for (const int16_t id : ids) group.Remove(id);
      for (ThriftNode& chunk : group.Field(1)->items) chunk.Remove(2);
    };
    std::vector<std::string> files;
    for (const int64_t from : {int64_t{0}, kRows}) {
      files.push_back(
          WithFooter(*WriteFile(TestSchema(), {Numbers(from, kRows)}, {}, true), change));
    }
    const auto joined = Join(files);
    ASSERT_TRUE(joined.ok()) << joined.status().ToString();
    ExpectIds(*joined, 2 * kRows);
  }
}

TEST(ParquetJoinTest, PlacesOutsideOfTheFileAreErrors) {
  const std::string bytes =
      *WriteFile(TestSchema(), {Numbers(0, 10)}, {{"bloom.filter.enabled", "true"}}, true);
  ASSERT_TRUE(Join({bytes}).ok());
  constexpr int16_t kMeta = 3;
  const std::pair<int16_t, int16_t> places[] = {
      {0, 4}, {0, 5}, {0, 6}, {0, 7}, {kMeta, 7}, {kMeta, 9}, {kMeta, 11}, {kMeta, 14}, {kMeta, 15},
  };
  for (const auto& [inside, id] : places) {
    for (const int64_t value : {int64_t{1} << 40, std::numeric_limits<int64_t>::max()}) {
      const auto change = [&](ParquetFooter* footer, std::string*) {
        ThriftNode& chunk = footer->row_groups()[0].Field(1)->items[0];
        ThriftNode& node = inside == 0 ? chunk : *chunk.Field(inside);
        ASSERT_NE(node.Field(id), nullptr) << inside << " " << id;
        node.SetNumber(id, value);
      };
      EXPECT_EQ(Join({WithFooter(bytes, change)}).status().code(), StatusCode::kDataError)
          << inside << " " << id << " " << value;
    }
  }
}

TEST(ParquetJoinTest, PagesOutsideOfTheFileAreErrors) {
  const std::string bytes = *WriteFile(TestSchema(), {Numbers(0, 10)}, {}, true);
  const auto change = [](ParquetFooter* footer, std::string* begin) {
    ThriftNode& chunk = footer->row_groups()[0].Field(1)->items[0];
    const auto offset = static_cast<size_t>(chunk.NumberOr(4, 0));
    size_t length = 0;
    ThriftNode index = *ParseThriftStruct(std::string_view(*begin).substr(offset), &length);
    index.Field(1)->items[0].SetNumber(1, std::numeric_limits<int64_t>::max());
    const std::string moved = SerializeThriftStruct(index);
    chunk.SetNumber(4, static_cast<int64_t>(begin->size()));
    chunk.SetNumber(5, static_cast<int64_t>(moved.size()));
    *begin += moved;
  };
  EXPECT_EQ(Join({WithFooter(bytes, change)}).status().code(), StatusCode::kDataError);
}

TEST(ParquetJoinTest, WrongNumbersOfRowsAreErrors) {
  const std::string bytes = *WriteFile(TestSchema(), {Numbers(0, 10)});
  for (const int64_t rows : {int64_t{-1}, std::numeric_limits<int64_t>::max()}) {
    const auto change = [rows](ParquetFooter* footer, std::string*) {
      ThriftNode root = *ParseThriftStruct(footer->Serialize(), std::make_unique<size_t>().get());
      root.SetNumber(3, rows);
      *footer = *ParquetFooter::Parse(SerializeThriftStruct(root));
    };
    EXPECT_EQ(Join({WithFooter(bytes, change), bytes}).status().code(), StatusCode::kDataError)
        << rows;
  }
}

TEST(ThriftCompactTest, ListsThatLieTakeLittleMemory) {
  // Lists in lists, each of as many items as there are bytes left.
  std::string bytes = "\x19";
  for (int depth = 0; depth < 30; ++depth) bytes += std::string("\xF9\x80\x80\x40", 4);
  bytes.resize(4 << 20, '\xF9');
  size_t consumed = 0;
  rusage before{};
  getrusage(RUSAGE_SELF, &before);
  EXPECT_FALSE(ParseThriftStruct(bytes, &consumed).ok());
  rusage after{};
  getrusage(RUSAGE_SELF, &after);
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 512 << 10);  // KiB.
}

TEST(ThriftCompactTest, FootersSurviveUnchanged) {
  const std::string bytes =
      *WriteFile(TestSchema(), {Numbers(0, 1000), Numbers(1000, 10)}, {}, true);
  arrow::io::BufferReader file(arrow::Buffer::FromString(bytes));
  int64_t offset = 0;
  auto footer = ParquetFooter::Read(&file, &offset);
  ASSERT_TRUE(footer.ok()) << footer.status().ToString();
  EXPECT_EQ(footer->row_count(), 1010);
  EXPECT_EQ(footer->row_groups().size(), 2u);
  EXPECT_EQ(footer->ToFileEnd(), bytes.substr(static_cast<size_t>(offset)));
}

TEST(ThriftCompactTest, DamagedBytesAreErrors) {
  const std::string bytes = *WriteFile(TestSchema(), {Numbers(0, 50)});
  arrow::io::BufferReader file(arrow::Buffer::FromString(bytes));
  int64_t offset = 0;
  ASSERT_TRUE(ParquetFooter::Read(&file, &offset).ok());
  const std::string footer = bytes.substr(static_cast<size_t>(offset));
  for (size_t i = 0; i < footer.size(); ++i) {
    (void)ParquetFooter::Parse(footer.substr(0, i));  // Must not crash.
    std::string changed = footer;
    changed[i] = static_cast<char>(changed[i] ^ 0x55);
    (void)ParquetFooter::Parse(changed);
  }
  EXPECT_FALSE(ParquetFooter::Parse("").ok());
}

}  // namespace
}  // namespace sluice::formats::parquet_format
