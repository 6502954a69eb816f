#include "formats/avro/avro_writer.h"

#include <cstring>
#include <new>

#include "common/random.h"
#include "formats/avro/binary_output.h"
#include "formats/avro/table_schema.h"
#include "types/arrow_status.h"

namespace sluice::formats::avro {
namespace {

constexpr size_t kBlockBytes = 64'000;

/// Must differ from file to file and from anything in them; it never decides what is read.
std::string MakeSync() {
  Random random(Random::SystemSeed());
  std::string sync(kSyncBytes, '\0');
  for (size_t i = 0; i < sync.size(); i += 8) {
    const uint64_t word = random.Next();
    std::memcpy(sync.data() + i, &word, 8);
  }
  return sync;
}

}  // namespace

AvroWriter::AvroWriter(ContainerHeader header, const Schema& schema,
                       std::shared_ptr<arrow::io::OutputStream> stream)
    : header_(std::move(header)),
      stream_(std::move(stream)),
      codec_(BlockCodec::Make(header_.codec)),
      writer_(schema) {}

Result<std::unique_ptr<BulkWriter>> AvroWriter::Make(
    const AvroOptions& options, const Schema& schema,
    std::shared_ptr<arrow::io::OutputStream> stream) {
  SLUICE_RETURN_NOT_OK(CheckColumns(schema));
  ContainerHeader header;
  header.schema_json = TableSchemaJson(schema, options);
  header.codec = options.codec;
  header.sync = MakeSync();
  return std::unique_ptr<BulkWriter>(new AvroWriter(std::move(header), schema, std::move(stream)));
}

Status AvroWriter::Put(std::string_view bytes) {
  SLUICE_RETURN_ARROW(stream_->Write(bytes.data(), static_cast<int64_t>(bytes.size())));
  file_bytes_ += static_cast<int64_t>(bytes.size());
  return {};
}

Status AvroWriter::Write(const Batch& batch) {
  if (batch.row_count() == 0) return {};
  try {
    SLUICE_RETURN_NOT_OK(writer_.Bind(batch));
    for (int64_t row = 0; row < batch.row_count(); ++row) {
      SLUICE_RETURN_NOT_OK(writer_.Write(row, &block_));
      ++block_rows_;
      if (block_.size() >= kBlockBytes) SLUICE_RETURN_NOT_OK(Flush());
    }
    return {};
  } catch (const std::bad_alloc&) {
    return Status::Unavailable("Out of memory while writing an Avro file.");
  }
}

Status AvroWriter::Flush() {
  if (!begun_) {
    SLUICE_RETURN_NOT_OK(Put(EncodeHeader(header_)));
    begun_ = true;
  }
  if (block_rows_ == 0) return {};
  if (block_.size() > static_cast<size_t>(kMaxBlockBytes)) {
    return Status::DataError("A row of " + std::to_string(block_.size()) +
                             " bytes is larger than the " + std::to_string(kMaxBlockBytes) +
                             " that a block of an Avro file may have.");
  }
  SLUICE_RETURN_NOT_OK(codec_->Compress(block_.view(), &packed_));
  std::string head;
  PutLong(block_rows_, &head);
  PutLong(static_cast<int64_t>(packed_.size()), &head);
  SLUICE_RETURN_NOT_OK(Put(head));
  SLUICE_RETURN_NOT_OK(Put(packed_));
  SLUICE_RETURN_NOT_OK(Put(header_.sync));
  plain_bytes_ += static_cast<int64_t>(block_.size());
  packed_bytes_ += static_cast<int64_t>(packed_.size());
  block_.Truncate(0);
  block_rows_ = 0;
  return {};
}

Status AvroWriter::Finish() { return Flush(); }

int64_t AvroWriter::estimated_file_bytes() const {
  const auto waiting = static_cast<double>(block_.size());
  const double ratio = plain_bytes_ == 0
                           ? 1.0
                           : static_cast<double>(packed_bytes_) / static_cast<double>(plain_bytes_);
  return file_bytes_ + static_cast<int64_t>(waiting * ratio);
}

}  // namespace sluice::formats::avro
