// Translates `properties.*`, which users write as for Java's Kafka clients, into librdkafka's
// settings, and re-establishes Java's defaults where the library's differ.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/options.h"
#include "common/result.h"

namespace sluice::connectors::kafka {

enum class ClientRole { kConsumer, kProducer };

/// What a client is made with. `settings` holds secrets: never print it.
struct ClientConfig {
  std::map<std::string, std::string> settings;
  /// What was left out and why; one sentence each, no secrets.
  std::vector<std::string> warnings;

  std::string bootstrap_servers;
  std::optional<std::string> group_id;
  /// "earliest", "latest", or "none" (the default): what to do when the group has no offset.
  std::string offset_reset = "none";
  bool commit_on_checkpoint = true;
  int64_t api_timeout_ms = 60'000;  // How long a start waits for the broker.
};

/// `properties` are the keys without the prefix "properties.". Fails with kInvalidArgument for
/// names that neither Java's clients nor librdkafka know (nearest name given) and for those that
/// cannot be honoured.
Result<ClientConfig> TranslateClientProperties(const OptionMap& properties, ClientRole role);

}  // namespace sluice::connectors::kafka
