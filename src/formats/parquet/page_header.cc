#include "formats/parquet/page_header.h"

#include "formats/parquet/compact_reader.h"

namespace sluice::formats::parquet_format {

namespace {

using Encoding = ::parquet::Encoding;
using Kind = PageHeader::Kind;

bool IsNumber(ThriftType type) {
  return type == ThriftType::kI16 || type == ThriftType::kI32 || type == ThriftType::kI64;
}

/// Fields of other types than they have in parquet.thrift are those of a damaged file: the number
/// stays what it was.
int32_t Int32(CompactReader& reader, const CompactReader::Field& field, int32_t otherwise) {
  if (!IsNumber(field.type)) {
    reader.Skip(field.type);
    return otherwise;
  }
  return static_cast<int32_t>(reader.Number());
}

Encoding::type EncodingOf(int32_t number) {
  return number >= 0 && number < Encoding::UNDEFINED ? static_cast<Encoding::type>(number)
                                                     : Encoding::UNKNOWN;
}

void ParseData(CompactReader& reader, PageHeader* header) {
  reader.BeginStruct();
  for (CompactReader::Field field; reader.ok() && reader.Next(&field);) {
    const int32_t number = Int32(reader, field, -1);
    if (field.id == 1) header->value_count = number;
    if (field.id == 2) header->encoding = EncodingOf(number);
    if (field.id == 3) header->definition_encoding = EncodingOf(number);
    if (field.id == 4) header->repetition_encoding = EncodingOf(number);
  }
}

void ParseDictionary(CompactReader& reader, PageHeader* header) {
  reader.BeginStruct();
  for (CompactReader::Field field; reader.ok() && reader.Next(&field);) {
    const int32_t number = Int32(reader, field, -1);
    if (field.id == 1) header->value_count = number;
    if (field.id == 2) header->encoding = EncodingOf(number);
    if (field.id == 3) header->is_sorted = field.truth();
  }
}

void ParseDataV2(CompactReader& reader, PageHeader* header) {
  reader.BeginStruct();
  for (CompactReader::Field field; reader.ok() && reader.Next(&field);) {
    const int32_t number = Int32(reader, field, -1);
    if (field.id == 1) header->value_count = number;
    if (field.id == 2) header->null_count = number;
    if (field.id == 3) header->row_count = number;
    if (field.id == 4) header->encoding = EncodingOf(number);
    if (field.id == 5) header->definition_bytes = number;
    if (field.id == 6) header->repetition_bytes = number;
    if (field.id == 7) header->is_compressed = field.truth();
  }
}

Kind KindOf(int32_t page_type) {
  switch (page_type) {
    case ::parquet::PageType::DATA_PAGE:
      return Kind::kData;
    case ::parquet::PageType::DICTIONARY_PAGE:
      return Kind::kDictionary;
    case ::parquet::PageType::DATA_PAGE_V2:
      return Kind::kDataV2;
    default:
      return Kind::kOther;
  }
}

bool IsSound(const PageHeader& header) {
  if (header.uncompressed_bytes < 0 || header.compressed_bytes < 0 || header.value_count < 0)
    return false;
  if (header.kind != Kind::kDataV2) return true;
  if (header.definition_bytes < 0 || header.repetition_bytes < 0 || header.null_count < 0 ||
      header.row_count < 0)
    return false;
  const int64_t levels = int64_t{header.definition_bytes} + header.repetition_bytes;
  return levels <= header.uncompressed_bytes && levels <= header.compressed_bytes;
}

}  // namespace

// Field numbers are those of parquet.thrift (format 2.10).
HeaderParse ParsePageHeader(std::string_view bytes, PageHeader* header, size_t* header_bytes) {
  CompactReader reader(bytes);
  *header = {};
  Kind sub_header = Kind::kOther;  // Of what kind the part with the number of values is.
  reader.BeginStruct();
  for (CompactReader::Field field; reader.ok() && reader.Next(&field);) {
    const bool is_struct = field.type == ThriftType::kStruct;
    if (is_struct && field.id == 5) {
      sub_header = Kind::kData;
      ParseData(reader, header);
    } else if (is_struct && field.id == 7) {
      sub_header = Kind::kDictionary;
      ParseDictionary(reader, header);
    } else if (is_struct && field.id == 8) {
      sub_header = Kind::kDataV2;
      ParseDataV2(reader, header);
    } else {
      const int32_t number = Int32(reader, field, -1);
      if (field.id == 1) header->kind = KindOf(number);
      if (field.id == 2) header->uncompressed_bytes = number;
      if (field.id == 3) header->compressed_bytes = number;
      if (field.id == 4) header->crc = static_cast<uint32_t>(number);
    }
  }
  *header_bytes = reader.consumed();
  if (!reader.ok()) return reader.ended_early() ? HeaderParse::kNeedsMore : HeaderParse::kDamaged;
  const bool complete = header->kind == Kind::kOther || header->kind == sub_header;
  return complete && IsSound(*header) ? HeaderParse::kDone : HeaderParse::kDamaged;
}

}  // namespace sluice::formats::parquet_format
