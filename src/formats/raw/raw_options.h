// The options of raw (formats.md §6) and what one column it can hold.
#pragma once

#include <span>
#include <string>

#include "formats/format.h"

namespace sluice::formats::raw {

struct RawOptions {
  std::string charset = "UTF-8";
  bool little_endian = false;
  bool ignore_parse_errors = false;
  bool keep_bad_records = false;  // FormatContext::keep_bad_records.
  bool replace_malformed = false;
  std::string prefix;  // "raw.", for messages.
};

std::span<const OptionSpec> RawOptionSpecs();
Result<RawOptions> ParseRawOptions(const FormatOptions& options);

/// One column of a type that raw holds. An empty schema passes: only options are checked then.
Status CheckRawColumns(const Schema& physical);
/// Files are cut at line feeds: number types, UTF-16 and UTF-32 do not survive that.
Status CheckRawFiles(const RawOptions& options, const Schema& physical);

/// Bytes of a value of fixed size, 0 for text and binary.
size_t FixedBytes(TypeKind kind);

}  // namespace sluice::formats::raw
