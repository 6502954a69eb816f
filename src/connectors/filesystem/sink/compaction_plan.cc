#include "connectors/filesystem/sink/compaction_plan.h"

#include <algorithm>
#include <deque>
#include <numeric>

namespace sluice::connectors::filesystem {
namespace {

constexpr size_t kLookBack = 10;

struct Bin {
  std::vector<size_t> files;
  int64_t size_bytes = 0;
};

std::vector<size_t> ByPath(std::span<const PackedFile> files) {
  std::vector<size_t> order(files.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(),
            [&files](size_t a, size_t b) { return files[a].path < files[b].path; });
  return order;
}

/// First fit over `order` with at most `open_limit` bins open.
std::vector<std::vector<size_t>> Pack(std::span<const PackedFile> files,
                                      const std::vector<size_t>& order, int64_t target_bytes,
                                      size_t open_limit) {
  std::vector<std::vector<size_t>> packed;
  std::deque<Bin> open;
  for (const size_t i : order) {
    const int64_t size = files[i].size_bytes;
    const auto bin = std::find_if(open.begin(), open.end(), [size, target_bytes](const Bin& b) {
      return size <= target_bytes - b.size_bytes;
    });
    if (bin != open.end()) {
      bin->files.push_back(i);
      bin->size_bytes += size;
      continue;
    }
    open.push_back({{i}, size});
    if (open.size() <= open_limit) continue;
    packed.push_back(std::move(open.front().files));
    open.pop_front();
  }
  for (Bin& bin : open) packed.push_back(std::move(bin.files));
  return packed;
}

}  // namespace

std::vector<std::vector<size_t>> PackFiles(std::span<const PackedFile> files,
                                           int64_t target_bytes) {
  return Pack(files, ByPath(files), target_bytes, kLookBack);
}

std::vector<std::vector<size_t>> PackFewest(std::span<const PackedFile> files,
                                            int64_t target_bytes) {
  std::vector<size_t> order = ByPath(files);
  std::stable_sort(order.begin(), order.end(), [&files](size_t a, size_t b) {
    return files[a].size_bytes > files[b].size_bytes;
  });
  auto packed = Pack(files, order, target_bytes, files.size());
  // Rows keep the order of the files they came in.
  for (auto& bin : packed) {
    std::sort(bin.begin(), bin.end(),
              [&files](size_t a, size_t b) { return files[a].path < files[b].path; });
  }
  return packed;
}

}  // namespace sluice::connectors::filesystem
