// Settings of a consumer as the native fetch understands them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/result.h"

namespace sluice::connectors::kafka::fetch {

struct BrokerAddress {
  std::string host;
  int port = 9092;

  /// "host:port", "[::1]:9092".
  std::string ToText() const;
};

/// PEM texts and files; empty: not given.
struct TlsSettings {
  std::string ca_location;  // A file or a folder of hashed names.
  std::string ca_pem;
  std::string certificate_location;
  std::string certificate_pem;
  std::string key_location;
  std::string key_pem;
  std::string key_password;
  std::string ciphers;
  bool verify_certificate = true;
  bool verify_host_name = true;
};

enum class SaslMechanism { kPlain, kScramSha256, kScramSha512 };

/// Holds secrets: never print it.
struct SaslSettings {
  SaslMechanism mechanism = SaslMechanism::kPlain;
  std::string username;
  std::string password;
};

struct FetchSettings {
  std::vector<BrokerAddress> bootstrap;
  std::string client_id = "sluice";
  std::optional<TlsSettings> tls;
  std::optional<SaslSettings> sasl;

  bool read_committed = false;
  bool check_crcs = true;
  int32_t min_bytes = 1;
  int32_t max_bytes = 50 << 20;
  int32_t partition_max_bytes = 1 << 20;
  int32_t max_wait_ms = 500;
  int64_t max_answer_bytes = 100'000'000;  // receive.message.max.bytes.

  int64_t request_timeout_ms = 60'000;
  int64_t connect_timeout_ms = 30'000;
  int64_t reconnect_backoff_ms = 50;
  int64_t reconnect_backoff_max_ms = 1'000;
  int64_t retry_backoff_ms = 100;
  int64_t metadata_max_age_ms = 300'000;
  int receive_buffer_bytes = 0;  // 0: the system's.
  int send_buffer_bytes = 0;
};

/// `settings` are librdkafka's names. Returns nullopt and sets `reason` when one of them asks for
/// something that only librdkafka has: "'sasl.mechanisms' = 'GSSAPI'". Fails with
/// kInvalidArgument for values that cannot be.
Result<std::optional<FetchSettings>> ReadFetchSettings(
    const std::map<std::string, std::string>& settings, std::string* reason);

}  // namespace sluice::connectors::kafka::fetch
