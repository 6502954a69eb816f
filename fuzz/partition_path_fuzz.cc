// Names of partition directories and values in them: whatever is read back must be written the
// same.
#include <cstdlib>

#include <arrow/api.h>

#include "common/check.h"
#include "connectors/filesystem/partition/partition_path.h"

namespace {

using sluice::SqlType;
using namespace sluice::connectors::filesystem;  // NOLINT: one small file.

SqlType TypeFor(unsigned char selector) {
  switch (selector % 14) {
    case 0:
      return SqlType::Boolean();
    case 1:
      return SqlType::Tinyint();
    case 2:
      return SqlType::Int();
    case 3:
      return SqlType::Bigint();
    case 4:
      return SqlType::Float();
    case 5:
      return SqlType::Double();
    case 6:
      return SqlType::Decimal(1 + selector % 38, selector % (1 + selector % 38));
    case 7:
      return SqlType::Char(3);
    case 8:
      return SqlType::Date();
    case 9:
      return SqlType::Time(selector % 4);
    case 10:
      return SqlType::Timestamp(selector % 10);
    case 11:
      return SqlType::TimestampLtz(selector % 10);
    case 12:
      return SqlType::Bytes();
    default:
      return SqlType::String();
  }
}

void CheckNames(std::string_view text) {
  SLUICE_CHECK(UnescapePathName(EscapePathName(text)) == text, "escaping does not come back");
  const auto parsed = ParsePartitionDirectoryName(text, kDefaultPartitionName);
  if (!parsed) return;
  const std::string name =
      PartitionDirectoryName(parsed->key, parsed->value, kDefaultPartitionName);
  SLUICE_CHECK(name.find('/') == std::string::npos && name[0] != '.' && name[0] != '_',
               "not one visible component");
  const auto again = ParsePartitionDirectoryName(name, kDefaultPartitionName);
  SLUICE_CHECK(again && again->key == parsed->key, "the key does not come back");
  // '' and NULL are one.
  SLUICE_CHECK(again->value.value_or("") == parsed->value.value_or(""),
               "the value does not come back");
}

void CheckValue(const SqlType& type, const std::string& text) {
  const auto value = PartitionValueFromText(type, text);
  if (!value.ok()) return;
  const auto array = arrow::MakeArrayFromScalar(**value, 1).ValueOrDie();
  const auto canonical = PartitionText(type, *array, 0);
  const auto again = PartitionValueFromText(type, canonical);
  SLUICE_CHECK(again.ok(), "the canonical text '" + canonical.value_or("NULL") +
                               "' is not read as " + type.ToString());
  const auto array_again = arrow::MakeArrayFromScalar(**again, 1).ValueOrDie();
  SLUICE_CHECK(PartitionText(type, *array_again, 0) == canonical,
               "'" + canonical.value_or("NULL") + "' is not stable");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  CheckNames(text);
  CheckValue(TypeFor(data[0]), std::string(text));
  return 0;
}
