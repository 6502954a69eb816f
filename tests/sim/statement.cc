// An INSERT in SQL under a seed: its tables lie on the failing disk, the plan is the real one.
//
// The oracle is the same statement on a disk that never fails, in one undisturbed life: afterwards
// the disturbed run must have left the same rows. Changes are compared by what they add up to, for
// how often a count was told on its way depends on the batches.
#include <map>

#include "common/text.h"
#include "connectors/all_connectors.h"
#include "engine/definition/definition.h"
#include "runtime/simulated_job.h"
#include "sql/binder/binder.h"
#include "sql/physical/scan_source.h"
#include "sql/rules/rules.h"
#include "sql/syntax/parser.h"
#include "subject.h"

namespace sluice::sim {
namespace {

using Counts = std::map<std::string, int64_t, std::less<>>;

struct Query {
  const char* columns;  // Of the sink.
  const char* select;
  bool changes;  // Its rows are taken back.
};

constexpr Query kQueries[] = {
    {"a BIGINT, b STRING", "SELECT id, UPPER(v) FROM orders WHERE MOD(k, 3) <> 1", false},
    {"a BIGINT, b STRING", "SELECT id, v FROM orders UNION ALL SELECT k + 1000000, name FROM names",
     false},
    {"a BIGINT, b STRING, c STRING",
     "SELECT o.id, o.v, n.name FROM orders AS o JOIN names AS n ON o.k = n.k", false},
    {"a BIGINT, b STRING", "SELECT o.id, n.name FROM orders AS o LEFT JOIN names AS n ON o.k = n.k",
     false},
    {"a BIGINT, b STRING", "SELECT id, v FROM orders WHERE k IN (SELECT k FROM names)", false},
    {"a BIGINT, b BIGINT, c BIGINT, d STRING, e STRING",
     "SELECT k, COUNT(*), SUM(id), MIN(v), MAX(v) FROM orders GROUP BY k", true},
    {"a BIGINT, b BIGINT",
     "SELECT n, COUNT(*) FROM (SELECT k, COUNT(*) AS n FROM orders GROUP BY k) GROUP BY n", true},
    {"a BIGINT, b DOUBLE",
     "SELECT k, AVG(CAST(id AS DOUBLE)) FROM orders GROUP BY k HAVING COUNT(*) > 3", true},
    {"a BIGINT", "SELECT DISTINCT MOD(k, 5) FROM orders", true},
    {"a BIGINT, b STRING", "SELECT id, v FROM orders ORDER BY id DESC LIMIT 7", true},
    {"a BIGINT", "SELECT k FROM orders INTERSECT SELECT k FROM names", true},
    {"a BIGINT", "SELECT k FROM orders EXCEPT SELECT k FROM names", true},
};

template <typename T>
T Pick(Random& random, std::initializer_list<T> values) {
  return *(values.begin() + random.Below(values.size()));
}

void ForEachScan(const sql::PlanPtr& plan, const std::function<void(sql::ScanNode*)>& visit) {
  if (sql::ScanNode* scan = plan->If<sql::ScanNode>()) visit(scan);
  for (const sql::PlanPtr& input : plan->inputs) ForEachScan(input, visit);
}

class StatementSubject final : public Subject {
 public:
  explicit StatementSubject(uint64_t seed) {
    Random random(seed);
    query_ = kQueries[random.Below(std::size(kQueries))];
    batch_ = random.OneIn(4);
    row_count_ = random.Between(0, random.OneIn(4) ? 20 : 300);
    file_count_ = random.Between(1, 6);
    key_count_ = Pick<int64_t>(random, {3, 20, 200});
    if (random.OneIn(3)) sink_options_ += ", 'sink.rolling-policy.file-size' = '200 b'";
    if (random.OneIn(3)) sink_options_ += ", 'auto-compaction' = 'true'";
    DrawSettings(random, &settings_);
    lives_ = DrawLives(random, &settings_);
  }

  const std::vector<Life>& lives() const override { return lives_; }
  const runtime::JobSettings& settings() const override { return settings_; }
  bool has_rows() const override { return !expected_.empty(); }

  std::string ToString() const override {
    std::string text = Insert() + "\n  " + (batch_ ? "batch, " : "streaming, ") +
                       std::to_string(row_count_) + " rows in " + std::to_string(file_count_) +
                       " files, " + std::to_string(key_count_) + " keys" + sink_options_;
    for (const Life& life : lives_) text += sim::ToString(life);
    return text;
  }

  Status Prepare(fs::FileSystem& disk) override {
    SLUICE_RETURN_NOT_OK(Define());
    SLUICE_RETURN_NOT_OK(WriteInputs(disk));
    return FindExpected();
  }

  Result<runtime::JobGraph> MakeGraph(const Life& life, fs::FileSystems* file_systems,
                                      const Clock* clock) override {
    SLUICE_ASSIGN_OR_RETURN(runtime::JobGraph graph, Plan(life.parallelism, file_systems, clock));
    if (!graph.vertices.empty()) graph.vertices.front().chain.push_back(SaboteurOf(life));
    return graph;
  }

  std::string CheckVisible(const fs::FaultyDisk& disk) const override {
    Counts counts;
    if (std::string problem = Count(disk, &counts); !problem.empty()) return problem;
    if (query_.changes) return {};  // Files appear in any order: on the way they need not add up.
    for (const auto& [row, count] : counts) {
      const auto wanted = expected_.find(row);
      if (wanted == expected_.end()) return "the row " + row + " should not be there";
      if (count > wanted->second) return "the row " + row + " is doubled";
    }
    return {};
  }

  std::string CheckEnd(const fs::FaultyDisk& disk, bool disk_was_well) const override {
    Counts counts;
    if (std::string problem = Count(disk, &counts); !problem.empty()) return problem;
    for (const auto& [row, count] : expected_) {
      if (counts[row] != count) {
        return "the row " + row + " is there " + std::to_string(counts[row]) +
               " times instead of " + std::to_string(count);
      }
    }
    for (const auto& [row, count] : counts) {
      if (count != 0 && !expected_.contains(row)) return "the row " + row + " should not be there";
    }
    for (const auto& [path, content] : disk.AllFiles(kTableRoot)) {
      // Open: after a power loss a raw file that was merged may stay (docs/status.md).
      const bool raw = path.find("/.uncompacted-") != std::string::npos;
      if (path.find("/.") != std::string::npos && !raw && disk_was_well) {
        return "left behind: " + path;
      }
    }
    for (const auto& [path, content] : disk.AllFiles(kStateFolder)) {
      if (path.ends_with("/_metadata")) return "a checkpoint is left behind: " + path;
    }
    return {};
  }

 private:
  std::string Insert() const { return std::string("INSERT INTO t ") + query_.select; }

  Status Define() {
    if (defined_) return {};
    defined_ = true;
    state_.configuration["execution.runtime-mode"] = batch_ ? "batch" : "streaming";
    state_.configuration["table.local-time-zone"] = "UTC";
    const std::string statements[] = {
        "CREATE TABLE orders (id BIGINT, k BIGINT, v STRING) WITH ('connector' = 'filesystem', "
        "'path' = '/data/orders', 'format' = 'csv')",
        "CREATE TABLE names (k BIGINT, name STRING) WITH ('connector' = 'filesystem', 'path' = "
        "'/data/names', 'format' = 'json')",
        "CREATE TABLE t (" + std::string(query_.columns) +
            ") WITH ('connector' = 'filesystem', 'path' = '" + kTableRoot + "', 'format' = '" +
            (query_.changes ? "debezium-json" : "csv") + "'" + sink_options_ + ")",
    };
    for (const std::string& text : statements) {
      SLUICE_ASSIGN_OR_RETURN(const sql::ParsedStatement parsed, sql::ParseStatement(text));
      SLUICE_RETURN_NOT_OK(engine::ExecuteDefinition(*parsed.statement, &state_).status());
    }
    return {};
  }

  Status WriteInputs(fs::FileSystem& disk) const {
    std::vector<std::string> orders(static_cast<size_t>(file_count_));
    std::string names;
    for (int64_t id = 0; id < row_count_; ++id) {
      const std::string key = std::to_string(id * 7919 % key_count_);
      orders[static_cast<size_t>(id % file_count_)] +=
          std::to_string(id) + "," + key + ",v" + std::to_string(id % 11) + "\n";
    }
    for (int64_t key = 0; key < key_count_; key += 2) {
      names += "{\"k\":" + std::to_string(key) + ",\"name\":\"n" + std::to_string(key) + "\"}\n";
    }
    SLUICE_RETURN_NOT_OK(disk.CreateDirectories("/data/orders"));
    SLUICE_RETURN_NOT_OK(disk.CreateDirectories("/data/names"));
    for (size_t i = 0; i < orders.size(); ++i) {
      SLUICE_RETURN_NOT_OK(disk.WriteWhole("/data/orders/f" + std::to_string(i), orders[i]));
    }
    return disk.WriteWhole("/data/names/f", names);
  }

  Result<runtime::JobGraph> Plan(int parallelism, fs::FileSystems* file_systems,
                                 const Clock* clock) const {
    SLUICE_ASSIGN_OR_RETURN(const sql::ParsedStatement parsed, sql::ParseStatement(Insert()));
    SLUICE_ASSIGN_OR_RETURN(const sql::BindContext bind, state_.MakeBindContext());
    SLUICE_ASSIGN_OR_RETURN(
        sql::InsertPlan insert,
        sql::Binder(bind).BindInsert(parsed.statement->As<sql::InsertStatement>()));
    sql::PhysicalContext context;
    SLUICE_ASSIGN_OR_RETURN(context.connector, state_.MakeConnectorContext());
    SLUICE_ASSIGN_OR_RETURN(context.eval, state_.MakeEvalContext());
    context.connector.file_systems = file_systems;
    context.connector.clock = clock;
    context.eval.clock = clock;
    context.parallelism = parallelism;
    SLUICE_ASSIGN_OR_RETURN(insert.query, sql::Optimize(insert.query, context.eval));
    sql::ShareScans({&insert.query});
    Status status;
    ForEachScan(insert.query, [&](sql::ScanNode* scan) {
      if (status.ok()) status = sql::PrepareScan(scan, context.connector, context.eval);
    });
    SLUICE_RETURN_NOT_OK(std::move(status));
    sql::JobBuilder builder(context);
    SLUICE_RETURN_NOT_OK(builder.AddInsert(insert));
    return builder.TakeGraph();
  }

  /// One undisturbed life on a disk of its own.
  Status FindExpected() {
    VirtualClock clock{1'700'000'000'000};
    fs::FaultyFileSystems files(1, &clock);
    SLUICE_RETURN_NOT_OK(WriteInputs(files.current()));
    SLUICE_ASSIGN_OR_RETURN(runtime::JobGraph graph, Plan(1, &files, &clock));
    runtime::JobSettings settings;
    settings.name = "expected";
    settings.job_id = Random(1).Uuid();
    settings.checkpoints.interval_ms = 1'000;
    const std::unique_ptr<fs::Disk> disk = files.disk().NewSession();
    runtime::SimulatedJob::Options options;
    options.disk = disk.get();
    options.store = runtime::MakeDiskCheckpointStore(kStateFolder, disk.get());
    SLUICE_ASSIGN_OR_RETURN(
        const auto job, runtime::SimulatedJob::Make(std::move(graph), std::move(settings), &clock,
                                                    std::move(options)));
    SLUICE_RETURN_NOT_OK(job->Run());
    std::string problem = Count(files.disk(), &expected_);
    if (!problem.empty()) return Status::Internal(std::move(problem));
    std::erase_if(expected_, [](const auto& entry) { return entry.second == 0; });
    return {};
  }

  /// Rows of all visible files, changes added up; says when a file is cut.
  std::string Count(const fs::FaultyDisk& disk, Counts* counts) const {
    for (const auto& [path, content] : disk.VisibleFiles(kTableRoot)) {
      if (content.empty() || content.back() != '\n') return "empty or cut file " + path;
      for (const std::string_view line : Split(content, '\n')) {
        if (line.empty()) continue;
        if (!query_.changes) {
          ++(*counts)[std::string(line)];
          continue;
        }
        const bool added = line.ends_with("\"op\":\"c\"}");
        if (!added && !line.ends_with("\"op\":\"d\"}")) return "line " + std::string(line);
        const size_t begin = line.find(added ? "\"after\":{" : "\"before\":{");
        if (begin == std::string_view::npos) return "line " + std::string(line);
        const size_t open = line.find('{', begin);
        const std::string row(line.substr(open, line.find('}', open) + 1 - open));
        (*counts)[row] += added ? 1 : -1;
      }
    }
    return {};
  }

  Query query_{};
  bool batch_ = false;
  int64_t row_count_ = 0;
  int64_t file_count_ = 1;
  int64_t key_count_ = 1;
  std::string sink_options_;
  runtime::JobSettings settings_;
  std::vector<Life> lives_;
  engine::SessionState state_;
  bool defined_ = false;
  Counts expected_;
};

}  // namespace

std::unique_ptr<Subject> MakeStatementSubject(uint64_t seed) {
  return std::make_unique<StatementSubject>(seed);
}

}  // namespace sluice::sim
