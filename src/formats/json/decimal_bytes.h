// Decimals as Kafka Connect's logical type has them: bytes, the unscaled number as a big-endian
// two's complement, which JSON holds as Base64.
#pragma once

#include <string>
#include <string_view>

#include "formats/json/json_cursor.h"

namespace sluice::formats::json {

/// Writes "<unscaled>E<-scale>", which every reader of decimals takes. False: `base64` is not that
/// of 1 to 32 bytes.
bool DecimalFromBytes(std::string_view base64, int scale, std::string* number);

/// A number that carries its own scale, {"scale":2,"value":"AfI="}.
struct ScaledBytes {
  int scale = 0;
  std::string base64;  // Empty: the object has no such members.
};
/// On the brace of an object: reads it and goes behind it. False: no JSON; the cursor tells.
bool ReadScaledBytes(JsonCursor& cursor, ScaledBytes* value);

}  // namespace sluice::formats::json
