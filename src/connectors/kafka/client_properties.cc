#include "connectors/kafka/client_properties.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <memory>
#include <span>

#include <librdkafka/rdkafka.h>

#include "common/nearest_name.h"
#include "common/text.h"
#include "connectors/kafka/jaas.h"
#include "connectors/kafka/key_stores.h"

namespace sluice::connectors::kafka {
namespace {

using Settings = std::map<std::string, std::string>;

enum class Action {
  kPass,        // Same name, same meaning.
  kRename,      // Another name.
  kKiloBytes,   // Another name, value divided by 1,024.
  kIgnore,      // Has no meaning here; nothing is lost without it.
  kIgnoreWarn,  // Has no meaning here; the user is told.
  kRefuse,      // Would change what the connection is, and cannot be honoured.
  kOurs,        // Read by the connector.
  kSecurity,    // Handled by the security part.
};
enum class Scope { kBoth, kConsumer, kProducer };

struct Rule {
  std::string_view java;
  Action action;
  Scope scope = Scope::kBoth;
  std::string_view target = {};  // New name, or the reason.
};

constexpr std::string_view kNoSuchPart =
    "it configures a part of Java's client that does not exist here";

constexpr Rule kRules[] = {
    {"bootstrap.servers", Action::kPass},
    {"group.id", Action::kOurs, Scope::kConsumer},
    {"auto.offset.reset", Action::kOurs, Scope::kConsumer},
    {"enable.auto.commit", Action::kOurs, Scope::kConsumer},
    {"auto.commit.interval.ms", Action::kIgnore, Scope::kConsumer},
    {"commit.offsets.on.checkpoint", Action::kOurs, Scope::kConsumer},
    {"partition.discovery.interval.ms", Action::kOurs, Scope::kConsumer},
    {"register.consumer.metrics", Action::kIgnore, Scope::kConsumer},
    {"client.id.prefix", Action::kOurs},
    {"default.api.timeout.ms", Action::kOurs},
    {"client.id", Action::kPass},
    {"client.rack", Action::kPass},
    {"client.dns.lookup", Action::kPass},
    {"isolation.level", Action::kPass, Scope::kConsumer},
    {"fetch.min.bytes", Action::kPass, Scope::kConsumer},
    {"fetch.max.bytes", Action::kPass, Scope::kConsumer},
    {"fetch.max.wait.ms", Action::kRename, Scope::kConsumer, "fetch.wait.max.ms"},
    {"max.partition.fetch.bytes", Action::kPass, Scope::kConsumer},
    {"check.crcs", Action::kPass, Scope::kConsumer},
    {"max.poll.records", Action::kIgnore, Scope::kConsumer},
    {"max.poll.interval.ms", Action::kIgnore, Scope::kConsumer},
    {"session.timeout.ms", Action::kIgnore, Scope::kConsumer},
    {"heartbeat.interval.ms", Action::kIgnore, Scope::kConsumer},
    {"group.instance.id", Action::kIgnore, Scope::kConsumer},
    {"group.protocol", Action::kIgnore, Scope::kConsumer},
    {"group.remote.assignor", Action::kIgnore, Scope::kConsumer},
    {"partition.assignment.strategy", Action::kIgnore, Scope::kConsumer},
    {"exclude.internal.topics", Action::kIgnoreWarn, Scope::kConsumer, kNoSuchPart},
    {"allow.auto.create.topics", Action::kIgnoreWarn, Scope::kConsumer,
     "an absent topic is an error here and is never created by reading it"},
    {"metadata.max.age.ms", Action::kOurs},
    {"metadata.max.idle.ms", Action::kIgnore, Scope::kProducer},
    {"metadata.recovery.strategy", Action::kIgnore},
    {"metadata.recovery.rebootstrap.trigger.ms", Action::kIgnore},
    {"connections.max.idle.ms", Action::kPass},
    {"reconnect.backoff.ms", Action::kPass},
    {"reconnect.backoff.max.ms", Action::kPass},
    {"retry.backoff.ms", Action::kPass},
    {"retry.backoff.max.ms", Action::kIgnore},
    {"receive.buffer.bytes", Action::kRename, Scope::kBoth, "socket.receive.buffer.bytes"},
    {"send.buffer.bytes", Action::kRename, Scope::kBoth, "socket.send.buffer.bytes"},
    {"socket.connection.setup.timeout.ms", Action::kPass},
    {"socket.connection.setup.timeout.max.ms", Action::kIgnore},
    {"request.timeout.ms",
     Action::kOurs},  // The library's name means something else in a consumer.
    {"partitioner.class", Action::kIgnoreWarn, Scope::kProducer,
     "the table option 'sink.partitioner' chooses partitions, and keys are hashed as Java does"},
    {"partitioner.ignore.keys", Action::kIgnoreWarn, Scope::kProducer, kNoSuchPart},
    {"partitioner.adaptive.partitioning.enable", Action::kIgnore, Scope::kProducer},
    {"partitioner.availability.timeout.ms", Action::kIgnore, Scope::kProducer},
    {"acks", Action::kPass, Scope::kProducer},
    {"enable.idempotence", Action::kPass, Scope::kProducer},
    {"max.in.flight.requests.per.connection", Action::kPass, Scope::kProducer},
    {"retries", Action::kPass, Scope::kProducer},
    {"batch.size", Action::kPass, Scope::kProducer},
    {"linger.ms", Action::kPass, Scope::kProducer},
    {"buffer.memory", Action::kKiloBytes, Scope::kProducer, "queue.buffering.max.kbytes"},
    {"max.block.ms", Action::kIgnore, Scope::kProducer},
    {"delivery.timeout.ms", Action::kPass, Scope::kProducer},
    {"max.request.size", Action::kRename, Scope::kProducer, "message.max.bytes"},
    {"compression.type", Action::kPass, Scope::kProducer},
    {"compression.gzip.level", Action::kOurs, Scope::kProducer},
    {"compression.lz4.level", Action::kOurs, Scope::kProducer},
    {"compression.zstd.level", Action::kOurs, Scope::kProducer},
    {"transaction.timeout.ms", Action::kPass, Scope::kProducer},
    {"transactional.id", Action::kRefuse, Scope::kProducer,
     "the table options 'sink.delivery-guarantee' and 'sink.transactional-id-prefix' are for that"},
    {"key.serializer", Action::kIgnoreWarn, Scope::kProducer,
     "the table's formats write keys and values"},
    {"value.serializer", Action::kIgnoreWarn, Scope::kProducer,
     "the table's formats write keys and values"},
    {"key.deserializer", Action::kIgnoreWarn, Scope::kConsumer,
     "the table's formats read keys and values"},
    {"value.deserializer", Action::kIgnoreWarn, Scope::kConsumer,
     "the table's formats read keys and values"},
    {"interceptor.classes", Action::kIgnoreWarn, Scope::kBoth, "Java classes cannot be loaded"},
    {"metric.reporters", Action::kIgnoreWarn, Scope::kBoth, "Java classes cannot be loaded"},
    {"metrics.num.samples", Action::kIgnore},
    {"metrics.recording.level", Action::kIgnore},
    {"metrics.sample.window.ms", Action::kIgnore},
    {"auto.include.jmx.reporter", Action::kIgnore},
    {"enable.metrics.push", Action::kIgnore},
    {"config.providers", Action::kRefuse, Scope::kBoth,
     "Java classes cannot be loaded. Write the values themselves"},
    {"security.providers", Action::kRefuse, Scope::kBoth, "Java classes cannot be loaded"},
    // Security, in the order of the spec.
    {"security.protocol", Action::kSecurity},
    {"sasl.mechanism", Action::kSecurity},
    {"sasl.jaas.config", Action::kSecurity},
    {"sasl.kerberos.service.name", Action::kPass},
    {"sasl.kerberos.kinit.cmd", Action::kIgnoreWarn, Scope::kBoth,
     "tickets are renewed without it"},
    {"sasl.kerberos.min.time.before.relogin", Action::kPass},
    {"sasl.kerberos.ticket.renew.window.factor", Action::kIgnoreWarn, Scope::kBoth,
     "tickets are renewed at fixed times"},
    {"sasl.kerberos.ticket.renew.jitter", Action::kIgnoreWarn, Scope::kBoth,
     "tickets are renewed at fixed times"},
    {"kerberos.domain.name", Action::kRefuse, Scope::kBoth,
     "it makes the broker's principal <service>/<this name>@REALM instead of <service>/<broker "
     "host>@REALM, and the Kerberos "
     "library here always takes the broker's host name. Use a listener whose principal carries the "
     "host name, or SASL/SCRAM "
     "or TLS for this client"},
    {"sasl.oauthbearer.token.endpoint.url", Action::kSecurity},
    {"sasl.client.callback.handler.class", Action::kRefuse, Scope::kBoth,
     "Java classes cannot be loaded. For OAuth use properties.sasl.oauthbearer.token.endpoint.url"},
    {"sasl.login.callback.handler.class", Action::kSecurity},
    {"sasl.login.class", Action::kRefuse, Scope::kBoth,
     "Java classes cannot be loaded. For OAuth use properties.sasl.oauthbearer.token.endpoint.url"},
    {"sasl.login.refresh.window.factor", Action::kIgnoreWarn, Scope::kBoth,
     "tokens are renewed at fixed times"},
    {"sasl.login.refresh.window.jitter", Action::kIgnoreWarn, Scope::kBoth,
     "tokens are renewed at fixed times"},
    {"sasl.login.refresh.min.period.seconds", Action::kIgnoreWarn, Scope::kBoth,
     "tokens are renewed at fixed times"},
    {"sasl.login.refresh.buffer.seconds", Action::kIgnoreWarn, Scope::kBoth,
     "tokens are renewed at fixed times"},
    {"sasl.login.connect.timeout.ms", Action::kIgnoreWarn, Scope::kBoth, kNoSuchPart},
    {"sasl.login.read.timeout.ms", Action::kIgnoreWarn, Scope::kBoth, kNoSuchPart},
    {"sasl.login.retry.backoff.ms", Action::kIgnoreWarn, Scope::kBoth, kNoSuchPart},
    {"sasl.login.retry.backoff.max.ms", Action::kIgnoreWarn, Scope::kBoth, kNoSuchPart},
    {"ssl.truststore.location", Action::kSecurity},
    {"ssl.truststore.type", Action::kSecurity},
    {"ssl.truststore.password", Action::kSecurity},
    {"ssl.truststore.certificates", Action::kRename, Scope::kBoth, "ssl.ca.pem"},
    {"ssl.keystore.location", Action::kSecurity},
    {"ssl.keystore.type", Action::kSecurity},
    {"ssl.keystore.password", Action::kSecurity},
    {"ssl.keystore.certificate.chain", Action::kRename, Scope::kBoth, "ssl.certificate.pem"},
    {"ssl.keystore.key", Action::kRename, Scope::kBoth, "ssl.key.pem"},
    {"ssl.key.password", Action::kPass},
    {"ssl.endpoint.identification.algorithm", Action::kSecurity},
    {"ssl.cipher.suites", Action::kSecurity},
    {"ssl.protocol", Action::kIgnoreWarn, Scope::kBoth,
     "OpenSSL negotiates the newest TLS version that both sides have"},
    {"ssl.enabled.protocols", Action::kIgnoreWarn, Scope::kBoth,
     "OpenSSL negotiates the newest TLS version that both sides have"},
    {"ssl.provider", Action::kIgnoreWarn, Scope::kBoth, "OpenSSL is the only provider"},
    {"ssl.keymanager.algorithm", Action::kIgnoreWarn, Scope::kBoth, "OpenSSL is the only provider"},
    {"ssl.trustmanager.algorithm", Action::kIgnoreWarn, Scope::kBoth,
     "OpenSSL is the only provider"},
    {"ssl.secure.random.implementation", Action::kIgnoreWarn, Scope::kBoth,
     "OpenSSL is the only provider"},
    {"ssl.engine.factory.class", Action::kRefuse, Scope::kBoth, "Java classes cannot be loaded"},
};

const Rule* FindRule(std::string_view name) {
  for (const Rule& rule : kRules) {
    if (rule.java == name) return &rule;
  }
  return nullptr;
}

struct ConfDeleter {
  void operator()(rd_kafka_conf_t* conf) const { rd_kafka_conf_destroy(conf); }
};
using ConfPtr = std::unique_ptr<rd_kafka_conf_t, ConfDeleter>;

/// "" when the library takes the setting, else its words.
std::string TrySetting(rd_kafka_conf_t* conf, const std::string& name, const std::string& value,
                       bool* unknown) {
  char text[512] = "";
  const rd_kafka_conf_res_t result =
      rd_kafka_conf_set(conf, name.c_str(), value.c_str(), text, sizeof(text));
  *unknown = result == RD_KAFKA_CONF_UNKNOWN;
  return result == RD_KAFKA_CONF_OK ? std::string() : std::string(text);
}

Status UnknownProperty(const std::string& name) {
  std::vector<std::string> known;
  for (const Rule& rule : kRules) known.emplace_back("properties." + std::string(rule.java));
  const ConfPtr conf(rd_kafka_conf_new());
  size_t count = 0;
  const char** dump = rd_kafka_conf_dump(conf.get(), &count);
  for (size_t i = 0; i + 1 < count; i += 2) known.push_back(std::string("properties.") + dump[i]);
  rd_kafka_conf_dump_free(dump, count);
  return Status::InvalidArgument(
      "Option 'properties." + name +
      "' is known neither to Java's Kafka clients nor to librdkafka." +
      DidYouMean("properties." + name, known) +
      " A setting of librdkafka's own can be given as 'properties.rdkafka.<name>'.");
}

class Translator {
 public:
  Translator(const OptionMap& properties, ClientRole role) : properties_(properties), role_(role) {}

  Result<ClientConfig> Run() {
    SetDefaults();
    for (const auto& [name, value] : properties_) SLUICE_RETURN_NOT_OK(Translate(name, value));
    SLUICE_RETURN_NOT_OK(TranslateSecurity());
    SLUICE_RETURN_NOT_OK(ReadOurs());
    SLUICE_RETURN_NOT_OK(CheckWithLibrary());
    return std::move(config_);
  }

 private:
  bool consumer() const { return role_ == ClientRole::kConsumer; }
  Settings& settings() { return config_.settings; }

  std::optional<std::string> Property(std::string_view name) const {
    const auto it = properties_.find(name);
    if (it == properties_.end()) return std::nullopt;
    return it->second;
  }

  void Warn(std::string_view name, std::string_view reason) {
    config_.warnings.push_back("Option 'properties." + std::string(name) +
                               "' has no effect: " + std::string(reason) + ".");
  }

  /// Java's defaults where librdkafka has others.
  void SetDefaults() {
    Settings& s = settings();
    s["connections.max.idle.ms"] = "540000";
    s["reconnect.backoff.ms"] = "50";
    s["reconnect.backoff.max.ms"] = "1000";
    s["socket.send.buffer.bytes"] = "131072";
    if (consumer()) {
      s["isolation.level"] = "read_uncommitted";
      s["enable.auto.commit"] = "false";
      s["enable.auto.offset.store"] = "false";
      s["auto.offset.reset"] = "error";    // Where to begin is decided before reading.
      s["enable.partition.eof"] = "true";  // Bounded reads end by position.
      s["check.crcs"] = "true";
      s["allow.auto.create.topics"] = "false";
      return;
    }
    s["partitioner"] = "murmur2_random";
    s["enable.idempotence"] = "true";
    s["max.in.flight.requests.per.connection"] = "5";
    s["delivery.timeout.ms"] = "120000";
    s["message.max.bytes"] = "1048576";
  }

  Status Translate(const std::string& name, const std::string& value) {
    if (name.starts_with("rdkafka.")) {
      settings()[name.substr(8)] = value;
      return {};
    }
    const Rule* rule = FindRule(name);
    if (rule == nullptr) return TranslateUnlisted(name, value);
    if (rule->action == Action::kRefuse) {
      return Status::Unsupported("Option 'properties." + name +
                                 "' cannot be honoured: " + std::string(rule->target) + ".");
    }
    const bool of_other_role = (rule->scope == Scope::kConsumer && !consumer()) ||
                               (rule->scope == Scope::kProducer && consumer());
    if (of_other_role) return {};  // The table is read and written with one set of properties.
    switch (rule->action) {
      case Action::kPass:
        settings()[name] = value;
        break;
      case Action::kRename:
        settings()[std::string(rule->target)] = value;
        break;
      case Action::kKiloBytes: {
        const std::optional<int64_t> bytes = ParseInt64(TrimAscii(value));
        if (!bytes || *bytes < 1024) return BadNumber(name, value);
        settings()[std::string(rule->target)] = std::to_string(*bytes / 1024);
        break;
      }
      case Action::kIgnoreWarn:
        Warn(name, rule->target);
        break;
      case Action::kIgnore:
      case Action::kOurs:
      case Action::kSecurity:
      case Action::kRefuse:
        break;
    }
    return {};
  }

  Status TranslateUnlisted(const std::string& name, const std::string& value) {
    const ConfPtr conf(rd_kafka_conf_new());
    bool unknown = false;
    const std::string error = TrySetting(conf.get(), name, value, &unknown);
    if (unknown) return UnknownProperty(name);
    if (!error.empty())
      return Status::InvalidArgument("Option 'properties." + name + "': " + error + ".");
    settings()[name] = value;
    return {};
  }

  static Status BadNumber(const std::string& name, const std::string& value) {
    return Status::InvalidArgument("Invalid value for option 'properties." + name +
                                   "'. Could not parse value '" + value +
                                   "'. Expected a whole number.");
  }

  // ---- Settings of the connector ----

  Status ReadOurs() {
    config_.bootstrap_servers = Property("bootstrap.servers").value_or("");
    if (const auto age = Property("metadata.max.age.ms")) {
      settings()["topic.metadata.refresh.interval.ms"] = *age;
      settings()["metadata.max.age.ms"] = *age;
    }
    if (const auto timeout = Property("request.timeout.ms")) {
      settings()[consumer() ? "socket.timeout.ms" : "request.timeout.ms"] = *timeout;
    }
    if (const auto timeout = Property("default.api.timeout.ms")) {
      const std::optional<int64_t> ms = ParseInt64(TrimAscii(*timeout));
      if (!ms || *ms < 1) return BadNumber("default.api.timeout.ms", *timeout);
      config_.api_timeout_ms = *ms;
    }
    if (const auto prefix = Property("client.id.prefix"))
      settings().try_emplace("client.id", *prefix);
    return consumer() ? ReadConsumer() : ReadProducer();
  }

  Status ReadConsumer() {
    if (const auto group = Property("group.id")) {
      config_.group_id = *group;
      settings()["group.id"] = *group;
      settings().try_emplace("client.id", *group);
    }
    if (const auto commit = Property("commit.offsets.on.checkpoint")) {
      SLUICE_ASSIGN_OR_RETURN(config_.commit_on_checkpoint, ParseBooleanOption(*commit));
    }
    if (const auto commit = Property("enable.auto.commit");
        commit && EqualsIgnoreCaseAscii(*commit, "true")) {
      Warn("enable.auto.commit", "offsets are committed after each completed checkpoint");
    }
    if (const auto reset = Property("auto.offset.reset")) {
      const std::string lower = ToLowerAscii(TrimAscii(*reset));
      if (lower != "earliest" && lower != "latest" && lower != "none") {
        return Status::InvalidArgument(
            "Invalid value for option 'properties.auto.offset.reset'. Could not parse value '" +
            *reset + "'. Expected one of: [[earliest, latest, none]]");
      }
      config_.offset_reset = lower;
    }
    return {};
  }

  Status ReadProducer() {
    for (const char* codec : {"gzip", "lz4", "zstd"}) {
      const auto level = Property("compression." + std::string(codec) + ".level");
      if (level && Property("compression.type").value_or("") == codec)
        settings()["compression.level"] = *level;
    }
    const std::string acks = ToLowerAscii(Property("acks").value_or("all"));
    if (acks != "all" && acks != "-1") {
      // Java turns idempotence off by itself unless it was asked for.
      if (!Property("enable.idempotence")) settings()["enable.idempotence"] = "false";
    }
    return {};
  }

  // ---- Security ----

  Status TranslateSecurity() {
    if (const auto protocol = Property("security.protocol"))
      settings()["security.protocol"] = ToLowerAscii(*protocol);
    if (const auto mechanism = Property("sasl.mechanism"))
      settings()["sasl.mechanisms"] = *mechanism;
    if (const auto jaas = Property("sasl.jaas.config")) SLUICE_RETURN_NOT_OK(TranslateJaas(*jaas));
    SLUICE_RETURN_NOT_OK(TranslateOauth());
    SLUICE_RETURN_NOT_OK(TranslateTruststore());
    SLUICE_RETURN_NOT_OK(TranslateKeystore());
    if (const auto algorithm = Property("ssl.endpoint.identification.algorithm")) {
      settings()["ssl.endpoint.identification.algorithm"] =
          TrimAscii(*algorithm).empty() ? "none" : *algorithm;
    }
    if (const auto suites = Property("ssl.cipher.suites"))
      SLUICE_RETURN_NOT_OK(TranslateCiphers(*suites));
    return {};
  }

  static Status JaasNeeds(std::string_view module, std::string_view option) {
    return Status::InvalidArgument("Option 'properties.sasl.jaas.config': " + std::string(module) +
                                   " needs '" + std::string(option) + "'.");
  }

  Status TranslateJaas(const std::string& text) {
    SLUICE_ASSIGN_OR_RETURN(const JaasEntry entry, ParseJaasConfig(text));
    const std::string_view module = entry.module_name();
    const auto copy = [&](const char* from, const char* to) {
      const auto it = entry.options.find(from);
      if (it != entry.options.end()) settings()[to] = it->second;
      return it != entry.options.end();
    };
    if (module == "PlainLoginModule" || module == "ScramLoginModule") {
      if (!copy("username", "sasl.username")) return JaasNeeds(module, "username");
      if (!copy("password", "sasl.password")) return JaasNeeds(module, "password");
      if (module == "PlainLoginModule") {
        settings().try_emplace("sasl.mechanisms", "PLAIN");
      } else if (!settings().contains("sasl.mechanisms")) {
        return Status::InvalidArgument(
            "Option 'properties.sasl.mechanism' is missing: set SCRAM-SHA-256 or SCRAM-SHA-512 "
            "with ScramLoginModule.");
      }
      return {};
    }
    if (module == "Krb5LoginModule") {
      copy("serviceName", "sasl.kerberos.service.name");
      copy("principal", "sasl.kerberos.principal");
      const bool keytab = copy("keyTab", "sasl.kerberos.keytab");
      const auto cache = entry.options.find("useTicketCache");
      const bool use_cache =
          cache != entry.options.end() && EqualsIgnoreCaseAscii(cache->second, "true");
      // The library renews by a shell command; the cache is renewed by somebody else.
      if (!keytab && use_cache) settings()["sasl.kerberos.kinit.cmd"] = "true";
      return {};
    }
    if (module == "OAuthBearerLoginModule") return TranslateOauthModule(entry);
    return Status::Unsupported(
        "Option 'properties.sasl.jaas.config': the login module " + entry.module +
        " cannot be used. PlainLoginModule, ScramLoginModule, Krb5LoginModule and "
        "OAuthBearerLoginModule can.");
  }

  Status TranslateOauthModule(const JaasEntry& entry) {
    std::string extensions;
    std::string unsecured;
    for (const auto& [name, value] : entry.options) {
      if (name == "clientId") settings()["sasl.oauthbearer.client.id"] = value;
      if (name == "clientSecret") settings()["sasl.oauthbearer.client.secret"] = value;
      if (name == "scope") settings()["sasl.oauthbearer.scope"] = value;
      if (name.starts_with("extension_")) {
        extensions += (extensions.empty() ? "" : ",") + name.substr(10) + "=" + value;
      }
      if (name == "unsecuredLoginStringClaim_sub") unsecured += " principal=" + value;
      if (name == "unsecuredLoginLifetimeSeconds") unsecured += " lifeSeconds=" + value;
    }
    if (!extensions.empty()) settings()["sasl.oauthbearer.extensions"] = extensions;
    if (!unsecured.empty()) {
      settings()["enable.sasl.oauthbearer.unsecure.jwt"] = "true";
      settings()["sasl.oauthbearer.config"] = unsecured.substr(1);
    }
    settings().try_emplace("sasl.mechanisms", "OAUTHBEARER");
    return {};
  }

  Status TranslateOauth() {
    if (const auto url = Property("sasl.oauthbearer.token.endpoint.url")) {
      settings()["sasl.oauthbearer.method"] = "oidc";
      settings()["sasl.oauthbearer.token.endpoint.url"] = *url;
    }
    if (const auto handler = Property("sasl.login.callback.handler.class")) {
      // Java's own handler for a token endpoint is what the library does by itself.
      if (!handler->ends_with("OAuthBearerLoginCallbackHandler")) {
        return Status::Unsupported(
            "Option 'properties.sasl.login.callback.handler.class' cannot be honoured: Java "
            "classes cannot be loaded. For OAuth use "
            "properties.sasl.oauthbearer.token.endpoint.url.");
      }
    }
    return {};
  }

  Status TranslateTruststore() {
    const auto location = Property("ssl.truststore.location");
    if (!location) return {};
    SLUICE_ASSIGN_OR_RETURN(
        const std::optional<std::string> pem,
        CertificatesAsPem(*location, Property("ssl.truststore.type").value_or("")));
    if (pem) {
      settings()["ssl.ca.pem"] = *pem;
    } else {
      settings()["ssl.ca.location"] = *location;
    }
    return {};
  }

  Status TranslateKeystore() {
    const auto location = Property("ssl.keystore.location");
    if (!location) return {};
    SLUICE_ASSIGN_OR_RETURN(const KeyStoreKind kind,
                            DetectKeyStore(*location, Property("ssl.keystore.type").value_or("")));
    switch (kind) {
      case KeyStoreKind::kPkcs12:
        settings()["ssl.keystore.location"] = *location;
        if (const auto password = Property("ssl.keystore.password"))
          settings()["ssl.keystore.password"] = *password;
        return {};
      case KeyStoreKind::kPem:
        settings()["ssl.certificate.location"] = *location;
        settings()["ssl.key.location"] = *location;
        return {};
      case KeyStoreKind::kJks:
        break;
    }
    return Status::Unsupported(
        "Option 'properties.ssl.keystore.location': " + *location +
        " is a Java key store (JKS), whose private key cannot be read here. Convert it: keytool "
        "-importkeystore -srckeystore … -destkeystore store.p12 -deststoretype pkcs12.");
  }

  Status TranslateCiphers(const std::string& suites) {
    std::string names;
    for (const std::string& suite : SplitListOption(suites, ',')) {
      if (suite.starts_with("TLS_") && suite.find("_WITH_") == std::string::npos)
        continue;  // TLS 1.3: always on.
      SLUICE_ASSIGN_OR_RETURN(const std::string name, OpenSslCipherName(suite));
      names += (names.empty() ? "" : ":") + name;
    }
    if (!names.empty()) settings()["ssl.cipher.suites"] = names;
    return {};
  }

  /// The library checks values; a name that only properties.rdkafka.* brought in may be wrong too.
  Status CheckWithLibrary() {
    const ConfPtr conf(rd_kafka_conf_new());
    for (const auto& [name, value] : config_.settings) {
      bool unknown = false;
      const std::string error = TrySetting(conf.get(), name, value, &unknown);
      if (error.empty()) continue;
      const std::string shown = MaskSecret(name, value);
      const std::string reason = shown == value ? error : "the library refuses its value";
      return Status::InvalidArgument("The Kafka client setting '" + name +
                                     "' (from 'properties.*'): " + reason + ".");
    }
    return {};
  }

  const OptionMap& properties_;
  const ClientRole role_;
  ClientConfig config_;
};

}  // namespace

Result<ClientConfig> TranslateClientProperties(const OptionMap& properties, ClientRole role) {
  return Translator(properties, role).Run();
}

}  // namespace sluice::connectors::kafka
