#include "connectors/filesystem/source/table_listing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "connectors/filesystem/source/source_test_support.h"
#include "fs/local/local_file_system.h"

namespace sluice::connectors::filesystem {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Counts the directories that are listed.
class CountingDisks final : public fs::FileSystem {
 public:
  std::string_view scheme() const override { return local_.scheme(); }
  Result<fs::FileInfo> Stat(const std::string& path) override { return local_.Stat(path); }
  Result<std::vector<fs::FileInfo>> List(const std::string& directory) override {
    ++listed;
    return local_.List(directory);
  }
  Result<std::shared_ptr<arrow::io::RandomAccessFile>> OpenRead(const std::string& path) override {
    return local_.OpenRead(path);
  }
  Status WriteWhole(const std::string& path, std::string_view bytes) override {
    return local_.WriteWhole(path, bytes);
  }
  Status CreateDirectories(const std::string& path) override {
    return local_.CreateDirectories(path);
  }
  Status DeleteFile(const std::string& path) override { return local_.DeleteFile(path); }
  Status DeleteTree(const std::string& path) override { return local_.DeleteTree(path); }
  Status Rename(const std::string& from, const std::string& to) override {
    return local_.Rename(from, to);
  }
  Status ExchangeDirectories(const std::string& a, const std::string& b) override {
    return local_.ExchangeDirectories(a, b);
  }
  fs::Publisher& publisher() override { return local_.publisher(); }

  int listed = 0;

 private:
  fs::LocalFileSystem local_;
};

class TableListingTest : public ::testing::Test {
 protected:
  TableListingTest() {
    for (const char* day : {"1", "2", "3"}) {
      for (const char* hour : {"07", "08"}) {
        directory_.Write("t/day=" + std::string(day) + "/hour=" + hour + "/a", "x\n");
      }
    }
  }

  std::vector<std::string> Paths(const KeyFilter& keep) {
    const TableListing listing(disks_, directory_.Path("t"), {"day", "hour"}, "__NONE__", {});
    const auto partitions = listing.ListPartitions(keep);
    EXPECT_TRUE(partitions.ok()) << partitions.status().ToString();
    std::vector<std::string> paths;
    for (const PartitionDirectory& partition : *partitions) {
      paths.push_back(partition.path.substr(directory_.Path("t/").size()));
    }
    return paths;
  }

  /// Paths of those found by name, "listed" when names do not do.
  std::vector<std::string> Named(const std::vector<std::vector<std::string>>& texts) {
    const TableListing listing(disks_, directory_.Path("t"), {"day", "hour"}, "__NONE__", {});
    const auto partitions = listing.FindPartitions(texts);
    EXPECT_TRUE(partitions.ok()) << partitions.status().ToString();
    if (!*partitions) return {"listed"};
    std::vector<std::string> paths;
    for (const PartitionDirectory& partition : **partitions)
      paths.push_back(partition.path.substr(directory_.Path("t/").size()));
    return paths;
  }

  TemporaryDirectory directory_;
  std::shared_ptr<CountingDisks> disks_ = std::make_shared<CountingDisks>();
};

KeyFilter Only(size_t filtered, const std::string& wanted) {
  return [=](size_t key, const std::vector<std::optional<std::string>>& values) {
    std::vector<bool> pass;
    for (const auto& value : values) pass.push_back(key != filtered || value == wanted);
    return Result<std::vector<bool>>(std::move(pass));
  };
}

TEST_F(TableListingTest, DirectoriesLeftOutAreNotListed) {
  EXPECT_THAT(Paths(Only(0, "2")), ElementsAre("day=2/hour=07", "day=2/hour=08"));
  EXPECT_EQ(disks_->listed, 2);  // The root and one day.
}

TEST_F(TableListingTest, AnyLevelCanBeFiltered) {
  EXPECT_THAT(Paths(Only(1, "08")), ElementsAre("day=1/hour=08", "day=2/hour=08", "day=3/hour=08"));
  EXPECT_EQ(disks_->listed, 4);
  EXPECT_THAT(Paths(Only(1, "09")), IsEmpty());
}

TEST_F(TableListingTest, KeysMayComeInAnotherOrder) {
  directory_.Write("t/hour=08/day=4/a", "x\n");
  EXPECT_THAT(Paths(Only(0, "4")), ElementsAre("hour=08/day=4"));
  EXPECT_THAT(Paths(Only(1, "07")), ElementsAre("day=1/hour=07", "day=2/hour=07", "day=3/hour=07"));
}

TEST_F(TableListingTest, PartitionsAreFoundByName) {
  directory_.Write("t/hour=08/day=1/a", "x\n");
  EXPECT_THAT(Named({{"1", "4"}, {"08", "09", "08"}}),
              ElementsAre("day=1/hour=08", "hour=08/day=1"));
  EXPECT_THAT(Named({{"2"}, {"8"}}), IsEmpty());
  EXPECT_EQ(disks_->listed, 0);
  const TableListing missing(disks_, directory_.Path("none"), {"day"}, "__NONE__", {});
  EXPECT_THAT(**missing.FindPartitions({{"1"}}), IsEmpty());
}

TEST_F(TableListingTest, UncertainNamesAreListed) {
  directory_.Write("t/day=5", "in the way");
  for (const char* text : {"", "__NONE__", "a b", "50%", "a/b", "\xC3\xA9", "1:00", "a=b"}) {
    EXPECT_THAT(Named({{"1"}, {text}}), ElementsAre("listed")) << text;
  }
  const std::vector<std::string> many(40, "1");
  EXPECT_THAT(Named({many, {"07"}}), ElementsAre("day=1/hour=07"));
  std::vector<std::string> different;
  for (int i = 0; i < 40; ++i) different.push_back(std::to_string(i));
  EXPECT_THAT(Named({different, {"07"}}), ElementsAre("listed"));
  const TableListing odd(disks_, directory_.Path("t"), {"da y"}, "__NONE__", {});
  EXPECT_FALSE(odd.FindPartitions({{"1"}})->has_value());
}

TEST_F(TableListingTest, NamesAreListedWithoutLookingAtFiles) {
  fs::LocalFileSystem local;
  directory_.Write("t/file", "12345");
  const auto names = local.ListNames(directory_.Path("t"));
  const auto whole = local.List(directory_.Path("t"));
  ASSERT_TRUE(names.ok() && whole.ok());
  ASSERT_EQ(names->size(), whole->size());
  for (size_t i = 0; i < names->size(); ++i) {
    EXPECT_EQ((*names)[i].path, (*whole)[i].path);
    EXPECT_EQ((*names)[i].is_directory, (*whole)[i].is_directory);
  }
}

}  // namespace
}  // namespace sluice::connectors::filesystem
