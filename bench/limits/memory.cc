// What memory and the page cache give: limit_memory FILE copies 64 MiB blocks of memory, then
// reads the file, which should have been read before, through a buffer of 1 MiB.
#include <fcntl.h>
#include <unistd.h>

#include <cstring>
#include <vector>

#include "limit.h"

int main(int argc, char** argv) {
  using sluice::bench::Report;
  using sluice::bench::Stopwatch;
  constexpr size_t kBlock = size_t{64} << 20;
  constexpr int kTimes = 32;
  std::vector<char> from(kBlock, 'a');
  std::vector<char> to(kBlock, 'b');
  const Stopwatch copying;
  for (int i = 0; i < kTimes; ++i) {
    from[static_cast<size_t>(i)] = static_cast<char>(i);
    std::memcpy(to.data(), from.data(), kBlock);
  }
  Report("memcpy", "bytes", static_cast<double>(kBlock) * kTimes, copying);
  if (argc < 2) return to[7] == 7 ? 0 : 1;
  const int file = ::open(argv[1], O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    std::perror(argv[1]);
    return 1;
  }
  const Stopwatch reading;
  double bytes = 0;
  for (ssize_t count = 1; count > 0; bytes += static_cast<double>(count)) {
    count = ::read(file, to.data(), 1 << 20);
    if (count < 0) {
      std::perror(argv[1]);
      return 1;
    }
  }
  Report("page cache", "bytes", bytes, reading);
  ::close(file);
  return 0;
}
