// The file sink driven by hand: names, rolling, commits, restarts.
#include <regex>

#include <gtest/gtest.h>

#include "common/log.h"
#include "connectors/filesystem/sink/sink_test_util.h"
#include "formats/all_formats.h"

namespace sluice::connectors::filesystem {
namespace {

TEST(FileSink, StreamingNames) {
  SinkHarness job(
      {.table_options = {{"sink.rolling-policy.on-checkpoint", "true"}}, .parallelism = 2});
  ASSERT_OK(job.Start());
  ASSERT_OK(job.Write(0, {{1, "a"}, {2, "b"}}));
  ASSERT_OK(job.Write(1, {{3, "a"}}));
  EXPECT_TRUE(Paths(job).empty());
  for (const std::string& hidden : job.Hidden()) {
    EXPECT_TRUE(std::regex_search(
        hidden, std::regex("/k=[ab]/\\.part-[0-9a-f-]{36}-[01]-[0-9]+\\.inprogress\\.[0-9a-f-]+$")))
        << hidden;
  }
  ASSERT_OK(job.Checkpoint());
  const auto paths = Paths(job);
  ASSERT_EQ(paths.size(), 3u);
  EXPECT_TRUE(std::regex_match(paths[0], std::regex("k=a/part-[0-9a-f-]{36}-0-0"))) << paths[0];
  EXPECT_TRUE(std::regex_match(paths[1], std::regex("k=a/part-[0-9a-f-]{36}-1-0"))) << paths[1];
  // One counter for each subtask over all its partitions.
  EXPECT_TRUE(std::regex_match(paths[2], std::regex("k=b/part-[0-9a-f-]{36}-0-1"))) << paths[2];
  EXPECT_EQ(paths[0].substr(0, 45), paths[1].substr(0, 45));  // One uuid for all.
  EXPECT_TRUE(job.Hidden().empty());
}

TEST(FileSink, BatchNamesAndNothingBeforeTheEnd) {
  SinkHarness job({.partitioned = false, .streaming = false});
  ASSERT_OK(job.Start());
  ASSERT_OK(job.Write(0, {{1, "a"}}));
  ASSERT_OK(job.Finish());
  EXPECT_TRUE(Paths(job).empty());
  ASSERT_OK(job.Checkpoint({.final = true}));
  ASSERT_EQ(Paths(job).size(), 1u);
  EXPECT_TRUE(std::regex_match(Paths(job)[0], std::regex("part-[0-9a-f-]{36}-task-0-file-0")));
  EXPECT_EQ(job.Visible().begin()->second, "1,a\n");
}

TEST(FileSink, RowFormatStaysOpenOverCheckpoints) {
  SinkHarness job({});
  ASSERT_OK(job.Start());
  ASSERT_OK(job.Write(0, Rows(0, 3, "a")));
  ASSERT_OK(job.Checkpoint());
  EXPECT_TRUE(Paths(job).empty());
  ASSERT_OK(job.Write(0, Rows(3, 3, "a")));
  ASSERT_OK(job.FinishAndCommit());
  EXPECT_EQ(Paths(job).size(), 1u);
  EXPECT_TRUE(Once(job, 6));
}

TEST(FileSink, ContainersStayOpenOverCheckpointsWhenTold) {
  for (const bool kill : {false, true}) {
    SinkHarness job({.table_options = {{"sink.rolling-policy.on-checkpoint", "false"}},
                     .format = &kPack,
                     .parallelism = 2});
    ASSERT_OK(job.Start());
    for (int64_t round = 0; round < 10; ++round) {
      // Some stay in the state, some are in the file.
      const int64_t count = round % 3 == 0 ? 1 : 20;
      ASSERT_OK(job.Write(0, Rows(round * 40, count, "a")));
      ASSERT_OK(job.Write(1, Rows(round * 40 + count, 40 - count, "a")));
      ASSERT_OK(job.Checkpoint());
      EXPECT_TRUE(Paths(job).empty());
      if (!kill) continue;
      ASSERT_OK(job.Write(0, Rows(9'000, 30, "a")));  // Lost: read again after the restart.
      job.Kill();
      ASSERT_OK(job.Start(job.last_checkpoint));
    }
    ASSERT_OK(job.FinishAndCommit());
    EXPECT_EQ(Paths(job).size(), 2u);
    EXPECT_TRUE(Once(job, 400));
    EXPECT_TRUE(job.Hidden().empty());
  }
}

TEST(FileSink, OpenContainersRollByTimeAndSize) {
  SinkHarness job({.table_options = {{"sink.rolling-policy.on-checkpoint", "false"},
                                     {"sink.rolling-policy.rollover-interval", "10 s"},
                                     {"sink.rolling-policy.check-interval", "1 s"}},
                   .partitioned = false,
                   .format = &kPack});
  ASSERT_OK(job.Start());
  for (int64_t second = 0; second < 35; ++second) {
    ASSERT_OK(job.Write(0, Rows(second, 1, "x")));
    ASSERT_OK(job.Checkpoint());
    ASSERT_OK(job.Tick(1000));
  }
  ASSERT_OK(job.FinishAndCommit());
  EXPECT_EQ(Paths(job).size(), 4u);  // One for each rolling interval, not for each checkpoint.
  EXPECT_TRUE(Once(job, 35));
}

TEST(KnownPitfalls, Rule16_2_OpenContainerIsFinishedInItsOldLayout) {
  SinkHarness job({.table_options = {{"sink.rolling-policy.on-checkpoint", "false"}},
                   .partitioned = false,
                   .format = &formats::kParquetFormat});
  ASSERT_OK(job.Start());
  ASSERT_OK(job.Write(0, Rows(0, 3, "a")));
  ASSERT_OK(job.Checkpoint());
  job.Kill();
  job.options.format = &kLines;
  ASSERT_OK(job.Plan());
  ASSERT_OK(job.Start(1));
  ASSERT_OK(job.Write(0, Rows(3, 3, "a")));
  ASSERT_OK(job.FinishAndCommit());
  int parquet_files = 0;
  for (const auto& [path, content] : job.Visible()) {
    if (content.starts_with("PAR1") && content.ends_with("PAR1")) ++parquet_files;
  }
  EXPECT_EQ(parquet_files, 1);
  EXPECT_EQ(Paths(job).size(), 2u);
}

TEST(FileSink, RollsBySizeAtTheRow) {
  // Rows of 3 bytes, limit 10: a file is closed when it is larger than 10, so it has 4 rows.
  SinkHarness job(
      {.table_options = {{"sink.rolling-policy.file-size", "10 b"}}, .partitioned = false});
  ASSERT_OK(job.Start());
  std::vector<TestRow> rows;
  for (int64_t i = 0; i < 9; ++i) rows.push_back({i, ""});
  ASSERT_OK(job.Write(0, rows));
  ASSERT_OK(job.FinishAndCommit());
  std::vector<size_t> sizes;
  for (const auto& [path, content] : job.Visible()) sizes.push_back(content.size());
  EXPECT_EQ(sizes, (std::vector<size_t>{12, 12, 3}));
}

TEST(FileSink, BulkRollsBySizeWithBufferedBytes) {
  SinkHarness job({.table_options = {{"sink.rolling-policy.file-size", "2 kb"}},
                   .partitioned = false,
                   .format = &kPack});
  ASSERT_OK(job.Start());
  for (int64_t i = 0; i < 10; ++i) ASSERT_OK(job.Write(0, Rows(i * 300, 300, "x")));
  ASSERT_OK(job.FinishAndCommit());
  EXPECT_GE(Paths(job).size(), 5u);
  EXPECT_TRUE(Once(job, 3000));
}

TEST(KnownPitfalls, Rule5_3_TimeRollingNeedsNoRow) {
  SinkHarness job({.table_options = {{"sink.rolling-policy.rollover-interval", "5 s"},
                                     {"sink.rolling-policy.check-interval", "1 s"}},
                   .partitioned = false});
  ASSERT_OK(job.Start());
  ASSERT_OK(job.Write(0, Rows(0, 3, "x")));
  ASSERT_OK(job.Checkpoint());
  EXPECT_EQ(job.timer_ms, job.clock.NowMillis() + 1000);
  for (int second = 0; second < 6; ++second) ASSERT_OK(job.Tick(1000));
  ASSERT_OK(job.Checkpoint());
  EXPECT_TRUE(Once(job, 3));
}

TEST(FileSink, InactivityRolls) {
  SinkHarness job({.table_options = {{"sink.rolling-policy.inactivity-interval", "3 s"},
                                     {"sink.rolling-policy.check-interval", "1 s"}},
                   .format = &kLines});
  ASSERT_OK(job.Start());
  ASSERT_OK(job.Write(0, Rows(0, 1, "a")));
  for (int64_t second = 1; second <= 4; ++second) {
    ASSERT_OK(job.Write(0, Rows(second, 1, "b")));
    ASSERT_OK(job.Tick(1000));
  }
  ASSERT_OK(job.Checkpoint());
  ASSERT_EQ(Paths(job).size(), 1u);
  EXPECT_TRUE(Paths(job)[0].starts_with("k=a/"));
}

TEST(KnownPitfalls, Rule5_2_NoRowNoFile) {
  SinkHarness job({.parallelism = 2});
  ASSERT_OK(job.Start());
  for (int i = 0; i < 5; ++i) ASSERT_OK(job.Checkpoint());
  ASSERT_OK(job.FinishAndCommit());
  EXPECT_TRUE(job.files.disk().AllFiles("/").empty());
}

TEST(KnownPitfalls, Rule1_3_NameUsedOnce) {
  SinkHarness job({.partitioned = false, .streaming = false});
  ASSERT_OK(job.Start());
  ASSERT_OK(job.Write(0, Rows(0, 10, "x")));
  ASSERT_OK(job.FinishAndCommit());
  const auto first = job.Visible();
  job.Stop();
  job.job_id = "fedcba9876543210fedcba9876543210";  // A new submission.
  job.attempt = 0;
  ASSERT_OK(job.Start());
  ASSERT_OK(job.Write(0, Rows(10, 10, "x")));
  ASSERT_OK(job.FinishAndCommit());
  EXPECT_EQ(job.Visible().size(), 2u);
  for (const auto& [path, content] : first) EXPECT_EQ(job.Visible()[path], content);
  EXPECT_TRUE(Once(job, 20));
}

TEST(KnownPitfalls, Rule1_2_LeftoversOfThisWriterOnly) {
  SinkHarness job({.parallelism = 12});
  ASSERT_OK(job.Start());
  for (int writer = 0; writer < 12; ++writer) {
    ASSERT_OK(job.Write(writer, Rows(writer, 1, "a")));
  }
  ASSERT_OK(job.Checkpoint());
  // A file of another job with a similar name, and files opened after the checkpoint.
  const std::string foreign = "/table/k=a/.part-x-0-0.inprogress.0123456789abcdef-0123456789abcdef";
  ASSERT_OK(job.files.current().WriteWhole(foreign, "foreign"));
  for (int writer = 0; writer < 12; ++writer) {
    ASSERT_OK(job.Write(writer, Rows(100 + writer, 1, "lost")));
  }
  EXPECT_EQ(job.Hidden().size(), 25u);
  job.Kill();
  ASSERT_OK(job.Start(1));
  EXPECT_EQ(job.Hidden().size(), 13u);  // What the checkpoint names, and the foreign one.
  ASSERT_OK(job.FinishAndCommit());
  EXPECT_TRUE(Once(job, 12));
  EXPECT_EQ(job.Hidden(), std::vector<std::string>{foreign});
}

TEST(KnownPitfalls, Rule17_3_NothingLeftBehindByAFailure) {
  SinkHarness job({.parallelism = 2});
  ASSERT_OK(job.Start());
  ASSERT_OK(job.Write(0, Rows(0, 10, "a")));
  ASSERT_OK(job.Write(1, Rows(10, 10, "b")));
  job.Stop();
  EXPECT_TRUE(job.Hidden().empty());
}

TEST(KnownPitfalls, Rule1_5_EndOfInputCommits) {
  SinkHarness job({.partitioned = false});
  ASSERT_OK(job.Start());
  ASSERT_OK(job.Write(0, Rows(0, 10, "x")));
  ASSERT_OK(job.FinishAndCommit());
  EXPECT_TRUE(Once(job, 10));
}

TEST(KnownPitfalls, Rule17_2_StopPublishesOpenFiles) {
  SinkHarness job({.partitioned = false});
  ASSERT_OK(job.Start());
  ASSERT_OK(job.Write(0, Rows(0, 10, "x")));
  ASSERT_OK(job.Checkpoint({.stopping = true}));
  EXPECT_TRUE(Once(job, 10));
  job.Stop();
  ASSERT_OK(job.Start(1));
  ASSERT_OK(job.Write(0, Rows(10, 5, "x")));
  ASSERT_OK(job.FinishAndCommit());
  EXPECT_TRUE(Once(job, 15));
}

TEST(KnownPitfalls, Rule1_7_FailedCheckpoint) {
  SinkHarness job({.table_options = {{"sink.rolling-policy.on-checkpoint", "true"}}});
  ASSERT_OK(job.Start());
  ASSERT_OK(job.Write(0, Rows(0, 50, "a")));
  ASSERT_OK(job.TakeCheckpoint().status());  // Times out: nobody hears of it again.
  EXPECT_TRUE(Paths(job).empty());
  ASSERT_OK(job.Write(0, Rows(50, 50, "a")));
  ASSERT_OK(job.Checkpoint());
  EXPECT_TRUE(Once(job, 100));
}

TEST(FileSink, LostNotificationIsCoveredByRestart) {
  SinkHarness job({.table_options = {{"sink.rolling-policy.on-checkpoint", "true"}}});
  ASSERT_OK(job.Start());
  ASSERT_OK(job.Write(0, Rows(0, 5, "a")));
  ASSERT_OK(job.TakeCheckpoint().status());
  job.Kill();
  ASSERT_OK(job.Start(1));
  EXPECT_TRUE(Once(job, 5));
}

TEST(FileSink, RestartWithOtherParallelism) {
  for (const int parallelism : {1, 2, 5}) {
    SinkHarness job({.parallelism = 3});
    ASSERT_OK(job.Start());
    for (int writer = 0; writer < 3; ++writer) {
      ASSERT_OK(job.Write(writer, Rows(writer * 10, 10, "a")));
      ASSERT_OK(job.Write(writer, Rows(30 + writer * 10, 10, "b" + std::to_string(writer))));
    }
    ASSERT_OK(job.Checkpoint());
    ASSERT_OK(job.Write(0, Rows(1000, 10, "a")));  // Lost: read again after the restart.
    job.Kill();
    job.options.parallelism = parallelism;
    ASSERT_OK(job.Start(1));
    ASSERT_OK(job.Write(parallelism - 1, Rows(60, 10, "a")));
    ASSERT_OK(job.Checkpoint());
    ASSERT_OK(job.FinishAndCommit());
    EXPECT_TRUE(Once(job, 70)) << parallelism;
    EXPECT_TRUE(job.Hidden().empty());
  }
}

TEST(FileSink, ChangedLayoutFinishesOldFilesAsTheyAre) {
  SinkHarness job({});
  ASSERT_OK(job.Start());
  ASSERT_OK(job.Write(0, Rows(0, 3, "a")));
  ASSERT_OK(job.Checkpoint());
  job.Kill();
  job.options.table_options["lines.other"] = "x";  // Another way to write.
  ASSERT_OK(job.Plan());
  ASSERT_OK(job.Start(1));
  ASSERT_OK(job.Write(0, Rows(3, 3, "a")));
  ASSERT_OK(job.FinishAndCommit());
  EXPECT_EQ(Paths(job).size(), 2u);
  EXPECT_TRUE(Once(job, 6));
}

TEST(KnownPitfalls, Rule1_6_OlderCheckpointIsReported) {
  for (const bool remove : {false, true}) {
    std::vector<std::string> warnings;
    SetLogSink([&warnings](LogLevel, std::string_view text) { warnings.emplace_back(text); });
    SinkHarness job({.table_options = {{"sink.rolling-policy.on-checkpoint", "true"}},
                     .partitioned = false,
                     .configuration = {{"sluice.remove-abandoned", remove ? "true" : "false"}}});
    ASSERT_OK(job.Start());
    for (int64_t i = 0; i < 4; ++i) {
      ASSERT_OK(job.Write(0, Rows(i * 15, 15, "x")));
      ASSERT_OK(job.Checkpoint());
    }
    job.Kill();
    ASSERT_OK(job.Start(2));
    ASSERT_OK(job.Write(0, Rows(30, 30, "x")));
    ASSERT_OK(job.FinishAndCommit());
    SetLogSink(nullptr);
    const auto ids = job.Ids();
    EXPECT_EQ(ids.size(), 60u);
    EXPECT_EQ(ids.at(40), remove ? 1 : 2);
    ASSERT_FALSE(warnings.empty());
    EXPECT_NE(warnings.back().find("part-"), std::string::npos) << warnings.back();
  }
}

// Names of compressed files end in more than a number.
TEST(KnownPitfalls, Rule1_6_OlderCheckpointWithCompressedFiles) {
  SinkHarness job({.table_options = {{"sink.rolling-policy.on-checkpoint", "true"},
                                     {"sink.compression", "gzip"}},
                   .partitioned = false,
                   .configuration = {{"sluice.remove-abandoned", "true"}}});
  ASSERT_OK(job.Start());
  for (int64_t i = 0; i < 4; ++i) {
    ASSERT_OK(job.Write(0, Rows(i * 15, 15, "x")));
    ASSERT_OK(job.Checkpoint());
  }
  EXPECT_EQ(job.Visible().size(), 4u);
  job.Kill();
  ASSERT_OK(job.Start(2));
  ASSERT_OK(job.Write(0, Rows(30, 30, "x")));
  ASSERT_OK(job.FinishAndCommit());
  EXPECT_EQ(job.Visible().size(), 3u);
  for (const auto& [path, bytes] : job.Visible()) {
    EXPECT_TRUE(path.ends_with(".gz")) << path;
    EXPECT_TRUE(bytes.starts_with("\x1f\x8b"));
  }
}

TEST(KnownPitfalls, Rule15_1_ManyPartitionsUnderASmallBudget) {
  // 10,000 partitions under 2 MiB in small: the disk in memory copies folders at each change.
  constexpr int64_t kPartitions = 500;
  constexpr int64_t kBudget = 100 << 10;
  for (const formats::Format* format : {&kLines, &kPack}) {
    for (const std::string sorted : {"true", "false"}) {
      SinkHarness job({.table_options = {{"sink.sort-by-partition", sorted}},
                       .streaming = false,
                       .format = format,
                       .memory_bytes = kBudget});
      job.pool.immediate = true;
      ASSERT_OK(job.Start());
      std::vector<TestRow> rows;
      for (int64_t id = 0; id < 2'000; ++id) {
        rows.push_back({id, "p" + std::to_string(id * 7919 % kPartitions)});
        if (rows.size() < 100) continue;
        ASSERT_OK(job.Write(0, rows));
        rows.clear();
      }
      ASSERT_OK(job.FinishAndCommit());
      EXPECT_TRUE(Once(job, 2'000)) << format->name;
      // One batch may go over it: 100 buckets of 1 KiB. So may what waits to be published.
      EXPECT_LE(job.budget->peak_bytes(), kBudget + (110 << 10) + kBudget / 2) << format->name;
      EXPECT_EQ(job.budget->used_bytes(), 0);
      // Sorted, each partition gets one file; otherwise they are closed for want of room.
      EXPECT_EQ(job.metrics.Value(runtime::metric::kEarlyRolls) == 0, sorted == "true");
      EXPECT_TRUE(sorted == "false" || job.Visible().size() == 500) << format->name;
    }
  }
}

TEST(FileSinkTest, FilesThatWaitToBePublishedCountInTheBudget) {
  SinkHarness job({.table_options = {{"sink.sort-by-partition", "true"},
                                     {"sink.rolling-policy.on-checkpoint", "true"}},
                   .format = &kLines,
                   .memory_bytes = 10 << 20});
  ASSERT_OK(job.Start());
  std::vector<TestRow> rows;
  for (int64_t id = 0; id < 1'000; ++id) rows.push_back({id, "p" + std::to_string(id)});
  ASSERT_OK(job.Write(0, rows));
  const auto checkpoint = job.TakeCheckpoint();
  ASSERT_OK(checkpoint.status());
  const int64_t waiting_bytes = job.budget->used_bytes();
  // Two paths and the values: once here, once in the checkpoint. It was 600 bytes, several times.
  EXPECT_GT(waiting_bytes, 1'000 * 2 * 150);
  EXPECT_LT(waiting_bytes, 1'000 * 2 * 350);
  ASSERT_OK(job.Complete(*checkpoint));
  EXPECT_EQ(job.budget->used_bytes(), 0);
  EXPECT_TRUE(Once(job, 1'000));
}

TEST(KnownPitfalls, Rule15_2_LimitOnOpenFiles) {
  for (const formats::Format* format : {&kLines, &kPack}) {
    SinkHarness job({.table_options = {{"sink.sort-by-partition", "false"}},
                     .format = format,
                     .configuration = {{"sluice.sink.max-open-files", "16"}}});
    ASSERT_OK(job.Start());
    for (int64_t round = 0; round < 4; ++round) {
      std::vector<TestRow> rows;
      for (int64_t i = 0; i < 300; ++i) {
        rows.push_back({round * 300 + i, "p" + std::to_string(i * 7 % 100)});
      }
      ASSERT_OK(job.Write(0, rows));
      EXPECT_LE(job.metrics.Value(runtime::metric::kOpenFiles), 16);
    }
    ASSERT_OK(job.FinishAndCommit());
    EXPECT_TRUE(Once(job, 1'200)) << format->name;
    // Rows of the bulk format are few enough to be gathered without a file.
    EXPECT_EQ(job.metrics.Value(runtime::metric::kEarlyRolls) > 0, format == &kLines);
  }
}

TEST(FileSink, MetricsCount) {
  SinkHarness job({});
  ASSERT_OK(job.Start());
  ASSERT_OK(job.Write(0, {{0, "a"}, {1, "b"}, {2, "b"}}));
  EXPECT_EQ(job.metrics.Value(runtime::metric::kRowsOut), 3);
  EXPECT_EQ(job.metrics.Value(runtime::metric::kOpenFiles), 2);
  ASSERT_OK(job.FinishAndCommit());
  EXPECT_EQ(job.metrics.Value(runtime::metric::kOpenFiles), 0);
  EXPECT_EQ(job.metrics.Value(runtime::metric::kPublishedFiles), 2);
  EXPECT_EQ(job.metrics.Value(runtime::metric::kBytesOut), 6);
}

TEST(FileSink, NullAndEmptyGoToTheDefaultPartition) {
  SinkHarness job({});
  ASSERT_OK(job.Start());
  ASSERT_OK(job.Write(0, {{0, std::nullopt}, {1, ""}, {2, "a/b"}}));
  ASSERT_OK(job.FinishAndCommit());
  for (const std::string& path : Paths(job)) {
    EXPECT_TRUE(path.starts_with("k=__DEFAULT_PARTITION__/") || path.starts_with("k=a%2Fb/"))
        << path;
  }
  EXPECT_TRUE(Once(job, 3));
  EXPECT_EQ(Paths(job).size(), 2u);
  EXPECT_FALSE(Has(job, "k=/x"));
}

}  // namespace
}  // namespace sluice::connectors::filesystem
