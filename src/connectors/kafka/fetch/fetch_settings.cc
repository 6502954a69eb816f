#include "connectors/kafka/fetch/fetch_settings.h"

#include <algorithm>
#include <functional>

#include "common/text.h"

namespace sluice::connectors::kafka::fetch {
namespace {

using Settings = std::map<std::string, std::string>;

/// What a setting does here. `apply` is null for those that have no meaning for fetching, or whose
/// one understood value is what happens anyway.
struct Understood {
  std::string_view name;
  void (*apply)(std::string_view value, FetchSettings* out) = nullptr;
  std::string_view only = {};  // The one value that is understood; empty: all.
};

template <typename T>
void Number(std::string_view text, T* out) {
  const std::optional<int64_t> number = ParseInt64(TrimAscii(text));
  if (number) *out = static_cast<T>(std::clamp<int64_t>(*number, 0, INT32_MAX));
}

TlsSettings& Tls(FetchSettings* out) {
  if (!out->tls) out->tls.emplace();
  return *out->tls;
}
SaslSettings& Sasl(FetchSettings* out) {
  if (!out->sasl) out->sasl.emplace();
  return *out->sasl;
}

bool IsFalse(std::string_view text) {
  const std::string lower = ToLowerAscii(TrimAscii(text));
  return lower == "false" || lower == "0" || lower == "f" || lower == "n";
}

// One place to add a setting.
constexpr Understood kUnderstood[] = {
    {"bootstrap.servers"},
    {"client.id", [](auto v, auto* out) { out->client_id = v; }},
    {"isolation.level", [](auto v, auto* out) { out->read_committed = v == "read_committed"; }},
    {"check.crcs", [](auto v, auto* out) { out->check_crcs = !IsFalse(v); }},
    {"fetch.min.bytes", [](auto v, auto* out) { Number(v, &out->min_bytes); }},
    {"fetch.max.bytes", [](auto v, auto* out) { Number(v, &out->max_bytes); }},
    {"fetch.wait.max.ms", [](auto v, auto* out) { Number(v, &out->max_wait_ms); }},
    {"max.partition.fetch.bytes", [](auto v, auto* out) { Number(v, &out->partition_max_bytes); }},
    {"fetch.message.max.bytes", [](auto v, auto* out) { Number(v, &out->partition_max_bytes); }},
    {"receive.message.max.bytes", [](auto v, auto* out) { Number(v, &out->max_answer_bytes); }},
    {"socket.timeout.ms", [](auto v, auto* out) { Number(v, &out->request_timeout_ms); }},
    {"socket.connection.setup.timeout.ms",
     [](auto v, auto* out) { Number(v, &out->connect_timeout_ms); }},
    {"socket.receive.buffer.bytes",
     [](auto v, auto* out) { Number(v, &out->receive_buffer_bytes); }},
    {"socket.send.buffer.bytes", [](auto v, auto* out) { Number(v, &out->send_buffer_bytes); }},
    {"reconnect.backoff.ms", [](auto v, auto* out) { Number(v, &out->reconnect_backoff_ms); }},
    {"reconnect.backoff.max.ms",
     [](auto v, auto* out) { Number(v, &out->reconnect_backoff_max_ms); }},
    {"retry.backoff.ms", [](auto v, auto* out) { Number(v, &out->retry_backoff_ms); }},
    {"topic.metadata.refresh.interval.ms",
     [](auto v, auto* out) { Number(v, &out->metadata_max_age_ms); }},
    // Security; the protocol and the mechanism decide whether these are used at all.
    {"security.protocol"},
    {"sasl.mechanisms"},
    {"sasl.username", [](auto v, auto* out) { Sasl(out).username = v; }},
    {"sasl.password", [](auto v, auto* out) { Sasl(out).password = v; }},
    {"sasl.kerberos.service.name"},
    {"ssl.ca.location", [](auto v, auto* out) { Tls(out).ca_location = v; }},
    {"ssl.ca.pem", [](auto v, auto* out) { Tls(out).ca_pem = v; }},
    {"ssl.certificate.location", [](auto v, auto* out) { Tls(out).certificate_location = v; }},
    {"ssl.certificate.pem", [](auto v, auto* out) { Tls(out).certificate_pem = v; }},
    {"ssl.key.location", [](auto v, auto* out) { Tls(out).key_location = v; }},
    {"ssl.key.pem", [](auto v, auto* out) { Tls(out).key_pem = v; }},
    {"ssl.key.password", [](auto v, auto* out) { Tls(out).key_password = v; }},
    {"ssl.cipher.suites", [](auto v, auto* out) { Tls(out).ciphers = v; }},
    {"ssl.endpoint.identification.algorithm",
     [](auto v, auto* out) { Tls(out).verify_host_name = v != "none"; }},
    {"enable.ssl.certificate.verification",
     [](auto v, auto* out) { Tls(out).verify_certificate = !IsFalse(v); }},
    // Groups, positions and what a consumer does behind the fetch: not the fetch's affair.
    {"group.id"},
    {"auto.offset.reset"},
    {"enable.auto.commit"},
    {"enable.auto.offset.store"},
    {"enable.partition.eof"},
    {"allow.auto.create.topics"},
    {"metadata.max.age.ms"},
    {"queued.min.messages"},         // Bounds of librdkafka's queue; the native one
    {"queued.max.messages.kbytes"},  // is bounded by the job's memory.
    // Idle connections are closed by the broker and opened again when they are needed.
    {"connections.max.idle.ms"},
    {"client.dns.lookup", nullptr, "use_all_dns_ips"},
};

const Understood* Find(std::string_view name) {
  for (const Understood& entry : kUnderstood) {
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

Result<BrokerAddress> ParseAddress(std::string_view text) {
  const Status bad = Status::InvalidArgument("Option 'properties.bootstrap.servers': '" +
                                             std::string(text) + "' is not host:port.");
  // librdkafka takes a protocol before the name.
  if (const size_t scheme = text.find("://"); scheme != std::string_view::npos)
    text.remove_prefix(scheme + 3);
  BrokerAddress address;
  size_t host_end = text.size();
  if (text.starts_with('[')) {
    host_end = text.find(']');
    if (host_end == std::string_view::npos) return bad;
    address.host = text.substr(1, host_end - 1);
    text.remove_prefix(host_end + 1);
  } else {
    host_end = std::min(text.find(':'), text.size());
    address.host = text.substr(0, host_end);
    text.remove_prefix(host_end);
  }
  if (address.host.empty()) return bad;
  if (text.empty()) return address;
  const std::optional<int64_t> port =
      text.front() == ':' ? ParseInt64(text.substr(1)) : std::nullopt;
  if (!port || *port < 1 || *port > 65535) return bad;
  address.port = static_cast<int>(*port);
  return address;
}

std::string Setting(const Settings& settings, const std::string& name) {
  const auto found = settings.find(name);
  return found == settings.end() ? std::string() : found->second;
}

/// False with `reason` set when the protocol or mechanism is none of ours.
bool ChooseSecurity(const Settings& settings, FetchSettings* out, std::string* reason) {
  const std::string protocol = ToLowerAscii(Setting(settings, "security.protocol"));
  if (protocol == "ssl" || protocol == "sasl_ssl") {
    Tls(out);
  } else {
    out->tls.reset();
  }
  if (!protocol.starts_with("sasl")) {
    out->sasl.reset();
    return true;
  }
  const std::string mechanism = ToUpperAscii(Setting(settings, "sasl.mechanisms"));
  if (mechanism == "PLAIN") {
    Sasl(out).mechanism = SaslMechanism::kPlain;
  } else if (mechanism == "SCRAM-SHA-256") {
    Sasl(out).mechanism = SaslMechanism::kScramSha256;
  } else if (mechanism == "SCRAM-SHA-512") {
    Sasl(out).mechanism = SaslMechanism::kScramSha512;
  } else {
    *reason = "'sasl.mechanism' = '" + (mechanism.empty() ? "GSSAPI" : mechanism) + "'";
    return false;
  }
  return true;
}

}  // namespace

std::string BrokerAddress::ToText() const {
  const bool bare_ipv6 = host.find(':') != std::string::npos;
  return (bare_ipv6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

Result<std::optional<FetchSettings>> ReadFetchSettings(const Settings& settings,
                                                       std::string* reason) {
  FetchSettings out;
  for (const auto& [name, value] : settings) {
    const Understood* const entry = Find(name);
    if (entry == nullptr || (!entry->only.empty() && entry->only != value)) {
      *reason = "'" + name + "'";
      return std::optional<FetchSettings>();
    }
    if (entry->apply != nullptr) entry->apply(value, &out);
  }
  if (!ChooseSecurity(settings, &out, reason)) return std::optional<FetchSettings>();
  const std::string servers = Setting(settings, "bootstrap.servers");
  for (const std::string_view text : Split(servers, ',')) {
    if (TrimAscii(text).empty()) continue;
    SLUICE_ASSIGN_OR_RETURN(BrokerAddress address, ParseAddress(TrimAscii(text)));
    out.bootstrap.push_back(std::move(address));
  }
  out.max_answer_bytes = std::max<int64_t>(out.max_answer_bytes, out.max_bytes + int64_t{1024});
  return std::optional<FetchSettings>(std::move(out));
}

}  // namespace sluice::connectors::kafka::fetch
