#include "connectors/filesystem/sink/parallel_compaction.h"

#include <algorithm>
#include <atomic>
#include <optional>

#include "common/io_pool.h"

namespace sluice::connectors::filesystem {
namespace {

using Answers = std::vector<std::optional<Result<CompactedPartition>>>;

Status Failure(Answers& answers, std::span<const PartitionValues> partitions,
               const std::function<std::string(const PartitionValues&)>& name_of) {
  const auto failed = std::find_if(answers.begin(), answers.end(), [](const auto& answer) {
    return answer.has_value() && !answer->ok();
  });
  if (failed == answers.end()) return {};
  const auto done = std::count_if(answers.begin(), answers.end(), [](const auto& answer) {
    return answer.has_value() && answer->ok();
  });
  const std::string name = name_of(partitions[static_cast<size_t>(failed - answers.begin())]);
  Status status = std::move(*failed)->status();
  if (partitions.size() == 1) return status;
  return std::move(status).WithContext(
      "While COMPACT TABLE merges partition " + name + "; " + std::to_string(done) + " of " +
      std::to_string(partitions.size()) +
      " partitions are done, the others are as they were. Run the statement again for them.");
}

}  // namespace

Result<std::vector<CompactedPartition>> CompactPartitions(
    std::span<const PartitionValues> partitions, int workers, const CompactOne& compact,
    const std::function<std::string(const PartitionValues&)>& name_of) {
  Answers answers(partitions.size());
  std::atomic<size_t> next{0};
  std::atomic<bool> failed{false};
  const auto work = [&] {
    while (!failed) {
      const size_t i = next++;
      if (i >= partitions.size()) return;
      answers[i] = compact(partitions[i]);
      if (!answers[i]->ok()) failed = true;
    }
  };
  const int threads = std::min(std::max(workers, 1), static_cast<int>(partitions.size()));
  if (threads <= 1) {
    work();
  } else {
    ThreadIoPool pool(threads);  // Its end waits for all.
    for (int i = 0; i < threads; ++i) pool.Submit(work);
  }
  SLUICE_RETURN_NOT_OK(Failure(answers, partitions, name_of));
  std::vector<CompactedPartition> done;
  for (auto& answer : answers) done.push_back(std::move(**answer));
  return done;
}

}  // namespace sluice::connectors::filesystem
