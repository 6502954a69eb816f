#include "connectors/kafka/fetch/scram.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include "common/base64.h"
#include "common/text.h"

namespace sluice::connectors::kafka::fetch {
namespace {

/// The same as java's brokers allow at most would take minutes: this much takes half a second.
constexpr int64_t kMostIterations = 1'000'000;

const EVP_MD* Hash(bool sha512) { return sha512 ? EVP_sha512() : EVP_sha256(); }

const unsigned char* Bytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

std::string Hmac(bool sha512, std::string_view key, std::string_view text) {
  unsigned char out[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  HMAC(Hash(sha512), key.data(), static_cast<int>(key.size()), Bytes(text), text.size(), out,
       &size);
  return {reinterpret_cast<const char*>(out), size};
}

std::string Digest(bool sha512, std::string_view text) {
  unsigned char out[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  EVP_Digest(text.data(), text.size(), out, &size, Hash(sha512), nullptr);
  return {reinterpret_cast<const char*>(out), size};
}

/// "=" and "," have meanings of their own in messages.
std::string EscapeName(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (c == '=') {
      out += "=3D";
    } else if (c == ',') {
      out += "=2C";
    } else {
      out += c;
    }
  }
  return out;
}

/// The value of attribute `name` in "r=…,s=…,i=…".
std::optional<std::string_view> Attribute(std::string_view message, char name) {
  for (const std::string_view part : Split(message, ',')) {
    if (part.size() >= 2 && part[0] == name && part[1] == '=') return part.substr(2);
  }
  return std::nullopt;
}

Status BadServer(std::string_view why) {
  return Status::Unavailable("The broker's side of the SCRAM login is wrong: " + std::string(why) +
                             ".")
      .Retriable();
}

}  // namespace

ScramClient::ScramClient(const SaslSettings& settings, std::string nonce)
    : settings_(settings),
      sha512_(settings.mechanism == SaslMechanism::kScramSha512),
      nonce_(std::move(nonce)) {}

std::string ScramClient::FirstMessage() {
  first_bare_ = "n=" + EscapeName(settings_.username) + ",r=" + nonce_;
  return "n,," + first_bare_;
}

Result<std::string> ScramClient::FinalMessage(std::string_view server_first) {
  const auto nonce = Attribute(server_first, 'r');
  const auto salt_text = Attribute(server_first, 's');
  const auto iterations_text = Attribute(server_first, 'i');
  if (!nonce || !salt_text || !iterations_text) return BadServer("its first message is none");
  if (!nonce->starts_with(nonce_) || nonce->size() == nonce_.size())
    return BadServer("its nonce does not continue ours");
  std::string salt;
  if (!AppendFromBase64(*salt_text, &salt)) return BadServer("its salt is not Base64");
  const std::optional<int64_t> iterations = ParseInt64(*iterations_text);
  if (!iterations || *iterations < 1 || *iterations > kMostIterations)
    return BadServer("it asks for " + std::string(*iterations_text) + " iterations");

  std::string salted(static_cast<size_t>(EVP_MD_get_size(Hash(sha512_))), '\0');
  if (PKCS5_PBKDF2_HMAC(settings_.password.data(), static_cast<int>(settings_.password.size()),
                        Bytes(salt), static_cast<int>(salt.size()), static_cast<int>(*iterations),
                        Hash(sha512_), static_cast<int>(salted.size()),
                        reinterpret_cast<unsigned char*>(salted.data())) != 1) {
    return Status::Internal("OpenSSL cannot derive the key of a SCRAM login.");
  }
  const std::string client_key = Hmac(sha512_, salted, "Client Key");
  const std::string without_proof = "c=biws,r=" + std::string(*nonce);  // "n,," in Base64.
  const std::string signed_text =
      first_bare_ + "," + std::string(server_first) + "," + without_proof;
  std::string proof = Hmac(sha512_, Digest(sha512_, client_key), signed_text);
  for (size_t i = 0; i < proof.size(); ++i) proof[i] = static_cast<char>(proof[i] ^ client_key[i]);
  server_signature_ = Hmac(sha512_, Hmac(sha512_, salted, "Server Key"), signed_text);
  return without_proof + ",p=" + EncodeBase64(proof);
}

Status ScramClient::CheckServer(std::string_view server_final) const {
  const auto text = Attribute(server_final, 'v');
  std::string signature;
  if (!text || !AppendFromBase64(*text, &signature)) return BadServer("its last message is none");
  if (signature.size() != server_signature_.size() || server_signature_.empty() ||
      CRYPTO_memcmp(signature.data(), server_signature_.data(), signature.size()) != 0) {
    return BadServer("it does not prove that it knows the password");
  }
  return {};
}

Result<std::string> MakeNonce() {
  unsigned char bytes[18];
  if (RAND_bytes(bytes, sizeof(bytes)) != 1)
    return Status::Unavailable("The system gives no random numbers.").Retriable();
  return EncodeBase64({reinterpret_cast<const char*>(bytes), sizeof(bytes)});
}

}  // namespace sluice::connectors::kafka::fetch
