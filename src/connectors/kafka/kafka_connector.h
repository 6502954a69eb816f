// The connector `kafka`: topics as append-only tables, to read and to write.
#pragma once

#include "connectors/connector.h"

namespace sluice::connectors {

extern const Connector kKafkaConnector;

}  // namespace sluice::connectors
