// AWS Signature Version 4 in request headers ("Authenticating Requests: Using the Authorization
// Header", AWS General Reference). Proven by AWS's published examples in sigv4_test.cc.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice::fs::s3 {

struct Credentials {
  std::string access_key_id;
  std::string secret_key;
  std::string session_token;  // Empty: none.
  int64_t expires_ms = 0;     // Wall clock; 0: never, or not known.
  std::string source;         // Where they come from, for messages.
  bool anonymous() const { return access_key_id.empty(); }
};

using Pairs = std::vector<std::pair<std::string, std::string>>;

struct SigningRequest {
  std::string method;
  std::string path;     // Encoded, begins with '/'.
  Pairs query;          // Not encoded.
  Pairs headers;        // All are signed; "host" must be among them.
  std::string payload;  // Hex SHA-256 of the body, or "UNSIGNED-PAYLOAD".
};

struct SigningScope {
  std::string region;
  std::string service = "s3";
  int64_t now_ms = 0;
};

/// "20130524T000000Z".
std::string AmzDate(int64_t now_ms);

std::string CanonicalQuery(const Pairs& query);
std::string CanonicalRequest(const SigningRequest& request);

/// The value of the Authorization header. The caller has put x-amz-date (and x-amz-content-sha256,
/// x-amz-security-token where needed) among the headers.
std::string Authorization(const SigningRequest& request, const SigningScope& scope,
                          const Credentials& credentials);

std::string Sha256Hex(std::string_view bytes);
std::string Md5(std::string_view bytes);  // Raw.
std::string HexText(std::string_view bytes);

inline constexpr std::string_view kUnsignedPayload = "UNSIGNED-PAYLOAD";

}  // namespace sluice::fs::s3
