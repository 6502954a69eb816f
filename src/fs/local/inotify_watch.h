// What inotify tells about a directory tree on a local disk.
//
// Invariants:
//  - A folder is watched before it is listed, so that nothing appears in between unseen.
//  - A file made by open() is told when its writer closes it, not when it is made; links and
//    renames, which are complete at once, are told at once.
//  - Whatever may have been missed (the kernel's queue ran over, the limit of watches, a folder
//  that
//    is on a network disk, the root moved away) is told as trouble, once, and ends the watch.
// Thread: one of its own reads the events. State: none that outlives the process.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <unordered_set>

#include "fs/file_system.h"

struct inotify_event;  // <sys/inotify.h>

namespace sluice::fs {

class InotifyWatch final : public TreeWatch {
 public:
  /// kUnsupported when `root` is on a disk whose changes by others this machine does not hear of
  /// (inotify(7): network file systems, FUSE); kNotFound when it is not a directory.
  static Result<std::unique_ptr<TreeWatch>> Start(const std::string& root,
                                                  std::function<void()> wake);
  ~InotifyWatch() override;

  News Take() override;
  bool BeingWritten(const std::string& path) const override;

 private:
  InotifyWatch(std::string root, std::function<void()> wake)
      : root_(std::move(root)), wake_(std::move(wake)) {}
  Status Open();
  void Run();
  void ReadEvents();
  void OnEvent(const ::inotify_event& event);
  void OnDirectory(const std::string& path, uint32_t mask);
  void OnFile(const std::string& path, uint32_t mask);
  /// Watches `path` and the folders below it. `tell_files`: the files that are there are news.
  Status AddTree(const std::string& path, bool tell_files);
  Status AddOne(const std::string& path);
  void RemoveTree(const std::string& path);
  void Tell(const std::string& path);
  void Fail(Status trouble);

  const std::string root_;
  const std::function<void()> wake_;
  int inotify_ = -1;
  int stop_ = -1;  // An eventfd that ends the thread.
  std::thread thread_;

  // Of the thread only, and of Open before it starts.
  std::unordered_map<int, std::string> folders_;  // Watch descriptor -> path.
  int root_descriptor_ = -1;

  mutable std::mutex mutex_;
  std::unordered_set<std::string> told_;
  std::unordered_set<std::string> being_written_;
  Status trouble_;
};

}  // namespace sluice::fs
