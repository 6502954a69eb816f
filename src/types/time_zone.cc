#include "types/time_zone.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <mutex>
#include <vector>

#include <cctz/civil_time.h>
#include <cctz/time_zone.h>

#include "common/nearest_name.h"
#include "common/text.h"
#include "types/calendar.h"

namespace sluice {

struct TimeZone::Rep {
  std::string name = "UTC";
  cctz::time_zone zone = cctz::utc_time_zone();
  bool utc = true;
};

namespace {

using Instant = cctz::time_point<cctz::seconds>;

constexpr int kMaxOffsetSeconds = 18 * 3600;  // java.time's limit.

Instant ToInstant(int64_t epoch_seconds) { return Instant(cctz::seconds(epoch_seconds)); }
int64_t ToSeconds(Instant instant) { return instant.time_since_epoch().count(); }

std::string ZoneDirectory() {
  const char* directory = std::getenv("TZDIR");
  return directory != nullptr && *directory != '\0' ? directory : "/usr/share/zoneinfo";
}

/// "+08:00", "-8", "+0530", "+08:00:30" to seconds.
bool ParseOffset(std::string_view text, int* seconds) {
  if (text.size() < 2 || (text[0] != '+' && text[0] != '-')) return false;
  std::string digits;
  int fields[3] = {0, 0, 0};
  const std::vector<std::string_view> parts = Split(text.substr(1), ':');
  if (parts.size() > 3) return false;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].empty() || parts[i].size() > (parts.size() == 1 ? 4u : 2u)) return false;
    for (const char c : parts[i]) {
      if (c < '0' || c > '9') return false;
      fields[i] = fields[i] * 10 + (c - '0');
    }
  }
  if (parts.size() == 1 && parts[0].size() > 2) {  // "+0530"
    fields[1] = fields[0] % 100;
    fields[0] /= 100;
  }
  if (fields[1] > 59 || fields[2] > 59) return false;
  *seconds = (fields[0] * 60 + fields[1]) * 60 + fields[2];
  if (*seconds > kMaxOffsetSeconds) return false;
  if (text[0] == '-') *seconds = -*seconds;
  return true;
}

/// The prefix of "GMT+8", "UTC-03:30", "+01:00" and the like that stands before the offset.
std::string_view OffsetPrefix(std::string_view name) {
  for (const std::string_view prefix : {"GMT", "UTC", "UT"}) {
    if (name.starts_with(prefix)) return prefix;
  }
  return "";
}

/// Names that can be looked up as a file below the zone directory without leaving it.
bool IsZoneFileName(std::string_view name) {
  if (name.empty() || name.front() == '/' || name.find("..") != std::string_view::npos)
    return false;
  for (const char c : name) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (!letter && c != '_' && c != '-' && c != '+' && c != '/') return false;
  }
  return true;
}

/// All zone names, for messages only.
std::vector<std::string> KnownZones() {
  std::vector<std::string> names;
  std::ifstream list(ZoneDirectory() + "/tzdata.zi");
  std::string line;
  while (std::getline(list, line)) {
    const std::vector<std::string_view> words = Split(line, ' ');
    if (words[0] == "Z" && words.size() > 1) names.emplace_back(words[1]);
    if (words[0] == "L" && words.size() > 2) names.emplace_back(words[2]);
  }
  if (!names.empty()) return names;
  const std::filesystem::path root(ZoneDirectory());
  std::error_code error;
  for (std::filesystem::recursive_directory_iterator it(root, error), end; !error && it != end;
       it.increment(error)) {
    const std::string name = it->path().lexically_relative(root).string();
    if (it->is_regular_file(error) && !name.empty() && name[0] >= 'A' && name[0] <= 'Z') {
      names.push_back(name);
    }
  }
  return names;
}

// "PST" is as near to "EST" as can be, and three hours off.
constexpr size_t kLongestAbbreviation = 4;

Status UnknownZone(std::string_view name) {
  const std::vector<std::string> known = KnownZones();
  std::string message = "Unknown time zone '" + Printable(name) + "'.";
  if (known.empty()) {
    message += " The time zone database is missing: install tzdata or set TZDIR.";
  } else if (name.size() > kLongestAbbreviation) {
    message += DidYouMean(name, known);
  }
  return Status::InvalidArgument(message +
                                 " Use an IANA name such as 'Asia/Shanghai' or an offset such as "
                                 "'GMT+08:00'.");
}

}  // namespace

TimeZone::TimeZone() {
  static const std::shared_ptr<const Rep> kUtc = std::make_shared<const Rep>();
  rep_ = kUtc;
}

TimeZone::TimeZone(std::shared_ptr<const Rep> rep) : rep_(std::move(rep)) {}

Result<TimeZone> TimeZone::Find(std::string_view name) {
  auto rep = std::make_shared<Rep>();
  rep->name = std::string(name);
  if (name == "UTC" || name == "Z" || name == "GMT" || name == "UT" || name == "Etc/UTC") {
    return TimeZone(std::move(rep));
  }
  int offset = 0;
  const std::string_view prefix = OffsetPrefix(name);
  if (ParseOffset(name.substr(prefix.size()), &offset)) {
    rep->zone = cctz::fixed_time_zone(cctz::seconds(offset));
    rep->utc = offset == 0;
    return TimeZone(std::move(rep));
  }
  if (!IsZoneFileName(name) || !cctz::load_time_zone(rep->name, &rep->zone)) {
    return UnknownZone(name);
  }
  rep->utc = false;
  return TimeZone(std::move(rep));
}

TimeZone TimeZone::Local() {
  if (const char* variable = std::getenv("TZ"); variable != nullptr && *variable != '\0') {
    std::string_view name(variable);
    if (name.front() == ':') name.remove_prefix(1);
    const Result<TimeZone> zone = Find(name);
    if (zone.ok()) return *zone;
  }
  std::error_code error;
  const std::string target = std::filesystem::canonical("/etc/localtime", error).string();
  constexpr std::string_view kDirectory = "zoneinfo/";
  if (const size_t at = target.find(kDirectory); !error && at != std::string::npos) {
    const Result<TimeZone> zone = Find(std::string_view(target).substr(at + kDirectory.size()));
    if (zone.ok()) return *zone;
  }
  if (std::filesystem::exists("/etc/localtime", error)) {
    auto rep = std::make_shared<Rep>();
    rep->zone = cctz::local_time_zone();
    rep->name = rep->zone.name();
    rep->utc = false;
    return TimeZone(std::move(rep));
  }
  return TimeZone();
}

const std::string& TimeZone::name() const { return rep_->name; }
bool TimeZone::is_utc() const { return rep_->utc; }

int32_t TimeZone::OffsetSecondsAt(int64_t epoch_seconds) const {
  if (rep_->utc) return 0;
  return rep_->zone.lookup(ToInstant(epoch_seconds)).offset;
}

int64_t TimeZone::LocalToInstantSeconds(int64_t local_seconds) const {
  if (rep_->utc) return local_seconds;
  const cctz::civil_second local = cctz::civil_second(1970, 1, 1, 0, 0, 0) + local_seconds;
  const cctz::time_zone::civil_lookup found = rep_->zone.lookup(local);
  // In a gap `pre` is the instant by the offset before it, which shows as the wall time moved
  // forward by the gap; of an ambiguous time it is the earlier instant.
  return ToSeconds(found.pre);
}

int64_t TimeZone::LocalToInstantMillis(int64_t local_ms) const {
  const int64_t seconds = FloorDiv(local_ms, 1000);
  return LocalToInstantSeconds(seconds) * 1000 + (local_ms - seconds * 1000);
}

int64_t TimeZone::InstantToLocalMillis(int64_t instant_ms) const {
  return instant_ms + static_cast<int64_t>(OffsetSecondsAt(FloorDiv(instant_ms, 1000))) * 1000;
}

namespace {

/// Instant of a transition. One of its two wall times is not unique unless only the zone's
/// abbreviation changes.
int64_t TransitionSeconds(const cctz::time_zone& zone,
                          const cctz::time_zone::civil_transition& at) {
  const cctz::time_zone::civil_lookup from = zone.lookup(at.from);
  if (from.kind != cctz::time_zone::civil_lookup::UNIQUE) return ToSeconds(from.trans);
  const cctz::time_zone::civil_lookup to = zone.lookup(at.to);
  return ToSeconds(to.kind != cctz::time_zone::civil_lookup::UNIQUE ? to.trans : from.pre);
}

}  // namespace

TimeZone::OffsetRange TimeZone::RangeAt(int64_t epoch_seconds) const {
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  if (rep_->utc) return {kMin, kMax, 0};
  const Instant instant = ToInstant(epoch_seconds);
  OffsetRange range{kMin, kMax, rep_->zone.lookup(instant).offset};
  cctz::time_zone::civil_transition transition;
  // prev_transition looks strictly before its argument.
  if (rep_->zone.prev_transition(instant + cctz::seconds(1), &transition)) {
    range.begin_seconds = TransitionSeconds(rep_->zone, transition);
  }
  if (rep_->zone.next_transition(instant, &transition)) {
    range.end_seconds = TransitionSeconds(rep_->zone, transition);
  }
  return range;
}

std::string TimeZone::DatabaseVersion() {
  std::ifstream list(ZoneDirectory() + "/tzdata.zi");
  std::string line;
  constexpr std::string_view kMark = "# version ";
  if (std::getline(list, line) && line.starts_with(kMark)) return line.substr(kMark.size());
  std::ifstream version(ZoneDirectory() + "/+VERSION");
  if (std::getline(version, line) && !line.empty()) return line;
  return "unknown";
}

}  // namespace sluice
