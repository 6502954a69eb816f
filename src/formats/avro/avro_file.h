// An opened Avro container.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <arrow/io/interfaces.h>

#include "formats/avro/avro_schema.h"
#include "formats/avro/container.h"
#include "formats/avro/read_plan.h"
#include "formats/avro/value_reader.h"
#include "formats/format.h"

namespace sluice::formats::avro {

/// Bytes of a part. A file is cut by size, and each part holds the blocks that begin in its range:
/// so a file need not be walked before its parts are handed out, and a part has a few hundred
/// blocks of the usual 64 KB.
constexpr int64_t kPartBytes = 8 << 20;

/// Not thread-safe; the Rows of a part borrow the file.
class AvroFile final : public BulkFile {
 public:
  /// The header is read and its schema resolved into the table's columns; blocks are not looked at.
  static Result<std::unique_ptr<BulkFile>> Open(ReadSchema schema,
                                                std::shared_ptr<arrow::io::RandomAccessFile> file,
                                                const FormatContext& context,
                                                int64_t part_bytes = kPartBytes);

  int part_count() const override { return static_cast<int>(row_counts_.size()); }
  int64_t row_count(int part) const override { return row_counts_[static_cast<size_t>(part)]; }
  bool MayMatch(int, std::span<const expr::ExprPtr>) const override { return true; }
  Result<std::unique_ptr<Rows>> ReadPart(int part, std::span<const expr::ExprPtr> filters) override;

 private:
  AvroFile(ReadSchema schema, const FormatContext& context, int64_t part_bytes)
      : schema_(std::move(schema)), pool_(context.pool), part_bytes_(part_bytes) {}
  int64_t PartBegin(int part) const;

  const ReadSchema schema_;
  arrow::MemoryPool* const pool_;
  const int64_t part_bytes_;
  std::unique_ptr<Container> container_;
  AvroSchema writer_;
  ReadPlan plan_;                    // Borrows writer_.
  std::vector<int64_t> row_counts_;  // By part; -1 until it has been read.
};

/// The rows of the blocks that begin in [begin, end). Borrows container and plan, and sets
/// `row_count` once all are read.
class BlockRows final : public BulkFile::Rows {
 public:
  BlockRows(Container* container, const ReadPlan& plan, const Schema& output, int64_t begin,
            int64_t end, int64_t* row_count, arrow::MemoryPool* pool);
  Result<std::optional<Batch>> Next() override;
  int64_t position() const override { return rows_read_; }

 private:
  Result<std::optional<Batch>> ReadBatch();
  Status NextBlock();
  Status CheckBlockEnd();
  Status RecordError();

  Container* const container_;
  const ReadPlan& plan_;
  ValueReader reader_;
  const std::unique_ptr<BlockCodec> codec_;
  const int64_t end_;
  int64_t next_offset_;
  int64_t* const row_count_;
  int64_t rows_read_ = 0;
  std::optional<Block> block_;
  std::string plain_;
  BinaryInput input_;
  int64_t rows_of_block_ = 0;  // Read of block_.
};

}  // namespace sluice::formats::avro
