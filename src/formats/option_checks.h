// What the option parsers of the formats share: the check of names and the words about values.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "common/options.h"
#include "common/result.h"
#include "formats/format.h"

namespace sluice::formats {

/// Unknown keys and values of the wrong type. `specs` have keys without prefix; messages show the
/// keys as the user wrote them.
Status CheckOptionKeys(std::string_view format, std::span<const OptionSpec> specs,
                       const FormatOptions& options);

/// kInvalidArgument: "Invalid value for option 'orc.compress'. Could not parse value 'x': expected
/// `expected`."
Status InvalidOption(const FormatOptions& options, std::string_view key, std::string_view value,
                     std::string_view expected);

/// The number under `key`, from `low` to `high`. `reader` reads `options`.
Result<int64_t> RangedOption(const FormatOptions& options, const OptionReader& reader,
                             std::string_view key, int64_t low, int64_t high);

/// Fails with the nearest name when `column`, which the option `key` names, is none of `schema`. A
/// schema without columns takes all: options alone are checked then.
Status CheckOptionColumn(std::string_view key, const std::string& column, const Schema& schema);

}  // namespace sluice::formats
