#include "connectors/kafka/key_stores.h"

#include <cerrno>
#include <cstdint>
#include <fstream>
#include <sstream>

#include "common/text.h"

namespace sluice::connectors::kafka {
namespace {

constexpr uint32_t kJksMagic = 0xFEEDFEED;
constexpr uint32_t kTrustedCertificate = 2;

Result<std::string> ReadStore(const std::string& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  if (file) bytes << file.rdbuf();
  if (!file)
    return Status::FromErrno(errno == 0 ? EIO : errno, "Cannot read the key store " + path);
  return std::move(bytes).str();
}

KeyStoreKind KindOf(std::string_view bytes) {
  if (bytes.starts_with("\xFE\xED\xFE\xED")) return KeyStoreKind::kJks;
  if (bytes.starts_with("\x30")) return KeyStoreKind::kPkcs12;  // A DER sequence.
  return KeyStoreKind::kPem;
}

/// Big-endian reads with a bound.
class BytesReader {
 public:
  explicit BytesReader(std::string_view bytes) : bytes_(bytes) {}

  std::optional<std::string_view> Take(size_t count) {
    if (count > bytes_.size()) return std::nullopt;
    const std::string_view taken = bytes_.substr(0, count);
    bytes_.remove_prefix(count);
    return taken;
  }
  std::optional<uint32_t> Number(size_t width) {
    const auto taken = Take(width);
    if (!taken) return std::nullopt;
    uint32_t value = 0;
    for (const char c : *taken) value = value << 8 | static_cast<unsigned char>(c);
    return value;
  }
  std::optional<std::string_view> Sized(size_t width) {
    const auto size = Number(width);
    if (!size) return std::nullopt;
    return Take(*size);
  }

 private:
  std::string_view bytes_;
};

std::string Pem(std::string_view der) {
  static constexpr char kDigits[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text = "-----BEGIN CERTIFICATE-----\n";
  size_t column = 0;
  for (size_t i = 0; i < der.size(); i += 3) {
    uint32_t group = 0;
    for (size_t j = 0; j < 3; ++j) {
      group = group << 8 | (i + j < der.size() ? static_cast<unsigned char>(der[i + j]) : 0u);
    }
    for (size_t j = 0; j < 4; ++j) {
      const bool padding = i + j > der.size();
      text += padding ? '=' : kDigits[group >> (18 - 6 * j) & 63];
    }
    column += 4;
    if (column % 64 == 0) text += '\n';
  }
  if (text.back() != '\n') text += '\n';
  return text + "-----END CERTIFICATE-----\n";
}

/// Layout of a JKS: magic, version, count, then entries of tag, alias, date and content; a digest
/// at the end.
Result<std::string> JksCertificates(const std::string& path, std::string_view bytes) {
  const Status corrupt =
      Status::InvalidArgument("The trust store " + path + " is damaged or of an unknown version.");
  BytesReader reader(bytes);
  const auto magic = reader.Number(4);
  const auto version = reader.Number(4);
  const auto count = reader.Number(4);
  if (magic != kJksMagic || !version || *version < 1 || *version > 2 || !count) return corrupt;
  std::string pem;
  for (uint32_t i = 0; i < *count; ++i) {
    const auto tag = reader.Number(4);
    if (!tag || !reader.Sized(2) || !reader.Take(8)) return corrupt;
    if (*tag != kTrustedCertificate) {
      return Status::InvalidArgument("The trust store " + path +
                                     " holds a private key. Give a store of certificates in "
                                     "'properties.ssl.truststore.location'.");
    }
    if (*version == 2 && !reader.Sized(2)) return corrupt;
    const auto der = reader.Sized(4);
    if (!der) return corrupt;
    pem += Pem(*der);
  }
  if (pem.empty())
    return Status::InvalidArgument("The trust store " + path + " holds no certificate.");
  return pem;
}

}  // namespace

Result<KeyStoreKind> DetectKeyStore(const std::string& path, const std::string& type) {
  SLUICE_ASSIGN_OR_RETURN(const std::string bytes, ReadStore(path));
  const std::string upper = ToUpperAscii(type);
  if (upper == "PEM") return KeyStoreKind::kPem;
  // Java reads either kind under either name, so the bytes decide.
  if (upper.empty() || upper == "JKS" || upper == "PKCS12") return KindOf(bytes);
  return Status::InvalidArgument("The key store type '" + type +
                                 "' is not known. Known types are JKS, PKCS12 and PEM.");
}

Result<std::optional<std::string>> CertificatesAsPem(const std::string& path,
                                                     const std::string& type) {
  SLUICE_ASSIGN_OR_RETURN(const KeyStoreKind kind, DetectKeyStore(path, type));
  if (kind == KeyStoreKind::kPem) return std::optional<std::string>();
  if (kind == KeyStoreKind::kPkcs12) {
    return Status::Unsupported(
        "Option 'properties.ssl.truststore.location': " + path +
        " is a PKCS#12 store, whose certificates are encrypted and cannot be read here yet. "
        "Convert "
        "it: openssl pkcs12 -in … -nokeys -out ca.pem, then set 'properties.ssl.truststore.type' = "
        "'PEM'.");
  }
  SLUICE_ASSIGN_OR_RETURN(const std::string bytes, ReadStore(path));
  SLUICE_ASSIGN_OR_RETURN(std::string pem, JksCertificates(path, bytes));
  return std::optional<std::string>(std::move(pem));
}

Result<std::string> OpenSslCipherName(const std::string& suite) {
  if (suite.find('_') == std::string::npos) return suite;  // OpenSSL's name already.
  std::string_view rest = suite;
  const size_t with = rest.find("_WITH_");
  if (!rest.starts_with("TLS_") || with == std::string_view::npos) {
    return Status::InvalidArgument("Option 'properties.ssl.cipher.suites': '" + suite +
                                   "' is no name of a cipher suite.");
  }
  std::string exchange(rest.substr(4, with - 4));
  std::string cipher(rest.substr(with + 6));
  if (exchange == "RSA") exchange.clear();
  for (char& c : exchange) c = c == '_' ? '-' : c;
  const auto replace = [&](std::string_view from, std::string_view to) {
    if (const size_t at = cipher.find(from); at != std::string::npos)
      cipher.replace(at, from.size(), to);
  };
  const bool cbc = cipher.find("_CBC") != std::string::npos;
  replace("AES_", "AES");
  replace("CHACHA20_POLY1305_SHA256", "CHACHA20-POLY1305");
  if (cbc) replace("_CBC", "");
  replace("3DES_EDE", "DES-CBC3");
  for (char& c : cipher) c = c == '_' ? '-' : c;
  return exchange.empty() ? cipher : exchange + "-" + cipher;
}

}  // namespace sluice::connectors::kafka
