// The options of 'avro' as values (formats.md §3.1).
#pragma once

#include <span>
#include <string>

#include "common/options.h"
#include "common/result.h"
#include "formats/avro/block_codec.h"
#include "formats/format.h"

namespace sluice::formats::avro {

struct AvroOptions {
  std::string prefix;  // "avro.", "value.avro.": for messages.
  /// TIMESTAMP is written as the logical types of instants, as if its wall clock were UTC.
  bool legacy_timestamps = true;
  std::string record_name = "record";
  std::string record_namespace = "org.apache.flink.avro.generated";
  // Files only:
  CodecKind codec = CodecKind::kSnappy;
  // Messages only:
  bool json_encoding = false;
  bool ignore_parse_errors = false;
  bool keep_bad_records = false;  // FormatContext::keep_bad_records.
};

std::span<const OptionSpec> OptionSpecs();

/// Fails with kInvalidArgument naming the option.
Result<AvroOptions> ParseOptions(const FormatOptions& options);

/// Refuses what means nothing in container files (encoding, ignore-parse-errors) or in single
/// messages (codec).
Status CheckFileOptions(const FormatOptions& options);
Status CheckMessageOptions(const FormatOptions& options);

}  // namespace sluice::formats::avro
