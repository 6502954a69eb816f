#include "formats/parquet/whole_file_encoder.h"

#include <algorithm>
#include <cstring>

#include <arrow/io/memory.h>
#include <arrow/util/bit_util.h>

#include "common/crc32.h"
#include "common/varint.h"
#include "formats/parquet/parquet_schema.h"
#include "formats/parquet/parquet_writer.h"
#include "formats/parquet/row_group_bounds.h"
#include "formats/parquet/write_values.h"
#include "types/arrow_status.h"
#include "types/value_text.h"

namespace sluice::formats::parquet_format {

namespace {

// Enumerations of parquet.thrift.
constexpr int32_t kDataPage = 0;
constexpr int32_t kDictionaryPage = 2;
constexpr int32_t kPlain = 0;
constexpr int32_t kPlainDictionary = 2;
constexpr int32_t kRle = 3;

// Longer bounds are left out, as the library does.
constexpr size_t kLongestBound = 4096;

int32_t CodecNumber(arrow::Compression::type compression) {
  switch (compression) {
    case arrow::Compression::SNAPPY:
      return 1;
    case arrow::Compression::GZIP:
      return 2;
    case arrow::Compression::LZ4_HADOOP:
      return 5;
    case arrow::Compression::ZSTD:
      return 6;
    case arrow::Compression::LZ4:
      return 7;
    default:
      return 0;
  }
}

/// Struct fields `from` to `to` of the footer that the library writes for this schema, behind a
/// field `before`; with the end of the struct.
std::string FieldsOf(const ThriftNode& footer, int16_t from, int16_t to, int16_t before) {
  // The header of a field depends on the field before it: one that stands for it is cut off again.
  constexpr size_t kStandInBytes = 2;
  ThriftNode some;
  if (before > 0) {
    some.fields.emplace_back(before, ThriftNode{.type = ThriftType::kI32});
  }
  for (const auto& [id, field] : footer.fields) {
    if (id >= from && id <= to) some.fields.emplace_back(id, field);
  }
  return SerializeThriftStruct(some).substr(before > 0 ? kStandInBytes : 0);
}

Result<ThriftNode> EmptyFooter(const ParquetOptions& options, const Schema& schema,
                               const FormatContext& context) {
  SLUICE_ASSIGN_ARROW(const auto stream, arrow::io::BufferOutputStream::Create(4096, context.pool));
  SLUICE_ASSIGN_OR_RETURN(const auto writer, ParquetWriter::Make(options, schema, stream, context));
  SLUICE_RETURN_NOT_OK(writer->Finish());
  SLUICE_ASSIGN_ARROW(const auto bytes, stream->Finish());
  constexpr size_t kMagicBytes = 4;  // No row groups: the footer is all that there is.
  size_t consumed = 0;
  return ParseThriftStruct(std::string_view(*bytes).substr(kMagicBytes), &consumed);
}

}  // namespace

Result<std::unique_ptr<WholeFileEncoder>> ParquetWholeFileEncoder::Make(
    ParquetOptions options, const Schema& schema, const FormatContext& context) {
  const BloomFilterOptions& filter = options.bloom_filter;
  const bool filters =
      filter.enabled || !filter.enabled_of_column.empty() || !filter.distinct_of_column.empty();
  const bool flat = std::all_of(
      schema.columns().begin(), schema.columns().end(),
      [&](const Column& column) { return PlainKindOf(column.type, options).has_value(); });
  if (filters || !flat || options.version_2) return std::unique_ptr<WholeFileEncoder>();
  std::unique_ptr<ParquetWholeFileEncoder> made(
      new ParquetWholeFileEncoder(std::move(options), schema, context.pool));
  SLUICE_RETURN_NOT_OK(made->Prepare(context));
  return std::unique_ptr<WholeFileEncoder>(std::move(made));
}

Status ParquetWholeFileEncoder::Prepare(const FormatContext& context) {
  if (options_.compression != arrow::Compression::UNCOMPRESSED) {
    const int level = options_.compression == arrow::Compression::ZSTD
                          ? options_.zstd_level
                          : arrow::util::kUseDefaultCompressionLevel;
    SLUICE_ASSIGN_ARROW(codec_, arrow::util::Codec::Create(options_.compression, level));
  }
  const auto parquet_schema = MakeParquetSchema(schema_, options_);
  for (int i = 0; i < schema_.column_count(); ++i) {
    const SqlType& type = schema_.column(i).type;
    const auto& node =
        static_cast<const ::parquet::schema::PrimitiveNode&>(*parquet_schema->field(i));
    Leaf& leaf = leaves_.emplace_back();
    leaf.kind = *PlainKindOf(type, options_);
    leaf.physical_type = static_cast<int32_t>(node.physical_type());
    leaf.width = node.type_length();
    leaf.nullable = type.nullable();
    leaf.may_have_dictionary =
        options_.dictionary && leaf.kind != PlainKind::kBoolean && MayHaveDictionary(type);
    if (leaf.kind == PlainKind::kInt96) {
      leaf.units_per_second = TimestampUnitsPerSecond(type.precision());
    }
  }
  SLUICE_ASSIGN_OR_RETURN(const ThriftNode footer, EmptyFooter(options_, schema_, context));
  footer_head_ = FieldsOf(footer, 1, 2, 0);
  footer_head_.pop_back();  // The struct goes on.
  footer_tail_ = FieldsOf(footer, 5, INT16_MAX, 4);
  return {};
}

Result<std::optional<std::string_view>> ParquetWholeFileEncoder::Encode(const Batch& rows) {
  // One page each: what is larger had better be written by the bulk writer. Levels, lengths of
  // texts and what is packed in Arrow may come on top.
  constexpr int64_t kRoom = 4;
  const int64_t most =
      std::min({options_.page_bytes, options_.dictionary_page_bytes, options_.row_group_bytes});
  if (rows.byte_size() + rows.row_count() * 8 > most / kRoom || rows.row_count() == 0) {
    return std::nullopt;
  }
  file_.assign("PAR1");
  chunks_.clear();
  for (size_t i = 0; i < leaves_.size(); ++i) {
    const Column& column = schema_.column(static_cast<int>(i));
    SLUICE_ASSIGN_OR_RETURN(
        const auto values,
        PrepareForWriting(column, rows.column(static_cast<int>(i)), options_, &wall_clock_, pool_));
    SLUICE_ASSIGN_OR_RETURN(const bool added, AddColumn(i, *values));
    if (!added) return std::nullopt;
  }
  AppendFooter(rows.row_count());
  return std::string_view(file_);
}

Result<bool> ParquetWholeFileEncoder::AddColumn(size_t index, const arrow::Array& values) {
  const Leaf& leaf = leaves_[index];
  if (!leaf.nullable && values.null_count() > 0) return false;
  if (!values_.Set(leaf.kind, values, leaf.width)) return false;
  Chunk& chunk = chunks_.emplace_back();
  chunk.value_count = values.length();
  chunk.null_count = values.null_count();
  chunk.has_bounds =
      values_.has_bounds() && std::max(values_.min().size(), values_.max().size()) <= kLongestBound;
  if (chunk.has_bounds) {
    chunk.min = values_.min();
    chunk.max = values_.max();
  }
  has_dictionary_ = leaf.may_have_dictionary && dictionary_.Build(values_);
  if (has_dictionary_) {
    chunk.dictionary_offset = static_cast<int64_t>(file_.size());
    body_.clear();
    dictionary_.AppendValues(&body_);
    SLUICE_RETURN_NOT_OK(AppendPage(true, dictionary_.count(), &chunk));
  }
  chunk.data_offset = static_cast<int64_t>(file_.size());
  body_.clear();
  if (leaf.nullable) AppendDefinitionLevels(values);
  if (has_dictionary_) {
    dictionary_.AppendIndices(&body_);
  } else {
    body_.append(values_.bytes());
  }
  SLUICE_RETURN_NOT_OK(AppendPage(false, values.length(), &chunk));
  return true;
}

// Hybrid of runs and packed bits, one bit a value, behind its length.
void ParquetWholeFileEncoder::AppendDefinitionLevels(const arrow::Array& values) {
  const size_t begin = body_.size();
  body_.append(4, '\0');
  const auto count = static_cast<uint64_t>(values.length());
  if (values.null_count() == 0 || values.null_count() == values.length()) {
    AppendVarint(count << 1, &body_);
    body_.push_back(values.null_count() == 0 ? 1 : 0);
  } else {
    const uint64_t groups = (count + 7) / 8;
    AppendVarint(groups << 1 | 1, &body_);
    const size_t at = body_.size();
    body_.append(groups, '\0');
    auto* const bits = reinterpret_cast<uint8_t*>(body_.data() + at);
    for (int64_t i = 0; i < values.length(); ++i) {
      if (values.IsValid(i)) arrow::bit_util::SetBit(bits, i);
    }
  }
  const auto length = static_cast<uint32_t>(body_.size() - begin - 4);
  std::memcpy(body_.data() + begin, &length, sizeof(length));
}

Status ParquetWholeFileEncoder::Compress() {
  const auto* const input = reinterpret_cast<const uint8_t*>(body_.data());
  const auto length = static_cast<int64_t>(body_.size());
  const int64_t room = codec_->MaxCompressedLen(length, input);
  if (static_cast<int64_t>(compressed_.size()) < room) {
    compressed_.resize(static_cast<size_t>(room));
  }
  SLUICE_ASSIGN_ARROW(
      const int64_t bytes,
      codec_->Compress(length, input, room, reinterpret_cast<uint8_t*>(compressed_.data())));
  body_.assign(compressed_, 0, static_cast<size_t>(bytes));
  return {};
}

Status ParquetWholeFileEncoder::AppendPage(bool is_dictionary, int64_t value_count, Chunk* chunk) {
  const auto uncompressed = static_cast<int32_t>(body_.size());
  if (codec_ != nullptr) SLUICE_RETURN_NOT_OK(Compress());
  const uint32_t checksum = Crc32(body_);
  const size_t begin = file_.size();
  CompactWriter header(&file_);
  header.BeginItem();
  header.I32(1, is_dictionary ? kDictionaryPage : kDataPage);
  header.I32(2, uncompressed);
  header.I32(3, static_cast<int32_t>(body_.size()));
  header.I32(4, static_cast<int32_t>(checksum));
  header.BeginStruct(is_dictionary ? 7 : 5);
  header.I32(1, static_cast<int32_t>(value_count));
  header.I32(2, has_dictionary_ ? kPlainDictionary : kPlain);
  if (!is_dictionary) {
    header.I32(3, kRle);
    header.I32(4, kRle);
  }
  header.End();
  header.End();
  const auto header_bytes = static_cast<int64_t>(file_.size() - begin);
  file_.append(body_);
  chunk->uncompressed_bytes += header_bytes + uncompressed;
  chunk->compressed_bytes += header_bytes + static_cast<int64_t>(body_.size());
  return {};
}

void ParquetWholeFileEncoder::AppendChunkMeta(size_t index, CompactWriter* out) const {
  const Leaf& leaf = leaves_[index];
  const Chunk& chunk = chunks_[index];
  const bool dictionary = chunk.dictionary_offset > 0;
  const int32_t encoding = dictionary ? kPlainDictionary : kPlain;
  out->I32(1, leaf.physical_type);
  out->BeginList(2, ThriftType::kI32, 2);
  out->NumberItem(encoding);
  out->NumberItem(kRle);
  out->BeginList(3, ThriftType::kBinary, 1);
  out->Bytes(schema_.column(static_cast<int>(index)).name);
  out->I32(4, CodecNumber(options_.compression));
  out->I64(5, chunk.value_count);
  out->I64(6, chunk.uncompressed_bytes);
  out->I64(7, chunk.compressed_bytes);
  const bool int96 = leaf.kind == PlainKind::kInt96;
  if (int96 && chunk.has_bounds) {
    out->BeginList(8, ThriftType::kStruct, 2);
    for (const auto& [key, bound] :
         {std::pair(kInt96MinKey, &chunk.min), std::pair(kInt96MaxKey, &chunk.max)}) {
      int64_t value = 0;
      std::memcpy(&value, bound->data(), sizeof(value));
      out->BeginItem();
      out->Binary(1, key);
      out->Binary(2, Int96BoundText(value, leaf.units_per_second));
      out->End();
    }
  }
  out->I64(9, chunk.data_offset);
  if (dictionary) out->I64(11, chunk.dictionary_offset);
  if (!int96) {  // The library has none for values without an order.
    out->BeginStruct(12);
    out->I64(3, chunk.null_count);
    if (chunk.has_bounds) {
      out->Binary(5, chunk.max);
      out->Binary(6, chunk.min);
    }
    out->End();
  }
  // From these readers know that every page has the dictionary.
  out->BeginList(13, ThriftType::kStruct, dictionary ? 2 : 1);
  for (const int32_t page : {kDictionaryPage, kDataPage}) {
    if (page == kDictionaryPage && !dictionary) continue;
    out->BeginItem();
    out->I32(1, page);
    out->I32(2, encoding);
    out->I32(3, 1);
    out->End();
  }
}

void ParquetWholeFileEncoder::AppendFooter(int64_t row_count) {
  const size_t begin = file_.size();
  int64_t uncompressed = 0;
  int64_t compressed = 0;
  for (const Chunk& chunk : chunks_) {
    uncompressed += chunk.uncompressed_bytes;
    compressed += chunk.compressed_bytes;
  }
  CompactWriter footer(&file_);
  footer.BeginItem();
  footer.Raw(footer_head_, 2);
  footer.I64(3, row_count);
  footer.BeginList(4, ThriftType::kStruct, 1);
  footer.BeginItem();
  footer.BeginList(1, ThriftType::kStruct, chunks_.size());
  for (size_t i = 0; i < chunks_.size(); ++i) {
    footer.BeginItem();
    footer.I64(2, 0);  // Deprecated, and required.
    footer.BeginStruct(3);
    AppendChunkMeta(i, &footer);
    footer.End();
    footer.End();
  }
  footer.I64(2, uncompressed);
  footer.I64(3, row_count);
  footer.I64(5, 4);  // Behind the magic.
  footer.I64(6, compressed);
  footer.I16(7, 0);
  footer.End();
  file_.append(footer_tail_);  // With the end of the struct.
  const auto length = static_cast<uint32_t>(file_.size() - begin);
  for (int shift = 0; shift < 32; shift += 8) file_.push_back(static_cast<char>(length >> shift));
  file_.append("PAR1");
}

}  // namespace sluice::formats::parquet_format
