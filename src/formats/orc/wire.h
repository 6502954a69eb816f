// The wire format of protocol buffers, as much of it as ORC's metadata needs. Hand-written:
// libarrow carries a protobuf of its own, and a second one beside it would be mixed with it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/varint.h"

namespace sluice::formats::orc_format {

/// Walks the fields of one message. Borrows the bytes.
class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : rest_(bytes) {}

  /// Moves to the next field; false at the end or when the bytes are no message, which ok() tells.
  bool Next();
  bool ok() const { return ok_; }

  uint32_t field() const { return field_; }
  uint64_t number() const { return number_; }
  /// The number in zigzag form.
  int64_t signed_number() const { return FromZigzag(number_); }
  double real() const;
  std::string_view bytes() const { return bytes_; }
  std::string text() const { return std::string(bytes_); }
  /// Appends the numbers of a repeated field: one, or all of a packed one.
  void AppendNumbers(std::vector<uint64_t>* numbers);

 private:
  bool TakeNumber(std::string_view* from, uint64_t* value);
  bool Fail() {
    ok_ = false;
    return false;
  }

  std::string_view rest_;
  bool ok_ = true;
  uint32_t field_ = 0;
  uint32_t wire_type_ = 0;
  uint64_t number_ = 0;
  std::string_view bytes_;
};

/// Appends fields to a message.
class WireWriter {
 public:
  void Number(uint32_t field, uint64_t value);
  /// In zigzag form.
  void Signed(uint32_t field, int64_t value);
  void Real(uint32_t field, double value);
  void Bytes(uint32_t field, std::string_view value);
  void Message(uint32_t field, const WireWriter& message) { Bytes(field, message.bytes()); }
  void Packed(uint32_t field, const std::vector<uint64_t>& values);
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

}  // namespace sluice::formats::orc_format
