// Options as users write them in WITH (…), SET and on the command line: text keys and text values,
// checked against a list of OptionSpec. One list per connector, format or session: docs, validation
// and error messages come from it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"

namespace sluice {

/// Option keys are case-sensitive; sorted, because messages and SHOW CREATE list them so.
using OptionMap = std::map<std::string, std::string, std::less<>>;

enum class OptionType {
  kString,
  kBoolean,
  kInt,
  kLong,
  kDouble,
  kDuration,
  kMemorySize,
  kEnum,
  kList
};

/// One option of a table, format or session.
struct OptionSpec {
  std::string_view
      key;  // "csv.field-delimiter"; a key ending in '*' accepts every key with that prefix.
  OptionType type = OptionType::kString;
  std::string_view default_text = {};  // "" = none.
  std::string_view doc = {};
  std::vector<std::string_view> allowed = {};  // For kEnum, in the order that messages list them.
  bool required = false;
};

/// `10 s`, `5 min`, `1h`, `200 ms`, `1 d`, ISO `PT1H`; a bare number is milliseconds. Negative
/// values are refused. Fails with kInvalidArgument. Result in milliseconds, sub-millisecond units
/// rounded down.
Result<int64_t> ParseDurationMillis(std::string_view text);

/// `128mb`, `1 gb`, `64 kb`, a bare number is bytes; binary units, case-insensitive; overflow of 64
/// bits is refused.
Result<int64_t> ParseMemorySize(std::string_view text);

/// `true` or `false`, case-insensitive, else kInvalidArgument in Flink's words.
Result<bool> ParseBooleanOption(std::string_view text);

/// A list option: split on `separator`; `'` and `"` protect a separator and are doubled inside;
/// blanks around elements are cut.
std::vector<std::string> SplitListOption(std::string_view text, char separator = ';');

/// Checks `options` against `specs`: unknown keys (with the nearest known key), missing required
/// ones, values that do not parse. `owner` names the connector or format: "Unsupported options
/// found for 'filesystem'.". Fails with kInvalidArgument.
Status ValidateOptions(std::string_view owner, const OptionMap& options,
                       std::span<const OptionSpec> specs);

/// Reads typed values out of an OptionMap; defaults come from the specs. The map and specs must
/// outlive the reader. Getters fail with kInvalidArgument: "Invalid value for option 'k'. Could not
/// parse value 'v' …".
class OptionReader {
 public:
  OptionReader(const OptionMap& options, std::span<const OptionSpec> specs)
      : options_(options), specs_(specs) {}

  /// True when the user wrote the key.
  bool Has(std::string_view key) const { return options_.find(key) != options_.end(); }
  /// The text written, else the default text, else nullopt.
  std::optional<std::string> Text(std::string_view key) const;
  Result<bool> Boolean(std::string_view key) const;
  Result<int64_t> Integer(std::string_view key) const;
  Result<int64_t> DurationMillis(std::string_view key) const;
  Result<int64_t> MemorySize(std::string_view key) const;
  /// Lower-cased value, one of the spec's `allowed` (compared case-insensitively).
  Result<std::string> Enum(std::string_view key) const;

 private:
  const OptionSpec* Find(std::string_view key) const;
  const OptionMap& options_;
  std::span<const OptionSpec> specs_;
};

/// Replaces the value by ****** when the key looks secret (password, secret, token, jaas.config,
/// accesskey, …).
std::string MaskSecret(std::string_view key, std::string_view value);

}  // namespace sluice
