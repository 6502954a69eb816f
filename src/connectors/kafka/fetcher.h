// Brings the messages of a reader's splits: librdkafka's way, or our own.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/io_pool.h"
#include "common/log.h"
#include "common/memory_budget.h"
#include "connectors/kafka/decode_queue.h"
#include "connectors/kafka/fetch/fetch_settings.h"
#include "connectors/kafka/fetch/messages.h"
#include "connectors/kafka/split_offsets.h"

namespace sluice::connectors::kafka {

/// A stretch of one split. Pieces of a split come in order and without gaps; none holds offsets at
/// or behind its stop.
struct FetchedPiece {
  int split = 0;
  std::unique_ptr<MessageChunk> chunk;  // Null: the position moves only (past control records).
  int64_t next_offset = 0;              // Position behind the piece.
};

/// Called by the reader's task only; nothing blocks.
class Fetcher {
 public:
  virtual ~Fetcher() = default;

  /// Begins to fetch; `index` is the reader's number of the split.
  virtual Status Start(int index, const KafkaSplit& split) = 0;
  /// Appends a bounded amount of what has arrived. True when there may be more at once. Fails with
  /// what ends the reading: offsets that are gone, rights, damaged bytes.
  virtual Result<bool> Take(std::vector<FetchedPiece>* pieces) = 0;
  /// Called once a turn, after Take: keeps librdkafka going.
  virtual void Tend() {}

  /// What brokers do not answer for, "" while all goes well.
  virtual std::string trouble() const = 0;
  /// Messages came: the trouble is over.
  virtual void ClearTrouble() {}
  /// Asks in the background whether it is over; wakes the task then.
  virtual void Probe() {}
};

/// What both ways need to know.
struct FetcherContext {
  const ScanSetup* setup = nullptr;  // Must outlive the fetcher.
  int subtask = 0;
  int reader_count = 1;
  IoPool* io_pool = nullptr;       // May be null.
  MemoryBudget* budget = nullptr;  // May be null.
  std::function<void()> wake;
};

Result<std::unique_ptr<Fetcher>> MakeLibrdkafkaFetcher(FetcherContext context);

/// `settings` as ReadFetchSettings made them.
Result<std::unique_ptr<Fetcher>> MakeNativeFetcher(FetcherContext context,
                                                   fetch::FetchSettings settings);

}  // namespace sluice::connectors::kafka
