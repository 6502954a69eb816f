// Bytes as a Parquet file under several tables: whatever comes is read or refused.
#include <cstdint>

#include "container.h"
#include "expr/builder.h"
#include "formats/parquet/parquet_format.h"
#include "formats/testing/bulk_files.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  sluice::formats::FuzzContainer(sluice::formats::kParquetFormat, data, size);
  return 0;
}
