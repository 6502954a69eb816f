// Stop with a savepoint and go on from it, over the real disk.
#include <filesystem>
#include <thread>

#include <gtest/gtest.h>

#include "fs/local/disk.h"
#include "runtime/checkpoint/checkpoint_store.h"
#include "runtime/job.h"
#include "runtime/job_test_support.h"

namespace sluice::runtime {
namespace {

using testing::NumbersOptions;
using testing::Published;

class SavepointTest : public ::testing::Test {
 protected:
  SavepointTest()
      : root_(std::filesystem::temp_directory_path() /
              ("sluice_savepoint_test_" + std::to_string(::getpid()))) {
    std::filesystem::remove_all(root_);
    std::filesystem::create_directories(root_);
  }
  ~SavepointTest() override { std::filesystem::remove_all(root_); }

  JobSettings Settings(const std::string& folder) const {
    JobSettings settings;
    settings.job_id = "0123456789abcdef0123456789abcdef";
    settings.checkpoints.interval_ms = 5;
    settings.checkpoints.durable_directory = root_ / folder;
    settings.restart.kind = RestartKind::kNone;
    settings.worker_threads = 2;
    return settings;
  }

  JobGraph Graph(NumbersOptions source, int parallelism, testing::Meddler::Hook hook = {}) const {
    JobGraph graph;
    graph.vertices.push_back(testing::SourceVertex(source, parallelism, nullptr));
    if (hook) graph.vertices[0].chain.push_back(testing::MeddlerSpec(std::move(hook)));
    Vertex sink;
    sink.name = "sink";
    sink.parallelism = parallelism;
    sink.chain.push_back(testing::SinkSpec(published_));
    graph.vertices.push_back(std::move(sink));
    graph.edges.push_back({.from = 0, .to = 1, .exchange = Exchange::kHash, .key_columns = {0}});
    return graph;
  }

  // Runs an endless job until some checkpoints are complete, then stops it with a savepoint.
  Result<std::string> RunAndStop(bool drain, const std::string& parent, bool* resumable) {
    auto job = MakeJob(Graph({.count = -1, .readers = 2, .pause_ms = 1, .watermarks = true}, 2),
                       Settings("first"), &Clock::System(), nullptr);
    SLUICE_RETURN_NOT_OK(job.status());
    std::thread stopper([&] {
      while ((*job)->metrics().Value(metric::kCheckpoint) < 3) std::this_thread::yield();
      (*job)->StopWithSavepoint(parent, drain);
    });
    const Status status = (*job)->Run();
    stopper.join();
    SLUICE_RETURN_NOT_OK(status);
    *resumable = (*job)->resumable();
    return (*job)->savepoint();
  }

  int64_t NextNumber() { return published_->Sorted().back() + 1; }

  // Everything from 0 on, once each, whoever published it.
  void ExpectComplete(int64_t count) {
    const std::vector<int64_t> numbers = published_->Sorted();
    ASSERT_EQ(static_cast<int64_t>(numbers.size()), count);
    for (int64_t i = 0; i < count; ++i) ASSERT_EQ(numbers[static_cast<size_t>(i)], i);
  }

  const std::filesystem::path root_;
  const std::shared_ptr<Published> published_ = std::make_shared<Published>();
};

TEST_F(SavepointTest, StopsAndGoesOnUnderAnotherNameAndParallelism) {
  bool resumable = false;
  const Result<std::string> savepoint =
      RunAndStop(/*drain=*/false, "file://" + (root_ / "savepoints").string(), &resumable);
  ASSERT_TRUE(savepoint.ok()) << savepoint.status().ToString();
  EXPECT_TRUE(resumable);
  EXPECT_NE(savepoint->find("/savepoints/savepoint-012345-"), std::string::npos) << *savepoint;

  const int64_t count = NextNumber() + 3'000;
  JobSettings settings = Settings("second");
  settings.checkpoints.restore_from = "file://" + *savepoint;
  auto job = MakeJob(Graph({.count = count, .readers = 3}, 3), settings, &Clock::System(), nullptr);
  ASSERT_TRUE(job.ok());
  const Status status = (*job)->Run();
  ASSERT_TRUE(status.ok()) << status.ToString();
  ExpectComplete(count);
  EXPECT_TRUE(std::filesystem::exists(*savepoint));  // It belongs to nobody.
}

TEST_F(SavepointTest, TheCommandRunAgainGoesOnFromItsOwnCheckpoints) {
  bool resumable = false;
  const Result<std::string> savepoint = RunAndStop(false, root_ / "savepoints", &resumable);
  ASSERT_TRUE(savepoint.ok()) << savepoint.status().ToString();
  const int64_t begin = NextNumber();
  for (const bool crash : {true, false}) {
    JobSettings settings = Settings("second");
    settings.checkpoints.restore_from = *savepoint;
    const auto hook = [&](int, const Batch& batch) -> Status {
      return crash && testing::Numbers(batch).front() > begin + 4'000 ? Status::IoError("killed")
                                                                      : Status();
    };
    auto job = MakeJob(Graph({.count = begin + 8'000, .pause_ms = 1}, 2, hook), settings,
                       &Clock::System(), nullptr);
    ASSERT_TRUE(job.ok());
    EXPECT_EQ((*job)->Run().ok(), !crash);
    // Otherwise the second run would have nothing of its own to prefer.
    EXPECT_GT((*job)->metrics().Value(metric::kCheckpoint), crash ? 4 : 0);
  }
  ExpectComplete(begin + 8'000);
}

TEST_F(SavepointTest, DrainEndsTheInputAndKeepsOnlyTheSavepoint) {
  bool resumable = true;
  const Result<std::string> savepoint =
      RunAndStop(/*drain=*/true, root_ / "savepoints", &resumable);
  ASSERT_TRUE(savepoint.ok()) << savepoint.status().ToString();
  EXPECT_FALSE(resumable);
  EXPECT_FALSE(std::filesystem::exists(root_ / "first"));
  const int64_t count = NextNumber() + 500;
  JobSettings settings = Settings("second");
  settings.checkpoints.restore_from = *savepoint;
  auto job = MakeJob(Graph({.count = count}, 2), settings, &Clock::System(), nullptr);
  ASSERT_TRUE(job.ok());
  EXPECT_TRUE((*job)->Run().ok());
  ExpectComplete(count);
}

TEST_F(SavepointTest, AnUnwritablePlaceIsToldAndTheJobStaysResumable) {
  std::filesystem::create_directories(root_);
  std::FILE* const file = std::fopen((root_ / "plain").c_str(), "w");
  std::fclose(file);
  bool resumable = false;
  const Result<std::string> savepoint = RunAndStop(false, root_ / "plain" / "below", &resumable);
  ASSERT_FALSE(savepoint.ok());
  EXPECT_NE(savepoint.status().ToString().find("its last checkpoint is kept"), std::string::npos);
  EXPECT_TRUE(resumable);
}

}  // namespace
}  // namespace sluice::runtime
