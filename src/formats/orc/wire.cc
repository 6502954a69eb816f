#include "formats/orc/wire.h"

#include <bit>
#include <cstring>

#include "common/varint.h"

namespace sluice::formats::orc_format {

namespace {

enum WireType : uint32_t { kVarint = 0, kFixed64 = 1, kLengthDelimited = 2, kFixed32 = 5 };

}  // namespace

bool WireReader::TakeNumber(std::string_view* from, uint64_t* value) {
  return ReadVarint(from, value) == VarintRead::kWhole || Fail();
}

bool WireReader::Next() {
  if (!ok_ || rest_.empty()) return false;
  uint64_t key = 0;
  if (!TakeNumber(&rest_, &key)) return false;
  field_ = static_cast<uint32_t>(key >> 3);
  wire_type_ = static_cast<uint32_t>(key & 7);
  bytes_ = {};
  number_ = 0;
  size_t length = 0;
  switch (wire_type_) {
    case kVarint:
      return TakeNumber(&rest_, &number_);
    case kFixed64:
      length = 8;
      break;
    case kFixed32:
      length = 4;
      break;
    case kLengthDelimited: {
      uint64_t count = 0;
      if (!TakeNumber(&rest_, &count)) return false;
      if (count > rest_.size()) return Fail();
      length = count;
      break;
    }
    default:
      return Fail();
  }
  if (length > rest_.size()) return Fail();
  bytes_ = rest_.substr(0, length);
  rest_.remove_prefix(length);
  if (wire_type_ != kLengthDelimited) std::memcpy(&number_, bytes_.data(), length);
  return true;
}

double WireReader::real() const { return std::bit_cast<double>(number_); }

void WireReader::AppendNumbers(std::vector<uint64_t>* numbers) {
  if (wire_type_ != kLengthDelimited) {
    numbers->push_back(number_);
    return;
  }
  std::string_view packed = bytes_;
  uint64_t value = 0;
  while (!packed.empty() && TakeNumber(&packed, &value)) numbers->push_back(value);
}

void WireWriter::Number(uint32_t field, uint64_t value) {
  AppendVarint(uint64_t{field} << 3 | kVarint, &bytes_);
  AppendVarint(value, &bytes_);
}

void WireWriter::Signed(uint32_t field, int64_t value) { Number(field, Zigzag(value)); }

void WireWriter::Real(uint32_t field, double value) {
  AppendVarint(uint64_t{field} << 3 | kFixed64, &bytes_);
  const auto bits = std::bit_cast<uint64_t>(value);
  bytes_.append(reinterpret_cast<const char*>(&bits), sizeof(bits));
}

void WireWriter::Bytes(uint32_t field, std::string_view value) {
  AppendVarint(uint64_t{field} << 3 | kLengthDelimited, &bytes_);
  AppendVarint(value.size(), &bytes_);
  bytes_ += value;
}

void WireWriter::Packed(uint32_t field, const std::vector<uint64_t>& values) {
  std::string packed;
  for (const uint64_t value : values) AppendVarint(value, &packed);
  Bytes(field, packed);
}

}  // namespace sluice::formats::orc_format
