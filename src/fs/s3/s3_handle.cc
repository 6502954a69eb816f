#include "fs/s3/s3_handle.h"

#include "common/byte_codec.h"
#include "common/crc32.h"

namespace sluice::fs::s3 {
namespace {

constexpr std::string_view kMagic = "SLUH";
constexpr char kVersion = 1;

Status Damaged(size_t size) {
  return Status::Corrupt("The handle of an upload in the checkpoint is damaged (" +
                         std::to_string(size) + " bytes, checksum or length does not fit).");
}

}  // namespace

std::string EncodeUploadHandle(const UploadHandle& handle) {
  ByteWriter out;
  out.PutBytes(kMagic);
  out.PutU8(kVersion);
  out.PutText(handle.path);
  out.PutText(handle.upload_id);
  out.PutI64(handle.length_bytes);
  out.PutU64(handle.parts.size());
  for (const UploadedPart& part : handle.parts) {
    out.PutI64(part.number);
    out.PutI64(part.size_bytes);
    out.PutText(part.etag);
  }
  out.PutText(handle.tail);
  out.PutU64(Crc32(out.bytes()));
  return std::move(out).Take();
}

Result<UploadHandle> DecodeUploadHandle(std::string_view bytes) {
  if (bytes.size() < kMagic.size() + 9 || !bytes.starts_with(kMagic)) {
    return Status::Corrupt(
        "The handle of an upload in the checkpoint is not one (" + std::to_string(bytes.size()) +
        " bytes without its mark). Was the table's path moved to an object store "
        "while a file was open? Start from a checkpoint of the old path.");
  }
  if (bytes[kMagic.size()] != kVersion) {
    return Status::Corrupt("The handle of an upload in the checkpoint has version " +
                           std::to_string(static_cast<int>(bytes[kMagic.size()])) +
                           ", this program knows version " + std::to_string(kVersion) +
                           ". Resume with the release that wrote it, or a newer one.");
  }
  ByteReader fields(bytes.substr(kMagic.size() + 1));
  UploadHandle handle;
  handle.path = fields.Text();
  handle.upload_id = fields.Text();
  handle.length_bytes = fields.I64();
  int64_t total_bytes = 0;
  for (size_t count = fields.Count(); count > 0 && fields.ok(); --count) {
    UploadedPart part;
    part.number = static_cast<int>(fields.I64());
    part.size_bytes = fields.I64();
    part.etag = fields.Text();
    total_bytes += part.size_bytes;
    handle.parts.push_back(std::move(part));
  }
  handle.tail = fields.Text();
  total_bytes += static_cast<int64_t>(handle.tail.size());
  const uint64_t checksum = fields.U64();
  const bool fits = fields.AtEnd() && total_bytes == handle.length_bytes &&
                    checksum == Crc32(bytes.substr(0, bytes.size() - 8));
  if (!fits) return Damaged(bytes.size());
  return handle;
}

}  // namespace sluice::fs::s3
