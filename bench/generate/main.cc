// Writes a data set for the benchmarks: bench_generate SET csv|json ROWS SEED FOLDER FILES
//
// The rows are a function of set, seed and count alone; they are dealt out to the files in runs.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "record_writer.h"
#include "sets.h"

namespace {

using sluice::bench::DataSet;
using sluice::bench::RecordWriter;

bool WriteFile(const DataSet& set, const std::string& path, bool json, uint64_t seed,
               uint64_t begin, uint64_t end, uint64_t rows) {
  std::FILE* file = std::fopen(path.c_str(), "w");
  if (file == nullptr) return false;
  RecordWriter out(file, json);
  for (uint64_t row = begin; row < end; ++row) set.write_row(out, seed, row, rows);
  out.Flush();
  return (std::fclose(file) == 0) && !out.failed();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 7) {
    std::fprintf(stderr, "usage: %s SET csv|json ROWS SEED FOLDER FILES\n", argv[0]);
    return 2;
  }
  const std::string name = argv[1];
  const bool json = std::string(argv[2]) == "json";
  const uint64_t rows = std::strtoull(argv[3], nullptr, 10);
  const uint64_t seed = std::strtoull(argv[4], nullptr, 10);
  const uint64_t files = std::strtoull(argv[6], nullptr, 10);
  for (const DataSet& set : sluice::bench::DataSets()) {
    if (set.name != name) continue;
    for (uint64_t i = 0; i < files; ++i) {
      const std::string path = std::string(argv[5]) + "/part-" + std::to_string(i);
      if (!WriteFile(set, path, json, seed, rows * i / files, rows * (i + 1) / files, rows)) {
        std::perror(path.c_str());
        return 1;
      }
    }
    return 0;
  }
  std::fprintf(stderr, "There is no set '%s'. Known: orders, skew, bids, wide.\n", argv[1]);
  return 2;
}
