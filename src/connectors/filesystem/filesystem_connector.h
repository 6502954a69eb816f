// Entry of the connector 'filesystem': one table = one directory of files in one format.
#pragma once

#include "connectors/connector.h"

namespace sluice::connectors {

extern const Connector kFilesystemConnector;

}  // namespace sluice::connectors
