#include "common/run_at_once.h"

#include <algorithm>
#include <atomic>
#include <system_error>
#include <thread>
#include <vector>

namespace sluice {

void RunAtOnce(size_t count, size_t most_threads, const std::function<void(size_t)>& work) {
  std::atomic<size_t> next{0};
  const auto run = [&] {
    for (size_t i = next++; i < count; i = next++) work(i);
  };
  std::vector<std::thread> helpers;
  try {
    while (helpers.size() + 1 < std::min(count, most_threads)) helpers.emplace_back(run);
  } catch (const std::system_error&) {  // The others do the work.
  }
  run();
  for (std::thread& helper : helpers) helper.join();
}

}  // namespace sluice
