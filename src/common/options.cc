#include "common/options.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <set>

#include "common/nearest_name.h"
#include "common/text.h"

namespace sluice {
namespace {

struct Unit {
  std::string_view name;
  int64_t factor;
};

Result<int64_t> ScaledInteger(std::string_view digits, int64_t factor, std::string_view whole,
                              std::string_view what) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size()) {
    return Status::InvalidArgument("The value '" + std::string(whole) + "' is no " +
                                   std::string(what) + ".");
  }
  int64_t scaled = 0;
  if (__builtin_mul_overflow(number, factor, &scaled)) {
    return Status::InvalidArgument("The value '" + std::string(whole) + "' is too large for a " +
                                   std::string(what) + ".");
  }
  return scaled;
}

/// Splits "12 min" into digits and a lower-cased unit.
std::pair<std::string_view, std::string> SplitNumberAndUnit(std::string_view text) {
  size_t digits = 0;
  while (digits < text.size() && std::isdigit(static_cast<unsigned char>(text[digits]))) ++digits;
  return {text.substr(0, digits), ToLowerAscii(TrimAscii(text.substr(digits)))};
}

/// ISO-8601 `P[nD]T[nH][nM][n.nS]`, in milliseconds.
std::optional<int64_t> ParseIsoDuration(std::string_view text) {
  if (text.size() < 2 || (text[0] != 'P' && text[0] != 'p')) return std::nullopt;
  double total_ms = 0;
  bool in_time = false;
  bool any = false;
  size_t i = 1;
  while (i < text.size()) {
    if (text[i] == 'T' || text[i] == 't') {
      if (in_time) return std::nullopt;
      in_time = true;
      ++i;
      continue;
    }
    double value = 0;
    const auto [end, error] = std::from_chars(text.data() + i, text.data() + text.size(), value);
    if (error != std::errc() || end == text.data() + text.size()) return std::nullopt;
    i = static_cast<size_t>(end - text.data());
    const char unit = static_cast<char>(std::toupper(static_cast<unsigned char>(text[i++])));
    const double factor = !in_time && unit == 'D'  ? 86400e3
                          : in_time && unit == 'H' ? 3600e3
                          : in_time && unit == 'M' ? 60e3
                          : in_time && unit == 'S' ? 1e3
                                                   : 0;
    if (factor == 0) return std::nullopt;
    total_ms += value * factor;
    any = true;
  }
  if (!any || total_ms < 0 || total_ms > 9.2e18) return std::nullopt;
  return static_cast<int64_t>(std::floor(total_ms));
}

}  // namespace

Result<int64_t> ParseDurationMillis(std::string_view raw) {
  const std::string_view text = TrimAscii(raw);
  static constexpr std::array<Unit, 16> kMillisUnits = {{{"", 1},
                                                         {"d", 86'400'000},
                                                         {"day", 86'400'000},
                                                         {"days", 86'400'000},
                                                         {"h", 3'600'000},
                                                         {"hour", 3'600'000},
                                                         {"hours", 3'600'000},
                                                         {"m", 60'000},
                                                         {"min", 60'000},
                                                         {"minute", 60'000},
                                                         {"minutes", 60'000},
                                                         {"s", 1'000},
                                                         {"sec", 1'000},
                                                         {"second", 1'000},
                                                         {"seconds", 1'000},
                                                         {"secs", 1'000}}};
  static constexpr std::array<std::string_view, 4> kMillis = {"ms", "milli", "millis",
                                                              "millisecond"};
  static constexpr std::array<Unit, 10> kFractions = {{{"µs", 1'000},
                                                       {"us", 1'000},
                                                       {"micro", 1'000},
                                                       {"micros", 1'000},
                                                       {"microsecond", 1'000},
                                                       {"microseconds", 1'000},
                                                       {"ns", 1'000'000},
                                                       {"nano", 1'000'000},
                                                       {"nanosecond", 1'000'000},
                                                       {"nanoseconds", 1'000'000}}};
  if (!text.empty() && text[0] == '-') {
    return Status::InvalidArgument("The duration '" + std::string(raw) + "' is negative.");
  }
  const auto [digits, unit] = SplitNumberAndUnit(text);
  if (digits.empty()) {
    if (const std::optional<int64_t> iso = ParseIsoDuration(text)) return *iso;
    return Status::InvalidArgument("The value '" + std::string(raw) +
                                   "' is no duration. Write it like '10 s' or '5 min'.");
  }
  if (unit == "milliseconds" || std::find(kMillis.begin(), kMillis.end(), unit) != kMillis.end()) {
    return ScaledInteger(digits, 1, raw, "duration");
  }
  for (const Unit& known : kMillisUnits) {
    if (unit == known.name) return ScaledInteger(digits, known.factor, raw, "duration");
  }
  for (const Unit& known : kFractions) {
    if (unit != known.name) continue;
    SLUICE_ASSIGN_OR_RETURN(const int64_t count, ScaledInteger(digits, 1, raw, "duration"));
    return count / known.factor;
  }
  return Status::InvalidArgument("The time unit '" + unit + "' of '" + std::string(raw) +
                                 "' is not known. Known units are d, h, min, s, ms, µs and ns.");
}

Result<int64_t> ParseMemorySize(std::string_view raw) {
  static constexpr std::array<Unit, 16> kUnits = {{{"", 1},
                                                   {"b", 1},
                                                   {"bytes", 1},
                                                   {"k", 1ll << 10},
                                                   {"kb", 1ll << 10},
                                                   {"kibibytes", 1ll << 10},
                                                   {"m", 1ll << 20},
                                                   {"mb", 1ll << 20},
                                                   {"mebibytes", 1ll << 20},
                                                   {"g", 1ll << 30},
                                                   {"gb", 1ll << 30},
                                                   {"gibibytes", 1ll << 30},
                                                   {"t", 1ll << 40},
                                                   {"tb", 1ll << 40},
                                                   {"tebibytes", 1ll << 40},
                                                   {"byte", 1}}};
  const auto [digits, unit] = SplitNumberAndUnit(TrimAscii(raw));
  if (digits.empty()) {
    return Status::InvalidArgument("The value '" + std::string(raw) +
                                   "' is no memory size. Write it like '128 mb'.");
  }
  for (const Unit& known : kUnits) {
    if (unit == known.name) return ScaledInteger(digits, known.factor, raw, "memory size");
  }
  return Status::InvalidArgument("The size unit '" + unit + "' of '" + std::string(raw) +
                                 "' is not known. Known units are b, kb, mb, gb and tb.");
}

Result<bool> ParseBooleanOption(std::string_view text) {
  const std::string lower = ToLowerAscii(text);
  if (lower == "true") return true;
  if (lower == "false") return false;
  return Status::InvalidArgument("Unrecognized option for boolean: " + std::string(text) +
                                 ". Expected either true or false(case insensitive)");
}

std::vector<std::string> SplitListOption(std::string_view text, char separator) {
  std::vector<std::string> elements;
  std::string current;
  char quote = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote != 0) {
      if (c != quote) {
        current += c;
      } else if (i + 1 < text.size() && text[i + 1] == quote) {
        current += c;
        ++i;
      } else {
        quote = 0;
      }
    } else if ((c == '\'' || c == '"') && TrimAscii(current).empty()) {
      quote = c;
      current.clear();
    } else if (c == separator) {
      elements.emplace_back(TrimAscii(current));
      current.clear();
    } else {
      current += c;
    }
  }
  if (!TrimAscii(current).empty() || !elements.empty()) elements.emplace_back(TrimAscii(current));
  while (!elements.empty() && elements.back().empty()) elements.pop_back();
  return elements;
}

namespace {

Status BadValue(std::string_view key, std::string_view value, std::string_view reason) {
  return Status::InvalidArgument("Invalid value for option '" + std::string(key) +
                                 "'. Could not parse value '" + MaskSecret(key, value) +
                                 "' for key '" + std::string(key) + "'. " + std::string(reason));
}

Status CheckEnum(const OptionSpec& spec, std::string_view value) {
  const std::string lower = ToLowerAscii(value);
  std::string list;
  for (const std::string_view allowed : spec.allowed) {
    if (ToLowerAscii(allowed) == lower) return {};
    list += (list.empty() ? "" : ", ") + std::string(allowed);
  }
  return BadValue(spec.key, value, "Expected one of: [[" + list + "]]");
}

Status CheckValue(const OptionSpec& spec, std::string_view key, std::string_view value) {
  Status status;
  switch (spec.type) {
    case OptionType::kString:
    case OptionType::kList:
      return {};
    case OptionType::kBoolean:
      status = ParseBooleanOption(value).status();
      break;
    case OptionType::kDuration:
      status = ParseDurationMillis(value).status();
      break;
    case OptionType::kMemorySize:
      status = ParseMemorySize(value).status();
      break;
    case OptionType::kEnum:
      return CheckEnum(spec, value);
    case OptionType::kInt:
    case OptionType::kLong: {
      const std::optional<int64_t> number = ParseInt64(TrimAscii(value));
      const bool fits = number && (spec.type == OptionType::kLong ||
                                   (*number >= INT32_MIN && *number <= INT32_MAX));
      if (!fits) return BadValue(key, value, "Expected a whole number.");
      return {};
    }
    case OptionType::kDouble: {
      double parsed = 0;
      const std::string_view trimmed = TrimAscii(value);
      const auto [end, error] =
          std::from_chars(trimmed.data(), trimmed.data() + trimmed.size(), parsed);
      if (error != std::errc() || end != trimmed.data() + trimmed.size()) {
        return BadValue(key, value, "Expected a number.");
      }
      return {};
    }
  }
  if (!status.ok()) return BadValue(key, value, status.message());
  return {};
}

const OptionSpec* FindSpec(std::span<const OptionSpec> specs, std::string_view key) {
  const OptionSpec* wildcard = nullptr;
  for (const OptionSpec& spec : specs) {
    if (spec.key == key) return &spec;
    if (!spec.key.empty() && spec.key.back() == '*' &&
        key.starts_with(spec.key.substr(0, spec.key.size() - 1))) {
      wildcard = &spec;
    }
  }
  return wildcard;
}

std::string JoinSorted(const std::set<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : "\n") + name;
  return text;
}

}  // namespace

Status ValidateOptions(std::string_view owner, const OptionMap& options,
                       std::span<const OptionSpec> specs) {
  std::set<std::string> missing;
  for (const OptionSpec& spec : specs) {
    if (spec.required && options.find(spec.key) == options.end()) missing.emplace(spec.key);
  }
  if (!missing.empty()) {
    const std::vector<std::string> wanted(missing.begin(), missing.end());
    std::string hint;  // A misspelt key is often the missing one.
    for (const auto& [key, value] : options) {
      if (!hint.empty() || FindSpec(specs, key) != nullptr) continue;
      hint = DidYouMean(key, wanted);
      if (!hint.empty()) hint = "\n\nThe option '" + key + "' is not known." + hint;
    }
    return Status::InvalidArgument(
        "One or more required options are missing.\n\nMissing required options are:\n\n" +
        JoinSorted(missing) + hint);
  }
  std::set<std::string> supported;
  for (const OptionSpec& spec : specs) supported.emplace(spec.key);
  std::set<std::string> unknown;
  std::string hint;
  for (const auto& [key, value] : options) {
    if (FindSpec(specs, key) != nullptr) continue;
    unknown.insert(key);
    const std::vector<std::string> known(supported.begin(), supported.end());
    if (hint.empty()) hint = DidYouMean(key, known);
  }
  if (!unknown.empty()) {
    return Status::InvalidArgument("Unsupported options found for '" + std::string(owner) + "'." +
                                   hint + "\n\nUnsupported options:\n\n" + JoinSorted(unknown) +
                                   "\n\nSupported options:\n\n" + JoinSorted(supported));
  }
  for (const auto& [key, value] : options)
    SLUICE_RETURN_NOT_OK(CheckValue(*FindSpec(specs, key), key, value));
  return {};
}

const OptionSpec* OptionReader::Find(std::string_view key) const { return FindSpec(specs_, key); }

std::optional<std::string> OptionReader::Text(std::string_view key) const {
  if (const auto it = options_.find(key); it != options_.end()) return it->second;
  const OptionSpec* spec = Find(key);
  if (spec == nullptr || spec->default_text.empty()) return std::nullopt;
  return std::string(spec->default_text);
}

namespace {
Status NoValue(std::string_view key) {
  return Status::InvalidArgument("Option '" + std::string(key) + "' has no value and no default.");
}
}  // namespace

Result<bool> OptionReader::Boolean(std::string_view key) const {
  const std::optional<std::string> text = Text(key);
  if (!text) return false;
  Result<bool> parsed = ParseBooleanOption(*text);
  if (!parsed.ok()) return BadValue(key, *text, parsed.status().message());
  return parsed;
}

Result<int64_t> OptionReader::Integer(std::string_view key) const {
  const std::optional<std::string> text = Text(key);
  if (!text) return NoValue(key);
  const std::optional<int64_t> number = ParseInt64(TrimAscii(*text));
  if (!number) return BadValue(key, *text, "Expected a whole number.");
  return *number;
}

Result<int64_t> OptionReader::DurationMillis(std::string_view key) const {
  const std::optional<std::string> text = Text(key);
  if (!text) return NoValue(key);
  Result<int64_t> parsed = ParseDurationMillis(*text);
  if (!parsed.ok()) return BadValue(key, *text, parsed.status().message());
  return parsed;
}

Result<int64_t> OptionReader::MemorySize(std::string_view key) const {
  const std::optional<std::string> text = Text(key);
  if (!text) return NoValue(key);
  Result<int64_t> parsed = ParseMemorySize(*text);
  if (!parsed.ok()) return BadValue(key, *text, parsed.status().message());
  return parsed;
}

Result<std::string> OptionReader::Enum(std::string_view key) const {
  const std::optional<std::string> text = Text(key);
  if (!text) return NoValue(key);
  const OptionSpec* spec = Find(key);
  if (spec != nullptr && !spec->allowed.empty()) SLUICE_RETURN_NOT_OK(CheckEnum(*spec, *text));
  return ToLowerAscii(*text);
}

std::string MaskSecret(std::string_view key, std::string_view value) {
  static constexpr std::array<std::string_view, 13> kSecretWords = {"password",
                                                                    "secret",
                                                                    "token",
                                                                    "apikey",
                                                                    "api-key",
                                                                    "auth-params",
                                                                    "service-key",
                                                                    "basic-auth",
                                                                    "jaas.config",
                                                                    "http-headers",
                                                                    "fs.azure.account.key",
                                                                    "accesskeyid",
                                                                    "access-key"};
  const std::string lower = ToLowerAscii(key);
  for (const std::string_view word : kSecretWords) {
    if (lower.find(word) != std::string::npos) return "******";
  }
  return std::string(value);
}

}  // namespace sluice
