#include "connectors/filesystem/sink/sink_names.h"

#include <algorithm>

#include "common/stable_hash.h"
#include "common/text.h"
#include "fs/file_system.h"

namespace sluice::connectors::filesystem {
namespace {

constexpr size_t kHashDigits = 16;
constexpr size_t kUuidSize = 36;

/// Parts with their lengths, so that ("a", "bc") and ("ab", "c") differ.
std::string JoinParts(std::string_view a, std::string_view b, std::string_view c = {}) {
  std::string text;
  for (const std::string_view part : {a, b, c}) {
    text += std::to_string(part.size());
    text += ':';
    text += part;
  }
  return text;
}

bool TakePrefix(std::string_view prefix, std::string_view* text) {
  if (!text->starts_with(prefix)) return false;
  text->remove_prefix(prefix.size());
  return true;
}

std::optional<std::string_view> TakeDigits(std::string_view* text) {
  const size_t end = std::min(text->find_first_not_of("0123456789"), text->size());
  if (end == 0) return std::nullopt;
  const std::string_view digits = text->substr(0, end);
  text->remove_prefix(end);
  return digits;
}

/// The first 15 digits of the lineage, as AttemptUuid has put them there.
std::string LineageOf(const PartName& part) {
  std::string digits(part.uuid);
  std::erase(digits, '-');
  digits.erase(12, 1);
  return digits.substr(0, kHashDigits - 1);
}

/// Of version 4, as AttemptUuid makes them.
bool IsUuid(std::string_view text) {
  if (text.size() != kUuidSize || text[14] != '4') return false;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (dash ? text[i] != '-' : !IsHex(text.substr(i, 1))) return false;
  }
  return true;
}

}  // namespace

bool IsHex(std::string_view text) {
  return text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

uint64_t StableHash(std::string_view text, uint64_t seed) {
  uint64_t hash = Fnv1a(text, 0xCBF29CE484222325ull ^ seed * 0x9E3779B97F4A7C15ull);
  hash = (hash ^ (hash >> 30)) * 0xBF58476D1CE4E5B9ull;
  hash = (hash ^ (hash >> 27)) * 0x94D049BB133111EBull;
  return hash ^ (hash >> 31);
}

std::string MakeLineage(std::string_view job_id, std::string_view operator_id) {
  return Hex16(StableHash(JoinParts(job_id, operator_id), 1));
}

std::string MakeTag(std::string_view lineage, std::string_view attempt_id) {
  return std::string(lineage) + "-" + Hex16(StableHash(attempt_id, 2));
}

std::optional<std::string_view> TagOfName(std::string_view name, std::string_view lineage) {
  const size_t at = name.rfind(kInProgressInfix);
  if (!name.starts_with(".") || at == std::string_view::npos) return std::nullopt;
  const std::string_view tag = name.substr(at + kInProgressInfix.size());
  const bool ours = tag.size() == lineage.size() + 1 + kHashDigits && tag.starts_with(lineage) &&
                    tag[lineage.size()] == '-' && IsHex(tag.substr(lineage.size() + 1));
  return ours ? std::optional(tag) : std::nullopt;
}

bool IsStagingName(std::string_view name, std::string_view lineage) {
  const size_t at = name.rfind(kOverwriteInfix);
  return name.starts_with(".") && at != std::string_view::npos &&
         name.substr(at + kOverwriteInfix.size()) == lineage;
}

bool IsTemporaryName(std::string_view name) {
  const std::vector<std::string_view> parts = Split(name, '.');
  return parts.size() >= 5 && name.starts_with(".") && parts[parts.size() - 3] == "tmp" &&
         ParseInt64(parts[parts.size() - 2]) && ParseInt64(parts.back());
}

std::string AttemptUuid(std::string_view lineage, std::string_view job_id,
                        std::string_view attempt_id) {
  const std::string parts = JoinParts(lineage, job_id, attempt_id);
  // Version 4 and variant 1 by their digits; what they take of the lineage is its last digit.
  const uint64_t low = (StableHash(parts, 4) & ~(3ull << 62)) | (2ull << 62);
  std::string digits(lineage.substr(0, kHashDigits - 1));
  digits.insert(12, "4");
  digits += Hex16(low);
  std::string uuid;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i == 8 || i == 12 || i == 16 || i == 20) uuid += '-';
    uuid += digits[i];
  }
  return uuid;
}

std::optional<PartName> ParsePartName(std::string_view name) {
  for (const std::string_view prefix : {kRawPrefix, kCompactedPrefix}) {
    if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
  }
  if (fs::IsHiddenName(name)) return std::nullopt;
  // From behind: the user's prefix may hold anything.
  for (size_t at = name.size() < kUuidSize ? 0 : name.size() - kUuidSize; at > 1; --at) {
    if (name[at - 1] != '-' || !IsUuid(name.substr(at, kUuidSize))) continue;
    std::string_view rest = name.substr(at + kUuidSize);
    const bool batch = TakePrefix("-task-", &rest);
    if (!batch && !TakePrefix("-", &rest)) continue;
    if (!TakeDigits(&rest) || !TakePrefix(batch ? "-file-" : "-", &rest)) continue;
    const auto series = name.substr(0, name.size() - rest.size());
    const std::optional<std::string_view> digits = TakeDigits(&rest);
    const std::optional<int64_t> number = digits ? ParseInt64(*digits) : std::nullopt;
    if (number) return PartName{series, name.substr(at, kUuidSize), *number};
  }
  return std::nullopt;
}

std::optional<std::string> LineageOfPartName(std::string_view name) {
  const std::optional<PartName> part = ParsePartName(name);
  if (!part) return std::nullopt;
  return LineageOf(*part);
}

std::optional<std::string_view> UuidOfPartName(std::string_view name, std::string_view lineage) {
  const std::optional<PartName> part = ParsePartName(name);
  if (!part || lineage.size() != kHashDigits || !lineage.starts_with(LineageOf(*part))) {
    return std::nullopt;
  }
  return part->uuid;
}

std::string PartNamePrefix(std::string_view prefix, std::string_view uuid, int subtask,
                           bool streaming) {
  const std::string series = std::string(prefix) + "-" + std::string(uuid);
  if (streaming) return series + "-" + std::to_string(subtask) + "-";
  return series + "-task-" + std::to_string(subtask) + "-file-";
}

}  // namespace sluice::connectors::filesystem
