#include "connectors/kafka/fetch/requests.h"

#include <algorithm>

#include "connectors/kafka/fetch/wire.h"

namespace sluice::connectors::kafka::fetch {
namespace {

struct Spoken {
  ApiKey key;
  std::string_view name;
  VersionRange versions;
};

constexpr Spoken kSpoken[] = {
    {ApiKey::kFetch, "Fetch", {4, 11}},
    {ApiKey::kListOffsets, "ListOffsets", {1, 5}},
    {ApiKey::kMetadata, "Metadata", {1, 7}},
    {ApiKey::kSaslHandshake, "SaslHandshake", {1, 1}},
    {ApiKey::kApiVersions, "ApiVersions", {0, 0}},
    {ApiKey::kSaslAuthenticate, "SaslAuthenticate", {0, 1}},
};

Status BadAnswer(std::string_view what) {
  return Status::DataError("The broker's answer to " + std::string(what) +
                           " ends early or is damaged.");
}

ErrorCode Error(WireReader& reader) { return static_cast<ErrorCode>(reader.I16()); }

std::string RangeText(const VersionRange& range) {
  return std::to_string(range.low) + " to " + std::to_string(range.high);
}

}  // namespace

std::string ErrorName(ErrorCode code) {
  switch (code) {
    case ErrorCode::kNone:
      return "NONE";
    case ErrorCode::kOffsetOutOfRange:
      return "OFFSET_OUT_OF_RANGE";
    case ErrorCode::kCorruptMessage:
      return "CORRUPT_MESSAGE";
    case ErrorCode::kUnknownTopicOrPartition:
      return "UNKNOWN_TOPIC_OR_PARTITION";
    case ErrorCode::kLeaderNotAvailable:
      return "LEADER_NOT_AVAILABLE";
    case ErrorCode::kNotLeaderOrFollower:
      return "NOT_LEADER_OR_FOLLOWER";
    case ErrorCode::kTopicAuthorizationFailed:
      return "TOPIC_AUTHORIZATION_FAILED";
    case ErrorCode::kClusterAuthorizationFailed:
      return "CLUSTER_AUTHORIZATION_FAILED";
    case ErrorCode::kUnsupportedSaslMechanism:
      return "UNSUPPORTED_SASL_MECHANISM";
    case ErrorCode::kIllegalSaslState:
      return "ILLEGAL_SASL_STATE";
    case ErrorCode::kUnsupportedVersion:
      return "UNSUPPORTED_VERSION";
    case ErrorCode::kSaslAuthenticationFailed:
      return "SASL_AUTHENTICATION_FAILED";
    case ErrorCode::kUnsupportedCompressionType:
      return "UNSUPPORTED_COMPRESSION_TYPE";
  }
  return "error " + std::to_string(static_cast<int>(code));
}

Result<int16_t> ChooseVersion(const ApiVersions& broker, ApiKey key) {
  const auto* const spoken = std::find_if(std::begin(kSpoken), std::end(kSpoken),
                                          [key](const Spoken& entry) { return entry.key == key; });
  const auto offered = broker.find(static_cast<int16_t>(key));
  const VersionRange theirs = offered == broker.end() ? VersionRange{} : offered->second;
  const int16_t version = std::min(spoken->versions.high, theirs.high);
  if (version >= spoken->versions.low && version >= theirs.low) return version;
  return Status::Unsupported(
      "The broker speaks " +
      (theirs.high < theirs.low ? "no version" : "versions " + RangeText(theirs)) + " of " +
      std::string(spoken->name) + ", the native fetch versions " + RangeText(spoken->versions) +
      ". Set 'scan.fetch.implementation' = 'librdkafka'.");
}

std::string EncodeRequest(ApiKey key, int16_t version, int32_t correlation_id,
                          std::string_view client_id, std::string_view body) {
  WireWriter writer;
  writer.I16(static_cast<int16_t>(key));
  writer.I16(version);
  writer.I32(correlation_id);
  writer.Text(client_id.substr(0, INT16_MAX));
  writer.Raw(body);
  return std::move(writer).Take();
}

Result<ApiVersions> DecodeApiVersions(std::string_view answer) {
  WireReader reader(answer);
  const ErrorCode error = Error(reader);
  ApiVersions versions;
  const int32_t count = reader.Count(6);
  for (int32_t i = 0; i < count; ++i) {
    const int16_t key = reader.I16();
    const int16_t low = reader.I16();
    const int16_t high = reader.I16();
    versions[key] = {low, high};
  }
  if (!reader.ok()) return BadAnswer("ApiVersions");
  if (error != ErrorCode::kNone) {
    return Status::Unsupported("The broker refuses to tell its versions: " + ErrorName(error) +
                               ". Set 'scan.fetch.implementation' = 'librdkafka'.");
  }
  return versions;
}

std::string EncodeSaslHandshake(std::string_view mechanism) {
  WireWriter writer;
  writer.Text(mechanism);
  return std::move(writer).Take();
}

Result<SaslHandshakeAnswer> DecodeSaslHandshake(std::string_view answer) {
  WireReader reader(answer);
  SaslHandshakeAnswer result{.error = Error(reader)};
  const int32_t count = reader.Count(2);
  for (int32_t i = 0; i < count; ++i) result.mechanisms.emplace_back(reader.Text());
  if (!reader.ok()) return BadAnswer("SaslHandshake");
  return result;
}

std::string EncodeSaslAuthenticate(std::string_view bytes) {
  WireWriter writer;
  writer.LongBytes(bytes);
  return std::move(writer).Take();
}

Result<SaslAuthenticateAnswer> DecodeSaslAuthenticate(int16_t version, std::string_view answer) {
  WireReader reader(answer);
  SaslAuthenticateAnswer result{.error = Error(reader)};
  result.message = reader.Text();
  result.bytes = reader.LongBytes();
  if (version >= 1) result.session_lifetime_ms = reader.I64();
  if (!reader.ok()) return BadAnswer("SaslAuthenticate");
  return result;
}

std::string EncodeMetadata(int16_t version, const std::vector<std::string>& topics) {
  WireWriter writer;
  writer.I32(static_cast<int32_t>(topics.size()));
  for (const std::string& topic : topics) writer.Text(topic);
  if (version >= 4) writer.I8(0);  // Reading never creates a topic.
  return std::move(writer).Take();
}

Result<MetadataAnswer> DecodeMetadata(int16_t version, std::string_view answer) {
  WireReader reader(answer);
  MetadataAnswer result;
  if (version >= 3) reader.I32();  // Throttle time.
  for (int32_t i = reader.Count(12); i > 0; --i) {
    MetadataAnswer::Broker broker{.id = reader.I32()};
    broker.host = reader.Text();
    broker.port = reader.I32();
    reader.Text();  // Rack.
    result.brokers.push_back(std::move(broker));
  }
  if (version >= 2) reader.Text();  // Cluster id.
  reader.I32();                     // Controller.
  for (int32_t i = reader.Count(9); i > 0; --i) {
    const ErrorCode error = Error(reader);
    const std::string topic(reader.Text());
    reader.I8();  // Internal.
    if (error != ErrorCode::kNone) result.topic_errors[topic] = error;
    for (int32_t p = reader.Count(18); p > 0; --p) {
      MetadataAnswer::Partition partition{.topic = topic, .error = Error(reader)};
      partition.partition = reader.I32();
      partition.leader = reader.I32();
      if (version >= 7) reader.I32();  // Leader epoch.
      const int lists = version >= 5 ? 3 : 2;
      for (int list = 0; list < lists; ++list) {
        // Replicas, those in sync, those offline.
        for (int32_t replica = reader.Count(4); replica > 0; --replica) reader.I32();
      }
      result.partitions.push_back(std::move(partition));
    }
  }
  if (!reader.ok()) return BadAnswer("Metadata");
  return result;
}

std::string EncodeListOffsets(int16_t version, bool read_committed, std::string_view topic,
                              int32_t partition) {
  constexpr int64_t kEarliest = -2;
  WireWriter writer;
  writer.I32(-1);  // No replica.
  if (version >= 2) writer.I8(read_committed ? 1 : 0);
  writer.I32(1);
  writer.Text(topic);
  writer.I32(1);
  writer.I32(partition);
  if (version >= 4) writer.I32(-1);  // Whatever the leader's epoch.
  writer.I64(kEarliest);
  return std::move(writer).Take();
}

Result<ListOffsetsAnswer> DecodeListOffsets(int16_t version, std::string_view answer) {
  WireReader reader(answer);
  ListOffsetsAnswer result;
  if (version >= 2) reader.I32();  // Throttle time.
  const bool one_topic = reader.Count(6) == 1;
  reader.Text();
  const bool one_partition = reader.Count(22) == 1;
  reader.I32();
  result.error = Error(reader);
  reader.I64();  // Timestamp.
  result.offset = reader.I64();
  if (!reader.ok() || !one_topic || !one_partition) return BadAnswer("ListOffsets");
  return result;
}

std::string EncodeFetch(int16_t version, const FetchRequest& request) {
  WireWriter writer;
  writer.I32(-1);  // No replica.
  writer.I32(request.max_wait_ms);
  writer.I32(request.min_bytes);
  writer.I32(request.max_bytes);
  writer.I8(request.read_committed ? 1 : 0);
  if (version >= 7) {
    writer.I32(0);  // No session:
    writer.I32(-1);
  }
  writer.I32(static_cast<int32_t>(request.partitions.size()));
  // An entry a partition: brokers take a topic several times, and their order is who comes first.
  for (const FetchRequest::Partition& partition : request.partitions) {
    writer.Text(partition.topic);
    writer.I32(1);
    writer.I32(partition.partition);
    if (version >= 9) writer.I32(-1);  // Whatever the leader's epoch.
    writer.I64(partition.offset);
    if (version >= 5) writer.I64(-1);  // Log start: followers only.
    writer.I32(request.partition_max_bytes);
  }
  if (version >= 7) writer.I32(0);  // Nothing to forget.
  if (version >= 11) writer.Text("");
  return std::move(writer).Take();
}

Result<FetchAnswer> DecodeFetch(int16_t version, std::string_view answer) {
  WireReader reader(answer);
  FetchAnswer result;
  result.throttle_ms = reader.I32();
  if (version >= 7) {
    result.error = Error(reader);
    reader.I32();  // Session.
  }
  for (int32_t i = reader.Count(6); i > 0; --i) {
    const std::string_view topic = reader.Text();
    for (int32_t p = reader.Count(30); p > 0; --p) {
      FetchedPartition partition{.topic = topic, .partition = reader.I32()};
      partition.error = Error(reader);
      partition.high_watermark = reader.I64();
      reader.I64();  // Last stable offset: the broker stops there by itself.
      if (version >= 5) partition.log_start_offset = reader.I64();
      for (int32_t a = reader.Count(16); a > 0; --a) {
        const int64_t producer_id = reader.I64();
        partition.aborted.push_back({producer_id, reader.I64()});
      }
      if (version >= 11) reader.I32();  // Preferred replica: only with a rack.
      partition.records = reader.LongBytes();
      result.partitions.push_back(std::move(partition));
    }
  }
  if (!reader.ok()) return BadAnswer("Fetch");
  return result;
}

}  // namespace sluice::connectors::kafka::fetch
