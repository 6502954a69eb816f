// Assertions that the tests of the file sink share.
#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "connectors/filesystem/sink/sink_harness.h"

#define ASSERT_OK(expression)                        \
  do {                                               \
    const ::sluice::Status status_ = (expression);   \
    ASSERT_TRUE(status_.ok()) << status_.ToString(); \
  } while (false)

namespace sluice::connectors::filesystem {

inline std::vector<TestRow> Rows(int64_t first, int64_t count, const std::string& key) {
  std::vector<TestRow> rows;
  for (int64_t i = 0; i < count; ++i) rows.push_back({first + i, key});
  return rows;
}

inline std::vector<std::string> Paths(SinkHarness& job) {
  std::vector<std::string> paths;
  for (const auto& [path, content] : job.Visible()) paths.push_back(path);
  return paths;
}

inline bool Has(SinkHarness& job, const std::string& path) { return job.Visible().contains(path); }

/// True when ids 0 to count-1 are each there once and nothing else.
inline testing::AssertionResult Once(SinkHarness& job, int64_t count) {
  const auto ids = job.Ids();
  for (const auto& [id, times] : ids) {
    if (times != 1 || id < 0 || id >= count) {
      return testing::AssertionFailure() << "id " << id << " is there " << times << " times";
    }
  }
  if (static_cast<int64_t>(ids.size()) != count) {
    return testing::AssertionFailure() << ids.size() << " of " << count << " ids";
  }
  return testing::AssertionSuccess();
}

}  // namespace sluice::connectors::filesystem
