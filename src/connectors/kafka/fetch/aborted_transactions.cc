#include "connectors/kafka/fetch/aborted_transactions.h"

#include <algorithm>
#include <set>

namespace sluice::connectors::kafka::fetch {

Result<std::vector<RawBatch>> VisibleBatches(std::vector<RawBatch> batches,
                                             std::vector<AbortedTransaction> aborted,
                                             bool read_committed) {
  std::sort(aborted.begin(), aborted.end(),
            [](const auto& a, const auto& b) { return a.first_offset < b.first_offset; });
  std::set<int64_t> aborting;  // Producers whose open transaction ends with an abort.
  auto next = aborted.begin();
  std::vector<RawBatch> visible;
  visible.reserve(batches.size());
  for (const RawBatch& batch : batches) {
    if (read_committed) {
      for (; next != aborted.end() && next->first_offset <= batch.last_offset; ++next)
        aborting.insert(next->producer_id);
    }
    if (batch.control()) {
      if (!aborting.contains(batch.producer_id)) continue;
      SLUICE_ASSIGN_OR_RETURN(const ControlKind kind, ReadControl(batch));
      if (kind == ControlKind::kAbort) aborting.erase(batch.producer_id);
      continue;
    }
    if (batch.transactional() && aborting.contains(batch.producer_id)) continue;
    visible.push_back(batch);
  }
  return visible;
}

}  // namespace sluice::connectors::kafka::fetch
