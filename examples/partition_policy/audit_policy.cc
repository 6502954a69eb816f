// A commit policy and a time extractor in a shared library.
//
//     c++ -std=c++17 -shared -fPIC -I include -o libaudit_policy.so
//         examples/partition_policy/audit_policy.cc                  (one line)
//     build/sluice run examples/partition_policy/orders.sql
//
// The policy appends one line for each committed partition to a file; a line that is there already
// is not written again, so that a repeated commit does no harm. The extractor reads partitions that
// are named by ISO week ("2020-W21"): their time is the Monday.
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "sluice/partition_hooks.h"

namespace {

class AuditPolicy final : public sluice::PartitionPolicy {
 public:
  explicit AuditPolicy(const std::vector<std::string>& parameters) {
    if (parameters.size() != 1) throw sluice::GiveUp("it takes one parameter, the file to write");
    file_ = parameters[0];
  }

  void Commit(const sluice_partition& partition) override {
    std::string line = std::string(partition.path) + " checkpoint " +
                       std::to_string(partition.checkpoint) + " rows " +
                       std::to_string(partition.row_count);
    for (size_t i = 0; i < partition.key_count; ++i) {
      line += std::string(" ") + partition.keys[i] + "=" +
              (partition.values[i] == nullptr ? "NULL" : partition.values[i]);
    }
    if (IsThere(line)) return;
    std::ofstream file(file_, std::ios::app);
    file << line << '\n';
    file.flush();
    if (!file) throw std::runtime_error("cannot write " + file_);  // The job tries again.
  }

 private:
  bool IsThere(const std::string& wanted) const {
    std::ifstream file(file_);
    for (std::string line; std::getline(file, line);) {
      if (line == wanted) return true;
    }
    return false;
  }
  std::string file_;
};

class WeekTime final : public sluice::PartitionTime {
 public:
  explicit WeekTime(const std::vector<std::string>&) {}

  std::optional<int64_t> LocalMillis(const std::vector<const char*>&,
                                     const std::vector<const char*>& values) override {
    int year = 0, week = 0;
    if (values.empty() || values[0] == nullptr) return std::nullopt;
    if (std::sscanf(values[0], "%4d-W%2d", &year, &week) != 2 || week < 1 || week > 53) {
      return std::nullopt;
    }
    // The 4th of January is in week 1.
    const int64_t january_4 = DaysBeforeYear(year) + 3;
    const int64_t weekday = (january_4 + 3) % 7;  // 1970-01-01 was a Thursday; Monday is 0.
    return (january_4 - weekday + (week - 1) * 7) * 86'400'000;
  }

 private:
  static int64_t DaysBeforeYear(int64_t year) {
    const int64_t y = year - 1;
    return y * 365 + y / 4 - y / 100 + y / 400 - 719'162;
  }
};

}  // namespace

SLUICE_EXPORT_PARTITION_POLICY_AND_TIME(AuditPolicy, WeekTime)
