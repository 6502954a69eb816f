// Which batches of a fetch answer a reader of committed records may see.
#pragma once

#include <vector>

#include "connectors/kafka/fetch/record_batch.h"
#include "connectors/kafka/fetch/requests.h"

namespace sluice::connectors::kafka::fetch {

/// Keeps what a reader sees of `batches`, the batches of one partition in one answer: no control
/// batches, and with `read_committed` none of a transaction that `aborted` names. A transaction is
/// over with its control record; the producer's next one begins anew.
Result<std::vector<RawBatch>> VisibleBatches(std::vector<RawBatch> batches,
                                             std::vector<AbortedTransaction> aborted,
                                             bool read_committed);

}  // namespace sluice::connectors::kafka::fetch
