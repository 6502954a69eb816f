#include "formats/orc/orc_writer.h"

#include <algorithm>

#include <arrow/api.h>

#include "formats/orc/orc_schema.h"
#include "types/arrow_status.h"

namespace sluice::formats::orc_format {

namespace {

constexpr std::string_view kMagic = "ORC";
// Wall times are stored as if they were UTC: a zone with daylight saving has hours that it cannot
// tell apart.
constexpr std::string_view kWriterZone = "UTC";
// Between looks at the size of the stripe.
constexpr int64_t kSliceRows = 4096;
// A bloom filter has room for so many values: 0.8 MB at the default share.
constexpr int64_t kMostBloomValues = 1 << 20;

std::vector<SqlType> Types(const Schema& schema) {
  std::vector<SqlType> types;
  for (const Column& column : schema.columns()) types.push_back(column.type);
  return types;
}

}  // namespace

Result<std::unique_ptr<BulkWriter>> OrcWriter::Make(
    const OrcOptions& options, const Schema& schema,
    std::shared_ptr<arrow::io::OutputStream> stream) {
  SLUICE_RETURN_NOT_OK(CheckColumnTypes(schema));
  EncodeSettings settings;
  SLUICE_ASSIGN_OR_RETURN(
      settings.codec,
      BlockCodec::Make(options.compression, static_cast<uint64_t>(options.block_bytes),
                       options.thorough_compression));
  settings.row_index = options.row_index;
  settings.dictionary_threshold = options.dictionary_threshold;
  settings.bloom_values = std::min(options.row_index_stride, kMostBloomValues);
  settings.bloom_share = options.bloom_share;
  SLUICE_RETURN_NOT_OK(CheckBloomColumns(options.bloom_columns, schema));
  const std::vector<OrcType> types = MakeOrcTypes(schema);
  for (const std::string& name : options.bloom_columns)
    settings.bloom_columns.insert(types[0].children[static_cast<size_t>(schema.IndexOf(name))]);
  return std::unique_ptr<BulkWriter>(
      new OrcWriter(options, schema, std::move(settings), std::move(stream)));
}

OrcWriter::OrcWriter(const OrcOptions& options, const Schema& schema, EncodeSettings settings,
                     std::shared_ptr<arrow::io::OutputStream> stream)
    : options_(options), settings_(std::move(settings)), stream_(std::move(stream)) {
  footer_.types = MakeOrcTypes(schema);
  footer_.statistics.resize(footer_.types.size());
  footer_.calendar = Calendar::kProleptic;
  footer_.writer = kSluiceWriter;
  footer_.row_index_stride =
      options.row_index ? static_cast<uint64_t>(options.row_index_stride) : 0;
  root_ = MakeRootWriter(Types(schema), footer_.types, &settings_);
}

Status OrcWriter::Put(std::string_view bytes) {
  SLUICE_RETURN_ARROW(stream_->Write(bytes.data(), static_cast<int64_t>(bytes.size())));
  written_ += static_cast<int64_t>(bytes.size());
  return {};
}

Status OrcWriter::Write(const Batch& batch) {
  SLUICE_ASSIGN_ARROW(const std::shared_ptr<arrow::Array> rows, batch.rows()->ToStructArray());
  for (int64_t offset = 0; offset < rows->length(); offset += kSliceRows) {
    SLUICE_RETURN_NOT_OK(
        Append(*rows->Slice(offset, std::min(kSliceRows, rows->length() - offset))));
    if (held_bytes() >= options_.stripe_bytes) SLUICE_RETURN_NOT_OK(WriteStripe());
  }
  return {};
}

Status OrcWriter::Append(const arrow::Array& rows) {
  for (int64_t begin = 0; begin < rows.length();) {
    int64_t end = rows.length();
    if (settings_.row_index) {
      const int64_t in_stride = stripe_rows_ % options_.row_index_stride;
      if (in_stride == 0) SLUICE_RETURN_NOT_OK(root_->BeginStride());
      end = std::min(end, begin + options_.row_index_stride - in_stride);
    }
    SLUICE_RETURN_NOT_OK(root_->Append(rows, begin, end));
    stripe_rows_ += end - begin;
    begin = end;
  }
  return {};
}

Status OrcWriter::WriteStripe() {
  if (stripe_rows_ == 0) return {};
  if (written_ == 0) SLUICE_RETURN_NOT_OK(Put(kMagic));
  StripeContent content;
  SLUICE_RETURN_NOT_OK(root_->Finish(&content));
  StripeInfo stripe{.offset = static_cast<uint64_t>(written_),
                    .row_count = static_cast<uint64_t>(std::exchange(stripe_rows_, 0))};
  StripeFooter footer;
  footer.encodings = std::move(content.encodings);
  footer.writer_zone = kWriterZone;
  const auto put_streams = [&](const std::vector<StripeContent::Stream>& streams,
                               uint64_t* total) -> Status {
    for (const StripeContent::Stream& stream : streams) {
      footer.streams.push_back(
          {static_cast<uint32_t>(stream.kind), stream.column, stream.bytes.size()});
      *total += stream.bytes.size();
      SLUICE_RETURN_NOT_OK(Put(stream.bytes));
    }
    return {};
  };
  SLUICE_RETURN_NOT_OK(put_streams(content.indexes, &stripe.index_bytes));
  SLUICE_RETURN_NOT_OK(put_streams(content.data, &stripe.data_bytes));
  SLUICE_ASSIGN_OR_RETURN(const std::string footer_bytes,
                          settings_.codec->EncodeAll(SerializeStripeFooter(footer)));
  stripe.footer_bytes = footer_bytes.size();
  SLUICE_RETURN_NOT_OK(Put(footer_bytes));
  footer_.stripes.push_back(stripe);
  footer_.row_count += stripe.row_count;
  for (size_t i = 0; i < content.statistics.size(); ++i)
    footer_.statistics[i].Merge(content.statistics[i]);
  stripe_statistics_.push_back(std::move(content.statistics));
  return {};
}

Status OrcWriter::Flush() { return WriteStripe(); }

Status OrcWriter::WriteTail() {
  if (written_ == 0) SLUICE_RETURN_NOT_OK(Put(kMagic));
  footer_.content_bytes = static_cast<uint64_t>(written_);
  SLUICE_ASSIGN_OR_RETURN(
      const std::string metadata,
      settings_.codec->EncodeAll(SerializeStripeStatistics(stripe_statistics_, footer_.types)));
  SLUICE_ASSIGN_OR_RETURN(const std::string footer,
                          settings_.codec->EncodeAll(SerializeFooter(footer_)));
  const std::string postscript =
      SerializePostScript({.footer_bytes = footer.size(),
                           .compression = options_.compression,
                           .block_bytes = static_cast<uint64_t>(options_.block_bytes),
                           .metadata_bytes = metadata.size()});
  SLUICE_RETURN_NOT_OK(Put(metadata));
  SLUICE_RETURN_NOT_OK(Put(footer));
  SLUICE_RETURN_NOT_OK(Put(postscript));
  return Put(std::string(1, static_cast<char>(postscript.size())));
}

Status OrcWriter::Finish() {
  if (finished_) return Status::Internal("Finish of a finished ORC file.");
  finished_ = true;
  SLUICE_RETURN_NOT_OK(WriteStripe());
  return WriteTail();
}

}  // namespace sluice::formats::orc_format
