// The list of connectors. Include this where FindConnector or AllConnectors is called: the build
// links a program with what its files include, and a connector must build and be tested without all
// the others.
#pragma once

#include "connectors/connector.h"

namespace sluice::connectors {

extern const Connector kFilesystemConnector;
extern const Connector kKafkaConnector;
extern const Connector kDatagenConnector;
extern const Connector kPrintConnector;
extern const Connector kBlackholeConnector;

}  // namespace sluice::connectors
