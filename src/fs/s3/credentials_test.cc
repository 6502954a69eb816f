#include "fs/s3/credentials.h"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fs/s3/scripted_store.h"

namespace sluice::fs::s3 {
namespace {

using testing::AllOf;
using testing::HasSubstr;

using Server = ScriptedStore;
using Variables = std::map<std::string, std::string, std::less<>>;

Environment Of(Variables variables) {
  return [variables = std::move(variables)](std::string_view name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  };
}

struct Provider {
  Provider(const OptionMap& options, Variables variables, const Clock* clock = &Clock::System(),
           std::string_view scheme = "s3") {
    variables.emplace("AWS_EC2_METADATA_DISABLED", "true");
    variables.emplace("HOME", "/nowhere");
    const Environment environment = Of(std::move(variables));
    auto settings = ReadBucketSettings(scheme, "lake", options, environment);
    EXPECT_TRUE(settings.ok()) << settings.status().ToString();
    auto made = MakeCredentialsProvider(*settings, environment,
                                        std::make_shared<HttpClient>(HttpSettings{}), clock);
    status = made.status();
    if (made.ok()) provider = std::move(*made);
  }
  Result<Credentials> Get() { return provider->Get(); }
  Status status;
  std::unique_ptr<CredentialsProvider> provider;
};

std::string Json(const std::string& key, const std::string& expiration) {
  return R"({"AccessKeyId": ")" + key +
         R"(", "SecretAccessKey": "s", "Token": "t", "Expiration": ")" + expiration + "\"}";
}

TEST(CredentialsTest, OptionsThenEnvironment) {
  const Variables variables = {
      {"AWS_ACCESS_KEY_ID", "ENV"}, {"AWS_SECRET_ACCESS_KEY", "s"}, {"AWS_SESSION_TOKEN", "t"}};
  Provider both({{"s3.access-key", "OPTION"}, {"s3.secret-key", "s"}}, variables);
  EXPECT_EQ(both.Get()->access_key_id, "OPTION");
  Provider environment({}, variables);
  EXPECT_EQ(environment.Get()->access_key_id, "ENV");
  EXPECT_EQ(environment.Get()->session_token, "t");
}

TEST(CredentialsTest, OssHasItsOwnVariables) {
  Provider provider({{"fs.oss.endpoint", "oss-cn-hangzhou.aliyuncs.com"}},
                    {{"OSS_ACCESS_KEY_ID", "OSS"}, {"OSS_ACCESS_KEY_SECRET", "s"}},
                    &Clock::System(), "oss");
  EXPECT_EQ(provider.Get()->access_key_id, "OSS");
}

TEST(CredentialsTest, KeysThatEndAreFetchedBeforeTheyDo) {
  int count = 0;
  Server server([&](const Server::Request& request) {
    EXPECT_THAT(request.head, HasSubstr("Authorization: pass"));
    return Server::Http(200, Json("KEY" + std::to_string(++count), "2026-01-01T01:00:00Z"));
  });
  VirtualClock clock(1767225600000);  // 2026-01-01T00:00:00Z.
  Provider provider({},
                    {{"AWS_CONTAINER_CREDENTIALS_FULL_URI", server.endpoint() + "/keys"},
                     {"AWS_CONTAINER_AUTHORIZATION_TOKEN", "pass"}},
                    &clock);
  EXPECT_EQ(provider.Get()->access_key_id, "KEY1");
  EXPECT_EQ(provider.Get()->access_key_id, "KEY1");
  EXPECT_EQ(provider.Get()->expires_ms, 1767229200000);
  clock.AdvanceMillis(59 * 60'000 + 1);
  EXPECT_EQ(provider.Get()->access_key_id, "KEY2");
}

TEST(CredentialsTest, AnInstanceHandsOutTheKeysOfItsRole) {
  Server server([](const Server::Request& request) {
    if (request.line.starts_with("PUT /latest/api/token")) return Server::Http(200, "pass");
    EXPECT_THAT(request.head, HasSubstr("X-aws-ec2-metadata-token: pass"));
    return request.line.find("security-credentials/lake-role") != std::string::npos
               ? Server::Http(200, Json("INSTANCE", ""))
               : Server::Http(200, "lake-role\n");
  });
  Provider provider({}, {{"AWS_EC2_METADATA_DISABLED", "false"},
                         {"AWS_EC2_METADATA_SERVICE_ENDPOINT", server.endpoint()}});
  EXPECT_EQ(provider.Get()->access_key_id, "INSTANCE");
}

TEST(CredentialsTest, Roles) {
  Server server([](const Server::Request& request) {
    const bool web = request.line.find("AssumeRoleWithWebIdentity") != std::string::npos;
    EXPECT_EQ(request.head.find("Authorization: AWS4-HMAC-SHA256") == std::string::npos, web);
    if (web) {
      EXPECT_THAT(request.line, HasSubstr("WebIdentityToken=identity"));
    } else {
      EXPECT_THAT(request.head, HasSubstr("/sts/aws4_request"));
    }
    return Server::Http(200, std::string("<R><Result><Credentials><AccessKeyId>") +
                                 (web ? "WEB" : "ROLE") +
                                 "</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>t"
                                 "</SessionToken></Credentials></Result></R>");
  });
  const std::string file = testing::TempDir() + "/sluice_web_identity";
  std::ofstream(file) << "identity\n";
  Provider web({{"s3.assumed.role.sts.endpoint", server.endpoint()}},
               {{"AWS_WEB_IDENTITY_TOKEN_FILE", file}, {"AWS_ROLE_ARN", "arn:role"}});
  EXPECT_EQ(web.Get()->access_key_id, "WEB");
  Provider role({{"fs.s3a.assumed.role.arn", "arn:role"},
                 {"fs.s3a.assumed.role.sts.endpoint", server.endpoint()},
                 {"s3.access-key", "a"},
                 {"s3.secret-key", "b"}},
                {});
  EXPECT_EQ(role.Get()->access_key_id, "ROLE");
}

TEST(CredentialsTest, ARoleThatMayNotBeHad) {
  Server server([](const Server::Request&) {
    return Server::Http(403,
                        "<ErrorResponse><Error><Code>AccessDenied</Code><Message>not you</Message>"
                        "</Error></ErrorResponse>");
  });
  Provider role({{"s3.assumed.role.arn", "arn:role"},
                 {"s3.assumed.role.sts.endpoint", server.endpoint()},
                 {"s3.access-key", "a"},
                 {"s3.secret-key", "b"}},
                {});
  const Status status = role.Get().status();
  EXPECT_FALSE(status.retriable());
  EXPECT_THAT(status.message(), AllOf(HasSubstr("arn:role"), HasSubstr("AccessDenied (not you)")));
}

TEST(CredentialsTest, ProviderClasses) {
  const OptionMap keys = {{"s3.access-key", "OPTION"}, {"s3.secret-key", "s"}};
  const auto with = [&](const std::string& classes) {
    OptionMap options = keys;
    options["fs.s3a.aws.credentials.provider"] = classes;
    return options;
  };
  const Variables variables = {{"AWS_ACCESS_KEY_ID", "ENV"}, {"AWS_SECRET_ACCESS_KEY", "s"}};
  Provider environment(with("com.amazonaws.auth.EnvironmentVariableCredentialsProvider"),
                       variables);
  EXPECT_EQ(environment.Get()->access_key_id, "ENV");
  Provider simple(with("org.apache.hadoop.fs.s3a.SimpleAWSCredentialsProvider"), variables);
  EXPECT_EQ(simple.Get()->access_key_id, "OPTION");
  Provider anonymous(with("org.apache.hadoop.fs.s3a.AnonymousAWSCredentialsProvider"), variables);
  EXPECT_TRUE(anonymous.Get()->anonymous());
  Provider unknown(with("com.example.Mine"), variables);
  EXPECT_THAT(unknown.status.message(), HasSubstr("'com.example.Mine' has no counterpart"));
}

TEST(CredentialsTest, ProfilesOfBothFiles) {
  const std::string file = testing::TempDir() + "/sluice_profiles";
  std::ofstream(file) << "# comment\n[default]\nregion = x\n[profile work]\n"
                         "aws_access_key_id=WORK\naws_secret_access_key = s = s\n";
  const OptionMap profile = ReadProfile(file, "work");
  EXPECT_EQ(profile.at("aws_access_key_id"), "WORK");
  EXPECT_EQ(profile.at("aws_secret_access_key"), "s = s");
  EXPECT_TRUE(ReadProfile(file, "other").empty());
  EXPECT_TRUE(ReadProfile("/nowhere/at/all", "work").empty());
  Provider provider({{"s3.profile", "work"}}, {{"AWS_CONFIG_FILE", file}});
  EXPECT_EQ(provider.Get()->access_key_id, "WORK");
}

}  // namespace
}  // namespace sluice::fs::s3
