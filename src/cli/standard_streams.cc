#include "cli/standard_streams.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace sluice::cli {

void HoldStandardStreams() {
  for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; ++descriptor) {
    // The lowest free number is given, which is this one.
    if (::fcntl(descriptor, F_GETFD) < 0) (void)::open("/dev/null", O_RDWR);
  }
}

int WithResultsWritten(int code) {
  errno = 0;
  const bool flushed = std::fflush(stdout) == 0;
  const int error = errno;
  if (code != 0 || (flushed && std::ferror(stdout) == 0)) return code;
  struct stat status;
  const bool is_pipe = ::fstat(STDOUT_FILENO, &status) == 0 &&
                       (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode));
  if (is_pipe) return code;
  std::fprintf(stderr,
               "[ERROR] Results are missing: standard output could not be written%s%s. Free space "
               "where it goes, and run it again.\n",
               error == 0 ? "" : ": ", error == 0 ? "" : std::strerror(error));
  return 1;
}

}  // namespace sluice::cli
