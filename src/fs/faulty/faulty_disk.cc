#include "fs/faulty/faulty_disk.h"

#include <cerrno>

#include "common/text.h"

namespace sluice::fs {

namespace {

constexpr int kRoot = 0;
constexpr size_t kHistoryLimit = 8;

}  // namespace

FaultyDisk::FaultyDisk(uint64_t seed, const Clock* clock) : clock_(clock), random_(seed) {
  inodes_[kRoot].is_directory = true;
}

void FaultyDisk::SetFaultRates(const FaultRates& rates) {
  const std::lock_guard lock(mutex_);
  rates_ = rates;
}

void FaultyDisk::CutPowerAfter(int64_t operations) {
  const std::lock_guard lock(mutex_);
  power_cut_at_ = operations < 0 ? -1 : operation_count_ + operations;
}

void FaultyDisk::SetOperationHook(std::function<void(std::string_view, const std::string&)> hook) {
  const std::lock_guard lock(mutex_);
  hook_ = std::move(hook);
}

std::vector<FaultyDisk::WriteBack> FaultyDisk::write_backs() const {
  const std::lock_guard lock(mutex_);
  return write_backs_;
}

int64_t FaultyDisk::operation_count() const {
  const std::lock_guard lock(mutex_);
  return operation_count_;
}

FaultyDisk::Verdict FaultyDisk::Decide(double rate, int error) {
  if (power_is_off_) return {EIO, false};
  const int64_t number = operation_count_++;
  if (power_cut_at_ >= 0 && number >= power_cut_at_) {
    power_is_off_ = true;
    return {EIO, random_.OneIn(2)};  // The current fails in the middle of this one.
  }
  if (rate > 0 && random_.NextDouble() < rate) return {error, random_.OneIn(2)};
  return {};
}

int FaultyDisk::Resolve(const std::string& path, Place* place) const {
  place->directory = -1;
  place->name.clear();
  place->inode = kRoot;
  for (const std::string_view component : Split(path, '/')) {
    if (component.empty()) continue;
    if (place->inode < 0) return -ENOENT;
    const Inode& inode = inodes_.at(place->inode);
    if (!inode.is_directory) return -ENOTDIR;
    place->directory = place->inode;
    place->name = std::string(component);
    const auto it = inode.entries.find(component);
    place->inode = it == inode.entries.end() ? -1 : it->second;
  }
  return place->inode < 0 ? -ENOENT : 0;
}

int FaultyDisk::NewInode(bool is_directory) {
  const int number = next_inode_++;
  inodes_[number].is_directory = is_directory;
  inodes_[number].modified_ms = clock_->NowMillis();
  return number;
}

void FaultyDisk::Changed(int directory) {
  Inode& inode = inodes_.at(directory);
  inode.modified_ms = clock_->NowMillis();
  inode.history.push_back(inode.entries);
  if (inode.history.size() > kHistoryLimit) inode.history.pop_front();
}

void FaultyDisk::Couple(int a, int b) {
  if (a == b) return;
  inodes_.at(a).coupled.insert(b);
  inodes_.at(b).coupled.insert(a);
}

void FaultyDisk::SyncEntries(int directory) {
  std::vector<int> waiting = {directory};
  while (!waiting.empty()) {
    const auto it = inodes_.find(waiting.back());
    waiting.pop_back();
    if (it == inodes_.end()) continue;
    Inode& inode = it->second;
    inode.durable_entries = inode.entries;
    inode.history.clear();
    waiting.insert(waiting.end(), inode.coupled.begin(), inode.coupled.end());
    inode.coupled.clear();
  }
}

void FaultyDisk::LoseData(Inode* inode) {
  if (inode->data == inode->durable_data) return;
  switch (random_.Below(4)) {
    case 0:
      break;  // All of it had reached the disk.
    case 1:
      inode->data = inode->durable_data;
      break;
    default:
      if (inode->data.size() <= inode->durable_data.size()) {
        inode->data = inode->durable_data;  // The cut was lost.
        break;
      }
      {
        const size_t synced = inode->durable_data.size();
        const size_t kept = synced + random_.Below(inode->data.size() - synced + 1);
        inode->data.resize(kept);
        if (random_.OneIn(2))
          std::fill(inode->data.begin() + static_cast<std::ptrdiff_t>(synced), inode->data.end(),
                    '\0');
      }
  }
  inode->durable_data = inode->data;
}

void FaultyDisk::Crash() {
  const std::lock_guard lock(mutex_);
  ++epoch_;
  power_is_off_ = false;
  power_cut_at_ = -1;
  for (auto& [number, inode] : inodes_) {
    LoseData(&inode);
    if (!inode.is_directory || inode.history.empty()) continue;
    if (!inode.coupled.empty()) {
      // All folders of a shared rename go the same way.
      if (random_.OneIn(2)) {
        SyncEntries(number);
        continue;
      }
      std::vector<int> waiting = {number};
      while (!waiting.empty()) {
        Inode& other = inodes_.at(waiting.back());
        waiting.pop_back();
        other.entries = other.durable_entries;
        other.history.clear();
        waiting.insert(waiting.end(), other.coupled.begin(), other.coupled.end());
        other.coupled.clear();
      }
      continue;
    }
    const size_t choice = random_.Below(inode.history.size() + 1);
    inode.entries = choice == 0 ? inode.durable_entries : inode.history[choice - 1];
    inode.durable_entries = inode.entries;
    inode.history.clear();
  }
  DropUnreachable();
}

void FaultyDisk::Kill() {
  const std::lock_guard lock(mutex_);
  ++epoch_;
  power_is_off_ = false;
  power_cut_at_ = -1;
}

void FaultyDisk::DropUnreachable() {
  std::set<int> reached = {kRoot};
  std::vector<int> waiting = {kRoot};
  while (!waiting.empty()) {
    const Inode& inode = inodes_.at(waiting.back());
    waiting.pop_back();
    for (const auto& [name, number] : inode.entries) {
      if (reached.insert(number).second) waiting.push_back(number);
    }
  }
  std::erase_if(inodes_, [&](const auto& item) { return !reached.contains(item.first); });
}

void FaultyDisk::Collect(int inode, const std::string& path, bool with_hidden,
                         std::map<std::string, std::string>* files) const {
  for (const auto& [name, number] : inodes_.at(inode).entries) {
    if (!with_hidden && IsHiddenName(name)) continue;
    const std::string below = JoinPath(path, name);
    const Inode& entry = inodes_.at(number);
    if (entry.is_directory) {
      Collect(number, below, with_hidden, files);
    } else {
      files->emplace(below, entry.data);
    }
  }
}

std::map<std::string, std::string> FaultyDisk::VisibleFiles(const std::string& root) const {
  const std::lock_guard lock(mutex_);
  std::map<std::string, std::string> files;
  Place place;
  if (Resolve(root, &place) == 0 && inodes_.at(place.inode).is_directory)
    Collect(place.inode, root, false, &files);
  return files;
}

std::map<std::string, std::string> FaultyDisk::AllFiles(const std::string& root) const {
  const std::lock_guard lock(mutex_);
  std::map<std::string, std::string> files;
  Place place;
  if (Resolve(root, &place) == 0 && inodes_.at(place.inode).is_directory)
    Collect(place.inode, root, true, &files);
  return files;
}

}  // namespace sluice::fs
