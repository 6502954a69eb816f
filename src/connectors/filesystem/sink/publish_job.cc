#include "connectors/filesystem/sink/publish_job.h"

#include "common/crash_point.h"
#include "connectors/filesystem/sink/fence_check.h"

namespace sluice::connectors::filesystem {

void PublishJob::Add(const PendingFiles::File& file, const FileCommittable& decoded,
                     std::string merged) {
  files_.push_back(file);
  size_bytes_ += decoded.size_bytes;
  if (!merged.empty()) merged_[decoded.handle] = std::move(merged);
}

void PublishJob::Run(fs::FileSystem& file_system, const runtime::Fence* fence) {
  SLUICE_CRASH_POINT("sink.before_publish");
  status_ = CheckFence(fence);
  if (!status_.ok()) return;
  const size_t half = FirstHalf();
  Publish(file_system, 0, half);
  if (half < files_.size()) {
    SLUICE_CRASH_POINT("sink.between_publishes");
    Publish(file_system, half, files_.size());
  }
  SLUICE_CRASH_POINT("sink.after_publish");
}

/// Directories stay together.
size_t PublishJob::FirstHalf() const {
  size_t half = (files_.size() + 1) / 2;
  while (half < files_.size() && files_[half - 1].directory() == files_[half].directory()) ++half;
  return half;
}

/// Of half the files: tens of thousands are not decoded at once.
void PublishJob::Publish(fs::FileSystem& file_system, size_t begin, size_t end) {
  std::vector<std::string> handles;
  for (size_t i = begin; i < end; ++i) handles.emplace_back(files_[i].handle());
  // One failure never stops the rest.
  std::vector<Status> results = file_system.publisher().Publish(handles);
  for (size_t i = 0; i < results.size(); ++i) {
    const auto target = merged_.find(handles[i]);
    Status result = std::move(results[i]);
    if (!result.ok() && target != merged_.end()) {
      const Status there = file_system.Stat(target->second).status();
      // Only a store that has answered can say that data is missing.
      if (there.code() != StatusCode::kNotFound) result = there;
    }
    if (!result.ok() && status_.ok()) status_ = std::move(result);
  }
}

}  // namespace sluice::connectors::filesystem
