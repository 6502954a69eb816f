// The source behind kafka tables: finds the partitions, decides where each begins and ends, and
// makes the readers.
#pragma once

#include <memory>

#include "connectors/kafka/decode_queue.h"
#include "runtime/source.h"

namespace sluice::connectors::kafka {

std::shared_ptr<runtime::Source> MakeKafkaSource(ScanSetup setup);

}  // namespace sluice::connectors::kafka
