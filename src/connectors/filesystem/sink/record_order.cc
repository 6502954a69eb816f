#include "connectors/filesystem/sink/record_order.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <unordered_map>

namespace sluice::connectors::filesystem {
namespace {

auto PlaceInSink(const TableRecord& record) {
  return std::tie(record.lineage, record.branch, record.checkpoint);
}

/// What comes after what, by index: a record is ready when all before it have been taken.
class Dependencies {
 public:
  explicit Dependencies(const std::vector<TableRecord>& records)
      : records_(records), after_(records.size()), before_(records.size()) {
    for (size_t i = 1; i < records.size(); ++i) {
      // Each COMPACT TABLE stands for itself.
      if (records[i].writer == kCompactTableWriter) continue;
      if (records[i - 1].lineage == records[i].lineage) Add(i - 1, i);
    }
    AddMerges();
    for (size_t i = 0; i < records.size(); ++i) {
      left_.insert(i);
      if (before_[i] == 0) ready_.emplace(records[i].time_ms, i);
    }
  }

  bool Done() const { return left_.empty(); }

  size_t Take() {
    // A circle is made by damaged records only: they are told of later, in whatever order.
    if (ready_.empty()) ready_.emplace(0, *left_.begin());
    const size_t taken = ready_.begin()->second;
    ready_.erase(ready_.begin());
    left_.erase(taken);
    for (const size_t next : after_[taken]) {
      if (--before_[next] == 0 && left_.contains(next)) {
        ready_.emplace(records_[next].time_ms, next);
      }
    }
    return taken;
  }

 private:
  void Add(size_t first, size_t second) {
    after_[first].push_back(second);
    ++before_[second];
  }

  void AddMerges() {
    std::unordered_map<std::string_view, size_t> makers;
    for (size_t i = 0; i < records_.size(); ++i) {
      for (const RecordedFile& file : records_[i].files) makers.emplace(file.name, i);
      for (const RecordedMerge& merge : records_[i].merged) makers.emplace(merge.target.name, i);
    }
    for (size_t i = 0; i < records_.size(); ++i) {
      std::set<size_t> of_inputs;
      for (const RecordedMerge& merge : records_[i].merged) {
        for (const std::string& input : merge.inputs) {
          const auto maker = makers.find(input);
          if (maker != makers.end()) of_inputs.insert(maker->second);
        }
      }
      for (const size_t maker : of_inputs) {
        if (maker != i) Add(maker, i);
      }
    }
  }

  const std::vector<TableRecord>& records_;
  std::vector<std::vector<size_t>> after_;
  std::vector<size_t> before_;  // How many that are not taken yet.
  std::set<size_t> left_;
  std::set<std::pair<int64_t, size_t>> ready_;  // By time.
};

}  // namespace

std::vector<TableRecord> OrderRecords(std::vector<TableRecord> records) {
  std::stable_sort(records.begin(), records.end(), [](const TableRecord& a, const TableRecord& b) {
    return PlaceInSink(a) < PlaceInSink(b);
  });
  const auto same = [](const TableRecord& a, const TableRecord& b) {
    return PlaceInSink(a) == PlaceInSink(b);
  };
  // There twice after a crash while records were folded.
  records.erase(std::unique(records.begin(), records.end(), same), records.end());
  Dependencies dependencies(records);
  std::vector<size_t> order;
  while (!dependencies.Done()) order.push_back(dependencies.Take());
  std::vector<TableRecord> ordered;
  ordered.reserve(records.size());
  for (const size_t i : order) ordered.push_back(std::move(records[i]));
  return ordered;
}

}  // namespace sluice::connectors::filesystem
