// The sink behind kafka tables: at least once.
//
// A checkpoint waits until the brokers have acknowledged every message before the barrier; after a
// failure the rows since the last checkpoint are written again. State: none.
#pragma once

#include <memory>

#include "connectors/connector.h"
#include "connectors/kafka/kafka_options.h"

namespace sluice::connectors::kafka {

struct SinkSetup {
  KafkaTable table;
  ClientConfig config;
  TimeZone session_zone;
  std::vector<std::string> metadata_keys;  // Of the columns behind the physical ones.
};

std::unique_ptr<runtime::Operator> MakeKafkaSinkOperator(std::shared_ptr<const SinkSetup> setup);

}  // namespace sluice::connectors::kafka
