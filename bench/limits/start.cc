// What starting a program that is linked as ours costs: it does nothing, but needs libparquet,
// libarrow_compute and libarrow. `limit_start alone` is for a look at it by hand.
#include <cstdio>

#include <arrow/compute/api.h>
#include <parquet/file_reader.h>

int main(int argc, char** /*argv*/) {
  if (argc > 1) {  // Never so in a measurement; the calls keep the libraries linked.
    std::printf("%d\n", arrow::compute::GetFunctionRegistry()->num_functions());
    try {
      parquet::ParquetFileReader::OpenFile("/nonexistent");
    } catch (const std::exception& error) {
      std::printf("%s\n", error.what());
    }
  }
  return 0;
}
