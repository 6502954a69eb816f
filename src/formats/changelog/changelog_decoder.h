// Messages of a dialect to batches with row kinds.
#pragma once

#include <memory>

#include "formats/changelog/dialect.h"
#include "formats/json/json_decoder.h"

namespace sluice::formats::changelog {

class ChangelogDecoder final : public json::JsonDecoder {
 public:
  static Result<std::unique_ptr<RowDecoder>> Make(const Dialect& dialect, ChangelogOptions options,
                                                  const ReadSchema& schema,
                                                  const FormatContext& context);

 protected:
  bool ReadRecord(std::string_view record, int64_t* row) override;
  void TakeBack(int64_t row_count) override;
  void Complete(DecodedRows* out) override;
  std::string Complaint(std::string_view record) const override;

 private:
  ChangelogDecoder(const Dialect& dialect, ChangelogOptions options, const ReadSchema& schema,
                   const FormatContext& context);

  const Dialect& dialect_;
  const ChangelogOptions options_;
  arrow::MemoryPool* pool_;
  MetadataColumns metadata_;
  std::unique_ptr<Message> message_;
};

}  // namespace sluice::formats::changelog
