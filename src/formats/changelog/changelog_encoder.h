// Rows with kinds to messages of a dialect, equal to Flink's byte for byte.
#pragma once

#include "formats/changelog/dialect.h"
#include "formats/json/json_encoder.h"

namespace sluice::formats::changelog {

class ChangelogEncoder final : public RowEncoder {
 public:
  ChangelogEncoder(const Dialect& dialect, const json::JsonOptions& options, const Schema& schema,
                   Framing framing);

  Status Encode(const Batch& batch, std::string* out, std::vector<size_t>* row_ends) override;

 private:
  json::JsonRowWriter writer_;
  const Frame insertion_;
  const Frame removal_;
  const Framing framing_;
  text::OutputBuffer buffer_;
};

}  // namespace sluice::formats::changelog
