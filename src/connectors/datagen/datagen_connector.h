// The connector `datagen`: a table of made-up rows.
#pragma once

#include "connectors/connector.h"

namespace sluice::connectors {

extern const Connector kDatagenConnector;

}  // namespace sluice::connectors
