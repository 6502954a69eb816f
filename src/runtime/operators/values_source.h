// Constant rows as a bounded source.
#pragma once

#include <memory>
#include <vector>

#include "runtime/source.h"
#include "types/schema.h"

namespace sluice::runtime {

/// Emits given batches once, with one reader. Thread: Open and MakeReader on the job's thread.
/// State: how many batches are out.
class ValuesSource final : public Source {
 public:
  explicit ValuesSource(std::vector<Batch> batches) : batches_(std::move(batches)) {}
  bool bounded() const override { return true; }
  Status Open(const SourceContext& context, const RestoredSourceState* restored) override;
  int reader_count() const override { return 1; }
  Result<std::unique_ptr<SourceReader>> MakeReader(int subtask) override;

 private:
  const std::vector<Batch> batches_;
  int64_t emitted_batches_ = 0;
};

}  // namespace sluice::runtime
