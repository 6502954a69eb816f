// The callbacks of -fsanitize-coverage that the sanitizer's library lacks, for programs that are
// not fuzzed: they do nothing. With them one build serves the fuzz targets and all tests.
extern "C" {

#define SLUICE_NO_COVERAGE \
  __attribute__((visibility("default"), no_sanitize("address", "undefined")))

SLUICE_NO_COVERAGE void __sanitizer_cov_trace_pc() {}
SLUICE_NO_COVERAGE void __sanitizer_cov_trace_cmpf(float, float) {}
SLUICE_NO_COVERAGE void __sanitizer_cov_trace_cmpd(double, double) {}

}  // extern "C"
