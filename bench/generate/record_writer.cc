#include "record_writer.h"

#include <charconv>

namespace sluice::bench {

void RecordWriter::Flush() {
  failed_ |= std::fwrite(buffer_.data(), 1, buffer_.size(), file_) != buffer_.size();
  buffer_.clear();
}

void RecordWriter::Name(std::string_view name) {
  if (!first_) buffer_ += ',';
  first_ = false;
  if (json_) (((buffer_ += '"') += name) += "\":");
}

void RecordWriter::Integer(std::string_view name, int64_t value) {
  Name(name);
  char text[24];
  buffer_.append(text, std::to_chars(text, text + sizeof(text), value).ptr);
}

void RecordWriter::Digits(int64_t value, int width) {
  char text[20];
  for (int i = width - 1; i >= 0; --i, value /= 10) text[i] = static_cast<char>('0' + value % 10);
  buffer_.append(text, static_cast<size_t>(width));
}

void RecordWriter::Scaled(std::string_view name, int64_t value, int digits) {
  Name(name);
  int64_t scale = 1;
  for (int i = 0; i < digits; ++i) scale *= 10;
  if (value < 0) buffer_ += '-';
  const int64_t magnitude = value < 0 ? -value : value;
  buffer_ += std::to_string(magnitude / scale);
  buffer_ += '.';
  Digits(magnitude % scale, digits);
}

void RecordWriter::Text(std::string_view name, std::string_view value) {
  Name(name);
  if (json_) buffer_ += '"';
  buffer_ += value;
  if (json_) buffer_ += '"';
}

void RecordWriter::Boolean(std::string_view name, bool value) {
  Name(name);
  buffer_ += value ? "true" : "false";
}

void RecordWriter::Null(std::string_view name) {
  Name(name);
  if (json_) buffer_ += "null";
}

/// Civil date of a day number; the algorithm of Howard Hinnant's "chrono-compatible low-level date
/// algorithms", for days from 1970 on.
void RecordWriter::DatePart(int64_t days) {
  const int64_t z = days + 719468;
  const int64_t era = z / 146097;
  const int64_t day_of_era = z - era * 146097;
  const int64_t year_of_era =
      (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  const int64_t day_of_year =
      day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const int64_t shifted_month = (5 * day_of_year + 2) / 153;
  const int64_t month = shifted_month < 10 ? shifted_month + 3 : shifted_month - 9;
  Digits(year_of_era + era * 400 + (month <= 2 ? 1 : 0), 4);
  buffer_ += '-';
  Digits(month, 2);
  buffer_ += '-';
  Digits(day_of_year - (153 * shifted_month + 2) / 5 + 1, 2);
}

void RecordWriter::Date(std::string_view name, int64_t days) {
  Name(name);
  if (json_) buffer_ += '"';
  DatePart(days);
  if (json_) buffer_ += '"';
}

void RecordWriter::Timestamp(std::string_view name, int64_t milliseconds) {
  constexpr int64_t kDay = 86'400'000;
  Name(name);
  if (json_) buffer_ += '"';
  DatePart(milliseconds / kDay);
  const int64_t rest = milliseconds % kDay;
  buffer_ += ' ';
  Digits(rest / 3'600'000, 2);
  buffer_ += ':';
  Digits(rest / 60'000 % 60, 2);
  buffer_ += ':';
  Digits(rest / 1000 % 60, 2);
  buffer_ += '.';
  Digits(rest % 1000, 3);
  if (json_) buffer_ += '"';
}

}  // namespace sluice::bench
