// The unit that moves through a job: an Arrow record batch and, for a changelog, the kind of each
// row.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include <arrow/array/array_primitive.h>
#include <arrow/record_batch.h>

namespace sluice {

/// Kinds of a changelog row; the values are those of Flink's RowKind.
enum class RowKind : int8_t { kInsert = 0, kUpdateBefore = 1, kUpdateAfter = 2, kDelete = 3 };

/// "+I", "-U", "+U", "-D".
std::string_view RowKindText(RowKind kind);

/// A set of row kinds, as EXPLAIN prints it: "I,UB,UA,D".
struct RowKindSet {
  bool update_before = false;
  bool update_after = false;
  bool remove = false;
  bool insert_only() const { return !update_before && !update_after && !remove; }
  static RowKindSet InsertOnly() { return {}; }
  static RowKindSet All() { return {true, true, true}; }
};

/// Rows with one schema. `row_kinds` is null when every row is an insert: append-only plans never
/// pay for it. Target size is 8,192 rows or 1 MiB; any size is legal. Immutable once emitted;
/// copies share the arrays.
class Batch {
 public:
  Batch() = default;
  explicit Batch(std::shared_ptr<arrow::RecordBatch> rows,
                 std::shared_ptr<arrow::Int8Array> row_kinds = nullptr)
      : rows_(std::move(rows)), row_kinds_(std::move(row_kinds)) {}

  const std::shared_ptr<arrow::RecordBatch>& rows() const { return rows_; }
  const std::shared_ptr<arrow::Int8Array>& row_kinds() const { return row_kinds_; }
  int64_t row_count() const { return rows_ ? rows_->num_rows() : 0; }
  const std::shared_ptr<arrow::Array> column(int index) const { return rows_->column(index); }
  RowKind row_kind(int64_t row) const {
    return row_kinds_ ? static_cast<RowKind>(row_kinds_->Value(row)) : RowKind::kInsert;
  }
  /// Zero-copy rows [offset, offset + length).
  Batch Slice(int64_t offset, int64_t length) const;
  /// Bytes of the referenced part of the buffers, an estimate for flow control.
  int64_t byte_size() const;

 private:
  std::shared_ptr<arrow::RecordBatch> rows_;
  std::shared_ptr<arrow::Int8Array> row_kinds_;
};

constexpr int64_t kTargetBatchRows =
    8192;  // engineering notes §2.2: plateau of kernel cost per row.
constexpr int64_t kTargetBatchBytes = 1 << 20;
constexpr int64_t kMaxBatchAgeMillis = 100;

}  // namespace sluice
