// Key and trust stores of Java, as far as librdkafka cannot read them by itself.
#pragma once

#include <optional>
#include <string>

#include "common/result.h"

namespace sluice::connectors::kafka {

enum class KeyStoreKind { kJks, kPkcs12, kPem };

/// By `type` ("JKS", "PKCS12", "PEM") when given, else by the first bytes of the file. Fails when
/// it cannot be read.
Result<KeyStoreKind> DetectKeyStore(const std::string& path, const std::string& type);

/// The certificates of a trust store as PEM text; nullopt when the file is PEM already. The
/// certificates of a JKS are not encrypted, so no password is needed.
Result<std::optional<std::string>> CertificatesAsPem(const std::string& path,
                                                     const std::string& type);

/// OpenSSL's name of a cipher suite: TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256 to
/// ECDHE-RSA-AES128-GCM-SHA256.
Result<std::string> OpenSslCipherName(const std::string& suite);

}  // namespace sluice::connectors::kafka
