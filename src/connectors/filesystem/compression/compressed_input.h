// Bytes of a file from a position on, decompressed when its name says so (formats.md §0.6).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <arrow/io/interfaces.h>

#include "common/result.h"
#include "connectors/filesystem/compression/compression.h"

namespace sluice::connectors::filesystem {

/// A stream of bytes read in order. Not thread-safe; blocking.
class ByteStream {
 public:
  virtual ~ByteStream() = default;
  /// Fills `out` as far as it goes; returns the count, 0 at the end.
  virtual Result<size_t> Read(char* out, size_t size) = 0;
};

/// Bytes of `file` from `offset` to `end` (-1: the end of the file).
std::unique_ptr<ByteStream> MakePlainStream(std::shared_ptr<arrow::io::RandomAccessFile> file,
                                            int64_t offset, int64_t end);

/// The decompressed bytes of the whole file; several members one after another are one stream. A
/// damaged or cut stream fails with kDataError naming the decompressed offset.
Result<std::unique_ptr<ByteStream>> MakeDecompressedStream(
    std::shared_ptr<arrow::io::RandomAccessFile> file, Compression compression);

}  // namespace sluice::connectors::filesystem
