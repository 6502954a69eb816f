// The object container file: header, blocks of records, sync markers (Avro specification, "Object
// Container Files").
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <arrow/io/interfaces.h>

#include "common/result.h"
#include "formats/avro/block_codec.h"

namespace sluice::formats::avro {

constexpr int64_t kSyncBytes = 16;

struct ContainerHeader {
  std::string schema_json;
  CodecKind codec = CodecKind::kNull;
  std::string sync;  // kSyncBytes, behind every block.
  int64_t end = 0;   // Where the first block begins.
};

/// The bytes that begin a file.
std::string EncodeHeader(const ContainerHeader& header);

struct Block {
  int64_t offset = 0;  // In the file.
  int64_t row_count = 0;
  int64_t data_offset = 0;
  int64_t data_bytes = 0;
  int64_t next() const { return data_offset + data_bytes + kSyncBytes; }
};

/// A container opened for reading. Reads sequentially in large pieces. Not thread-safe.
class Container {
 public:
  /// Fails with kDataError "Not an Avro data file" or with what is wrong in the header.
  static Result<std::unique_ptr<Container>> Open(std::shared_ptr<arrow::io::RandomAccessFile> file);

  const ContainerHeader& header() const { return header_; }
  int64_t file_bytes() const { return file_bytes_; }

  /// Start of the first block in [begin, end) behind a sync marker, `end` when there is none.
  Result<int64_t> FindBlock(int64_t begin, int64_t end);
  /// Counts and sizes of the block at `offset`, checked against the file's size; the block's data
  /// is not looked at.
  Result<Block> ReadBlockHeader(int64_t offset);
  /// Compressed data, after its sync marker has been checked. Valid until the next call.
  Result<std::string_view> ReadBlockData(const Block& block);
  /// "block 3 (at byte 1,234 of the file)": counts the blocks before, for messages.
  std::string Describe(int64_t block_offset);

 private:
  Container(std::shared_ptr<arrow::io::RandomAccessFile> file, int64_t file_bytes)
      : file_(std::move(file)), file_bytes_(file_bytes) {}
  Status ReadHeader();
  /// The bytes from `offset` on, as many as wanted or as the file has. Valid until the next call.
  Result<std::string_view> View(int64_t offset, int64_t wanted);

  const std::shared_ptr<arrow::io::RandomAccessFile> file_;
  const int64_t file_bytes_;
  ContainerHeader header_;
  std::unique_ptr<char[]> window_;
  int64_t window_capacity_ = 0;
  int64_t window_offset_ = 0;
  int64_t window_bytes_ = 0;
};

}  // namespace sluice::formats::avro
