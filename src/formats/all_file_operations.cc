#include "formats/all_file_operations.h"

#include "formats/avro/avro_file_operations.h"
#include "formats/orc/orc_file_operations.h"
#include "formats/parquet/parquet_file_operations.h"

namespace sluice::formats {

const FileOperations& FileOperationsOf(const Format& format) {
  static const FileOperations kNone;
  if (format.name == "parquet") return kParquetFileOperations;
  if (format.name == "orc") return kOrcFileOperations;
  if (format.name == "avro") return kAvroFileOperations;
  return kNone;
}

}  // namespace sluice::formats
