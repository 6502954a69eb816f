#include "runtime/growing_blocks.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace sluice::runtime {
namespace {

// Of a block that shrinks, less than this is not worth a system call.
constexpr int64_t kLeastReleasedBytes = 1 << 20;
constexpr int64_t kPageBytes = 4 << 10;

int64_t WholePages(int64_t bytes) { return (bytes + kPageBytes - 1) / kPageBytes * kPageBytes; }

}  // namespace

GrowingBlocks::GrowingBlocks(arrow::MemoryPool* backing, const Sizes& sizes)
    : backing_(*backing), sizes_(sizes) {
  // Sanitizers watch over what malloc hands out; asked for it, all blocks are its.
  if (backing->backend_name() == "system") return;
  const auto bytes = static_cast<size_t>(sizes.slot_count * sizes.slot_bytes);
  void* const range = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (range == MAP_FAILED) return;
  begin_ = static_cast<uint8_t*>(range);
  end_ = begin_ + bytes;
}

GrowingBlocks::~GrowingBlocks() {
  if (begin_ != nullptr) munmap(begin_, static_cast<size_t>(end_ - begin_));
}

size_t GrowingBlocks::ClassOf(int64_t bytes) const {
  if (bytes < sizes_.least_bytes) return 0;
  return static_cast<size_t>(std::bit_width(static_cast<uint64_t>(bytes / sizes_.least_bytes)));
}

bool GrowingBlocks::InSlot(const uint8_t* block) const { return block >= begin_ && block < end_; }

GrowingBlocks::Slot GrowingBlocks::SlotOf(const uint8_t* block) const {
  return static_cast<Slot>((block - begin_) / sizes_.slot_bytes);
}

bool GrowingBlocks::FitsSlot(int64_t size, int64_t alignment) const {
  return size >= sizes_.least_bytes && size <= sizes_.slot_bytes && alignment <= kPageBytes;
}

uint8_t* GrowingBlocks::TakeSlot(int64_t size) {
  const std::lock_guard lock(mutex_);
  // One that keeps all that is asked for and not much more; or a part of it.
  size_t from = ClassOf(size - 1) + 1;
  if (free_[from].empty() && from + 1 < kClasses) ++from;
  while (from > 0 && free_[from].empty()) --from;
  Slot slot = 0;
  if (!free_[from].empty()) {
    slot = free_[from].back();
    free_[from].pop_back();
  } else if (BlockOf(never_used_) < end_) {
    slot = never_used_++;
    touched_.push_back(0);
  } else {
    return nullptr;
  }
  kept_bytes_ -= touched_[slot];
  touched_[slot] = std::max(touched_[slot], WholePages(size));
  used_bytes_ += size;
  total_bytes_ += size;
  ++allocations_;
  return BlockOf(slot);
}

void GrowingBlocks::GiveSlot(const uint8_t* block, int64_t size) {
  const std::lock_guard lock(mutex_);
  const Slot slot = SlotOf(block);
  used_bytes_ -= size;
  kept_bytes_ += touched_[slot];
  free_[ClassOf(touched_[slot])].push_back(slot);
  ReleaseDownTo(sizes_.kept_bytes);
}

void GrowingBlocks::Resize(uint8_t* block, int64_t old_size, int64_t new_size) {
  const std::lock_guard lock(mutex_);
  const Slot slot = SlotOf(block);
  used_bytes_ += new_size - old_size;
  const int64_t touched = WholePages(new_size);
  if (touched > touched_[slot]) {
    total_bytes_ += new_size - old_size;
    touched_[slot] = touched;
  } else if (touched_[slot] - touched >= kLeastReleasedBytes) {
    Release(slot, touched);
  }
}

void GrowingBlocks::Release(Slot slot, int64_t from) {
  madvise(BlockOf(slot) + from, static_cast<size_t>(touched_[slot] - from), MADV_DONTNEED);
  touched_[slot] = from;
}

void GrowingBlocks::ReleaseDownTo(int64_t bytes) {
  for (size_t from = kClasses - 1; from > 0; --from) {
    while (kept_bytes_ > bytes && !free_[from].empty()) {
      const Slot slot = free_[from].back();
      free_[from].pop_back();
      kept_bytes_ -= touched_[slot];
      Release(slot, 0);
      free_[0].push_back(slot);
    }
  }
}

arrow::Status GrowingBlocks::Allocate(int64_t size, int64_t alignment, uint8_t** out) {
  if (FitsSlot(size, alignment)) {
    uint8_t* const block = TakeSlot(size);
    if (block != nullptr) {
      *out = block;
      return arrow::Status::OK();
    }
  }
  return backing_.Allocate(size, alignment, out);
}

arrow::Status GrowingBlocks::Reallocate(int64_t old_size, int64_t new_size, int64_t alignment,
                                        uint8_t** block) {
  const bool in_slot = InSlot(*block);
  if (in_slot && FitsSlot(new_size, alignment)) {
    Resize(*block, old_size, new_size);
    return arrow::Status::OK();
  }
  const bool enters_slot =
      !in_slot && old_size < sizes_.least_bytes && FitsSlot(new_size, alignment);
  if (!in_slot && !enters_slot) return backing_.Reallocate(old_size, new_size, alignment, block);
  uint8_t* moved = nullptr;
  ARROW_RETURN_NOT_OK(Allocate(new_size, alignment, &moved));
  std::memcpy(moved, *block, static_cast<size_t>(std::min(old_size, new_size)));
  Free(*block, old_size, alignment);
  *block = moved;
  return arrow::Status::OK();
}

void GrowingBlocks::Free(uint8_t* block, int64_t size, int64_t alignment) {
  if (InSlot(block)) {
    GiveSlot(block, size);
  } else {
    backing_.Free(block, size, alignment);
  }
}

void GrowingBlocks::ReleaseUnused() {
  {
    const std::lock_guard lock(mutex_);
    ReleaseDownTo(0);
  }
  backing_.ReleaseUnused();
}

int64_t GrowingBlocks::bytes_allocated() const {
  const std::lock_guard lock(mutex_);
  return backing_.bytes_allocated() + used_bytes_;
}

int64_t GrowingBlocks::total_bytes_allocated() const {
  const std::lock_guard lock(mutex_);
  return backing_.total_bytes_allocated() + total_bytes_;
}

int64_t GrowingBlocks::num_allocations() const {
  const std::lock_guard lock(mutex_);
  return backing_.num_allocations() + allocations_;
}

int64_t GrowingBlocks::kept_bytes() const {
  const std::lock_guard lock(mutex_);
  return kept_bytes_;
}

arrow::MemoryPool* JobMemory() {
  static auto* const huge = new GrowingBlocks(arrow::default_memory_pool(), GrowingBlocks::kHuge);
  static auto* const blocks = new GrowingBlocks(huge, GrowingBlocks::kLarge);
  return blocks;
}

}  // namespace sluice::runtime
