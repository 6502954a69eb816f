// Rows that wait sorted by partition: one file for each partition and checkpoint, however many
// there are and in whatever order rows come, within memory.
#include "connectors/filesystem/sink/partition_sorter.h"

#include <algorithm>
#include <cstring>
#include <fstream>

#include "connectors/filesystem/sink/sink_test_util.h"
#include "connectors/filesystem/sink/temporary_directories.h"

namespace sluice::connectors::filesystem {
namespace {

std::shared_ptr<arrow::RecordBatch> Numbers(int64_t first, int64_t count) {
  arrow::Int64Builder ids;
  arrow::StringBuilder texts;
  for (int64_t id = first; id < first + count; ++id) {
    (void)ids.Append(id);
    (void)texts.Append("row " + std::to_string(id));
  }
  return arrow::RecordBatch::Make(
      arrow::schema({arrow::field("id", arrow::int64()), arrow::field("t", arrow::utf8())}), count,
      {*ids.Finish(), *texts.Finish()});
}

std::vector<int64_t> IdsOf(const arrow::RecordBatch& rows) {
  const auto& ids = static_cast<const arrow::Int64Array&>(*rows.column(0));
  return {ids.raw_values(), ids.raw_values() + ids.length()};
}

/// Rows [first, first + count), row i of partition i % partitions, as a sorted run.
SortedRows RunOf(int64_t first, int64_t count, int32_t partitions) {
  HeldBytes held{0};
  StagedRows staged(nullptr, &held);
  std::vector<int32_t> ids;
  for (int64_t i = first; i < first + count; ++i)
    ids.push_back(static_cast<int32_t>(i % partitions));
  staged.Add(Numbers(first, count), std::move(ids));
  auto sorted = staged.Sort(
      partitions, [](int32_t, int64_t) { return false; }, arrow::default_memory_pool());
  EXPECT_TRUE(sorted.ok());
  EXPECT_EQ(held.load(), 0);
  return std::move(sorted->small);
}

/// Everything in the runs, by partition, in the order in which it comes.
std::map<int32_t, std::vector<int64_t>> Drain(RowRuns* runs, int64_t bytes) {
  std::map<int32_t, std::vector<int64_t>> found;
  int32_t last = -1;
  bool unfinished = false;
  while (true) {
    auto piece = runs->Next(bytes);
    EXPECT_TRUE(piece.ok()) << piece.status().ToString();
    if (!piece.ok() || piece->rows.row_count() == 0) break;
    EXPECT_EQ(piece->continued, unfinished);
    for (size_t i = 0; i < piece->rows.segments.size(); ++i) {
      const int32_t partition = piece->rows.segments[i].partition;
      if (i == 0 && piece->continued) {
        EXPECT_EQ(partition, last);
      } else {
        EXPECT_GT(partition, last);
      }
      last = partition;
      const auto ids = IdsOf(*piece->rows.RowsOf(i));
      found[partition].insert(found[partition].end(), ids.begin(), ids.end());
    }
    unfinished = piece->unfinished;
  }
  EXPECT_TRUE(runs->empty());
  return found;
}

TEST(StagedRows, SortsByPartitionAndPicksLargeOnes) {
  HeldBytes held{0};
  StagedRows staged(nullptr, &held);
  staged.Add(Numbers(0, 4), {1, 0, 2, 1});
  staged.Add(Numbers(4, 3), {2, 1, 0});
  auto sorted = staged.Sort(
      3, [](int32_t, int64_t rows) { return rows >= 3; }, arrow::default_memory_pool());
  ASSERT_TRUE(sorted.ok());
  EXPECT_EQ(IdsOf(*sorted->small.rows), (std::vector<int64_t>{1, 6, 2, 4}));
  ASSERT_EQ(sorted->small.segments.size(), 2U);
  EXPECT_EQ(sorted->small.segments[1].partition, 2);
  EXPECT_EQ(IdsOf(*sorted->small.RowsOf(1)), (std::vector<int64_t>{2, 4}));
  EXPECT_EQ(IdsOf(*sorted->large.rows), (std::vector<int64_t>{0, 3, 5}));
  EXPECT_TRUE(staged.empty());
}

TEST(RowRuns, MergesRunsOfMemoryAndDiskInOrder) {
  for (const int64_t bytes : {1, 300, 1 << 20}) {
    HeldBytes held{0};
    RowRuns runs(nullptr, &held, arrow::default_memory_pool(), testing::TempDir());
    std::map<int32_t, std::vector<int64_t>> expected;
    for (int64_t run = 0; run < 7; ++run) {
      runs.Add(RunOf(run * 1'000, 1'000, 37));
      if (run == 2 || run == 3) ASSERT_OK(runs.Spill());
    }
    for (int64_t id = 0; id < 7'000; ++id) expected[static_cast<int32_t>(id % 37)].push_back(id);
    EXPECT_EQ(runs.partition_count(), 37);
    EXPECT_TRUE(runs.Holds(36));
    EXPECT_FALSE(runs.Holds(37));
    EXPECT_GT(runs.spilled_bytes(), 0);
    EXPECT_EQ(Drain(&runs, bytes), expected);
    EXPECT_EQ(held.load(), 0);
    // It serves again.
    runs.Add(RunOf(0, 5, 5));
    EXPECT_EQ(Drain(&runs, bytes).size(), 5U);
  }
}

TEST(RowRuns, ManyRunsAreJoinedOnTheirWayToTheDisk) {
  HeldBytes held{0};
  RowRuns runs(nullptr, &held, arrow::default_memory_pool(), testing::TempDir());
  std::map<int32_t, std::vector<int64_t>> expected;
  // Some stay apart, one is larger than a chunk of the file, and the last ones are joined.
  int64_t id = 0;
  for (int64_t run = 0; run < 40; ++run) {
    const int64_t rows = run == 5 ? 60'000 : 500;
    runs.Add(RunOf(id, rows, 37));
    for (const int64_t end = id + rows; id < end; ++id) {
      expected[static_cast<int32_t>(id % 37)].push_back(id);
    }
    if (run % 9 == 8) ASSERT_OK(runs.Spill());
  }
  EXPECT_EQ(Drain(&runs, 10'000), expected);
}

TEST(TemporaryDirectories, AreThoseOfTheOptionOrTheSystems) {
  EXPECT_EQ(TemporaryDirectories({{"io.tmp.dirs", " /a,/b:/c ,"}}),
            (std::vector<std::string>{"/a", "/b", "/c"}));
  EXPECT_EQ(TemporaryDirectories({}).size(), 1U);
  EXPECT_EQ(TemporaryDirectories({{"io.tmp.dirs", " , "}}), TemporaryDirectories({}));
}

TEST(TemporaryDirectories, ThoseThatCannotBeUsedAreNamed) {
  EXPECT_TRUE(CheckTemporaryDirectories({testing::TempDir()}).ok());
  const std::string file = testing::TempDir() + "/no_directory";
  std::ofstream(file) << "x";
  for (const auto& [directory, why] : {std::pair(file, "Not a directory"),
                                       std::pair(file + "s/absent", "No such file or directory")}) {
    const std::string message =
        CheckTemporaryDirectories({testing::TempDir(), directory}).ToString();
    EXPECT_NE(message.find("'" + directory + "': " + why), std::string::npos) << message;
    EXPECT_NE(message.find("'io.tmp.dirs'"), std::string::npos) << message;
  }
}

TEST(RowRuns, SaysWhereTheDiskFailed) {
  HeldBytes held{0};
  RowRuns runs(nullptr, &held, arrow::default_memory_pool(), "/no/such/folder");
  runs.Add(RunOf(0, 10, 2));
  const Status status = runs.Spill();
  EXPECT_FALSE(status.ok());
  EXPECT_NE(status.message().find("/no/such/folder"), std::string::npos) << status.message();
}

HarnessOptions ManyOptions(const formats::Format* format) {
  HarnessOptions options;
  options.format = format;
  options.memory_bytes = 4 << 20;  // Runs are spilled.
  return options;
}

std::vector<TestRow> RoundRobin(int64_t begin, int64_t end, int64_t partitions) {
  std::vector<TestRow> rows;
  for (int64_t id = begin; id < end; ++id) rows.push_back({id, std::to_string(id % partitions)});
  return rows;
}

TEST(PartitionSorter, OneFileForEachPartitionAndCheckpoint) {
  for (const formats::Format* format : {&kPack, &kLines}) {
    SinkHarness job(ManyOptions(format));
    job.options.table_options["sink.rolling-policy.on-checkpoint"] = "true";
    ASSERT_OK(job.Start(0));
    for (int64_t id = 0; id < 60'000; id += 2'000) {
      ASSERT_OK(job.Write(0, RoundRobin(id, id + 2'000, 1'500)));
    }
    ASSERT_OK(job.Checkpoint());
    EXPECT_EQ(job.Visible().size(), 1'500U);
    EXPECT_TRUE(Once(job, 60'000));
    for (const auto& [path, content] : job.Visible()) {
      // Rows of a partition keep their order.
      std::vector<int64_t> ids;
      for (const char* at = content.c_str(); *at >= '0' && *at <= '9'; at = strchr(at, '\n') + 1) {
        ids.push_back(std::strtoll(at, nullptr, 10));
      }
      EXPECT_EQ(ids.size(), 40U);
      EXPECT_TRUE(std::is_sorted(ids.begin(), ids.end())) << path;
    }
    ASSERT_OK(job.FinishAndCommit());
    EXPECT_TRUE(job.Hidden().empty());
    EXPECT_LE(job.budget->peak_bytes(), 4 << 20);
  }
}

TEST(PartitionSorter, LargePartitionsGoOnToAnOpenFile) {
  SinkHarness job(ManyOptions(&kPack));
  job.options.memory_bytes = 256 << 20;
  ASSERT_OK(job.Start(0));
  int64_t id = 0;
  for (int batch = 0; batch < 60; ++batch) {
    std::vector<TestRow> rows = RoundRobin(id, id + 200, 200);
    id += 200;
    for (int64_t i = 0; i < 4'000; ++i) rows.push_back({id++, "large"});
    ASSERT_OK(job.Write(0, rows));
  }
  ASSERT_OK(job.FinishAndCommit());
  EXPECT_TRUE(Once(job, id));
  EXPECT_EQ(job.Visible().size(), 201U);
}

TEST(PartitionSorter, FilesThatStayOpenAreContinued) {
  HarnessOptions options = ManyOptions(&kLines);
  options.table_options["sink.sort-by-partition"] = "true";
  SinkHarness job(options);
  ASSERT_OK(job.Start(0));
  ASSERT_OK(job.Write(0, RoundRobin(0, 300, 100)));
  ASSERT_OK(job.Checkpoint());
  EXPECT_TRUE(job.Visible().empty());
  ASSERT_OK(job.Write(0, RoundRobin(300, 600, 100)));
  const auto second = job.TakeCheckpoint();
  ASSERT_TRUE(second.ok());
  ASSERT_OK(job.Complete(*second));
  job.Kill();
  ASSERT_OK(job.Start(*second));
  ASSERT_OK(job.Write(0, RoundRobin(600, 900, 100)));
  ASSERT_OK(job.FinishAndCommit());
  EXPECT_TRUE(Once(job, 900));
  EXPECT_EQ(job.Visible().size(), 100U);
}

TEST(PartitionSorter, RowsThatWaitedCountAsOpenSinceTheyCame) {
  HarnessOptions options = ManyOptions(&kLines);
  options.table_options["sink.sort-by-partition"] = "true";
  options.table_options["sink.rolling-policy.rollover-interval"] = "1 min";
  options.table_options["sink.rolling-policy.check-interval"] = "10 s";
  SinkHarness job(options);
  ASSERT_OK(job.Start(0));
  ASSERT_OK(job.Write(0, RoundRobin(0, 10, 2)));
  ASSERT_OK(job.Tick(61'000));
  ASSERT_OK(job.Checkpoint());
  EXPECT_EQ(job.Visible().size(), 2U);
}

TEST(PartitionSorter, OverwriteReplacesEachPartition) {
  HarnessOptions options = ManyOptions(&kLines);
  options.streaming = false;
  SinkHarness job(options);
  ASSERT_OK(job.Start(0));
  ASSERT_OK(job.Write(0, RoundRobin(5'000, 6'000, 500)));
  ASSERT_OK(job.FinishAndCommit());
  HarnessOptions again = options;
  again.overwrite = true;
  job.Stop();
  job.options = again;
  job.plan = {};
  job.job_id = "fedcba9876543210fedcba9876543210";
  ASSERT_OK(job.Start(0));
  ASSERT_OK(job.Write(0, RoundRobin(0, 1'000, 500)));
  ASSERT_OK(job.FinishAndCommit());
  EXPECT_TRUE(Once(job, 1'000));
  EXPECT_TRUE(job.Hidden().empty());
}

}  // namespace
}  // namespace sluice::connectors::filesystem
