// Log lines to stderr. The front end installs how they look (text or JSON) and which levels pass.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>

namespace sluice {

enum class LogLevel { kDebug, kInfo, kWarning, kError };

/// Sends one message, as it is, to the installed sink (stderr as text until one is installed).
/// Thread-safe.
void Log(LogLevel level, std::string_view message);

/// All of `text` fit for a terminal: control characters and bytes that are no UTF-8 are escaped,
/// line breaks stay. Names of files and what others say may hold anything, and whoever prints a
/// message sends it through here or through LogText.
std::string Legible(std::string_view text);
/// The same for a line of the log: what is behind a line break is indented, so that nothing in a
/// message looks like a line of its own.
std::string LogText(std::string_view message);

/// Installs a sink, or restores the default with nullptr. Not to be called while other threads log.
void SetLogSink(std::function<void(LogLevel, std::string_view)> sink);
void SetLogLevel(LogLevel lowest);

/// Lets the first `burst` messages of a kind through, then at most one a `interval_ms`, and counts
/// what it held back: bad rows must be counted but may not flood the log (at most 20 lines a minute
/// by default).
class LimitedLog {
 public:
  explicit LimitedLog(int burst = 10, int64_t interval_ms = 6'000)
      : burst_(burst), interval_ms_(interval_ms) {}
  /// Logs a warning, or counts it as held back.
  void Warn(std::string_view message);
  int64_t total() const;

 private:
  const int burst_;
  const int64_t interval_ms_;
  mutable std::mutex mutex_;
  int64_t total_ = 0;
  int64_t held_back_ = 0;
  int64_t next_ms_ = 0;
};

}  // namespace sluice
