#include "formats/parquet/join_files.h"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include <arrow/buffer.h>

#include "formats/parquet/parquet_footer.h"
#include "types/arrow_status.h"

namespace sluice::formats::parquet_format {
namespace {

// Fields of RowGroup.
constexpr int16_t kColumns = 1;
constexpr int16_t kGroupOffset = 5;
// Fields of ColumnChunk.
constexpr int16_t kFilePath = 1;
constexpr int16_t kChunkOffset = 2;
constexpr int16_t kMetaData = 3;
constexpr int16_t kOffsetIndexOffset = 4;
constexpr int16_t kOffsetIndexLength = 5;
constexpr int16_t kColumnIndexOffset = 6;
constexpr int16_t kColumnIndexLength = 7;
constexpr int16_t kCryptoMetaData = 8;
// Fields of ColumnMetaData.
constexpr int16_t kCompressedSize = 7;
constexpr int16_t kDataPageOffset = 9;
constexpr int16_t kIndexPageOffset = 10;
constexpr int16_t kDictionaryPageOffset = 11;
constexpr int16_t kBloomFilterOffset = 14;
constexpr int16_t kBloomFilterLength = 15;
// Fields of OffsetIndex and PageLocation.
constexpr int16_t kPageLocations = 1;
constexpr int16_t kPageOffset = 1;

// Stays in the cache between reading and writing.
constexpr int64_t kPieceBytes = 1 << 20;
// Below this a reader spends more on opening row groups than on their rows, and rewriting costs
// little.
constexpr int64_t kLeastRowGroupBytes = 64 << 10;

struct Input {
  arrow::io::RandomAccessFile* file = nullptr;
  int64_t footer_offset = 0;  // All that the footer points at lies before it.
  ParquetFooter footer;
};

int64_t ChunkStart(const ThriftNode& meta) {
  const int64_t data = meta.NumberOr(kDataPageOffset, 0);
  const int64_t dictionary = meta.NumberOr(kDictionaryPageOffset, 0);
  return dictionary > 0 ? std::min(data, dictionary) : data;
}

bool LiesBefore(int64_t end, int64_t start, int64_t length) {
  return start >= 0 && length >= 0 && start <= end && length <= end - start;
}

Status Outside(const std::string& what) {
  return Status::DataError("A " + what + " of a Parquet file lies outside of it.");
}

class Joiner {
 public:
  /// `piece`: room for kPieceBytes.
  Joiner(arrow::io::OutputStream* out, arrow::Buffer* piece) : out_(*out), piece_(piece) {}

  Status Run(std::vector<Input>& inputs) {
    SLUICE_RETURN_NOT_OK(Write("PAR1", 4));
    for (Input& input : inputs) {
      for (ThriftNode& group : input.footer.row_groups()) {
        SLUICE_RETURN_NOT_OK(CopyChunks(input.file, &group));
      }
    }
    // Behind the rows, as writers place them: a reader gets the indexes with the footer.
    for (Input& input : inputs) {
      for (ThriftNode& group : input.footer.row_groups()) {
        SLUICE_RETURN_NOT_OK(CopyIndexes(input, &group));
      }
    }
    ParquetFooter joined = std::move(inputs.front().footer);
    for (size_t i = 1; i < inputs.size(); ++i) joined.Append(std::move(inputs[i].footer));
    const std::string end = joined.ToFileEnd();
    return Write(end.data(), static_cast<int64_t>(end.size()));
  }

 private:
  Status Write(const void* bytes, int64_t length) {
    SLUICE_RETURN_ARROW(out_.Write(bytes, length));
    position_ += length;
    return {};
  }

  Status Copy(arrow::io::RandomAccessFile* file, int64_t begin, int64_t length) {
    while (length > 0) {
      const int64_t wanted = std::min(length, kPieceBytes);
      SLUICE_ASSIGN_ARROW(const int64_t got, file->ReadAt(begin, wanted, piece_->mutable_data()));
      if (got != wanted) {
        return Status::DataError("A Parquet file is shorter than its footer says.");
      }
      SLUICE_RETURN_NOT_OK(Write(piece_->data(), wanted));
      begin += wanted;
      length -= wanted;
    }
    return {};
  }

  /// Copies the chunks of a row group and moves its offsets; neighbours go in one piece.
  Status CopyChunks(arrow::io::RandomAccessFile* file, ThriftNode* group) {
    int64_t run_begin = 0;
    int64_t run_length = 0;
    group->SetNumber(kGroupOffset, position_);  // May add a field, which moves the others.
    ThriftNode* columns = group->Field(kColumns);
    deltas_.emplace_back();
    for (ThriftNode& chunk : columns->items) {
      const ThriftNode& meta = *chunk.Field(kMetaData);
      const int64_t start = ChunkStart(meta);
      const int64_t length = meta.NumberOr(kCompressedSize, 0);
      if (run_length > 0 && run_begin + run_length != start) {
        SLUICE_RETURN_NOT_OK(Copy(file, run_begin, run_length));
        run_length = 0;
      }
      if (run_length == 0) run_begin = start;
      const int64_t delta = position_ + run_length - start;
      run_length += length;
      Move(&chunk, delta, start + delta);
      deltas_.back().push_back(delta);
    }
    return Copy(file, run_begin, run_length);
  }

  static void Move(ThriftNode* chunk, int64_t delta, int64_t start) {
    chunk->SetNumber(kChunkOffset, start);
    ThriftNode* meta = chunk->Field(kMetaData);
    for (const int16_t id : {kDataPageOffset, kIndexPageOffset, kDictionaryPageOffset}) {
      ThriftNode* offset = meta->Field(id);
      if (offset != nullptr && offset->number > 0) offset->number += delta;
    }
  }

  Status CopyIndexes(const Input& input, ThriftNode* group) {
    const std::vector<int64_t>& deltas = deltas_[next_group_++];
    std::vector<ThriftNode>& chunks = group->Field(kColumns)->items;
    for (size_t i = 0; i < chunks.size(); ++i) {
      ThriftNode& chunk = chunks[i];
      ThriftNode* meta = chunk.Field(kMetaData);
      SLUICE_RETURN_NOT_OK(CopyPart(input.file, meta, kBloomFilterOffset, kBloomFilterLength));
      SLUICE_RETURN_NOT_OK(CopyPart(input.file, &chunk, kColumnIndexOffset, kColumnIndexLength));
      SLUICE_RETURN_NOT_OK(CopyOffsetIndex(input, &chunk, deltas[i]));
    }
    return {};
  }

  /// Copies what two fields of `node` point at; what has no length is left behind.
  Status CopyPart(arrow::io::RandomAccessFile* file, ThriftNode* node, int16_t offset_id,
                  int16_t length_id) {
    const int64_t offset = node->NumberOr(offset_id, 0);
    const int64_t length = node->NumberOr(length_id, 0);
    if (offset <= 0 || length <= 0) {
      node->Remove(offset_id);
      node->Remove(length_id);
      return {};
    }
    node->SetNumber(offset_id, position_);
    return Copy(file, offset, length);
  }

  /// Holds offsets of pages itself.
  Status CopyOffsetIndex(const Input& input, ThriftNode* chunk, int64_t delta) {
    const int64_t offset = chunk->NumberOr(kOffsetIndexOffset, 0);
    const int64_t length = chunk->NumberOr(kOffsetIndexLength, 0);
    if (offset <= 0 || length <= 0) {
      chunk->Remove(kOffsetIndexOffset);
      chunk->Remove(kOffsetIndexLength);
      return {};
    }
    SLUICE_ASSIGN_ARROW(const auto bytes, input.file->ReadAt(offset, length));
    size_t consumed = 0;
    SLUICE_ASSIGN_OR_RETURN(ThriftNode index,
                            ParseThriftStruct({reinterpret_cast<const char*>(bytes->data()),
                                               static_cast<size_t>(bytes->size())},
                                              &consumed));
    ThriftNode* pages = index.Field(kPageLocations);
    if (pages == nullptr) return Status::DataError("A page index of a Parquet file is damaged.");
    for (ThriftNode& page : pages->items) {
      const int64_t page_offset = page.NumberOr(kPageOffset, 0);
      if (!LiesBefore(input.footer_offset, page_offset, 0)) return Outside("page");
      page.SetNumber(kPageOffset, page_offset + delta);
    }
    const std::string moved = SerializeThriftStruct(index);
    chunk->SetNumber(kOffsetIndexOffset, position_);
    chunk->SetNumber(kOffsetIndexLength, static_cast<int64_t>(moved.size()), ThriftType::kI32);
    return Write(moved.data(), static_cast<int64_t>(moved.size()));
  }

  arrow::io::OutputStream& out_;
  arrow::Buffer* const piece_;
  int64_t position_ = 0;
  std::vector<std::vector<int64_t>> deltas_;  // By row group and column.
  size_t next_group_ = 0;
};

/// What is relied on above: the rows lie in this file, and so do the indexes that have a place.
Status CheckPlaces(const ThriftNode& chunk, const ThriftNode& meta, int64_t end) {
  const int64_t start = ChunkStart(meta);
  if (start < 4 || !LiesBefore(end, start, meta.NumberOr(kCompressedSize, -1))) {
    return Outside("column chunk");
  }
  for (const int16_t id : {kDataPageOffset, kIndexPageOffset, kDictionaryPageOffset}) {
    if (meta.NumberOr(id, 0) > end) return Outside("page");
  }
  const auto fits = [end](const ThriftNode& node, int16_t offset_id, int16_t length_id) {
    const int64_t offset = node.NumberOr(offset_id, 0);
    const int64_t length = node.NumberOr(length_id, 0);
    return offset <= 0 || length <= 0 || LiesBefore(end, offset, length);
  };
  if (!fits(meta, kBloomFilterOffset, kBloomFilterLength)) return Outside("bloom filter");
  if (!fits(chunk, kColumnIndexOffset, kColumnIndexLength) ||
      !fits(chunk, kOffsetIndexOffset, kOffsetIndexLength)) {
    return Outside("page index");
  }
  return {};
}

/// Nothing is encrypted or elsewhere, and all that the footer points at is there.
Status CheckChunks(Input& input) {
  for (ThriftNode& group : input.footer.row_groups()) {
    const ThriftNode* columns = group.Field(kColumns);
    if (columns == nullptr) return Status::DataError("A row group of a Parquet file is damaged.");
    for (const ThriftNode& chunk : columns->items) {
      const ThriftNode* meta = chunk.Field(kMetaData);
      if (meta == nullptr || chunk.Field(kCryptoMetaData) != nullptr ||
          chunk.Field(kFilePath) != nullptr) {
        return Status::Unsupported("Column chunks are encrypted or in another file.");
      }
      SLUICE_RETURN_NOT_OK(CheckPlaces(chunk, *meta, input.footer_offset));
    }
  }
  return {};
}

}  // namespace

Status JoinParquetFiles(std::span<const std::shared_ptr<arrow::io::RandomAccessFile>> inputs,
                        arrow::io::OutputStream* out) {
  if (inputs.empty()) return Status::Internal("no files to join");
  std::vector<Input> files;
  int64_t row_group_count = 0;
  int64_t total_bytes = 0;
  int64_t total_rows = 0;
  for (const auto& input : inputs) {
    Input& file = files.emplace_back();
    file.file = input.get();
    SLUICE_ASSIGN_OR_RETURN(file.footer, ParquetFooter::Read(input.get(), &file.footer_offset));
    SLUICE_RETURN_NOT_OK(CheckChunks(file));
    const int64_t rows = file.footer.row_count();
    if (rows < 0 || rows > std::numeric_limits<int64_t>::max() - total_rows) {
      return Status::DataError("A Parquet file tells of a wrong number of rows.");
    }
    total_rows += rows;
    if (!file.footer.FitsWith(files.front().footer)) {
      return Status::Unsupported("The schemas of the Parquet files differ.");
    }
    row_group_count += static_cast<int64_t>(file.footer.row_groups().size());
    total_bytes += file.footer_offset;
  }
  if (row_group_count > 1 && total_bytes / row_group_count < kLeastRowGroupBytes) {
    return Status::Unsupported("The row groups are too small to be kept.");
  }
  SLUICE_ASSIGN_ARROW(const auto piece, arrow::AllocateBuffer(kPieceBytes));
  return Joiner(out, piece.get()).Run(files);
}

}  // namespace sluice::formats::parquet_format
