#include "scenario.h"

#include <algorithm>

#include "common/crash_point.h"
#include "connectors/filesystem/sink/file_table_sink.h"
#include "formats/csv/csv_format.h"
#include "formats/json/json_format.h"
#include "formats/parquet/parquet_format.h"

namespace sluice::sim {
namespace {

using runtime::Exchange;

template <typename T>
T Pick(Random& random, std::initializer_list<T> values) {
  return *(values.begin() + random.Below(values.size()));
}

// Passes rows on and fails when its life says so.
class Saboteur final : public runtime::Operator {
 public:
  Saboteur(int64_t every_batches, std::shared_ptr<int> failures_left)
      : every_batches_(every_batches), failures_left_(std::move(failures_left)) {}
  Status Process(Batch batch, runtime::Output& out) override {
    if (every_batches_ > 0 && ++batches_ % every_batches_ == 0 && *failures_left_ > 0) {
      --*failures_left_;
      return Status::Unavailable("the saboteur struck");
    }
    return out.Emit(std::move(batch));
  }

 private:
  const int64_t every_batches_;
  const std::shared_ptr<int> failures_left_;
  int64_t batches_ = 0;
};

void DrawTable(Random& random, Scenario* scenario) {
  scenario->form = random.OneIn(2) ? Scenario::Form::kJson : Scenario::Form::kCsv;
  if (random.OneIn(6)) scenario->form = Scenario::Form::kParquet;
  scenario->partitioned = !random.OneIn(3);
  OptionMap& options = scenario->table_options;
  options = {{"connector", "filesystem"}, {"path", kTableRoot}, {"format", "csv"}};
  if (scenario->form == Scenario::Form::kJson) options.insert_or_assign("format", "json");
  if (scenario->form == Scenario::Form::kParquet) options.insert_or_assign("format", "parquet");
  options["sink.rolling-policy.file-size"] = Pick(random, {"200 b", "2 kb", "128 mb"});
  options["sink.rolling-policy.rollover-interval"] = Pick(random, {"50 ms", "1 s", "30 min"});
  options["sink.rolling-policy.check-interval"] = Pick(random, {"20 ms", "300 ms", "1 min"});
  if (random.OneIn(4)) options["sink.rolling-policy.inactivity-interval"] = "100 ms";
  if (random.OneIn(3)) {
    options["sink.rolling-policy.on-checkpoint"] = random.OneIn(2) ? "true" : "false";
  }
  const bool compacts = random.OneIn(3);
  if (compacts) {
    options["auto-compaction"] = "true";
    options["compaction.file-size"] = Pick(random, {"100 b", "2 kb", "128 mb"});
    options["compaction.parallelism"] = Pick(random, {"1", "3"});
    options.erase("sink.rolling-policy.on-checkpoint");
  }
  if (!scenario->partitioned) return;
  if (random.OneIn(4)) options["sink.shuffle-by-partition.enable"] = "true";
  if (random.OneIn(4)) return;
  options["sink.partition-commit.policy.kind"] = "success-file";
  if (compacts && random.OneIn(2)) {
    options["compaction.scope"] = "partition";
    if (random.OneIn(3)) options["sink.rolling-policy.on-checkpoint"] = "false";
  }
  scenario->event_time_commit = !scenario->source.dynamic_splits && !random.OneIn(3);
  if (scenario->event_time_commit) {
    options["sink.partition-commit.trigger"] = "partition-time";
    options["sink.partition-commit.delay"] = "1 h";
    options["partition.time-extractor.timestamp-pattern"] = "$dt $hour:00:00";
  } else {
    options["sink.partition-commit.delay"] = Pick(random, {"0 s", "200 ms"});
  }
}

void DrawShape(Random& random, Life* life) {
  life->seed = random.Next();
  life->parallelism = static_cast<int>(random.Between(1, 4));
  life->readers = static_cast<int>(random.Between(1, life->parallelism));
  life->exchange = Pick(random, {Exchange::kForward, Exchange::kForward, Exchange::kRebalance,
                                 Exchange::kHash, Exchange::kGather});
  life->executor.io_delay_ms_max = Pick<int64_t>(random, {0, 2, 20, 100});
  life->executor.slow_io_one_in = Pick<uint64_t>(random, {0, 0, 50});
  life->executor.slow_io_ms = Pick<int64_t>(random, {500, 20'000});
}

void DrawTrouble(Random& random, Life* life) {
  life->ending =
      Pick(random, {Ending::kKill, Ending::kPowerLoss, Ending::kPowerLoss, Ending::kStop});
  life->ends_at_step = random.Between(1, random.OneIn(3) ? 200 : 3'000);
  if (life->ending != Ending::kStop && random.OneIn(2)) {
    std::vector<std::string> all = AllCrashPoints();
    std::erase_if(all, [](const std::string& point) { return point.starts_with("store."); });
    life->crash_point = all[random.Below(all.size())];
    life->crash_visit = random.Between(1, random.OneIn(2) ? 3 : 30);
  }
  if (random.OneIn(3)) {
    life->faults = {.write = random.NextDouble() * 0.01,
                    .sync = random.NextDouble() * 0.02,
                    .rename = random.NextDouble() * 0.02,
                    .read = random.NextDouble() * 0.01};
  }
  if (random.OneIn(3)) {
    life->fail_every_batches = random.Between(2, 30);
    life->failures = static_cast<int>(random.Between(1, 4));
  }
}

std::string_view EndingText(Ending ending) {
  switch (ending) {
    case Ending::kKill:
      return "kill";
    case Ending::kPowerLoss:
      return "power loss";
    case Ending::kStop:
      return "stop";
    case Ending::kNone:
      return "end";
  }
  return "?";
}

}  // namespace

Scenario Scenario::Draw(uint64_t seed) {
  Random random(seed);
  Scenario scenario;
  scenario.source.row_count = random.Between(0, random.OneIn(4) ? 40 : 600);
  scenario.source.splits = static_cast<int>(random.Between(1, 8));
  scenario.source.dynamic_splits = random.OneIn(3);
  scenario.source.batch_rows = Pick<int64_t>(random, {1, 7, 40});
  scenario.source.pause_ms = Pick<int64_t>(random, {0, 1, 10});
  scenario.source.row_step_ms = Pick<int64_t>(random, {30'000, 120'000, 600'000});
  DrawTable(random, &scenario);
  // Of its own, so that seeds keep what else they mean.
  Random sorting(seed ^ 0x50275);
  if (sorting.OneIn(3)) scenario.table_options["sink.sort-by-partition"] = "true";
  DrawSettings(random, &scenario.settings);
  scenario.lives = DrawLives(random, &scenario.settings);
  return scenario;
}

void DrawSettings(Random& random, runtime::JobSettings* settings) {
  settings->name = "sim";
  runtime::CheckpointSettings& checkpoints = settings->checkpoints;
  checkpoints.interval_ms = Pick<int64_t>(random, {10, 50, 400});
  checkpoints.min_pause_ms = Pick<int64_t>(random, {0, 0, 30});
  checkpoints.timeout_ms = Pick<int64_t>(random, {60, 2'000, 600'000});
  checkpoints.tolerable_failures = Pick<int64_t>(random, {0, 3, 1'000'000});
  checkpoints.retained = random.Between(1, 3);
  settings->channel_bytes = Pick<int64_t>(random, {1, 10'000, 4 << 20});
  settings->restart.initial_backoff_ms = 10;
  settings->restart.max_backoff_ms = 1'000;
}

std::vector<Life> DrawLives(Random& random, runtime::JobSettings* settings) {
  std::vector<Life> lives;
  const int64_t troubles = random.Between(0, 4);
  for (int64_t i = 0; i <= troubles; ++i) {
    Life& life = lives.emplace_back();
    DrawShape(random, &life);
    if (i < troubles) DrawTrouble(random, &life);
  }
  // Where nothing ever completes in time the last life would never end.
  if (settings->checkpoints.timeout_ms < 1'000) {
    settings->checkpoints.tolerable_failures = 1'000'000;
    lives.back().executor = {.io_delay_ms_max = 1};
  }
  return lives;
}

std::string ToString(const Life& life) {
  std::string text = "\n  life: " + std::string(EndingText(life.ending)) + " at ";
  text += life.crash_point.empty() ? "step " + std::to_string(life.ends_at_step)
                                   : life.crash_point + ":" + std::to_string(life.crash_visit);
  text += ", " + std::to_string(life.readers) + " readers, parallelism " +
          std::to_string(life.parallelism) + ", exchange " +
          std::to_string(static_cast<int>(life.exchange)) + ", failures " +
          std::to_string(life.failures) + ", sync faults " + std::to_string(life.faults.sync);
  return text;
}

runtime::OperatorSpec SaboteurOf(const Life& life) {
  const auto failures_left = std::make_shared<int>(life.failures);
  return {"", "Saboteur",
          [every = life.fail_every_batches,
           failures_left](int) -> Result<std::unique_ptr<runtime::Operator>> {
            return std::make_unique<Saboteur>(every, failures_left);
          }};
}

std::string Scenario::ToString() const {
  std::string text = std::to_string(source.row_count) + " rows, " + std::to_string(source.splits) +
                     (source.dynamic_splits ? " dynamic" : " fixed") + " splits, interval " +
                     std::to_string(*settings.checkpoints.interval_ms) + " ms, timeout " +
                     std::to_string(settings.checkpoints.timeout_ms) + " ms";
  for (const auto& [key, value] : table_options) text += "\n  " + key + " = " + value;
  for (const Life& life : lives) text += sim::ToString(life);
  return text;
}

Result<runtime::JobGraph> MakeGraph(const Scenario& scenario, const Life& life,
                                    fs::FileSystems* file_systems, const Clock* clock) {
  connectors::TableInfo table;
  table.identifier = "default_catalog.default_database.t";
  table.physical = RowSchema();
  if (scenario.partitioned) table.partition_keys = {"dt", "hour"};
  table.options = scenario.table_options;
  connectors::ConnectorContext context;
  context.file_systems = file_systems;
  context.clock = clock;
  SLUICE_ASSIGN_OR_RETURN(const auto sink,
                          connectors::filesystem::MakeFileTableSink(
                              table, context,
                              scenario.form == Scenario::Form::kJson      ? formats::kJsonFormat
                              : scenario.form == Scenario::Form::kParquet ? formats::kParquetFormat
                                                                          : formats::kCsvFormat));
  SLUICE_ASSIGN_OR_RETURN(connectors::SinkPlan plan,
                          sink->MakePlan({.input_bounded = true,
                                          .default_parallelism = life.parallelism,
                                          .operator_id = "sink:t"}));
  runtime::JobGraph graph;
  SourceShape shape = scenario.source;
  shape.readers = life.readers;
  runtime::Vertex source;
  source.name = "source";
  source.parallelism = life.parallelism;
  source.source_id = "source:t";
  source.make_source = [shape]() -> Result<std::shared_ptr<runtime::Source>> {
    return MakeSimSource(shape);
  };
  source.chain.push_back(SaboteurOf(life));
  graph.vertices.push_back(std::move(source));
  for (size_t i = 0; i < plan.stages.size(); ++i) {
    connectors::SinkPlan::Stage& stage = plan.stages[i];
    const int from = static_cast<int>(graph.vertices.size()) - 1;
    Exchange exchange = stage.exchange;
    if (i == 0 && exchange == Exchange::kForward) exchange = life.exchange;
    runtime::Vertex vertex;
    vertex.name = stage.operator_spec.name;
    vertex.parallelism = exchange == Exchange::kGather ? 1 : life.parallelism;
    vertex.chain.push_back(std::move(stage.operator_spec));
    graph.vertices.push_back(std::move(vertex));
    std::vector<int> keys = stage.key_columns.empty() ? std::vector<int>{0} : stage.key_columns;
    graph.edges.push_back(
        {.from = from, .to = from + 1, .exchange = exchange, .key_columns = std::move(keys)});
  }
  return graph;
}

}  // namespace sluice::sim
