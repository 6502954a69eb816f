// The requests of the fetch path as bytes, and their answers as values. Versions are those before
// tagged fields, which brokers from 0.11 on all speak (KIP-896 keeps them).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"

namespace sluice::connectors::kafka::fetch {

enum class ApiKey : int16_t {
  kFetch = 1,
  kListOffsets = 2,
  kMetadata = 3,
  kSaslHandshake = 17,
  kApiVersions = 18,
  kSaslAuthenticate = 36,
};

/// Error codes of the protocol that are told apart here.
enum class ErrorCode : int16_t {
  kNone = 0,
  kOffsetOutOfRange = 1,
  kCorruptMessage = 2,
  kUnknownTopicOrPartition = 3,
  kLeaderNotAvailable = 5,
  kNotLeaderOrFollower = 6,
  kTopicAuthorizationFailed = 29,
  kClusterAuthorizationFailed = 31,
  kUnsupportedSaslMechanism = 33,
  kIllegalSaslState = 34,
  kUnsupportedVersion = 35,
  kSaslAuthenticationFailed = 58,
  kUnsupportedCompressionType = 76,
};
/// "NOT_LEADER_OR_FOLLOWER", "error 93".
std::string ErrorName(ErrorCode code);

/// Which versions a broker speaks, by key.
struct VersionRange {
  int16_t low = 0;
  int16_t high = -1;
};
using ApiVersions = std::map<int16_t, VersionRange>;

/// The newest version of `key` that both sides speak; fails with kUnsupported, naming both ranges.
Result<int16_t> ChooseVersion(const ApiVersions& broker, ApiKey key);

/// A request without its length: header and body.
std::string EncodeRequest(ApiKey key, int16_t version, int32_t correlation_id,
                          std::string_view client_id, std::string_view body);

// Each decoder takes the answer behind the correlation id and fails with kDataError when the bytes
// do not hold what they should. An error code inside is a value.

Result<ApiVersions> DecodeApiVersions(std::string_view answer);

std::string EncodeSaslHandshake(std::string_view mechanism);
struct SaslHandshakeAnswer {
  ErrorCode error = ErrorCode::kNone;
  std::vector<std::string> mechanisms;
};
Result<SaslHandshakeAnswer> DecodeSaslHandshake(std::string_view answer);

std::string EncodeSaslAuthenticate(std::string_view bytes);
struct SaslAuthenticateAnswer {
  ErrorCode error = ErrorCode::kNone;
  std::string message;
  std::string bytes;
  int64_t session_lifetime_ms = 0;  // 0: for ever.
};
Result<SaslAuthenticateAnswer> DecodeSaslAuthenticate(int16_t version, std::string_view answer);

struct MetadataAnswer {
  struct Broker {
    int32_t id = -1;
    std::string host;
    int32_t port = 0;
  };
  struct Partition {
    std::string topic;
    int32_t partition = 0;
    ErrorCode error = ErrorCode::kNone;
    int32_t leader = -1;
  };
  std::vector<Broker> brokers;
  std::vector<Partition> partitions;
  std::map<std::string, ErrorCode> topic_errors;
};
std::string EncodeMetadata(int16_t version, const std::vector<std::string>& topics);
Result<MetadataAnswer> DecodeMetadata(int16_t version, std::string_view answer);

/// Asks for the first offset of one partition.
std::string EncodeListOffsets(int16_t version, bool read_committed, std::string_view topic,
                              int32_t partition);
struct ListOffsetsAnswer {
  ErrorCode error = ErrorCode::kNone;
  int64_t offset = -1;
};
Result<ListOffsetsAnswer> DecodeListOffsets(int16_t version, std::string_view answer);

struct FetchRequest {
  struct Partition {
    std::string_view topic;
    int32_t partition = 0;
    int64_t offset = 0;
  };
  int32_t max_wait_ms = 500;
  int32_t min_bytes = 1;
  int32_t max_bytes = 50 << 20;
  int32_t partition_max_bytes = 1 << 20;
  bool read_committed = false;
  std::vector<Partition> partitions;
};
std::string EncodeFetch(int16_t version, const FetchRequest& request);

struct AbortedTransaction {
  int64_t producer_id = 0;
  int64_t first_offset = 0;
};
/// `records` is part of the answer's bytes.
struct FetchedPartition {
  std::string_view topic;
  int32_t partition = 0;
  ErrorCode error = ErrorCode::kNone;
  int64_t high_watermark = -1;
  int64_t log_start_offset = -1;
  std::vector<AbortedTransaction> aborted;
  std::string_view records;
};
struct FetchAnswer {
  int32_t throttle_ms = 0;
  ErrorCode error = ErrorCode::kNone;
  std::vector<FetchedPartition> partitions;
};
Result<FetchAnswer> DecodeFetch(int16_t version, std::string_view answer);

}  // namespace sluice::connectors::kafka::fetch
