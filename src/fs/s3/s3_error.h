// What an error of a store means for us, and the message that a person gets.
#pragma once

#include <string>
#include <string_view>

#include "common/result.h"
#include "fs/s3/s3_options.h"
#include "fs/s3/s3_xml.h"

namespace sluice::fs::s3 {

enum class ErrorKind {
  kRetry,       // 5xx, 429, timeouts: the same request may succeed soon.
  kFull,        // A quota or the store's disks: it may succeed when someone has made room.
  kNotFound,    // The object is not there.
  kUploadGone,  // The multipart upload was completed or aborted, or has expired.
  kExists,      // A condition failed: something has that name.
  kExpired,     // Keys that were good once.
  kBadKeys,     // Unknown access key, wrong secret.
  kDenied,      // Known, and not allowed.
  kClockSkew,   // This machine's clock is off.
  kNoBucket,
  kWrongRegion,  // Ask elsewhere: StoreError::region may say where.
  kBadName,      // Of a bucket or an object.
  kArchived,     // In cold storage: to be restored before it can be read.
  kNotOffered,   // The store does not know this request or header.
  kOther,
};

ErrorKind Classify(const StoreError& error);

/// kNotFound and kUploadGone become kNotFound, kExists kAlreadyExists, kNotOffered kUnsupported,
/// kRetry and kFull a kUnavailable that can be retried, all else a kIoError that cannot.
/// `operation` is "PutObject s3://bucket/key". Names code, endpoint, access key id and the option
/// to look at; never the secret.
Status ToStatus(const StoreError& error, const std::string& operation,
                const BucketSettings& settings, const Credentials& credentials);

}  // namespace sluice::fs::s3
