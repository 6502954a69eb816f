#pragma once

#include <sys/resource.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

namespace sluice::bench {

/// Time since it was made: on the wall, and of all threads of the process on the processor.
class Stopwatch {
 public:
  double wall_seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }
  double cpu_seconds() const { return ProcessSeconds() - cpu_start_; }

 private:
  static double ProcessSeconds() {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& time) {
      return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
  }

  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  double cpu_start_ = ProcessSeconds();
};

/// Prints one line of JSON: what was done how often, and how long it took.
inline void Report(const char* limit, const char* unit, double count, const Stopwatch& watch) {
  std::printf(
      "{\"limit\": \"%s\", \"unit\": \"%s\", \"count\": %.0f, \"wall_s\": %.6f, \"cpu_s\": %.6f}\n",
      limit, unit, count, watch.wall_seconds(), watch.cpu_seconds());
}

/// The bytes of a file and `padding` zero bytes behind them; empty when it cannot be read.
inline std::string ReadWhole(const char* path, size_t padding) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return {};
  const auto size = static_cast<size_t>(file.tellg());
  std::string bytes(size + padding, '\0');
  file.seekg(0);
  file.read(bytes.data(), static_cast<std::streamsize>(size));
  bytes.resize(size);
  return bytes;
}

}  // namespace sluice::bench
