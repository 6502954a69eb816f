#include "formats/all_formats.h"

#include <array>

#include "common/nearest_name.h"
#include "formats/avro/avro_format.h"
#include "formats/changelog/changelog_formats.h"
#include "formats/csv/csv_format.h"
#include "formats/json/json_format.h"
#include "formats/orc/orc_format.h"
#include "formats/parquet/parquet_format.h"
#include "formats/raw/raw_format.h"

namespace sluice::formats {

std::span<const Format* const> AllFormats() {
  static const std::array kFormats = {
      &kCsvFormat, &kJsonFormat,         &kAvroFormat,      &kOrcFormat,         &kParquetFormat,
      &kRawFormat, &kDebeziumJsonFormat, &kCanalJsonFormat, &kMaxwellJsonFormat, &kOggJsonFormat};
  return kFormats;
}

Result<const Format*> FindFormat(std::string_view name) {
  std::vector<std::string> names;
  std::string list;
  for (const Format* format : AllFormats()) {
    if (format->name == name) return format;
    names.emplace_back(format->name);
    list += "\n" + std::string(format->name);
  }
  return Status::InvalidArgument("Could not find any format factory for identifier '" +
                                 std::string(name) + "' in the classpath." +
                                 DidYouMean(name, names) +
                                 "\n\nAvailable format identifiers are:\n" + list);
}

}  // namespace sluice::formats
