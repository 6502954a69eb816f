#include "fs/s3/s3_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fs/s3/s3_file_system.h"
#include "fs/s3/scripted_store.h"
#include "types/arrow_status.h"

namespace sluice::fs::s3 {
namespace {

constexpr int64_t kMiB = 1 << 20;

/// One object of bytes that tell their place.
struct FileTest : testing::Test {
  explicit FileTest(int64_t size = 20 * kMiB)
      : object(static_cast<size_t>(size), '\0'),
        store([this](const ScriptedStore::Request& request) { return Answer(request); }),
        files("s3",
              {{"s3.endpoint", store.endpoint()},
               {"s3.access-key", "a"},
               {"s3.secret-key", "b"},
               {"s3.retry.timeout", "1 s"}},
              [](std::string_view) { return std::optional<std::string>(); }) {
    for (size_t i = 0; i < object.size(); ++i) object[i] = static_cast<char>(i * 31 + i / 7919);
  }

  std::string Answer(const ScriptedStore::Request& request) {
    const size_t at = request.head.find("range: bytes=");
    const size_t begin = std::stoul(request.head.substr(at + 13));
    const size_t end = std::stoul(request.head.substr(request.head.find('-', at) + 1)) + 1;
    return ScriptedStore::Http(206, object.substr(begin, end - begin),
                               "Content-Range: bytes x/" + std::to_string(object.size()) + "\r\n");
  }
  std::shared_ptr<arrow::io::RandomAccessFile> Open(int64_t size) {
    auto file = files.OpenFound({.path = "s3://lake/k", .size_bytes = size});
    EXPECT_TRUE(file.ok());
    return *file;
  }
  void ExpectRead(arrow::io::RandomAccessFile& file, int64_t position, int64_t length) {
    const auto bytes = file.ReadAt(position, length);
    ASSERT_TRUE(bytes.ok()) << bytes.status().ToString();
    const auto expected = object.substr(static_cast<size_t>(position), static_cast<size_t>(length));
    EXPECT_TRUE((*bytes)->ToString() == expected) << position << "+" << length;
  }
  size_t requests() const { return store.requests().size(); }

  std::string object;
  ScriptedStore store;
  S3FileSystem files;
};

TEST_F(FileTest, PiecesThatFollowCostFewRequests) {
  const auto file = Open(20 * kMiB);
  for (int64_t at = 0; at < 20 * kMiB; at += 512 << 10) ExpectRead(*file, at, 512 << 10);
  EXPECT_LE(requests(), 6u);  // 1 + 2 + 4 + 8 + the rest.
}

TEST_F(FileTest, AFooterIsOneRequest) {
  const auto file = Open(20 * kMiB);
  ExpectRead(*file, 20 * kMiB - (64 << 10), 64 << 10);
  ExpectRead(*file, 20 * kMiB - 8, 8);
  EXPECT_EQ(requests(), 1u);
}

TEST_F(FileTest, LargeReadsAreAskedForAsTheyAre) {
  const auto file = Open(20 * kMiB);
  ExpectRead(*file, 3, 5 * kMiB);
  ExpectRead(*file, 12 * kMiB, 2 * kMiB);
  EXPECT_EQ(requests(), 2u);
  EXPECT_THAT(store.requests().back().head, testing::HasSubstr("range: bytes=12582912-14680063"));
}

TEST_F(FileTest, AnyOrder) {
  const auto file = Open(20 * kMiB);
  for (const int64_t at : {5 * kMiB, kMiB, 5 * kMiB + 100, int64_t{0}, 20 * kMiB - 1, 5 * kMiB}) {
    ExpectRead(*file, at, std::min<int64_t>(300'000, 20 * kMiB - at));
  }
  EXPECT_EQ((*file->ReadAt(20 * kMiB, 10))->size(), 0);
}

TEST_F(FileTest, AnObjectThatWasReplacedIsAnError) {
  const auto file = Open(20 * kMiB);
  object.resize(100);
  const auto bytes = file->ReadAt(50, 1000);
  EXPECT_FALSE(bytes.ok());
}

TEST_F(FileTest, OurErrorComesThroughArrow) {
  ScriptedStore refusing(
      [](const ScriptedStore::Request&) { return ScriptedStore::Error(403, "AccessDenied"); });
  S3FileSystem other(
      "s3", {{"s3.endpoint", refusing.endpoint()}, {"s3.access-key", "a"}, {"s3.secret-key", "b"}},
      [](std::string_view) { return std::optional<std::string>(); });
  const auto denied = other.OpenFound({.path = "s3://lake/k", .size_bytes = 10});
  ASSERT_TRUE(denied.ok());
  const Status status = FromArrow((*denied)->ReadAt(0, 10).status());
  EXPECT_FALSE(status.retriable());
  EXPECT_THAT(status.message(), testing::HasSubstr("AccessDenied"));
}

}  // namespace
}  // namespace sluice::fs::s3
