// Fixed-form texts written straight into a buffer, for kernels that must not allocate per value.
// Each function writes at `at` and returns the end; the caller has reserved the maximum named.
#pragma once

#include <charconv>
#include <cstdint>
#include <cstring>

#include "types/calendar.h"

namespace sluice::text {

constexpr int kMaxIntegerBytes = 20;
constexpr int kMaxDateBytes = 24;  // Years far outside 0 to 9999 have more digits.
constexpr int kMaxTimestampBytes = 48;

inline char* WriteTwoDigits(char* at, uint32_t value) {
  at[0] = static_cast<char>('0' + value / 10);
  at[1] = static_cast<char>('0' + value % 10);
  return at + 2;
}

inline char* WriteInteger(char* at, int64_t value) {
  return std::to_chars(at, at + kMaxIntegerBytes, value).ptr;
}

/// At least four digits, as Java prints years.
inline char* WriteYear(char* at, int64_t year) {
  if (year >= 0 && year <= 9999) [[likely]] {
    at = WriteTwoDigits(at, static_cast<uint32_t>(year) / 100);
    return WriteTwoDigits(at, static_cast<uint32_t>(year) % 100);
  }
  if (year > -1000 && year < 0) {
    *at++ = '-';
    const auto positive = static_cast<uint32_t>(-year);
    at = WriteTwoDigits(at, positive / 100);
    return WriteTwoDigits(at, positive % 100);
  }
  return WriteInteger(at, year);
}

inline char* WriteDate(char* at, int64_t days) {
  const CivilDate date = CivilFromDays(days);
  at = WriteYear(at, date.year);
  *at++ = '-';
  at = WriteTwoDigits(at, static_cast<uint32_t>(date.month));
  *at++ = '-';
  return WriteTwoDigits(at, static_cast<uint32_t>(date.day));
}

/// "hh:mm:ss" of a second of the day.
inline char* WriteTimeOfDay(char* at, uint32_t second_of_day) {
  at = WriteTwoDigits(at, second_of_day / 3600);
  *at++ = ':';
  at = WriteTwoDigits(at, second_of_day / 60 % 60);
  *at++ = ':';
  return WriteTwoDigits(at, second_of_day % 60);
}

/// ".123": the first `digits` (0 to 9) of nine fraction digits, nothing for 0.
inline char* WriteFraction(char* at, uint32_t nanos, int digits) {
  if (digits <= 0) return at;
  *at++ = '.';
  char all[9];
  for (int i = 8; i >= 0; --i) {
    all[i] = static_cast<char>('0' + nanos % 10);
    nanos /= 10;
  }
  std::memcpy(at, all, static_cast<size_t>(digits));
  return at + digits;
}

inline char* WriteTimestamp(char* at, int64_t epoch_seconds, uint32_t nanos, int precision) {
  const int64_t days = FloorDiv(epoch_seconds, kSecondsPerDay);
  at = WriteDate(at, days);
  *at++ = ' ';
  at = WriteTimeOfDay(at, static_cast<uint32_t>(epoch_seconds - days * kSecondsPerDay));
  return WriteFraction(at, nanos, precision);
}

}  // namespace sluice::text
