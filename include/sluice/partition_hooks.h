/* Partition commit policies and partition time extractors in a shared library.
 *
 * A library exports `sluice_partition_hooks`, which fills a table of functions; what it does not
 * offer it leaves NULL. In C++ derive from sluice::PartitionPolicy or sluice::PartitionTime below
 * and write one of the SLUICE_EXPORT lines; in C fill the table yourself. Only this header is
 * needed, and nothing has to be linked:
 *
 *     c++ -std=c++17 -shared -fPIC -I include my_policy.cc -o libmy_policy.so
 *
 *     'sink.partition-commit.policy.kind'  = 'custom',
 *     'sink.partition-commit.policy.class' = '/opt/lake/libmy_policy.so',
 *     'sink.partition-commit.policy.class.parameters' = 'first;second'
 *
 *     'partition.time-extractor.kind'  = 'custom',
 *     'partition.time-extractor.class' = '/opt/lake/libmy_policy.so'
 *
 * Threads: functions of one object are never called at the same time; different objects may be.
 * Texts are UTF-8, end with a zero byte, and live only during the call. Nothing may be thrown
 * through a function of the table (the C++ classes see to that).
 */
#ifndef SLUICE_PARTITION_HOOKS_H_
#define SLUICE_PARTITION_HOOKS_H_

#include <stddef.h>
#include <stdint.h>

#define SLUICE_PARTITION_HOOKS_VERSION 1

#ifdef __cplusplus
extern "C" {
#endif

/* One file that the partition has got since its last commit. */
typedef struct sluice_new_file {
  const char* name;  /* In the partition's directory. */
  int64_t row_count; /* Rows in it. */
} sluice_new_file;

/* A partition whose files are all visible. */
typedef struct sluice_partition {
  const char* table;         /* "default_catalog.default_database.t" */
  const char* path;          /* Its directory: "/lake/orders/dt=2020-05-20/hour=08" */
  size_t key_count;          /* 0: a table without partitions. */
  const char* const* keys;   /* In the order of PARTITIONED BY. */
  const char* const* values; /* NULL stands for SQL's NULL. */
  int64_t checkpoint;        /* The complete checkpoint that made it due. */
  int again;                 /* Not 0: it was committed before, and late rows came. */
  int64_t row_count;         /* Rows it has got since its last commit. */
  size_t file_count;
  const sluice_new_file* files;
} sluice_partition;

/* What a function answers. On anything but SLUICE_OK it writes why into `error`. */
enum {
  SLUICE_OK = 0,
  SLUICE_TRY_AGAIN = 1, /* The job restarts from its checkpoint and calls again. */
  SLUICE_GIVE_UP = 2,   /* The job stops; its state is kept. */
  SLUICE_NO_TIME = 3    /* Extractors: these values stand for no time. Not an error. */
};

typedef struct sluice_partition_hooks_table {
  uint32_t version; /* SLUICE_PARTITION_HOOKS_VERSION of the header that was compiled. */

  /* A policy. Called for every due partition, after its files are visible and before the policies
   * that follow in the list. It may be called again for the same partition and checkpoint, after a
   * crash: committing twice must do no harm. */
  void* (*open_policy)(size_t parameter_count, const char* const* parameters, char* error,
                       size_t error_size);
  int (*commit)(void* policy, const sluice_partition* partition, char* error, size_t error_size);
  void (*close_policy)(void* policy);

  /* A time extractor: `local_millis` gets the milliseconds from 1970-01-01 00:00:00 to the wall
   * clock time that the values stand for, without a zone. Must answer the same for the same values.
   */
  void* (*open_time)(size_t parameter_count, const char* const* parameters, char* error,
                     size_t error_size);
  int (*partition_time)(void* time, size_t key_count, const char* const* keys,
                        const char* const* values, int64_t* local_millis, char* error,
                        size_t error_size);
  void (*close_time)(void* time);
} sluice_partition_hooks_table;

/* The one symbol that a library exports. */
void sluice_partition_hooks(sluice_partition_hooks_table* table);

#ifdef __cplusplus
} /* extern "C" */

#include <cstdio>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace sluice {

/* Throw it to stop the job; any other exception makes it try again. */
struct GiveUp : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/* Derive, with a constructor that takes the parameters. */
class PartitionPolicy {
 public:
  virtual ~PartitionPolicy() = default;
  virtual void Commit(const sluice_partition& partition) = 0;
};

class PartitionTime {
 public:
  virtual ~PartitionTime() = default;
  /* Milliseconds since 1970-01-01 00:00:00 of the wall clock; nullopt: no time. NULL values are
   * null pointers. */
  virtual std::optional<int64_t> LocalMillis(const std::vector<const char*>& keys,
                                             const std::vector<const char*>& values) = 0;
};

namespace hooks {

inline std::vector<std::string> Parameters(size_t count, const char* const* parameters) {
  return std::vector<std::string>(parameters, parameters + count);
}

template <typename Function>
int Guard(char* error, size_t error_size, const Function& function) noexcept {
  try {
    return function();
  } catch (const GiveUp& failure) {
    std::snprintf(error, error_size, "%s", failure.what());
    return SLUICE_GIVE_UP;
  } catch (const std::exception& failure) {
    std::snprintf(error, error_size, "%s", failure.what());
  } catch (...) {
    std::snprintf(error, error_size, "unknown exception");
  }
  return SLUICE_TRY_AGAIN;
}

template <typename Object>
void* Open(size_t count, const char* const* parameters, char* error, size_t error_size) noexcept {
  void* object = nullptr;
  Guard(error, error_size, [&] {
    object = new Object(Parameters(count, parameters));
    return static_cast<int>(SLUICE_OK);
  });
  return object;
}

template <typename Policy>
void FillPolicy(sluice_partition_hooks_table* table) {
  table->open_policy = &Open<Policy>;
  table->commit = [](void* policy, const sluice_partition* partition, char* error,
                     size_t error_size) {
    return Guard(error, error_size, [&] {
      static_cast<Policy*>(policy)->Commit(*partition);
      return static_cast<int>(SLUICE_OK);
    });
  };
  table->close_policy = [](void* policy) { delete static_cast<Policy*>(policy); };
}

template <typename Time>
void FillTime(sluice_partition_hooks_table* table) {
  table->open_time = &Open<Time>;
  table->partition_time = [](void* time, size_t count, const char* const* keys,
                             const char* const* values, int64_t* local_millis, char* error,
                             size_t error_size) {
    return Guard(error, error_size, [&] {
      const auto found =
          static_cast<Time*>(time)->LocalMillis({keys, keys + count}, {values, values + count});
      if (!found) return static_cast<int>(SLUICE_NO_TIME);
      *local_millis = *found;
      return static_cast<int>(SLUICE_OK);
    });
  };
  table->close_time = [](void* time) { delete static_cast<Time*>(time); };
}

}  // namespace hooks
}  // namespace sluice

#define SLUICE_EXPORT_PARTITION_POLICY(Policy)                                  \
  extern "C" void sluice_partition_hooks(sluice_partition_hooks_table* table) { \
    table->version = SLUICE_PARTITION_HOOKS_VERSION;                            \
    ::sluice::hooks::FillPolicy<Policy>(table);                                 \
  }
#define SLUICE_EXPORT_PARTITION_TIME(Time)                                      \
  extern "C" void sluice_partition_hooks(sluice_partition_hooks_table* table) { \
    table->version = SLUICE_PARTITION_HOOKS_VERSION;                            \
    ::sluice::hooks::FillTime<Time>(table);                                     \
  }
#define SLUICE_EXPORT_PARTITION_POLICY_AND_TIME(Policy, Time)                   \
  extern "C" void sluice_partition_hooks(sluice_partition_hooks_table* table) { \
    table->version = SLUICE_PARTITION_HOOKS_VERSION;                            \
    ::sluice::hooks::FillPolicy<Policy>(table);                                 \
    ::sluice::hooks::FillTime<Time>(table);                                     \
  }

#endif /* __cplusplus */
#endif /* SLUICE_PARTITION_HOOKS_H_ */
