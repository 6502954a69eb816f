// What the disk allows a writer of many partitions: files a second, each created in a directory of
// its own, written, made durable and renamed, by N threads.
//
//   file_rates DIRECTORY [FILES [BYTES [THREADS]]]
//
// Prints one JSON line for each way of making them durable: "none"; "each": fdatasync of the file
// and fsync of its directory, before and after the rename, as a sink without batching does; "once":
// one syncfs before the renames and one behind them.
//
// DIRECTORY/file-rates is the caller's to remove, when nothing is measured any more: ext4 looks
// past inodes that were freed within the last minutes, one by one, whenever it needs a new one.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "limit.h"

namespace {

using Clock = std::chrono::steady_clock;

double Seconds(Clock::time_point since) {
  return std::chrono::duration<double>(Clock::now() - since).count();
}

void Check(bool ok, const char* what) {
  if (ok) return;
  std::perror(what);
  std::exit(1);
}

void SyncDirectory(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_DIRECTORY);
  Check(descriptor >= 0 && fsync(descriptor) == 0, "fsync of a directory");
  close(descriptor);
}

/// Calls `work(i)` for all i below `count` on `threads` threads.
double Spread(int count, int threads, const std::function<void(int)>& work) {
  const auto start = Clock::now();
  std::atomic<int> next{0};
  std::vector<std::thread> pool;
  for (int t = 0; t < threads; ++t) {
    pool.emplace_back([&] {
      for (int i = next++; i < count; i = next++) work(i);
    });
  }
  for (std::thread& thread : pool) thread.join();
  return Seconds(start);
}

struct Run {
  std::string root;
  std::string bytes;
  int files;
  int threads;

  std::string Directory(int i) const { return root + "/p=" + std::to_string(i); }

  void Write(int i, bool sync) const {
    const std::string directory = Directory(i);
    Check(mkdir(directory.c_str(), 0777) == 0, "mkdir");
    const int descriptor =
        open((directory + "/.part.inprogress").c_str(), O_CREAT | O_EXCL | O_WRONLY, 0666);
    Check(descriptor >= 0, "open");
    const ssize_t written = pwrite(descriptor, bytes.data(), bytes.size(), 0);
    Check(written == static_cast<ssize_t>(bytes.size()), "write");
    if (sync) Check(fdatasync(descriptor) == 0, "fdatasync");
    close(descriptor);
    if (sync) SyncDirectory(directory);
  }

  void Rename(int i, bool sync) const {
    const std::string directory = Directory(i);
    Check(rename((directory + "/.part.inprogress").c_str(), (directory + "/part").c_str()) == 0,
          "rename");
    if (sync) SyncDirectory(directory);
  }

  void Measure(const std::string& durability) const {
    std::filesystem::create_directories(root);
    ::sync();
    const bool each = durability == "each";
    const int descriptor = open(root.c_str(), O_RDONLY | O_DIRECTORY);
    const auto sync_all = [&] {
      const auto start = Clock::now();
      if (durability == "once") Check(syncfs(descriptor) == 0, "syncfs");
      return Seconds(start);
    };
    const sluice::bench::Stopwatch watch;
    const double write = Spread(files, threads, [&](int i) { Write(i, each); });
    const double first_sync = sync_all();
    const double rename = Spread(files, threads, [&](int i) { Rename(i, each); });
    const double second_sync = sync_all();
    close(descriptor);
    const double all = write + first_sync + rename + second_sync;
    std::printf(
        "{\"limit\": \"files durable %s\", \"unit\": \"files\", \"count\": %d, \"wall_s\": %.6f, "
        "\"cpu_s\": %.6f, \"threads\": %d, \"bytes\": %zu, \"write_s\": %.3f, \"sync_s\": %.3f, "
        "\"rename_s\": %.3f, "
        "\"second_sync_s\": %.3f, \"files_per_second\": %.0f}\n",
        durability.c_str(), files, all, watch.cpu_seconds(), threads, bytes.size(), write,
        first_sync, rename, second_sync, files / all);
    std::fflush(stdout);
  }
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: file_rates DIRECTORY [FILES [BYTES [THREADS]]]\n");
    return 2;
  }
  const auto number = [&](int i, int fallback) { return argc > i ? std::atoi(argv[i]) : fallback; };
  const Run run{.root = std::string(argv[1]) + "/file-rates",
                .bytes = std::string(static_cast<size_t>(number(3, 20'000)), 'x'),
                .files = number(2, 10'000),
                .threads = number(4, 8)};
  for (const char* durability : {"none", "each", "once"}) {
    Run each = run;
    each.root += std::string("/") + durability;
    each.Measure(durability);
  }
  return 0;
}
