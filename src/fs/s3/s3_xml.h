// The XML of the S3 interface: answers read, bodies written. Element names are taken without
// namespaces; an answer that is no XML fails with kUnavailable, because it was cut on its way.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"

namespace sluice::fs::s3 {

struct ListedObject {
  std::string key;
  int64_t size_bytes = 0;
  int64_t modified_ms = 0;
};

struct ListPage {
  std::vector<ListedObject> objects;
  std::vector<std::string> prefixes;  // Common prefixes, with the delimiter at their end.
  std::string next_token;             // Empty: the last page.
};

struct UploadedPart {
  int number = 0;  // From 1.
  std::string etag;
  int64_t size_bytes = 0;
};

struct ListedUpload {
  std::string key;
  std::string upload_id;
  int64_t initiated_ms = 0;
};

struct UploadPage {
  std::vector<ListedUpload> uploads;
  std::string next_key;  // Empty: the last page.
  std::string next_upload_id;
};

struct PartPage {
  std::vector<UploadedPart> parts;
  std::string next_number;  // Empty: the last page.
};

/// What an <Error> document or an HTTP status says.
struct StoreError {
  int http_status = 0;
  std::string code;  // "NoSuchKey"; made from the status where there was no document.
  std::string message;
  std::string request_id;
  std::string region;       // Where the bucket is, if the store says so.
  std::string server_time;  // For clock skew.
};

/// True when the document's root is <Error>, also in an answer with status 200.
bool IsErrorDocument(std::string_view body);
/// Fills code, message, request id, region and server time from a document, if it is one.
void ParseErrorDocument(std::string_view body, StoreError* error);

/// With encoding-type=url, which is what List asks for: keys may hold bytes that XML cannot.
Result<ListPage> ParseListPage(std::string_view body);
Result<UploadPage> ParseUploadPage(std::string_view body);
Result<PartPage> ParsePartPage(std::string_view body);
/// Text of one element below the root, "" when it is not there.
Result<std::string> ParseElement(std::string_view body, const char* name);
/// Keys that a DeleteObjects answer says were not deleted, each with its code and message.
struct FailedDelete {
  std::string key;
  std::string code;
  std::string message;
};
Result<std::vector<FailedDelete>> ParseDeleteResult(std::string_view body);

std::string CompleteUploadBody(const std::vector<UploadedPart>& parts);
std::string DeleteObjectsBody(const std::vector<std::string>& keys);

}  // namespace sluice::fs::s3
