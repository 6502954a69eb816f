// What memory and the page cache give: limit_memory FILE copies 64 MiB blocks of memory, then
// reads the file, which should have been read before, through a buffer of 1 MiB.
// limit_memory FILE TARGET then copies it as well, to the disk.
#include <fcntl.h>
#include <unistd.h>

#include <cstring>
#include <vector>

#include "limit.h"

namespace {

/// The bytes of a file into a new one, and on the disk.
int Copy(const char* path, const char* target, std::vector<char>& buffer) {
  const sluice::bench::Stopwatch copying;
  const int from = ::open(path, O_RDONLY | O_CLOEXEC);
  const int to = ::open(target, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  double bytes = 0;
  ssize_t count = from < 0 || to < 0 ? -1 : 1;
  while (count > 0) {
    count = ::read(from, buffer.data(), 1 << 20);
    if (count > 0 && ::write(to, buffer.data(), static_cast<size_t>(count)) != count) count = -1;
    bytes += static_cast<double>(count);
  }
  if (count < 0 || ::fdatasync(to) != 0) {
    std::perror(target);
    return 1;
  }
  sluice::bench::Report("copy", "bytes", bytes, copying);
  ::close(from);
  ::close(to);
  ::unlink(target);
  return 0;
}

}  // namespace

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
  return argc > 2 ? Copy(argv[1], argv[2], to) : 0;
}
