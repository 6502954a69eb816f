// The file form of state: a versioned header, then records, each with its length and CRC-32C, then
// a record that says how many. A file that was cut, changed or written by a later version is
// refused with the reason; old versions stay readable.
//
//   8 bytes  "SLUICEST"
//   u32      version (little-endian, like every number)
//   records: u32 length, u32 CRC-32C of the payload, payload
//   last record: payload = "END" and u64 count of the records before it
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"

namespace sluice::runtime {

/// The newest version: 2 may tell of further files (checkpoint_file.h).
constexpr uint32_t kStateFileVersion = 2;

/// The bytes of a file with these records. `version`: the lowest that a reader must know to lose
/// nothing. Fails when a record has 4 GiB or more.
Result<std::string> EncodeRecordFile(const std::vector<std::string>& records, uint32_t version = 1);

/// The records of a file; `path` is for messages. Fails with kCorrupt; an unknown version with
/// kUnsupported.
Result<std::vector<std::string_view>> DecodeRecordFile(std::string_view bytes,
                                                       const std::string& path);

// Numbers and texts inside a record.
void AppendU32(uint32_t value, std::string* out);
void AppendU64(uint64_t value, std::string* out);
void AppendText(std::string_view text, std::string* out);

/// Takes values off the front of a record. `ok` turns false for good when the bytes run out.
class RecordReader {
 public:
  explicit RecordReader(std::string_view bytes) : rest_(bytes) {}
  uint32_t U32();
  uint64_t U64();
  std::string_view Text();
  bool ok() const { return ok_; }
  bool at_end() const { return rest_.empty(); }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace sluice::runtime
