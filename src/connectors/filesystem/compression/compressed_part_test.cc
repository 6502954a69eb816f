#include "connectors/filesystem/compression/compressed_part.h"

#include <arrow/buffer.h>
#include <arrow/io/memory.h>
#include <gtest/gtest.h>

#include "common/random.h"
#include "connectors/filesystem/compression/compressed_input.h"
#include "fs/faulty/faulty_file_systems.h"

namespace sluice::connectors::filesystem {
namespace {

constexpr Compression kAll[] = {Compression::kGzip, Compression::kDeflate, Compression::kBzip2,
                                Compression::kXz, Compression::kZstd};

std::string Decompressed(const std::string& bytes, Compression compression) {
  auto stream = MakeDecompressedStream(
      std::make_shared<arrow::io::BufferReader>(arrow::Buffer::FromString(bytes)), compression);
  EXPECT_TRUE(stream.ok());
  std::string text;
  std::string piece(10'000, '\0');
  while (true) {
    const auto count = (*stream)->Read(piece.data(), piece.size());
    EXPECT_TRUE(count.ok()) << count.status().ToString();
    if (!count.ok() || *count == 0) return text;
    text.append(piece, 0, *count);
  }
}

std::string Rows(int begin, int end) {
  std::string rows;
  Random random(static_cast<uint64_t>(begin));
  for (int i = begin; i < end; ++i) {
    rows += std::to_string(i) + "," + std::string(random.Below(50), 'a') +
            std::to_string(random.Next()) + "\n";
  }
  return rows;
}

TEST(CompressionTest, NamesAndSuffixesBelongTogether) {
  for (const Compression compression : kAll) {
    EXPECT_EQ(CompressionOf("/t/part-1" + std::string(SuffixOf(compression))), compression);
    EXPECT_EQ(CompressionOfName(NameOf(compression)), compression);
  }
  EXPECT_EQ(CompressionOf("/t/a.csv.gzip"), Compression::kGzip);
  EXPECT_EQ(CompressionOf("/t/a.csv"), Compression::kNone);
  EXPECT_EQ(CompressionOf("/t.gz/a"), Compression::kNone);
  EXPECT_EQ(CompressionOf("/t/part-1"), Compression::kNone);
}

TEST(CompressedPartTest, ReadsBackWhateverTheSizesOfAppends) {
  for (const Compression compression : kAll) {
    fs::FaultyFileSystems machine(1);
    auto writer = CompressPart(*machine.current().publisher().Open("/t/part", "x"), compression);
    Random random(5);
    std::string expected;
    for (int i = 0; i < 200; ++i) {
      const std::string rows = Rows(i * 1000, i * 1000 + static_cast<int>(random.Below(300)));
      ASSERT_TRUE(writer->Append(rows).ok());
      expected += rows;
    }
    EXPECT_GT(writer->buffered_bytes(), 100 << 10);
    const auto handle = writer->Close();
    ASSERT_TRUE(handle.ok());
    ASSERT_TRUE(machine.current().publisher().Publish({*handle}).front().ok());
    const std::string bytes = machine.disk().AllFiles("/t").at("/t/part");
    EXPECT_LT(bytes.size(), expected.size());
    EXPECT_EQ(static_cast<int64_t>(bytes.size()), writer->size_bytes());
    EXPECT_EQ(Decompressed(bytes, compression), expected) << NameOf(compression);
  }
}

// Cut back to any checkpoint's length and continued: whole, and every row once.
TEST(CompressedPartTest, ResumedFilesAreWhole) {
  for (const Compression compression : kAll) {
    if (!CanBeContinued(compression)) continue;
    fs::FaultyFileSystems machine(1);
    std::string handle;
    {
      auto writer = CompressPart(*machine.current().publisher().Open("/t/part", "x"), compression);
      ASSERT_TRUE(writer->Append(Rows(0, 500)).ok());
      handle = *writer->Persist();
      const std::string again = *writer->Persist();  // Nothing new: it does not grow.
      EXPECT_EQ(machine.current().publisher().Describe(again)->length_bytes,
                machine.current().publisher().Describe(handle)->length_bytes);
      EXPECT_LT(writer->buffered_bytes(), 16 << 10);
      ASSERT_TRUE(writer->Append(Rows(9000, 90'000)).ok());  // Lost with the process.
    }
    machine.Kill();
    auto resumed = machine.current().publisher().Resume(handle);
    ASSERT_TRUE(resumed.ok()) << resumed.status().ToString();
    auto writer = CompressPart(std::move(*resumed), compression);
    ASSERT_TRUE(writer->Append(Rows(500, 800)).ok());
    ASSERT_TRUE(writer->Persist().ok());
    ASSERT_TRUE(writer->Append(Rows(800, 900)).ok());
    ASSERT_TRUE(machine.current().publisher().Publish({*writer->Close()}).front().ok());
    EXPECT_EQ(Decompressed(machine.disk().AllFiles("/t").at("/t/part"), compression),
              Rows(0, 500) + Rows(500, 800) + Rows(800, 900));
  }
}

}  // namespace
}  // namespace sluice::connectors::filesystem
