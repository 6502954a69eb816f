#include "fs/s3/credentials.h"

#include <ctime>
#include <fstream>
#include <sstream>

#include <nlohmann/json.hpp>
#include <pugixml.hpp>

#include "common/text.h"

namespace sluice::fs::s3 {
namespace {

// New keys are fetched so long before the old ones end that requests under way are not hit.
constexpr int64_t kRenewAheadMs = 60'000;

/// "2026-01-02T03:04:05Z" in ms; 0 when it is no time.
int64_t ParseUtcTime(const std::string& text) {
  std::tm parts{};
  if (strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S", &parts) == nullptr) return 0;
  return static_cast<int64_t>(timegm(&parts)) * 1000;
}

std::string ReadTextFile(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return std::string(TrimAscii(text.str()));
}

class OptionSource final : public CredentialsSource {
 public:
  explicit OptionSource(Credentials written) : written_(std::move(written)) {}
  std::string_view name() const override { return "options"; }
  Result<Credentials> Load() override { return written_; }

 private:
  const Credentials written_;
};

/// The names of environment variables, first one wins.
class EnvironmentSource final : public CredentialsSource {
 public:
  EnvironmentSource(Environment environment, bool oss)
      : environment_(std::move(environment)), oss_(oss) {}
  std::string_view name() const override { return "environment"; }
  Result<Credentials> Load() override {
    struct Names {
      const char *key, *secret, *token;
    };
    static constexpr Names kS3[] = {
        {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"}};
    static constexpr Names kOss[] = {
        {"OSS_ACCESS_KEY_ID", "OSS_ACCESS_KEY_SECRET", "OSS_SESSION_TOKEN"},
        {"ALIBABA_CLOUD_ACCESS_KEY_ID", "ALIBABA_CLOUD_ACCESS_KEY_SECRET",
         "ALIBABA_CLOUD_SECURITY_TOKEN"}};
    for (const Names& names : oss_ ? std::span<const Names>(kOss) : std::span<const Names>(kS3)) {
      Credentials found{.access_key_id = environment_(names.key).value_or(""),
                        .secret_key = environment_(names.secret).value_or(""),
                        .session_token = environment_(names.token).value_or(""),
                        .expires_ms = 0,
                        .source = std::string("the environment variable ") + names.key};
      if (!found.access_key_id.empty() && !found.secret_key.empty()) return found;
    }
    return Credentials();
  }

 private:
  const Environment environment_;
  const bool oss_;
};

class ProfileSource final : public CredentialsSource {
 public:
  ProfileSource(const Environment& environment, std::string profile)
      : paths_{ProfileFile(environment, "AWS_SHARED_CREDENTIALS_FILE", "credentials"),
               ProfileFile(environment, "AWS_CONFIG_FILE", "config")},
        profile_(std::move(profile)) {}
  std::string_view name() const override { return "profile file"; }
  Result<Credentials> Load() override {
    for (const std::string& path : paths_) {
      OptionMap values = ReadProfile(path, profile_);
      Credentials found{.access_key_id = values["aws_access_key_id"],
                        .secret_key = values["aws_secret_access_key"],
                        .session_token = values["aws_session_token"],
                        .expires_ms = ParseUtcTime(values["aws_expiration"]),
                        .source = "profile '" + profile_ + "' of " + path};
      if (!found.access_key_id.empty() && !found.secret_key.empty()) return found;
    }
    return Credentials();
  }

 private:
  const std::vector<std::string> paths_;
  const std::string profile_;
};

class AnonymousSource final : public CredentialsSource {
 public:
  std::string_view name() const override { return "anonymous"; }
  Result<Credentials> Load() override {
    return Credentials{.access_key_id = "",
                       .secret_key = "",
                       .session_token = "",
                       .expires_ms = 0,
                       .source = "anonymous"};
  }
};

/// Keys as JSON, as containers and instances hand them out.
Result<Credentials> FromJson(const std::string& text, const std::string& source) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object()) {
    return Status::Unavailable("The credentials of " + source + " are no JSON object.");
  }
  const auto get = [&](const char* name) {
    const auto it = json.find(name);
    return it != json.end() && it->is_string() ? it->get<std::string>() : std::string();
  };
  Credentials found{.access_key_id = get("AccessKeyId"),
                    .secret_key = get("SecretAccessKey"),
                    .session_token = get("Token"),
                    .expires_ms = ParseUtcTime(get("Expiration")),
                    .source = source};
  if (found.access_key_id.empty() || found.secret_key.empty()) {
    return Status::Unavailable("The credentials of " + source + " have no access key.");
  }
  return found;
}

class ContainerSource final : public CredentialsSource {
 public:
  ContainerSource(Environment environment, std::shared_ptr<HttpClient> http)
      : environment_(std::move(environment)), http_(std::move(http)) {}
  std::string_view name() const override { return "container"; }
  Result<Credentials> Load() override {
    HttpRequest request;
    request.url = environment_("AWS_CONTAINER_CREDENTIALS_FULL_URI").value_or("");
    if (const auto path = environment_("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"); path) {
      request.url = "http://169.254.170.2" + *path;
    }
    if (request.url.empty()) return Credentials();
    std::string token = environment_("AWS_CONTAINER_AUTHORIZATION_TOKEN").value_or("");
    if (const auto file = environment_("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"); file) {
      token = ReadTextFile(*file);
    }
    if (!token.empty()) request.headers.emplace_back("Authorization", token);
    SLUICE_ASSIGN_OR_RETURN(const HttpResponse response, http_->Send(request));
    if (response.status != 200) {
      return Status::Unavailable("The container's credentials at " + request.url + " answered " +
                                 std::to_string(response.status) + ".");
    }
    return FromJson(response.body, "the container (" + request.url + ")");
  }

 private:
  const Environment environment_;
  const std::shared_ptr<HttpClient> http_;
};

/// The role of a virtual machine (IMDSv2). Not being on one is no error.
class InstanceSource final : public CredentialsSource {
 public:
  explicit InstanceSource(Environment environment) : environment_(std::move(environment)) {}
  std::string_view name() const override { return "instance"; }
  Result<Credentials> Load() override {
    if (EqualsIgnoreCaseAscii(environment_("AWS_EC2_METADATA_DISABLED").value_or(""), "true")) {
      return Credentials();
    }
    const std::string base =
        environment_("AWS_EC2_METADATA_SERVICE_ENDPOINT").value_or("http://169.254.169.254");
    HttpRequest token{.method = "PUT",
                      .url = base + "/latest/api/token",
                      .headers = {{"X-aws-ec2-metadata-token-ttl-seconds", "21600"}},
                      .body = {}};
    const auto answered = http_.Send(token);
    if (!answered.ok() || answered->status != 200) return Credentials();
    const std::string roles = base + "/latest/meta-data/iam/security-credentials/";
    HttpRequest request{.method = "GET",
                        .url = roles,
                        .headers = {{"X-aws-ec2-metadata-token", answered->body}},
                        .body = {}};
    const auto role = http_.Send(request);
    if (!role.ok() || role->status != 200 || role->body.empty()) return Credentials();
    request.url = roles + std::string(TrimAscii(role->body.substr(0, role->body.find('\n'))));
    SLUICE_ASSIGN_OR_RETURN(const HttpResponse keys, http_.Send(request));
    return FromJson(keys.body, "the instance (" + request.url + ")");
  }

 private:
  const Environment environment_;
  // Anywhere but on an instance nobody answers: that must be found out fast.
  HttpClient http_{
      HttpSettings{.connect_timeout_ms = 1'000, .stall_timeout_ms = 2'000, .kept_connections = 1}};
};

/// Keys in an answer of the token service.
Result<Credentials> FromTokenService(const HttpResponse& response, const std::string& what) {
  pugi::xml_document document;
  document.load_buffer(response.body.data(), response.body.size());
  const pugi::xml_node keys = document.find_node(
      [](const pugi::xml_node& node) { return std::string_view(node.name()) == "Credentials"; });
  if (response.status != 200 || !keys) {
    const pugi::xml_node error = document.find_node(
        [](const pugi::xml_node& node) { return std::string_view(node.name()) == "Error"; });
    Status status = Status::IoError(
        "Cannot get keys by " + what + ": the token service answered " +
        std::to_string(response.status) + " " + error.child_value("Code") + " (" +
        Printable(error.child_value("Message")) + "). Check the role and who may assume it.");
    return std::move(status).Retriable(response.status >= 500);
  }
  return Credentials{.access_key_id = keys.child_value("AccessKeyId"),
                     .secret_key = keys.child_value("SecretAccessKey"),
                     .session_token = keys.child_value("SessionToken"),
                     .expires_ms = ParseUtcTime(keys.child_value("Expiration")),
                     .source = what};
}

std::string TokenServiceUrl(const BucketSettings& settings, const Environment& environment) {
  std::string url = settings.sts_endpoint;
  if (url.empty()) url = environment("AWS_ENDPOINT_URL_STS").value_or("");
  if (url.empty()) url = "https://sts." + settings.region + ".amazonaws.com";
  if (url.find("://") == std::string::npos) url = "https://" + url;
  while (url.ends_with('/')) url.pop_back();
  return url;
}

class WebIdentitySource final : public CredentialsSource {
 public:
  WebIdentitySource(const BucketSettings& settings, Environment environment,
                    std::shared_ptr<HttpClient> http)
      : url_(TokenServiceUrl(settings, environment)),
        environment_(std::move(environment)),
        http_(std::move(http)) {}
  std::string_view name() const override { return "web identity"; }
  Result<Credentials> Load() override {
    const auto file = environment_("AWS_WEB_IDENTITY_TOKEN_FILE");
    const auto role = environment_("AWS_ROLE_ARN");
    if (!file || !role) return Credentials();
    const Pairs query = {
        {"Action", "AssumeRoleWithWebIdentity"},
        {"Version", "2011-06-15"},
        {"RoleArn", *role},
        {"RoleSessionName", environment_("AWS_ROLE_SESSION_NAME").value_or("sluice")},
        {"WebIdentityToken", ReadTextFile(*file)}};
    SLUICE_ASSIGN_OR_RETURN(const HttpResponse response,
                            http_->Send({.method = "GET",
                                         .url = url_ + "/?" + CanonicalQuery(query),
                                         .headers = {},
                                         .body = {}}));
    return FromTokenService(response, "the web identity of " + *role);
  }

 private:
  const std::string url_;
  const Environment environment_;
  const std::shared_ptr<HttpClient> http_;
};

/// Exchanges the keys of another provider for those of a role.
class RoleSource final : public CredentialsSource {
 public:
  RoleSource(const BucketSettings& settings, const Environment& environment,
             std::unique_ptr<CredentialsProvider> base, std::shared_ptr<HttpClient> http,
             const Clock* clock)
      : url_(TokenServiceUrl(settings, environment)),
        role_(settings.assumed_role_arn),
        session_(settings.assumed_role_session),
        region_(settings.region),
        base_(std::move(base)),
        http_(std::move(http)),
        clock_(*clock) {}
  std::string_view name() const override { return "assumed role"; }
  Result<Credentials> Load() override {
    SLUICE_ASSIGN_OR_RETURN(const Credentials keys, base_->Get());
    SigningRequest request{.method = "GET",
                           .path = "/",
                           .query = {{"Action", "AssumeRole"},
                                     {"Version", "2011-06-15"},
                                     {"RoleArn", role_},
                                     {"RoleSessionName", session_}},
                           .headers = {},
                           .payload = Sha256Hex("")};
    const int64_t now_ms = clock_.NowMillis();
    request.headers = {{"host", url_.substr(url_.find("://") + 3)},
                       {"x-amz-date", AmzDate(now_ms)}};
    if (!keys.session_token.empty()) {
      request.headers.emplace_back("x-amz-security-token", keys.session_token);
    }
    HttpRequest sent{.method = "GET",
                     .url = url_ + "/?" + CanonicalQuery(request.query),
                     .headers = request.headers,
                     .body = {}};
    sent.headers.emplace_back(
        "Authorization",
        Authorization(request, {.region = region_, .service = "sts", .now_ms = now_ms}, keys));
    SLUICE_ASSIGN_OR_RETURN(const HttpResponse response, http_->Send(sent));
    return FromTokenService(response, "the role " + role_);
  }

 private:
  const std::string url_;
  const std::string role_;
  const std::string session_;
  const std::string region_;
  const std::unique_ptr<CredentialsProvider> base_;
  const std::shared_ptr<HttpClient> http_;
  const Clock& clock_;
};

using Sources = std::vector<std::unique_ptr<CredentialsSource>>;

struct Maker {
  const BucketSettings& settings;
  const Environment& environment;
  std::shared_ptr<HttpClient> http;

  std::unique_ptr<CredentialsSource> Options() const {
    return std::make_unique<OptionSource>(settings.written);
  }
  std::unique_ptr<CredentialsSource> FromEnvironment() const {
    return std::make_unique<EnvironmentSource>(environment, settings.dialect == Dialect::kOss);
  }

  void AddUsual(Sources* sources) const {
    sources->push_back(Options());
    sources->push_back(FromEnvironment());
    if (settings.dialect == Dialect::kOss) return;
    sources->push_back(std::make_unique<WebIdentitySource>(settings, environment, http));
    sources->push_back(std::make_unique<ProfileSource>(environment, settings.profile));
    sources->push_back(std::make_unique<ContainerSource>(environment, http));
    sources->push_back(std::make_unique<InstanceSource>(environment));
  }

  /// By the last part of a Java class name.
  Status AddNamed(const std::string& class_name, Sources* sources) const {
    const std::string name = class_name.substr(class_name.find_last_of(".$") + 1);
    if (name.starts_with("Anonymous")) {
      sources->push_back(std::make_unique<AnonymousSource>());
    } else if (name.starts_with("SimpleAWS") || name.starts_with("TemporaryAWS") ||
               name.starts_with("AliyunCredentials")) {
      sources->push_back(Options());
    } else if (name.starts_with("EnvironmentVariable")) {
      sources->push_back(FromEnvironment());
    } else if (name.starts_with("Profile")) {
      sources->push_back(std::make_unique<ProfileSource>(environment, settings.profile));
    } else if (name.starts_with("WebIdentity")) {
      sources->push_back(std::make_unique<WebIdentitySource>(settings, environment, http));
    } else if (name.starts_with("IAMInstance") || name.starts_with("InstanceProfile") ||
               name.starts_with("ContainerCredentials") || name.starts_with("EC2Container")) {
      sources->push_back(std::make_unique<ContainerSource>(environment, http));
      sources->push_back(std::make_unique<InstanceSource>(environment));
    } else if (name.starts_with("AssumedRole")) {
      if (settings.assumed_role_arn.empty()) {
        return Status::InvalidArgument(
            "A credentials provider of assumed roles needs 'fs.s3a.assumed.role.arn'.");
      }
    } else if (name.starts_with("DefaultCredentials") || name.starts_with("DefaultAWS")) {
      AddUsual(sources);
    } else {
      return Status::InvalidArgument(
          "The credentials provider '" + class_name +
          "' has no counterpart in Sluice. Known: AnonymousAWSCredentialsProvider, "
          "SimpleAWSCredentialsProvider, TemporaryAWSCredentialsProvider, "
          "EnvironmentVariableCredentialsProvider, ProfileCredentialsProvider, "
          "WebIdentityTokenFileCredentialsProvider, IAMInstanceCredentialsProvider, "
          "AssumedRoleCredentialProvider, DefaultCredentialsProvider.");
    }
    return {};
  }
};

std::string NothingFound(const BucketSettings& settings) {
  const std::string where =
      settings.dialect == Dialect::kOss
          ? "the environment (OSS_ACCESS_KEY_ID, OSS_ACCESS_KEY_SECRET)"
          : "the environment (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY), profile '" +
                settings.profile + "' of ~/.aws/credentials, container and instance role";
  return "No access key for " + settings.scheme + "://" + settings.bucket + " at " +
         settings.endpoint + ". Looked in the options and in " + where + ". Set " +
         settings.key_options() + ".";
}

}  // namespace

Status CredentialsProvider::Load() {
  for (const auto& source : sources_) {
    SLUICE_ASSIGN_OR_RETURN(Credentials found, source->Load());
    if (found.anonymous() && source->name() != "anonymous") continue;
    current_ = std::move(found);
    loaded_ = true;
    return {};
  }
  return Status::InvalidArgument(nothing_found_);
}

Result<Credentials> CredentialsProvider::Get() {
  const std::lock_guard lock(mutex_);
  const bool ends =
      current_.expires_ms != 0 && clock_.NowMillis() >= current_.expires_ms - kRenewAheadMs;
  if (!loaded_ || ends) {
    const Status status = Load();
    // Keys that still work for a moment are better than none.
    const bool usable = loaded_ && clock_.NowMillis() < current_.expires_ms;
    if (!status.ok() && !usable) return status;
  }
  return current_;
}

Result<bool> CredentialsProvider::Renew(const Credentials& refused) {
  const std::lock_guard lock(mutex_);
  const auto differs = [&] {
    return current_.access_key_id != refused.access_key_id ||
           current_.secret_key != refused.secret_key ||
           current_.session_token != refused.session_token;
  };
  if (loaded_ && differs()) return true;  // Another thread was faster.
  SLUICE_RETURN_NOT_OK(Load());
  return differs();
}

Result<std::unique_ptr<CredentialsProvider>> MakeCredentialsProvider(
    const BucketSettings& settings, const Environment& environment,
    std::shared_ptr<HttpClient> http, const Clock* clock) {
  const Maker maker{settings, environment, http};
  Sources sources;
  for (const std::string& name : settings.providers) {
    SLUICE_RETURN_NOT_OK(maker.AddNamed(name, &sources));
  }
  if (sources.empty()) maker.AddUsual(&sources);
  auto provider =
      std::make_unique<CredentialsProvider>(std::move(sources), clock, NothingFound(settings));
  if (settings.assumed_role_arn.empty()) return provider;
  Sources role;
  role.push_back(std::make_unique<RoleSource>(settings, environment, std::move(provider),
                                              std::move(http), clock));
  return std::make_unique<CredentialsProvider>(std::move(role), clock, NothingFound(settings));
}

}  // namespace sluice::fs::s3
