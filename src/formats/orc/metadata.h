// What the tail of an ORC file and the footers of its stripes say (ORC specification v1).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "formats/orc/orc_type.h"
#include "formats/orc/statistics.h"

namespace sluice::formats::orc_format {

enum class Compression : uint8_t { kNone = 0, kZlib, kSnappy, kLzo, kLz4, kZstd, kBrotli };

struct PostScript {
  uint64_t footer_bytes = 0;
  Compression compression = Compression::kNone;
  uint64_t block_bytes = 256 << 10;
  uint64_t metadata_bytes = 0;
  uint64_t writer_version = 0;
};

struct StripeInfo {
  uint64_t offset = 0;
  uint64_t index_bytes = 0;
  uint64_t data_bytes = 0;
  uint64_t footer_bytes = 0;
  uint64_t row_count = 0;
};

/// Of Footer::writer. The libraries for other languages than Java know no other calendar than the
/// proleptic Gregorian one and do not say so.
constexpr uint64_t kJavaWriter = 0;
// The ORC project's own numbers are below; readers take others for newer than themselves.
constexpr uint64_t kSluiceWriter = 1000;

enum class Calendar : uint8_t { kUnknown = 0, kHybrid = 1, kProleptic = 2 };

struct Footer {
  uint64_t content_bytes = 0;
  std::vector<StripeInfo> stripes;
  std::vector<OrcType> types;
  uint64_t row_count = 0;
  std::vector<ColumnStatistics> statistics;  // Of the file, by column id; for writing.
  uint64_t row_index_stride = 0;
  Calendar calendar = Calendar::kUnknown;
  uint64_t writer = kJavaWriter;
};

enum class StreamKind : uint8_t {
  kPresent = 0,
  kData = 1,
  kLength = 2,
  kDictionaryData = 3,
  kSecondary = 5,
  kRowIndex = 6,
  kBloomFilterUtf8 = 8,
};

struct StreamInfo {
  uint32_t kind = 0;  // Of StreamKind, or one that is not read.
  uint64_t column = 0;
  uint64_t length = 0;
};

enum class EncodingKind : uint8_t {
  kDirect = 0,
  kDictionary = 1,
  kDirectV2 = 2,
  kDictionaryV2 = 3
};

struct ColumnEncoding {
  EncodingKind kind = EncodingKind::kDirect;
  uint64_t dictionary_size = 0;
  bool bloom_filters = false;  // For writing.
};

struct StripeFooter {
  std::vector<StreamInfo> streams;  // In the order of their bytes.
  std::vector<ColumnEncoding> encodings;
  std::string writer_zone;
};

/// Fail with kDataError for bytes that are no such message or that contradict themselves.
Result<PostScript> ParsePostScript(std::string_view bytes);
Result<Footer> ParseFooter(std::string_view bytes);
Result<StripeFooter> ParseStripeFooter(std::string_view bytes, size_t column_count);
/// By stripe and column id; what is damaged or missing is left out.
std::vector<std::vector<ColumnStatistics>> ParseStripeStatistics(std::string_view bytes,
                                                                 const std::vector<OrcType>& types);

std::string SerializePostScript(const PostScript& postscript);
std::string SerializeFooter(const Footer& footer);
std::string SerializeStripeFooter(const StripeFooter& footer);
std::string SerializeStripeStatistics(const std::vector<std::vector<ColumnStatistics>>& of_stripes,
                                      const std::vector<OrcType>& types);

}  // namespace sluice::formats::orc_format
