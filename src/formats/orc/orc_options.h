// Options of the format 'orc', parsed.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/options.h"
#include "common/result.h"
#include "formats/format.h"
#include "formats/orc/metadata.h"

namespace sluice::formats::orc_format {

struct OrcOptions {
  Compression compression = Compression::kZlib;
  bool thorough_compression = false;
  int64_t block_bytes = 256 << 10;  // Of content, before compression.
  int64_t stripe_bytes = 64 << 20;  // Encoded bytes of a stripe.
  int64_t row_index_stride = 10'000;
  bool row_index = true;
  double dictionary_threshold = 0.8;
  std::vector<std::string> bloom_columns;  // With a bloom filter a stride.
  double bloom_share = 0.05;               // Of false answers.
  /// Files that do not tell their calendar count old times in the hybrid one, and DATE; the latter
  /// nullopt when no option says so.
  bool unmarked_times_are_hybrid = true;
  std::optional<bool> unmarked_dates_are_hybrid;
};

/// Keys without prefix: the names of ORC's own configuration.
std::span<const OptionSpec> OptionSpecs();

/// Fails with kInvalidArgument: unknown keys with the nearest known one, values with what is
/// allowed.
Result<OrcOptions> ParseOptions(const FormatOptions& options);

}  // namespace sluice::formats::orc_format
