#include "connectors/filesystem/sink/table_record.h"

#include <unistd.h>

#include <gtest/gtest.h>

#include "connectors/filesystem/sink/record_order.h"
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
  TableRecord second = Sample(2);
  ASSERT_TRUE(WriteFirstRecord(file_system, root, &second).ok());
  ASSERT_TRUE(
      FoldRecords(file_system, {RecordPath(root, Sample(1)), RecordPath(root, Sample(2))}).ok());
  ASSERT_TRUE(WriteFirstRecord(file_system, root, &again).ok());
  TableRecord expected = Sample(2);
  expected.committed = {"dt=2", "dt=1"};
  const auto read = ReadRecords(file_system, root);
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_EQ(read->records, (std::vector<TableRecord>{Sample(1), expected}));
  ASSERT_TRUE(file_system.DeleteTree(root).ok());
}

/// Checkpoints in the order of OrderRecords().
std::vector<int64_t> Ordered(const std::vector<TableRecord>& records) {
  std::vector<int64_t> checkpoints;
  for (const TableRecord& record : OrderRecords(records)) checkpoints.push_back(record.checkpoint);
  return checkpoints;
}

TEST(RecordOrderTest, OneSinkGoesByCheckpointWhateverTheClockSays) {
  std::vector<TableRecord> records = {Sample(3), Sample(1), Sample(4), Sample(2), Sample(3)};
  records[0].time_ms = records[4].time_ms = -172'800'000;
  records[1].time_ms = 172'800'000;
  EXPECT_EQ(Ordered(records), (std::vector<int64_t>{1, 2, 3, 4}));
  // Of another branch: went back to 2, under lower numbers.
  records.push_back(Sample(3));
  records.back().branch = 1;
  records.back().time_ms = -1;
  EXPECT_EQ(Ordered(records), (std::vector<int64_t>{1, 2, 3, 4, 3}));
}

TEST(RecordOrderTest, TimeOrdersSinksAndMergesFollowTheirFiles) {
  TableRecord other = Sample(100);
  other.lineage = "1123456789abcdef";
  other.time_ms = 2'500;
  const std::vector<TableRecord> sinks = {other, Sample(1), Sample(2), Sample(3)};
  EXPECT_EQ(Ordered(sinks), (std::vector<int64_t>{1, 2, 100, 3}));

  TableRecord compact{.writer = std::string(kCompactTableWriter), .lineage = "0", .checkpoint = 50};
  compact.merged = {{{"dt=1/part-c", -1, 9}, {"dt=1/part-2", "dt=1/part-unknown"}}};
  TableRecord compact_again = compact;
  compact_again.checkpoint = 40;  // Its clock had leapt back.
  compact_again.time_ms = -5;
  compact_again.merged = {{{"dt=1/part-d", -1, 9}, {"dt=1/part-c", "dt=1/part-1"}}};
  EXPECT_EQ(Ordered({compact_again, compact, Sample(1), Sample(2), Sample(3)}),
            (std::vector<int64_t>{1, 2, 50, 40, 3}));
  // Nonsense must end, too.
  TableRecord circle = compact;
  circle.checkpoint = 60;
  circle.merged = {{{"dt=1/part-unknown", -1, 9}, {"dt=1/part-c"}}};
  EXPECT_EQ(Ordered({compact, circle, Sample(1), Sample(2)}).size(), 4u);
}

TEST(TableRecordTest, GoingBackBeginsABranch) {
  const std::string root = testing::TempDir() + "/table-record-back-" + std::to_string(::getpid());
  const auto located = fs::FileSystems::Default().Locate(root);
  ASSERT_TRUE(located.ok()) << located.status().ToString();
  fs::FileSystem& file_system = *located->file_system;
  for (int64_t checkpoint : {1, 2, 3, 4}) {
    ASSERT_TRUE(WriteRecord(file_system, root, Sample(checkpoint)).ok());
  }
  const auto write_first = [&](int64_t checkpoint, int64_t previous, int64_t branch) {
    TableRecord record = Sample(checkpoint);
    record.previous = previous;
    record.branch = record.previous_branch = branch;
    EXPECT_TRUE(WriteFirstRecord(file_system, root, &record).ok());
    return record.branch;
  };
  EXPECT_EQ(write_first(5, 4, 0), 0) << "an ordinary start";
  EXPECT_EQ(write_first(5, 4, 0), 0) << "again after a crash";
  EXPECT_EQ(write_first(3, 2, 0), 1) << "back to 2, and on under lower numbers";
  EXPECT_EQ(write_first(3, 2, 0), 1) << "again after a crash";
  EXPECT_EQ(write_first(4, 3, 1), 1) << "an ordinary start of the branch";
  EXPECT_EQ(write_first(7, 2, 0), 1) << "behind everything that is there";
  EXPECT_EQ(write_first(2, 1, 0), 2);
  const auto read = ReadRecords(file_system, root);
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  std::vector<std::pair<int64_t, int64_t>> places;
  for (const auto& record : read->records) places.emplace_back(record.branch, record.checkpoint);
  EXPECT_EQ(places, (std::vector<std::pair<int64_t, int64_t>>{
                        {0, 1}, {0, 2}, {0, 3}, {0, 4}, {0, 5}, {1, 3}, {1, 4}, {1, 7}, {2, 2}}));
  ASSERT_TRUE(file_system.DeleteTree(root).ok());
}

TEST(TableRecordTest, RecordsWithoutBranchesAreRead) {
  const auto read = ParseRecords(
      R"({"sluice_record":1,"writer":"INSERT","sink":"a","format":"csv","checkpoint":2,"previous":1,"since":0,"final":true,"open_files":0,"time_ms":5,"from":{},"to":{},"files":[],"merged":[],"committed":[],"marker":"","replaced":[]})");
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_EQ(read->at(0).branch, 0);
  EXPECT_EQ(read->at(0).previous_branch, 0);
}

TEST(RecorderTest, TheBranchIsInTheState) {
  Recorder first("/t");
  first.AddFile(1, "/t/part-1", 10, 100);
  auto record = first.Make(1, false);
  ASSERT_TRUE(record);
  EXPECT_EQ(record->branch, 0);
  record->branch = 3;  // WriteFirstRecord() has found others.
  first.Written(*record);
  Recorder second("/t");
  ASSERT_TRUE(second.Decode(first.Encode()).ok());
  second.AddFile(2, "/t/part-2", 10, 100);
  record = second.Make(2, false);
  ASSERT_TRUE(record);
  EXPECT_EQ(record->branch, 3);
  EXPECT_EQ(record->previous_branch, 3);
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
