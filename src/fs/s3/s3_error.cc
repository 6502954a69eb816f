#include "fs/s3/s3_error.h"

#include "common/text.h"

namespace sluice::fs::s3 {
namespace {

struct KnownCode {
  std::string_view code;
  ErrorKind kind;
};

// Amazon's names ("Error responses", S3 API reference) and those of OSS where they differ.
constexpr KnownCode kKnownCodes[] = {
    {"NoSuchKey", ErrorKind::kNotFound},
    {"NoSuchUpload", ErrorKind::kUploadGone},
    {"NoSuchBucket", ErrorKind::kNoBucket},
    {"PreconditionFailed", ErrorKind::kExists},
    {"FileAlreadyExists", ErrorKind::kExists},
    {"ObjectAlreadyExists", ErrorKind::kExists},
    {"AccessDenied", ErrorKind::kDenied},
    {"AllAccessDisabled", ErrorKind::kDenied},
    {"AccountProblem", ErrorKind::kDenied},
    {"UserDisable", ErrorKind::kDenied},
    {"InvalidAccessKeyId", ErrorKind::kBadKeys},
    {"SignatureDoesNotMatch", ErrorKind::kBadKeys},
    {"InvalidToken", ErrorKind::kBadKeys},
    {"InvalidSecurity", ErrorKind::kBadKeys},
    {"InvalidSecurityToken", ErrorKind::kBadKeys},
    {"ExpiredToken", ErrorKind::kExpired},
    {"ExpiredTokenException", ErrorKind::kExpired},
    {"TokenRefreshRequired", ErrorKind::kExpired},
    {"SecurityTokenExpired", ErrorKind::kExpired},
    {"RequestTimeTooSkewed", ErrorKind::kClockSkew},
    {"PermanentRedirect", ErrorKind::kWrongRegion},
    {"TemporaryRedirect", ErrorKind::kWrongRegion},
    {"AuthorizationHeaderMalformed", ErrorKind::kWrongRegion},
    {"IllegalLocationConstraintException", ErrorKind::kWrongRegion},
    {"InvalidBucketName", ErrorKind::kBadName},
    {"InvalidObjectName", ErrorKind::kBadName},
    {"XMinioInvalidObjectName", ErrorKind::kBadName},
    {"KeyTooLongError", ErrorKind::kBadName},
    {"InvalidObjectState", ErrorKind::kArchived},
    {"NotImplemented", ErrorKind::kNotOffered},
    {"InternalError", ErrorKind::kRetry},
    {"SlowDown", ErrorKind::kRetry},
    {"ServiceUnavailable", ErrorKind::kRetry},
    {"Throttling", ErrorKind::kRetry},
    {"TooManyRequests", ErrorKind::kRetry},
    {"RequestTimeout", ErrorKind::kRetry},
    {"RequestTimeoutException", ErrorKind::kRetry},
    {"OperationAborted", ErrorKind::kRetry},
    {"ConditionalRequestConflict", ErrorKind::kRetry},
    {"IncompleteBody", ErrorKind::kRetry},
    {"BadDigest", ErrorKind::kRetry},
    {"XAmzContentSHA256Mismatch", ErrorKind::kRetry},
    // Of Ceph and versitygw, MinIO, and MinIO's full disks.
    {"QuotaExceeded", ErrorKind::kFull},
    {"XMinioAdminBucketQuotaExceeded", ErrorKind::kFull},
    {"XMinioStorageFull", ErrorKind::kFull},
    {"InsufficientStorage", ErrorKind::kFull},
};

std::string RetryNote(const BucketSettings& settings) {
  return "Requests are tried again for " + std::to_string(settings.retry_timeout_ms / 1000) +
         " s ('" + (settings.dialect == Dialect::kS3 ? "s3" : "fs.oss") + ".retry.timeout').";
}

std::string Remedy(ErrorKind kind, const StoreError& error, const BucketSettings& settings,
                   const Credentials& credentials) {
  switch (kind) {
    case ErrorKind::kDenied:
      return "Grant this access key the right to do that on the path, or give another one by " +
             settings.key_options() + ".";
    case ErrorKind::kBadKeys:
      return "Check " + settings.key_options() + " (the keys come from " + credentials.source +
             ").";
    case ErrorKind::kExpired:
      return "The keys from " + credentials.source +
             " have expired and no newer ones were found there. Renew them" +
             (credentials.session_token.empty() ? "." : ", the session token too.");
    case ErrorKind::kClockSkew:
      return "The clock of this machine differs too much from the store's" +
             (error.server_time.empty() ? "" : " (the store has " + error.server_time + ")") +
             ". Set the machine's clock.";
    case ErrorKind::kNoBucket:
      return "Create the bucket '" + settings.bucket + "', or correct the path; " +
             settings.endpoint_option() + " says at which store it is looked for.";
    case ErrorKind::kWrongRegion:
      return "The bucket is in another region" +
             (error.region.empty() ? "" : ", '" + error.region + "'") + ". Set " +
             settings.region_option() +
             (settings.endpoint_written ? " and " + settings.endpoint_option() : "") + " (now '" +
             settings.region + "').";
    case ErrorKind::kFull:
      return "The quota of the bucket '" + settings.bucket +
             "' or the disks of the store are full: free space there, or have the quota raised. " +
             RetryNote(settings);
    case ErrorKind::kBadName:
      return "The store takes no such name: correct 'path', or shorten the partition value (a key "
             "may have 1,024 bytes).";
    case ErrorKind::kArchived:
      return "The object is in an archive of the store: restore it there, or move it out of the "
             "table.";
    case ErrorKind::kRetry:
      return RetryNote(settings);
    default:
      return "";
  }
}

StatusCode CodeOf(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kNotFound:
    case ErrorKind::kUploadGone:
      return StatusCode::kNotFound;
    case ErrorKind::kExists:
      return StatusCode::kAlreadyExists;
    case ErrorKind::kNotOffered:
      return StatusCode::kUnsupported;
    case ErrorKind::kRetry:
    case ErrorKind::kFull:
      return StatusCode::kUnavailable;
    default:
      return StatusCode::kIoError;
  }
}

}  // namespace

ErrorKind Classify(const StoreError& error) {
  for (const KnownCode& known : kKnownCodes) {
    if (known.code == error.code) return known.kind;
  }
  switch (error.http_status) {
    case 301:
    case 307:
    case 308:
      return ErrorKind::kWrongRegion;
    case 401:
    case 403:
      return ErrorKind::kDenied;
    case 404:
      return ErrorKind::kNotFound;
    case 408:
    case 425:
    case 429:
      return ErrorKind::kRetry;
    case 412:
      return ErrorKind::kExists;
    case 501:
      return ErrorKind::kNotOffered;
    case 507:
      return ErrorKind::kFull;
    default:
      return error.http_status >= 500 ? ErrorKind::kRetry : ErrorKind::kOther;
  }
}

Status ToStatus(const StoreError& error, const std::string& operation,
                const BucketSettings& settings, const Credentials& credentials) {
  const ErrorKind kind = Classify(error);
  std::string text = operation + ": the store at " + settings.endpoint + " answered " +
                     std::to_string(error.http_status);
  if (!error.code.empty()) text += " " + error.code;
  if (!error.message.empty()) text += " (" + Printable(error.message, 200) + ")";
  text += credentials.anonymous() ? ", without an access key"
                                  : ", access key " + credentials.access_key_id;
  if (!error.request_id.empty()) text += ", request " + Printable(error.request_id, 80);
  text += ".";
  const std::string remedy = Remedy(kind, error, settings, credentials);
  if (!remedy.empty()) text += " " + remedy;
  const bool retriable = kind == ErrorKind::kRetry || kind == ErrorKind::kFull;
  return Status(CodeOf(kind), std::move(text)).Retriable(retriable);
}

}  // namespace sluice::fs::s3
