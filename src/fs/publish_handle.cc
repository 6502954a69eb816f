#include "fs/publish_handle.h"

#include "common/byte_codec.h"
#include "common/crc32.h"

namespace sluice::fs {

namespace {

constexpr std::string_view kMagic = "SLPH";
/// Both paths in full. Written where the hidden one is no HiddenPartPath() only.
constexpr char kVersionOfPaths = 1;
/// The final path and the attempt: tens of thousands of them wait to be published.
constexpr char kVersion = 2;

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
  ByteWriter handle;
  handle.PutBytes(kMagic);
  handle.PutU8(is_short ? kVersion : kVersionOfPaths);
  handle.PutText(info.final_path);
  handle.PutText(is_short ? hidden.substr(begin.size()) : hidden);
  handle.PutI64(info.length_bytes);
  handle.PutU64(Crc32(handle.bytes()));
  return std::move(handle).Take();
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
  ByteReader fields(handle.substr(kMagic.size() + 1));
  Publisher::HandleInfo info;
  info.final_path = fields.Text();
  info.hidden_path = fields.Text();
  info.length_bytes = fields.I64();
  const uint64_t checksum = fields.U64();
  if (!fields.AtEnd() || info.length_bytes < 0 ||
      checksum != Crc32(handle.substr(0, handle.size() - 8))) {
    return Status::Corrupt("The handle of a part file in the checkpoint is damaged (" +
                           std::to_string(handle.size()) +
                           " bytes, checksum or length does not fit).");
  }
  if (version == kVersion) info.hidden_path = HiddenPartPath(info.final_path, info.hidden_path);
  return info;
}

}  // namespace sluice::fs
