// The metadata columns of records, as Arrow arrays.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include <arrow/array/array_base.h>

#include "common/result.h"
#include "connectors/kafka/fetch/messages.h"
#include "connectors/kafka/kafka_client.h"

namespace sluice::connectors::kafka {

/// True when column `key` is made from Messages::details.
bool NeedsDetails(std::string_view key);

/// Column `key` for rows that came from message record_of_row[i] (empty: row i from message i).
Result<std::shared_ptr<arrow::Array>> MetadataArray(std::string_view key,
                                                    const PartitionId& partition,
                                                    const Messages& messages,
                                                    std::span<const int32_t> record_of_row,
                                                    int64_t row_count, arrow::MemoryPool* pool);

}  // namespace sluice::connectors::kafka
