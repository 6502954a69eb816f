// Compaction driven by hand: what is visible when, restarts, other parallelism, what is left.
#include <arrow/io/memory.h>

#include "common/log.h"
#include "connectors/filesystem/sink/sink_metrics.h"
#include "connectors/filesystem/sink/sink_test_util.h"
#include "formats/all_formats.h"
#include "types/arrow_status.h"

namespace sluice::connectors::filesystem {
namespace {

HarnessOptions Compacting(OptionMap more = {}, int parallelism = 2,
                          const formats::Format* format = &kLines) {
  HarnessOptions options;
  options.table_options = std::move(more);
  options.table_options.emplace("auto-compaction", "true");
  options.parallelism = parallelism;
  options.format = format;
  return options;
}

OptionMap WholePartitions(OptionMap more = {}) {
  more.emplace("compaction.scope", "partition");
  more.emplace("sink.partition-commit.policy.kind", "success-file");
  return more;
}

std::vector<std::string> Raw(SinkHarness& job) {
  std::vector<std::string> raw;
  for (const std::string& path : job.Hidden()) {
    if (path.find("/.uncompacted-") != std::string::npos) raw.push_back(path);
  }
  return raw;
}

TEST(KnownPitfalls, Rule5_1_OneFileForAPartitionAndCheckpoint) {
  SinkHarness job(Compacting({}, 4));
  ASSERT_OK(job.Start());
  int64_t id = 0;
  for (int checkpoint = 1; checkpoint <= 3; ++checkpoint) {
    for (int writer = 0; writer < 4; ++writer) {
      ASSERT_OK(job.Write(writer, Rows(id, 5, "a")));
      ASSERT_OK(job.Write(writer, Rows(id + 5, 5, "b")));
      id += 10;
    }
    const auto taken = job.TakeCheckpoint();
    ASSERT_TRUE(taken.ok());
    if (checkpoint == 2) {
      job.Kill();  // Between the checkpoint and the merge.
      ASSERT_OK(job.Start(2));
    } else {
      ASSERT_OK(job.Complete(*taken));
    }
    EXPECT_TRUE(Once(job, id));
    const auto paths = Paths(job);
    ASSERT_EQ(paths.size(), static_cast<size_t>(checkpoint) * 2);
    for (const std::string& path : paths) {
      EXPECT_NE(path.find("/compacted-part-"), std::string::npos) << path;
    }
  }
  ASSERT_OK(job.FinishAndCommit());
  EXPECT_TRUE(Once(job, id));
  EXPECT_TRUE(job.Hidden().empty()) << job.Hidden().front();
}

TEST(Compaction, NamesAreFlinks) {
  SinkHarness job(Compacting());
  ASSERT_OK(job.Start());
  ASSERT_OK(job.Write(0, Rows(0, 5, "a")));
  ASSERT_OK(job.Write(1, Rows(5, 5, "a")));
  for (const std::string& hidden : job.Hidden()) {
    EXPECT_NE(hidden.find("/..uncompacted-part-"), std::string::npos) << hidden;
  }
  ASSERT_OK(job.Checkpoint());
  // The raw files stay until the next checkpoint says that they are merged.
  const auto raw = Raw(job);
  ASSERT_EQ(raw.size(), 2u);
  const std::string first = raw[0].substr(raw[0].rfind('/') + 1);
  EXPECT_EQ(Paths(job), std::vector<std::string>{
                            "k=a/compacted-" + first.substr(std::string(".uncompacted-").size())});
  ASSERT_OK(job.Checkpoint());
  EXPECT_TRUE(Raw(job).empty());
}

TEST(Compaction, FilesOfDifferentCheckpointsNeverMeet) {
  SinkHarness job(Compacting());
  ASSERT_OK(job.Start());
  ASSERT_OK(job.Write(0, Rows(0, 5, "a")));
  ASSERT_OK(job.TakeCheckpoint().status());  // Fails: nobody hears of it again.
  ASSERT_OK(job.Write(0, Rows(5, 5, "a")));
  ASSERT_OK(job.Checkpoint());
  EXPECT_EQ(Paths(job).size(), 2u);
  EXPECT_TRUE(Once(job, 10));
}

TEST(Compaction, TargetSizeBoundsTheFiles) {
  SinkHarness job(Compacting({{"compaction.file-size", "100 b"}}, 4));
  ASSERT_OK(job.Start());
  for (int writer = 0; writer < 4; ++writer) {
    ASSERT_OK(job.Write(writer, Rows(100 + writer * 8, 8, "a")));  // 32 bytes.
  }
  ASSERT_OK(job.FinishAndCommit());
  EXPECT_EQ(Paths(job).size(), 2u);
  EXPECT_EQ(job.Ids().size(), 32u);
}

TEST(Compaction, ContainersAreJoined) {
  SinkHarness job(Compacting({}, 2, &formats::kParquetFormat));
  ASSERT_OK(job.Start());
  ASSERT_OK(job.Write(0, Rows(0, 500, "a")));
  ASSERT_OK(job.Write(1, Rows(500, 500, "a")));
  ASSERT_OK(job.FinishAndCommit());
  ASSERT_EQ(Paths(job).size(), 1u);
  const std::string content = job.Visible().begin()->second;
  const auto file = formats::kParquetFormat.open_bulk_file(
      {{}, "parquet."}, {Schema({{"id", SqlType::Bigint()}}), {0}},
      std::make_shared<arrow::io::BufferReader>(arrow::Buffer::FromString(content)), {});
  ASSERT_TRUE(file.ok()) << file.status().ToString();
  int64_t rows = 0;
  for (int part = 0; part < (*file)->part_count(); ++part) rows += (*file)->row_count(part);
  EXPECT_EQ(rows, 1000);
}

// filesystem.md 12.10: Flink cannot.
TEST(Compaction, RestartWithOtherParallelism) {
  for (const int parallelism : {1, 2, 5}) {
    SinkHarness job(Compacting({}, 3));
    ASSERT_OK(job.Start());
    for (int writer = 0; writer < 3; ++writer) ASSERT_OK(job.Write(writer, Rows(writer, 1, "a")));
    ASSERT_OK(job.Checkpoint());
    for (int writer = 0; writer < 3; ++writer) {
      ASSERT_OK(job.Write(writer, Rows(3 + writer, 1, "a")));
    }
    ASSERT_OK(job.TakeCheckpoint().status());
    job.Kill();
    job.options.parallelism = parallelism;
    ASSERT_OK(job.Plan());
    ASSERT_OK(job.Start(2));
    EXPECT_TRUE(Once(job, 6)) << parallelism;
    ASSERT_OK(job.FinishAndCommit());
    EXPECT_TRUE(Once(job, 6)) << parallelism;
    EXPECT_TRUE(job.Hidden().empty()) << parallelism;
  }
}

// filesystem.md 12.10, FLINK-34109.
TEST(Compaction, RawFilesStayAsLongAsACheckpointThatNeedsThem) {
  HarnessOptions options =
      Compacting(WholePartitions({{"sink.partition-commit.delay", "10 s"}}), 1);
  options.configuration = {{"execution.checkpointing.num-retained", "3"}};
  SinkHarness job(std::move(options));
  SetLogSink([](LogLevel, std::string_view) {});
  ASSERT_OK(job.Start());
  ASSERT_OK(job.Write(0, Rows(0, 5, "a")));
  ASSERT_OK(job.Checkpoint());
  job.clock.AdvanceMillis(11'000);
  ASSERT_OK(job.Checkpoint());
  EXPECT_TRUE(Once(job, 5));
  ASSERT_OK(job.Checkpoint());
  EXPECT_EQ(Raw(job).size(), 1u);
  // Back to the first: its raw file is merged again, into the very same file.
  job.Kill();
  ASSERT_OK(job.Start(1));
  ASSERT_OK(job.Checkpoint());
  EXPECT_TRUE(Once(job, 5));
  for (int i = 0; i < 4; ++i) ASSERT_OK(job.Checkpoint());
  EXPECT_TRUE(Raw(job).empty());
  ASSERT_OK(job.FinishAndCommit());
  SetLogSink(nullptr);
  EXPECT_TRUE(Once(job, 5));
  EXPECT_TRUE(job.Hidden().empty());
}

TEST(KnownPitfalls, Rule5_5_MergingDoesNotHoldCheckpointsBack) {
  SinkHarness job(Compacting({}, 1));
  ASSERT_OK(job.Start());
  ASSERT_OK(job.Write(0, Rows(0, 5, "a")));
  ASSERT_OK(job.Checkpoint());
  // From here on the committer's disk is as slow as can be: nothing of its work is run.
  runtime::Operator& committer = *job.operators.back();
  struct None final : runtime::Output {
    Status Emit(Batch) override { return {}; }
    Status EmitWatermark(int64_t) override { return {}; }
    Status EmitIdle(bool) override { return {}; }
    Status StopInput() override { return {}; }
  } none;
  int64_t id = 5;
  for (int i = 0; i < 5; ++i) {
    ASSERT_OK(job.Write(0, Rows(id, 5, "a")));
    id += 5;
    const auto taken = job.TakeCheckpoint();
    ASSERT_TRUE(taken.ok());
    ASSERT_OK(job.operators[0]->CheckpointComplete(*taken, none));
    ASSERT_OK(committer.CheckpointComplete(*taken, none));
    EXPECT_TRUE(committer.Ready());
    EXPECT_FALSE(committer.Drained());
  }
  EXPECT_GE(job.metrics.Value(sink_metric::kBacklogFiles), 1);
  ASSERT_OK(job.FinishAndCommit());
  EXPECT_TRUE(Once(job, id));
  EXPECT_EQ(job.metrics.Value(sink_metric::kBacklogFiles), 0);
  EXPECT_EQ(job.metrics.Value(sink_metric::kBacklogBytes), 0);
}

TEST(Compaction, WholePartitionBeforeItsCommit) {
  SinkHarness job(Compacting(WholePartitions({{"sink.partition-commit.delay", "10 s"}})));
  ASSERT_OK(job.Start());
  int64_t id = 0;
  for (int second = 0; second < 10; ++second) {
    for (int writer = 0; writer < 2; ++writer) {
      ASSERT_OK(job.Write(writer, Rows(id, 3, "a")));
      id += 3;
    }
    job.clock.AdvanceMillis(1'000);
    ASSERT_OK(job.Checkpoint());
    EXPECT_TRUE(Paths(job).empty()) << second;
    if (second == 5) {
      job.Kill();
      job.options.parallelism = 1;
      ASSERT_OK(job.Plan());
      ASSERT_OK(job.Start(job.last_checkpoint));
      job.options.parallelism = 2;
      job.Kill();
      ASSERT_OK(job.Plan());
      ASSERT_OK(job.Start(job.last_checkpoint));
    }
  }
  job.clock.AdvanceMillis(1'000);
  ASSERT_OK(job.Checkpoint());
  EXPECT_EQ(Paths(job).size(), 2u);  // One file and the marker.
  EXPECT_TRUE(Has(job, "k=a/_SUCCESS"));
  EXPECT_TRUE(Once(job, id));
  // Late rows: one more file, and the marker again.
  ASSERT_OK(job.Write(0, Rows(id, 3, "a")));
  ASSERT_OK(job.Write(1, Rows(id + 3, 3, "a")));
  id += 6;
  ASSERT_OK(job.Checkpoint());
  job.clock.AdvanceMillis(11'000);
  ASSERT_OK(job.Checkpoint());
  EXPECT_EQ(Paths(job).size(), 3u);
  EXPECT_TRUE(Once(job, id));
  ASSERT_OK(job.FinishAndCommit());
  EXPECT_TRUE(job.Hidden().empty());
}

TEST(Compaction, PartitionWithoutATimeIsVisibleAllTheSame) {
  SetLogSink([](LogLevel, std::string_view) {});
  SinkHarness job(
      Compacting(WholePartitions({{"sink.partition-commit.trigger", "partition-time"}}), 1));
  ASSERT_OK(job.Start());
  ASSERT_OK(job.Write(0, Rows(0, 3, "no time")));
  ASSERT_OK(job.Checkpoint());
  SetLogSink(nullptr);
  EXPECT_TRUE(Once(job, 3));
}

TEST(Compaction, SwitchedOffWithWorkLeft) {
  SinkHarness job(Compacting(WholePartitions({{"sink.partition-commit.delay", "1 h"}}), 1));
  ASSERT_OK(job.Start());
  ASSERT_OK(job.Write(0, Rows(0, 3, "a")));
  ASSERT_OK(job.Checkpoint());
  EXPECT_TRUE(Paths(job).empty());
  job.Kill();
  job.options.table_options = {{"sink.partition-commit.policy.kind", "success-file"},
                               {"sink.partition-commit.delay", "1 h"}};
  ASSERT_OK(job.Plan());
  ASSERT_OK(job.Start(1));
  ASSERT_OK(job.Checkpoint());
  EXPECT_TRUE(Once(job, 3));
  ASSERT_OK(job.FinishAndCommit());
  EXPECT_TRUE(Once(job, 3));
  EXPECT_TRUE(job.Hidden().empty());
}

TEST(Compaction, MissingRawFileIsNamed) {
  SinkHarness job(Compacting({}, 1));
  ASSERT_OK(job.Start());
  ASSERT_OK(job.Write(0, Rows(0, 3, "a")));
  ASSERT_OK(job.TakeCheckpoint().status());
  job.Kill();
  for (const std::string& path : job.Hidden()) ASSERT_OK(job.files.current().DeleteFile(path));
  const Status status = job.Start(1);
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.ToString().find("uncompacted-part-"), std::string::npos) << status.ToString();
}

TEST(Compaction, RefusedAtPlanning) {
  const auto message = [](OptionMap options, bool partitioned) {
    HarnessOptions harness = Compacting(std::move(options), 1);
    harness.partitioned = partitioned;
    SinkHarness job(std::move(harness));
    return job.Plan().ToString();
  };
  EXPECT_NE(message({{"compaction.scope", "partition"}}, true).find("policy.kind"),
            std::string::npos);
  EXPECT_NE(message(WholePartitions(), false).find("no partitions"), std::string::npos);
  EXPECT_NE(message({{"sink.rolling-policy.on-checkpoint", "false"}}, true).find("contradict"),
            std::string::npos);
  EXPECT_NE(message({{"compaction.parallelism", "0"}}, true).find("compaction.parallelism"),
            std::string::npos);
  HarnessOptions sealed = Compacting({}, 1, &kSealed);
  EXPECT_NE(SinkHarness(std::move(sealed)).Plan().ToString().find("cannot be merged"),
            std::string::npos);
}

}  // namespace
}  // namespace sluice::connectors::filesystem
