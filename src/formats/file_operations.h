// What some formats offer for their files beyond reading one and writing one: going on with a file
// that was begun before a restart, and joining finished ones.
//
// Beside Format and not in it: only the file sink asks.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/format.h"

namespace sluice::formats {

/// A bulk writer whose file may stay open over checkpoints.
class SpanningWriter : public BulkWriter {
 public:
  /// The state from which another writer continues behind the bytes that are in the stream now.
  /// Rows that are not in the stream yet are in the state. May write to the stream; this writer
  /// goes on as well.
  virtual Result<std::string> Save() = 0;
  /// About the bytes that Save would give now; Flush takes them to nearly none.
  virtual int64_t state_bytes() const = 0;
};

/// Encodes whole files, many of one schema one after the other: what a bulk writer sets up for each
/// file is made once. Not thread-safe.
class WholeFileEncoder {
 public:
  virtual ~WholeFileEncoder() = default;
  /// A file of these rows, valid until the next call. nullopt: they are too many for this way, or
  /// something is wrong with them of which the bulk writer says more.
  virtual Result<std::optional<std::string_view>> Encode(const Batch& rows) = 0;
};

/// Functions not offered are null.
struct FileOperations {
  /// `state` is what Save gave, and the stream stands behind the bytes that were in it then; empty:
  /// a new file. Null: a file must end at every checkpoint.
  Result<std::unique_ptr<SpanningWriter>> (*resume_writer)(const FormatOptions&, const Schema&,
                                                           std::shared_ptr<arrow::io::OutputStream>,
                                                           std::string_view state,
                                                           const FormatContext&) = nullptr;
  /// Joins finished files of one table, in order, into one file without decoding their rows.
  /// kUnsupported: these do not fit together; nothing was written then. Null: never; bulk files are
  /// read and written anew, files of row formats put one behind the other.
  Status (*join_files)(const FormatOptions&, const Schema&,
                       std::span<const std::shared_ptr<arrow::io::RandomAccessFile>> inputs,
                       arrow::io::OutputStream* out, const FormatContext&) = nullptr;
  /// All columns of a finished file, nested ones as "a.b", under the table's names: a file that is
  /// read and written anew keeps only those that the table has. Null: row formats.
  Result<std::vector<std::string>> (*column_paths)(const FormatOptions&, const Schema& table,
                                                   std::shared_ptr<arrow::io::RandomAccessFile>,
                                                   const FormatContext&) = nullptr;
  /// Gives null where the options or the schema need the bulk writer. Null: always.
  Result<std::unique_ptr<WholeFileEncoder>> (*make_whole_file_encoder)(
      const FormatOptions&, const Schema&, const FormatContext&) = nullptr;
};

}  // namespace sluice::formats
