// The client's side of SCRAM (RFC 5802) with SHA-256 and SHA-512, as Kafka's brokers ask for it.
#pragma once

#include <string>
#include <string_view>

#include "common/result.h"
#include "connectors/kafka/fetch/fetch_settings.h"

namespace sluice::connectors::kafka::fetch {

class ScramClient {
 public:
  /// `nonce` is printable and without commas, new for every exchange.
  ScramClient(const SaslSettings& settings, std::string nonce);

  std::string FirstMessage();
  /// Answers the server's first message; fails when it is none, or asks for a count of iterations
  /// that cannot be meant.
  Result<std::string> FinalMessage(std::string_view server_first);
  /// Fails when the server does not know the password either.
  Status CheckServer(std::string_view server_final) const;

 private:
  const SaslSettings& settings_;
  const bool sha512_;
  const std::string nonce_;
  std::string first_bare_;
  std::string server_signature_;
};

/// 24 random characters from the system's source of secrets.
Result<std::string> MakeNonce();

}  // namespace sluice::connectors::kafka::fetch
