// Partition directories: "key=value" names, their escaping, and the text of each typed value
// (filesystem.md §5). Shared by the file source and the file sink, so that what one writes the
// other reads.
//
// Texts are Flink's, except where Flink cannot read its own: DATE is written as "2020-05-20" (read
// also as Flink's day number), TIME as "01:02:03" (read also as milliseconds of the day), DECIMAL
// and TIMESTAMP_LTZ are read back, bytes beyond ASCII of BINARY are escaped. A leading '.' or '_'
// of a key is escaped as well, or the directory would be hidden.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <arrow/array/array_base.h>
#include <arrow/scalar.h>

#include "common/result.h"
#include "types/sql_type.h"

namespace sluice::connectors::filesystem {

/// Flink's default of 'partition.default-name'.
inline constexpr std::string_view kDefaultPartitionName = "__DEFAULT_PARTITION__";

/// Control characters, DEL and `" # % ' * / : = ? \ { } [ ] ^` become %XX with upper-case digits.
std::string EscapePathName(std::string_view text);
/// `%` and two hex digits of any case become that byte; everything else stays.
std::string UnescapePathName(std::string_view text);
/// A name, or the value in it, as text: bytes that are no UTF-8 are the characters of ISO-8859-1,
/// as Flink and Hive read "%E9".
std::string TextOfName(std::string_view bytes);

/// "key=value", both escaped; nullopt and '' give the default name.
std::string PartitionDirectoryName(std::string_view key, const std::optional<std::string>& value,
                                   std::string_view default_name);
/// "k1=v1/k2=v2" without slashes at the ends; `keys` and `values` have the same size.
std::string PartitionPath(const std::vector<std::string>& keys,
                          const std::vector<std::optional<std::string>>& values,
                          std::string_view default_name);

/// Decoded key and value of a directory name, split at its last '='; nullopt when it has none or no
/// key. A value that is the default name is nullopt inside.
struct PartitionName {
  std::string key;
  std::optional<std::string> value;
};
std::optional<PartitionName> ParsePartitionDirectoryName(std::string_view name,
                                                         std::string_view default_name);

/// OK when values of `type` can be partition values (all scalar types but intervals), else
/// kValidation naming `key`.
Status CheckPartitionType(std::string_view key, const SqlType& type);

/// Directory text (not escaped) of `values[row]`; nullopt for NULL and for the empty string.
/// `values` has type type.ToArrow().
std::optional<std::string> PartitionText(const SqlType& type, const arrow::Array& values,
                                         int64_t row);

/// The value of a directory's decoded text; nullopt gives a typed NULL. Fails with kDataError
/// "Cannot read 'abc' as INT…".
Result<std::shared_ptr<arrow::Scalar>> PartitionValueFromText(
    const SqlType& type, const std::optional<std::string>& text);

}  // namespace sluice::connectors::filesystem
