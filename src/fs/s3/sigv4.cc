#include "fs/s3/sigv4.h"

#include <ctime>

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "common/text.h"
#include "fs/http/http_client.h"

namespace sluice::fs::s3 {
namespace {

std::string Digest(const EVP_MD* kind, std::string_view bytes) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  EVP_Digest(bytes.data(), bytes.size(), digest, &size, kind, nullptr);
  return {reinterpret_cast<const char*>(digest), size};
}

std::string Hmac(std::string_view key, std::string_view text) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
       reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest, &size);
  return {reinterpret_cast<const char*>(digest), size};
}

/// Names in lower case, sorted; blanks inside values become one.
Pairs CanonicalHeaders(const Pairs& headers) {
  Pairs canonical;
  for (const auto& [name, value] : headers) {
    std::string cut;
    for (const char c : TrimAscii(value)) {
      if (c == ' ' && cut.ends_with(' ')) continue;
      cut += c;
    }
    canonical.emplace_back(ToLowerAscii(name), std::move(cut));
  }
  std::sort(canonical.begin(), canonical.end());
  return canonical;
}

std::string SignedNames(const Pairs& canonical_headers) {
  std::string names;
  for (const auto& [name, value] : canonical_headers) names += (names.empty() ? "" : ";") + name;
  return names;
}

}  // namespace

std::string Sha256Hex(std::string_view bytes) { return HexText(Digest(EVP_sha256(), bytes)); }
std::string Md5(std::string_view bytes) { return Digest(EVP_md5(), bytes); }

std::string HexText(std::string_view bytes) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string text;
  for (const char c : bytes) {
    text += kHex[static_cast<unsigned char>(c) >> 4];
    text += kHex[static_cast<unsigned char>(c) & 15];
  }
  return text;
}

std::string AmzDate(int64_t now_ms) {
  const std::time_t seconds = now_ms / 1000;
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[32];
  std::strftime(text, sizeof(text), "%Y%m%dT%H%M%SZ", &parts);
  return text;
}

std::string CanonicalQuery(const Pairs& query) {
  Pairs encoded;
  for (const auto& [name, value] : query) {
    encoded.emplace_back(UriEncode(name, false), UriEncode(value, false));
  }
  std::sort(encoded.begin(), encoded.end());
  std::string text;
  for (const auto& [name, value] : encoded) {
    if (!text.empty()) text += '&';
    text.append(name).append("=").append(value);
  }
  return text;
}

std::string CanonicalRequest(const SigningRequest& request) {
  const Pairs headers = CanonicalHeaders(request.headers);
  std::string text =
      request.method + "\n" + request.path + "\n" + CanonicalQuery(request.query) + "\n";
  for (const auto& [name, value] : headers) text.append(name).append(":").append(value) += '\n';
  return text + "\n" + SignedNames(headers) + "\n" + request.payload;
}

std::string Authorization(const SigningRequest& request, const SigningScope& scope,
                          const Credentials& credentials) {
  const std::string date = AmzDate(scope.now_ms);
  const std::string day = date.substr(0, 8);
  const std::string place = day + "/" + scope.region + "/" + scope.service + "/aws4_request";
  const std::string to_sign =
      "AWS4-HMAC-SHA256\n" + date + "\n" + place + "\n" + Sha256Hex(CanonicalRequest(request));
  std::string key = Hmac("AWS4" + credentials.secret_key, day);
  for (const std::string_view step :
       {std::string_view(scope.region), std::string_view(scope.service),
        std::string_view("aws4_request")}) {
    key = Hmac(key, step);
  }
  return "AWS4-HMAC-SHA256 Credential=" + credentials.access_key_id + "/" + place +
         ", SignedHeaders=" + SignedNames(CanonicalHeaders(request.headers)) +
         ", Signature=" + HexText(Hmac(key, to_sign));
}

}  // namespace sluice::fs::s3
