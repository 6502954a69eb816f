// What the tail of an ORC file says: types, stripes, statistics, encodings (ORC specification v1).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/util/decimal.h>

#include "common/result.h"
#include "formats/orc/wire.h"

namespace sluice::formats::orc_format {

enum class OrcKind : uint8_t {
  kBoolean = 0,
  kByte,
  kShort,
  kInt,
  kLong,
  kFloat,
  kDouble,
  kString,
  kBinary,
  kTimestamp,  // A wall time.
  kList,
  kMap,
  kStruct,
  kUnion,
  kDecimal,
  kDate,
  kVarchar,
  kChar,
  kTimestampInstant,  // "timestamp with local time zone".
};

/// One node of the file's type tree; its index in Footer::types is its column id.
struct OrcType {
  OrcKind kind = OrcKind::kStruct;
  std::vector<uint64_t> children;
  std::vector<std::string> field_names;  // kStruct.
  uint64_t length = 0;                   // kChar, kVarchar.
  uint64_t precision = 0;                // kDecimal.
  uint64_t scale = 0;
};

/// "decimal(10,2)", "struct<a:int>": as Hive prints types, for messages.
std::string TypeText(const std::vector<OrcType>& types, size_t column);

template <typename T>
struct Range {
  T min;
  T max;
};

template <typename T>
void AddToRange(const T& value, std::optional<Range<T>>* range) {
  if (!range->has_value()) {
    *range = Range<T>{value, value};
  } else if (value < (*range)->min) {
    (*range)->min = value;
  } else if ((*range)->max < value) {
    (*range)->max = value;
  }
}

/// Floor seconds and nanoseconds; a wall time counts as if it were UTC.
struct Moment {
  int64_t seconds = 0;
  int32_t nanos = 0;
  friend auto operator<=>(const Moment&, const Moment&) = default;
};

/// Statistics of a column in a stride, a stripe or the file. Which ranges are used depends on the
/// column's kind; one that is not set is unknown.
struct ColumnStatistics {
  uint64_t value_count = 0;  // Not NULL.
  bool has_null = false;
  std::optional<Range<int64_t>> integers;  // Also days of dates.
  std::optional<int64_t> integer_sum;      // Unknown once it overflows.
  std::optional<Range<double>> reals;
  bool has_nan = false;  // Then `reals` is not written: NaN has no place in an order.
  std::optional<Range<std::string>> texts;
  uint64_t total_bytes = 0;  // Of texts and binaries.
  uint64_t true_count = 0;
  std::optional<Range<arrow::Decimal128>> decimals;
  std::optional<Range<Moment>> moments;

  /// Notes a value in the range and the sum; not in the count.
  void AddInteger(int64_t value);
  void Merge(const ColumnStatistics& other);
};

/// `type` tells which fields are written.
void WriteStatistics(const ColumnStatistics& statistics, const OrcType& type, WireWriter* out);
/// False when the bytes are damaged.
bool ReadStatistics(std::string_view bytes, const OrcType& type, ColumnStatistics* statistics);

enum class Compression : uint8_t { kNone = 0, kZlib, kSnappy, kLzo, kLz4, kZstd, kBrotli };

struct PostScript {
  uint64_t footer_bytes = 0;
  Compression compression = Compression::kNone;
  uint64_t block_bytes = 256 << 10;
  uint64_t metadata_bytes = 0;
};

struct StripeInfo {
  uint64_t offset = 0;
  uint64_t index_bytes = 0;
  uint64_t data_bytes = 0;
  uint64_t footer_bytes = 0;
  uint64_t row_count = 0;
};

enum class Calendar : uint8_t { kUnknown = 0, kHybrid = 1, kProleptic = 2 };

struct Footer {
  uint64_t content_bytes = 0;
  std::vector<StripeInfo> stripes;
  std::vector<OrcType> types;
  uint64_t row_count = 0;
  std::vector<ColumnStatistics> statistics;  // Of the file, by column id; for writing.
  uint64_t row_index_stride = 0;
  Calendar calendar = Calendar::kUnknown;
};

enum class StreamKind : uint8_t {
  kPresent = 0,
  kData = 1,
  kLength = 2,
  kDictionaryData = 3,
  kSecondary = 5,
  kRowIndex = 6,
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
