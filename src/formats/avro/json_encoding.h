// Avro's JSON encoding (Avro specification, "JSON Encoding"): unions are tagged with their branch,
// bytes are texts of code points 0 to 255. Turned into the binary encoding and back, so that there
// is one way from and to columns.
#pragma once

#include <string>
#include <string_view>

#include "common/status.h"
#include "formats/avro/avro_schema.h"

namespace sluice::formats::avro {

/// Appends the binary form of the one value that `json` is. Fails with kDataError saying where it
/// does not follow the schema.
Status JsonToBinary(const Type& type, std::string_view json, std::string* out);

/// Appends the JSON of the one value that `binary` is, without blanks.
Status BinaryToJson(const Type& type, std::string_view binary, std::string* out);

}  // namespace sluice::formats::avro
