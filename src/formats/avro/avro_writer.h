// Writes one Avro container file.
#pragma once

#include <memory>
#include <string>

#include <arrow/io/interfaces.h>

#include "formats/avro/avro_options.h"
#include "formats/avro/container.h"
#include "formats/avro/value_writer.h"
#include "formats/format.h"

namespace sluice::formats::avro {

/// Rows gather in a block of about 64,000 bytes, as Flink's writer has it; the header goes out with
/// the first of them.
class AvroWriter final : public BulkWriter {
 public:
  static Result<std::unique_ptr<BulkWriter>> Make(const AvroOptions& options, const Schema& schema,
                                                  std::shared_ptr<arrow::io::OutputStream> stream);

  Status Write(const Batch& batch) override;
  int64_t estimated_file_bytes() const override;
  int64_t buffered_bytes() const override { return static_cast<int64_t>(block_.size()); }
  Status Flush() override;
  Status Finish() override;

 private:
  AvroWriter(ContainerHeader header, const Schema& schema,
             std::shared_ptr<arrow::io::OutputStream> stream);
  Status Put(std::string_view bytes);

  const ContainerHeader header_;
  const std::shared_ptr<arrow::io::OutputStream> stream_;
  const std::unique_ptr<BlockCodec> codec_;
  ValueWriter writer_;
  text::OutputBuffer block_;
  int64_t block_rows_ = 0;
  std::string packed_;
  bool begun_ = false;
  int64_t file_bytes_ = 0;
  int64_t plain_bytes_ = 0;  // Of the blocks written, before and after compression.
  int64_t packed_bytes_ = 0;
};

}  // namespace sluice::formats::avro
