#include "connectors/filesystem/sink/table_record.h"

#include <unistd.h>

#include <gtest/gtest.h>

#include "connectors/filesystem/sink/recorder.h"

namespace sluice::connectors::filesystem {
namespace {

TableRecord Sample(int64_t checkpoint) {
  TableRecord record{.writer = std::string(kInsertWriter),
                     .lineage = "0123456789abcdef",
                     .format = "csv",
                     .checkpoint = checkpoint,
                     .previous = checkpoint - 1,
                     .time_ms = 1'000 * checkpoint};
  record.from = {{"orders-0", 5}};
  record.to = {{"orders-0", 9}, {"/in/\xC3\xBC\"\n.csv:[0,7)", 7}};
  record.files = {{"dt=1/part-" + std::to_string(checkpoint), 4, 99}};
  record.merged = {{{"dt=1/compacted-x", -1, 12}, {"dt=1/.uncompacted-a", "dt=1/.uncompacted-b"}}};
  record.committed = {"dt=1"};
  record.marker = "_SUCCESS";
  record.replaced = {"dt=0"};
  return record;
}

TEST(TableRecordTest, ReadsBackWhatWasWritten) {
  const auto read = ParseRecords(EncodeRecord(Sample(3)) + EncodeRecord(Sample(4)));
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_EQ(*read, (std::vector<TableRecord>{Sample(3), Sample(4)}));
  const std::string line = EncodeRecord(Sample(3));
  for (const std::string& damaged :
       {line.substr(0, line.size() / 2), std::string("{}\n"), std::string("[1]\n"),
        std::string("{\"sluice_record\":2}\n")}) {
    EXPECT_EQ(ParseRecords(damaged).status().code(), StatusCode::kCorrupt) << damaged;
  }
}

TEST(TableRecordTest, FoldingKeepsEveryRecord) {
  const std::string root = testing::TempDir() + "/table-record-" + std::to_string(::getpid());
  const auto located = fs::FileSystems::Default().Locate(root);
  ASSERT_TRUE(located.ok()) << located.status().ToString();
  fs::FileSystem& file_system = *located->file_system;
  EXPECT_FALSE(*HasRecords(file_system, root));
  std::vector<std::string> paths;
  for (int64_t checkpoint : {1, 2, 3}) {
    ASSERT_TRUE(WriteRecord(file_system, root, Sample(checkpoint)).ok());
    paths.push_back(RecordPath(root, Sample(checkpoint)));
  }
  // As after a crash in the middle: some are there twice.
  ASSERT_TRUE(FoldRecords(file_system, paths).ok());
  ASSERT_TRUE(WriteRecord(file_system, root, Sample(1)).ok());
  const auto read = ReadRecords(file_system, root);
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_EQ(read->records, (std::vector<TableRecord>{Sample(1), Sample(2), Sample(3)}));
  EXPECT_TRUE(read->damaged.empty());
  EXPECT_EQ(file_system.List(fs::JoinPath(root, kRecordDirectory))->size(), 2u);
  ASSERT_TRUE(file_system.DeleteTree(root).ok());
}

TEST(TableRecordTest, ARestartChangesNoTimeAndLosesNoFoldedRecord) {
  const std::string root = testing::TempDir() + "/table-record-again-" + std::to_string(::getpid());
  const auto located = fs::FileSystems::Default().Locate(root);
  ASSERT_TRUE(located.ok()) << located.status().ToString();
  fs::FileSystem& file_system = *located->file_system;
  ASSERT_TRUE(WriteRecord(file_system, root, Sample(1)).ok());
  TableRecord again = Sample(2);
  again.time_ms += 10'000;
  again.committed = {"dt=2"};
  // Nothing is there yet.
  ASSERT_TRUE(WriteRecordAgain(file_system, root, Sample(2)).ok());
  ASSERT_TRUE(
      FoldRecords(file_system, {RecordPath(root, Sample(1)), RecordPath(root, Sample(2))}).ok());
  ASSERT_TRUE(WriteRecordAgain(file_system, root, again).ok());
  TableRecord expected = Sample(2);
  expected.committed = {"dt=2", "dt=1"};
  const auto read = ReadRecords(file_system, root);
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_EQ(read->records, (std::vector<TableRecord>{Sample(1), expected}));
  ASSERT_TRUE(file_system.DeleteTree(root).ok());
}

TEST(RecorderTest, WhatIsNotRecordedIsInTheState) {
  Recorder first("/t");
  first.AddFile(1, "/t/dt=1/part-1", 10, 100);
  first.AddBarrier(1, {{"orders-0", 10}}, 0);
  auto record = first.Make(1, false);
  ASSERT_TRUE(record);
  EXPECT_EQ(record->previous, 0);
  EXPECT_TRUE(record->from.empty());
  EXPECT_EQ(record->files, (std::vector<RecordedFile>{{"dt=1/part-1", 10, 100}}));
  first.Written(*record);
  EXPECT_FALSE(first.Make(1, false)) << "nothing new";
  first.AddFile(2, "/t/dt=1/part-2", 5, 50);
  first.AddBarrier(2, {{"orders-0", 15}, {"/in/a:[0,9)", 9}}, 1);
  first.AddFile(3, "/elsewhere/part-3", 1, 10);
  first.AddBarrier(3, {{"orders-0", 16}}, 0);

  Recorder second("/t");
  ASSERT_TRUE(second.Decode(first.Encode()).ok());
  record = second.Make(2, false);
  ASSERT_TRUE(record);
  EXPECT_EQ(record->previous, 1);
  EXPECT_EQ(record->open_files, 1);
  EXPECT_EQ(record->from, (std::map<std::string, int64_t>{{"orders-0", 10}}));
  EXPECT_EQ(record->to, (std::map<std::string, int64_t>{{"/in/a:[0,9)", 9}, {"orders-0", 15}}));
  // Both at once, as after a crash between publishing and recording.
  record = second.Make(3, false);
  ASSERT_TRUE(record);
  EXPECT_EQ(record->files.size(), 2u);
  EXPECT_EQ(record->files[1].name, "/elsewhere/part-3");
  EXPECT_EQ(record->to.at("orders-0"), 16);
  // A merge that is repeated after a restart is recorded once.
  second.AddMerge(3, "/t/dt=1/compacted-part-1", 15, 150, {"/t/dt=1/part-1", "/t/dt=1/part-2"});
  second.AddMerge(3, "/t/dt=1/compacted-part-1", 15, 150, {"/t/dt=1/part-1", "/t/dt=1/part-2"});
  EXPECT_EQ(second.Make(3, false)->merged.size(), 1u);
  const std::string state = first.Encode();
  for (size_t size = 0; size < state.size(); ++size) {
    EXPECT_FALSE(Recorder("/t").Decode(state.substr(0, size)).ok()) << size;
  }
}

}  // namespace
}  // namespace sluice::connectors::filesystem
