#include "runtime/channel.h"

#include <algorithm>

namespace sluice::runtime {

Channel::Channel(int64_t capacity_bytes, int batch_limit)
    : capacity_bytes_(std::max<int64_t>(capacity_bytes, 1)),
      batch_limit_(batch_limit),
      room_bytes_(capacity_bytes_) {}

int64_t Channel::room_bytes() const { return room_bytes_.load(std::memory_order_acquire); }

void Channel::Push(StreamElement element) {
  const Batch* const batch = std::get_if<Batch>(&element);
  if (batch != nullptr && (data_unwanted() || batch->row_count() == 0)) return;
  // An empty schema has rows and no bytes: COUNT(*) needs them to take room, too.
  const int64_t byte_size = batch == nullptr ? 0 : std::max<int64_t>(batch->byte_size(), 1);
  bool was_empty = false;
  {
    const std::lock_guard lock(mutex_);
    was_empty = items_.empty();
    items_.push_back({std::move(element), byte_size});
    size_.store(items_.size(), std::memory_order_release);
    if (byte_size > 0) {
      data_bytes_ += byte_size;
      ++data_batches_;
      const bool full = data_batches_ >= batch_limit_;
      room_bytes_.store(full ? 0 : capacity_bytes_ - data_bytes_, std::memory_order_release);
    }
  }
  if (was_empty && consumer_) consumer_->Wake();
}

std::optional<StreamElement> Channel::Pop() {
  std::optional<StreamElement> element;
  bool has_room_again = false;
  {
    const std::lock_guard lock(mutex_);
    if (items_.empty()) return std::nullopt;
    const int64_t byte_size = items_.front().byte_size;
    element.emplace(std::move(items_.front().element));
    items_.pop_front();
    size_.store(items_.size(), std::memory_order_release);
    if (byte_size > 0) {
      const bool had_room = room_bytes() > 0;
      data_bytes_ -= byte_size;
      --data_batches_;
      const bool full = data_batches_ >= batch_limit_;
      room_bytes_.store(full ? 0 : capacity_bytes_ - data_bytes_, std::memory_order_release);
      has_room_again = !had_room && room_bytes() > 0;
    }
  }
  if (has_room_again && producer_) producer_->Wake();
  return element;
}

bool Channel::DataIsNext() const {
  const std::lock_guard lock(mutex_);
  return !items_.empty() && items_.front().byte_size > 0;
}

bool Channel::finished() const { return closed_.load(std::memory_order_acquire) && empty(); }

void Channel::Close() {
  closed_.store(true, std::memory_order_release);
  if (consumer_) consumer_->Wake();
}

void Channel::RefuseData() {
  if (!data_unwanted_.exchange(true) && producer_) producer_->Wake();
}

}  // namespace sluice::runtime
