// Encodes small Parquet files whole: one row group, one page a column (and its dictionary where
// that makes it smaller), for tables whose rows go to thousands of files at once.
//
// The library's writer is made for large files: properties, column writers, builders of footers and
// page indexes are made anew for each, more work than the rows of a small file are. Here everything
// that does not depend on the rows is made once; the schema in the footer is the library's to the
// letter, so that the files can be joined with others of the table (join_files.h).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/util/compression.h>

#include "formats/file_operations.h"
#include "formats/parquet/compact_writer.h"
#include "formats/parquet/parquet_options.h"
#include "formats/parquet/plain_values.h"
#include "formats/parquet/small_dictionary.h"
#include "formats/parquet/timestamp_values.h"

namespace sluice::formats::parquet_format {

class ParquetWholeFileEncoder final : public WholeFileEncoder {
 public:
  /// Null when the schema or the options ask for what only the bulk writer does: nested columns,
  /// bloom filters, data pages of version 2.
  static Result<std::unique_ptr<WholeFileEncoder>> Make(ParquetOptions options,
                                                        const Schema& schema,
                                                        const FormatContext& context);

  Result<std::optional<std::string_view>> Encode(const Batch& rows) override;

 private:
  struct Leaf {
    PlainKind kind = PlainKind::kInt32;
    int32_t physical_type = 0;
    int width = 0;
    bool nullable = true;
    bool may_have_dictionary = false;
    int64_t units_per_second = 0;  // Of INT96.
  };
  /// What the footer tells of a column.
  struct Chunk {
    int64_t dictionary_offset = 0;  // 0: none.
    int64_t data_offset = 0;
    int64_t value_count = 0;  // NULLs too.
    int64_t null_count = 0;
    int64_t uncompressed_bytes = 0;
    int64_t compressed_bytes = 0;
    bool has_bounds = false;
    std::string min;
    std::string max;
  };

  ParquetWholeFileEncoder(ParquetOptions options, const Schema& schema, arrow::MemoryPool* pool)
      : options_(std::move(options)),
        schema_(schema),
        pool_(pool),
        wall_clock_(options_.wall_clock_zone) {}
  Status Prepare(const FormatContext& context);
  /// False: only the bulk writer can write this column.
  Result<bool> AddColumn(size_t index, const arrow::Array& values);
  void AppendDefinitionLevels(const arrow::Array& values);
  Status AppendPage(bool is_dictionary, int64_t value_count, Chunk* chunk);
  Status Compress();
  void AppendFooter(int64_t row_count);
  void AppendChunkMeta(size_t index, CompactWriter* out) const;

  const ParquetOptions options_;
  const Schema schema_;
  arrow::MemoryPool* const pool_;
  WallClock wall_clock_;
  std::unique_ptr<arrow::util::Codec> codec_;  // Null: not compressed.
  std::vector<Leaf> leaves_;
  std::string footer_head_;  // Version and schema.
  std::string footer_tail_;  // What stands behind the row groups, and the end of the struct.

  // Of the file at hand.
  PlainValues values_;
  SmallDictionary dictionary_;
  bool has_dictionary_ = false;  // Of the column at hand.
  std::vector<Chunk> chunks_;
  std::string body_;        // Of a page.
  std::string compressed_;  // The same.
  std::string file_;
};

}  // namespace sluice::formats::parquet_format
