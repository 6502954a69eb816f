// Entry of the connector 'filesystem': one table = one directory of files in one format.
#pragma once

#include "connectors/connector.h"

namespace sluice::connectors {

extern const Connector kFilesystemConnector;

/// The file systems as the session is set up, with what the table itself says about its store
/// ('s3.endpoint', 'fs.oss.accessKeyId', …) on top.
fs::FileSystems* FileSystemsOf(const OptionMap& table_options, const ConnectorContext& context);

}  // namespace sluice::connectors
