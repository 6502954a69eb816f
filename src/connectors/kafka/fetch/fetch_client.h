// Fetches partitions from the brokers that lead them: a thread that asks who leads what, and one
// for each broker with a request under way while what came before is decoded.
//
// Nothing is lost and nothing comes twice: a partition is in one request at a time, and its next
// request begins where the answer before ended. A partition whose leader changes goes on at the
// same offset with the new one.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/result.h"
#include "connectors/kafka/fetch/connection.h"
#include "connectors/kafka/fetch/record_batch.h"

namespace sluice::connectors::kafka::fetch {

/// Whole record batches of one partition, in order. `batches` are parts of `buffer`.
struct FetchedChunk {
  int tag = 0;
  std::shared_ptr<const FetchBuffer> buffer;
  std::vector<RawBatch> batches;  // Without control batches and aborted transactions.
  int64_t from = 0;               // Records of the first batch before this are not wanted.
  int64_t next_offset = 0;        // Position behind all that the answer held.
};

struct FetchState;

class FetchClient {
 public:
  struct Partition {
    int tag = 0;  // The caller's number of it.
    std::string topic;
    int32_t partition = 0;
    int64_t offset = 0;  // kFromBeginning: the first that there is.
    int64_t stop = INT64_MAX;
  };
  static constexpr int64_t kFromBeginning = -2;

  /// `wake` is called on the client's threads whenever Take has something new to tell. Fails when
  /// certificates cannot be read.
  static Result<std::unique_ptr<FetchClient>> Make(FetchSettings settings,
                                                   std::shared_ptr<FetchMemory> memory,
                                                   std::function<void()> wake);
  /// Ends requests under way at once.
  ~FetchClient();
  FetchClient(const FetchClient&) = delete;
  FetchClient& operator=(const FetchClient&) = delete;

  /// Begins to fetch. Once for each partition.
  void Start(Partition partition);

  /// The oldest chunk that was not taken; nullopt when there is none now. Fails with what ended the
  /// fetch of a partition for good: credentials, rights, an offset that the log does not hold,
  /// damaged bytes.
  Result<std::optional<FetchedChunk>> Take();

  /// What brokers do not answer for, "" while all goes well: "127.0.0.1:9092: Connect failed: …".
  std::string trouble() const;

 private:
  explicit FetchClient(std::shared_ptr<FetchMemory> memory);

  std::unique_ptr<FetchState> state_;
};

}  // namespace sluice::connectors::kafka::fetch
