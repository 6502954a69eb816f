#include "formats/parquet/page_column.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <vector>

#include <arrow/array/util.h>
#include <arrow/buffer.h>
#include <arrow/type.h>
#include <arrow/util/bit_util.h>
#include <parquet/column_page.h>
#include <parquet/column_reader.h>
#include <parquet/encoding.h>
#include <parquet/exception.h>

#include "common/varint.h"

namespace sluice::formats::parquet_format {

namespace {

using ::parquet::DataPage;
using ::parquet::Encoding;
using ::parquet::ParquetException;
using ::parquet::Type;
using Id = arrow::Type::type;

/// What of a page belongs to the definition levels.
struct Levels {
  const uint8_t* data = nullptr;  // Of a V1 page with its length in front.
  int32_t size = 0;               // Of a V1 page: all that is left.
  bool is_v2 = false;
  Encoding::type encoding = Encoding::RLE;
};

/// True when levels of one bit, in runs, begin with a run of `count` ones.
bool StartWithOnes(const uint8_t* data, int64_t size, int64_t count) {
  const uint8_t* const end = data + size;
  uint32_t header = 0;
  if (ReadVarint(&data, end, &header) != VarintRead::kWhole) return false;
  const bool repeated = (header & 1) == 0;
  return repeated && int64_t{header >> 1} >= count && data != end && *data == 1;
}

/// A page's number of values that are not NULL and, unless all are, which.
struct Validity {
  int64_t count = 0;
  std::shared_ptr<arrow::Buffer> bits;  // Null: all are valid.
};

template <typename DType>
class TypedPageColumn final : public PageColumn {
 public:
  using T = typename DType::c_type;

  TypedPageColumn(std::unique_ptr<::parquet::PageReader> pages,
                  const ::parquet::ColumnDescriptor* column, std::shared_ptr<arrow::DataType> type,
                  arrow::MemoryPool* pool)
      : pages_(std::move(pages)), column_(*column), type_(std::move(type)), pool_(pool) {}

  std::shared_ptr<arrow::Array> Next() override {
    while (const std::shared_ptr<::parquet::Page> page = pages_->NextPage()) {
      if (page->type() == ::parquet::PageType::DICTIONARY_PAGE) {
        SetDictionary(static_cast<const ::parquet::DictionaryPage&>(*page));
      } else if (static_cast<const DataPage&>(*page).num_values() > 0) {
        return Decode(static_cast<const DataPage&>(*page));
      }
    }
    return nullptr;
  }

 private:
  void SetDictionary(const ::parquet::DictionaryPage& page) {
    if (dictionary_ != nullptr)
      throw ParquetException("Column cannot have more than one dictionary.");
    if (page.encoding() != Encoding::PLAIN && page.encoding() != Encoding::PLAIN_DICTIONARY)
      throw ParquetException("only plain dictionary encoding has been implemented");
    const auto values = ::parquet::MakeTypedDecoder<DType>(Encoding::PLAIN, &column_, pool_);
    values->SetData(page.num_values(), page.data(), page.size());
    dictionary_ = ::parquet::MakeDictDecoder<DType>(&column_, pool_);
    dictionary_->SetDict(values.get());
  }

  std::shared_ptr<arrow::Array> Decode(const DataPage& page) {
    const int64_t row_count = page.num_values();
    int32_t offset = 0;  // Of the values in the page.
    const Validity validity = ReadLevels(page, &offset);
    const bool plain = page.encoding() == Encoding::PLAIN;
    std::shared_ptr<arrow::Buffer> values = plain && validity.bits == nullptr
                                                ? Share(page, offset, row_count)
                                                : DecodeValues(page, offset, validity);
    return arrow::MakeArray(arrow::ArrayData::Make(
        type_, row_count, {validity.bits, std::move(values)}, row_count - validity.count));
  }

  Validity ReadLevels(const DataPage& page, int32_t* offset) {
    Levels levels{page.data(), page.size()};
    if (page.type() == ::parquet::PageType::DATA_PAGE_V2) {
      const auto& v2 = static_cast<const ::parquet::DataPageV2&>(page);
      levels.is_v2 = true;
      levels.data += v2.repetition_levels_byte_length();
      levels.size = v2.definition_levels_byte_length();
      *offset = v2.repetition_levels_byte_length() + levels.size;
    } else {
      levels.encoding = static_cast<const ::parquet::DataPageV1&>(page).definition_level_encoding();
    }
    if (column_.max_definition_level() == 0) return {page.num_values(), nullptr};
    if (AllValid(levels, page.num_values(), offset)) return {page.num_values(), nullptr};
    return DecodeLevels(levels, page.num_values(), offset);
  }

  /// True when one run says so, which is how writers put it.
  static bool AllValid(const Levels& levels, int64_t row_count, int32_t* offset) {
    if (levels.is_v2) return StartWithOnes(levels.data, levels.size, row_count);
    constexpr int32_t kLengthBytes = 4;
    int32_t length = 0;
    if (levels.encoding != Encoding::RLE || levels.size < kLengthBytes) return false;
    std::memcpy(&length, levels.data, sizeof(length));
    if (length < 0 || length > levels.size - kLengthBytes) return false;
    if (!StartWithOnes(levels.data + kLengthBytes, length, row_count)) return false;
    *offset = kLengthBytes + length;
    return true;
  }

  Validity DecodeLevels(const Levels& levels, int32_t row_count, int32_t* offset) {
    ::parquet::LevelDecoder decoder;
    if (levels.is_v2) {
      decoder.SetDataV2(levels.size, 1, row_count, levels.data);
    } else {
      *offset = decoder.SetData(levels.encoding, 1, row_count, levels.data, levels.size);
    }
    levels_.resize(static_cast<size_t>(row_count));
    if (decoder.Decode(row_count, levels_.data()) != row_count)
      throw ParquetException("A data page has fewer levels than values");
    Validity validity;
    PARQUET_ASSIGN_OR_THROW(validity.bits, arrow::AllocateBitmap(row_count, pool_));
    uint8_t* const bits = validity.bits->mutable_data();
    std::memset(bits, 0, static_cast<size_t>(validity.bits->size()));
    for (int32_t row = 0; row < row_count; ++row) {
      const bool valid = levels_[static_cast<size_t>(row)] == 1;
      bits[row / 8] = static_cast<uint8_t>(bits[row / 8] | valid << row % 8);
      validity.count += valid;
    }
    if (validity.count == row_count) validity.bits = nullptr;
    return validity;
  }

  static int64_t ValueBytes(const DataPage& page, int32_t offset) {
    if (offset > page.size()) throw ParquetException("The levels of a page are longer than it");
    return page.size() - offset;
  }

  /// The values where they are; copied when levels that were written in another way than most have
  /// put them in an odd place.
  std::shared_ptr<arrow::Buffer> Share(const DataPage& page, int32_t offset, int64_t row_count) {
    const int64_t bytes = row_count * static_cast<int64_t>(sizeof(T));
    if (bytes > ValueBytes(page, offset))
      ParquetException::EofException("a page has fewer values than its header says");
    std::shared_ptr<arrow::Buffer> values = arrow::SliceBuffer(page.buffer(), offset, bytes);
    if (reinterpret_cast<uintptr_t>(values->data()) % alignof(T) == 0) return values;
    PARQUET_ASSIGN_OR_THROW(values, values->CopySlice(0, bytes, pool_));
    return values;
  }

  std::shared_ptr<arrow::Buffer> DecodeValues(const DataPage& page, int32_t offset,
                                              const Validity& validity) {
    const auto size = static_cast<int>(ValueBytes(page, offset));
    ::parquet::TypedDecoder<DType>& decoder = DecoderOf(page.encoding());
    const int row_count = page.num_values();
    // The library's decoders count NULLs in.
    decoder.SetData(row_count, page.data() + offset, size);
    PARQUET_ASSIGN_OR_THROW(
        std::shared_ptr<arrow::Buffer> values,
        arrow::AllocateBuffer(row_count * static_cast<int64_t>(sizeof(T)), pool_));
    auto* const out = reinterpret_cast<T*>(values->mutable_data());
    const auto null_count = row_count - static_cast<int>(validity.count);
    // What stands at a NULL is not read, but must not be what memory held before.
    if (null_count > 0) std::memset(values->mutable_data(), 0, static_cast<size_t>(values->size()));
    const int done = null_count == 0 ? decoder.Decode(out, row_count)
                                     : decoder.DecodeSpaced(out, row_count, null_count,
                                                            validity.bits->data(), 0);
    if (done != row_count)
      ParquetException::EofException("a page has fewer values than its header says");
    return values;
  }

  ::parquet::TypedDecoder<DType>& DecoderOf(Encoding::type encoding) {
    if (encoding == Encoding::PLAIN_DICTIONARY || encoding == Encoding::RLE_DICTIONARY) {
      if (dictionary_ == nullptr) throw ParquetException("A page has indices without a dictionary");
      return *dictionary_;
    }
    auto& decoder = decoders_[encoding];
    if (decoder == nullptr) decoder = ::parquet::MakeTypedDecoder<DType>(encoding, &column_, pool_);
    return *decoder;
  }

  const std::unique_ptr<::parquet::PageReader> pages_;
  const ::parquet::ColumnDescriptor& column_;
  const std::shared_ptr<arrow::DataType> type_;
  arrow::MemoryPool* const pool_;
  std::unique_ptr<::parquet::DictDecoder<DType>> dictionary_;
  std::map<Encoding::type, std::unique_ptr<::parquet::TypedDecoder<DType>>> decoders_;
  std::vector<int16_t> levels_;
};

bool IsOneOf(Id id, std::initializer_list<Id> ids) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

}  // namespace

bool HasPlainNumbers(const ::parquet::ColumnDescriptor& leaf, const arrow::DataType& type) {
  if (leaf.max_repetition_level() > 0 || leaf.max_definition_level() > 1) return false;
  switch (leaf.physical_type()) {
    case Type::INT32:
      return IsOneOf(type.id(), {Id::INT32, Id::UINT32, Id::DATE32, Id::TIME32});
    case Type::INT64:
      return IsOneOf(type.id(), {Id::INT64, Id::UINT64, Id::TIME64, Id::TIMESTAMP});
    case Type::FLOAT:
      return type.id() == Id::FLOAT;
    case Type::DOUBLE:
      return type.id() == Id::DOUBLE;
    default:
      return false;
  }
}

std::unique_ptr<PageColumn> PageColumn::Make(::parquet::RowGroupReader* row_group, int leaf,
                                             std::shared_ptr<arrow::DataType> type,
                                             arrow::MemoryPool* pool) {
  const ::parquet::ColumnDescriptor* column = row_group->metadata()->schema()->Column(leaf);
  auto pages = row_group->GetColumnPageReader(leaf);
  const auto make = [&]<typename DType>() -> std::unique_ptr<PageColumn> {
    return std::make_unique<TypedPageColumn<DType>>(std::move(pages), column, std::move(type),
                                                    pool);
  };
  switch (column->physical_type()) {
    case Type::INT32:
      return make.template operator()<::parquet::Int32Type>();
    case Type::INT64:
      return make.template operator()<::parquet::Int64Type>();
    case Type::FLOAT:
      return make.template operator()<::parquet::FloatType>();
    default:
      return make.template operator()<::parquet::DoubleType>();
  }
}

}  // namespace sluice::formats::parquet_format
