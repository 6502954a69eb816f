#include "formats/parquet/parquet_footer.h"

#include <arrow/buffer.h>

#include "types/arrow_status.h"

namespace sluice::formats::parquet_format {
namespace {

constexpr std::string_view kMagic = "PAR1";
constexpr std::string_view kEncryptedMagic = "PARE";
constexpr int64_t kEndBytes = 8;  // Length of the footer and the magic.
// Fields of FileMetaData and RowGroup.
constexpr int16_t kSchema = 2;
constexpr int16_t kKeyValues = 5;
constexpr int16_t kColumnOrders = 7;
constexpr int16_t kOrdinal = 7;
// An ordinal is a 16-bit number; it may be left out.
constexpr size_t kOrdinalLimit = 32'767;

std::string FieldBytes(const ThriftNode& root, int16_t id) {
  ThriftNode only;
  if (const ThriftNode* field = root.Field(id)) only.fields.emplace_back(id, *field);
  return SerializeThriftStruct(only);
}

}  // namespace

Result<ParquetFooter> ParquetFooter::Parse(std::string_view bytes) {
  ParquetFooter footer;
  size_t consumed = 0;
  SLUICE_ASSIGN_OR_RETURN(footer.root_, ParseThriftStruct(bytes, &consumed));
  const ThriftNode* groups = footer.root_.Field(kRowGroups);
  if (groups == nullptr || groups->type != ThriftType::kList) {
    return Status::DataError("The Parquet footer lists no row groups.");
  }
  return footer;
}

Result<ParquetFooter> ParquetFooter::Read(arrow::io::RandomAccessFile* file,
                                          int64_t* footer_offset) {
  SLUICE_ASSIGN_ARROW(const int64_t size, file->GetSize());
  if (size < kEndBytes + static_cast<int64_t>(kMagic.size())) {
    return Status::DataError("A file of " + std::to_string(size) +
                             " bytes is too short for a Parquet file.");
  }
  SLUICE_ASSIGN_ARROW(const auto end, file->ReadAt(size - kEndBytes, kEndBytes));
  const auto* bytes = end->data();
  const std::string_view magic(reinterpret_cast<const char*>(bytes) + 4, 4);
  if (magic == kEncryptedMagic) {
    return Status::Unsupported("The footer of the Parquet file is encrypted.");
  }
  if (magic != kMagic) return Status::DataError("The file does not end as a Parquet file does.");
  const int64_t length = static_cast<int64_t>(bytes[0]) | static_cast<int64_t>(bytes[1]) << 8 |
                         static_cast<int64_t>(bytes[2]) << 16 |
                         static_cast<int64_t>(bytes[3]) << 24;
  *footer_offset = size - kEndBytes - length;
  if (*footer_offset < static_cast<int64_t>(kMagic.size())) {
    return Status::DataError("The Parquet file is shorter than its footer says.");
  }
  SLUICE_ASSIGN_ARROW(const auto footer, file->ReadAt(*footer_offset, length));
  return Parse({reinterpret_cast<const char*>(footer->data()), static_cast<size_t>(length)});
}

std::string ParquetFooter::ToFileEnd() const {
  std::string end = Serialize();
  const auto length = static_cast<uint32_t>(end.size());
  for (int shift = 0; shift < 32; shift += 8) end.push_back(static_cast<char>(length >> shift));
  return end.append(kMagic);
}

void ParquetFooter::Append(ParquetFooter other) {
  root_.SetNumber(kRowCount, row_count() + other.row_count());
  std::vector<ThriftNode>& groups = row_groups();
  for (ThriftNode& group : other.row_groups()) groups.push_back(std::move(group));
  root_.Field(kRowGroups)->item_type = ThriftType::kStruct;
  NumberRowGroups();
}

void ParquetFooter::NumberRowGroups() {
  std::vector<ThriftNode>& groups = row_groups();
  for (size_t i = 0; i < groups.size(); ++i) {
    if (groups.size() > kOrdinalLimit) {
      groups[i].Remove(kOrdinal);
    } else {
      groups[i].SetNumber(kOrdinal, static_cast<int64_t>(i), ThriftType::kI16);
    }
  }
}

bool ParquetFooter::FitsWith(const ParquetFooter& other) const {
  for (const int16_t id : {kSchema, kKeyValues, kColumnOrders}) {
    if (FieldBytes(root_, id) != FieldBytes(other.root_, id)) return false;
  }
  return true;
}

}  // namespace sluice::formats::parquet_format
