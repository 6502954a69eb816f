#include "fs/s3/s3_handle.h"

#include "common/crc32.h"

namespace sluice::fs::s3 {
namespace {

constexpr std::string_view kMagic = "SLUH";
constexpr char kVersion = 1;

void PutU64(uint64_t value, std::string* out) {
  for (int shift = 0; shift < 64; shift += 8) out->push_back(static_cast<char>(value >> shift));
}

void PutText(std::string_view text, std::string* out) {
  PutU64(text.size(), out);
  out->append(text);
}

// Takes fields off the front; `ok` turns false for good when the bytes run out.
struct Cursor {
  std::string_view rest;
  bool ok = true;

  uint64_t U64() {
    ok = ok && rest.size() >= 8;
    if (!ok) return 0;
    uint64_t value = 0;
    for (size_t i = 8; i-- > 0;) value = value << 8 | static_cast<unsigned char>(rest[i]);
    rest.remove_prefix(8);
    return value;
  }
  std::string Text() {
    const uint64_t size = U64();
    ok = ok && size <= rest.size();
    if (!ok) return {};
    std::string text(rest.substr(0, size));
    rest.remove_prefix(size);
    return text;
  }
};

Status Damaged(size_t size) {
  return Status::Corrupt("The handle of an upload in the checkpoint is damaged (" +
                         std::to_string(size) + " bytes, checksum or length does not fit).");
}

}  // namespace

std::string EncodeUploadHandle(const UploadHandle& handle) {
  std::string out(kMagic);
  out.push_back(kVersion);
  PutText(handle.path, &out);
  PutText(handle.upload_id, &out);
  PutU64(static_cast<uint64_t>(handle.length_bytes), &out);
  PutU64(handle.parts.size(), &out);
  for (const UploadedPart& part : handle.parts) {
    PutU64(static_cast<uint64_t>(part.number), &out);
    PutU64(static_cast<uint64_t>(part.size_bytes), &out);
    PutText(part.etag, &out);
  }
  PutText(handle.tail, &out);
  PutU64(Crc32(out), &out);
  return out;
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
  Cursor cursor{bytes.substr(kMagic.size() + 1)};
  UploadHandle handle;
  handle.path = cursor.Text();
  handle.upload_id = cursor.Text();
  handle.length_bytes = static_cast<int64_t>(cursor.U64());
  int64_t total_bytes = 0;
  for (uint64_t count = cursor.U64(); count > 0 && cursor.ok; --count) {
    UploadedPart part;
    part.number = static_cast<int>(cursor.U64());
    part.size_bytes = static_cast<int64_t>(cursor.U64());
    part.etag = cursor.Text();
    total_bytes += part.size_bytes;
    handle.parts.push_back(std::move(part));
  }
  handle.tail = cursor.Text();
  total_bytes += static_cast<int64_t>(handle.tail.size());
  const uint64_t checksum = cursor.U64();
  const bool fits = cursor.ok && cursor.rest.empty() && total_bytes == handle.length_bytes &&
                    checksum == Crc32(bytes.substr(0, bytes.size() - 8));
  if (!fits) return Damaged(bytes.size());
  return handle;
}

}  // namespace sluice::fs::s3
