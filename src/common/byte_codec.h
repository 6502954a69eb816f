// Fields in a row of bytes, for handles of files, committables and operator state.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"

namespace sluice {

class ByteWriter {
 public:
  void PutU8(uint8_t value) { bytes_.push_back(static_cast<char>(value)); }
  void PutU64(uint64_t value) {
    for (int shift = 0; shift < 64; shift += 8) {
      bytes_.push_back(static_cast<char>(static_cast<uint8_t>(value >> shift)));
    }
  }
  void PutI64(int64_t value) { PutU64(static_cast<uint64_t>(value)); }
  void PutText(std::string_view text) {
    PutU64(text.size());
    bytes_.append(text);
  }
  void PutBytes(std::string_view bytes) { bytes_.append(bytes); }
  void PutOptionalText(const std::optional<std::string>& text) {
    PutU8(text ? 1 : 0);
    if (text) PutText(*text);
  }
  void Reserve(size_t bytes) { bytes_.reserve(bytes); }
  const std::string& bytes() const { return bytes_; }
  std::string Take() && { return std::move(bytes_); }

 private:
  std::string bytes_;
};

/// Reading past the end turns ok() false for good and yields zeros: check once at the end.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : rest_(bytes) {}

  uint8_t U8() {
    if (!Need(1)) return 0;
    const auto value = static_cast<uint8_t>(rest_[0]);
    rest_.remove_prefix(1);
    return value;
  }
  uint64_t U64() {
    if (!Need(8)) return 0;
    uint64_t value = 0;
    for (size_t i = 8; i-- > 0;) value = value << 8 | static_cast<uint8_t>(rest_[i]);
    rest_.remove_prefix(8);
    return value;
  }
  int64_t I64() { return static_cast<int64_t>(U64()); }
  std::string Text() { return std::string(TextView()); }
  /// The same without a copy.
  std::string_view TextView() {
    const uint64_t size = U64();
    if (!Need(size)) return {};
    const std::string_view text = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return text;
  }
  std::optional<std::string> OptionalText() {
    if (U8() == 0) return std::nullopt;
    return Text();
  }
  /// A number of elements of which each takes at least one byte: bounds what is reserved.
  size_t Count() {
    const uint64_t count = U64();
    return Need(count) ? static_cast<size_t>(count) : 0;
  }

  /// What has not been read.
  std::string_view rest() const { return rest_; }
  bool ok() const { return ok_; }
  /// True when everything was read and nothing is left.
  bool AtEnd() const { return ok_ && rest_.empty(); }

 private:
  bool Need(uint64_t count) {
    ok_ = ok_ && count <= rest_.size();
    return ok_;
  }
  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace sluice
