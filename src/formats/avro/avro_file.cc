#include "formats/avro/avro_file.h"

#include <algorithm>
#include <new>

namespace sluice::formats::avro {
namespace {

// Records without a byte cannot be checked against the block's bytes.
constexpr int64_t kMaxEmptyRecords = 1 << 24;

}  // namespace

Result<std::unique_ptr<BulkFile>> AvroFile::Open(ReadSchema schema,
                                                 std::shared_ptr<arrow::io::RandomAccessFile> file,
                                                 const FormatContext& context, int64_t part_bytes) {
  std::unique_ptr<AvroFile> opened(new AvroFile(std::move(schema), context, part_bytes));
  SLUICE_ASSIGN_OR_RETURN(opened->container_, Container::Open(std::move(file)));
  const Container& container = *opened->container_;
  SLUICE_ASSIGN_OR_RETURN(opened->writer_, AvroSchema::Parse(container.header().schema_json));
  SLUICE_ASSIGN_OR_RETURN(opened->plan_, MakeReadPlan(opened->writer_.root(), opened->schema_));
  const int64_t blocks_bytes = container.file_bytes() - container.header().end;
  opened->row_counts_.assign(static_cast<size_t>((blocks_bytes + part_bytes - 1) / part_bytes), -1);
  return std::unique_ptr<BulkFile>(std::move(opened));
}

int64_t AvroFile::PartBegin(int part) const {
  return std::min(container_->header().end + part * part_bytes_, container_->file_bytes());
}

Result<std::unique_ptr<BulkFile::Rows>> AvroFile::ReadPart(int part,
                                                           std::span<const expr::ExprPtr>) {
  const int64_t end = PartBegin(part + 1);
  SLUICE_ASSIGN_OR_RETURN(const int64_t begin, container_->FindBlock(PartBegin(part), end));
  return std::unique_ptr<BulkFile::Rows>(
      std::make_unique<BlockRows>(container_.get(), plan_, schema_.output(), begin, end,
                                  &row_counts_[static_cast<size_t>(part)], pool_));
}

BlockRows::BlockRows(Container* container, const ReadPlan& plan, const Schema& output,
                     int64_t begin, int64_t end, int64_t* row_count, arrow::MemoryPool* pool)
    : container_(container),
      plan_(plan),
      reader_(plan, output, pool),
      codec_(BlockCodec::Make(container->header().codec)),
      end_(end),
      next_offset_(begin),
      row_count_(row_count) {}

Result<std::optional<Batch>> BlockRows::Next() {
  try {
    return ReadBatch();
  } catch (const std::bad_alloc&) {
    return Status::Unavailable("Out of memory while reading an Avro file.");
  }
}

Result<std::optional<Batch>> BlockRows::ReadBatch() {
  reader_.Truncate(0);
  int64_t rows = 0;
  int64_t bytes = 0;
  while (rows < kTargetBatchRows && bytes < kTargetBatchBytes) {
    if (!block_) {
      if (next_offset_ >= end_) break;
      SLUICE_RETURN_NOT_OK(NextBlock());
    }
    const int64_t before = input_.position();
    const int64_t last = std::min(rows_of_block_ + kTargetBatchRows - rows, block_->row_count);
    while (rows_of_block_ < last && bytes + input_.position() - before < kTargetBatchBytes) {
      if (!reader_.ReadRecord(&input_)) return RecordError();
      ++rows_of_block_;
      ++rows;
    }
    bytes += input_.position() - before;
    if (rows_of_block_ == block_->row_count) SLUICE_RETURN_NOT_OK(CheckBlockEnd());
  }
  rows_read_ += rows;
  if (!block_ && next_offset_ >= end_) *row_count_ = rows_read_;
  if (rows == 0) return std::optional<Batch>();
  return std::optional<Batch>(reader_.Finish(rows));
}

Status BlockRows::NextBlock() {
  SLUICE_ASSIGN_OR_RETURN(const Block block, container_->ReadBlockHeader(next_offset_));
  SLUICE_ASSIGN_OR_RETURN(const std::string_view data, container_->ReadBlockData(block));
  Status unpacked = codec_->Decompress(data, &plain_);
  if (!unpacked.ok()) {
    return std::move(unpacked).WithContext("Cannot read " + container_->Describe(block.offset) +
                                           ".");
  }
  const auto size = static_cast<int64_t>(plain_.size());
  const int64_t most =
      plan_.min_record_bytes > 0 ? size / plan_.min_record_bytes : kMaxEmptyRecords;
  if (block.row_count > most) {
    return Status::DataError("The file is damaged: " + container_->Describe(block.offset) +
                             " claims " + std::to_string(block.row_count) + " records in " +
                             std::to_string(size) + " bytes.");
  }
  input_ = BinaryInput(plain_);
  rows_of_block_ = 0;
  next_offset_ = block.next();
  block_ = block;
  return {};
}

Status BlockRows::CheckBlockEnd() {
  const Block block = *block_;
  block_.reset();
  if (input_.at_end()) return {};
  return Status::DataError("The file is damaged: " + container_->Describe(block.offset) + " has " +
                           std::to_string(input_.remaining()) + " bytes behind its " +
                           std::to_string(block.row_count) + " records.");
}

Status BlockRows::RecordError() {
  std::string text = "Cannot read ";
  if (!reader_.column().empty()) text += "column '" + reader_.column() + "' of ";
  text += "record " + std::to_string(rows_of_block_ + 1) + " in ";
  text += container_->Describe(block_->offset) + ", at byte " + std::to_string(input_.position()) +
          " of the block: " + reader_.reason() + ".";
  return Status::DataError(std::move(text));
}

}  // namespace sluice::formats::avro
