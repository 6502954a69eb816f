#include "runtime/state.h"

#include <cstring>

namespace sluice::runtime {
namespace {

void AppendU64(uint64_t value, std::string* out) {
  char bytes[8];
  for (int i = 0; i < 8; ++i) bytes[i] = static_cast<char>(value >> (8 * i));
  out->append(bytes, sizeof bytes);
}

uint64_t ReadU64(std::string_view bytes) {
  uint64_t value = 0;
  for (int i = 7; i >= 0; --i) {
    value = value << 8 | static_cast<unsigned char>(bytes[static_cast<size_t>(i)]);
  }
  return value;
}

Status Malformed(const std::string& operator_id, std::string_view name, std::string_view what) {
  return Status::Corrupt("State field '" + std::string(name) + "' of operator '" + operator_id +
                         "' " + std::string(what) +
                         ". The checkpoint was written by another version or is damaged.");
}

}  // namespace

void StateWriter::PutI64(std::string_view name, int64_t value) {
  std::string bytes;
  AppendU64(static_cast<uint64_t>(value), &bytes);
  PutBytes(name, std::move(bytes));
}

void StateWriter::PutBytes(std::string_view name, std::string bytes) {
  fields_.insert_or_assign(std::string(name), std::move(bytes));
}

void StateWriter::PutStrings(std::string_view name, const std::vector<std::string>& values) {
  size_t size = sizeof(uint64_t);
  for (const std::string& value : values) size += sizeof(uint64_t) + value.size();
  std::string bytes;
  bytes.reserve(size);  // Open Parquet files make it a hundred MiB.
  AppendU64(values.size(), &bytes);
  for (const std::string& value : values) {
    AppendU64(value.size(), &bytes);
    bytes += value;
  }
  PutBytes(name, std::move(bytes));
}

void StateWriter::PutBlob(std::string_view name, std::string bytes) {
  PutBytes(std::string(kBlobPrefix).append(name), std::move(bytes));
}

Result<std::string> StateReader::GetBlob(std::string_view name) const {
  return GetBytes(std::string(kBlobPrefix).append(name));
}

Result<int64_t> StateReader::GetI64(std::string_view name) const {
  SLUICE_ASSIGN_OR_RETURN(const std::string bytes, GetBytes(name));
  if (bytes.size() != 8) return Malformed(operator_id_, name, "is not a number");
  return static_cast<int64_t>(ReadU64(bytes));
}

Result<std::string> StateReader::GetBytes(std::string_view name) const {
  const auto found = fields_->find(name);
  if (found == fields_->end()) return Malformed(operator_id_, name, "is missing");
  return found->second;
}

Result<std::vector<std::string>> StateReader::GetStrings(std::string_view name) const {
  SLUICE_ASSIGN_OR_RETURN(const std::string bytes, GetBytes(name));
  std::string_view rest(bytes);
  const auto take = [&rest](uint64_t* value) {
    if (rest.size() < 8) return false;
    *value = ReadU64(rest);
    rest.remove_prefix(8);
    return true;
  };
  uint64_t count = 0;
  if (!take(&count)) return Malformed(operator_id_, name, "is not a list");
  std::vector<std::string> values;
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t size = 0;
    if (!take(&size) || size > rest.size()) {
      return Malformed(operator_id_, name, "ends in the middle of a list");
    }
    values.emplace_back(rest.substr(0, size));
    rest.remove_prefix(size);
  }
  if (!rest.empty()) return Malformed(operator_id_, name, "has bytes behind its list");
  return values;
}

}  // namespace sluice::runtime
