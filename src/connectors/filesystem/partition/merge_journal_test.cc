#include "connectors/filesystem/partition/merge_journal.h"

#include <limits>

#include <gtest/gtest.h>

#include "fs/faulty/faulty_file_systems.h"

namespace sluice::connectors::filesystem {
namespace {

MergeJournal Sample() {
  MergeJournal journal;
  journal.id = "x";
  journal.directory = "dt=1";
  journal.added = {"compacted-a", "compacted-b"};
  journal.removed = {"part-1", "part-2"};
  return journal;
}

std::vector<fs::FileInfo> Files(const std::vector<std::string>& names) {
  std::vector<fs::FileInfo> files;
  for (const std::string& name : names) files.push_back({.path = "s3://b/t/" + name});
  return files;
}

std::vector<std::string> Honoured(const std::vector<std::string>& names, bool* whole) {
  std::vector<fs::FileInfo> files = Files(names);
  *whole = HonourJournals({{"x.open"}, {Sample()}}, "s3://b/t", &files);
  std::vector<std::string> left;
  for (const fs::FileInfo& file : files) left.push_back(file.path.substr(9));
  return left;
}

TEST(MergeJournalTest, OldOrNewFilesCountAndNeverBoth) {
  struct Case {
    std::vector<std::string> there;
    std::vector<std::string> count;
    bool whole;
  };
  using Names = std::vector<std::string>;
  const Names old = {"dt=1/part-1", "dt=1/part-2"};
  const Names fresh = {"dt=1/compacted-a", "dt=1/compacted-b"};
  const Case cases[] = {
      {old, old, true},
      {{"dt=1/compacted-a", "dt=1/part-1", "dt=1/part-2"}, old, true},
      {{"dt=1/compacted-a", "dt=1/compacted-b", "dt=1/part-1", "dt=1/part-2"}, fresh, true},
      {{"dt=1/compacted-a", "dt=1/compacted-b", "dt=1/part-2"}, fresh, true},
      {fresh, fresh, true},
      // A listing of many requests may see neither side whole.
      {{"dt=1/compacted-a", "dt=1/part-2"}, {}, false},
      {{"dt=1/part-2"}, {}, false},
      // Others are not touched.
      {{"dt=1/part-3", "dt=2/part-1"}, {"dt=1/part-3", "dt=2/part-1"}, true},
  };
  for (const Case& c : cases) {
    bool whole = false;
    const Names left = Honoured(c.there, &whole);
    EXPECT_EQ(whole, c.whole) << c.there.front();
    if (c.whole) {
      EXPECT_EQ(left, c.count) << c.there.front();
    }
  }
}

TEST(MergeJournalTest, ReadsBackWhatWasWrittenAndRefusesTheRest) {
  const std::string text = EncodeJournal(Sample());
  const auto read = ParseJournal(text);
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_EQ(read->directory, "dt=1");
  EXPECT_EQ(read->added, Sample().added);
  EXPECT_EQ(read->removed, Sample().removed);
  for (size_t size = 0; size + 2 < text.size(); ++size) {
    EXPECT_FALSE(ParseJournal(text.substr(0, size)).ok()) << size;
  }
  EXPECT_FALSE(ParseJournal("sluice merge 2\n+a\n.\n").ok());
  EXPECT_FALSE(ParseJournal("sluice merge 1\n?a\n.\n").ok());
}

TEST(MergeJournalTest, IsOpenUntilItIsClosedAndKnownUntilItIsRemoved) {
  fs::FaultyFileSystems machine(1);
  const auto located = machine.Locate("/t");
  ASSERT_TRUE(located.ok());
  fs::FileSystem& disk = *located->file_system;
  const auto names = [&] { return ReadJournals(disk, "/t")->names; };
  ASSERT_TRUE(names().empty());
  ASSERT_TRUE(disk.CreateDirectories("/t/_sluice/merge").ok());
  ASSERT_TRUE(OpenJournal(disk, "/t", Sample()).ok());
  const Journals open = *ReadJournals(disk, "/t");
  ASSERT_EQ(open.open.size(), 1U);
  EXPECT_EQ(open.open[0].id, "x");
  EXPECT_EQ(open.open[0].added, Sample().added);
  EXPECT_EQ(open.names, std::vector<std::string>{"x.open"});

  ASSERT_TRUE(CloseJournal(disk, "/t", Sample()).ok());
  EXPECT_TRUE(ReadJournals(disk, "/t")->open.empty());
  EXPECT_EQ(names(), std::vector<std::string>{"x.done"});
  ASSERT_TRUE(OpenJournal(disk, "/t", Sample()).ok());
  ASSERT_TRUE(DropClosedJournals(disk, "/t", std::numeric_limits<int64_t>::min()).ok());
  EXPECT_EQ(names(), (std::vector<std::string>{"x.done", "x.open"}));
  ASSERT_TRUE(DropClosedJournals(disk, "/t", std::numeric_limits<int64_t>::max()).ok());
  EXPECT_EQ(names(), std::vector<std::string>{"x.open"});
  ASSERT_TRUE(DropJournal(disk, "/t", Sample()).ok());
  EXPECT_TRUE(names().empty());
}

}  // namespace
}  // namespace sluice::connectors::filesystem
