#include "runtime/checkpoint/record_file.h"

#include <limits>

#include "runtime/checkpoint/crc32c.h"

namespace sluice::runtime {
namespace {

constexpr std::string_view kMagic = "SLUICEST";
constexpr std::string_view kEnd = "END";

Status Damaged(const std::string& path, const std::string& what) {
  return Status::Corrupt("State file " + path + " is damaged: " + what +
                         ". Restore it from a copy, or start over with --fresh.");
}

void AppendRecord(std::string_view payload, std::string* out) {
  AppendU32(static_cast<uint32_t>(payload.size()), out);
  AppendU32(Crc32c(payload), out);
  out->append(payload);
}

}  // namespace

void AppendU32(uint32_t value, std::string* out) {
  for (int shift = 0; shift < 32; shift += 8) out->push_back(static_cast<char>(value >> shift));
}

void AppendU64(uint64_t value, std::string* out) {
  for (int shift = 0; shift < 64; shift += 8) out->push_back(static_cast<char>(value >> shift));
}

void AppendText(std::string_view text, std::string* out) {
  AppendU64(text.size(), out);
  out->append(text);
}

uint32_t RecordReader::U32() {
  if (rest_.size() < 4) {
    ok_ = false;
    rest_ = {};
    return 0;
  }
  uint32_t value = 0;
  for (size_t i = 4; i-- > 0;) value = value << 8 | static_cast<unsigned char>(rest_[i]);
  rest_.remove_prefix(4);
  return value;
}

uint64_t RecordReader::U64() {
  const uint64_t low = U32();
  return low | static_cast<uint64_t>(U32()) << 32;
}

std::string_view RecordReader::Text() {
  const uint64_t size = U64();
  if (!ok_ || size > rest_.size()) {
    ok_ = false;
    rest_ = {};
    return {};
  }
  const std::string_view text = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return text;
}

Result<std::string> EncodeRecordFile(const std::vector<std::string>& records, uint32_t version) {
  constexpr size_t kFrameBytes = 8;
  size_t size = kMagic.size() + sizeof version + kFrameBytes + kEnd.size() + sizeof(uint64_t);
  for (const std::string& record : records) size += kFrameBytes + record.size();
  std::string bytes;
  bytes.reserve(size);
  bytes.append(kMagic);
  AppendU32(version, &bytes);
  for (const std::string& record : records) {
    if (record.size() > std::numeric_limits<uint32_t>::max()) {
      return Status::Unsupported("A state record of " + std::to_string(record.size()) +
                                 " bytes is too large: the limit is 4 GiB an operator subtask. "
                                 "Raise the parallelism so that each subtask holds less.");
    }
    AppendRecord(record, &bytes);
  }
  std::string end(kEnd);
  AppendU64(records.size(), &end);
  AppendRecord(end, &bytes);
  return bytes;
}

Result<std::vector<std::string_view>> DecodeRecordFile(std::string_view bytes,
                                                       const std::string& path) {
  if (!bytes.starts_with(kMagic)) return Damaged(path, "it does not begin like a state file");
  RecordReader header(bytes.substr(kMagic.size()));
  const uint32_t version = header.U32();
  if (!header.ok()) return Damaged(path, "it ends within its header");
  if (version == 0 || version > kStateFileVersion) {
    return Status::Unsupported("State file " + path + " has version " + std::to_string(version) +
                               ", this program reads up to version " +
                               std::to_string(kStateFileVersion) +
                               ". Use the version of Sluice that wrote it, or a later one.");
  }
  std::vector<std::string_view> records;
  size_t at = kMagic.size() + 4;
  while (true) {
    RecordReader prefix(bytes.substr(at));
    const uint32_t length = prefix.U32();
    const uint32_t checksum = prefix.U32();
    if (!prefix.ok() || bytes.size() - at - 8 < length) {
      return Damaged(path, "it ends within the record at byte " + std::to_string(at));
    }
    const std::string_view payload = bytes.substr(at + 8, length);
    if (Crc32c(payload) != checksum) {
      return Damaged(path, "the checksum of the record at byte " + std::to_string(at) + " differs");
    }
    at += 8 + length;
    if (payload.size() == kEnd.size() + 8 && payload.starts_with(kEnd)) {
      RecordReader end(payload.substr(kEnd.size()));
      if (end.U64() != records.size()) return Damaged(path, "records are missing");
      if (at != bytes.size()) return Damaged(path, "bytes follow its end");
      return records;
    }
    records.push_back(payload);
  }
}

}  // namespace sluice::runtime
