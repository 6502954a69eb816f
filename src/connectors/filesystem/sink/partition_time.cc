#include "connectors/filesystem/sink/partition_time.h"

#include <algorithm>
#include <cctype>

#include "common/nearest_name.h"
#include "common/text.h"
#include "connectors/filesystem/sink/time_hook.h"
#include "types/calendar.h"

namespace sluice::connectors::filesystem {
namespace {

constexpr std::string_view kPatternKey = "partition.time-extractor.timestamp-pattern";
constexpr std::string_view kFormatterKey = "partition.time-extractor.timestamp-formatter";

/// The name that starts behind a '$', for the message: letters, digits and '_'.
std::string_view WordAt(std::string_view text) {
  size_t end = 0;
  while (end < text.size() &&
         (std::isalnum(static_cast<unsigned char>(text[end])) || text[end] == '_')) {
    ++end;
  }
  return text.substr(0, end);
}

/// Reads digits up to `separator` (or the end) and moves past it.
std::optional<int64_t> NumberUpTo(std::string_view* text, char separator, size_t max_digits) {
  const size_t end = separator == 0 ? text->size() : text->find(separator);
  if (end == std::string_view::npos || end == 0 || end > max_digits) return std::nullopt;
  int64_t value = 0;
  for (const char c : text->substr(0, end)) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + (c - '0');
  }
  text->remove_prefix(separator == 0 ? end : end + 1);
  return value;
}

/// "H:m:s[.f]" in milliseconds of the day.
std::optional<int64_t> ParseTimeOfDay(std::string_view text) {
  std::string_view fraction;
  if (const size_t dot = text.find('.'); dot != std::string_view::npos) {
    fraction = text.substr(dot + 1);
    text = text.substr(0, dot);
    const bool digits =
        std::all_of(fraction.begin(), fraction.end(), [](char c) { return c >= '0' && c <= '9'; });
    if (fraction.empty() || fraction.size() > 9 || !digits) return std::nullopt;
  }
  const auto hour = NumberUpTo(&text, ':', 2);
  const auto minute = hour ? NumberUpTo(&text, ':', 2) : std::nullopt;
  const auto second = minute ? NumberUpTo(&text, 0, 2) : std::nullopt;
  if (!second || *hour > 23 || *minute > 59 || *second > 59) return std::nullopt;
  int64_t millis = 0;
  for (size_t i = 0; i < 3; ++i)
    millis = millis * 10 + (i < fraction.size() ? fraction[i] - '0' : 0);
  return ((*hour * 60 + *minute) * 60 + *second) * 1000 + millis;
}

}  // namespace

std::optional<int64_t> ParseLenientWidthDateTime(std::string_view text) {
  const size_t blank = text.find(' ');
  std::string_view date = text.substr(0, blank);
  const auto year = NumberUpTo(&date, '-', 10);
  const auto month = year ? NumberUpTo(&date, '-', 2) : std::nullopt;
  const auto day = month ? NumberUpTo(&date, 0, 2) : std::nullopt;
  if (!day || *month < 1 || *month > 12) return std::nullopt;
  const auto month_number = static_cast<int32_t>(*month);
  if (*day < 1 || *day > DaysInMonth(*year, month_number)) return std::nullopt;
  // 99,999,999 years: the milliseconds of more would not fit.
  if (*year > 99'999'999) return std::nullopt;
  const int64_t days = DaysFromCivil(*year, month_number, static_cast<int32_t>(*day));
  if (blank == std::string_view::npos) return days * kMillisPerDay;
  const auto time = ParseTimeOfDay(text.substr(blank + 1));
  if (!time) return std::nullopt;
  return days * kMillisPerDay + *time;
}

Result<PartitionTimeExtractor> PartitionTimeExtractor::Make(
    const std::vector<std::string>& partition_keys, const std::optional<std::string>& pattern,
    const std::optional<std::string>& formatter) {
  PartitionTimeExtractor extractor;
  extractor.key_count_ = partition_keys.size();
  if (formatter) {
    auto parsed = DateTimePattern::Make(*formatter);
    if (!parsed.ok()) {
      return Status::InvalidArgument("Invalid value for option '" + std::string(kFormatterKey) +
                                     "'. " + parsed.status().message());
    }
    extractor.formatter_ = std::move(*parsed);
  }
  if (!pattern) {
    extractor.pieces_.push_back({.text = {}, .key = 0});
    return extractor;
  }
  const std::string prefix =
      "Invalid value for option '" + std::string(kPatternKey) + "': '" + *pattern + "' ";
  bool names_key = false;
  std::string text;
  for (size_t i = 0; i < pattern->size();) {
    if ((*pattern)[i] != '$') {
      text += (*pattern)[i++];
      continue;
    }
    const std::string_view rest = std::string_view(*pattern).substr(i + 1);
    int best = -1;
    for (size_t k = 0; k < partition_keys.size(); ++k) {
      const bool longer =
          best < 0 || partition_keys[k].size() > partition_keys[static_cast<size_t>(best)].size();
      if (longer && rest.starts_with(partition_keys[k])) best = static_cast<int>(k);
    }
    const size_t best_size = best < 0 ? 0 : partition_keys[static_cast<size_t>(best)].size();
    if (best < 0) {
      return Status::InvalidArgument(
          prefix + "names '$" + std::string(WordAt(rest)) +
          "', which is no partition key. Partition keys: " + Join(partition_keys, ", ") + "." +
          DidYouMean(WordAt(rest), partition_keys));
    }
    if (!text.empty()) extractor.pieces_.push_back({.text = std::move(text), .key = -1});
    text.clear();
    extractor.pieces_.push_back({.text = {}, .key = best});
    names_key = true;
    i += 1 + best_size;
  }
  if (!text.empty()) extractor.pieces_.push_back({.text = std::move(text), .key = -1});
  if (!names_key) {
    return Status::InvalidArgument(prefix +
                                   "names no partition key, so every partition would get the same "
                                   "time. Write it like '$dt $hour:00:00'.");
  }
  // Text of the pattern that the form of times cannot have: no partition would ever have a time.
  const auto fits = [&extractor](char c) {
    if (extractor.formatter_) return extractor.formatter_->MayHold(c);
    return std::string_view("0123456789-:. ").find(c) != std::string_view::npos;
  };
  for (const Piece& piece : extractor.pieces_) {
    if (std::all_of(piece.text.begin(), piece.text.end(), fits)) continue;
    const std::string form = formatter ? "'" + *formatter + "'" : "yyyy-MM-dd HH:mm:ss";
    const std::string remedy = formatter
                                   ? " The form is that of '" + std::string(kFormatterKey) + "'."
                                   : " Another form needs '" + std::string(kFormatterKey) + "'.";
    return Status::InvalidArgument(
        prefix + "has the text '" + piece.text + "', which is part of no time of the form " + form +
        ". Partition keys: " + Join(partition_keys, ", ") + "." + remedy);
  }
  return extractor;
}

PartitionTimeExtractor PartitionTimeExtractor::Make(std::shared_ptr<TimeHook> hook) {
  PartitionTimeExtractor extractor;
  extractor.hook_ = std::move(hook);
  return extractor;
}

std::optional<int64_t> PartitionTimeExtractor::LocalMillis(const PartitionValues& values) const {
  if (hook_ != nullptr) return hook_->LocalMillis(values);
  // A file of an earlier layout of the table may come with other keys.
  if (values.size() != key_count_) return std::nullopt;
  std::string text;
  for (const Piece& piece : pieces_) {
    if (piece.key < 0) {
      text += piece.text;
      continue;
    }
    const auto& value = values[static_cast<size_t>(piece.key)];
    if (!value) return std::nullopt;
    text += *value;
  }
  if (formatter_) return formatter_->ParseLocalMillis(text);
  return ParseLenientWidthDateTime(text);
}

}  // namespace sluice::connectors::filesystem
