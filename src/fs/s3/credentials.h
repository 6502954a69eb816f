// Where access keys come from, and how new ones are had when they expire.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "common/clock.h"
#include "common/result.h"
#include "fs/http/http_client.h"
#include "fs/s3/s3_options.h"
#include "fs/s3/sigv4.h"

namespace sluice::fs::s3 {

/// One place to look. Thread-safe.
class CredentialsSource {
 public:
  virtual ~CredentialsSource() = default;
  virtual std::string_view name() const = 0;
  /// No access key: this place has none, the next one is asked. May block.
  virtual Result<Credentials> Load() = 0;
};

/// The places in their order. Keys are kept until shortly before they expire, or until the store
/// says that they have. Thread-safe.
class CredentialsProvider {
 public:
  CredentialsProvider(std::vector<std::unique_ptr<CredentialsSource>> sources, const Clock* clock,
                      std::string nothing_found)
      : sources_(std::move(sources)), clock_(*clock), nothing_found_(std::move(nothing_found)) {}

  Result<Credentials> Get();
  /// The store has refused `refused` as expired. True when there are other keys now.
  Result<bool> Renew(const Credentials& refused);

 private:
  Status Load();

  const std::vector<std::unique_ptr<CredentialsSource>> sources_;
  const Clock& clock_;
  const std::string nothing_found_;
  std::mutex mutex_;
  bool loaded_ = false;
  Credentials current_;
};

/// The providers that `settings` names, or: options, environment, web identity, profile files,
/// container, instance (S3); options, environment (OSS). Fails with kInvalidArgument for a provider
/// class that has no counterpart here.
Result<std::unique_ptr<CredentialsProvider>> MakeCredentialsProvider(
    const BucketSettings& settings, const Environment& environment,
    std::shared_ptr<HttpClient> http, const Clock* clock);

}  // namespace sluice::fs::s3
