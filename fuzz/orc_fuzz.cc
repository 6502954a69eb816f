// Bytes as an ORC file under several tables: whatever comes is read or refused.
#include <cstdint>
#include <string>

#include "container.h"
#include "expr/builder.h"
#include "formats/orc/orc_format.h"
#include "formats/testing/bulk_files.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  sluice::formats::FuzzContainer(sluice::formats::kOrcFormat, data, size);
  return 0;
}
