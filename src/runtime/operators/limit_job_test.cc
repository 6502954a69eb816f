#include <gtest/gtest.h>

#include "runtime/job.h"
#include "runtime/job_test_support.h"
#include "runtime/operators/limit.h"
#include "runtime/operators/result_queue.h"
#include "runtime/simulated_job.h"

namespace sluice::runtime {
namespace {

JobGraph LimitedQuery(int parallelism, int readers, int64_t rows, Operator* (*make_sink)(void*),
                      void* sink_context) {
  JobGraph graph;
  graph.vertices.push_back(
      testing::SourceVertex({.count = -1, .readers = readers, .batch_rows = 7}, parallelism));
  Vertex end;
  end.name = "limit";
  end.chain.push_back({"limit", "Limit", [rows](int) -> Result<std::unique_ptr<Operator>> {
                         return std::make_unique<LimitOperator>(3, rows);
                       }});
  end.chain.push_back(
      {"", "Sink", [make_sink, sink_context](int) -> Result<std::unique_ptr<Operator>> {
         return std::unique_ptr<Operator>(make_sink(sink_context));
       }});
  graph.vertices.push_back(std::move(end));
  graph.edges.push_back({.from = 0, .to = 1, .exchange = Exchange::kGather});
  return graph;
}

class Counter final : public Operator {
 public:
  explicit Counter(int64_t* rows) : rows_(rows) {}
  Status Process(Batch batch, Output&) override {
    *rows_ += batch.row_count();
    return {};
  }

 private:
  int64_t* rows_;
};

TEST(LimitJobTest, EndsAnUnboundedSource) {
  for (const auto& [parallelism, readers] : {std::pair{1, 1}, {3, 2}, {4, 4}}) {
    for (uint64_t seed = 1; seed <= 10; ++seed) {
      int64_t rows = 0;
      VirtualClock clock(0);
      JobSettings settings;
      settings.checkpoints.interval_ms = 5;
      SimulatedJob::Options options;
      options.seed = seed;
      auto job = SimulatedJob::Make(LimitedQuery(
                                        parallelism, readers, 25,
                                        [](void* context) -> Operator* {
                                          return new Counter(static_cast<int64_t*>(context));
                                        },
                                        &rows),
                                    settings, &clock, std::move(options));
      ASSERT_TRUE(job.ok());
      const Status status = (*job)->Run(200'000);
      ASSERT_TRUE(status.ok()) << status.ToString();
      EXPECT_EQ(rows, 25);
    }
  }
}

TEST(LimitJobTest, ASlowClientHoldsTheSourceBack) {
  const auto queue = std::make_shared<ResultQueue>(2);
  JobSettings settings;
  settings.worker_threads = 2;
  settings.channel_bytes = 1;
  auto made = MakeJob(
      LimitedQuery(
          2, 2, 10'000,
          [](void* context) -> Operator* {
            return new CollectOperator(*static_cast<std::shared_ptr<ResultQueue>*>(context));
          },
          const_cast<std::shared_ptr<ResultQueue>*>(&queue)),
      settings, &Clock::System(), nullptr);
  ASSERT_TRUE(made.ok());
  std::thread runner([&] { queue->Close((*made)->Run()); });
  int64_t rows = 0;
  while (true) {
    const auto batch = queue->Pop();
    ASSERT_TRUE(batch.ok()) << batch.status().ToString();
    if (!batch->has_value()) break;
    rows += (**batch).row_count();
  }
  runner.join();
  EXPECT_EQ(rows, 10'000);
}

}  // namespace
}  // namespace sluice::runtime
