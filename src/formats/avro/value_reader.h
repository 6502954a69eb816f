// Reads records in Avro's binary encoding straight into column builders.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "formats/avro/binary_input.h"
#include "formats/avro/read_plan.h"
#include "formats/text/column_builder.h"

namespace sluice::formats::avro {

/// Runs a ReadPlan. Not thread-safe. `plan` must outlive it.
class ValueReader {
 public:
  ValueReader(const ReadPlan& plan, const Schema& output, arrow::MemoryPool* pool);

  /// Appends one record to the builders. False when its bytes cannot be read: column() and reason()
  /// say why, and the builders must be cut back to the rows before (Truncate). May throw
  /// std::bad_alloc.
  bool ReadRecord(BinaryInput* input);
  /// Forgets what was appended beyond `rows`.
  void Truncate(int64_t rows);
  /// The rows so far as a batch; the builders are empty then.
  Batch Finish(int64_t rows);

  /// "r.x", empty when the whole record is at fault.
  const std::string& column() const { return column_; }
  const std::string& reason() const { return reason_; }

 private:
  using Builder = text::ColumnBuilder;
  bool ReadFields(const ReadStep& record, Builder* row);
  bool ReadValue(const ReadStep& step, Builder* builder);
  bool ReadNullable(const ReadStep& step, Builder* builder, bool* done);
  bool ReadUnion(const ReadStep& step, Builder* builder);
  bool ReadUnionOfRecords(const ReadStep& step);
  bool ReadScalar(const ReadStep& step, Builder* builder);
  bool ReadText(const ReadStep& step, Builder* builder);
  bool ReadTime(const ReadStep& step, Builder* builder);
  bool ReadDecimal(const ReadStep& step, Builder* builder);
  bool ReadArray(const ReadStep& step, Builder* builder);
  bool ReadMap(const ReadStep& step, Builder* builder);
  bool ReadRow(const ReadStep& step, Builder* builder);
  bool AppendNull(const ReadStep& step, Builder* builder);
  bool AppendText(std::string_view text, Builder* builder);
  /// Count of the next block of an array or map, 0 at its end.
  bool ReadCount(int64_t least_bytes, int64_t present, int64_t* count);

  bool Skip(const Type& type, int depth);
  bool SkipBlocks(const Type& type, int depth);

  bool Fail(std::string reason);
  bool FailEnd(const ReadStep& step);

  const ReadPlan& plan_;
  arrow::MemoryPool* const pool_;
  const std::shared_ptr<arrow::Schema> output_;
  std::vector<std::unique_ptr<Builder>> builders_;
  std::vector<bool> is_missing_;  // By output column.
  BinaryInput input_;
  int64_t empty_items_ = 0;  // Items without bytes in the batch.
  std::string column_;
  std::string reason_;
};

}  // namespace sluice::formats::avro
