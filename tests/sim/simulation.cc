#include "simulation.h"

#include <cstdio>
#include <cstdlib>

#include "common/crash_point.h"
#include "oracle.h"
#include "runtime/simulated_job.h"
#include "subject.h"

namespace sluice::sim {
namespace {

// Readers look at the directory now and then, at any instant.
constexpr int64_t kLookEverySteps = 97;
constexpr int64_t kMostSteps = 3'000'000;
constexpr int64_t kMostTroubledSteps = 50'000;

// Cuts the power when the life's crash point is reached: what the code does from there on has no
// effect.
struct CrashTrap {
  const Life* life;
  fs::FaultyDisk* disk;
  int64_t visits = 0;
  bool sprung = false;

  static void Reach(std::string_view name, void* context) {
    CrashTrap& trap = *static_cast<CrashTrap*>(context);
    if (trap.sprung || name != trap.life->crash_point) return;
    if (++trap.visits < trap.life->crash_visit) return;
    trap.sprung = true;
    trap.disk->CutPowerAfter(0);
  }
};

struct Counter final : runtime::JobListener {
  void OnCheckpoint(runtime::CheckpointId, int64_t) override { ++checkpoints; }
  void OnRestart(const Status& cause, int64_t, int) override {
    ++restarts;
    if (verbose) std::fprintf(stderr, "    restart: %s\n", cause.ToString().c_str());
  }
  bool verbose = false;
  int64_t checkpoints = 0;
  int64_t restarts = 0;
};

class ScenarioSubject final : public Subject {
 public:
  explicit ScenarioSubject(uint64_t seed) : scenario_(Scenario::Draw(seed)) {}
  const std::vector<Life>& lives() const override { return scenario_.lives; }
  const runtime::JobSettings& settings() const override { return scenario_.settings; }
  std::string ToString() const override { return scenario_.ToString(); }
  bool has_rows() const override { return scenario_.source.row_count > 0; }
  Status Prepare(fs::FileSystem&) override { return {}; }
  Result<runtime::JobGraph> MakeGraph(const Life& life, fs::FileSystems* file_systems,
                                      const Clock* clock) override {
    return sim::MakeGraph(scenario_, life, file_systems, clock);
  }
  std::string CheckVisible(const fs::FaultyDisk& disk) const override {
    return sim::CheckVisible(scenario_, disk);
  }
  std::string CheckEnd(const fs::FaultyDisk& disk, bool disk_was_well) const override {
    return sim::CheckEnd(scenario_, disk, disk_was_well);
  }

 private:
  const Scenario scenario_;
};

class Simulation {
 public:
  Simulation(uint64_t seed, bool verbose, std::unique_ptr<Subject> subject)
      : verbose_(verbose),
        subject_(std::move(subject)),
        random_(seed + 1),
        files_(random_.Next(), &clock_) {
    counter_.verbose = verbose;
    // SIM_TRACE=part shows every disk operation on paths that hold the text.
    if (const char* text = std::getenv("SIM_TRACE"); verbose && text != nullptr) {
      files_.disk().SetOperationHook(
          [trace = std::string(text)](std::string_view operation, const std::string& path) {
            if (path.find(trace) == std::string::npos) return;
            std::fprintf(stderr, "    %.*s %s\n", static_cast<int>(operation.size()),
                         operation.data(), path.c_str());
          });
    }
  }

  Outcome Run() {
    if (verbose_) std::fprintf(stderr, "%s\n", subject_->ToString().c_str());
    if (const Status ready = subject_->Prepare(files_.current()); !ready.ok()) {
      Note("preparing: " + ready.ToString());
    }
    for (size_t i = 0; i < subject_->lives().size() && outcome_.problem.empty(); ++i) {
      ended_ = false;
      RunLife(subject_->lives()[i]);
      if (verbose_) {
        std::fprintf(stderr, "  life %zu: step %lld, %lld checkpoints, %s\n", i + 1,
                     static_cast<long long>(outcome_.steps),
                     static_cast<long long>(counter_.checkpoints),
                     outcome_.problem.empty() ? "well" : outcome_.problem.c_str());
      }
      if (ended_) break;  // All is published: another life would begin anew.
    }
    if (outcome_.problem.empty())
      outcome_.problem = subject_->CheckEnd(files_.disk(), disk_was_well_);
    outcome_.scenario = subject_->ToString();
    outcome_.checkpoints = counter_.checkpoints;
    outcome_.restarts = counter_.restarts;
    return outcome_;
  }

 private:
  void RunLife(const Life& life) {
    CrashTrap trap{&life, &files_.disk()};
    SetCrashHook(&CrashTrap::Reach, &trap);
    files_.disk().SetFaultRates(life.faults);
    disk_was_well_ = life.faults.write + life.faults.sync + life.faults.rename == 0;
    {
      const std::unique_ptr<fs::Disk> state_disk = files_.disk().NewSession();
      const auto job = Start(life, state_disk.get());
      if (job != nullptr) Drive(life, *job, trap);
    }
    SetCrashHook(nullptr, nullptr);
    files_.disk().SetFaultRates({});
    files_.disk().CutPowerAfter(-1);
    if (ended_) return;
    // Killed between the removal of the last checkpoint and the exit: nobody can tell that from a
    // normal end.
    if (subject_->has_rows() && subject_->CheckEnd(files_.disk(), true).empty()) {
      ended_ = true;
      return;
    }
    ++outcome_.crashes;
    life.ending == Ending::kPowerLoss ? files_.Crash() : files_.Kill();
    if (outcome_.problem.empty()) outcome_.problem = subject_->CheckVisible(files_.disk());
  }

  std::unique_ptr<runtime::SimulatedJob> Start(const Life& life, fs::Disk* state_disk) {
    Result<runtime::JobGraph> graph = subject_->MakeGraph(life, &files_, &clock_);
    if (!graph.ok()) {
      // Planning looks at the disk too. The process says so and ends; the next life goes on.
      if (life.ending != Ending::kNone && graph.status().retriable()) return nullptr;
      Note("planning: " + graph.status().ToString());
      return nullptr;
    }
    runtime::JobSettings settings = subject_->settings();
    settings.job_id = random_.Uuid();
    runtime::SimulatedJob::Options options;
    options.seed = life.seed;
    options.executor = life.executor;
    options.listener = &counter_;
    options.disk = state_disk;
    options.store = runtime::MakeDiskCheckpointStore(kStateFolder, state_disk);
    auto job = runtime::SimulatedJob::Make(std::move(*graph), std::move(settings), &clock_,
                                           std::move(options));
    if (!job.ok()) Note("starting: " + job.status().ToString());
    return job.ok() ? std::move(*job) : nullptr;
  }

  void Drive(const Life& life, runtime::SimulatedJob& job, const CrashTrap& trap) {
    bool stopping = false;
    int64_t step = 0;
    while (job.RunOne()) {
      ++outcome_.steps;
      if (trap.sprung) return;
      if (++step % kLookEverySteps == 0) {
        Note(subject_->CheckVisible(files_.disk()));
        if (!outcome_.problem.empty()) return;
      }
      const bool at_end =
          life.ending != Ending::kNone && life.crash_point.empty() && step >= life.ends_at_step;
      if (at_end && life.ending != Ending::kStop) return;
      if (at_end && !stopping) job.Stop();
      stopping = stopping || at_end;
      // A disk that fails all the time lets nothing get done: the process is killed after a while.
      if (life.ending != Ending::kNone && step > kMostTroubledSteps) return;
      if (step > kMostSteps) {
        Note("no end after " + std::to_string(step) + " steps");
        return;
      }
    }
    if (trap.sprung) return;
    OnResult(life, job);
  }

  void OnResult(const Life& life, const runtime::SimulatedJob& job) {
    if (!job.result()) {
      Note("nothing left to do, but the job has not ended");
    } else if (job.result()->ok()) {
      ended_ = !job.stopped();
    } else if (life.ending == Ending::kNone || !job.result()->retriable()) {
      // A disk that fails may end a job that was told to stop; the next life goes on.
      Note("the job failed: " + job.result()->ToString());
    }
  }

  void Note(const std::string& problem) {
    if (outcome_.problem.empty()) outcome_.problem = problem;
  }

  const bool verbose_;
  VirtualClock clock_{1'700'000'000'000};
  const std::unique_ptr<Subject> subject_;
  Random random_;
  fs::FaultyFileSystems files_;
  Counter counter_;
  Outcome outcome_;
  bool ended_ = false;
  bool disk_was_well_ = true;
};

}  // namespace

std::unique_ptr<Subject> MakeScenarioSubject(uint64_t seed) {
  return std::make_unique<ScenarioSubject>(seed);
}

Outcome RunSeed(uint64_t seed, bool verbose) {
  return Simulation(seed, verbose, MakeScenarioSubject(seed)).Run();
}

Outcome RunStatementSeed(uint64_t seed, bool verbose) {
  return Simulation(seed, verbose, MakeStatementSubject(seed)).Run();
}

}  // namespace sluice::sim
