// What kernels are made of: views of arguments, null masks, builders of results, and loops over
// rows. Everything is inlined: no virtual call and no allocation per row.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <string_view>
#include <type_traits>

#include <arrow/array.h>
#include <arrow/buffer.h>
#include <arrow/util/bit_util.h>
#include <arrow/util/bitmap_ops.h>
#include <arrow/util/decimal.h>

#include "expr/function.h"
#include "types/arrow_status.h"

namespace sluice::expr {

using ArrayPtr = std::shared_ptr<arrow::Array>;

/// An argument of any type: row i is value i, or the one value of a constant.
class Operand {
 public:
  explicit Operand(const KernelArgument& argument)
      : data_(argument.values->data()), mask_(argument.constant ? 0 : ~int64_t{0}) {
    offset_ = data_->offset;
    all_null_ = data_->type->id() == arrow::Type::NA;
    if (!all_null_ && data_->GetNullCount() != 0) validity_ = data_->buffers[0]->data();
  }

  bool constant() const { return mask_ == 0; }
  bool may_be_null() const { return validity_ != nullptr || all_null_; }
  bool IsNull(int64_t row) const {
    if (validity_ == nullptr) [[likely]]
      return all_null_;
    return !arrow::bit_util::GetBit(validity_, offset_ + (row & mask_));
  }
  bool constant_null() const { return constant() && IsNull(0); }
  const uint8_t* validity() const { return validity_; }
  int64_t offset() const { return offset_; }
  int64_t index(int64_t row) const { return row & mask_; }

 protected:
  std::shared_ptr<arrow::ArrayData> data_;
  int64_t mask_;
  int64_t offset_ = 0;
  const uint8_t* validity_ = nullptr;
  bool all_null_ = false;
};

/// Values of a C++ number type that is also the physical type of the array (int32_t for DATE,
/// int64_t for TIMESTAMP).
template <typename T>
class NumberOperand : public Operand {
 public:
  explicit NumberOperand(const KernelArgument& argument)
      : Operand(argument), values_(data_->template GetValues<T>(1)) {}
  T operator[](int64_t row) const { return values_[row & mask_]; }
  const T* values() const { return values_; }

 private:
  const T* values_;
};

class BooleanOperand : public Operand {
 public:
  explicit BooleanOperand(const KernelArgument& argument)
      : Operand(argument), bits_(data_->buffers[1] ? data_->buffers[1]->data() : nullptr) {}
  bool operator[](int64_t row) const {
    return arrow::bit_util::GetBit(bits_, offset_ + (row & mask_));
  }
  const uint8_t* bits() const { return bits_; }

 private:
  const uint8_t* bits_;
};

/// CHAR, VARCHAR, BINARY, VARBINARY.
class TextOperand : public Operand {
 public:
  explicit TextOperand(const KernelArgument& argument)
      : Operand(argument),
        offsets_(data_->GetValues<int32_t>(1)),
        bytes_(data_->buffers[2] ? reinterpret_cast<const char*>(data_->buffers[2]->data()) : "") {}
  std::string_view operator[](int64_t row) const {
    const int64_t at = row & mask_;
    return {bytes_ + offsets_[at], static_cast<size_t>(offsets_[at + 1] - offsets_[at])};
  }
  /// The bytes of all values, those under NULLs included, and where each begins (relative to the
  /// buffer, not to bytes()).
  std::string_view bytes() const {
    return data_->length == 0
               ? std::string_view()
               : std::string_view(bytes_ + offsets_[0], static_cast<size_t>(byte_count()));
  }
  const int32_t* offsets() const { return offsets_; }
  /// Bytes of all values, to size results.
  int64_t byte_count() const {
    return data_->length == 0 ? 0 : offsets_[data_->length] - offsets_[0];
  }
  /// Bytes of `row_count` rows: a constant counts for each.
  int64_t byte_count(int64_t row_count) const {
    return constant() ? byte_count() * row_count : byte_count();
  }

 private:
  const int32_t* offsets_;
  const char* bytes_;
};

class DecimalOperand : public Operand {
 public:
  explicit DecimalOperand(const KernelArgument& argument)
      : Operand(argument),
        values_(data_->buffers[1] ? data_->buffers[1]->data() + data_->offset * 16 : nullptr) {}
  __int128 operator[](int64_t row) const {
    __int128 value;
    std::memcpy(&value, values_ + (row & mask_) * 16, 16);
    return value;
  }

 private:
  const uint8_t* values_;
};

namespace internal {
template <typename T>
struct OperandFor {
  using type = NumberOperand<T>;
};
template <>
struct OperandFor<bool> {
  using type = BooleanOperand;
};
template <>
struct OperandFor<std::string_view> {
  using type = TextOperand;
};
template <>
struct OperandFor<__int128> {
  using type = DecimalOperand;
};
}  // namespace internal
/// The operand class of a C++ type: numbers, bool, std::string_view, __int128 (DECIMAL).
template <typename T>
using OperandOf = typename internal::OperandFor<T>::type;

/// Throws std::bad_alloc when there is no memory: the caller of kernels answers it.
inline std::shared_ptr<arrow::ResizableBuffer> AllocateBytes(int64_t bytes,
                                                             arrow::MemoryPool* pool) {
  auto buffer = arrow::AllocateResizableBuffer(bytes, pool);
  if (!buffer.ok()) throw std::bad_alloc();
  return std::move(buffer).ValueUnsafe();
}

/// Which rows of a result are NULL. No bitmap exists until there is a NULL.
class NullMask {
 public:
  NullMask(int64_t row_count, arrow::MemoryPool* pool) : row_count_(row_count), pool_(pool) {}

  /// Makes every row NULL where `operand` is.
  void Merge(const Operand& operand) {
    if (!operand.may_be_null()) return;
    if (operand.constant() || operand.validity() == nullptr) {
      if (row_count_ == 0 || !operand.IsNull(0)) return;
      Materialize();
      std::memset(bits(), 0, static_cast<size_t>(buffer_->size()));
      return;
    }
    if (buffer_ == nullptr) {
      buffer_ = AllocateBytes(arrow::bit_util::BytesForBits(row_count_), pool_);
      ClearTail();
      arrow::internal::CopyBitmap(operand.validity(), operand.offset(), row_count_, bits(), 0);
      return;
    }
    arrow::internal::BitmapAnd(bits(), 0, operand.validity(), operand.offset(), row_count_, 0,
                               bits());
  }
  bool any() const { return buffer_ != nullptr; }
  bool IsNull(int64_t row) const {
    return buffer_ != nullptr && !arrow::bit_util::GetBit(buffer_->data(), row);
  }
  void SetNull(int64_t row) {
    if (buffer_ == nullptr) Materialize();
    arrow::bit_util::ClearBit(bits(), row);
  }
  std::shared_ptr<arrow::Buffer> buffer() const { return buffer_; }
  uint8_t* bits() { return buffer_->mutable_data(); }
  /// All bits of an existing or new bitmap, for kernels that compute validity themselves.
  void Materialize() {
    if (buffer_ != nullptr) return;
    buffer_ = AllocateBytes(arrow::bit_util::BytesForBits(row_count_), pool_);
    std::memset(bits(), 0xFF, static_cast<size_t>(buffer_->size()));
  }

 private:
  void ClearTail() {
    if (buffer_->size() > 0) bits()[buffer_->size() - 1] = 0;
  }
  int64_t row_count_;
  arrow::MemoryPool* pool_;
  std::shared_ptr<arrow::ResizableBuffer> buffer_;
};

/// Builds utf8 and binary results: one growing byte buffer, one array of offsets.
class TextBuilder {
 public:
  TextBuilder(int64_t row_count, int64_t byte_hint, arrow::MemoryPool* pool)
      : row_count_(row_count),
        offsets_(AllocateBytes((row_count + 1) * 4, pool)),
        bytes_(AllocateBytes(std::max<int64_t>(byte_hint, 64), pool)) {
    offset_ = reinterpret_cast<int32_t*>(offsets_->mutable_data());
    *offset_++ = 0;
    begin_ = at_ = reinterpret_cast<char*>(bytes_->mutable_data());
    end_ = begin_ + bytes_->size();
  }

  /// Room for `count` bytes at cursor(); the caller writes and calls Advance.
  char* Reserve(int64_t count) {
    if (end_ - at_ < count) [[unlikely]]
      Grow(count);
    return at_;
  }
  void Advance(char* end) { at_ = end; }
  void Append(std::string_view text) {
    char* at = Reserve(static_cast<int64_t>(text.size()));
    // Small copies in one go where the buffers allow it would need padding; memcpy is good enough.
    // It may not be given the null pointer of an empty view.
    if (!text.empty()) std::memcpy(at, text.data(), text.size());
    at_ = at + text.size();
  }
  void Append(char c) {
    *Reserve(1) = c;
    ++at_;
  }
  void AppendRepeated(char c, int64_t count) {
    if (count <= 0) return;
    std::memset(Reserve(count), c, static_cast<size_t>(count));
    at_ += count;
  }
  /// Bytes written to the current row so far.
  std::string_view current() const {
    return {begin_ + offset_[-1], static_cast<size_t>(at_ - begin_ - offset_[-1])};
  }
  /// Drops what was written to the current row.
  void Rollback() { at_ = begin_ + offset_[-1]; }
  void EndRow() { *offset_++ = static_cast<int32_t>(at_ - begin_); }

  Result<ArrayPtr> Finish(const std::shared_ptr<arrow::DataType>& type, const NullMask& nulls) {
    if (too_long_) {
      return Status::DataError(
          "The texts of one batch exceed 2 GiB. Lower the length of the values.");
    }
    SLUICE_RETURN_ARROW(bytes_->Resize(at_ - begin_, /*shrink_to_fit=*/false));
    return arrow::MakeArray(arrow::ArrayData::Make(type, row_count_,
                                                   {nulls.buffer(), offsets_, bytes_},
                                                   nulls.any() ? arrow::kUnknownNullCount : 0));
  }

 private:
  void Grow(int64_t count) {
    const int64_t used = at_ - begin_;
    int64_t size = std::max(bytes_->size() * 2, used + count);
    if (used + count > INT32_MAX) {
      // Start over at the beginning: the result is refused by Finish, and memory stays bounded
      // meanwhile.
      too_long_ = true;
      at_ = begin_;
      size = std::max(bytes_->size(), count);
    }
    if (!bytes_->Resize(size, false).ok()) throw std::bad_alloc();
    const int64_t position = too_long_ ? 0 : used;
    begin_ = reinterpret_cast<char*>(bytes_->mutable_data());
    at_ = begin_ + position;
    end_ = begin_ + bytes_->size();
    if (too_long_) std::memset(offsets_->mutable_data(), 0, static_cast<size_t>(offsets_->size()));
  }

  int64_t row_count_;
  std::shared_ptr<arrow::ResizableBuffer> offsets_;
  std::shared_ptr<arrow::ResizableBuffer> bytes_;
  int32_t* offset_ = nullptr;
  char* begin_ = nullptr;
  char* at_ = nullptr;
  char* end_ = nullptr;
  bool too_long_ = false;
};

namespace internal {
template <typename R>
struct Outcome {  // Plain value.
  using Value = R;
  static constexpr bool kFails = false;
  static constexpr bool kNulls = false;
};
template <typename T>
struct Outcome<std::optional<T>> {
  using Value = T;
  static constexpr bool kFails = false;
  static constexpr bool kNulls = true;
};
template <typename T>
struct Outcome<Result<T>> {
  using Value = typename Outcome<T>::Value;
  static constexpr bool kFails = true;
  static constexpr bool kNulls = Outcome<T>::kNulls;
};

template <typename Store, typename Fn, typename... Operands>
Status ForEachRow(int64_t row_count, NullMask& nulls, Store&& store, Fn&& fn,
                  const Operands&... operands) {
  using Kind = Outcome<std::decay_t<decltype(fn(operands[0]...))>>;
  const bool check = nulls.any();
  for (int64_t row = 0; row < row_count; ++row) {
    if (check && nulls.IsNull(row)) continue;
    auto outcome = fn(operands[row]...);
    if constexpr (Kind::kFails) {
      if (!outcome.ok()) [[unlikely]]
        return outcome.status();
      if constexpr (Kind::kNulls) {
        if (outcome->has_value()) {
          store(row, **outcome);
        } else {
          nulls.SetNull(row);
        }
      } else {
        store(row, *outcome);
      }
    } else if constexpr (Kind::kNulls) {
      if (outcome.has_value()) {
        store(row, *outcome);
      } else {
        nulls.SetNull(row);
      }
    } else {
      store(row, outcome);
    }
  }
  return {};
}
}  // namespace internal

inline ArrayPtr MakeFixedArray(const std::shared_ptr<arrow::DataType>& type, int64_t row_count,
                               const NullMask& nulls, std::shared_ptr<arrow::Buffer> values) {
  return arrow::MakeArray(arrow::ArrayData::Make(type, row_count,
                                                 {nulls.buffer(), std::move(values)},
                                                 nulls.any() ? arrow::kUnknownNullCount : 0));
}

/// Computes a fixed-width result of C++ type T (or bool) row by row. `fn` takes the operands'
/// values and returns T, std::optional<T> (NULL), Result<T> or Result<std::optional<T>>. Rows where
/// an operand is NULL are NULL, and fn is not called.
template <typename T, typename Fn, typename... Operands>
Result<ArrayPtr> MapValues(const KernelCall& call, Fn&& fn, const Operands&... operands) {
  const int64_t rows = call.row_count;
  arrow::MemoryPool* pool = call.context.pool;
  NullMask nulls(rows, pool);
  (nulls.Merge(operands), ...);
  std::shared_ptr<arrow::ResizableBuffer> buffer;
  if constexpr (std::is_same_v<T, bool>) {
    buffer = AllocateBytes(arrow::bit_util::BytesForBits(rows), pool);
    uint8_t* bits = buffer->mutable_data();
    std::memset(bits, 0, static_cast<size_t>(buffer->size()));
    const auto store = [bits](int64_t row, bool value) {
      if (value) arrow::bit_util::SetBit(bits, row);
    };
    SLUICE_RETURN_NOT_OK(internal::ForEachRow(rows, nulls, store, fn, operands...));
  } else {
    buffer = AllocateBytes(rows * static_cast<int64_t>(sizeof(T)), pool);
    // Unwritten values under NULLs must not show old memory.
    if (nulls.any()) std::memset(buffer->mutable_data(), 0, static_cast<size_t>(buffer->size()));
    T* values = reinterpret_cast<T*>(buffer->mutable_data());
    const auto store = [values](int64_t row, T value) { values[row] = value; };
    SLUICE_RETURN_NOT_OK(internal::ForEachRow(rows, nulls, store, fn, operands...));
  }
  return MakeFixedArray(call.result_type.ToArrow(), rows, nulls, std::move(buffer));
}

/// Computes a utf8 or binary result: `fn(TextBuilder&, values…)` appends the text and returns void,
/// bool (false: NULL), Status or Result<bool>.
template <typename Fn, typename... Operands>
Result<ArrayPtr> MapText(const KernelCall& call, int64_t byte_hint, Fn&& fn,
                         const Operands&... operands) {
  const int64_t rows = call.row_count;
  NullMask nulls(rows, call.context.pool);
  (nulls.Merge(operands), ...);
  TextBuilder out(rows, byte_hint, call.context.pool);
  const bool check = nulls.any();
  using R = std::decay_t<decltype(fn(out, operands[0]...))>;
  for (int64_t row = 0; row < rows; ++row) {
    if (!check || !nulls.IsNull(row)) {
      if constexpr (std::is_same_v<R, void>) {
        fn(out, operands[row]...);
      } else if constexpr (std::is_same_v<R, Status>) {
        Status status = fn(out, operands[row]...);
        if (!status.ok()) [[unlikely]]
          return status;
      } else if constexpr (std::is_same_v<R, Result<bool>>) {
        Result<bool> kept = fn(out, operands[row]...);
        if (!kept.ok()) [[unlikely]]
          return kept.status();
        if (!*kept) {
          out.Rollback();
          nulls.SetNull(row);
        }
      } else {
        static_assert(std::is_same_v<R, bool>);
        if (!fn(out, operands[row]...)) {
          out.Rollback();
          nulls.SetNull(row);
        }
      }
    }
    out.EndRow();
  }
  return out.Finish(call.result_type.ToArrow(), nulls);
}

/// An array of `row_count` NULLs of the result type.
inline Result<ArrayPtr> NullResult(const KernelCall& call) {
  return FromArrow(
      arrow::MakeArrayOfNull(call.result_type.ToArrow(), call.row_count, call.context.pool));
}

/// Calls `fn` with a value of the C++ type of an integer or floating type: fn(int8_t{}) …
/// fn(double{}).
template <typename Fn>
Result<ArrayPtr> VisitNumber(TypeKind kind, Fn&& fn) {
  switch (kind) {
    case TypeKind::kTinyint:
      return fn(int8_t{});
    case TypeKind::kSmallint:
      return fn(int16_t{});
    case TypeKind::kInt:
      return fn(int32_t{});
    case TypeKind::kBigint:
      return fn(int64_t{});
    case TypeKind::kFloat:
      return fn(float{});
    case TypeKind::kDouble:
      return fn(double{});
    default:
      return Status::Internal("a kernel was called with a type it does not know");
  }
}

}  // namespace sluice::expr
