#include "formats/avro/value_reader.h"

#include <cmath>
#include <limits>

#include <arrow/array/util.h>
#include <arrow/record_batch.h>
#include <arrow/util/decimal.h>

#include "common/text.h"
#include "formats/text/swar.h"

namespace sluice::formats::avro {
namespace {

using Op = ReadStep::Op;

constexpr int kMaxSkipDepth = 2'000;         // Of values that hold themselves, as lists do.
constexpr int64_t kMaxEmptyItems = 1 << 24;  // Items that take no bytes, of one batch.
constexpr int64_t kMaxTextBytes = INT32_MAX - text::ColumnBuilder::kTextSlack;
constexpr int64_t kMillisOfDay = 86'400'000;

int64_t FloorTo(int64_t value, int64_t divisor) {
  const int64_t quotient = value / divisor;
  return quotient - (value % divisor < 0 ? 1 : 0);
}

std::string Hex(std::string_view bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const char c : bytes) {
    text += kDigits[static_cast<unsigned char>(c) >> 4];
    text += kDigits[c & 15];
  }
  return text;
}

/// Big-endian two's complement of any length; false when it needs more than 128 bits.
bool ReadUnscaled(std::string_view bytes, arrow::Decimal128* value) {
  const char fill = static_cast<signed char>(bytes[0]) < 0 ? '\xFF' : '\0';
  while (bytes.size() > 16 && bytes[0] == fill) bytes.remove_prefix(1);
  if (bytes.size() > 16) return false;
  // What was cut off must have been nothing but the sign.
  if ((static_cast<signed char>(bytes[0]) < 0) != (fill != '\0')) return false;
  uint64_t high = fill == '\0' ? 0 : ~uint64_t{0};
  uint64_t low = high;
  for (const char c : bytes) {
    high = high << 8 | low >> 56;
    low = low << 8 | static_cast<uint8_t>(c);
  }
  *value = arrow::Decimal128(static_cast<int64_t>(high), low);
  return true;
}

}  // namespace

ValueReader::ValueReader(const ReadPlan& plan, const Schema& output, arrow::MemoryPool* pool)
    : plan_(plan),
      pool_(pool),
      output_(output.ToArrow()),
      is_missing_(static_cast<size_t>(output.column_count()), false) {
  for (const Column& column : output.columns()) {
    builders_.push_back(std::make_unique<Builder>(column.type, pool));
  }
  for (const int column : plan.missing_columns) is_missing_[static_cast<size_t>(column)] = true;
}

bool ValueReader::ReadRecord(BinaryInput* input) {
  input_ = *input;
  column_.clear();
  const bool good = plan_.record.op == Op::kRecord ? ReadFields(plan_.record, nullptr)
                                                   : ReadUnionOfRecords(plan_.record);
  *input = input_;
  return good;
}

void ValueReader::Truncate(int64_t rows) {
  for (size_t i = 0; i < builders_.size(); ++i) {
    if (!is_missing_[i]) builders_[i]->Truncate(rows);
  }
}

Batch ValueReader::Finish(int64_t rows) {
  arrow::ArrayDataVector arrays;
  for (size_t i = 0; i < builders_.size(); ++i) {
    if (!is_missing_[i]) {
      arrays.push_back(builders_[i]->Finish());
      continue;
    }
    auto nulls = arrow::MakeArrayOfNull(output_->field(static_cast<int>(i))->type(), rows, pool_);
    if (!nulls.ok()) throw std::bad_alloc();
    arrays.push_back((*nulls)->data());
  }
  empty_items_ = 0;
  return Batch(arrow::RecordBatch::Make(output_, rows, std::move(arrays)));
}

bool ValueReader::Fail(std::string reason) {
  reason_ = std::move(reason);
  return false;
}

bool ValueReader::FailEnd(const ReadStep& step) {
  return Fail("the bytes end within, or are no value of, type " + TypeText(*step.writer));
}

/// `row` is null for the record itself: its fields are the output columns.
bool ValueReader::ReadFields(const ReadStep& record, Builder* row) {
  for (const ReadStep& field : record.children) {
    bool good = false;
    if (field.target < 0) {
      good = Skip(*field.writer, 0);
    } else {
      Builder* builder = row == nullptr ? builders_[static_cast<size_t>(field.target)].get()
                                        : &row->child(field.target);
      good = ReadValue(field, builder);
    }
    if (!good) [[unlikely]] {
      column_ = column_.empty() ? field.name : field.name + "." + column_;
      return false;
    }
  }
  for (const int target : record.missing) {
    (row == nullptr ? *builders_[static_cast<size_t>(target)] : row->child(target)).AppendNull();
  }
  return true;
}

bool ValueReader::ReadUnionOfRecords(const ReadStep& step) {
  int64_t branch = 0;
  if (!input_.ReadLong(&branch)) return Fail("the bytes end where a record is expected");
  if (branch < 0 || branch >= static_cast<int64_t>(step.children.size())) {
    return Fail("the union has no branch " + std::to_string(branch));
  }
  const ReadStep& record = step.children[static_cast<size_t>(branch)];
  if (record.op != Op::kRecord) return Fail(record.mismatch);
  return ReadFields(record, nullptr);
}

inline bool ValueReader::AppendNull(const ReadStep& step, Builder* builder) {
  if (!step.nullable) [[unlikely]]
    return Fail("a NULL stands in a column that is NOT NULL");
  builder->AppendNull();
  return true;
}

/// The branch of a union of null and another type; `done` when it was null.
inline bool ValueReader::ReadNullable(const ReadStep& step, Builder* builder, bool* done) {
  const int byte = input_.peek();
  if (byte == 2 - step.null_byte) [[likely]] {
    input_.Advance();
    return true;
  }
  if (byte == step.null_byte) {
    input_.Advance();
    *done = true;
    return AppendNull(step, builder);
  }
  if (byte < 0) return Fail("the bytes end where a value is expected");
  return Fail("the union of two has no such branch (byte " + std::to_string(byte) + ")");
}

bool ValueReader::ReadValue(const ReadStep& step, Builder* builder) {
  if (step.null_byte != ReadStep::kNoNull) {
    bool done = false;
    if (!ReadNullable(step, builder, &done)) return false;
    if (done) return true;
  }
  switch (step.op) {
    case Op::kInt: {
      int32_t value = 0;
      if (!input_.ReadInt(&value)) return FailEnd(step);
      builder->Append(value);
      return true;
    }
    case Op::kLong: {
      int64_t value = 0;
      if (!input_.ReadLong(&value)) return FailEnd(step);
      builder->Append(value);
      return true;
    }
    case Op::kDouble: {
      double value = 0;
      if (!input_.ReadFixed(&value)) return FailEnd(step);
      builder->Append(value);
      return true;
    }
    case Op::kText: {
      std::string_view value;
      if (!input_.ReadSized(&value)) return FailEnd(step);
      if (!IsValidUtf8(value)) [[unlikely]] {
        return Fail("the text is not UTF-8: '" + Printable(value, 60) + "'");
      }
      return AppendText(value, builder);
    }
    case Op::kTimestamp:
    case Op::kTime:
      return ReadTime(step, builder);
    case Op::kDecimal:
    case Op::kFixedDecimal:
      return ReadDecimal(step, builder);
    case Op::kBytes:
    case Op::kFixedBytes:
    case Op::kEnumText:
    case Op::kUuidText:
      return ReadText(step, builder);
    case Op::kArray:
      return ReadArray(step, builder);
    case Op::kMap:
      return ReadMap(step, builder);
    case Op::kRecord:
      return ReadRow(step, builder);
    case Op::kUnion:
      return ReadUnion(step, builder);
    case Op::kNull:
      return AppendNull(step, builder);
    case Op::kMismatch:
      return Fail(step.mismatch);
    default:
      return ReadScalar(step, builder);
  }
}

bool ValueReader::ReadScalar(const ReadStep& step, Builder* builder) {
  switch (step.op) {
    case Op::kBoolean: {
      uint8_t byte = 0;
      if (!input_.ReadByte(&byte)) return FailEnd(step);
      if (byte > 1) return Fail("a boolean is the byte " + std::to_string(byte));
      builder->Append(byte);
      return true;
    }
    case Op::kTinyint:
    case Op::kSmallint: {
      int32_t value = 0;
      if (!input_.ReadInt(&value)) return FailEnd(step);
      const bool tiny = step.op == Op::kTinyint;
      const int32_t limit = tiny ? INT8_MAX : INT16_MAX;
      if (value > limit || value < -limit - 1) {
        return Fail("the value " + std::to_string(value) + " does not fit in " +
                    (tiny ? "TINYINT" : "SMALLINT"));
      }
      if (tiny) {
        builder->Append(static_cast<int8_t>(value));
      } else {
        builder->Append(static_cast<int16_t>(value));
      }
      return true;
    }
    case Op::kIntToFloat:
    case Op::kLongToDouble: {
      int64_t value = 0;
      if (!input_.ReadLong(&value)) return FailEnd(step);
      if (step.op == Op::kIntToFloat) {
        builder->Append(static_cast<float>(value));
      } else {
        builder->Append(static_cast<double>(value));
      }
      return true;
    }
    case Op::kFloat:
    case Op::kFloatToDouble: {
      float value = 0;
      if (!input_.ReadFixed(&value)) return FailEnd(step);
      if (step.op == Op::kFloat) {
        builder->Append(value);
      } else {
        builder->Append(static_cast<double>(value));
      }
      return true;
    }
    default:
      return Fail("no way to read type " + TypeText(*step.writer));
  }
}

inline bool ValueReader::AppendText(std::string_view text, Builder* builder) {
  const auto size = static_cast<int64_t>(text.size());
  if (builder->byte_length() > kMaxTextBytes - size) [[unlikely]] {
    return Fail("the texts of one batch of rows exceed 2 GiB");
  }
  builder->Reserve(1);
  builder->ReserveBytes(size);
  text::CopyShort(text.data(), text.size(), builder->bytes_end());
  builder->CommitBytes(size);
  return true;
}

bool ValueReader::ReadText(const ReadStep& step, Builder* builder) {
  std::string_view bytes;
  if (step.op == Op::kEnumText) {
    int32_t index = 0;
    if (!input_.ReadInt(&index)) return FailEnd(step);
    const auto& symbols = step.writer->symbols;
    if (index < 0 || index >= static_cast<int64_t>(symbols.size())) {
      return Fail("the enum " + Printable(step.writer->name) + " has no symbol " +
                  std::to_string(index));
    }
    return AppendText(symbols[static_cast<size_t>(index)], builder);
  }
  if (step.op == Op::kBytes) {
    if (!input_.ReadSized(&bytes)) return FailEnd(step);
    return AppendText(bytes, builder);
  }
  if (!input_.ReadBytes(step.size, &bytes)) return FailEnd(step);
  if (step.op == Op::kFixedBytes) return AppendText(bytes, builder);
  const std::string hex = Hex(bytes);
  return AppendText(hex.substr(0, 8) + "-" + hex.substr(8, 4) + "-" + hex.substr(12, 4) + "-" +
                        hex.substr(16, 4) + "-" + hex.substr(20),
                    builder);
}

bool ValueReader::ReadTime(const ReadStep& step, Builder* builder) {
  int64_t value = 0;
  if (!input_.ReadLong(&value)) return FailEnd(step);
  const int64_t written = value;
  if (step.divisor > 1) value = FloorTo(value, step.divisor);
  if (__builtin_mul_overflow(value, step.multiplier, &value)) {
    return Fail("the timestamp " + std::to_string(written) + " of type " + TypeText(*step.writer) +
                " is outside of what " + builder->type().ToString() + " can hold");
  }
  // The least value may have no multiple below it.
  int64_t cut = 0;
  if (__builtin_mul_overflow(FloorTo(value, step.cut), step.cut, &cut)) cut = value;
  if (step.op == Op::kTimestamp) {
    builder->Append(cut);
    return true;
  }
  if (cut < 0 || cut >= kMillisOfDay) {
    return Fail("the time of day " + std::to_string(written) + " of type " +
                TypeText(*step.writer) + " is not within a day");
  }
  builder->Append(static_cast<int32_t>(cut));
  return true;
}

bool ValueReader::ReadDecimal(const ReadStep& step, Builder* builder) {
  std::string_view bytes;
  const bool read =
      step.op == Op::kDecimal ? input_.ReadSized(&bytes) : input_.ReadBytes(step.size, &bytes);
  if (!read) return FailEnd(step);
  if (bytes.empty()) return Fail("a decimal has no bytes");
  const SqlType& type = builder->type();
  arrow::Decimal128 value;
  bool fits = ReadUnscaled(bytes, &value);
  if (fits && step.scale != type.scale()) {
    const auto rescaled = value.Rescale(step.scale, type.scale());
    fits = rescaled.ok();
    if (fits) value = *rescaled;
  }
  if (!fits || !value.FitsInPrecision(type.precision())) {
    return Fail("the decimal of unscaled bytes x'" + Hex(bytes.substr(0, 32)) + "' and scale " +
                std::to_string(step.scale) + " does not fit in " +
                type.WithNullable(true).ToString() + " without losing digits");
  }
  builder->Append(value);
  return true;
}

bool ValueReader::ReadUnion(const ReadStep& step, Builder* builder) {
  int64_t branch = 0;
  if (!input_.ReadLong(&branch)) return FailEnd(step);
  if (branch < 0 || branch >= static_cast<int64_t>(step.children.size())) {
    return Fail("the union has no branch " + std::to_string(branch));
  }
  return ReadValue(step.children[static_cast<size_t>(branch)], builder);
}

bool ValueReader::ReadCount(int64_t least_bytes, int64_t present, int64_t* count) {
  if (!input_.ReadLong(count)) return Fail("the bytes end within an array or map");
  if (*count < 0) {  // Its size in bytes follows, for those who skip.
    int64_t bytes = 0;
    if (*count == std::numeric_limits<int64_t>::min() || !input_.ReadLong(&bytes) || bytes < 0 ||
        bytes > input_.remaining()) {
      return Fail("a block of an array or map has no usable size");
    }
    *count = -*count;
  }
  if (least_bytes == 0) {
    if (*count > kMaxEmptyItems - empty_items_) {
      return Fail("an array claims " + std::to_string(*count) + " items that take no bytes");
    }
    empty_items_ += *count;
  } else if (*count > input_.remaining() / least_bytes) {
    return Fail("an array or map claims " + std::to_string(*count) + " items, and only " +
                std::to_string(input_.remaining()) + " bytes are left");
  }
  if (*count > INT32_MAX - 1 - present) {
    return Fail("the arrays or maps of one batch of rows exceed 2^31 items");
  }
  return true;
}

bool ValueReader::ReadArray(const ReadStep& step, Builder* builder) {
  const ReadStep& element = step.children[0];
  Builder* items = &builder->child(0);
  while (true) {
    int64_t count = 0;
    if (!ReadCount(step.writer->element->min_bytes, items->length(), &count)) return false;
    if (count == 0) break;
    for (int64_t i = 0; i < count; ++i) {
      if (!ReadValue(element, items)) return false;
    }
  }
  builder->CloseNested();
  return true;
}

bool ValueReader::ReadMap(const ReadStep& step, Builder* builder) {
  const ReadStep& value = step.children[0];
  Builder* keys = &builder->child(0);
  Builder* values = &builder->child(1);
  while (true) {
    int64_t count = 0;
    if (!ReadCount(1 + step.writer->element->min_bytes, keys->length(), &count)) return false;
    if (count == 0) break;
    for (int64_t i = 0; i < count; ++i) {
      std::string_view key;
      if (!input_.ReadSized(&key)) return Fail("the bytes end within the key of a map");
      if (!IsValidUtf8(key)) {
        return Fail("the key of a map is not UTF-8: '" + Printable(key, 60) + "'");
      }
      if (!AppendText(key, keys) || !ReadValue(value, values)) return false;
    }
  }
  builder->CloseNested();
  return true;
}

bool ValueReader::ReadRow(const ReadStep& step, Builder* builder) {
  if (!ReadFields(step, builder)) return false;
  builder->CloseNested();
  return true;
}

bool ValueReader::Skip(const Type& type, int depth) {
  if (type.min_bytes == 0) return true;
  if (depth > kMaxSkipDepth) {
    return Fail("a value is nested deeper than " + std::to_string(kMaxSkipDepth) + " levels");
  }
  bool good = true;
  switch (type.kind) {
    case Kind::kNull:
      break;
    case Kind::kBoolean:
      good = input_.Skip(1);
      break;
    case Kind::kInt:
    case Kind::kLong:
    case Kind::kEnum:
      good = input_.SkipLong();
      break;
    case Kind::kFloat:
      good = input_.Skip(4);
      break;
    case Kind::kDouble:
      good = input_.Skip(8);
      break;
    case Kind::kFixed:
      good = input_.Skip(type.size);
      break;
    case Kind::kBytes:
    case Kind::kString: {
      std::string_view ignored;
      good = input_.ReadSized(&ignored);
      break;
    }
    case Kind::kRecord:
      for (const Field& field : type.fields) {
        if (!Skip(*field.type, depth + 1)) return false;
      }
      break;
    case Kind::kUnion: {
      int64_t branch = 0;
      if (!input_.ReadLong(&branch) || branch < 0 ||
          branch >= static_cast<int64_t>(type.branches.size())) {
        return Fail("a union names a branch that it does not have, or the bytes end");
      }
      return Skip(*type.branches[static_cast<size_t>(branch)], depth + 1);
    }
    case Kind::kArray:
    case Kind::kMap:
      return SkipBlocks(type, depth);
  }
  if (!good) return Fail("the bytes end within, or are no value of, type " + TypeText(type));
  return true;
}

bool ValueReader::SkipBlocks(const Type& type, int depth) {
  const bool is_map = type.kind == Kind::kMap;
  while (true) {
    int64_t count = 0;
    if (!input_.ReadLong(&count)) return Fail("the bytes end within an array or map");
    if (count == 0) return true;
    if (count < 0) {  // The block's size follows: it is passed over as a whole.
      int64_t bytes = 0;
      if (!input_.ReadLong(&bytes) || !input_.Skip(bytes)) {
        return Fail("a block of an array or map has no usable size");
      }
      continue;
    }
    if (!is_map && type.element->min_bytes == 0) continue;  // Nothing is there.
    for (int64_t i = 0; i < count; ++i) {
      std::string_view key;
      if (is_map && !input_.ReadSized(&key)) return Fail("the bytes end within the key of a map");
      if (!Skip(*type.element, depth + 1)) return false;
    }
  }
}

}  // namespace sluice::formats::avro
