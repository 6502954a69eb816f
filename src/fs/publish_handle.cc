#include "fs/publish_handle.h"

#include <cstring>

#include "common/crc32.h"

namespace sluice::fs {

namespace {

constexpr std::string_view kMagic = "SLPH";
/// Both paths in full. Written where the hidden one is no HiddenPartPath() only.
constexpr char kVersionOfPaths = 1;
/// The final path and the attempt: tens of thousands of them wait to be published.
constexpr char kVersion = 2;

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
    if (rest.size() < 8) {
      ok = false;
      return 0;
    }
    uint64_t value = 0;
    for (int i = 7; i >= 0; --i)
      value = value << 8 | static_cast<unsigned char>(rest[static_cast<size_t>(i)]);
    rest.remove_prefix(8);
    return value;
  }

  std::string Text() {
    const uint64_t size = U64();
    if (!ok || size > rest.size()) {
      ok = false;
      return {};
    }
    std::string text(rest.substr(0, size));
    rest.remove_prefix(size);
    return text;
  }
};

}  // namespace

std::string HiddenPartPath(const std::string& final_path, std::string_view attempt) {
  std::string hidden = ".";
  hidden.append(NameOf(final_path)).append(".inprogress.").append(attempt);
  return JoinPath(ParentPath(final_path), hidden);
}

std::string EncodePublishHandle(const Publisher::HandleInfo& info) {
  const std::string begin = HiddenPartPath(info.final_path, "");
  const bool is_short = info.hidden_path.starts_with(begin);
  const std::string_view hidden(info.hidden_path);
  std::string handle(kMagic);
  handle.push_back(is_short ? kVersion : kVersionOfPaths);
  PutText(info.final_path, &handle);
  PutText(is_short ? hidden.substr(begin.size()) : hidden, &handle);
  PutU64(static_cast<uint64_t>(info.length_bytes), &handle);
  PutU64(Crc32(handle), &handle);
  return handle;
}

Result<Publisher::HandleInfo> DecodePublishHandle(std::string_view handle) {
  if (handle.size() < kMagic.size() + 1 || handle.substr(0, kMagic.size()) != kMagic) {
    return Status::Corrupt("The handle of a part file in the checkpoint is not one (" +
                           std::to_string(handle.size()) + " bytes without its mark).");
  }
  const char version = handle[kMagic.size()];
  if (version != kVersion && version != kVersionOfPaths) {
    return Status::Corrupt("The handle of a part file in the checkpoint has version " +
                           std::to_string(static_cast<int>(version)) +
                           ", this program knows versions up to " + std::to_string(kVersion) +
                           ". Resume with the release that wrote it, or a newer one.");
  }
  Cursor cursor{handle.substr(kMagic.size() + 1)};
  Publisher::HandleInfo info;
  info.final_path = cursor.Text();
  info.hidden_path = cursor.Text();
  info.length_bytes = static_cast<int64_t>(cursor.U64());
  const uint64_t checksum = cursor.U64();
  if (!cursor.ok || !cursor.rest.empty() || info.length_bytes < 0 ||
      checksum != Crc32(handle.substr(0, handle.size() - 8))) {
    return Status::Corrupt("The handle of a part file in the checkpoint is damaged (" +
                           std::to_string(handle.size()) +
                           " bytes, checksum or length does not fit).");
  }
  if (version == kVersion) info.hidden_path = HiddenPartPath(info.final_path, info.hidden_path);
  return info;
}

}  // namespace sluice::fs
