// Metadata columns of a dialect: values of the envelope beside the rows.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "formats/changelog/envelope.h"
#include "formats/format.h"
#include "formats/json/json_reader.h"

namespace sluice::formats::changelog {

/// How a member becomes a value of the column.
enum class MetadataForm : uint8_t {
  kValue,    // As json reads a value of the column's type.
  kMillis,   // Milliseconds since 1970 to TIMESTAMP_LTZ(3).
  kSeconds,  // Seconds to TIMESTAMP_LTZ(3).
  kTime,     // "2020-05-13T15:40:07.000000", also with a blank and with Z; without it UTC.
};

struct MetadataSpec {
  std::string_view key;
  SqlType type;
  int member = -1;         // Of the envelope; -1: the schema beside the payload.
  std::string_view inner;  // Member of that object; empty: the member itself.
  MetadataForm form = MetadataForm::kValue;
};

/// "key: type" for Format::metadata.
Schema MetadataSchema(std::span<const MetadataSpec> specs);

/// The metadata columns that a table reads.
class MetadataColumns {
 public:
  /// One builder a wanted column goes to `builder_of`, in order. kValidation for an unknown key.
  Status Open(std::span<const MetadataSpec> specs, const Schema& wanted,
              const json::JsonOptions& options,
              const std::function<text::ColumnBuilder&(const SqlType&)>& builder_of);

  /// Appends one row from `envelope`; `schema` is the text beside the payload or empty. False: a
  /// value is bad, `reader` tells.
  bool Append(const Envelope& envelope, std::string_view schema, json::JsonReader& reader);

 private:
  struct Wanted {
    MetadataSpec spec;
    int inner_index = -1;  // Into inner_.
    std::unique_ptr<json::JsonColumn> column;
  };
  bool AppendValue(Wanted& wanted, const char* position, json::JsonReader& reader);

  std::vector<Wanted> wanted_;
  std::unique_ptr<Envelope> inner_;  // Of the one member that has inner ones.
  int inner_member_ = -1;
};

}  // namespace sluice::formats::changelog
