#include "formats/parquet/paged_file.h"

#include <algorithm>

#include <arrow/buffer.h>
#include <arrow/result.h>
#include <parquet/column_reader.h>
#include <parquet/exception.h>

#include "formats/parquet/page_reader.h"

namespace sluice::formats::parquet_format {

namespace {

using arrow::io::ReadRange;

// Pieces of a file, one behind the other.
class Pieces final : public arrow::io::InputStream {
 public:
  Pieces(std::shared_ptr<arrow::io::RandomAccessFile> file, std::vector<ReadRange> pieces)
      : file_(std::move(file)), pieces_(std::move(pieces)) {}

  arrow::Status Close() override {
    closed_ = true;
    return arrow::Status::OK();
  }
  bool closed() const override { return closed_; }
  arrow::Result<int64_t> Tell() const override { return told_; }

  arrow::Result<int64_t> Read(int64_t count, void* out) override {
    int64_t done = 0;
    while (done < count && next_ < pieces_.size()) {
      const ReadRange& piece = pieces_[next_];
      const int64_t wanted = std::min(count - done, piece.length - at_);
      ARROW_ASSIGN_OR_RAISE(const int64_t read, file_->ReadAt(piece.offset + at_, wanted,
                                                              static_cast<uint8_t*>(out) + done));
      done += read;
      at_ += read;
      if (read < wanted) break;  // The file ends: the library finds the page cut off.
      if (at_ < piece.length) continue;
      ++next_;
      at_ = 0;
    }
    told_ += done;
    return done;
  }

  arrow::Result<std::shared_ptr<arrow::Buffer>> Read(int64_t count) override {
    ARROW_ASSIGN_OR_RAISE(auto buffer, arrow::AllocateResizableBuffer(count));
    ARROW_ASSIGN_OR_RAISE(const int64_t read, Read(count, buffer->mutable_data()));
    ARROW_RETURN_NOT_OK(buffer->Resize(read));
    return std::shared_ptr<arrow::Buffer>(std::move(buffer));
  }

 private:
  const std::shared_ptr<arrow::io::RandomAccessFile> file_;
  const std::vector<ReadRange> pieces_;
  size_t next_ = 0;
  int64_t at_ = 0;  // Within the piece.
  int64_t told_ = 0;
  bool closed_ = false;
};

// Throws when a page has other rows than the offset index says. V1 pages of repeated leaves do not
// tell how many they have.
bool CheckPage(const ::parquet::DataPageStats& page, bool flat,
               const std::vector<int64_t>& row_counts, size_t* next) {
  const bool known = flat || page.num_rows.has_value();
  const int64_t rows = flat ? page.num_values : page.num_rows.value_or(0);
  if (*next >= row_counts.size() || (known && rows != row_counts[*next]))
    throw ::parquet::ParquetException("The offset index does not fit the pages");
  ++*next;
  return false;
}

// The bytes of a whole chunk.
std::vector<ReadRange> WholeChunk(const ::parquet::ColumnChunkMetaData& chunk, int64_t file_bytes,
                                  const ::parquet::ApplicationVersion& writer) {
  // PARQUET-816: the sizes of old writers leave out the header of the dictionary page.
  constexpr int64_t kMostHeaderBytes = 100;
  const int64_t begin = ChunkBegin(chunk);
  int64_t length = chunk.total_compressed_size();
  if (begin < 0 || length < 0 || begin > file_bytes || length > file_bytes - begin)
    throw ::parquet::ParquetException("Invalid column metadata (corrupt file?)");
  if (writer.VersionLt(::parquet::ApplicationVersion::PARQUET_816_FIXED_VERSION()))
    length += std::min(kMostHeaderBytes, file_bytes - begin - length);
  return {{begin, length}};
}

class PagedRowGroup final : public ::parquet::RowGroupReader::Contents {
 public:
  PagedRowGroup(std::shared_ptr<::parquet::RowGroupReader> whole,
                const ::parquet::FileMetaData& file_metadata,
                std::shared_ptr<arrow::io::RandomAccessFile> file,
                const ::parquet::ReaderProperties& properties, const PageSelection& selection)
      : whole_(std::move(whole)),
        writer_(file_metadata.writer_version()),
        file_(std::move(file)),
        properties_(properties),
        selection_(selection) {}

  std::unique_ptr<::parquet::PageReader> GetColumnPageReader(int leaf) override {
    const auto chunk = whole_->metadata()->ColumnChunk(leaf);
    // The library says why it cannot be read.
    if (chunk->crypto_metadata() != nullptr) return whole_->GetColumnPageReader(leaf);
    PageSource source;
    source.value_count = chunk->num_values();
    source.compression = chunk->compression();
    // A mistake of old writers in pages of version 2.
    source.always_compressed =
        writer_.VersionLt(::parquet::ApplicationVersion::PARQUET_CPP_10353_FIXED_VERSION());
    source.column = whole_->metadata()->schema()->Column(leaf);
    source.read_bytes = properties_.buffer_size();
    source.pool = properties_.memory_pool();
    const auto selected = selection_.find(leaf);
    const bool whole_chunk = selected == selection_.end();
    PARQUET_ASSIGN_OR_THROW(const int64_t file_bytes, file_->GetSize());
    std::vector<ReadRange> pieces =
        whole_chunk ? WholeChunk(*chunk, file_bytes, writer_) : selected->second.bytes;
    for (const ReadRange& piece : pieces) source.stream_bytes += piece.length;
    source.stream = std::make_shared<Pieces>(file_, std::move(pieces));
    const bool flat = source.column->max_repetition_level() == 0;
    auto pages = std::make_unique<ChunkPageReader>(std::move(source));
    if (whole_chunk) return pages;
    // The number of values is an upper bound: the pages end with the stream.
    pages->set_data_page_filter([flat, row_counts = selected->second.row_counts,
                                 next = size_t{0}](const ::parquet::DataPageStats& page) mutable {
      return CheckPage(page, flat, row_counts, &next);
    });
    return pages;
  }
  const ::parquet::RowGroupMetaData* metadata() const override { return whole_->metadata(); }
  const ::parquet::ReaderProperties* properties() const override { return &properties_; }

 private:
  const std::shared_ptr<::parquet::RowGroupReader> whole_;
  const ::parquet::ApplicationVersion writer_;
  const std::shared_ptr<arrow::io::RandomAccessFile> file_;
  const ::parquet::ReaderProperties properties_;
  const PageSelection selection_;
};

class PagedFile final : public ::parquet::ParquetFileReader::Contents {
 public:
  PagedFile(::parquet::ParquetFileReader* whole, std::shared_ptr<arrow::io::RandomAccessFile> file,
            const ::parquet::ReaderProperties& properties, PageSelection selection)
      : whole_(whole),
        file_(std::move(file)),
        properties_(properties),
        selection_(std::move(selection)) {}

  void Close() override {}
  std::shared_ptr<::parquet::RowGroupReader> GetRowGroup(int i) override {
    return std::make_shared<::parquet::RowGroupReader>(std::make_unique<PagedRowGroup>(
        whole_->RowGroup(i), *whole_->metadata(), file_, properties_, selection_));
  }
  std::shared_ptr<::parquet::FileMetaData> metadata() const override { return whole_->metadata(); }
  std::shared_ptr<::parquet::PageIndexReader> GetPageIndexReader() override {
    return whole_->GetPageIndexReader();
  }
  ::parquet::BloomFilterReader& GetBloomFilterReader() override {
    return whole_->GetBloomFilterReader();
  }

 private:
  ::parquet::ParquetFileReader* const whole_;
  const std::shared_ptr<arrow::io::RandomAccessFile> file_;
  const ::parquet::ReaderProperties properties_;
  const PageSelection selection_;
};

}  // namespace

std::unique_ptr<::parquet::ParquetFileReader> OpenPagedFile(
    ::parquet::ParquetFileReader* whole, std::shared_ptr<arrow::io::RandomAccessFile> file,
    const ::parquet::ReaderProperties& properties, PageSelection selection) {
  auto reader = std::make_unique<::parquet::ParquetFileReader>();
  reader->Open(
      std::make_unique<PagedFile>(whole, std::move(file), properties, std::move(selection)));
  return reader;
}

}  // namespace sluice::formats::parquet_format
