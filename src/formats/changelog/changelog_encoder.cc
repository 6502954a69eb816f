#include "formats/changelog/changelog_encoder.h"

#include <new>

namespace sluice::formats::changelog {

ChangelogEncoder::ChangelogEncoder(const Dialect& dialect, const json::JsonOptions& options,
                                   const Schema& schema, Framing framing)
    : writer_(options, schema),
      insertion_(options.ignore_null_fields ? dialect.slim_insertion : dialect.insertion),
      removal_(options.ignore_null_fields ? dialect.slim_removal : dialect.removal),
      framing_(framing) {}

Status ChangelogEncoder::Encode(const Batch& batch, std::string* out,
                                std::vector<size_t>* row_ends) {
  if (batch.rows() == nullptr) return {};
  try {
    SLUICE_RETURN_NOT_OK(writer_.Bind(*batch.rows()));
    buffer_.Truncate(0);
    for (int64_t row = 0; row < batch.row_count(); ++row) {
      const RowKind kind = batch.row_kind(row);
      const bool removes = kind == RowKind::kUpdateBefore || kind == RowKind::kDelete;
      const Frame& frame = removes ? removal_ : insertion_;
      buffer_.Put(frame.before);
      SLUICE_RETURN_NOT_OK(writer_.Write(row, &buffer_));
      buffer_.Put(frame.behind);
      if (framing_ == Framing::kFile) buffer_.Put('\n');
      if (row_ends != nullptr) row_ends->push_back(out->size() + buffer_.size());
    }
    out->append(buffer_.view());
    return {};
  } catch (const std::bad_alloc&) {
    return Status::Unavailable("Out of memory while encoding changes as json.");
  }
}

}  // namespace sluice::formats::changelog
