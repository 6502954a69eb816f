// Which files of a watched directory have been seen, in 16 bytes a path, for ever.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "fs/file_system.h"

namespace sluice::connectors::filesystem {

/// Identity is the path: 96 bits of its hash (a million paths share one with a chance of 1 in
/// 10^17). The rest tells whether a seen file has changed since. Not thread-safe. State: all of it,
/// versioned; nothing is ever forgotten.
class ProcessedPaths {
 public:
  enum class Seen { kNew, kSame, kChanged };
  /// kNew marks the path as seen. kChanged is answered once for each change.
  Seen Look(const fs::FileInfo& file);

  size_t size() const { return sorted_.size() + recent_.size(); }
  std::string Encode();
  /// Fails with kCorrupt.
  static Result<ProcessedPaths> Decode(std::string_view bytes);

 private:
  struct Entry {
    uint64_t hash = 0;
    uint32_t more_hash = 0;
    uint32_t version = 0;  // Hash of size and modification time.
  };
  static bool Before(const Entry& a, const Entry& b) {
    return a.hash != b.hash ? a.hash < b.hash : a.more_hash < b.more_hash;
  }
  static Entry EntryOf(const fs::FileInfo& file);
  Entry* Find(std::vector<Entry>& entries, const Entry& wanted);
  void Merge();

  std::vector<Entry> sorted_;
  std::vector<Entry> recent_;  // Sorted as well; merged when it has grown.
};

}  // namespace sluice::connectors::filesystem
