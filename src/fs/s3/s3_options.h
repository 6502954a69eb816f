// How a bucket is reached: the options of SET and -D (and of a table), the environment and the
// user's profile files (connectors.md §6.3, §6.4).
//
// Order: keys of the bucket (fs.s3a.bucket.<b>.*, fs.oss.bucket.<b>.*), general keys, environment,
// profile files. All S3 spellings (s3.*, s3a.*, fs.s3a.*) mean the same.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/options.h"
#include "fs/s3/sigv4.h"

namespace sluice::fs::s3 {

enum class Dialect { kS3, kOss };

struct BucketSettings {
  Dialect dialect = Dialect::kS3;
  std::string scheme;  // As in the path, for messages.
  std::string bucket;
  std::string endpoint;           // "https://host" or "http://host:port", without a path.
  bool endpoint_written = false;  // By the user; else Amazon's own.
  std::string region;
  bool path_style = false;

  Credentials written;                 // From options; access_key_id empty: none there.
  std::vector<std::string> providers;  // Class names as written; empty: the usual order.
  std::string profile;
  std::string assumed_role_arn;
  std::string assumed_role_session = "sluice";
  std::string sts_endpoint;

  std::string ca_file;  // Empty: the system's.

  int64_t part_size_bytes = 5 << 20;
  int concurrent_uploads = 4;
  int64_t read_ahead_bytes = 8 << 20;
  int64_t retry_timeout_ms = 300'000;
  int64_t connect_timeout_ms = 10'000;
  int64_t stall_timeout_ms = 60'000;

  /// "s3.endpoint" or "fs.oss.endpoint": what a message tells to look at.
  std::string endpoint_option() const;
  std::string key_options() const;
  std::string region_option() const;
};

/// Looks up environment variables; a test brings its own.
using Environment = std::function<std::optional<std::string>(std::string_view)>;
std::optional<std::string> ProcessEnvironment(std::string_view name);

/// Fails with kInvalidArgument for a value that cannot be, and for an s3.* or fs.oss.* key that is
/// nearly one that is known. Other unknown keys are ignored with one warning: configurations for
/// Hadoop have hundreds.
Result<BucketSettings> ReadBucketSettings(std::string_view scheme, const std::string& bucket,
                                          const OptionMap& options, const Environment& environment);

/// The same checks as far as they need no bucket and no endpoint: what a table can be told when it
/// is created.
Status CheckStoreOptions(std::string_view scheme, const OptionMap& options);

/// "key = value" lines of one section of an AWS profile file ("[name]" or "[profile name]"); empty
/// when file or section is missing.
OptionMap ReadProfile(const std::string& path, const std::string& profile);
std::string ProfileFile(const Environment& environment, std::string_view variable,
                        std::string_view name);

}  // namespace sluice::fs::s3
