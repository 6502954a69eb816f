#include "fs/s3/s3_options.h"

#include <cstdlib>
#include <fstream>
#include <thread>

#include "common/log.h"
#include "common/nearest_name.h"
#include "common/text.h"

namespace sluice::fs::s3 {
namespace {

/// A setting and its names behind a prefix such as "fs.s3a."; the first one is ours.
struct Setting {
  std::string_view id;
  std::vector<std::string_view> s3_names;
  std::vector<std::string_view> oss_names;
};

const std::vector<Setting>& Settings() {
  static const std::vector<Setting> kSettings = {
      {"endpoint", {"endpoint", "endpoint.value"}, {"endpoint"}},
      {"region", {"region", "endpoint.region"}, {"region"}},
      {"access-key", {"access-key", "access.key"}, {"accessKeyId"}},
      {"secret-key", {"secret-key", "secret.key"}, {"accessKeySecret"}},
      {"session-token", {"session-token", "session.token"}, {"securityToken"}},
      {"path-style",
       {"path.style.access", "path-style-access"},
       {"path.style.access", "path-style-access"}},
      {"provider", {"aws.credentials.provider", "credentials.provider"}, {"credentials.provider"}},
      {"profile", {"profile"}, {}},
      {"role-arn", {"assumed.role.arn"}, {}},
      {"role-session", {"assumed.role.session.name"}, {}},
      {"sts-endpoint", {"assumed.role.sts.endpoint"}, {}},
      {"tls", {"connection.ssl.enabled"}, {"connection.secure.enabled"}},
      {"ca-file", {"ca.bundle"}, {"ca.bundle"}},
      {"part-size", {"upload.min.part.size"}, {"upload.min.part.size"}},
      {"uploads", {"upload.max.concurrent.uploads"}, {"upload.max.concurrent.uploads"}},
      {"read-ahead", {"read-ahead"}, {"read-ahead"}},
      {"retry-timeout", {"retry.timeout"}, {"retry.timeout"}},
      {"connect-timeout", {"connection.establish.timeout"}, {"connection.establish.timeout"}},
      {"stall-timeout", {"connection.timeout"}, {"connection.timeout"}},
  };
  return kSettings;
}

class SettingsReader {
 public:
  SettingsReader(Dialect dialect, const std::string& bucket, const OptionMap& options)
      : dialect_(dialect), options_(options) {
    if (dialect == Dialect::kS3) {
      for (const char* prefix : {"fs.s3a.bucket.", "s3.bucket."})
        prefixes_.push_back(prefix + bucket + ".");
      prefixes_.insert(prefixes_.end(), {"s3.", "s3a.", "fs.s3a."});
    } else {
      prefixes_ = {"fs.oss.bucket." + bucket + ".", "fs.oss.", "oss."};
    }
  }

  struct Found {
    std::string key;
    std::string value;
  };
  std::optional<Found> Find(std::string_view id) const {
    for (const std::string& prefix : prefixes_) {
      for (const std::string_view name : NamesOf(id)) {
        const auto found = options_.find(prefix + std::string(name));
        if (found == options_.end() || TrimAscii(found->second).empty()) continue;
        return Found{found->first, std::string(TrimAscii(found->second))};
      }
    }
    return std::nullopt;
  }
  std::string Text(std::string_view id, std::string fallback = "") const {
    auto found = Find(id);
    return found ? std::move(found->value) : std::move(fallback);
  }
  template <typename T, typename Parse>
  Status Read(std::string_view id, Parse parse, T* value) const {
    const auto found = Find(id);
    if (!found) return {};
    auto parsed = parse(found->value);
    if (!parsed.ok()) {
      return Status::InvalidArgument("Invalid value for option '" + found->key + "'. " +
                                     parsed.status().message());
    }
    *value = static_cast<T>(*parsed);
    return {};
  }

  /// Refuses what looks like a slip of the pen; tells of others when asked to.
  Status CheckKeys(bool tell) const {
    std::vector<std::string> known;
    for (const Setting& setting : Settings()) {
      for (const std::string_view name :
           dialect_ == Dialect::kS3 ? setting.s3_names : setting.oss_names) {
        for (const std::string& prefix : prefixes_) known.push_back(prefix + std::string(name));
      }
    }
    for (const auto& [key, value] : options_) {
      const bool ours = dialect_ == Dialect::kS3 ? key.starts_with("s3.") || key.starts_with("s3a.")
                                                 : key.starts_with("oss.");
      const bool theirs = key.starts_with(dialect_ == Dialect::kS3 ? "fs.s3a." : "fs.oss.");
      if (!ours && !theirs) continue;
      if (std::find(known.begin(), known.end(), key) != known.end()) continue;
      const std::string hint = DidYouMean(key, known);
      // Keys of other buckets are known to be right or wrong when those are opened.
      if (key.find(".bucket.") != std::string::npos) continue;
      if (!hint.empty()) {
        return Status::InvalidArgument("The option '" + key + "' is not known." + hint);
      }
      if (!tell) continue;
      static LimitedLog log;
      log.Warn("The option '" + key +
               "' has no effect: object stores are reached by Sluice's own "
               "client. See docs/object-stores.md for its options.");
    }
    return {};
  }

 private:
  const std::vector<std::string_view>& NamesOf(std::string_view id) const {
    for (const Setting& setting : Settings()) {
      if (setting.id == id) return dialect_ == Dialect::kS3 ? setting.s3_names : setting.oss_names;
    }
    static const std::vector<std::string_view> kNone;
    return kNone;
  }

  const Dialect dialect_;
  const OptionMap& options_;
  std::vector<std::string> prefixes_;
};

Result<int64_t> ParseCount(std::string_view text) {
  const auto count = ParseInt64(text);
  if (!count || *count < 1 || *count > 1'000) {
    return Status::InvalidArgument("'" + std::string(text) + "' is no number from 1 to 1000.");
  }
  return *count;
}

/// Durations, and bare numbers as the milliseconds that Hadoop means.
Result<int64_t> ParseTimeout(std::string_view text) { return ParseDurationMillis(text); }

Result<int64_t> ParsePartSize(std::string_view text) {
  SLUICE_ASSIGN_OR_RETURN(const int64_t bytes, ParseMemorySize(text));
  constexpr int64_t kLeast = 5 << 20;
  constexpr int64_t kMost = int64_t{5} << 30;
  if (bytes < kLeast || bytes > kMost) {
    return Status::InvalidArgument("'" + std::string(text) +
                                   "' is not from 5 MiB to 5 GiB, what stores accept as a part.");
  }
  return bytes;
}

std::string HostOf(std::string_view endpoint) {
  std::string_view rest = endpoint.substr(endpoint.find("://") + 3);
  if (rest.starts_with("[")) return std::string(rest.substr(0, rest.find(']') + 1));
  return std::string(rest.substr(0, rest.find(':')));
}

/// A bucket cannot be a part of a host name in front of a number or a plain name.
bool NeedsPathStyle(const BucketSettings& settings) {
  const std::string host = HostOf(settings.endpoint);
  const bool is_number = host.find_first_not_of("0123456789.") == std::string::npos;
  const bool plain = host.find('.') == std::string::npos;
  const bool wildcard_fails =
      settings.endpoint.starts_with("https:") && settings.bucket.find('.') != std::string::npos;
  return host.starts_with("[") || is_number || plain || wildcard_fails;
}

Result<std::string> ParseEndpoint(const std::string& text, const std::string& option, bool tls) {
  std::string endpoint = text;
  if (endpoint.find("://") == std::string::npos) {
    endpoint = (tls ? "https://" : "http://") + endpoint;
  }
  while (endpoint.ends_with('/')) endpoint.pop_back();
  const bool web = endpoint.starts_with("http://") || endpoint.starts_with("https://");
  const std::string rest = web ? endpoint.substr(endpoint.find("://") + 3) : "";
  if (rest.empty() || rest.find_first_of("/?#@ ") != std::string::npos) {
    return Status::InvalidArgument("Invalid value for option '" + option + "': '" + text +
                                   "' is no address of a store. Write a host, or "
                                   "http://host:port.");
  }
  return endpoint;
}

/// "oss-cn-hangzhou-internal.aliyuncs.com" lies in "cn-hangzhou".
std::string OssRegion(const std::string& endpoint) {
  std::string host = HostOf(endpoint);
  if (host.starts_with("s3.")) host.erase(0, 3);
  if (!host.starts_with("oss-")) return "";
  std::string region = host.substr(4, host.find('.') - 4);
  if (region.ends_with("-internal")) region.resize(region.size() - 9);
  return region;
}

Status ReadLimits(const SettingsReader& reader, BucketSettings* settings) {
  SLUICE_RETURN_NOT_OK(reader.Read("part-size", ParsePartSize, &settings->part_size_bytes));
  SLUICE_RETURN_NOT_OK(reader.Read("uploads", ParseCount, &settings->concurrent_uploads));
  SLUICE_RETURN_NOT_OK(reader.Read("read-ahead", ParseMemorySize, &settings->read_ahead_bytes));
  SLUICE_RETURN_NOT_OK(reader.Read("retry-timeout", ParseTimeout, &settings->retry_timeout_ms));
  SLUICE_RETURN_NOT_OK(reader.Read("connect-timeout", ParseTimeout, &settings->connect_timeout_ms));
  return reader.Read("stall-timeout", ParseTimeout, &settings->stall_timeout_ms);
}

Status ReadCredentials(const SettingsReader& reader, BucketSettings* settings) {
  const auto key = reader.Find("access-key");
  const auto secret = reader.Find("secret-key");
  if (key.has_value() != secret.has_value()) {
    return Status::InvalidArgument(
        "The option '" + (key ? key->key : secret->key) +
        "' is set alone. An access key and its secret go together: set " + settings->key_options() +
        ".");
  }
  if (key) {
    settings->written = {.access_key_id = key->value,
                         .secret_key = secret->value,
                         .session_token = reader.Text("session-token"),
                         .expires_ms = 0,
                         .source = "the option '" + key->key + "'"};
  }
  for (const std::string& name : SplitListOption(reader.Text("provider"), ',')) {
    if (!name.empty()) settings->providers.push_back(name);
  }
  settings->assumed_role_arn = reader.Text("role-arn");
  settings->assumed_role_session = reader.Text("role-session", "sluice");
  settings->sts_endpoint = reader.Text("sts-endpoint");
  return {};
}

std::string FirstOf(const Environment& environment, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    if (auto value = environment(name); value && !value->empty()) return *value;
  }
  return "";
}

}  // namespace

std::string BucketSettings::endpoint_option() const {
  return dialect == Dialect::kS3 ? "'s3.endpoint'" : "'fs.oss.endpoint'";
}
std::string BucketSettings::key_options() const {
  return dialect == Dialect::kS3 ? "'s3.access-key' and 's3.secret-key'"
                                 : "'fs.oss.accessKeyId' and 'fs.oss.accessKeySecret'";
}
std::string BucketSettings::region_option() const {
  return dialect == Dialect::kS3 ? "'s3.region'" : "'fs.oss.region'";
}

std::optional<std::string> ProcessEnvironment(std::string_view name) {
  const char* value = std::getenv(std::string(name).c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

std::string ProfileFile(const Environment& environment, std::string_view variable,
                        std::string_view name) {
  if (auto path = environment(variable); path && !path->empty()) return *path;
  return environment("HOME").value_or("") + "/.aws/" + std::string(name);
}

OptionMap ReadProfile(const std::string& path, const std::string& profile) {
  OptionMap values;
  std::ifstream file(path);
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    const std::string_view text = TrimAscii(line);
    if (text.empty() || text.starts_with("#") || text.starts_with(";")) continue;
    if (text.starts_with("[")) {
      std::string_view name = TrimAscii(text.substr(1, text.find(']') - 1));
      if (name.starts_with("profile ")) name = TrimAscii(name.substr(8));
      inside = name == profile;
      continue;
    }
    const size_t equals = text.find('=');
    if (!inside || equals == std::string_view::npos) continue;
    values[ToLowerAscii(TrimAscii(text.substr(0, equals)))] =
        std::string(TrimAscii(text.substr(equals + 1)));
  }
  return values;
}

Status CheckStoreOptions(std::string_view scheme, const OptionMap& options) {
  BucketSettings settings;
  settings.dialect = scheme == "oss" ? Dialect::kOss : Dialect::kS3;
  const SettingsReader reader(settings.dialect, "", options);
  SLUICE_RETURN_NOT_OK(reader.CheckKeys(true));
  SLUICE_RETURN_NOT_OK(ReadLimits(reader, &settings));
  SLUICE_RETURN_NOT_OK(ReadCredentials(reader, &settings));
  bool flag = false;
  SLUICE_RETURN_NOT_OK(reader.Read("tls", ParseBooleanOption, &flag));
  if (const auto endpoint = reader.Find("endpoint")) {
    SLUICE_RETURN_NOT_OK(ParseEndpoint(endpoint->value, endpoint->key, flag).status());
  }
  return reader.Read("path-style", ParseBooleanOption, &flag);
}

Result<BucketSettings> ReadBucketSettings(std::string_view scheme, const std::string& bucket,
                                          const OptionMap& options,
                                          const Environment& environment) {
  BucketSettings settings;
  settings.dialect = scheme == "oss" ? Dialect::kOss : Dialect::kS3;
  settings.scheme = scheme;
  settings.bucket = bucket;
  const bool oss = settings.dialect == Dialect::kOss;
  if (oss) settings.part_size_bytes = 10 << 20;
  settings.concurrent_uploads = std::max(4, static_cast<int>(std::thread::hardware_concurrency()));
  const SettingsReader reader(settings.dialect, bucket, options);
  SLUICE_RETURN_NOT_OK(reader.CheckKeys(false));
  if (const auto jindo = options.find("fs.oss.jindo.buckets"); oss && jindo != options.end()) {
    for (const std::string& name : SplitListOption(jindo->second)) {
      if (name != bucket) continue;
      return Status::Unsupported("Bucket '" + bucket +
                                 "' is named in 'fs.oss.jindo.buckets': OSS-HDFS is not offered by "
                                 "Sluice. Use a bucket that is plain OSS.");
    }
  }
  SLUICE_RETURN_NOT_OK(ReadLimits(reader, &settings));
  SLUICE_RETURN_NOT_OK(ReadCredentials(reader, &settings));
  settings.profile = reader.Text("profile");
  if (settings.profile.empty()) settings.profile = environment("AWS_PROFILE").value_or("default");

  OptionMap profile;
  if (!oss) {
    profile = ReadProfile(ProfileFile(environment, "AWS_CONFIG_FILE", "config"), settings.profile);
  }
  settings.ca_file = reader.Text("ca-file", environment("AWS_CA_BUNDLE").value_or(""));
  bool tls = true;
  SLUICE_RETURN_NOT_OK(reader.Read("tls", ParseBooleanOption, &tls));
  std::string endpoint = reader.Text("endpoint");
  if (endpoint.empty() && !oss) {
    endpoint = FirstOf(environment, {"AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"});
    if (endpoint.empty()) endpoint = profile["endpoint_url"];
  }
  if (endpoint.empty() && oss) endpoint = FirstOf(environment, {"OSS_ENDPOINT"});
  settings.region = reader.Text("region");
  if (settings.region.empty() && !oss) {
    settings.region = FirstOf(environment, {"AWS_REGION", "AWS_DEFAULT_REGION"});
    if (settings.region.empty()) settings.region = profile["region"];
  }
  if (endpoint.empty() && oss) {
    return Status::InvalidArgument("oss://" + bucket +
                                   " has no endpoint. Set 'fs.oss.endpoint', for example to "
                                   "'oss-cn-hangzhou.aliyuncs.com'.");
  }
  settings.endpoint_written = !endpoint.empty();
  if (endpoint.empty()) {
    if (settings.region.empty()) settings.region = "us-east-1";
    endpoint = "s3." + settings.region + ".amazonaws.com" +
               (settings.region.starts_with("cn-") ? ".cn" : "");
  }
  SLUICE_ASSIGN_OR_RETURN(settings.endpoint,
                          ParseEndpoint(endpoint, oss ? "fs.oss.endpoint" : "s3.endpoint", tls));
  if (settings.region.empty() && oss) settings.region = OssRegion(settings.endpoint);
  if (settings.region.empty()) settings.region = "us-east-1";
  settings.path_style = NeedsPathStyle(settings);
  if (!settings.path_style) {
    SLUICE_RETURN_NOT_OK(reader.Read("path-style", ParseBooleanOption, &settings.path_style));
  }
  return settings;
}

}  // namespace sluice::fs::s3
