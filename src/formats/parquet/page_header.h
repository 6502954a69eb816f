// The header of a page, as it stands before each in a column chunk.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <parquet/types.h>

namespace sluice::formats::parquet_format {

struct PageHeader {
  enum class Kind { kData, kDataV2, kDictionary, kOther };
  Kind kind = Kind::kOther;
  int32_t uncompressed_bytes = 0;
  int32_t compressed_bytes = 0;
  std::optional<uint32_t> crc;  // Of the compressed bytes.
  int32_t value_count = 0;
  ::parquet::Encoding::type encoding = ::parquet::Encoding::UNKNOWN;
  // kData.
  ::parquet::Encoding::type definition_encoding = ::parquet::Encoding::UNKNOWN;
  ::parquet::Encoding::type repetition_encoding = ::parquet::Encoding::UNKNOWN;
  // kDataV2.
  int32_t null_count = 0;
  int32_t row_count = 0;
  int32_t definition_bytes = 0;
  int32_t repetition_bytes = 0;
  bool is_compressed = true;
  bool is_sorted = false;  // kDictionary.
};

enum class HeaderParse { kDone, kNeedsMore, kDamaged };

/// Parses the header at the start of `bytes`, `header_bytes` of which it takes. kDamaged also when
/// a size or a count is below zero, or levels take more room than the page has.
HeaderParse ParsePageHeader(std::string_view bytes, PageHeader* header, size_t* header_bytes);

}  // namespace sluice::formats::parquet_format
