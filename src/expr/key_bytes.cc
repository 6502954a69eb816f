#include "expr/key_bytes.h"

#include <cmath>
#include <cstring>
#include <limits>

#include <arrow/array/array_binary.h>
#include <arrow/array/array_nested.h>
#include <arrow/array/array_primitive.h>
#include <arrow/type.h>

namespace sluice::expr {
namespace {

// Layout of one value: a byte 0 for NULL; else 1 and the value: fixed width as it is, text with its
// length in front, lists with their count, structs field by field.

int FixedWidth(const arrow::DataType& type) {
  if (type.id() == arrow::Type::BOOL) return 1;
  const auto* fixed = dynamic_cast<const arrow::FixedWidthType*>(&type);
  return fixed != nullptr && type.id() != arrow::Type::DICTIONARY ? fixed->bit_width() / 8 : 0;
}

bool IsText(arrow::Type::type id) { return id == arrow::Type::STRING || id == arrow::Type::BINARY; }

Status Unsupported(const arrow::DataType& type) {
  return Status::Unsupported("Values of type " + type.ToString() + " cannot be keys.");
}

Result<size_t> ValueSize(const arrow::Array& values, int64_t row) {
  if (values.IsNull(row)) return size_t{1};
  if (values.type_id() == arrow::Type::NA) return size_t{1};
  if (const int width = FixedWidth(*values.type()); width > 0)
    return static_cast<size_t>(width) + 1;
  if (IsText(values.type_id())) {
    return 5 +
           static_cast<size_t>(static_cast<const arrow::BinaryArray&>(values).value_length(row));
  }
  size_t size = 1;
  if (values.type_id() == arrow::Type::STRUCT) {
    for (const auto& field : static_cast<const arrow::StructArray&>(values).fields()) {
      SLUICE_ASSIGN_OR_RETURN(const size_t part, ValueSize(*field, row));
      size += part;
    }
    return size;
  }
  if (values.type_id() == arrow::Type::LIST || values.type_id() == arrow::Type::MAP) {
    const auto& lists = static_cast<const arrow::ListArray&>(values);
    size += 4;
    for (int64_t i = lists.value_offset(row); i < lists.value_offset(row + 1); ++i) {
      SLUICE_ASSIGN_OR_RETURN(const size_t part, ValueSize(*lists.values(), i));
      size += part;
    }
    return size;
  }
  return Unsupported(*values.type());
}

template <typename T>
void NormalizeFloat(char* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  if (value == 0) value = 0;  // -0.0
  if (std::isnan(value)) value = std::numeric_limits<T>::quiet_NaN();
  std::memcpy(bytes, &value, sizeof(T));
}

char* WriteValue(const arrow::Array& values, int64_t row, char* out) {
  if (values.type_id() == arrow::Type::NA || values.IsNull(row)) {
    *out = 0;
    return out + 1;
  }
  *out++ = 1;
  if (values.type_id() == arrow::Type::BOOL) {
    *out = static_cast<const arrow::BooleanArray&>(values).Value(row) ? 1 : 0;
    return out + 1;
  }
  if (const int width = FixedWidth(*values.type()); width > 0) {
    const uint8_t* data = values.data()->buffers[1]->data() + (values.offset() + row) * width;
    std::memcpy(out, data, static_cast<size_t>(width));
    if (values.type_id() == arrow::Type::FLOAT) NormalizeFloat<float>(out);
    if (values.type_id() == arrow::Type::DOUBLE) NormalizeFloat<double>(out);
    return out + width;
  }
  if (IsText(values.type_id())) {
    const std::string_view text = static_cast<const arrow::BinaryArray&>(values).GetView(row);
    const uint32_t length = static_cast<uint32_t>(text.size());
    std::memcpy(out, &length, 4);
    std::memcpy(out + 4, text.data(), text.size());
    return out + 4 + text.size();
  }
  if (values.type_id() == arrow::Type::STRUCT) {
    for (const auto& field : static_cast<const arrow::StructArray&>(values).fields()) {
      out = WriteValue(*field, row, out);
    }
    return out;
  }
  const auto& lists = static_cast<const arrow::ListArray&>(values);
  const uint32_t count = static_cast<uint32_t>(lists.value_length(row));
  std::memcpy(out, &count, 4);
  out += 4;
  for (int64_t i = lists.value_offset(row); i < lists.value_offset(row + 1); ++i) {
    out = WriteValue(*lists.values(), i, out);
  }
  return out;
}

/// Adds the size of each value of `values` to sizes[row].
Status AddSizes(const arrow::Array& values, std::vector<size_t>* sizes) {
  const int width = FixedWidth(*values.type());
  const bool text = IsText(values.type_id());
  if ((width > 0 || text) && values.null_count() == 0) {
    const int32_t* offsets =
        text ? static_cast<const arrow::BinaryArray&>(values).raw_value_offsets() : nullptr;
    for (size_t row = 0; row < sizes->size(); ++row) {
      (*sizes)[row] += text ? 5 + static_cast<size_t>(offsets[row + 1] - offsets[row])
                            : static_cast<size_t>(width) + 1;
    }
    return {};
  }
  for (size_t row = 0; row < sizes->size(); ++row) {
    SLUICE_ASSIGN_OR_RETURN(const size_t size, ValueSize(values, static_cast<int64_t>(row)));
    (*sizes)[row] += size;
  }
  return {};
}

/// Writes each value of `values` at positions[row] and moves that on.
void WriteColumn(const arrow::Array& values, char* bytes, std::vector<size_t>* positions) {
  if (IsText(values.type_id()) && values.null_count() == 0) {
    const auto& texts = static_cast<const arrow::BinaryArray&>(values);
    const int32_t* offsets = texts.raw_value_offsets();
    const uint8_t* data = texts.raw_data();
    for (size_t row = 0; row < positions->size(); ++row) {
      char* out = bytes + (*positions)[row];
      const uint32_t length = static_cast<uint32_t>(offsets[row + 1] - offsets[row]);
      *out = 1;
      std::memcpy(out + 1, &length, 4);
      if (length > 0) std::memcpy(out + 5, data + offsets[row], length);
      (*positions)[row] += 5 + length;
    }
    return;
  }
  for (size_t row = 0; row < positions->size(); ++row) {
    char* out = bytes + (*positions)[row];
    (*positions)[row] +=
        static_cast<size_t>(WriteValue(values, static_cast<int64_t>(row), out) - out);
  }
}

}  // namespace

Result<KeyBytes> KeyBytes::Make(const arrow::RecordBatch& rows,
                                const std::vector<int>& key_columns) {
  std::vector<size_t> sizes(static_cast<size_t>(rows.num_rows()), 0);
  for (const int column : key_columns) SLUICE_RETURN_NOT_OK(AddSizes(*rows.column(column), &sizes));
  KeyBytes keys;
  keys.offsets_.resize(sizes.size() + 1);
  size_t total = 0;
  for (size_t row = 0; row < sizes.size(); ++row) {
    keys.offsets_[row] = total;
    total += sizes[row];
  }
  keys.offsets_.back() = total;
  keys.bytes_.resize(total);
  std::vector<size_t> positions(keys.offsets_.begin(), keys.offsets_.end() - 1);
  for (const int column : key_columns)
    WriteColumn(*rows.column(column), keys.bytes_.data(), &positions);
  return keys;
}

uint64_t StableHash(std::string_view bytes) {
  // Multiply-mix of eight bytes at a time; the finish is that of splitmix64.
  constexpr uint64_t kPrime = 0x9E3779B97F4A7C15ull;
  uint64_t hash = bytes.size() * kPrime;
  const auto mix = [&hash](uint64_t word) {
    hash = (hash ^ word) * 0xBF58476D1CE4E5B9ull;
    hash ^= hash >> 32;
  };
  while (bytes.size() >= 8) {
    uint64_t word;
    std::memcpy(&word, bytes.data(), 8);
    mix(word);
    bytes.remove_prefix(8);
  }
  if (!bytes.empty()) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data(), bytes.size());
    mix(word);
  }
  hash ^= hash >> 30;
  hash *= 0x94D049BB133111EBull;
  return hash ^ (hash >> 31);
}

}  // namespace sluice::expr
