// The WITH options of a kafka table, checked and resolved.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/options.h"
#include "common/result.h"
#include "connectors/connector.h"
#include "connectors/kafka/client_properties.h"
#include "connectors/quarantine/bad_record_options.h"
#include "formats/format.h"
#include "types/schema.h"

namespace sluice::connectors::kafka {

/// Where reading begins, or ends.
enum class OffsetsMode { kEarliest, kLatest, kGroup, kTimestamp, kSpecific, kUnbounded };

struct OffsetsChoice {
  OffsetsMode mode = OffsetsMode::kGroup;
  int64_t timestamp_ms = 0;             // kTimestamp.
  std::map<int32_t, int64_t> specific;  // kSpecific: partition -> offset, of the one topic.
};

/// A format in use: key or value.
struct FormatUse {
  const formats::Format* format = nullptr;
  formats::FormatOptions options;
  /// Columns of the message part in the order of the format, and where they stand in the table.
  Schema schema;
  std::vector<int> table_columns;
};

/// Who fetches: kAuto is our own fetch wherever it understands the table's properties.
enum class FetchImplementation { kAuto, kNative, kLibrdkafka };

enum class Partitioner { kDefault, kFixed, kRoundRobin };
enum class DeliveryGuarantee { kNone, kAtLeastOnce, kExactlyOnce };

struct KafkaTable {
  std::string identifier;
  Schema physical;

  std::vector<std::string> topics;  // Empty with a pattern.
  std::optional<std::string> topic_pattern;
  OptionMap properties;  // Without "properties.".

  FormatUse value;
  std::optional<FormatUse> key;

  // Reading.
  OffsetsChoice startup;
  OffsetsChoice bounded{.mode = OffsetsMode::kUnbounded};
  int64_t discovery_interval_ms = 300'000;  // 0 = off.
  std::optional<int> scan_parallelism;
  FetchImplementation fetch = FetchImplementation::kAuto;

  // Writing.
  Partitioner partitioner = Partitioner::kDefault;
  DeliveryGuarantee guarantee = DeliveryGuarantee::kAtLeastOnce;
  std::optional<int> sink_parallelism;

  BadRecordOptions bad_records;

  std::vector<std::string> warnings;

  bool is_bounded() const { return bounded.mode != OffsetsMode::kUnbounded; }
  /// "orders;payments" or "pattern orders-.*", for messages.
  std::string TopicsText() const;
};

enum class Use { kAny, kRead, kWrite };

/// Options of the connector itself, format options apart.
std::span<const OptionSpec> KafkaOptions();

/// Checks `table` for `use`; messages as Flink's. With kAny, what only one side needs is not
/// missed.
Result<KafkaTable> PlanKafkaTable(const TableInfo& table, const ConnectorContext& context, Use use);

/// The client configuration of `table`, with the process's Kerberos login from the session where
/// the table has none.
Result<ClientConfig> MakeClientConfig(const KafkaTable& table, const ConnectorContext& context,
                                      ClientRole role);

/// `partition:0,offset:42;partition:1,offset:300`; `key` is for the message.
Result<std::map<int32_t, int64_t>> ParseSpecificOffsets(std::string_view key,
                                                        std::string_view text);

}  // namespace sluice::connectors::kafka
