#include "formats/parquet/page_reader.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include <arrow/buffer.h>
#include <arrow/result.h>
#include <parquet/column_page.h>
#include <parquet/exception.h>

#include "common/crc32.h"

namespace sluice::formats::parquet_format {

namespace {

using ::parquet::Compression;
using ::parquet::ParquetException;
using Kind = PageHeader::Kind;

constexpr size_t kFirstHeaderBytes = 256;  // Headers are 20 to 100 bytes without long statistics.
constexpr int64_t kAlignment = 64;
// A page that is longer is not decompressed before its turn comes.
constexpr int32_t kMostBytesAhead = 4 << 20;

std::unique_ptr<arrow::util::Codec> MakeCodec(Compression::type compression) {
  if (compression == Compression::UNCOMPRESSED || compression == Compression::SNAPPY)
    return nullptr;
  return ::parquet::GetCodec(compression);
}

/// Bytes in front of the values of a page of a flat column, if it has no NULL.
int64_t BytesBeforeValues(const PageHeader& header, const ::parquet::ColumnDescriptor& column) {
  if (header.kind == Kind::kDataV2)
    return int64_t{header.definition_bytes} + header.repetition_bytes;
  if (header.kind != Kind::kData || column.max_definition_level() == 0) return 0;
  // Four bytes of length, then one run of the same level: its length, doubled, as a varint, and the
  // level.
  const int run_bits = std::bit_width(static_cast<uint64_t>(header.value_count) * 2);
  return 4 + std::max(1, (run_bits + 6) / 7) + 1;
}

/// `bytes` begin with the page.
bool HasItsChecksum(const PageHeader& header, std::string_view bytes) {
  return !header.crc ||
         *header.crc == Crc32(bytes.substr(0, static_cast<size_t>(header.compressed_bytes)));
}

}  // namespace

ChunkPageReader::ChunkPageReader(PageSource source)
    : source_(std::move(source)),
      codec_(MakeCodec(source_.compression)),
      stream_left_(source_.stream_bytes) {}

void ChunkPageReader::Fill(size_t count) {
  if (window_end_ - window_at_ >= count) return;
  std::memmove(window_.data(), window_.data() + window_at_, window_end_ - window_at_);
  window_end_ -= window_at_;
  window_at_ = 0;
  // What a header claims is not believed: there is room for what the stream can have.
  const size_t there = window_end_ + static_cast<size_t>(stream_left_);
  const size_t wanted = std::min(there, std::max(count, static_cast<size_t>(source_.read_bytes)));
  if (window_.size() < wanted) window_.resize(wanted);
  while (window_end_ < std::min(count, wanted)) {
    PARQUET_ASSIGN_OR_THROW(const int64_t read,
                            source_.stream->Read(static_cast<int64_t>(wanted - window_end_),
                                                 window_.data() + window_end_));
    if (read == 0) return;
    window_end_ += static_cast<size_t>(read);
    stream_left_ -= read;
  }
}

bool ChunkPageReader::ReadHeader(PageHeader* header) {
  for (size_t seen = kFirstHeaderBytes;; seen *= 4) {
    Fill(seen);
    if (window().empty()) return false;
    size_t header_bytes = 0;
    const HeaderParse parsed = ParsePageHeader(window(), header, &header_bytes);
    if (parsed == HeaderParse::kDone) {
      window_at_ += header_bytes;
      return true;
    }
    if (parsed == HeaderParse::kDamaged || window().size() < seen || seen >= max_header_bytes_)
      throw ParquetException("Deserializing page header failed: it is damaged or cut off");
  }
}

bool ChunkPageReader::IsUnwanted(const PageHeader& header) const {
  if (header.kind != Kind::kData && header.kind != Kind::kDataV2) return false;
  if (!data_page_filter_) return false;
  const auto row_count =
      header.kind == Kind::kDataV2 ? std::optional<int32_t>(header.row_count) : std::nullopt;
  return data_page_filter_({nullptr, header.value_count, row_count});
}

std::shared_ptr<::parquet::Page> ChunkPageReader::NextPage() {
  if (ahead_ != nullptr) return std::exchange(ahead_, nullptr);
  while (values_seen_ < source_.value_count) {
    PageHeader header;
    if (!ReadHeader(&header)) return nullptr;
    ++page_index_;
    const bool unwanted = IsUnwanted(header) || header.kind == Kind::kOther;
    const auto packed_bytes = static_cast<size_t>(header.compressed_bytes);
    Fill(packed_bytes);
    if (window().size() < packed_bytes) {
      throw ParquetException("Page was smaller (" + std::to_string(window().size()) +
                             " bytes) than expected (" + std::to_string(packed_bytes) + ")");
    }
    if (unwanted) {
      window_at_ += packed_bytes;
      continue;
    }
    if (!HasItsChecksum(header, window())) {
      throw ParquetException(
          "could not verify page integrity, CRC checksum verification failed for page_ordinal " +
          std::to_string(page_index_));
    }
    if (header.kind != Kind::kDictionary) values_seen_ += header.value_count;
    return TakePage(header);
  }
  return nullptr;
}

std::shared_ptr<::parquet::Page> ChunkPageReader::TakePage(const PageHeader& header) {
  const std::optional<NextHeader> next = FindNext(header);
  const auto packed_bytes = static_cast<size_t>(header.compressed_bytes);
  const Unpacking page = Begin(header, window().substr(0, packed_bytes));
  window_at_ += packed_bytes;
  if (!next) {
    End(page);
    return MakePage(header, page.buffer);
  }
  const auto next_bytes = static_cast<size_t>(next->header.compressed_bytes);
  const Unpacking next_page = Begin(next->header, window().substr(next->header_bytes, next_bytes));
  if (!DecompressSnappyPair(page.rest, next_page.rest)) {
    End(page);  // If it is the next one that is damaged, that is said when its turn comes.
    return MakePage(header, page.buffer);
  }
  window_at_ += next->header_bytes + next_bytes;
  ++page_index_;
  values_seen_ += next->header.value_count;
  ahead_ = MakePage(next->header, next_page.buffer);
  return MakePage(header, page.buffer);
}

std::optional<ChunkPageReader::NextHeader> ChunkPageReader::FindNext(const PageHeader& header) {
  if (source_.compression != Compression::SNAPPY || !IsCompressed(header) ||
      header.kind == Kind::kDictionary || data_page_filter_ || values_seen_ >= source_.value_count)
    return std::nullopt;
  const auto packed_bytes = static_cast<size_t>(header.compressed_bytes);
  Fill(packed_bytes + kFirstHeaderBytes);
  NextHeader next;
  if (ParsePageHeader(window().substr(packed_bytes), &next.header, &next.header_bytes) !=
      HeaderParse::kDone)
    return std::nullopt;
  const bool is_data = next.header.kind == Kind::kData || next.header.kind == Kind::kDataV2;
  if (!is_data || !IsCompressed(next.header) ||
      std::max(next.header.compressed_bytes, next.header.uncompressed_bytes) > kMostBytesAhead)
    return std::nullopt;
  const size_t before = packed_bytes + next.header_bytes;
  const size_t end = before + static_cast<size_t>(next.header.compressed_bytes);
  Fill(end);
  if (window().size() < end || !HasItsChecksum(next.header, window().substr(before)))
    return std::nullopt;
  return next;
}

bool ChunkPageReader::IsCompressed(const PageHeader& header) const {
  if (source_.compression == Compression::UNCOMPRESSED) return false;
  return header.kind != Kind::kDataV2 || header.is_compressed || source_.always_compressed;
}

ChunkPageReader::Unpacking ChunkPageReader::Begin(const PageHeader& header,
                                                  std::string_view packed) const {
  const bool compressed = IsCompressed(header);
  const int64_t size = compressed ? header.uncompressed_bytes : static_cast<int64_t>(packed.size());
  const int64_t before = BytesBeforeValues(header, *source_.column);
  const int64_t shift = (kAlignment - before % kAlignment) % kAlignment;
  PARQUET_ASSIGN_OR_THROW(std::shared_ptr<arrow::Buffer> buffer,
                          arrow::AllocateBuffer(shift + size, source_.pool));
  uint8_t* const out = buffer->mutable_data() + shift;
  // The levels of version 2 are never compressed.
  const bool is_v2 = header.kind == Kind::kDataV2;
  const size_t plain = !compressed ? packed.size() : is_v2 ? static_cast<size_t>(before) : 0;
  std::memcpy(out, packed.data(), plain);
  SnappyBlock rest{packed.substr(plain), out + plain, static_cast<size_t>(size) - plain};
  return {arrow::SliceBuffer(std::move(buffer), shift, size), rest};
}

void ChunkPageReader::End(const Unpacking& page) const {
  const SnappyBlock& rest = page.rest;
  if (rest.size == 0 && rest.compressed.empty()) return;  // Some writers leave out an empty block.
  if (codec_ == nullptr) {
    if (DecompressSnappy(rest)) return;
    throw ParquetException("Corrupt snappy compressed data in page " + std::to_string(page_index_));
  }
  const auto size = static_cast<int64_t>(rest.size);
  PARQUET_ASSIGN_OR_THROW(
      const int64_t done,
      codec_->Decompress(static_cast<int64_t>(rest.compressed.size()),
                         reinterpret_cast<const uint8_t*>(rest.compressed.data()), size, rest.out));
  if (done == size) return;
  throw ParquetException("Page didn't decompress to expected size, expected: " +
                         std::to_string(size) + ", but got: " + std::to_string(done));
}

std::shared_ptr<::parquet::Page> ChunkPageReader::MakePage(
    const PageHeader& header, std::shared_ptr<arrow::Buffer> buffer) const {
  switch (header.kind) {
    case Kind::kDictionary:
      return std::make_shared<::parquet::DictionaryPage>(std::move(buffer), header.value_count,
                                                         header.encoding, header.is_sorted);
    case Kind::kDataV2:
      return std::make_shared<::parquet::DataPageV2>(
          std::move(buffer), header.value_count, header.null_count, header.row_count,
          header.encoding, header.definition_bytes, header.repetition_bytes,
          header.uncompressed_bytes, header.is_compressed);
    default:
      return std::make_shared<::parquet::DataPageV1>(
          std::move(buffer), header.value_count, header.encoding, header.definition_encoding,
          header.repetition_encoding, header.uncompressed_bytes);
  }
}

}  // namespace sluice::formats::parquet_format
