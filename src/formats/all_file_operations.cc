#include "formats/all_file_operations.h"

#include "formats/parquet/parquet_file_operations.h"

namespace sluice::formats {

const FileOperations& FileOperationsOf(const Format& format) {
  static const FileOperations kNone;
  if (format.name == "parquet") return kParquetFileOperations;
  return kNone;
}

}  // namespace sluice::formats
