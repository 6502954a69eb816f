// When partitions are committed, driven by hand.
#include "common/log.h"
#include "connectors/filesystem/sink/commit_status.h"
#include "connectors/filesystem/sink/sink_test_util.h"

namespace sluice::connectors::filesystem {
namespace {

constexpr int64_t kMay20 = 1'589'932'800'000;  // 2020-05-20 00:00:00 UTC.
constexpr int64_t kHour = 3'600'000;

HarnessOptions WithCommit(OptionMap more, int parallelism = 1,
                          const formats::Format* format = &kLines) {
  HarnessOptions options;
  options.table_options = std::move(more);
  options.table_options.emplace("sink.partition-commit.policy.kind", "success-file");
  options.parallelism = parallelism;
  options.format = format;
  return options;
}

OptionMap PartitionTime(const std::string& delay = "1 h") {
  return {{"sink.partition-commit.trigger", "partition-time"},
          {"sink.partition-commit.delay", delay},
          {"partition.time-extractor.timestamp-pattern", "$k:00:00"}};
}

TEST(KnownPitfalls, Rule2_1_NoOpenFileWhenCommitted) {
  SinkHarness job(WithCommit(PartitionTime()));
  ASSERT_OK(job.Start());
  ASSERT_OK(job.Write(0, Rows(0, 5, "2020-05-20 08")));
  ASSERT_OK(job.Watermark(kMay20 + 9 * kHour));
  ASSERT_OK(job.Checkpoint());
  EXPECT_TRUE(Paths(job).empty());  // Strictly greater: not yet, and the file is open.
  ASSERT_OK(job.Watermark(kMay20 + 9 * kHour + 1));
  ASSERT_OK(job.Checkpoint());
  EXPECT_TRUE(Has(job, "k=2020-05-20 08/_SUCCESS"));
  EXPECT_TRUE(Once(job, 5));
  EXPECT_TRUE(job.Hidden().empty());
}

// As soon as the watermark has passed a partition's end, whatever the interval.
TEST(FileSinkCommit, AsksForACheckpointWhenAPartitionIsDue) {
  for (const std::string wanted : {"true", "false"}) {
    OptionMap options = PartitionTime();
    options["sink.partition-commit.early-checkpoint"] = wanted;
    SinkHarness job(WithCommit(options, 2, &kPack));
    int requests = 0;
    const auto listen = [&] {
      for (const auto& context : job.contexts) {
        context->request_checkpoint = [&requests] { ++requests; };
      }
    };
    ASSERT_OK(job.Start());
    listen();
    ASSERT_OK(job.Write(0, Rows(0, 5, "2020-05-20 08")));
    ASSERT_OK(job.Write(1, Rows(5, 5, "2020-05-20 08")));
    ASSERT_OK(job.Watermark(kMay20 + 9 * kHour));
    EXPECT_EQ(requests, 0);  // Strictly greater.
    ASSERT_OK(job.Watermark(kMay20 + 9 * kHour + 1));
    EXPECT_EQ(requests, wanted == "true" ? 1 : 0);
    auto id = job.TakeCheckpoint();
    ASSERT_TRUE(id.ok());
    ASSERT_OK(job.Complete(*id));
    EXPECT_TRUE(Has(job, "k=2020-05-20 08/_SUCCESS"));
    // A late row does not ask again; the next hour does, over a restart too.
    ASSERT_OK(job.Write(0, Rows(10, 1, "2020-05-20 08")));
    ASSERT_OK(job.Write(0, Rows(11, 1, "2020-05-20 09")));
    ASSERT_OK(job.Watermark(kMay20 + 9 * kHour + 2));
    EXPECT_EQ(requests, wanted == "true" ? 1 : 0);
    id = job.TakeCheckpoint();
    ASSERT_TRUE(id.ok());
    job.Kill();
    requests = 0;
    ASSERT_OK(job.Start(*id));
    listen();
    ASSERT_OK(job.Watermark(kMay20 + 10 * kHour + 1));
    EXPECT_EQ(requests, wanted == "true" ? 1 : 0);
  }
}

// What a restart has to read again is committed soon, not an interval later.
TEST(FileSinkCommit, TheFirstRowsOfARestartAskForACheckpoint) {
  SinkHarness job(WithCommit({}));
  ASSERT_OK(job.Start());
  int requests = 0;
  job.contexts[0]->request_checkpoint = [&requests] { ++requests; };
  ASSERT_OK(job.Write(0, Rows(0, 5, "a")));
  EXPECT_EQ(requests, 0);
  const auto id = job.TakeCheckpoint();
  ASSERT_TRUE(id.ok());
  job.Kill();
  ASSERT_OK(job.Start(*id));
  job.contexts[0]->request_checkpoint = [&requests] { ++requests; };
  ASSERT_OK(job.Write(0, Rows(5, 5, "a")));
  ASSERT_OK(job.Write(0, Rows(10, 5, "a")));
  EXPECT_EQ(requests, 1);
}

TEST(FileSinkCommit, WatermarkAtTheBarrierDecides) {
  SinkHarness job(WithCommit(PartitionTime("0 s"), 1, &kPack));
  ASSERT_OK(job.Start());
  ASSERT_OK(job.Write(0, Rows(0, 5, "2020-05-20 08")));
  auto id = job.TakeCheckpoint();
  ASSERT_TRUE(id.ok());
  ASSERT_OK(job.Watermark(kMay20 + 20 * kHour));
  ASSERT_OK(job.Complete(*id));
  EXPECT_FALSE(Has(job, "k=2020-05-20 08/_SUCCESS"));
  ASSERT_OK(job.Checkpoint());
  EXPECT_TRUE(Has(job, "k=2020-05-20 08/_SUCCESS"));
}

// filesystem.md 11.3 (a): steady traffic.
TEST(FileSinkCommit, SteadyTrafficKeepsClosing) {
  SinkHarness job(WithCommit({}, 2));  // Process time, no delay.
  ASSERT_OK(job.Start());
  for (int64_t round = 0; round < 5; ++round) {
    ASSERT_OK(job.Write(0, Rows(round * 20, 5, "a")));
    ASSERT_OK(job.Write(1, Rows(round * 20 + 5, 5, "a")));
    auto id = job.TakeCheckpoint();
    ASSERT_TRUE(id.ok());
    // Rows between the snapshot and its completion reopen files.
    ASSERT_OK(job.Write(0, Rows(round * 20 + 10, 5, "a")));
    ASSERT_OK(job.Write(1, Rows(round * 20 + 15, 5, "a")));
    ASSERT_OK(job.Complete(*id));
    EXPECT_EQ(job.Ids().size(), static_cast<size_t>(round * 20 + 10));
    EXPECT_TRUE(Has(job, "k=a/_SUCCESS"));
  }
  ASSERT_OK(job.FinishAndCommit());
  EXPECT_TRUE(Once(job, 100));
}

// filesystem.md 11.3 (b): buckets of a restored checkpoint.
TEST(FileSinkCommit, RestoredFilesAreClosedBeforeTheCommit) {
  SinkHarness job(WithCommit({{"sink.partition-commit.delay", "6 s"}}));
  ASSERT_OK(job.Start());
  ASSERT_OK(job.Write(0, Rows(0, 10, "a")));
  job.clock.AdvanceMillis(2'000);
  ASSERT_OK(job.Checkpoint());
  job.Kill();
  job.clock.AdvanceMillis(2'000);
  ASSERT_OK(job.Start(1));
  for (int second = 0; second < 4; ++second) {
    job.clock.AdvanceMillis(1'000);
    ASSERT_OK(job.Checkpoint());
    // The marker never precedes the rows.
    EXPECT_EQ(Has(job, "k=a/_SUCCESS"), job.Ids().size() == 10u) << second;
  }
  EXPECT_TRUE(Has(job, "k=a/_SUCCESS"));
}

TEST(KnownPitfalls, Rule2_5_CreationTimeIsKept) {
  SinkHarness job(WithCommit({{"sink.partition-commit.delay", "20 s"}}, 1, &kPack));
  ASSERT_OK(job.Start());
  const int64_t begin_ms = job.clock.NowMillis();
  ASSERT_OK(job.Write(0, Rows(0, 1, "a")));
  job.clock.AdvanceMillis(4'000);
  ASSERT_OK(job.Checkpoint());
  job.clock.AdvanceMillis(4'000);
  job.Kill();
  job.clock.AdvanceMillis(4'000);
  ASSERT_OK(job.Start(1));
  int64_t committed_ms = 0;
  while (committed_ms == 0 && job.clock.NowMillis() < begin_ms + 60'000) {
    job.clock.AdvanceMillis(1'000);
    ASSERT_OK(job.Checkpoint());
    if (Has(job, "k=a/_SUCCESS")) committed_ms = job.clock.NowMillis() - begin_ms;
  }
  EXPECT_GT(committed_ms, 20'000);
  EXPECT_LE(committed_ms, 25'000);
}

TEST(FileSinkCommit, WritersThatSawThePartitionAtOtherTimesAgree) {
  // Writer 1 gets its first row 15 s later; by its own clock alone its file would always be open
  // when the partition is due, while writer 0 opens new ones.
  SinkHarness job(WithCommit({{"sink.partition-commit.delay", "20 s"}}, 2));
  ASSERT_OK(job.Start());
  int64_t id = 0;
  bool committed = false;
  for (int second = 0; second < 30 && !committed; ++second) {
    ASSERT_OK(job.Write(0, Rows(id++, 1, "a")));
    if (second >= 15) ASSERT_OK(job.Write(1, Rows(id++, 1, "a")));
    job.clock.AdvanceMillis(1'000);
    ASSERT_OK(job.Checkpoint());
    committed = Has(job, "k=a/_SUCCESS");
    if (committed) {
      EXPECT_TRUE(Once(job, id));
    }
  }
  EXPECT_TRUE(committed);
}

TEST(FileSinkCommit, IdleWriterDoesNotHoldThePartitionBack) {
  SinkHarness job(WithCommit(PartitionTime(), 2));
  ASSERT_OK(job.Start());
  ASSERT_OK(job.Write(0, Rows(0, 1, "2020-05-20 08")));
  ASSERT_OK(job.Write(1, Rows(1, 1, "2020-05-20 08")));
  // The source of writer 1 is idle: only writer 0 and the committer see the watermark.
  struct NoOutput final : runtime::Output {
    Status Emit(Batch) override { return {}; }
    Status EmitWatermark(int64_t) override { return {}; }
    Status EmitIdle(bool) override { return {}; }
    Status StopInput() override { return {}; }
  } none;
  ASSERT_OK(job.operators[0]->ProcessWatermark(kMay20 + 10 * kHour, none));
  ASSERT_OK(job.operators[2]->ProcessWatermark(kMay20 + 10 * kHour, none));
  ASSERT_OK(job.Checkpoint());
  ASSERT_OK(job.Checkpoint());
  EXPECT_TRUE(Has(job, "k=2020-05-20 08/_SUCCESS"));
  EXPECT_TRUE(Once(job, 2));
}

TEST(KnownPitfalls, Rule2_6_LateRowsCommitAgain) {
  SinkHarness job(WithCommit(PartitionTime(), 1, &kPack));
  ASSERT_OK(job.Start());
  ASSERT_OK(job.Write(0, Rows(0, 5, "2020-05-20 08")));
  ASSERT_OK(job.Watermark(kMay20 + 10 * kHour));
  ASSERT_OK(job.Checkpoint());
  EXPECT_EQ(job.metrics.Value(runtime::metric::kCommittedPartitions), 1);
  const auto before = job.files.current().Stat("/table/k=2020-05-20 08/_SUCCESS");
  job.clock.AdvanceMillis(5'000);
  ASSERT_OK(job.Write(0, Rows(5, 1, "2020-05-20 08")));
  ASSERT_OK(job.Checkpoint());
  const auto after = job.files.current().Stat("/table/k=2020-05-20 08/_SUCCESS");
  ASSERT_TRUE(before.ok() && after.ok());
  EXPECT_GT(after->modified_ms, before->modified_ms);
  EXPECT_EQ(job.metrics.Value(runtime::metric::kLateCommits), 1);
  EXPECT_TRUE(Once(job, 6));
}

TEST(KnownPitfalls, Rule2_3_PartitionWithoutTime) {
  std::vector<std::string> warnings;
  SetLogSink([&warnings](LogLevel level, std::string_view text) {
    if (level == LogLevel::kWarning) warnings.emplace_back(text);
  });
  SinkHarness job(WithCommit(PartitionTime(), 1, &kPack));
  ASSERT_OK(job.Start());
  ASSERT_OK(job.Write(0, {{0, "2020-05-20 08"}, {1, std::nullopt}, {2, "free text"}}));
  ASSERT_OK(job.Watermark(kMay20 + 20 * kHour));
  for (int i = 0; i < 3; ++i) ASSERT_OK(job.Checkpoint());
  EXPECT_TRUE(Once(job, 3));
  EXPECT_TRUE(Has(job, "k=2020-05-20 08/_SUCCESS"));
  EXPECT_FALSE(Has(job, "k=free text/_SUCCESS"));
  EXPECT_EQ(job.metrics.Value(runtime::metric::kUntimedPartitions), 2);
  SetLogSink(nullptr);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find("k=__DEFAULT_PARTITION__"), std::string::npos) << warnings[0];
  ASSERT_OK(job.FinishAndCommit());
  EXPECT_TRUE(Has(job, "k=free text/_SUCCESS"));
}

TEST(FileSinkCommit, EndOfInputCommitsAll) {
  SinkHarness job(WithCommit({{"sink.partition-commit.delay", "1 h"},
                              {"sink.partition-commit.success-file.name", "_DONE"}}));
  ASSERT_OK(job.Start());
  ASSERT_OK(job.Write(0, {{0, "a"}, {1, "b"}}));
  ASSERT_OK(job.FinishAndCommit());
  const auto all = job.files.disk().AllFiles("/table");
  EXPECT_TRUE(all.contains("/table/k=a/_DONE"));
  EXPECT_TRUE(all.contains("/table/k=b/_DONE"));
}

TEST(KnownPitfalls, Rule3_1_WatermarkZone) {
  // 1714522200000 is 2024-05-01 08:10 in Shanghai.
  OptionMap options = PartitionTime();
  options["sink.partition-commit.watermark-time-zone"] = "Asia/Shanghai";
  SinkHarness job(WithCommit(options, 1, &kPack));
  ASSERT_OK(job.Start());
  ASSERT_OK(job.Write(0, Rows(0, 1, "2024-05-01 08")));
  const int64_t nine_ms = 1'714'525'200'000;  // 09:00 there.
  ASSERT_OK(job.Watermark(nine_ms));
  ASSERT_OK(job.Checkpoint());
  EXPECT_FALSE(Has(job, "k=2024-05-01 08/_SUCCESS"));
  ASSERT_OK(job.Watermark(nine_ms + 1));
  ASSERT_OK(job.Checkpoint());
  EXPECT_TRUE(Has(job, "k=2024-05-01 08/_SUCCESS"));
}

TEST(KnownPitfalls, Rule2_7_WaitingPartitionExplainsItself) {
  SinkHarness job(WithCommit(PartitionTime(), 1, &kPack));
  ASSERT_OK(job.Start());
  ASSERT_OK(job.Write(0, Rows(0, 1, "2020-05-20 08")));
  ASSERT_OK(job.Watermark(kMay20 + 8 * kHour));
  ASSERT_OK(job.Checkpoint());
  const auto waiting = job.metrics.Waiting();
  ASSERT_EQ(waiting.size(), 1u);
  const std::string text = waiting.begin()->second;
  EXPECT_NE(text.find("k=2020-05-20 08"), std::string::npos) << text;
  EXPECT_NE(text.find("after 2020-05-20 09:00:00.000, it is at 2020-05-20 08:00:00.000"),
            std::string::npos)
      << text;
}

TEST(KnownPitfalls, Rule2_7_TheStateTellsWhoHoldsAPartitionBack) {
  SinkHarness job(WithCommit(PartitionTime(), 1, &kPack));
  ASSERT_OK(job.Start());
  job.metrics.Counter("split_watermark_ms:orders-0") = runtime::kMaxWatermarkMs;
  job.metrics.Counter("split_watermark_ms:orders-2") = kMay20 + 8 * kHour;
  ASSERT_OK(job.Write(0, Rows(0, 3, "2020-05-20 08")));
  ASSERT_OK(job.Watermark(kMay20 + 8 * kHour));
  ASSERT_OK(job.Checkpoint());
  const auto status =
      ReadCommitStatus(runtime::StateReader("op", job.checkpoints.at(1).committer.at(0)));
  ASSERT_TRUE(status.ok()) << status.status().ToString();
  ASSERT_EQ(status->waiting.size(), 1u);
  EXPECT_EQ(status->waiting[0].row_count, 3);
  EXPECT_EQ(status->waiting[0].file_count, 1);
  TableInfo table;
  table.partition_keys = {"k"};
  table.options = WithCommit(PartitionTime()).table_options;
  const auto why = ExplainWaiting(table, *status, status->waiting[0]);
  ASSERT_TRUE(why.ok()) << why.status().ToString();
  EXPECT_EQ(*why,
            "needs a watermark after 2020-05-20 09:00:00.000, it is at 2020-05-20 08:00:00.000 "
            "(UTC), held back by orders-2");
}

TEST(FileSinkCommit, ChangedTriggerKeepsTheState) {
  // Flink cannot restore with the other trigger.
  SinkHarness job(WithCommit(PartitionTime(), 1, &kPack));
  ASSERT_OK(job.Start());
  ASSERT_OK(job.Write(0, Rows(0, 1, "2020-05-20 08")));
  ASSERT_OK(job.Checkpoint());
  job.Kill();
  job.options.table_options["sink.partition-commit.trigger"] = "process-time";
  job.options.table_options["sink.partition-commit.delay"] = "1 s";
  ASSERT_OK(job.Plan());
  job.clock.AdvanceMillis(2'000);
  ASSERT_OK(job.Start(1));
  EXPECT_TRUE(Has(job, "k=2020-05-20 08/_SUCCESS"));
}

TEST(KnownPitfalls, Rule2_4_BatchAndStreamingLeaveTheSameTree) {
  for (const bool streaming : {true, false}) {
    HarnessOptions options = WithCommit({});
    options.streaming = streaming;
    SinkHarness job(std::move(options));
    ASSERT_OK(job.Start());
    ASSERT_OK(job.Write(0, {{0, "x"}, {1, "y"}}));
    ASSERT_OK(job.FinishAndCommit());
    EXPECT_TRUE(Has(job, "k=x/_SUCCESS") && Has(job, "k=y/_SUCCESS")) << streaming;
    EXPECT_EQ(Paths(job).size(), 4u);
    EXPECT_TRUE(Once(job, 2));
  }
}

TEST(FileSinkCommit, BatchMarksAnUnpartitionedTable) {
  HarnessOptions options = WithCommit({});
  options.streaming = false;
  options.partitioned = false;
  SinkHarness job(std::move(options));
  ASSERT_OK(job.Start());
  ASSERT_OK(job.Write(0, {{0, "x"}}));
  ASSERT_OK(job.FinishAndCommit());
  EXPECT_TRUE(Has(job, "_SUCCESS"));
}

TEST(FileSinkCommit, StaticPartitionInAStream) {
  HarnessOptions options = WithCommit({});
  options.static_partition = {{"k", "7"}};
  SinkHarness job(std::move(options));
  ASSERT_OK(job.Start());
  ASSERT_OK(job.Write(0, {{0, "7"}}));
  ASSERT_OK(job.Checkpoint());
  EXPECT_TRUE(Has(job, "k=7/_SUCCESS"));
  EXPECT_TRUE(Once(job, 1));
}

}  // namespace
}  // namespace sluice::connectors::filesystem
