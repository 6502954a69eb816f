#include "connectors/filesystem/source/file_split.h"

namespace sluice::connectors::filesystem {

namespace {

constexpr uint64_t kVersion = 1;

void PutNumber(uint64_t value, std::string* out) {
  for (int shift = 0; shift < 64; shift += 8) out->push_back(static_cast<char>(value >> shift));
}

void PutText(std::string_view text, std::string* out) {
  PutNumber(text.size(), out);
  out->append(text);
}

class Fields {
 public:
  explicit Fields(std::string_view bytes) : rest_(bytes) {}
  uint64_t Number() {
    if (rest_.size() < 8) {
      ok_ = false;
      return 0;
    }
    uint64_t value = 0;
    for (size_t i = 8; i-- > 0;) value = value << 8 | static_cast<unsigned char>(rest_[i]);
    rest_.remove_prefix(8);
    return value;
  }
  std::string Text() {
    const uint64_t size = Number();
    if (!ok_ || size > rest_.size()) {
      ok_ = false;
      return {};
    }
    std::string text(rest_.substr(0, size));
    rest_.remove_prefix(size);
    return text;
  }
  bool done() const { return ok_ && rest_.empty(); }
  size_t left() const { return rest_.size(); }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace

std::string EncodeSplit(const FileSplit& split) {
  std::string bytes;
  PutNumber(kVersion, &bytes);
  PutText(split.file.path, &bytes);
  for (const int64_t number :
       {split.file.size_bytes, split.file.modified_ms, split.begin, split.end, split.position,
        split.lines, split.records, int64_t{split.started}}) {
    PutNumber(static_cast<uint64_t>(number), &bytes);
  }
  PutNumber(split.partition.size(), &bytes);
  for (const auto& value : split.partition) {
    PutNumber(value ? 1 : 0, &bytes);
    PutText(value.value_or(""), &bytes);
  }
  return bytes;
}

Result<FileSplit> DecodeSplit(std::string_view bytes) {
  Fields fields(bytes);
  const uint64_t version = fields.Number();
  if (version != kVersion) {
    return Status::Corrupt("A file split in the checkpoint has version " + std::to_string(version) +
                           ", this program knows version " + std::to_string(kVersion) +
                           ". Resume with the release that wrote it, or a newer one.");
  }
  FileSplit split;
  split.file.path = fields.Text();
  for (int64_t* number : {&split.file.size_bytes, &split.file.modified_ms, &split.begin, &split.end,
                          &split.position, &split.lines, &split.records}) {
    *number = static_cast<int64_t>(fields.Number());
  }
  split.started = fields.Number() != 0;
  const uint64_t count = fields.Number();
  if (count > fields.left()) return Status::Corrupt("A file split in the checkpoint is damaged.");
  for (uint64_t i = 0; i < count; ++i) {
    const bool present = fields.Number() != 0;
    std::string text = fields.Text();
    split.partition.push_back(present ? std::optional<std::string>(std::move(text)) : std::nullopt);
  }
  if (!fields.done()) return Status::Corrupt("A file split in the checkpoint is damaged.");
  return split;
}

Status Unreadable(const std::string& path, Status reason) {
  if (reason.code() == StatusCode::kDataError) {
    return std::move(reason).WithContext(
        "Cannot read " + path +
        ". To read the table without this file, move it away or give it a name that begins with "
        "'.' or '_'.");
  }
  // Of a disk or a store the message says all of it already.
  if (reason.message().find(path) != std::string::npos) return reason;
  return std::move(reason).WithContext("Cannot read " + path + ".");
}

}  // namespace sluice::connectors::filesystem
