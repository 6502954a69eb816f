#include "connectors/filesystem/partition/merge_journal.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace sluice::connectors::filesystem
