// Decodes one column of a stripe and what is below it into an Arrow array of its SQL type.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include <arrow/array/array_base.h>
#include <arrow/memory_pool.h>

#include "common/result.h"
#include "formats/orc/block_stream.h"
#include "formats/orc/calendar.h"
#include "formats/orc/metadata.h"
#include "formats/orc/orc_schema.h"
#include "types/time_zone.h"

namespace sluice::formats::orc_format {

/// What the readers of a stripe share. Must outlive them.
struct StripeSource {
  const std::vector<OrcType>* types = nullptr;
  StripeFooter footer;
  std::map<std::pair<uint64_t, StreamKind>, std::shared_ptr<arrow::Buffer>> streams;
  std::shared_ptr<const BlockCodec> codec;
  const FileCalendar* calendar = nullptr;
  TimeZone writer_zone;   // Of wall times.
  TimeZone session_zone;  // Between wall times and instants, when file and table differ.
  arrow::MemoryPool* pool = nullptr;
};

/// Not thread-safe.
class ColumnReader {
 public:
  virtual ~ColumnReader() = default;

  /// The next `row_count` rows as an array of the node's SQL type. `parent_valid` (one byte a row,
  /// null: all) tells for which rows the parent has a value: the others hold nothing in the file
  /// and come out as NULL. Fails with kDataError for damaged streams, values that do not fit, text
  /// that is not UTF-8 and NULL where the type does not allow it; `*bad_row` receives the row when
  /// it is known.
  virtual Result<std::shared_ptr<arrow::Array>> Read(int64_t row_count, const uint8_t* parent_valid,
                                                     int64_t* bad_row) = 0;

  /// True when the row indexes of the column and of what is below it fit its streams.
  virtual bool CanSeek(size_t stride_count) const = 0;
  /// Goes to the first row of a stride; CanSeek must hold. What goes wrong, the next Read tells.
  virtual void Seek(size_t stride) = 0;
};

/// Fails with kDataError when the stripe has no stream that the column needs.
Result<std::unique_ptr<ColumnReader>> MakeColumnReader(const ReadNode& node,
                                                       const StripeSource& source);

}  // namespace sluice::formats::orc_format
