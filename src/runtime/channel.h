// The way from one task to another: elements in order, bounded by the bytes of data in it.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>

#include "runtime/element.h"
#include "runtime/executor.h"

namespace sluice::runtime {

// Invariants:
//  - Nothing is ever refused: the producer looks at HasRoom before it makes more data. Watermarks,
//  barriers, idleness and the end
//    take no room but keep their place, so a full channel delays no checkpoint.
//  - An empty channel has room whatever the size of the next batch: one oversized batch is always
//  admitted.
// Thread: one producer, one consumer.
class Channel {
 public:
  /// Bounded by bytes, and by `batch_limit` batches (small ones cost more than their bytes).
  explicit Channel(int64_t capacity_bytes, int batch_limit = 16);

  /// Set before the first element moves.
  void SetProducer(std::shared_ptr<Waker> producer) { producer_ = std::move(producer); }
  void SetConsumer(std::shared_ptr<Waker> consumer) { consumer_ = std::move(consumer); }

  // Producer.
  bool HasRoom() const { return room_bytes() > 0; }
  /// What is left of the capacity, not above zero when full.
  int64_t room_bytes() const;
  void Push(StreamElement element);
  /// No element follows; the consumer may end.
  void Close();
  /// The consumer wants no more data (LIMIT): data pushed from now on is dropped, the rest goes on.
  bool data_unwanted() const { return data_unwanted_.load(std::memory_order_acquire); }

  // Consumer.
  std::optional<StreamElement> Pop();
  bool empty() const { return size_.load(std::memory_order_acquire) == 0; }
  /// True when the element that Pop would return is data.
  bool DataIsNext() const;
  /// Closed and empty.
  bool finished() const;
  void RefuseData();

 private:
  const int64_t capacity_bytes_;
  const int batch_limit_;
  std::shared_ptr<Waker> producer_;
  std::shared_ptr<Waker> consumer_;

  struct Item {
    StreamElement element;
    int64_t byte_size;  // 0 for control elements.
  };
  mutable std::mutex mutex_;
  std::deque<Item> items_;
  int64_t data_bytes_ = 0;
  int data_batches_ = 0;
  std::atomic<size_t> size_{0};
  std::atomic<int64_t> room_bytes_;
  std::atomic<bool> closed_{false};
  std::atomic<bool> data_unwanted_{false};
};

}  // namespace sluice::runtime
