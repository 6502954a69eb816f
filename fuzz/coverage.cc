// Receives the callbacks of -fsanitize-coverage=trace-pc,trace-cmp. Built without that flag, or it
// would call itself.
#include <cstdint>

#include "corpus.h"

namespace sluice::fuzz {
namespace {

constexpr size_t kMapSize = 1 << 16;
constexpr size_t kConstants = 256;

// How often each edge (place, place before) was taken; the touched ones are listed so that a reset
// does not cost 64 KiB.
// Bare arrays: these functions run at each branch of the code under test, and the checks that the
// build adds to std::array were a quarter of all time.
uint8_t g_hits[kMapSize];
uint32_t g_touched[kMapSize];
size_t g_touched_count = 0;
thread_local uintptr_t g_previous = 0;
// One bit for each magnitude of hits (1, 2, 3, 4-7, 8-15, ...) ever seen on an edge.
uint8_t g_seen[kMapSize];
size_t g_seen_total = 0;
uint64_t g_constants[kConstants];
size_t g_constant_count = 0;

uint8_t Magnitude(uint8_t hits) {
  if (hits <= 3) return static_cast<uint8_t>(1 << (hits - 1));
  if (hits < 8) return 1 << 3;
  if (hits < 16) return 1 << 4;
  if (hits < 32) return 1 << 5;
  return hits < 128 ? 1 << 6 : 1 << 7;
}

}  // namespace

void Coverage::Reset() {
  for (size_t i = 0; i < g_touched_count; ++i) g_hits[g_touched[i]] = 0;
  g_touched_count = 0;
  g_previous = 0;
}

size_t Coverage::Merge() {
  size_t fresh = 0;
  for (size_t i = 0; i < g_touched_count; ++i) {
    const uint32_t edge = g_touched[i];
    const uint8_t magnitude = Magnitude(g_hits[edge]);
    if ((g_seen[edge] & magnitude) != 0) continue;
    g_seen[edge] |= magnitude;
    ++fresh;
  }
  g_seen_total += fresh;
  return fresh;
}

size_t Coverage::total() { return g_seen_total; }

uint64_t Coverage::RecentConstant(size_t choice) {
  if (g_constant_count == 0) return 0;
  return g_constants[choice % (g_constant_count < kConstants ? g_constant_count : kConstants)];
}

}  // namespace sluice::fuzz

namespace fuzz = sluice::fuzz;

// Threads of the code under test race here by design: a lost count costs nothing, a lock would cost
// all the speed.
extern "C" {

#define SLUICE_FUZZ_CALLBACK \
  __attribute__((visibility("default"), no_sanitize("address", "undefined")))

SLUICE_FUZZ_CALLBACK void __sanitizer_cov_trace_pc() {
  const auto place = reinterpret_cast<uintptr_t>(__builtin_return_address(0));
  const uintptr_t mixed = (place * 0x9E3779B97F4A7C15ull) >> 48;
  const size_t edge = (mixed ^ fuzz::g_previous) % fuzz::kMapSize;
  fuzz::g_previous = mixed >> 1;
  uint8_t& hits = fuzz::g_hits[edge];
  if (hits == 0 && fuzz::g_touched_count < fuzz::kMapSize) {
    fuzz::g_touched[fuzz::g_touched_count++] = static_cast<uint32_t>(edge);
  }
  if (hits != 255) ++hits;
}

static inline void NoteConstant(uint64_t value) {
  if (value > 1) fuzz::g_constants[fuzz::g_constant_count++ % fuzz::kConstants] = value;
}

SLUICE_FUZZ_CALLBACK void __sanitizer_cov_trace_cmp1(uint8_t, uint8_t) {}
SLUICE_FUZZ_CALLBACK void __sanitizer_cov_trace_cmp2(uint16_t, uint16_t) {}
SLUICE_FUZZ_CALLBACK void __sanitizer_cov_trace_cmp4(uint32_t, uint32_t) {}
SLUICE_FUZZ_CALLBACK void __sanitizer_cov_trace_cmp8(uint64_t, uint64_t) {}
SLUICE_FUZZ_CALLBACK void __sanitizer_cov_trace_cmpf(float, float) {}
SLUICE_FUZZ_CALLBACK void __sanitizer_cov_trace_cmpd(double, double) {}
SLUICE_FUZZ_CALLBACK void __sanitizer_cov_trace_const_cmp1(uint8_t value, uint8_t) {
  NoteConstant(value);
}
SLUICE_FUZZ_CALLBACK void __sanitizer_cov_trace_const_cmp2(uint16_t value, uint16_t) {
  NoteConstant(value);
}
SLUICE_FUZZ_CALLBACK void __sanitizer_cov_trace_const_cmp4(uint32_t value, uint32_t) {
  NoteConstant(value);
}
SLUICE_FUZZ_CALLBACK void __sanitizer_cov_trace_const_cmp8(uint64_t value, uint64_t) {
  NoteConstant(value);
}
SLUICE_FUZZ_CALLBACK void __sanitizer_cov_trace_switch(uint64_t, uint64_t* cases) {
  for (uint64_t i = 0; i < cases[0]; ++i) NoteConstant(cases[2 + i]);
}

}  // extern "C"
