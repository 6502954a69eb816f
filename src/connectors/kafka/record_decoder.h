// Turns messages of one partition into rows: value and key through their formats, metadata columns
// beside them.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <arrow/memory_pool.h>

#include "common/result.h"
#include "connectors/kafka/fetch/messages.h"
#include "connectors/kafka/kafka_client.h"
#include "connectors/kafka/kafka_options.h"
#include "connectors/quarantine/quarantine.h"
#include "types/batch.h"
#include "types/schema.h"
#include "types/time_zone.h"

namespace sluice::connectors::kafka {

/// What the source is to produce: physical columns by index, then metadata columns by key.
struct ScanColumns {
  std::vector<int> physical;
  std::vector<std::string> metadata;
};

/// Metadata columns of kafka tables; `writable_topic`: the sink has several topics, so rows may
/// name theirs.
std::vector<MetadataColumn> KafkaMetadataColumns(bool writable_topic);

/// Metadata columns of the value's format, which is null when it is not known yet: "value.table".
std::vector<MetadataColumn> FormatMetadataColumns(const formats::Format* format);

struct DecodedMessages {
  Batch rows;
  int64_t null_messages = 0;
  int64_t ignored_records = 0;  // Right, without a row: DDL, tables that the options leave out.
  int64_t bad_records = 0;
  /// Texts of bad records that were skipped or nulled, a bounded sample.
  std::vector<std::string> bad_texts;
  /// What is to be put aside; positions are offsets.
  std::vector<QuarantinedRecord> taken_out;
};

/// Not thread-safe: one for each worker at a time.
class RecordDecoder {
 public:
  static Result<std::unique_ptr<RecordDecoder>> Make(const KafkaTable& table,
                                                     const ScanColumns& columns,
                                                     const TimeZone& session_zone,
                                                     arrow::MemoryPool* pool);
  ~RecordDecoder();

  /// Fails with kDataError for the first record that the table's options do not let pass, with
  /// topic-partition@offset, first bytes, column and reason.
  /// `messages` has at least wanted_parts().
  Result<DecodedMessages> Decode(const PartitionId& partition, const Messages& messages);

  MessageParts wanted_parts() const;

 private:
  struct Rep;
  explicit RecordDecoder(std::unique_ptr<Rep> rep);
  std::unique_ptr<Rep> rep_;
};

}  // namespace sluice::connectors::kafka
