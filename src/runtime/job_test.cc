#include "runtime/job.h"

#include <filesystem>

#include <gtest/gtest.h>

#include "fs/faulty/faulty_disk.h"
#include "runtime/job_test_support.h"
#include "runtime/simulated_job.h"

namespace sluice::runtime {
namespace {

using testing::MeddlerSpec;
using testing::Numbers;
using testing::NumbersOptions;
using testing::Published;
using testing::SinkSpec;
using testing::SourceVertex;

struct Listener final : JobListener {
  void OnRestored(CheckpointId id, const std::string&) override { restored.push_back(id); }
  void OnCheckpoint(CheckpointId id, int64_t) override { checkpoints.push_back(id); }
  void OnRestart(const Status&, int64_t delay_ms, int) override { delays.push_back(delay_ms); }
  std::vector<CheckpointId> restored;
  std::vector<CheckpointId> checkpoints;
  std::vector<int64_t> delays;
};

// Empty when exactly 0 … count - 1 were published, once each; else what differs.
std::string Differences(Published& published, int64_t count) {
  const std::vector<int64_t> numbers = published.Sorted();
  std::string text;
  int64_t next = 0;
  for (const int64_t number : numbers) {
    while (next < number && text.size() < 200) text += " lost " + std::to_string(next++);
    if (number < next && text.size() < 200) text += " twice " + std::to_string(number);
    next = number + 1;
  }
  if (next != count) text += " ends at " + std::to_string(next);
  return text;
}

// source(p) -> meddler -> exchange -> sink(p)
JobGraph Pipeline(NumbersOptions source, int parallelism, Exchange exchange,
                  const std::shared_ptr<Published>& published, testing::Meddler::Hook hook = {},
                  std::shared_ptr<int> opened = nullptr) {
  JobGraph graph;
  graph.vertices.push_back(SourceVertex(source, parallelism, std::move(opened)));
  if (hook) graph.vertices[0].chain.push_back(MeddlerSpec(std::move(hook)));
  Vertex sink;
  sink.name = "sink";
  sink.parallelism = exchange == Exchange::kGather ? 1 : parallelism;
  sink.chain.push_back(SinkSpec(published));
  graph.vertices.push_back(std::move(sink));
  graph.edges.push_back({.from = 0, .to = 1, .exchange = exchange, .key_columns = {0}});
  return graph;
}

JobSettings Settings(std::optional<int64_t> interval_ms = std::nullopt) {
  JobSettings settings;
  settings.job_id = "job";
  settings.checkpoints.interval_ms = interval_ms;
  return settings;
}

Status RunSimulated(JobGraph graph, JobSettings settings, uint64_t seed,
                    Listener* listener = nullptr, Counts* counts = nullptr) {
  VirtualClock clock(1'000'000);
  SimulatedJob::Options options;
  options.seed = seed;
  options.listener = listener;
  auto job = SimulatedJob::Make(std::move(graph), std::move(settings), &clock, std::move(options));
  if (!job.ok()) return job.status();
  Status status = (*job)->Run();
  if (counts != nullptr) *counts = (*job)->metrics().Snapshot();
  return status;
}

struct Shape {
  int readers;
  int parallelism;
  Exchange exchange;
};

const Shape kShapes[] = {{1, 1, Exchange::kForward},   {1, 3, Exchange::kForward},
                         {2, 2, Exchange::kRebalance}, {2, 4, Exchange::kHash},
                         {4, 4, Exchange::kGather},    {1, 2, Exchange::kGather}};

TEST(JobTest, PublishesABoundedInputOnceInEveryShape) {
  for (const Shape& shape : kShapes) {
    for (uint64_t seed = 1; seed <= 5; ++seed) {
      const auto published = std::make_shared<Published>();
      NumbersOptions source{.count = 501, .readers = shape.readers};
      const Status status = RunSimulated(
          Pipeline(source, shape.parallelism, shape.exchange, published), Settings(5), seed);
      ASSERT_TRUE(status.ok()) << status.ToString();
      EXPECT_EQ(Differences(*published, 501), "");
    }
  }
}

TEST(JobTest, RunsOnThreads) {
  for (const Shape& shape : kShapes) {
    for (const int workers : {1, 3}) {
      const auto published = std::make_shared<Published>();
      JobSettings settings = Settings(1);
      settings.worker_threads = workers;
      settings.channel_bytes = 4096;
      NumbersOptions source{.count = 20'000, .readers = shape.readers, .batch_rows = 50};
      auto job = MakeJob(Pipeline(source, shape.parallelism, shape.exchange, published), settings,
                         &Clock::System(), nullptr);
      ASSERT_TRUE(job.ok());
      const Status status = (*job)->Run();
      ASSERT_TRUE(status.ok()) << status.ToString();
      EXPECT_EQ(Differences(*published, 20'000), "");
      EXPECT_FALSE((*job)->resumable());
    }
  }
}

TEST(JobTest, EndsOnlyAfterTheFinalCheckpointIsPublishedWithoutAnInterval) {
  const auto published = std::make_shared<Published>();
  Listener listener;
  ASSERT_TRUE(RunSimulated(Pipeline({.count = 10}, 1, Exchange::kForward, published), Settings(), 1,
                           &listener)
                  .ok());
  EXPECT_EQ(Differences(*published, 10), "");
  EXPECT_EQ(listener.checkpoints, std::vector<CheckpointId>{1});
}

TEST(JobTest, RestartsFromTheNewestCheckpointAndLosesNothing) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    const auto published = std::make_shared<Published>();
    const auto failures = std::make_shared<int>(0);
    auto hook = [failures](int, const Batch& batch) -> Status {
      const std::vector<int64_t> numbers = Numbers(batch);
      if (*failures < 3 && numbers.front() > 100 + 100 * *failures) {
        ++*failures;
        return Status::IoError("the disk is full");
      }
      return {};
    };
    Listener listener;
    Counts counts;
    NumbersOptions source{.count = 600, .readers = 2, .pause_ms = 3};
    const Status status = RunSimulated(
        Pipeline(source, 2, seed % 2 == 0 ? Exchange::kHash : Exchange::kForward, published, hook),
        Settings(20), seed, &listener, &counts);
    ASSERT_TRUE(status.ok()) << status.ToString();
    EXPECT_EQ(Differences(*published, 600), "") << "seed " << seed;
    EXPECT_EQ(listener.delays.size(), 3u);
    // What failed attempts read and wrote beyond the checkpoint does not count.
    EXPECT_EQ(counts["rows_in"], 600) << "seed " << seed;
    EXPECT_EQ(counts["rows_out"], 600) << "seed " << seed;
  }
}

TEST(JobTest, DoesNotRestartAfterAnErrorOfTheUser) {
  Listener listener;
  auto hook = [](int, const Batch&) { return Status::DataError("row 7 is no number"); };
  const Status status =
      RunSimulated(Pipeline({}, 1, Exchange::kForward, std::make_shared<Published>(), hook),
                   Settings(20), 1, &listener);
  EXPECT_EQ(status.ToString(), "row 7 is no number");
  EXPECT_TRUE(listener.delays.empty());
}

TEST(JobTest, NamesTheOperatorThatFailed) {
  JobSettings settings = Settings();
  settings.restart.kind = RestartKind::kNone;
  auto hook = [](int, const Batch&) { return Status::IoError("no space"); };
  const Status status = RunSimulated(
      Pipeline({}, 1, Exchange::kForward, std::make_shared<Published>(), hook), settings, 1);
  EXPECT_EQ(status.ToString(), "In Meddler, subtask 1 of 1:\nno space");
}

TEST(JobTest, GivesUpAfterTheAttemptsOfTheStrategy) {
  JobSettings settings = Settings();
  settings.restart.kind = RestartKind::kFixedDelay;
  settings.restart.attempts = 2;
  settings.restart.delay_ms = 700;
  Listener listener;
  const Status status =
      RunSimulated(Pipeline({.open_failures = 9}, 1, Exchange::kForward,
                            std::make_shared<Published>(), {}, std::make_shared<int>(0)),
                   settings, 1, &listener);
  EXPECT_EQ(status.code(), StatusCode::kUnavailable);
  EXPECT_EQ(listener.delays, (std::vector<int64_t>{700, 700}));
}

TEST(JobTest, StopPublishesAndKeepsTheCheckpointForAnotherParallelism) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    fs::FaultyDisk disk(seed);
    const auto published = std::make_shared<Published>();
    VirtualClock clock(1'000'000);
    const int parallelism[] = {1, 3, 2};
    for (int run = 0; run < 3; ++run) {
      auto session = disk.NewSession();
      SimulatedJob::Options options;
      options.seed = seed + static_cast<uint64_t>(run);
      options.store = MakeDiskCheckpointStore("/state/job", session.get());
      Listener listener;
      options.listener = &listener;
      const int64_t count = run == 2 ? 6'000 : -1;
      NumbersOptions source{.count = count, .readers = run == 1 ? 4 : 1, .pause_ms = 1};
      if (run == 1) source.readers = 3;
      auto made = SimulatedJob::Make(Pipeline(source, parallelism[run], Exchange::kHash, published),
                                     Settings(), &clock, std::move(options));
      ASSERT_TRUE(made.ok());
      SimulatedJob& job = **made;
      if (run < 2) {
        for (int i = 0; i < 300; ++i) ASSERT_TRUE(job.RunOne());
        job.Stop();
      }
      const Status status = job.Run();
      ASSERT_TRUE(status.ok()) << status.ToString();
      EXPECT_EQ(job.stopped(), run < 2);
      EXPECT_EQ(listener.restored.size(), run == 0 ? 0u : 1u);
    }
    EXPECT_EQ(Differences(*published, 6'000), "") << "seed " << seed;
    EXPECT_TRUE(disk.AllFiles("/state/job").empty());
  }
}

TEST(JobTest, CancelEndsAtOnce) {
  VirtualClock clock(0);
  auto made =
      SimulatedJob::Make(Pipeline({.count = -1}, 2, Exchange::kHash, std::make_shared<Published>()),
                         Settings(10), &clock, {});
  ASSERT_TRUE(made.ok());
  for (int i = 0; i < 100; ++i) ASSERT_TRUE((*made)->RunOne());
  (*made)->Cancel();
  EXPECT_EQ((*made)->Run().code(), StatusCode::kCancelled);
}

TEST(JobTest, CancelAndStopFromAnotherThread) {
  for (const bool stop : {false, true}) {
    const auto published = std::make_shared<Published>();
    JobSettings settings = Settings(2);
    settings.worker_threads = 2;
    auto job = MakeJob(Pipeline({.count = -1}, 2, Exchange::kHash, published), settings,
                       &Clock::System(), nullptr);
    ASSERT_TRUE(job.ok());
    std::thread other([&] {
      while ((*job)->metrics().Value(metric::kCheckpoint) < 3) std::this_thread::yield();
      stop ? (*job)->Stop() : (*job)->Cancel();
    });
    const Status status = (*job)->Run();
    other.join();
    EXPECT_EQ(status.code(), stop ? StatusCode::kOk : StatusCode::kCancelled);
    const std::vector<int64_t> numbers = published->Sorted();
    EXPECT_EQ(std::set<int64_t>(numbers.begin(), numbers.end()).size(), numbers.size());
  }
}

TEST(JobTest, ResumesThroughTheRealDiskAndRemovesItsFolder) {
  const std::string directory =
      std::filesystem::temp_directory_path() / ("sluice_job_test_" + std::to_string(::getpid()));
  const auto published = std::make_shared<Published>();
  for (int run = 0; run < 2; ++run) {
    JobSettings settings = Settings(5);
    settings.checkpoints.durable_directory = directory;
    settings.restart.kind = RestartKind::kNone;
    Job* running = nullptr;
    auto hook = [run, &running](int, const Batch&) -> Status {
      const bool kill = run == 0 && running->metrics().Value(metric::kCheckpoint) > 0;
      return kill ? Status::IoError("killed") : Status();
    };
    Listener listener;
    auto job = MakeJob(
        Pipeline({.count = 400'000, .batch_rows = 20}, 2, Exchange::kForward, published, hook),
        settings, &Clock::System(), &listener);
    ASSERT_TRUE(job.ok());
    running = job->get();
    EXPECT_EQ((*job)->Run().ok(), run == 1);
    EXPECT_EQ(listener.restored.size(), run == 1 ? 1u : 0u);
  }
  EXPECT_EQ(Differences(*published, 400'000), "");
  EXPECT_FALSE(std::filesystem::exists(directory));
}

TEST(JobTest, TwoJobsCannotUseOneFolder) {
  const std::string directory =
      std::filesystem::temp_directory_path() / ("sluice_lock_test_" + std::to_string(::getpid()));
  const auto run_other = [&directory] {
    JobSettings settings = Settings();
    settings.checkpoints.durable_directory = directory;
    auto job = MakeJob(Pipeline({.count = 4}, 1, Exchange::kForward, std::make_shared<Published>()),
                       settings, &Clock::System(), nullptr);
    return (*job)->Run();
  };
  JobSettings settings = Settings();
  settings.checkpoints.durable_directory = directory;
  Status other;
  auto hook = [&](int, const Batch&) {
    if (other.ok()) other = run_other();
    return Status();
  };
  auto job =
      MakeJob(Pipeline({.count = 4}, 1, Exchange::kForward, std::make_shared<Published>(), hook),
              settings, &Clock::System(), nullptr);
  EXPECT_TRUE((*job)->Run().ok());
  EXPECT_EQ(other.code(), StatusCode::kAlreadyExists);
  EXPECT_NE(other.message().find("process " + std::to_string(::getpid())), std::string::npos);
}

TEST(JobTest, RefusesStateThatNobodyClaims) {
  fs::FaultyDisk disk(1);
  auto session = disk.NewSession();
  VirtualClock clock(0);
  auto store = MakeDiskCheckpointStore("/s", session.get());
  auto data = std::make_shared<CheckpointData>();
  data->id = 4;
  data->operators["sink:gone"][0] = {{"f", "x"}};
  ASSERT_TRUE(store->Write(data).ok());
  for (const bool allow : {false, true}) {
    JobSettings settings = Settings();
    settings.checkpoints.allow_unclaimed_state = allow;
    SimulatedJob::Options options;
    options.store = MakeDiskCheckpointStore("/s", session.get());
    auto job = SimulatedJob::Make(
        Pipeline({.count = 5}, 1, Exchange::kForward, std::make_shared<Published>()), settings,
        &clock, std::move(options));
    const Status status = (*job)->Run();
    EXPECT_EQ(status.ok(), allow);
    EXPECT_EQ(status.message().find("sink:gone") == std::string::npos, allow);
  }
}

}  // namespace
}  // namespace sluice::runtime
