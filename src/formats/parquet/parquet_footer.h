// The footer of a Parquet file as something that can be joined with others: row groups are listed
// one behind the other, moved to where their bytes are now, and numbered anew.
//
// Field numbers are those of parquet.thrift (format 2.10).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <arrow/io/interfaces.h>

#include "common/result.h"
#include "formats/parquet/thrift_compact.h"

namespace sluice::formats::parquet_format {

class ParquetFooter {
 public:
  ParquetFooter() = default;  // Nothing: to be assigned.
  /// `bytes`: the footer alone, without its length and the last magic.
  static Result<ParquetFooter> Parse(std::string_view bytes);
  /// Reads the footer at the end of a file. kDataError when the file is not a Parquet file,
  /// kUnsupported when its footer is encrypted. `footer_offset` gets where it begins.
  static Result<ParquetFooter> Read(arrow::io::RandomAccessFile* file, int64_t* footer_offset);

  /// Footer, its length and the magic: the end of a file.
  std::string ToFileEnd() const;
  /// Without length and magic, as Parse takes it.
  std::string Serialize() const { return SerializeThriftStruct(root_); }

  int64_t row_count() const { return root_.NumberOr(kRowCount, 0); }
  std::vector<ThriftNode>& row_groups() { return root_.Field(kRowGroups)->items; }
  /// Appends the row groups of `other`, whose schema must be the same.
  void Append(ParquetFooter other);
  /// True when files of the two can be one file: same schema to the letter, orders of columns and
  /// key-value pairs.
  bool FitsWith(const ParquetFooter& other) const;

 private:
  static constexpr int16_t kRowCount = 3;
  static constexpr int16_t kRowGroups = 4;
  void NumberRowGroups();

  ThriftNode root_;
};

}  // namespace sluice::formats::parquet_format
