// Cuts a text file, or a byte range of one, into chunks of whole records.
#pragma once

#include <memory>
#include <string>

#include "connectors/filesystem/compression/compressed_input.h"
#include "connectors/filesystem/source/split_reader.h"

namespace sluice::connectors::filesystem {

/// A record belongs to the range where it begins: a range that does not start the file first skips
/// to the next record, and reads the last record to its end behind the range.
class TextSplitReader final : public SplitReader {
 public:
  static Result<std::unique_ptr<SplitReader>> Open(
      std::shared_ptr<const FileSourceSpec> spec, const FileSplit& split,
      std::shared_ptr<arrow::io::RandomAccessFile> file);
  Result<FetchedUnit> Fetch() override;

 private:
  TextSplitReader(std::shared_ptr<const FileSourceSpec> spec, const FileSplit& split)
      : spec_(std::move(spec)), split_(split) {}
  Status Start(std::shared_ptr<arrow::io::RandomAccessFile> file);
  Status SkipToRecord();
  /// Reads up to `size` more bytes behind `carry_`; sets at_end_ at the end of the file as it was
  /// found.
  Status ReadMore(size_t size);
  /// Length of the first record of `carry_`, reading on until it is complete.
  Result<size_t> FirstRecord();
  /// Bytes of the first `length` bytes of `carry_` that are whole records, a byte order mark in
  /// front included.
  size_t CompletePrefix(size_t length, bool at_end_of_file);
  Status TooLong() const;

  const std::shared_ptr<const FileSourceSpec> spec_;
  const FileSplit split_;
  std::unique_ptr<formats::RowFramer> framer_;
  std::unique_ptr<ByteStream> stream_;
  bool whole_file_ = true;
  bool plain_ = false;       // Not compressed.
  std::string carry_;        // Bytes read and not handed out; begins at a record.
  int64_t carry_begin_ = 0;  // Byte of the file where it begins.
  bool at_end_ = false;
  int64_t bytes_read_ = 0;
};

}  // namespace sluice::connectors::filesystem
