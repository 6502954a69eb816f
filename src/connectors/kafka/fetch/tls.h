// TLS over a socket that does not block, on OpenSSL.
#pragma once

#include <memory>
#include <string>

#include <openssl/ssl.h>

#include "common/result.h"
#include "connectors/kafka/fetch/fetch_settings.h"

namespace sluice::connectors::kafka::fetch {

struct SslContextDeleter {
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
};
struct SslDeleter {
  void operator()(SSL* ssl) const { SSL_free(ssl); }
};
using SslContextPtr = std::unique_ptr<SSL_CTX, SslContextDeleter>;
using SslPtr = std::unique_ptr<SSL, SslDeleter>;

/// What all connections share: trusted certificates, our own certificate, ciphers. Fails with
/// kInvalidArgument naming what cannot be read. Without trusted certificates of one's own the
/// system's are taken.
Result<SslContextPtr> MakeTlsContext(const TlsSettings& settings);

/// A session over `socket` to `host`, not begun. The host's name is checked during the handshake
/// when the settings say so.
Result<SslPtr> MakeTlsSession(SSL_CTX* context, const TlsSettings& settings,
                              const std::string& host, int socket);

/// What OpenSSL last complained about on this thread: "certificate verify failed".
std::string TlsError(const SSL* ssl);

}  // namespace sluice::connectors::kafka::fetch
