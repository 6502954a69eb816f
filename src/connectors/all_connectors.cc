#include "connectors/all_connectors.h"

#include <array>

#include "common/nearest_name.h"
#include "connectors/blackhole/blackhole_connector.h"
#include "connectors/datagen/datagen_connector.h"
#include "connectors/filesystem/filesystem_connector.h"
#include "connectors/kafka/kafka_connector.h"
#include "connectors/print/print_connector.h"

namespace sluice::connectors {

std::span<const Connector* const> AllConnectors() {
  static const std::array kConnectors = {&kFilesystemConnector, &kKafkaConnector,
                                         &kDatagenConnector, &kPrintConnector,
                                         &kBlackholeConnector};
  return kConnectors;
}

Result<const Connector*> FindConnector(std::string_view name) {
  std::vector<std::string> names;
  std::string list;
  for (const Connector* connector : AllConnectors()) {
    if (connector->name == name) return connector;
    names.emplace_back(connector->name);
  }
  std::sort(names.begin(), names.end());
  for (const std::string& known : names) list += "\n" + known;
  return Status::InvalidArgument("Could not find any factory for identifier '" + std::string(name) +
                                 "' that implements 'org.apache.flink.table.factories."
                                 "DynamicTableFactory' in the classpath." +
                                 DidYouMean(name, names) +
                                 "\n\nAvailable factory identifiers are:\n" + list);
}

}  // namespace sluice::connectors
