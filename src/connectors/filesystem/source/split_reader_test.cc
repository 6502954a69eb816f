#include "connectors/filesystem/source/split_reader.h"

#include <bzlib.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include "common/random.h"
#include "connectors/filesystem/compression/compressed_input.h"
#include "connectors/filesystem/source/source_test_support.h"
#include "formats/csv/csv_format.h"
#include "fs/local/local_file_system.h"

namespace sluice::connectors::filesystem {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::shared_ptr<FileSourceSpec> LinesSpec(const OptionMap& format_options) {
  auto spec = std::make_shared<FileSourceSpec>();
  spec->format = &LinesFormat();
  spec->format_options = {format_options, "lines."};
  spec->file_system = std::make_shared<fs::LocalFileSystem>();
  spec->read_schema = {Schema({{"line", SqlType::String()}}), {0}};
  return spec;
}

// All bytes of a split; also restarts at every position it names and compares the rest.
std::string ReadSplit(const std::shared_ptr<FileSourceSpec>& spec, FileSplit split,
                      Random* random) {
  std::string all;
  auto reader = OpenSplit(spec, split, arrow::default_memory_pool());
  EXPECT_TRUE(reader.ok()) << reader.status().ToString();
  while (true) {
    const auto unit = (*reader)->Fetch();
    EXPECT_TRUE(unit.ok()) << unit.status().ToString();
    if (!unit.ok()) return all;
    all += unit->bytes;
    if (unit->last) return all;
    if (random->OneIn(3)) {
      split.position = unit->position;
      split.started = true;
      reader = OpenSplit(spec, split, arrow::default_memory_pool());
    }
  }
}

TEST(TextSplitTest, EveryRecordBelongsToOneSplit) {
  const TemporaryDirectory directory;
  Random random(3);
  for (int round = 0; round < 300; ++round) {
    const bool any_line_end = round % 2 == 1;
    std::string bytes;
    const size_t lines = random.Below(40);
    for (size_t i = 0; i < lines; ++i) {
      bytes.append(random.OneIn(4) ? 0 : random.Below(30), 'a');
      bytes +=
          any_line_end ? (std::vector<std::string>{"\n", "\r\n", "\r"})[random.Below(3)] : "\n";
    }
    if (random.OneIn(2)) bytes += "no line end";
    directory.Write("f", bytes);
    const auto spec = LinesSpec(any_line_end ? OptionMap{{"any-line-end", ""}} : OptionMap{});
    const auto size = static_cast<int64_t>(bytes.size());
    std::string joined;
    int64_t begin = 0;
    while (begin < size) {
      FileSplit split;
      split.file = {directory.Path("f"), false, size, 0};
      split.begin = split.position = begin;
      split.end = std::min<int64_t>(size, begin + 1 + static_cast<int64_t>(random.Below(50)));
      begin = split.end;
      joined += ReadSplit(spec, split, &random);
    }
    ASSERT_EQ(joined, bytes) << round;
  }
}

TEST(TextSplitTest, LargeFilesInChunks) {
  const TemporaryDirectory directory;
  Random random(9);
  std::string bytes;
  while (bytes.size() < (3u << 20)) bytes += std::string(random.Below(3000), 'x') + "\n";
  directory.Write("f", bytes);
  const auto spec = LinesSpec({});
  const auto size = static_cast<int64_t>(bytes.size());
  std::string joined;
  for (const auto& [begin, end] : {std::pair(int64_t{0}, size / 2), std::pair(size / 2, size)}) {
    FileSplit split;
    split.file = {directory.Path("f"), false, size, 0};
    split.begin = split.position = begin;
    split.end = end;
    joined += ReadSplit(spec, split, &random);
  }
  EXPECT_TRUE(joined == bytes);
}

std::string Gzip(const std::string& plain, int window_bits) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(plain.size() + 1000, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(plain.data()));
  stream.avail_in = static_cast<uInt>(plain.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(out.size() - stream.avail_out);
  deflateEnd(&stream);
  return out;
}

std::string Compress(std::string_view suffix, const std::string& plain) {
  std::string out(plain.size() + 1000, '\0');
  if (suffix == "gz" || suffix == "gzip")
    return Gzip(plain.substr(0, 10), 31) + Gzip(plain.substr(10), 31);  // Two members.
  if (suffix == "deflate") return Gzip(plain, 15);
  if (suffix == "bz2") {
    auto size = static_cast<unsigned>(out.size());
    EXPECT_EQ(BZ2_bzBuffToBuffCompress(out.data(), &size, const_cast<char*>(plain.data()),
                                       static_cast<unsigned>(plain.size()), 9, 0, 0),
              BZ_OK);
    out.resize(size);
  } else if (suffix == "xz") {
    size_t position = 0;
    EXPECT_EQ(lzma_easy_buffer_encode(
                  6, LZMA_CHECK_CRC64, nullptr, reinterpret_cast<const uint8_t*>(plain.data()),
                  plain.size(), reinterpret_cast<uint8_t*>(out.data()), &position, out.size()),
              LZMA_OK);
    out.resize(position);
  } else {
    out.resize(ZSTD_compress(out.data(), out.size(), plain.data(), plain.size(), 3));
  }
  return out;
}

// A mark and a quoted first field longer than a chunk, plain and compressed; and the same bytes
// where a later chunk begins.
TEST(KnownPitfalls, Rule7_2_MarkBeforeAQuotedFieldWithLineBreaks) {
  const TemporaryDirectory directory;
  const std::string filler(100, 'x');
  std::string first = "\xEF\xBB\xBF\"";
  while (first.size() < (700u << 10)) first += filler + "\n";
  first += "\",1\n";
  std::string bytes = first;
  while (bytes.size() < (3u << 20)) bytes += "\xEF\xBB\xBF\"" + filler + "\n";
  auto spec = std::make_shared<FileSourceSpec>();
  spec->format = &formats::kCsvFormat;
  spec->format_options = {{}, "csv."};
  spec->file_system = std::make_shared<fs::LocalFileSystem>();
  spec->read_schema = {Schema({{"s", SqlType::String()}}), {0}};
  for (const std::string name : {"f.csv", "f.csv.gz"}) {
    directory.Write(name, name == "f.csv" ? bytes : Compress("gz", bytes));
    FileSplit split;
    split.file = {directory.Path(name), false,
                  fs::LocalFileSystem().Stat(directory.Path(name))->size_bytes, 0};
    split.end = split.file.size_bytes;
    auto reader = OpenSplit(spec, split, arrow::default_memory_pool());
    ASSERT_TRUE(reader.ok());
    std::string all;
    bool last = false;
    while (!last) {
      const auto unit = (*reader)->Fetch();
      ASSERT_TRUE(unit.ok()) << unit.status().ToString();
      const bool whole_lines =
          unit->bytes.ends_with('\n') && (!all.empty() || unit->bytes.size() >= first.size());
      EXPECT_TRUE(unit->bytes.empty() || whole_lines) << name << " at byte " << all.size();
      all += unit->bytes;
      last = unit->last;
    }
    EXPECT_TRUE(all == bytes) << name;
  }
}

TEST(CompressedInputTest, EverySuffixWholeAndFromAPosition) {
  const TemporaryDirectory directory;
  std::string plain;
  for (int i = 0; i < 200'000; ++i) plain += "line " + std::to_string(i * 7919 % 65537) + "\n";
  Random random(1);
  for (const std::string suffix : {"gz", "gzip", "deflate", "bz2", "xz", "zst"}) {
    const std::string bytes = Compress(suffix, plain);
    directory.Write("f." + suffix, bytes);
    FileSplit split;
    split.file = {directory.Path("f." + suffix), false, static_cast<int64_t>(bytes.size()), 0};
    split.end = split.file.size_bytes;
    EXPECT_TRUE(ReadSplit(LinesSpec({}), split, &random) == plain) << suffix;

    directory.Write("cut." + suffix, bytes.substr(0, bytes.size() / 2));
    split.file.path = directory.Path("cut." + suffix);
    Status failure;
    auto reader = OpenSplit(LinesSpec({}), split, arrow::default_memory_pool());
    while (failure.ok()) {
      const auto unit = (*reader)->Fetch();
      failure = unit.status();
      ASSERT_FALSE(unit.ok() && unit->last) << suffix;
    }
    EXPECT_EQ(failure.code(), StatusCode::kDataError);
    EXPECT_THAT(failure.message(), HasSubstr("damaged behind decompressed byte")) << suffix;
    EXPECT_THAT(failure.message(), Not(HasSubstr("byte 0:"))) << suffix;
  }
  EXPECT_EQ(CompressionOf("notesgz"), Compression::kNone);
  EXPECT_EQ(CompressionOf("a.GZ"), Compression::kNone);
  EXPECT_EQ(CompressionOf("a.gz.csv"), Compression::kNone);
}

TEST(FileSplitTest, StateComesBackAndDamageIsSeen) {
  FileSplit split;
  split.file = {"/a/b", false, 17, 23};
  split.partition = {"x", std::nullopt, ""};
  split.begin = 1;
  split.end = 9;
  split.position = 5;
  split.lines = 3;
  split.records = 2;
  split.started = true;
  const std::string bytes = EncodeSplit(split);
  const auto decoded = DecodeSplit(bytes);
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(decoded->partition, split.partition);
  EXPECT_EQ(EncodeSplit(*decoded), bytes);
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(DecodeSplit(bytes.substr(0, size)).ok());
}

}  // namespace
}  // namespace sluice::connectors::filesystem
