// The pages of one column chunk, checked and decompressed.
//
// Why not the library's: its build has a slow snappy and a slow CRC (common/snappy.h), and its
// pages live until the next one, so that values must be copied out of them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <arrow/io/interfaces.h>
#include <arrow/memory_pool.h>
#include <arrow/util/compression.h>
#include <parquet/column_reader.h>
#include <parquet/schema.h>

#include "common/snappy.h"
#include "formats/parquet/page_header.h"

namespace sluice::formats::parquet_format {

struct PageSource {
  std::shared_ptr<arrow::io::InputStream> stream;  // Of the chunk, or of selected pages.
  int64_t stream_bytes = 0;
  int64_t value_count = 0;  // Pages end behind so many, or with the stream.
  ::parquet::Compression::type compression = ::parquet::Compression::UNCOMPRESSED;
  bool always_compressed = false;  // Whatever pages of version 2 say.
  const ::parquet::ColumnDescriptor* column = nullptr;
  int64_t read_bytes = 0;  // Of one read of the stream, if a page is not longer.
  arrow::MemoryPool* pool = nullptr;
};

/// Throws what the library's reader would. Pages outlive it: their buffers are shared, not used
/// again. Where nothing is NULL, the values of a flat column begin at a multiple of 64 bytes.
class ChunkPageReader final : public ::parquet::PageReader {
 public:
  explicit ChunkPageReader(PageSource source);
  std::shared_ptr<::parquet::Page> NextPage() override;
  void set_max_page_header_size(uint32_t size) override { max_header_bytes_ = size; }

 private:
  std::string_view window() const {
    return std::string_view(window_).substr(window_at_, window_end_ - window_at_);
  }
  /// Makes at least `count` bytes visible in window(), if the stream has them.
  void Fill(size_t count);
  /// False at the end of the stream.
  bool ReadHeader(PageHeader* header);
  bool IsUnwanted(const PageHeader& header) const;
  /// A page with what is still to be decompressed into it.
  struct Unpacking {
    std::shared_ptr<arrow::Buffer> buffer;
    SnappyBlock rest;  // Of any codec; nothing for what is not compressed.
  };
  Unpacking Begin(const PageHeader& header, std::string_view packed) const;
  void End(const Unpacking& page) const;
  bool IsCompressed(const PageHeader& header) const;
  /// The page whose header and body stand in window().
  std::shared_ptr<::parquet::Page> TakePage(const PageHeader& header);
  struct NextHeader {
    PageHeader header;
    size_t header_bytes = 0;
  };
  /// The page behind that one when the two can be decompressed together: all of it is in window().
  std::optional<NextHeader> FindNext(const PageHeader& header);
  std::shared_ptr<::parquet::Page> MakePage(const PageHeader& header,
                                            std::shared_ptr<arrow::Buffer> buffer) const;

  const PageSource source_;
  const std::unique_ptr<arrow::util::Codec> codec_;  // Null: snappy, or none.
  uint32_t max_header_bytes_ = 16 << 20;
  std::string window_;
  size_t window_at_ = 0;
  size_t window_end_ = 0;
  int64_t stream_left_;
  int64_t values_seen_ = 0;
  int page_index_ = -1;
  std::shared_ptr<::parquet::Page> ahead_;  // Already decompressed, with the one before it.
};

}  // namespace sluice::formats::parquet_format
