#include "formats/avro/json_encoding.h"

#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include <nlohmann/json.hpp>

#include "common/text.h"
#include "formats/avro/binary_input.h"
#include "formats/avro/binary_output.h"
#include "types/value_text.h"

namespace sluice::formats::avro {
namespace {

using Json = nlohmann::json;

/// What tags a value of a union: the full name of a named type, else the name of its kind.
std::string BranchName(const Type& type) {
  if (!type.name.empty()) return type.name;
  Type plain;
  plain.kind = type.kind;
  return TypeText(plain);
}

/// For messages; what is nested is not printed, however deep it is.
std::string Sample(const Json& json) {
  if (json.is_object()) return "an object";
  return json.is_array() ? "an array" : Printable(json.dump(-1, ' ', true), 60);
}

Status Wrong(const Type& type, const Json& json) {
  return Status::DataError(Sample(json) + " is no value of type " + TypeText(type));
}

// ---- JSON to binary ----

Status Append(const Type& type, const Json& json, std::string* out);

Status AppendInteger(const Type& type, const Json& json, std::string* out) {
  if (!json.is_number_integer()) return Wrong(type, json);
  const int64_t least = type.kind == Kind::kInt ? INT32_MIN : INT64_MIN;
  const int64_t most = type.kind == Kind::kInt ? INT32_MAX : INT64_MAX;
  if (json.is_number_unsigned() && json.get<uint64_t>() > static_cast<uint64_t>(most)) {
    return Wrong(type, json);
  }
  const auto value = json.get<int64_t>();
  if (value < least) return Wrong(type, json);
  PutLong(value, out);
  return {};
}

Status AppendFloating(const Type& type, const Json& json, std::string* out) {
  double value = 0;
  if (json.is_number()) {
    value = json.get<double>();
  } else if (json == "NaN") {
    value = std::numeric_limits<double>::quiet_NaN();
  } else if (json == "Infinity" || json == "-Infinity") {
    value = std::numeric_limits<double>::infinity() * (json == "Infinity" ? 1 : -1);
  } else {
    return Wrong(type, json);
  }
  if (type.kind == Kind::kDouble) {
    out->append(reinterpret_cast<const char*>(&value), sizeof(value));
    return {};
  }
  const auto single = static_cast<float>(value);
  if (std::isinf(single) && !std::isinf(value)) return Wrong(type, json);
  out->append(reinterpret_cast<const char*>(&single), sizeof(single));
  return {};
}

/// Each code point is a byte; false when one is above 255.
bool BytesOfText(std::string_view text, std::string* bytes) {
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x80) {
      bytes->push_back(text[i]);
    } else if ((byte == 0xC2 || byte == 0xC3) && i + 1 < text.size()) {
      bytes->push_back(static_cast<char>((byte & 3) << 6 | (text[++i] & 0x3F)));
    } else {
      return false;
    }
  }
  return true;
}

Status AppendBytes(const Type& type, const Json& json, std::string* out) {
  std::string bytes;
  if (!json.is_string() || !BytesOfText(json.get_ref<const std::string&>(), &bytes)) {
    return Wrong(type, json);
  }
  if (type.kind == Kind::kBytes) {
    PutSized(bytes, out);
    return {};
  }
  if (static_cast<int64_t>(bytes.size()) != type.size) return Wrong(type, json);
  out->append(bytes);
  return {};
}

Status AppendUnion(const Type& type, const Json& json, std::string* out) {
  const bool tagged = json.is_object() && json.size() == 1;
  if (!json.is_null() && !tagged) {
    return Status::DataError(Sample(json) +
                             " is neither null nor a value tagged with its branch of a " +
                             TypeText(type));
  }
  for (size_t i = 0; i < type.branches.size(); ++i) {
    const Type& branch = *type.branches[i];
    if (json.is_null() != (branch.kind == Kind::kNull)) continue;
    if (tagged && json.begin().key() != BranchName(branch)) continue;
    PutLong(static_cast<int64_t>(i), out);
    return json.is_null() ? Status() : Append(branch, json.begin().value(), out);
  }
  return Status::DataError(Sample(json) + " names no branch of a " + TypeText(type));
}

Status AppendRecord(const Type& type, const Json& json, std::string* out) {
  if (!json.is_object()) return Wrong(type, json);
  for (const Field& field : type.fields) {
    const auto it = json.find(field.name);
    if (it == json.end()) {
      return Status::DataError("the field '" + field.name + "' of " + TypeText(type) +
                               " is missing");
    }
    Status status = Append(*field.type, *it, out);
    if (!status.ok()) {
      return Status::DataError("field '" + field.name + "': " + status.message());
    }
  }
  if (json.size() == type.fields.size()) return {};
  return Status::DataError("there are fields that " + TypeText(type) + " does not have");
}

Status Append(const Type& type, const Json& json, std::string* out) {
  switch (type.kind) {
    case Kind::kNull:
      return json.is_null() ? Status() : Wrong(type, json);
    case Kind::kBoolean:
      if (!json.is_boolean()) return Wrong(type, json);
      out->push_back(json.get<bool>() ? 1 : 0);
      return {};
    case Kind::kInt:
    case Kind::kLong:
      return AppendInteger(type, json, out);
    case Kind::kFloat:
    case Kind::kDouble:
      return AppendFloating(type, json, out);
    case Kind::kBytes:
    case Kind::kFixed:
      return AppendBytes(type, json, out);
    case Kind::kString:
      if (!json.is_string()) return Wrong(type, json);
      PutSized(json.get_ref<const std::string&>(), out);
      return {};
    case Kind::kEnum:
      for (size_t i = 0; i < type.symbols.size(); ++i) {
        if (json != type.symbols[i]) continue;
        PutLong(static_cast<int64_t>(i), out);
        return {};
      }
      return Wrong(type, json);
    case Kind::kUnion:
      return AppendUnion(type, json, out);
    case Kind::kRecord:
      return AppendRecord(type, json, out);
    case Kind::kArray:
    case Kind::kMap:
      if (type.kind == Kind::kArray ? !json.is_array() : !json.is_object()) {
        return Wrong(type, json);
      }
      if (!json.empty()) PutLong(static_cast<int64_t>(json.size()), out);
      for (const auto& [key, value] : json.items()) {
        if (type.kind == Kind::kMap) PutSized(key, out);
        SLUICE_RETURN_NOT_OK(Append(*type.element, value, out));
      }
      PutLong(0, out);
      return {};
  }
  return Wrong(type, json);
}

// ---- Binary to JSON ----

Status Print(const Type& type, BinaryInput* input, std::string* out);

void PrintText(std::string_view text, std::string* out) { *out += Json(text).dump(); }

Status Ends(const Type& type) {
  return Status::DataError("the bytes end within type " + TypeText(type));
}

/// Java's texts, which any reader of JSON takes; what has no number is a text.
void PrintFloating(double value, bool single, std::string* out) {
  const bool quoted = !std::isfinite(value);
  if (quoted) *out += '"';
  if (single) {
    AppendFloatText(static_cast<float>(value), out);
  } else {
    AppendDoubleText(value, out);
  }
  if (quoted) *out += '"';
}

Status PrintNumber(const Type& type, BinaryInput* input, std::string* out) {
  int64_t integer = 0;
  float single = 0;
  double value = 0;
  switch (type.kind) {
    case Kind::kFloat:
      if (!input->ReadFixed(&single)) return Ends(type);
      PrintFloating(static_cast<double>(single), true, out);
      return {};
    case Kind::kDouble:
      if (!input->ReadFixed(&value)) return Ends(type);
      PrintFloating(value, false, out);
      return {};
    default:
      if (!input->ReadLong(&integer)) return Ends(type);
      *out += std::to_string(integer);
      return {};
  }
}

Status PrintBytes(const Type& type, BinaryInput* input, std::string* out) {
  std::string_view bytes;
  const bool read =
      type.kind == Kind::kFixed ? input->ReadBytes(type.size, &bytes) : input->ReadSized(&bytes);
  if (!read) return Ends(type);
  if (type.kind == Kind::kString) {
    PrintText(bytes, out);
    return {};
  }
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) {
      text += c;
    } else {
      text += {static_cast<char>(0xC0 | byte >> 6), static_cast<char>(0x80 | (byte & 0x3F))};
    }
  }
  PrintText(text, out);
  return {};
}

Status PrintContainer(const Type& type, BinaryInput* input, std::string* out) {
  const bool is_map = type.kind == Kind::kMap;
  *out += is_map ? '{' : '[';
  bool first = true;
  while (true) {
    int64_t count = 0;
    if (!input->ReadLong(&count) || count < 0) return Ends(type);
    if (count == 0) break;
    for (int64_t i = 0; i < count; ++i) {
      if (!first) *out += ',';
      first = false;
      if (is_map) {
        std::string_view key;
        if (!input->ReadSized(&key)) return Ends(type);
        PrintText(key, out);
        *out += ':';
      }
      SLUICE_RETURN_NOT_OK(Print(*type.element, input, out));
    }
  }
  *out += is_map ? '}' : ']';
  return {};
}

Status PrintUnion(const Type& type, BinaryInput* input, std::string* out) {
  int64_t branch = 0;
  if (!input->ReadLong(&branch) || branch < 0 ||
      branch >= static_cast<int64_t>(type.branches.size())) {
    return Ends(type);
  }
  const Type& chosen = *type.branches[static_cast<size_t>(branch)];
  if (chosen.kind == Kind::kNull) {
    *out += "null";
    return {};
  }
  *out += '{';
  PrintText(BranchName(chosen), out);
  *out += ':';
  SLUICE_RETURN_NOT_OK(Print(chosen, input, out));
  *out += '}';
  return {};
}

Status Print(const Type& type, BinaryInput* input, std::string* out) {
  switch (type.kind) {
    case Kind::kNull:
      *out += "null";
      return {};
    case Kind::kBoolean: {
      uint8_t byte = 0;
      if (!input->ReadByte(&byte)) return Ends(type);
      *out += byte != 0 ? "true" : "false";
      return {};
    }
    case Kind::kInt:
    case Kind::kLong:
    case Kind::kFloat:
    case Kind::kDouble:
      return PrintNumber(type, input, out);
    case Kind::kBytes:
    case Kind::kString:
    case Kind::kFixed:
      return PrintBytes(type, input, out);
    case Kind::kEnum: {
      int64_t symbol = 0;
      if (!input->ReadLong(&symbol) || symbol < 0 ||
          symbol >= static_cast<int64_t>(type.symbols.size())) {
        return Ends(type);
      }
      PrintText(type.symbols[static_cast<size_t>(symbol)], out);
      return {};
    }
    case Kind::kUnion:
      return PrintUnion(type, input, out);
    case Kind::kArray:
    case Kind::kMap:
      return PrintContainer(type, input, out);
    case Kind::kRecord:
      *out += '{';
      for (size_t i = 0; i < type.fields.size(); ++i) {
        if (i > 0) *out += ',';
        PrintText(type.fields[i].name, out);
        *out += ':';
        SLUICE_RETURN_NOT_OK(Print(*type.fields[i].type, input, out));
      }
      *out += '}';
      return {};
  }
  return Ends(type);
}

}  // namespace

Status JsonToBinary(const Type& type, std::string_view text, std::string* out) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) return Status::DataError("the message is no JSON");
  return Append(type, json, out);
}

Status BinaryToJson(const Type& type, std::string_view binary, std::string* out) {
  BinaryInput input(binary);
  SLUICE_RETURN_NOT_OK(Print(type, &input, out));
  return input.at_end() ? Status() : Ends(type);
}

}  // namespace sluice::formats::avro
