// The end of a chain: how batches are spread over the channels to the next tasks.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <arrow/memory_pool.h>

#include "common/result.h"
#include "runtime/channel.h"
#include "runtime/job_graph.h"

namespace sluice::runtime {

/// Writes into the channels of one out edge of one task. Control elements go into every channel.
class ExchangeWriter {
 public:
  explicit ExchangeWriter(std::vector<std::shared_ptr<Channel>> channels)
      : channels_(std::move(channels)) {}
  virtual ~ExchangeWriter() = default;

  virtual Status Write(Batch batch) = 0;
  /// False when one more batch should wait.
  virtual bool HasRoom() const = 0;

  void WriteControl(const StreamElement& element);
  /// Every consumer has all it wants.
  bool data_unwanted() const;
  void Close();
  const std::vector<std::shared_ptr<Channel>>& channels() const { return channels_; }

 protected:
  bool AllHaveRoom() const;
  std::vector<std::shared_ptr<Channel>> channels_;
};

/// `key_columns` are used by kHash only. `pool` must outlive the writer.
std::unique_ptr<ExchangeWriter> MakeExchangeWriter(Exchange exchange, std::vector<int> key_columns,
                                                   std::vector<std::shared_ptr<Channel>> channels,
                                                   arrow::MemoryPool* pool);

}  // namespace sluice::runtime
