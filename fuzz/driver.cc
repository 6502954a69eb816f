// main() of every fuzz target: replays inputs, or mutates them guided by coverage for some time.
//
// The entry point is libFuzzer's, so a target also works with it; this driver needs nothing but the
// compiler that builds Sluice. An input that ends the process (sanitizer report, failed check,
// signal) or runs too long is written to a file whose path is printed, and the run ends with
// status 1.
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "corpus.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
extern "C" __attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)());

namespace sluice::fuzz {
namespace {

struct Options {
  std::vector<std::string> replay;
  std::string seeds;
  std::string found = "found";
  std::string crashes = "crashes";
  std::string dictionary;
  int64_t seconds = 60;
  uint64_t runs = UINT64_MAX;
  int64_t input_seconds = 10;
  size_t max_bytes = 4096;
  uint64_t seed = 1;
};

// What the signal handlers need to know. One run a process.
const Options* g_options = nullptr;
const Input* g_current = nullptr;
std::atomic<bool> g_running{false};  // False between inputs.
std::atomic<int64_t> g_begun_at{0};  // By both clocks.
std::atomic<int64_t> g_begun_at_cpu{0};

int64_t SecondsOf(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return now.tv_sec;
}

int64_t NowSeconds() { return SecondsOf(CLOCK_MONOTONIC); }

/// Processor time tells of a loop without end, whoever else uses the machine; an input that waits
/// forever uses none, so the wall clock has a limit too.
constexpr int64_t kWaitingSeconds = 300;

bool RunsTooLong(int64_t input_seconds) {
  return SecondsOf(CLOCK_PROCESS_CPUTIME_ID) - g_begun_at_cpu > input_seconds ||
         NowSeconds() - g_begun_at > kWaitingSeconds;
}

std::string HashName(const Input& input) {
  uint64_t hash =
      14695981039346656037ull;  // FNV-1a: the name only has to differ for different inputs.
  for (const uint8_t byte : input) hash = (hash ^ byte) * 1099511628211ull;
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
  return text;
}

// Not async-signal-safe, but the process is lost anyway and an input is worth the try.
void SaveCurrent(const char* why) {
  const Input* input = g_current;
  if (input == nullptr) return;
  g_current = nullptr;
  const std::string path = g_options->crashes + "/" + why + "-" + HashName(*input);
  WriteInput(path, *input);
  std::fprintf(stderr, "\nThe input that did it (%zu bytes) is in %s\n", input->size(),
               path.c_str());
}

void OnDeath() { SaveCurrent("crash"); }

void OnSignal(int number) {
  SaveCurrent("crash");
  signal(number, SIG_DFL);
  raise(number);
}

void OnTimer(int) {
  if (!g_running || !RunsTooLong(g_options->input_seconds)) return;
  std::fprintf(stderr, "\nAn input has run for more than %lld s of processor time, or %lld s.\n",
               static_cast<long long>(g_options->input_seconds),
               static_cast<long long>(kWaitingSeconds));
  SaveCurrent("hang");
  _exit(1);
}

void InstallHandlers() {
  if (__sanitizer_set_death_callback != nullptr) __sanitizer_set_death_callback(&OnDeath);
  for (const int number : {SIGABRT, SIGILL, SIGFPE}) signal(number, &OnSignal);
  if (__sanitizer_set_death_callback == nullptr) {
    signal(SIGSEGV, &OnSignal);
    signal(SIGBUS, &OnSignal);
  }
  signal(SIGALRM, &OnTimer);
  const itimerval every_second{{1, 0}, {1, 0}};
  setitimer(ITIMER_REAL, &every_second, nullptr);
}

void RunInput(const Input& input) {
  // A heap copy of the exact size, so that the sanitizer sees a read past its end.
  auto* copy = static_cast<uint8_t*>(std::malloc(input.empty() ? 1 : input.size()));
  if (!input.empty()) std::memcpy(copy, input.data(), input.size());
  g_current = &input;
  g_begun_at = NowSeconds();
  g_begun_at_cpu = SecondsOf(CLOCK_PROCESS_CPUTIME_ID);
  g_running = true;
  Coverage::Reset();
  LLVMFuzzerTestOneInput(copy, input.size());
  g_running = false;
  g_current = nullptr;
  std::free(copy);
}

int Replay(const Options& options) {
  size_t count = 0;
  for (const std::string& place : options.replay) {
    for (const std::string& path : ListInputs(place)) {
      RunInput(ReadInput(path));
      ++count;
    }
  }
  std::printf("%zu inputs replayed.\n", count);
  return 0;
}

class Run {
 public:
  explicit Run(const Options& options)
      : options_(options),
        mutator_(options.seed, options.max_bytes, ReadDictionary(options.dictionary)) {}

  void Fuzz() {
    for (const std::string& place : {options_.seeds, options_.found}) {
      for (const std::string& path : ListInputs(place)) Try(ReadInput(path), /*is_new=*/false);
    }
    if (corpus_.empty()) Try({}, /*is_new=*/false);
    const size_t start = corpus_.size();
    const int64_t begun_at = NowSeconds();
    int64_t reported_at = begun_at;
    for (int64_t now = begun_at; now - begun_at < options_.seconds && runs_ < options_.runs;
         now = NowSeconds()) {
      Try(mutator_.Mutate(Choose(), Choose()), /*is_new=*/true);
      if (now - reported_at >= 10) {
        Report(now - begun_at);
        reported_at = now;
      }
    }
    Report(NowSeconds() - begun_at);
    std::printf("No crash and no hang; %zu inputs found beside %zu.\n", corpus_.size() - start,
                start);
  }

 private:
  // The shorter of two: it runs faster.
  const Input& Choose() {
    const Input& one = ChooseAny();
    const Input& other = ChooseAny();
    return one.size() <= other.size() ? one : other;
  }

  // Half of the time one of the latest finds: they lead to the next one.
  const Input& ChooseAny() {
    const size_t size = corpus_.size();
    if (size > 8 && mutator_.Below(2) == 0) return corpus_[size - 1 - mutator_.Below(size / 8)];
    return corpus_[mutator_.Below(size)];
  }

  void Try(Input input, bool is_new) {
    RunInput(input);
    ++runs_;
    if (Coverage::Merge() == 0 && (is_new || Coverage::total() > 0)) return;
    if (is_new) WriteInput(options_.found + "/" + HashName(input), input);
    corpus_.push_back(std::move(input));
  }

  void Report(int64_t seconds) const {
    std::printf("%4lld s  %10llu runs  %6zu inputs  %6zu coverage\n",
                static_cast<long long>(seconds), static_cast<unsigned long long>(runs_),
                corpus_.size(), Coverage::total());
    std::fflush(stdout);
  }

  const Options& options_;
  Mutator mutator_;
  std::vector<Input> corpus_;
  uint64_t runs_ = 0;
};

bool Parse(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name.rfind("--", 0) != 0) {
      options.replay.push_back(name);
      continue;
    }
    if (++i == argc) return false;
    const char* value = argv[i];
    if (name == "--seeds")
      options.seeds = value;
    else if (name == "--found")
      options.found = value;
    else if (name == "--crashes")
      options.crashes = value;
    else if (name == "--dictionary")
      options.dictionary = value;
    else if (name == "--seconds")
      options.seconds = std::atoll(value);
    else if (name == "--runs") {
      options.runs = static_cast<uint64_t>(std::atoll(value));
      options.seconds = INT64_MAX;
    } else if (name == "--input-seconds")
      options.input_seconds = std::atoll(value);
    else if (name == "--max-bytes")
      options.max_bytes = static_cast<size_t>(std::atoll(value));
    else if (name == "--seed")
      options.seed = static_cast<uint64_t>(std::atoll(value));
    else
      return false;
  }
  return true;
}

}  // namespace
}  // namespace sluice::fuzz

int main(int argc, char** argv) {
  sluice::fuzz::Options options;
  if (!sluice::fuzz::Parse(argc, argv, options)) {
    std::fprintf(
        stderr,
        "Usage: %s FILE-OR-FOLDER...   replay inputs\n"
        "       %s [--seeds DIR] [--found DIR] [--crashes DIR] [--dictionary FILE] [--seconds N]\n"
        "          [--runs N] [--input-seconds N] [--max-bytes N] [--seed N]\n",
        argv[0], argv[0]);
    return 2;
  }
  sluice::fuzz::g_options = &options;
  sluice::fuzz::InstallHandlers();
  if (!options.replay.empty()) return sluice::fuzz::Replay(options);
  sluice::fuzz::Run(options).Fuzz();
  return 0;
}
