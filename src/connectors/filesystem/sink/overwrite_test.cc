// INSERT OVERWRITE, whole and cut off at every operation of the disk.
#include "connectors/filesystem/sink/overwrite.h"

#include "connectors/filesystem/sink/sink_test_util.h"

namespace sluice::connectors::filesystem {
namespace {

HarnessOptions Overwrite(bool partitioned,
                         std::vector<std::pair<std::string, std::string>> fixed = {}) {
  HarnessOptions options;
  options.streaming = false;
  options.overwrite = true;
  options.partitioned = partitioned;
  options.static_partition = std::move(fixed);
  return options;
}

/// What the table holds before: two partitions, or one file; hidden entries that survive.
Status Fill(SinkHarness& job) {
  fs::FileSystem& files = job.files.current();
  for (const char* directory : {"/table/k=x", "/table/k=y", "/table"}) {
    if (job.options.partitioned == (std::string(directory) == "/table")) continue;
    SLUICE_RETURN_NOT_OK(files.CreateDirectories(directory));
    SLUICE_RETURN_NOT_OK(files.WriteWhole(fs::JoinPath(directory, "old"), "100\n"));
    SLUICE_RETURN_NOT_OK(files.WriteWhole(fs::JoinPath(directory, "_SUCCESS"), ""));
    SLUICE_RETURN_NOT_OK(files.WriteWhole(fs::JoinPath(directory, ".keep"), "kept"));
  }
  return {};
}

TEST(FileSinkOverwrite, DynamicReplacesWhatGetsRows) {
  SinkHarness job(Overwrite(true));
  ASSERT_OK(Fill(job));
  ASSERT_OK(job.Start());
  ASSERT_OK(job.Write(0, {{0, "x"}, {1, "new"}}));
  ASSERT_OK(job.Finish());
  EXPECT_TRUE(Has(job, "k=x/old"));
  EXPECT_EQ(job.Ids().size(), 1u);  // Nothing new is visible yet.
  ASSERT_OK(job.Checkpoint({.final = true}));
  EXPECT_FALSE(Has(job, "k=x/old"));
  EXPECT_TRUE(Has(job, "k=x/_SUCCESS"));  // Hidden entries survive.
  EXPECT_TRUE(Has(job, "k=y/old"));
  EXPECT_EQ(job.Ids(), (std::map<int64_t, int>{{0, 1}, {1, 1}, {100, 1}}));
  EXPECT_EQ(job.Hidden(), (std::vector<std::string>{"/table/k=x/.keep", "/table/k=y/.keep"}));
}

TEST(FileSinkOverwrite, StaticAndUnpartitioned) {
  SinkHarness fixed(Overwrite(true, {{"k", "x"}}));
  ASSERT_OK(Fill(fixed));
  ASSERT_OK(fixed.Start());
  ASSERT_OK(fixed.Write(0, {{0, "x"}}));
  ASSERT_OK(fixed.FinishAndCommit());
  EXPECT_EQ(fixed.Ids(), (std::map<int64_t, int>{{0, 1}, {100, 1}}));

  SinkHarness whole(Overwrite(false));
  ASSERT_OK(Fill(whole));
  ASSERT_OK(whole.Start());
  ASSERT_OK(whole.Write(0, {{0, ""}}));
  ASSERT_OK(whole.FinishAndCommit());
  EXPECT_EQ(whole.Ids(), (std::map<int64_t, int>{{0, 1}}));
  EXPECT_EQ(whole.Hidden(), std::vector<std::string>{"/table/.keep"});
}

TEST(KnownPitfalls, Rule18_1_OverwriteWithNoRows) {
  SinkHarness fixed(Overwrite(true, {{"k", "x"}}));
  ASSERT_OK(Fill(fixed));
  ASSERT_OK(fixed.Start());
  ASSERT_OK(fixed.FinishAndCommit());
  EXPECT_FALSE(Has(fixed, "k=x/old"));
  EXPECT_TRUE(Has(fixed, "k=y/old"));

  SinkHarness dynamic(Overwrite(true));
  ASSERT_OK(Fill(dynamic));
  ASSERT_OK(dynamic.Start());
  ASSERT_OK(dynamic.FinishAndCommit());
  EXPECT_TRUE(Has(dynamic, "k=x/old") && Has(dynamic, "k=y/old"));

  SinkHarness whole(Overwrite(false));
  ASSERT_OK(Fill(whole));
  ASSERT_OK(whole.Start());
  ASSERT_OK(whole.FinishAndCommit());
  EXPECT_TRUE(whole.Ids().empty());
}

TEST(FileSinkOverwrite, FailedJobLeavesTheOldRowsAndNothingElse) {
  SinkHarness job(Overwrite(true));
  ASSERT_OK(Fill(job));
  ASSERT_OK(job.Start());
  ASSERT_OK(job.Write(0, {{0, "x"}, {1, "new"}}));
  job.Stop();
  EXPECT_EQ(job.Ids(), (std::map<int64_t, int>{{100, 2}}));
  EXPECT_EQ(job.Hidden().size(), 2u);
}

TEST(FileSinkOverwrite, WritersThatEndLeaveStagedFilesToTheCommitter) {
  SinkHarness job(Overwrite(true));
  ASSERT_OK(Fill(job));
  ASSERT_OK(job.Start());
  ASSERT_OK(job.Write(0, {{0, "x"}}));
  ASSERT_OK(job.Finish());
  const auto checkpoint = job.TakeCheckpoint({.final = true});
  ASSERT_TRUE(checkpoint.ok());
  // A file that is being renamed may be listed under neither name: its directory looks empty.
  fs::FileSystem& files = job.files.current();
  std::string staged;
  for (const std::string& hidden : job.Hidden()) {
    if (hidden.find("inprogress") != std::string::npos) staged = hidden;
  }
  ASSERT_FALSE(staged.empty());
  ASSERT_OK(files.DeleteFile(staged));
  job.operators.front().reset();  // A writer ends while the committer is at work.
  EXPECT_TRUE(files.Stat(fs::ParentPath(staged)).ok()) << fs::ParentPath(staged);
}

/// Readers see the old rows of x whole or the new ones whole.
void ExpectOldOrNew(SinkHarness& job, const std::string& when) {
  std::vector<int64_t> ids;
  for (const auto& [path, content] : job.files.disk().VisibleFiles("/table/k=x")) {
    ids.push_back(std::stoll(content));
  }
  std::sort(ids.begin(), ids.end());
  EXPECT_TRUE(ids == std::vector<int64_t>{100} || ids == (std::vector<int64_t>{0, 1}))
      << when << ": " << ids.size() << " files";
}

// design.md §10.3: neither the old nor the new rows are lost, at whatever instant it is killed.
TEST(FileSinkOverwrite, CutOffAnywhere) {
  for (const bool power_loss : {false, true}) {
    for (int64_t cut = 1;; ++cut) {
      HarnessOptions options = Overwrite(true);
      options.parallelism = 2;
      SinkHarness job(std::move(options), static_cast<uint64_t>(cut));
      ASSERT_OK(Fill(job));
      ASSERT_OK(job.Start());
      ASSERT_OK(job.Write(0, {{0, "x"}}));
      ASSERT_OK(job.Write(1, {{1, "x"}}));
      ASSERT_OK(job.Finish());
      auto id = job.TakeCheckpoint({.final = true});
      ASSERT_TRUE(id.ok());
      const int64_t before = job.files.disk().operation_count();
      job.files.disk().CutPowerAfter(cut);
      const Status completed = job.Complete(*id);
      const bool cut_off = job.files.disk().operation_count() > before + cut || !completed.ok();
      power_loss ? job.PowerLoss() : job.Kill();
      const std::string when = "cut " + std::to_string(cut);
      ExpectOldOrNew(job, when);
      for (int again = 0; again < 2; ++again) {
        ASSERT_OK(job.Start(*id));
        EXPECT_EQ(job.Ids(), (std::map<int64_t, int>{{0, 1}, {1, 1}, {100, 1}})) << when;
        EXPECT_EQ(job.Hidden(), (std::vector<std::string>{"/table/k=x/.keep", "/table/k=y/.keep"}))
            << when;
        EXPECT_TRUE(Has(job, "k=x/_SUCCESS")) << when;
        job.Kill();
      }
      if (!cut_off) break;
      ASSERT_LT(cut, 500);
    }
  }
}

}  // namespace
}  // namespace sluice::connectors::filesystem
