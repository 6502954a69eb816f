// The memory of jobs: large blocks grow where they are, and their pages are used again.
//
// What an encoder gathers grows by doubling. In Arrow's own pools each doubling of a large block is
// a new one, its bytes are copied and the kernel clears fresh pages for all of it; and what is
// freed goes back to the kernel at once. JSON into 48 Parquet partitions spent a seventh of its
// processor time on page faults, three quarters of them of such blocks.
// Here a large block stands in a slot of address space in which it can grow without moving. A slot
// keeps its pages when the block goes, up to a bound for all of them together.
//
// Beyond a slot of the size that most columns of a row group need it goes on in a larger one, of
// which there are few: a row group of 128 MiB of texts took 260 MiB while its last doubling was
// copied.
//
// Invariants: a block is in a slot exactly when its address is in the range of slots; slots in use
// are in no list. Thread: any. Small blocks, and all when there is no address space for slots
// (ulimit -v), are the backing pool's.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <arrow/memory_pool.h>

namespace sluice::runtime {

class GrowingBlocks final : public arrow::MemoryPool {
 public:
  struct Sizes {
    int64_t least_bytes;  // Of a block in a slot.
    int64_t slot_bytes;   // Up to 512 times as much.
    int64_t slot_count;
    int64_t kept_bytes;  // Of pages that free slots may keep.
  };
  static constexpr Sizes kLarge{64 << 10, 16 << 20, 4096, 32 << 20};
  static constexpr Sizes kHuge{16 << 20, 512 << 20, 128, 64 << 20};

  GrowingBlocks(arrow::MemoryPool* backing, const Sizes& sizes);
  ~GrowingBlocks() override;

  arrow::Status Allocate(int64_t size, int64_t alignment, uint8_t** out) override;
  arrow::Status Reallocate(int64_t old_size, int64_t new_size, int64_t alignment,
                           uint8_t** block) override;
  void Free(uint8_t* block, int64_t size, int64_t alignment) override;
  void ReleaseUnused() override;

  int64_t bytes_allocated() const override;
  int64_t max_memory() const override { return backing_.max_memory(); }
  int64_t total_bytes_allocated() const override;
  int64_t num_allocations() const override;
  std::string backend_name() const override { return backing_.backend_name(); }

  /// Of free slots; at most what was asked for.
  int64_t kept_bytes() const;
  bool InSlot(const uint8_t* block) const;

 private:
  using Slot = uint32_t;
  // Free slots by what they keep: nothing, then from the least size on each twice the one before.
  static constexpr size_t kClasses = 10;

  size_t ClassOf(int64_t bytes) const;
  Slot SlotOf(const uint8_t* block) const;
  uint8_t* BlockOf(Slot slot) const {
    return begin_ + static_cast<int64_t>(slot) * sizes_.slot_bytes;
  }
  bool FitsSlot(int64_t size, int64_t alignment) const;
  /// Null when all are in use.
  uint8_t* TakeSlot(int64_t size);
  void GiveSlot(const uint8_t* block, int64_t size);
  /// Another size of a block that stays in its slot.
  void Resize(uint8_t* block, int64_t old_size, int64_t new_size);
  /// Gives pages back to the kernel, of the largest first, until `bytes` are kept.
  void ReleaseDownTo(int64_t bytes);
  void Release(Slot slot, int64_t from);

  arrow::MemoryPool& backing_;
  const Sizes sizes_;
  uint8_t* begin_ = nullptr;
  uint8_t* end_ = nullptr;

  mutable std::mutex mutex_;
  // Up to where a slot may have pages.
  std::vector<int64_t> touched_;
  std::array<std::vector<Slot>, kClasses> free_;
  Slot never_used_ = 0;  // This and those behind it.
  int64_t kept_bytes_ = 0;
  int64_t used_bytes_ = 0;
  int64_t total_bytes_ = 0;
  int64_t allocations_ = 0;
};

/// The one of this process; lives for ever.
arrow::MemoryPool* JobMemory();

}  // namespace sluice::runtime
