// A sorted, compressed, immutable run of known paths: some 10 bytes each.
//
// A path is 80 bits of a hash of it; a mark of 16 bits goes with it. The first 64 bits are kept as
// differences in Rice code (n sorted values of 64 bits need about 64 - log2(n) + 1.6 bits each), in
// blocks that can be entered one by one. The bytes are the same in memory and in checkpoints.
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "common/result.h"

namespace sluice::connectors::filesystem {

struct PathKey {
  uint64_t hash = 0;
  uint16_t more_hash = 0;
  auto operator<=>(const PathKey&) const = default;
};

struct PathEntry {
  PathKey key;
  uint16_t mark = 0;
};

/// Immutable; copies share the bytes.
class PathSegment {
 public:
  /// `entries`: sorted by key, each key once, at least one.
  static PathSegment Make(std::span<const PathEntry> entries);
  /// Fails with kCorrupt for bytes that Make has not given.
  static Result<PathSegment> Decode(std::string bytes);

  size_t size() const { return count_; }
  const std::string& bytes() const { return *bytes_; }
  std::optional<uint16_t> Find(const PathKey& key) const;

  /// Gives the entries in order.
  class Cursor {
   public:
    explicit Cursor(const PathSegment& segment) : segment_(&segment) {}
    /// Null at the end. Valid until the next call.
    const PathEntry* Next();
    /// The bytes were exhausted too early: damage.
    bool failed() const { return failed_; }

   private:
    friend class PathSegment;
    void EnterBlock(size_t block);
    const PathSegment* segment_;
    size_t index_ = 0;  // Of the next entry.
    uint64_t bit_ = 0;
    PathEntry entry_;
    bool failed_ = false;
  };

 private:
  explicit PathSegment(std::shared_ptr<const std::string> bytes);
  uint64_t FirstHash(size_t block) const;
  uint64_t FirstBit(size_t block) const;

  std::shared_ptr<const std::string> bytes_;
  size_t count_ = 0;
  int low_bits_ = 0;
  size_t block_count_ = 0;
};

}  // namespace sluice::connectors::filesystem
