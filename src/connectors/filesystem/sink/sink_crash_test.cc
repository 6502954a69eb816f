// A whole streaming run cut off at every operation of the disk: after the restart from the newest
// complete checkpoint every row is there once, and no marker precedes its rows.
#include "common/log.h"
#include "connectors/filesystem/sink/sink_test_util.h"

namespace sluice::connectors::filesystem {
namespace {

constexpr int64_t kRows = 24;
constexpr int64_t kRowsPerCheckpoint = 6;

std::vector<TestRow> RowsOf(int64_t begin, int64_t end) {
  std::vector<TestRow> rows;
  for (int64_t id = begin; id < end; ++id) {
    rows.push_back({id, "2020-05-20 0" + std::to_string(id / 8)});
  }
  return rows;
}

/// What is durable of the run: the newest complete checkpoint and the offset in it.
struct Durable {
  int64_t checkpoint = 0;
  int64_t offset = 0;
};

/// Reads on from `durable` to the end; stops at the first failure.
Status RunToEnd(SinkHarness& job, Durable* durable) {
  SLUICE_RETURN_NOT_OK(job.Start(durable->checkpoint));
  int64_t offset = durable->offset;
  while (offset < kRows) {
    for (int writer = 0; writer < job.options.parallelism; ++writer) {
      const int64_t next = std::min(offset + kRowsPerCheckpoint / 2, kRows);
      SLUICE_RETURN_NOT_OK(job.Write(writer, RowsOf(offset, next)));
      offset = next;
    }
    SLUICE_RETURN_NOT_OK(job.Watermark(1'589'932'800'000 + offset / 8 * 3'600'000 + 1));
    SLUICE_ASSIGN_OR_RETURN(const int64_t id, job.TakeCheckpoint());
    *durable = {id, offset};
    SLUICE_RETURN_NOT_OK(job.Complete(id));
  }
  SLUICE_RETURN_NOT_OK(job.Watermark(runtime::kMaxWatermarkMs));
  SLUICE_RETURN_NOT_OK(job.Finish());
  SLUICE_ASSIGN_OR_RETURN(const int64_t id, job.TakeCheckpoint({.final = true}));
  *durable = {id, offset};
  return job.Complete(id);
}

enum class Files { kClosed, kSpanning, kCompacted, kWholePartitions, kSorted, kSortedSpanning };

std::string_view NameOf(Files files) {
  constexpr std::string_view kNames[] = {
      "", " spanning", " compacted", " whole partitions", " sorted", " sorted, spanning"};
  return kNames[static_cast<size_t>(files)];
}

HarnessOptions CrashOptions(const formats::Format* format, Files files) {
  HarnessOptions options;
  options.table_options = {{"sink.partition-commit.trigger", "partition-time"},
                           {"sink.partition-commit.policy.kind", "success-file"},
                           {"partition.time-extractor.timestamp-pattern", "$k:00:00"},
                           {"sink.rolling-policy.file-size", "60 b"}};
  if (files == Files::kSorted || files == Files::kSortedSpanning) {
    options.table_options["sink.sort-by-partition"] = "true";
    options.table_options.erase("sink.rolling-policy.file-size");
  }
  if (files == Files::kSpanning || files == Files::kSortedSpanning) {
    options.table_options["sink.rolling-policy.on-checkpoint"] = "false";
  }
  if (files == Files::kCompacted || files == Files::kWholePartitions) {
    options.table_options["auto-compaction"] = "true";
  }
  if (files == Files::kWholePartitions) options.table_options["compaction.scope"] = "partition";
  options.parallelism = 2;
  options.format = format;
  return options;
}

/// A reader never sees a row twice, and with the marker it sees all rows of the partition that the
/// run has read by then.
void ExpectNoRowTwice(SinkHarness& job, const std::string& when) {
  for (const auto& [id, times] : job.Ids()) EXPECT_EQ(times, 1) << when << ", id " << id;
}

TEST(FileSinkCrash, CutOffAnywhere) {
  SetLogSink([](LogLevel, std::string_view) {});  // What a failing disk makes it say.
  struct Kind {
    const formats::Format* format;
    Files files;
  };
  for (const auto& [format, files] :
       {Kind{&kLines, Files::kSpanning}, Kind{&kPack, Files::kClosed},
        Kind{&kPack, Files::kSpanning}, Kind{&kLines, Files::kCompacted},
        Kind{&kLines, Files::kWholePartitions}, Kind{&kPack, Files::kSorted},
        Kind{&kLines, Files::kSorted}, Kind{&kLines, Files::kSortedSpanning}}) {
    for (const bool power_loss : {false, true}) {
      for (int64_t cut = 1;; ++cut) {
        const std::string when = std::string(format->name) + std::string(NameOf(files)) +
                                 (power_loss ? ", power" : ", kill") + ", cut " +
                                 std::to_string(cut);
        SinkHarness job(CrashOptions(format, files), static_cast<uint64_t>(cut) * 2 + power_loss);
        Durable durable;
        job.files.disk().CutPowerAfter(cut);
        const Status first = RunToEnd(job, &durable);
        power_loss ? job.PowerLoss() : job.Kill();
        if (first.ok() && job.files.disk().operation_count() < cut) break;
        ExpectNoRowTwice(job, when);
        // A second crash soon after the first.
        job.files.disk().CutPowerAfter(cut % 17 + 1);
        const Status second = RunToEnd(job, &durable);
        power_loss ? job.PowerLoss() : job.Kill();
        if (!second.ok()) {
          ExpectNoRowTwice(job, when + ", second");
          ASSERT_OK(RunToEnd(job, &durable));
        }
        EXPECT_TRUE(Once(job, kRows)) << when;
        EXPECT_TRUE(job.Hidden().empty()) << when << ": " << job.Hidden().front();
        for (const char* hour : {"00", "01", "02"}) {
          EXPECT_TRUE(Has(job, "k=2020-05-20 " + std::string(hour) + "/_SUCCESS")) << when;
        }
        ASSERT_FALSE(testing::Test::HasFailure()) << when;
        ASSERT_LT(cut, 3'000);
      }
    }
  }
}

}  // namespace
}  // namespace sluice::connectors::filesystem
