// What a format is to the rest of the engine: one entry with its options and the makers of its
// decoders, encoders, readers and writers. A format knows bytes and columns, nothing of files'
// names, topics or SQL.
//
// Row formats (csv, json, raw, the changelog JSONs) decode whole records from bytes straight into
// Arrow builders and encode rows into bytes. Bulk formats (parquet, orc, avro) read and write
// containers. A single message (a Kafka value) is always one record: whatever its files are, a
// format that has a decoder and an encoder of rows can hold messages (avro does both).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/io/interfaces.h>
#include <arrow/memory_pool.h>
#include <arrow/type_fwd.h>

#include "common/options.h"
#include "common/result.h"
#include "types/batch.h"
#include "types/schema.h"
#include "types/time_zone.h"

namespace sluice::expr {
class Expr;  // Declared, not included: formats are built and tested without the expressions.
using ExprPtr = std::shared_ptr<const Expr>;
}  // namespace sluice::expr

namespace sluice::formats {

/// How files of a format hold rows.
enum class Encoding {
  kRow,   // A byte stream of records: can be cut and continued at any record end.
  kBulk,  // A container with a footer or blocks.
};

/// Options of one use of a format. Keys have the prefix removed ("field-delimiter"); `prefix`
/// ("csv.", "value.csv.") is for messages.
struct FormatOptions {
  OptionMap options;
  std::string prefix;
};

/// What every maker may need.
struct FormatContext {
  TimeZone session_zone;
  arrow::MemoryPool* pool = arrow::default_memory_pool();
  /// Row decoders go on as with ignore-parse-errors and hand out every BadRecord, however many: the
  /// caller puts the records aside.
  bool keep_bad_records = false;
};

/// Columns to read: `physical` is what the format holds (no partition, computed or metadata
/// columns) in declared order, `projection` the wanted ones as indices into it, in output order
/// (may be empty: rows are only counted; the batch then has no columns and the right num_rows),
/// `metadata` those wanted of Format::metadata, behind them.
struct ReadSchema {
  Schema physical;
  std::vector<int> projection;
  Schema metadata = {};
  Schema output() const;
};

/// A record or field that could not be used.
struct BadRecord {
  int64_t record = 0;  // Index in the chunk or message list handed in.
  int64_t line = 0;    // Line of the record's start within the chunk, from 0 (framed input only).
  int64_t byte_offset = 0;  // Of the record's start within the chunk or message.
  int64_t byte_length = 0;  // Of the record in the chunk, its line end left out; 0: not known.
  std::string column;       // Empty when the whole record is at fault.
  std::string reason;       // "For input string: \"abc\"." and what to do (option that changes it).
  std::string text;         // Sample of the text, printable, bounded.
  bool field_only = false;  // With errors ignored: only the field became NULL, the row stayed.
};

/// What came out of one call of a decoder.
struct DecodedRows {
  Batch rows;  // Columns of ReadSchema::output().
  /// Index of the record that row i came from; empty when row i is record i for all i.
  std::vector<int32_t> record_of_row;
  int64_t record_count = 0;  // Records seen, bad and empty ones included.
  int64_t line_count = 0;    // Line ends consumed (framed input only).
  /// Without ignore-parse-errors decoding stops at the first bad record: `rows` holds what came
  /// before and `bad` has one entry. With it, all of them (bounded to 1,000 kept, `bad_count`
  /// counts all).
  std::vector<BadRecord> bad;
  int64_t bad_count = 0;
  /// Records that are right and give no row: tombstones within, DDL, tables that the options leave
  /// out.
  int64_t ignored_count = 0;
  bool failed = false;  // The table's options say that `bad[0]` fails the read.
};

/// Decodes records of a row format. Not thread-safe: one per worker; state between calls is scratch
/// memory only, so chunks may be decoded in any order.
class RowDecoder {
 public:
  virtual ~RowDecoder() = default;
  /// `chunk` holds whole framed records as RowFramer cut them; `first_in_file`: a byte order mark
  /// and header are looked for.
  virtual Result<DecodedRows> DecodeChunk(std::string_view chunk, bool first_in_file) = 0;
  /// One record a message, no framing. Null messages (a Kafka tombstone) have data() == nullptr: no
  /// row (raw: a NULL row).
  virtual Result<DecodedRows> DecodeMessages(std::span<const std::string_view> messages) = 0;
};

/// Finds record ends in a byte stream. Stateless between files; cheap enough to run ahead of
/// parallel decoders.
class RowFramer {
 public:
  virtual ~RowFramer() = default;
  /// Length of the longest prefix of `bytes` that ends at a record end; 0 when no record is
  /// complete yet. `bytes` begins at a record's start. At the end of the file the rest counts as
  /// complete.
  virtual size_t CompletePrefix(std::string_view bytes, bool at_end_of_file) = 0;
  /// Splitting an uncompressed file at arbitrary bytes: true when a record start can be found from
  /// any position by looking for the next line end (false for csv with quoting).
  virtual bool splittable() const = 0;
};

/// Encodes rows of a row format. Not thread-safe.
class RowEncoder {
 public:
  virtual ~RowEncoder() = default;
  /// Appends the rows of `batch` to `out`. With `row_ends`, also the offset in `out` behind each
  /// row. For files each record carries its separator; for messages none. A value that cannot be
  /// read back is kDataError naming column and value.
  virtual Status Encode(const Batch& batch, std::string* out, std::vector<size_t>* row_ends) = 0;
};

enum class Framing { kFile, kMessage };

/// Writes one container file. Not thread-safe.
class BulkWriter {
 public:
  virtual ~BulkWriter() = default;
  virtual Status Write(const Batch& batch) = 0;
  /// Bytes in the stream plus what the encoder holds, compressed where known: what the rolling size
  /// is compared with.
  virtual int64_t estimated_file_bytes() const = 0;
  /// Memory held for rows not yet in the stream.
  virtual int64_t buffered_bytes() const = 0;
  /// Moves buffered rows to the stream (ends a row group or stripe).
  virtual Status Flush() = 0;
  /// Writes the footer. The stream stays open and belongs to the caller.
  virtual Status Finish() = 0;
};

/// What a container tells of one column of a part without a look at its values. Exact: bounds that
/// were cut short or leave out NaN are not told.
struct ColumnFacts {
  int64_t null_count = -1;                // -1: not told.
  std::shared_ptr<arrow::Array> min_max;  // Two values of the table's type; null: not told.
};

/// An opened container file for reading.
class BulkFile {
 public:
  virtual ~BulkFile() = default;
  /// Parts that can be read on their own (row groups, stripes, blocks).
  virtual int part_count() const = 0;
  /// Rows of `part`; -1 while unknown: a container without a footer (avro) tells them once the part
  /// has been read to its end.
  virtual int64_t row_count(int part) const = 0;
  /// False when statistics prove that no row of `part` passes `filters` (conjuncts over
  /// ReadSchema::physical indices).
  virtual bool MayMatch(int part, std::span<const expr::ExprPtr> filters) const = 0;
  /// Of a column of ReadSchema::physical.
  virtual ColumnFacts Facts(int part, int column) const {
    (void)part;
    (void)column;
    return {};
  }

  class Rows {
   public:
    virtual ~Rows() = default;
    /// Next batch of at most ~8,192 rows, nullopt at the end. Its rows are neighbours in the file.
    virtual Result<std::optional<Batch>> Next() = 0;
    /// Rows of the part up to the end of the last batch, with those that filters left out; at the
    /// end all of them.
    virtual int64_t position() const = 0;
  };
  /// Reads one part. Columns missing in the file are NULL (by name); types are converted where
  /// compatible, else kDataError. Rows of pages or strides that cannot pass `filters` (as for
  /// MayMatch) may be left out.
  virtual Result<std::unique_ptr<Rows>> ReadPart(int part,
                                                 std::span<const expr::ExprPtr> filters) = 0;
  Result<std::unique_ptr<Rows>> ReadPart(int part) { return ReadPart(part, {}); }
};

enum class Direction { kRead, kWrite };

/// A format. One constant an own folder, one line in all_formats.cc. Functions not offered are
/// null.
struct Format {
  std::string_view name;
  Encoding encoding = Encoding::kRow;
  /// True when a streaming sink closes files at every checkpoint by default (csv, parquet, avro,
  /// orc; not json, raw).
  bool rolls_on_checkpoint = true;
  /// False where a byte order mark at the start of a text file is a part of its first record.
  bool skips_byte_order_mark = true;
  std::span<const OptionSpec> options;  // Keys without prefix.
  RowKindSet read_kinds;                // Row kinds that reading produces.
  RowKindSet write_kinds;               // Row kinds that writing takes.
  /// Columns that messages offer beside their rows, for reading (ReadSchema::metadata). Null: none.
  Schema (*metadata)() = nullptr;
  bool holds_messages() const { return make_decoder != nullptr && make_encoder != nullptr; }

  /// Checks option values and combinations and that every column's type can be held. Messages as in
  /// formats.md.
  Status (*validate)(const FormatOptions&, const Schema& physical, Direction) = nullptr;
  /// What tables in files have to keep in addition (raw: no binary numbers). Null: nothing.
  Status (*validate_files)(const FormatOptions&, const Schema& physical) = nullptr;
  /// The same for tables in messages (avro: no codec). Null: nothing.
  Status (*validate_messages)(const FormatOptions&, const Schema& physical) = nullptr;
  Result<std::unique_ptr<RowDecoder>> (*make_decoder)(const FormatOptions&, const ReadSchema&,
                                                      const FormatContext&) = nullptr;
  Result<std::unique_ptr<RowFramer>> (*make_framer)(const FormatOptions&) = nullptr;
  Result<std::unique_ptr<RowEncoder>> (*make_encoder)(const FormatOptions&, const Schema&, Framing,
                                                      const FormatContext&) = nullptr;
  Result<std::unique_ptr<BulkWriter>> (*make_bulk_writer)(const FormatOptions&, const Schema&,
                                                          std::shared_ptr<arrow::io::OutputStream>,
                                                          const FormatContext&) = nullptr;
  Result<std::unique_ptr<BulkFile>> (*open_bulk_file)(const FormatOptions&, const ReadSchema&,
                                                      std::shared_ptr<arrow::io::RandomAccessFile>,
                                                      const FormatContext&) = nullptr;
};

/// Every format, in the order that messages list them.
std::span<const Format* const> AllFormats();

/// Fails with "Could not find any format factory for identifier 'x' in the classpath." and the
/// known names.
Result<const Format*> FindFormat(std::string_view name);

/// Takes the options that begin with `prefix` ("csv.") out of a table's options.
FormatOptions ExtractFormatOptions(const OptionMap& table_options, std::string_view prefix);

/// Names, allowed values and combinations of `options`; unknown keys are refused with the nearest
/// known one.
Status ValidateFormatOptions(const Format& format, const FormatOptions& options);

}  // namespace sluice::formats
