// A disk, a file system and a clock that misbehave on command, for the shipped program: preloaded by LD_PRELOAD, steered by a file.
//
// SLUICE_FAULTS names the file. It is read again when it changes, so faults begin and end while the program runs. One rule a line:
//
//   <operation> <path prefix> <errno name, or "delay"> <permille> [milliseconds]
//   clock <milliseconds>            added to the wall clock
//
// Operations: open (for writing, and directories made), write, sync, rename, read. The first rule that matches decides.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define MOST_RULES 16

struct Rule {
  char operation[8];
  char prefix[512];
  int error;  // 0: a delay.
  int permille;
  long delay_ms;
};

static struct Rule rules[MOST_RULES];
static int rule_count;
static long long clock_offset_ms;
static struct timespec rules_time;
static long rules_size = -1;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long long state = 88172645463325252ull;

static const struct {
  const char* name;
  int value;
} kErrors[] = {{"ENOSPC", ENOSPC}, {"EIO", EIO},       {"EDQUOT", EDQUOT}, {"EACCES", EACCES},
               {"EROFS", EROFS},   {"EMFILE", EMFILE}, {"ESTALE", ESTALE}, {"delay", 0}};

#define REAL(type, name, ...)                                              \
  static type (*real)(__VA_ARGS__);                                        \
  if (real == NULL) real = (type(*)(__VA_ARGS__))dlsym(RTLD_NEXT, #name)

static void ReadRules(void) {
  const char* path = getenv("SLUICE_FAULTS");
  struct stat status;
  if (path == NULL || stat(path, &status) < 0) return;
  if (status.st_mtim.tv_sec == rules_time.tv_sec && status.st_mtim.tv_nsec == rules_time.tv_nsec &&
      status.st_size == rules_size)
    return;
  FILE* file = fopen(path, "re");
  if (file == NULL) return;
  rules_time = status.st_mtim;
  rules_size = status.st_size;
  rule_count = 0;
  clock_offset_ms = 0;
  char line[700];
  while (fgets(line, sizeof(line), file) != NULL && rule_count < MOST_RULES) {
    struct Rule rule = {"", "", 0, 0, 0};
    char error[16] = "";
    long long offset;
    if (sscanf(line, "clock %lld", &offset) == 1) {
      clock_offset_ms = offset;
    } else if (sscanf(line, "%7s %511s %15s %d %ld", rule.operation, rule.prefix, error, &rule.permille, &rule.delay_ms) >= 4) {
      for (size_t i = 0; i < sizeof(kErrors) / sizeof(kErrors[0]); ++i) {
        if (strcmp(error, kErrors[i].name) == 0) rule.error = kErrors[i].value;
      }
      rules[rule_count++] = rule;
    }
  }
  fclose(file);
}

// Returns the error that an operation on a path must fail with; 0 when it may go on, after a delay if one is ordered.
static int Decide(const char* operation, const char* path) {
  int error = 0;
  long delay_ms = 0;
  pthread_mutex_lock(&lock);
  ReadRules();
  for (int i = 0; i < rule_count; ++i) {
    if (strcmp(rules[i].operation, operation) != 0) continue;
    if (strncmp(path, rules[i].prefix, strlen(rules[i].prefix)) != 0) continue;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    if ((int)(state % 1000) >= rules[i].permille) continue;
    error = rules[i].error;
    delay_ms = rules[i].delay_ms;
    break;
  }
  pthread_mutex_unlock(&lock);
  if (delay_ms > 0) usleep((useconds_t)delay_ms * 1000);
  return error;
}

static int DecideFor(const char* operation, int descriptor) {
  char link[64];
  char path[4096];
  snprintf(link, sizeof(link), "/proc/self/fd/%d", descriptor);
  const ssize_t length = readlink(link, path, sizeof(path) - 1);
  if (length <= 0) return 0;
  path[length] = '\0';
  return path[0] == '/' ? Decide(operation, path) : 0;
}

#define FAIL_IF(decision)     \
  do {                        \
    const int fault = decision; \
    if (fault != 0) {         \
      errno = fault;          \
      return -1;              \
    }                         \
  } while (0)

static int OpenWith(const char* name, const char* path, int flags, mode_t mode) {
  int (*real)(const char*, int, ...) = (int (*)(const char*, int, ...))dlsym(RTLD_NEXT, name);
  if ((flags & (O_WRONLY | O_RDWR | O_CREAT)) != 0) FAIL_IF(Decide("open", path));
  return real(path, flags, mode);
}

int open(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = va_arg(more, mode_t);
  va_end(more);
  return OpenWith("open", path, flags, mode);
}

int open64(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = va_arg(more, mode_t);
  va_end(more);
  return OpenWith("open64", path, flags, mode);
}

int mkdir(const char* path, mode_t mode) {
  REAL(int, mkdir, const char*, mode_t);
  FAIL_IF(Decide("open", path));
  return real(path, mode);
}

ssize_t write(int descriptor, const void* bytes, size_t count) {
  REAL(ssize_t, write, int, const void*, size_t);
  FAIL_IF(DecideFor("write", descriptor));
  return real(descriptor, bytes, count);
}

// Half of the bytes are written before a disk is full.
ssize_t pwrite(int descriptor, const void* bytes, size_t count, off_t offset) {
  REAL(ssize_t, pwrite, int, const void*, size_t, off_t);
  const int fault = DecideFor("write", descriptor);
  if (fault != 0) {
    if (count > 1) (void)!real(descriptor, bytes, count / 2, offset);
    errno = fault;
    return -1;
  }
  return real(descriptor, bytes, count, offset);
}

ssize_t pwrite64(int descriptor, const void* bytes, size_t count, off_t offset) {
  return pwrite(descriptor, bytes, count, offset);
}

int fsync(int descriptor) {
  REAL(int, fsync, int);
  FAIL_IF(DecideFor("sync", descriptor));
  return real(descriptor);
}

int fdatasync(int descriptor) {
  REAL(int, fdatasync, int);
  FAIL_IF(DecideFor("sync", descriptor));
  return real(descriptor);
}

int rename(const char* from, const char* to) {
  REAL(int, rename, const char*, const char*);
  FAIL_IF(Decide("rename", from));
  return real(from, to);
}

ssize_t pread(int descriptor, void* bytes, size_t count, off_t offset) {
  REAL(ssize_t, pread, int, void*, size_t, off_t);
  FAIL_IF(DecideFor("read", descriptor));
  return real(descriptor, bytes, count, offset);
}

ssize_t pread64(int descriptor, void* bytes, size_t count, off_t offset) {
  return pread(descriptor, bytes, count, offset);
}

// renameat2 is asked for by its number.
long syscall(long number, ...) {
  REAL(long, syscall, long, ...);
  va_list more;
  va_start(more, number);
  long arguments[6];
  for (int i = 0; i < 6; ++i) arguments[i] = va_arg(more, long);
  va_end(more);
  if (number == SYS_renameat2) FAIL_IF(Decide("rename", (const char*)arguments[1]));
  return real(number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4], arguments[5]);
}

int clock_gettime(clockid_t clock, struct timespec* now) {
  REAL(int, clock_gettime, clockid_t, struct timespec*);
  const int result = real(clock, now);
  if (clock != CLOCK_REALTIME || result != 0) return result;
  static __thread int asking;
  if (asking) return result;
  asking = 1;
  pthread_mutex_lock(&lock);
  // Every few milliseconds is soon enough: this is called for every batch.
  static long long looked_ms;
  const long long now_ms = now->tv_sec * 1000ll + now->tv_nsec / 1000000;
  if (now_ms - looked_ms > 20 || now_ms < looked_ms) {
    looked_ms = now_ms;
    ReadRules();
  }
  const long long shifted_ms = now_ms + clock_offset_ms;
  pthread_mutex_unlock(&lock);
  asking = 0;
  now->tv_sec = shifted_ms / 1000;
  now->tv_nsec = shifted_ms % 1000 * 1000000 + now->tv_nsec % 1000000;
  return 0;
}

int gettimeofday(struct timeval* now, void* zone) {
  (void)zone;
  struct timespec precise;
  clock_gettime(CLOCK_REALTIME, &precise);
  now->tv_sec = precise.tv_sec;
  now->tv_usec = precise.tv_nsec / 1000;
  return 0;
}

time_t time(time_t* out) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (out != NULL) *out = now.tv_sec;
  return now.tv_sec;
}
