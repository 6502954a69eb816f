#include "formats/changelog/changelog_decoder.h"

#include <algorithm>
#include <new>

#include <arrow/buffer.h>

#include "common/text.h"

namespace sluice::formats::changelog {

ChangelogDecoder::ChangelogDecoder(const Dialect& dialect, ChangelogOptions options,
                                   const ReadSchema& schema, const FormatContext& context)
    : JsonDecoder(options.json, schema, context, Records::kEnvelopes),
      dialect_(dialect),
      options_(std::move(options)),
      pool_(context.pool) {}

Result<std::unique_ptr<RowDecoder>> ChangelogDecoder::Make(const Dialect& dialect,
                                                           ChangelogOptions options,
                                                           const ReadSchema& schema,
                                                           const FormatContext& context) {
  std::unique_ptr<ChangelogDecoder> decoder(
      new ChangelogDecoder(dialect, std::move(options), schema, context));
  ChangelogDecoder* self = decoder.get();
  SLUICE_RETURN_NOT_OK(self->metadata_.Open(
      dialect.metadata, schema.metadata, self->options_.json,
      [self](const SqlType& type) -> text::ColumnBuilder& { return self->AddBuilder(type); }));
  self->message_ =
      std::make_unique<Message>(dialect, self->options_, &self->reader(), &self->metadata_);
  return std::unique_ptr<RowDecoder>(std::move(decoder));
}

bool ChangelogDecoder::ReadRecord(std::string_view record, int64_t* row) {
  reader().Begin(record);
  return message_->Read(row);
}

void ChangelogDecoder::TakeBack(int64_t row_count) {
  JsonDecoder::TakeBack(row_count);
  message_->kinds().resize(static_cast<size_t>(row_count));
  if (row_count == 0) message_->ResetCounts();
}

void ChangelogDecoder::Complete(DecodedRows* out) {
  out->ignored_count = message_->ignored_count();
  std::vector<int8_t>& kinds = message_->kinds();
  const bool only_inserts = std::all_of(kinds.begin(), kinds.end(), [](int8_t kind) {
    return kind == static_cast<int8_t>(RowKind::kInsert);
  });
  if (!only_inserts) {
    auto buffer = arrow::AllocateBuffer(static_cast<int64_t>(kinds.size()), pool_);
    if (!buffer.ok()) throw std::bad_alloc();  // Caught where a chunk's decoding ends.
    std::copy(kinds.begin(), kinds.end(), reinterpret_cast<int8_t*>((*buffer)->mutable_data()));
    out->rows = Batch(out->rows.rows(), std::make_shared<arrow::Int8Array>(
                                            static_cast<int64_t>(kinds.size()),
                                            std::shared_ptr<arrow::Buffer>(std::move(*buffer))));
  }
  kinds.clear();
}

std::string ChangelogDecoder::Complaint(std::string_view record) const {
  return "Corrupt " + std::string(dialect_.label) + " message '" + Printable(record) + "'. ";
}

}  // namespace sluice::formats::changelog
