#include "fs/s3/s3_client.h"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fs/s3/scripted_store.h"

namespace sluice::fs::s3 {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

using Store = ScriptedStore;

Environment NoEnvironment() {
  return [](std::string_view) { return std::optional<std::string>(); };
}

struct Client {
  explicit Client(const std::string& endpoint, OptionMap more = {},
                  Environment environment = NoEnvironment()) {
    OptionMap options = {{"s3.endpoint", endpoint},
                         {"s3.access-key", "AKIDTEST"},
                         {"s3.secret-key", "verysecret"},
                         {"s3.retry.timeout", "3 s"},
                         {"s3.connection.timeout", "1 s"}};
    for (auto& [key, value] : more) options[key] = value;
    auto settings = ReadBucketSettings("s3", "lake", options, environment);
    EXPECT_TRUE(settings.ok()) << settings.status().ToString();
    auto http = std::make_shared<HttpClient>(
        HttpSettings{.connect_timeout_ms = 1'000, .stall_timeout_ms = settings->stall_timeout_ms});
    auto credentials = MakeCredentialsProvider(*settings, environment, http, &Clock::System());
    EXPECT_TRUE(credentials.ok());
    client = std::make_unique<S3Client>(*settings, std::move(*credentials), http, &Clock::System());
  }
  S3Client* operator->() { return client.get(); }
  std::unique_ptr<S3Client> client;
};

Status PutHello(Client& client, S3Client::IfExists if_exists = S3Client::IfExists::kReplace) {
  return client->Put("a/b c", "hello", if_exists);
}

TEST(S3ClientTest, SignsAndEncodes) {
  Store store([](const Store::Request&) { return Store::Http(200, ""); });
  Client client(store.endpoint());
  ASSERT_TRUE(client->Put("k=50%25/ü", "hello", S3Client::IfExists::kFail).ok());
  const auto request = store.requests().at(0);
  EXPECT_EQ(request.line, "PUT /lake/k%3D50%2525/%C3%BC HTTP/1.1");
  EXPECT_EQ(request.body, "hello");
  EXPECT_THAT(request.head, AllOf(HasSubstr("Authorization: AWS4-HMAC-SHA256 Credential=AKIDTEST/"),
                                  HasSubstr("if-none-match: *"),
                                  HasSubstr("x-amz-content-sha256: " + Sha256Hex("hello"))));
  // 12.4: no trailing checksum, no chunked signing.
  EXPECT_THAT(request.head, AllOf(Not(HasSubstr("railer")), Not(HasSubstr("aws-chunked")),
                                  Not(HasSubstr("Expect")), Not(HasSubstr("verysecret"))));
}

TEST(S3ClientTest, Pitfall12_5_RetriesWhatCanHeal) {
  // A refusal, a lost connection, a cut answer, a silence, an error inside a 200; then all is well.
  int calls = 0;
  Store store([&](const Store::Request&) -> std::string {
    switch (calls++) {
      case 0:
        return Store::Error(503, "SlowDown");
      case 1:
        return "";
      case 2:
        return "HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\nshort";
      case 3:
        return Store::Http(429, "");
      case 4:
        return Store::Error(500, "InternalError");
      case 5:
        return Store::Error(200, "InternalError");
      default:
        return Store::Http(200, "<CompleteMultipartUploadResult/>");
    }
  });
  Client client(store.endpoint(), {{"s3.retry.timeout", "1 min"}});
  const Status status = client->CompleteUpload("k", "u", {{1, "e", 5}});
  EXPECT_TRUE(status.ok()) << status.ToString();
  EXPECT_EQ(calls, 7);
  EXPECT_EQ(client->retries(), 6);
}

TEST(S3ClientTest, RetriesEnd) {
  Store store([](const Store::Request&) { return Store::Error(503, "SlowDown"); });
  Client client(store.endpoint(), {{"s3.retry.timeout", "1 s"}});
  const Status status = PutHello(client);
  EXPECT_EQ(status.code(), StatusCode::kUnavailable);
  EXPECT_TRUE(status.retriable());
  EXPECT_THAT(status.message(), AllOf(HasSubstr("503 SlowDown"), HasSubstr("s3.retry.timeout")));
  EXPECT_GE(store.requests().size(), 3u);
}

TEST(S3ClientTest, AFullStoreIsAskedAgainAndSaysWhatToDo) {
  struct Case {
    int status;
    std::string code;
  };
  for (const Case& test :
       {Case{403, "QuotaExceeded"}, Case{400, "XMinioAdminBucketQuotaExceeded"}, Case{507, ""}}) {
    int asked = 0;
    Store store([&](const Store::Request&) {
      return ++asked < 3 ? Store::Error(test.status, test.code) : Store::Http(200, "");
    });
    Client client(store.endpoint());
    EXPECT_TRUE(PutHello(client).ok()) << test.code;
    EXPECT_EQ(asked, 3) << test.code;
    Store full([&](const Store::Request&) { return Store::Error(test.status, test.code); });
    Client never(full.endpoint(), {{"s3.retry.timeout", "1 s"}});
    const Status status = PutHello(never);
    EXPECT_TRUE(status.retriable()) << test.code;
    EXPECT_THAT(status.message(), AllOf(HasSubstr("The quota of the bucket 'lake'"),
                                        HasSubstr("free space there"), HasSubstr(test.code)));
  }
}

TEST(S3ClientTest, Pitfall17_4_ErrorsSayWhatWhereWhoAndWhatToDo) {
  struct Case {
    int status;
    std::string code;
    StatusCode expected;
    std::string remedy;
  };
  const Case cases[] = {
      {403, "AccessDenied", StatusCode::kIoError, "Grant this access key"},
      {403, "InvalidAccessKeyId", StatusCode::kIoError, "Check 's3.access-key'"},
      {403, "SignatureDoesNotMatch", StatusCode::kIoError, "the option 's3.access-key'"},
      {403, "RequestTimeTooSkewed", StatusCode::kIoError, "Set the machine's clock"},
      {404, "NoSuchBucket", StatusCode::kIoError, "Create the bucket 'lake'"},
      {400, "ExpiredToken", StatusCode::kIoError, "have expired"},
      {301, "PermanentRedirect", StatusCode::kIoError, "'s3.region'"},
      {404, "NoSuchKey", StatusCode::kNotFound, ""},
      {404, "NoSuchUpload", StatusCode::kNotFound, ""},
      {412, "PreconditionFailed", StatusCode::kAlreadyExists, ""},
      {400, "EntityTooSmall", StatusCode::kIoError, ""},
      {400, "KeyTooLongError", StatusCode::kIoError, "shorten the partition value"},
      {400, "InvalidBucketName", StatusCode::kIoError, "correct 'path'"},
      {403, "InvalidObjectState", StatusCode::kIoError, "restore it there"},
  };
  for (const Case& test : cases) {
    Store store([&](const Store::Request&) { return Store::Error(test.status, test.code); });
    Client client(store.endpoint());
    const Status status = PutHello(client);
    EXPECT_EQ(status.code(), test.expected) << test.code;
    EXPECT_FALSE(status.retriable()) << test.code;
    EXPECT_THAT(status.message(),
                AllOf(HasSubstr("PutObject s3://lake/a/b c"), HasSubstr(test.code),
                      HasSubstr(store.endpoint()), HasSubstr("AKIDTEST"), HasSubstr(test.remedy),
                      Not(HasSubstr("verysecret"))))
        << test.code;
    EXPECT_EQ(store.requests().size(), 1u) << test.code;
  }
}

TEST(S3ClientTest, AsksInTheBucketsRegion) {
  Store store([](const Store::Request& request) {
    return request.head.find("/eu-west-3/s3/") != std::string::npos
               ? Store::Http(200, "")
               : Store::Error(400, "AuthorizationHeaderMalformed", "<Region>eu-west-3</Region>");
  });
  Client client(store.endpoint());
  EXPECT_TRUE(PutHello(client).ok());
  EXPECT_TRUE(PutHello(client).ok());
  EXPECT_EQ(store.requests().size(), 3u);  // It is remembered.
}

TEST(S3ClientTest, ReadsKeysAgainWhenTheyExpire) {
  const std::string file = testing::TempDir() + "/sluice_credentials_test";
  const auto write = [&](const std::string& key) {
    std::ofstream(file) << "[default]\naws_access_key_id = " << key
                        << "\naws_secret_access_key = s\naws_session_token = t\n";
  };
  write("OLDKEY");
  Store store([&](const Store::Request& request) {
    if (request.head.find("NEWKEY") != std::string::npos) return Store::Http(200, "");
    write("NEWKEY");
    return Store::Error(400, "ExpiredToken");
  });
  const Environment environment = [&](std::string_view name) -> std::optional<std::string> {
    if (name == "AWS_SHARED_CREDENTIALS_FILE") return file;
    if (name == "AWS_EC2_METADATA_DISABLED") return "true";
    return std::nullopt;
  };
  Client client(store.endpoint(), {{"s3.access-key", ""}, {"s3.secret-key", ""}}, environment);
  EXPECT_TRUE(PutHello(client).ok());
  EXPECT_EQ(store.requests().size(), 2u);
  EXPECT_THAT(store.requests().back().head, HasSubstr("x-amz-security-token: t"));
  std::filesystem::remove(file);
}

TEST(S3ClientTest, NoKeysAtAll) {
  const Environment environment = [](std::string_view name) -> std::optional<std::string> {
    if (name == "AWS_EC2_METADATA_DISABLED") return "true";
    return std::nullopt;
  };
  Client client("http://127.0.0.1:1", {{"s3.access-key", ""}, {"s3.secret-key", ""}}, environment);
  EXPECT_THAT(PutHello(client).ToString(),
              AllOf(HasSubstr("No access key for s3://lake"), HasSubstr("AWS_ACCESS_KEY_ID")));
}

TEST(S3ClientTest, NobodyThere) {
  Client client("http://127.0.0.1:1", {{"s3.retry.timeout", "1 s"}});
  const Status status = PutHello(client);
  EXPECT_EQ(status.code(), StatusCode::kUnavailable);
  EXPECT_THAT(status.message(),
              AllOf(HasSubstr("http://127.0.0.1:1 cannot be reached"), HasSubstr("'s3.endpoint'")));
}

TEST(S3ClientTest, StoresWithoutConditionsReplace) {
  Store store([](const Store::Request& request) {
    return request.head.find("if-none-match") != std::string::npos
               ? Store::Error(501, "NotImplemented")
               : Store::Http(200, "");
  });
  Client client(store.endpoint());
  EXPECT_TRUE(PutHello(client, S3Client::IfExists::kFail).ok());
  EXPECT_TRUE(PutHello(client, S3Client::IfExists::kFail).ok());
  EXPECT_EQ(store.requests().size(), 3u);  // It is remembered.
}

TEST(S3ClientTest, Ranges) {
  const std::string object = "0123456789";
  bool knows_ranges = true;
  Store store([&](const Store::Request&) {
    return knows_ranges ? Store::Http(206, object.substr(2, 3), "Content-Range: bytes 2-4/10\r\n")
                        : Store::Http(200, object);
  });
  Client client(store.endpoint());
  for (const bool ranges : {true, false}) {
    knows_ranges = ranges;
    const auto range = client->Get("k", 2, 3);
    ASSERT_TRUE(range.ok()) << range.status().ToString();
    EXPECT_EQ(range->bytes, "234");
    EXPECT_EQ(range->object_size_bytes, 10);
  }
  EXPECT_THAT(store.requests().at(0).head, HasSubstr("range: bytes=2-4"));
}

TEST(S3ClientTest, AnErrorDocumentMayBeAnObject) {
  const std::string object = "<Error><Code>InternalError</Code></Error>";
  Store store([&](const Store::Request&) { return Store::Http(200, object); });
  Client client(store.endpoint());
  const auto range = client->Get("k", 0, 100);
  ASSERT_TRUE(range.ok());
  EXPECT_EQ(range->bytes, object);
}

TEST(S3ClientTest, ListsPageByPage) {
  Store store([](const Store::Request& request) {
    return request.line.find("key-marker=k1") == std::string::npos
               ? Store::Http(200,
                             "<ListMultipartUploadsResult><IsTruncated>true</IsTruncated>"
                             "<NextKeyMarker>k1</NextKeyMarker><NextUploadIdMarker>u1"
                             "</NextUploadIdMarker><Upload><Key>k1</Key><UploadId>u1</UploadId>"
                             "</Upload></ListMultipartUploadsResult>")
               : Store::Http(200,
                             "<ListMultipartUploadsResult><Upload><Key>k2</Key><UploadId>u2"
                             "</UploadId></Upload></ListMultipartUploadsResult>");
  });
  Client client(store.endpoint());
  const auto uploads = client->ListUploads("t/");
  ASSERT_TRUE(uploads.ok());
  EXPECT_EQ(uploads->size(), 2u);
}

TEST(S3OptionsTest, Names) {
  const OptionMap options = {{"fs.s3a.endpoint", "store.example.com"},
                             {"s3.path-style-access", "true"},
                             {"s3.access.key", "a"},
                             {"fs.s3a.secret.key", "b"},
                             {"fs.s3a.bucket.other.access.key", "c"},
                             {"fs.s3a.bucket.other.secret.key", "d"},
                             {"s3.endpoint.region", "eu-north-1"},
                             {"fs.s3a.fast.upload", "true"}};  // Hadoop's own: no effect.
  const auto lake = ReadBucketSettings("s3a", "lake", options, NoEnvironment());
  ASSERT_TRUE(lake.ok()) << lake.status().ToString();
  EXPECT_EQ(lake->endpoint, "https://store.example.com");
  EXPECT_TRUE(lake->path_style);
  EXPECT_EQ(lake->region, "eu-north-1");
  EXPECT_EQ(lake->written.access_key_id, "a");
  EXPECT_EQ(lake->written.secret_key, "b");
  const auto other = ReadBucketSettings("s3", "other", options, NoEnvironment());
  ASSERT_TRUE(other.ok());
  EXPECT_EQ(other->written.access_key_id, "c");
}

TEST(S3OptionsTest, Oss) {
  const OptionMap options = {{"fs.oss.endpoint", "oss-cn-hangzhou-internal.aliyuncs.com"},
                             {"fs.oss.accessKeyId", "a"},
                             {"fs.oss.accessKeySecret", "b"},
                             {"fs.oss.bucket.two.accessKeyId", "c"},
                             {"fs.oss.bucket.two.accessKeySecret", "d"},
                             {"fs.oss.bucket.two.endpoint", "oss-cn-beijing.aliyuncs.com"}};
  const auto one = ReadBucketSettings("oss", "one", options, NoEnvironment());
  ASSERT_TRUE(one.ok()) << one.status().ToString();
  EXPECT_EQ(one->endpoint, "https://oss-cn-hangzhou-internal.aliyuncs.com");
  EXPECT_EQ(one->region, "cn-hangzhou");
  EXPECT_FALSE(one->path_style);
  EXPECT_EQ(one->part_size_bytes, 10 << 20);
  const auto two = ReadBucketSettings("oss", "two", options, NoEnvironment());
  ASSERT_TRUE(two.ok());
  EXPECT_EQ(two->written.access_key_id, "c");
  EXPECT_EQ(two->region, "cn-beijing");
  EXPECT_THAT(ReadBucketSettings("oss", "one", {}, NoEnvironment()).status().message(),
              HasSubstr("Set 'fs.oss.endpoint'"));
}

TEST(S3OptionsTest, WrongOnes) {
  const std::pair<OptionMap, std::string> cases[] = {
      {{{"s3.acces-key", "a"}}, "Did you mean 's3.access-key'?"},
      {{{"s3.access-key", "a"}}, "go together"},
      {{{"s3.endpoint", "http://h/bucket"}}, "is no address of a store"},
      {{{"s3.endpoint", "ftp://h"}}, "is no address of a store"},
      {{{"s3.upload.min.part.size", "1 mb"}}, "5 MiB to 5 GiB"},
      {{{"s3.path.style.access", "yes"}}, "s3.path.style.access"},
  };
  for (const auto& [options, expected] : cases) {
    const auto settings = ReadBucketSettings("s3", "lake", options, NoEnvironment());
    EXPECT_THAT(settings.status().message(), HasSubstr(expected));
    EXPECT_THAT(CheckStoreOptions("s3", options).message(), HasSubstr(expected));
  }
}

TEST(S3OptionsTest, EnvironmentAndAmazon) {
  const Environment environment = [](std::string_view name) -> std::optional<std::string> {
    if (name == "AWS_REGION") return "eu-central-1";
    return std::nullopt;
  };
  const auto settings = ReadBucketSettings("s3", "my.lake", {}, environment);
  ASSERT_TRUE(settings.ok());
  EXPECT_EQ(settings->endpoint, "https://s3.eu-central-1.amazonaws.com");
  EXPECT_TRUE(settings->path_style);  // The certificate's wildcard does not cover "my.lake.s3".
}

}  // namespace
}  // namespace sluice::fs::s3
