#include "runtime/operators/values_source.h"

namespace sluice::runtime {
namespace {

class ValuesReader final : public SourceReader {
 public:
  ValuesReader(const std::vector<Batch>& batches, int64_t emitted)
      : batches_(batches), emitted_(emitted) {}

  Status Open(TaskContext& context) override {
    rows_in_ = &context.metrics->Counter(metric::kRowsIn);
    return {};
  }

  Result<PollResult> Poll(Output& out) override {
    if (emitted_ >= static_cast<int64_t>(batches_.size())) return PollResult::kFinished;
    const Batch& batch = batches_[static_cast<size_t>(emitted_++)];
    *rows_in_ += batch.row_count();
    SLUICE_RETURN_NOT_OK(out.Emit(batch));
    return PollResult::kEmitted;
  }

  Status Snapshot(const Barrier&, StateWriter& state) override {
    state.PutI64("emitted_batches", emitted_);
    return {};
  }

 private:
  const std::vector<Batch> batches_;
  int64_t emitted_;
  std::atomic<int64_t>* rows_in_ = nullptr;
};

}  // namespace

Status ValuesSource::Open(const SourceContext&, const RestoredSourceState* restored) {
  emitted_batches_ = 0;
  if (restored != nullptr && !restored->readers.empty()) {
    SLUICE_ASSIGN_OR_RETURN(emitted_batches_, restored->readers[0].GetI64("emitted_batches"));
  }
  return {};
}

Result<std::unique_ptr<SourceReader>> ValuesSource::MakeReader(int) {
  return std::unique_ptr<SourceReader>(std::make_unique<ValuesReader>(batches_, emitted_batches_));
}

}  // namespace sluice::runtime
