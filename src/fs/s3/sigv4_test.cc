// The examples that AWS publishes: "Signature Calculations for the Authorization Header" (S3 API
// reference) for S3, and the "get-vanilla" cases of its Signature Version 4 test suite.
#include "fs/s3/sigv4.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::fs::s3 {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

constexpr char kEmptyHash[] = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
// 2013-05-24T00:00:00Z.
constexpr int64_t kDay = 1369353600000;

const Credentials kExample{.access_key_id = "AKIAIOSFODNN7EXAMPLE",
                           .secret_key = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
                           .session_token = "",
                           .expires_ms = 0,
                           .source = "test"};

SigningRequest Example(std::string method, std::string path, Pairs query, Pairs more_headers,
                       std::string payload) {
  SigningRequest request{std::move(method), std::move(path), std::move(query), {}, payload};
  request.headers = {{"Host", "examplebucket.s3.amazonaws.com"},
                     {"x-amz-content-sha256", payload},
                     {"x-amz-date", "20130524T000000Z"}};
  request.headers.insert(request.headers.end(), more_headers.begin(), more_headers.end());
  return request;
}

std::string Sign(const SigningRequest& request) {
  return Authorization(request, {.region = "us-east-1", .service = "s3", .now_ms = kDay}, kExample);
}

TEST(SigV4Test, GetObjectWithRange) {
  const auto request = Example("GET", "/test.txt", {}, {{"Range", "bytes=0-9"}}, kEmptyHash);
  EXPECT_EQ(CanonicalRequest(request),
            "GET\n/test.txt\n\nhost:examplebucket.s3.amazonaws.com\nrange:bytes=0-9\n"
            "x-amz-content-sha256:" +
                std::string(kEmptyHash) +
                "\nx-amz-date:20130524T000000Z\n\nhost;range;x-amz-content-sha256;x-amz-date\n" +
                kEmptyHash);
  EXPECT_EQ(Sign(request),
            "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, "
            "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date, "
            "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
}

TEST(SigV4Test, PutObject) {
  const auto request = Example(
      "PUT", "/test%24file.text", {},
      {{"Date", "Fri, 24 May 2013 00:00:00 GMT"}, {"x-amz-storage-class", "REDUCED_REDUNDANCY"}},
      Sha256Hex("Welcome to Amazon S3."));
  EXPECT_THAT(Sign(request),
              EndsWith("98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"));
}

TEST(SigV4Test, GetBucketLifecycle) {
  EXPECT_THAT(Sign(Example("GET", "/", {{"lifecycle", ""}}, {}, kEmptyHash)),
              EndsWith("fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"));
}

TEST(SigV4Test, ListObjects) {
  EXPECT_THAT(Sign(Example("GET", "/", {{"prefix", "J"}, {"max-keys", "2"}}, {}, kEmptyHash)),
              EndsWith("34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"));
}

TEST(SigV4Test, GeneralSuite) {
  const Credentials keys{.access_key_id = "AKIDEXAMPLE",
                         .secret_key = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
                         .session_token = "",
                         .expires_ms = 0,
                         .source = "test"};
  const SigningScope scope{.region = "us-east-1", .service = "service", .now_ms = 1440938160000};
  SigningRequest request{
      .method = "GET",
      .path = "/",
      .query = {},
      .headers = {{"Host", "example.amazonaws.com"}, {"X-Amz-Date", "20150830T123600Z"}},
      .payload = kEmptyHash};
  // get-vanilla.
  EXPECT_THAT(Authorization(request, scope, keys),
              EndsWith("5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"));
  // get-vanilla-query-order-key-case: sorted by name.
  request.query = {{"Param2", "value2"}, {"Param1", "value1"}};
  EXPECT_THAT(Authorization(request, scope, keys),
              EndsWith("b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"));
}

TEST(SigV4Test, QueryIsEncoded) {
  EXPECT_EQ(CanonicalQuery({{"prefix", "a b/ü=1"}, {"delimiter", "/"}}),
            "delimiter=%2F&prefix=a%20b%2F%C3%BC%3D1");
}

TEST(SigV4Test, TheSecretIsNowhere) {
  EXPECT_THAT(Sign(Example("GET", "/", {}, {}, kEmptyHash)),
              testing::Not(HasSubstr(kExample.secret_key)));
}

}  // namespace
}  // namespace sluice::fs::s3
