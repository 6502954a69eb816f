#include "formats/avro/container.h"

#include <algorithm>

#include "common/text.h"
#include "formats/avro/binary_input.h"
#include "formats/avro/binary_output.h"
#include "types/arrow_status.h"

namespace sluice::formats::avro {
namespace {

constexpr std::string_view kMagic("Obj\x01", 4);
constexpr int64_t kWindowBytes = 256 << 10;
constexpr int64_t kFirstHeaderBytes = 16 << 10;
constexpr int64_t kMaxHeaderBytes = 64 << 20;  // A schema is some KiB; more is damage.
constexpr int64_t kMaxBlockHeaderBytes = 20;   // Two numbers of up to ten bytes.

enum class Parsed { kDone, kNeedsMore, kDamaged };

/// Reads the header from a prefix of the file.
Parsed ParseHeader(std::string_view bytes, ContainerHeader* header, std::string* codec,
                   bool* has_schema) {
  BinaryInput input(bytes);
  if (!input.Skip(static_cast<int64_t>(kMagic.size()))) return Parsed::kNeedsMore;
  while (true) {
    int64_t count = 0;
    if (!input.ReadLong(&count)) return Parsed::kNeedsMore;
    if (count == 0) break;
    if (count < 0) {
      if (count == INT64_MIN || !input.SkipLong()) return Parsed::kNeedsMore;
      count = -count;
    }
    if (count > kMaxHeaderBytes) return Parsed::kDamaged;
    for (int64_t i = 0; i < count; ++i) {
      std::string_view key;
      std::string_view value;
      if (!input.ReadSized(&key) || !input.ReadSized(&value)) return Parsed::kNeedsMore;
      if (key == "avro.schema") {
        header->schema_json = value;
        *has_schema = true;
      } else if (key == "avro.codec") {
        *codec = value;
      }
    }
  }
  std::string_view sync;
  if (!input.ReadBytes(kSyncBytes, &sync)) return Parsed::kNeedsMore;
  header->sync = sync;
  header->end = input.position();
  return Parsed::kDone;
}

}  // namespace

std::string EncodeHeader(const ContainerHeader& header) {
  std::string out(kMagic);
  PutLong(2, &out);
  PutSized("avro.codec", &out);
  PutSized(CodecName(header.codec), &out);
  PutSized("avro.schema", &out);
  PutSized(header.schema_json, &out);
  PutLong(0, &out);
  return out + header.sync;
}

Result<std::unique_ptr<Container>> Container::Open(
    std::shared_ptr<arrow::io::RandomAccessFile> file) {
  SLUICE_ASSIGN_ARROW(const int64_t size, file->GetSize());
  std::unique_ptr<Container> container(new Container(std::move(file), size));
  SLUICE_RETURN_NOT_OK(container->ReadHeader());
  return container;
}

Status Container::ReadHeader() {
  int64_t wanted = kFirstHeaderBytes;
  while (true) {
    SLUICE_ASSIGN_OR_RETURN(const std::string_view bytes, View(0, wanted));
    if (!bytes.starts_with(kMagic)) {
      return Status::DataError("Not an Avro data file: it begins with '" +
                               Printable(bytes.substr(0, 8)) + "' instead of 'Obj\\x01'.");
    }
    std::string codec = "null";
    bool has_schema = false;
    const Parsed parsed = ParseHeader(bytes, &header_, &codec, &has_schema);
    if (parsed == Parsed::kDone) {
      if (!has_schema) {
        return Status::DataError("The header of the Avro file has no 'avro.schema'.");
      }
      const auto found = FindCodec(codec);
      if (!found.ok()) return Status::DataError(found.status().message());
      header_.codec = *found;
      return {};
    }
    const auto seen = static_cast<int64_t>(bytes.size());
    if (parsed == Parsed::kDamaged || seen >= file_bytes_ || seen >= kMaxHeaderBytes) {
      return Status::DataError(
          "The header of the Avro file is cut or damaged: it does not end within " +
          std::to_string(seen) + " bytes.");
    }
    wanted = seen * 4;
  }
}

Result<std::string_view> Container::View(int64_t offset, int64_t wanted) {
  wanted = std::min(wanted, file_bytes_ - offset);
  if (wanted <= 0) return std::string_view();
  if (offset < window_offset_ || offset + wanted > window_offset_ + window_bytes_) {
    const int64_t length = std::min(std::max(wanted, kWindowBytes), file_bytes_ - offset);
    if (length > window_capacity_) {
      window_bytes_ = 0;
      window_.reset(new char[static_cast<size_t>(length)]);
      window_capacity_ = length;
    }
    window_offset_ = offset;
    window_bytes_ = 0;
    while (window_bytes_ < wanted) {
      SLUICE_ASSIGN_ARROW(const int64_t count,
                          file_->ReadAt(offset + window_bytes_, length - window_bytes_,
                                        window_.get() + window_bytes_));
      if (count == 0) {
        return Status::DataError("The file has become shorter while it was read: " +
                                 std::to_string(offset + window_bytes_) + " bytes are left of " +
                                 std::to_string(file_bytes_) + ".");
      }
      window_bytes_ += count;
    }
  }
  return std::string_view(window_.get() + (offset - window_offset_), static_cast<size_t>(wanted));
}

Result<int64_t> Container::FindBlock(int64_t begin, int64_t end) {
  if (begin <= header_.end) return std::min(header_.end, end);
  // The marker ends where the block begins.
  for (int64_t at = begin - kSyncBytes; at + kSyncBytes < end; at += kWindowBytes - kSyncBytes) {
    SLUICE_ASSIGN_OR_RETURN(const std::string_view bytes, View(at, kWindowBytes));
    const size_t found = bytes.find(header_.sync);
    if (found == std::string_view::npos) continue;
    return std::min(at + static_cast<int64_t>(found) + kSyncBytes, end);
  }
  return end;
}

Result<Block> Container::ReadBlockHeader(int64_t offset) {
  SLUICE_ASSIGN_OR_RETURN(const std::string_view bytes, View(offset, kMaxBlockHeaderBytes));
  BinaryInput input(bytes);
  Block block;
  block.offset = offset;
  if (!input.ReadLong(&block.row_count) || !input.ReadLong(&block.data_bytes)) {
    return Status::DataError("The file is cut or damaged: " + Describe(offset) +
                             " has no complete header.");
  }
  block.data_offset = offset + input.position();
  if (block.row_count < 0 || block.data_bytes < 0) {
    return Status::DataError("The file is damaged: " + Describe(offset) + " claims " +
                             std::to_string(block.row_count) + " records in " +
                             std::to_string(block.data_bytes) + " bytes.");
  }
  const int64_t left = file_bytes_ - block.data_offset - kSyncBytes;
  if (block.data_bytes > left) {
    return Status::DataError("The file is cut or damaged: " + Describe(offset) + " claims " +
                             std::to_string(block.data_bytes) + " bytes and its marker, but the " +
                             "file ends at byte " + std::to_string(file_bytes_) + ".");
  }
  if (block.data_bytes > kMaxBlockBytes) {
    return Status::DataError(Describe(offset) + " has " + std::to_string(block.data_bytes) +
                             " bytes, more than the " + std::to_string(kMaxBlockBytes) +
                             " that a block may have.");
  }
  return block;
}

Result<std::string_view> Container::ReadBlockData(const Block& block) {
  SLUICE_ASSIGN_OR_RETURN(const std::string_view bytes,
                          View(block.data_offset, block.data_bytes + kSyncBytes));
  const auto size = static_cast<size_t>(block.data_bytes);
  if (bytes.substr(size) != header_.sync) {
    return Status::DataError("The file is damaged: the marker behind " + Describe(block.offset) +
                             " is not the one of the header.");
  }
  return bytes.substr(0, size);
}

std::string Container::Describe(int64_t block_offset) {
  int64_t number = 1;
  int64_t at = header_.end;
  while (at < block_offset) {
    const auto bytes = View(at, kMaxBlockHeaderBytes);
    Block block;
    if (!bytes.ok()) break;
    BinaryInput input(*bytes);
    const bool read = input.ReadLong(&block.row_count) && input.ReadLong(&block.data_bytes);
    if (!read || block.data_bytes < 0 || block.data_bytes > file_bytes_ - at) break;
    block.data_offset = at + input.position();
    at = block.next();
    ++number;
  }
  const std::string place = "at byte " + std::to_string(block_offset) + " of the file";
  if (at != block_offset) return "the block " + place;
  return "block " + std::to_string(number) + " (" + place + ")";
}

}  // namespace sluice::formats::avro
