// The connector `blackhole`: a sink that takes rows and forgets them.
#pragma once

#include "connectors/connector.h"

namespace sluice::connectors {

extern const Connector kBlackholeConnector;

}  // namespace sluice::connectors
