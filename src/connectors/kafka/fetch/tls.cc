#include "connectors/kafka/fetch/tls.h"

#include <arpa/inet.h>
#include <sys/stat.h>

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

namespace sluice::connectors::kafka::fetch {
namespace {

struct BioDeleter {
  void operator()(BIO* bio) const { BIO_free(bio); }
};
struct CertificateDeleter {
  void operator()(X509* certificate) const { X509_free(certificate); }
};
struct KeyDeleter {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
using BioPtr = std::unique_ptr<BIO, BioDeleter>;
using CertificatePtr = std::unique_ptr<X509, CertificateDeleter>;
using KeyPtr = std::unique_ptr<EVP_PKEY, KeyDeleter>;

Status Bad(std::string_view option, const std::string& what) {
  const std::string detail = TlsError(nullptr);
  return Status::InvalidArgument("Kafka client setting '" + std::string(option) + "': " + what +
                                 (detail.empty() ? "" : ": " + detail) + ".");
}

BioPtr TextBio(const std::string& text) {
  return BioPtr(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

int GivePassword(char* out, int size, int, void* data) {
  const auto& password = *static_cast<const std::string*>(data);
  const int length = std::min(size, static_cast<int>(password.size()));
  std::memcpy(out, password.data(), static_cast<size_t>(length));
  return length;
}

Status TrustCertificates(SSL_CTX* context, const TlsSettings& settings) {
  if (!settings.ca_location.empty()) {
    struct stat info {};
    const bool folder = ::stat(settings.ca_location.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
    const char* const path = settings.ca_location.c_str();
    if (SSL_CTX_load_verify_locations(context, folder ? nullptr : path, folder ? path : nullptr) !=
        1)
      return Bad("ssl.ca.location", "cannot read the certificates in " + settings.ca_location);
  }
  if (!settings.ca_pem.empty()) {
    const BioPtr bio = TextBio(settings.ca_pem);
    int count = 0;
    while (CertificatePtr certificate{PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr)}) {
      X509_STORE_add_cert(SSL_CTX_get_cert_store(context), certificate.get());
      ++count;
    }
    ERR_clear_error();  // The end of the text is an error to OpenSSL.
    if (count == 0) return Bad("ssl.ca.pem", "it holds no certificate");
  }
  if (settings.ca_location.empty() && settings.ca_pem.empty())
    SSL_CTX_set_default_verify_paths(context);
  return {};
}

Status UsePemCertificate(SSL_CTX* context, const std::string& pem) {
  const BioPtr bio = TextBio(pem);
  const CertificatePtr own(PEM_read_bio_X509_AUX(bio.get(), nullptr, nullptr, nullptr));
  if (!own || SSL_CTX_use_certificate(context, own.get()) != 1)
    return Bad("ssl.certificate.pem", "it is no certificate");
  while (X509* const issuer = PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr)) {
    if (SSL_CTX_add0_chain_cert(context, issuer) != 1) X509_free(issuer);
  }
  ERR_clear_error();
  return {};
}

Status UseOwnCertificate(SSL_CTX* context, const TlsSettings& settings) {
  auto* const password = const_cast<std::string*>(&settings.key_password);
  if (!settings.certificate_location.empty() &&
      SSL_CTX_use_certificate_chain_file(context, settings.certificate_location.c_str()) != 1) {
    return Bad("ssl.certificate.location",
               "cannot read a certificate in " + settings.certificate_location);
  }
  if (!settings.certificate_pem.empty())
    SLUICE_RETURN_NOT_OK(UsePemCertificate(context, settings.certificate_pem));
  const auto use_key = [&](const BioPtr& bio) {
    if (!bio) return false;
    const KeyPtr key(PEM_read_bio_PrivateKey(bio.get(), nullptr, &GivePassword, password));
    return key && SSL_CTX_use_PrivateKey(context, key.get()) == 1;
  };
  if (!settings.key_location.empty() &&
      !use_key(BioPtr(BIO_new_file(settings.key_location.c_str(), "r")))) {
    return Bad("ssl.key.location", "cannot read a private key in " + settings.key_location);
  }
  if (!settings.key_pem.empty() && !use_key(TextBio(settings.key_pem)))
    return Bad("ssl.key.pem", "it is no private key, or 'ssl.key.password' is wrong");
  return {};
}

}  // namespace

std::string TlsError(const SSL* ssl) {
  std::string text;
  if (ssl != nullptr) {
    const long verified = SSL_get_verify_result(ssl);
    if (verified != X509_V_OK) text = X509_verify_cert_error_string(verified);
  }
  const unsigned long code = ERR_peek_last_error();
  ERR_clear_error();
  if (code == 0) return text;
  const char* const reason = ERR_reason_error_string(code);
  if (reason != nullptr) text = std::string(reason) + (text.empty() ? "" : " (" + text + ")");
  return text;
}

Result<SslContextPtr> MakeTlsContext(const TlsSettings& settings) {
  ERR_clear_error();
  SslContextPtr context(SSL_CTX_new(TLS_client_method()));
  if (!context) return Status::Internal("OpenSSL cannot begin: " + TlsError(nullptr) + ".");
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  SSL_CTX_set_mode(context.get(), SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_RELEASE_BUFFERS |
                                      SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_verify(context.get(), settings.verify_certificate ? SSL_VERIFY_PEER : SSL_VERIFY_NONE,
                     nullptr);
  if (!settings.ciphers.empty() &&
      SSL_CTX_set_cipher_list(context.get(), settings.ciphers.c_str()) != 1) {
    return Bad("ssl.cipher.suites", "OpenSSL has none of these");
  }
  SLUICE_RETURN_NOT_OK(TrustCertificates(context.get(), settings));
  SLUICE_RETURN_NOT_OK(UseOwnCertificate(context.get(), settings));
  return context;
}

Result<SslPtr> MakeTlsSession(SSL_CTX* context, const TlsSettings& settings,
                              const std::string& host, int socket) {
  ERR_clear_error();
  SslPtr ssl(SSL_new(context));
  if (!ssl || SSL_set_fd(ssl.get(), socket) != 1)
    return Status::Unavailable("OpenSSL cannot begin: " + TlsError(nullptr) + ".").Retriable();
  in6_addr address;
  const bool numeric = ::inet_pton(AF_INET, host.c_str(), &address) == 1 ||
                       ::inet_pton(AF_INET6, host.c_str(), &address) == 1;
  if (!numeric) SSL_set_tlsext_host_name(ssl.get(), host.c_str());
  if (settings.verify_certificate && settings.verify_host_name) {
    X509_VERIFY_PARAM* const rules = SSL_get0_param(ssl.get());
    const int set = numeric ? X509_VERIFY_PARAM_set1_ip_asc(rules, host.c_str())
                            : X509_VERIFY_PARAM_set1_host(rules, host.c_str(), host.size());
    if (set != 1) return Status::Internal("OpenSSL refuses to check the name " + host + ".");
  }
  SSL_set_connect_state(ssl.get());
  return ssl;
}

}  // namespace sluice::connectors::kafka::fetch
