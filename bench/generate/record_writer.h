#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace sluice::bench {

/// Writes rows as lines of CSV or of JSON into a file. A value is given once for both; NULL is an
/// empty field and `null`. Text holds nothing that needs quoting or escaping.
class RecordWriter {
 public:
  RecordWriter(std::FILE* file, bool json) : file_(file), json_(json) {}

  void Begin() {
    first_ = true;
    if (json_) buffer_ += '{';
  }

  void End() {
    buffer_ += json_ ? "}\n" : "\n";
    if (buffer_.size() > kFlushBytes) Flush();
  }

  void Flush();

  void Integer(std::string_view name, int64_t value);
  /// value / 10^digits with exactly that many digits behind the point.
  void Scaled(std::string_view name, int64_t value, int digits);
  void Text(std::string_view name, std::string_view value);
  void Boolean(std::string_view name, bool value);
  void Null(std::string_view name);
  /// Milliseconds since 1970 as 'yyyy-MM-dd HH:mm:ss.SSS'.
  void Timestamp(std::string_view name, int64_t milliseconds);
  /// Days since 1970 as 'yyyy-MM-dd'.
  void Date(std::string_view name, int64_t days);

  bool failed() const { return failed_; }

 private:
  static constexpr size_t kFlushBytes = 1 << 20;

  void Name(std::string_view name);
  void Digits(int64_t value, int width);
  void DatePart(int64_t days);

  std::FILE* file_;
  bool json_;
  bool first_ = true;
  bool failed_ = false;
  std::string buffer_;
};

}  // namespace sluice::bench
