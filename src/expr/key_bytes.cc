#include "expr/key_bytes.h"

#include <arrow/array.h>
#include <arrow/type.h>

namespace sluice::expr {

namespace {

void AppendWord(uint64_t value, size_t bytes, std::string* out) {
  out->append(reinterpret_cast<const char*>(&value), bytes);
}

void AppendList(const arrow::Array& child, int64_t begin, int64_t end, std::string* out) {
  AppendWord(static_cast<uint64_t>(end - begin), 4, out);
  for (int64_t i = begin; i < end; ++i) AppendKeyBytes(child, i, out);
}

}  // namespace

void AppendKeyBytes(const arrow::Array& values, int64_t row, std::string* out) {
  if (values.IsNull(row)) {
    out->push_back('\0');
    return;
  }
  out->push_back('\1');
  switch (values.type_id()) {
    case arrow::Type::NA:
      return;
    case arrow::Type::BOOL:
      out->push_back(static_cast<const arrow::BooleanArray&>(values).Value(row) ? '\1' : '\0');
      return;
    case arrow::Type::FLOAT:
      return AppendWord(FloatKey(static_cast<const arrow::FloatArray&>(values).Value(row)), 4, out);
    case arrow::Type::DOUBLE:
      return AppendWord(FloatKey(static_cast<const arrow::DoubleArray&>(values).Value(row)), 8,
                        out);
    case arrow::Type::STRING:
    case arrow::Type::BINARY: {
      const std::string_view text = static_cast<const arrow::BinaryArray&>(values).GetView(row);
      AppendWord(text.size(), 4, out);
      out->append(text);
      return;
    }
    case arrow::Type::LIST:
    case arrow::Type::MAP: {
      const auto& list = static_cast<const arrow::ListArray&>(values);
      return AppendList(*list.values(), list.value_offset(row), list.value_offset(row + 1), out);
    }
    case arrow::Type::STRUCT: {
      const auto& fields = static_cast<const arrow::StructArray&>(values);
      for (int i = 0; i < fields.num_fields(); ++i) AppendKeyBytes(*fields.field(i), row, out);
      return;
    }
    default: {
      // Everything else has values of one width.
      const auto width = static_cast<const arrow::FixedWidthType&>(*values.type()).bit_width() / 8;
      const uint8_t* bytes = values.data()->buffers[1]->data() + (values.offset() + row) * width;
      out->append(reinterpret_cast<const char*>(bytes), static_cast<size_t>(width));
    }
  }
}

}  // namespace sluice::expr
