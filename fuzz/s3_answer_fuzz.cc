// What an object store may answer, and the handles of uploads in a checkpoint: whatever comes is
// read or refused, and a handle that was read is written to the same bytes.
#include <cstdint>
#include <string>
#include <string_view>

#include "common/check.h"
#include "fs/s3/s3_handle.h"
#include "fs/s3/s3_xml.h"

namespace {

using namespace sluice::fs::s3;  // NOLINT: one small file.

void CheckAnswers(std::string_view body) {
  StoreError error;
  ParseErrorDocument(body, &error);
  (void)IsErrorDocument(body);
  (void)ParseUploadPage(body).ok();
  (void)ParseElement(body, "UploadId").ok();
  (void)ParseDeleteResult(body).ok();
  if (const auto page = ParseListPage(body); page.ok()) {
    std::vector<std::string> keys;
    for (const ListedObject& object : page->objects) keys.push_back(object.key);
    (void)DeleteObjectsBody(keys);
  }
  if (const auto page = ParsePartPage(body); page.ok()) {
    const std::string complete = CompleteUploadBody(page->parts);
    SLUICE_CHECK(ParseElement(complete, "none").ok(), "our own XML is not read: " + complete);
  }
}

void CheckHandle(std::string_view bytes) {
  const auto handle = DecodeUploadHandle(bytes);
  if (!handle.ok()) return;
  const std::string again = EncodeUploadHandle(*handle);
  const auto twice = DecodeUploadHandle(again);
  SLUICE_CHECK(twice.ok(), "a written handle is not read");
  SLUICE_CHECK(EncodeUploadHandle(*twice) == again, "a handle changes");
}

/// With a handle of these pieces: random bytes do not get past its checksum.
void CheckMadeHandle(std::string_view text) {
  UploadHandle handle;
  const size_t half = text.size() / 2;
  handle.path = text.substr(0, half);
  handle.upload_id = text.substr(half);
  handle.tail = text;
  handle.length_bytes = static_cast<int64_t>(text.size());
  std::string bytes = EncodeUploadHandle(handle);
  const auto read = DecodeUploadHandle(bytes);
  SLUICE_CHECK(read.ok() && read->path == handle.path && read->upload_id == handle.upload_id &&
                   read->tail == handle.tail,
               "a handle does not come back");
  bytes[bytes.size() / 2] ^= 1;
  SLUICE_CHECK(!DecodeUploadHandle(bytes).ok(), "a damaged handle was taken");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  CheckAnswers(bytes);
  CheckHandle(bytes);
  CheckMadeHandle(bytes);
  return 0;
}
