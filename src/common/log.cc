#include "common/log.h"

#include <atomic>
#include <cstdio>

#include "common/clock.h"
#include "common/text.h"

namespace sluice {
namespace {

std::atomic<LogLevel> g_lowest{LogLevel::kInfo};
std::mutex g_mutex;
std::function<void(LogLevel, std::string_view)> g_sink;

std::string_view LevelText(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return "DEBUG";
    case LogLevel::kInfo:
      return "INFO ";
    case LogLevel::kWarning:
      return "WARN ";
    case LogLevel::kError:
      return "ERROR";
  }
  return "";
}

std::string LegibleLines(std::string_view text, std::string_view line_break) {
  std::string out;
  for (const std::string_view line : Split(text, '\n')) {
    if (line.data() != text.data()) out += line_break;
    out += Printable(line, std::string::npos);
  }
  return out;
}

}  // namespace

std::string Legible(std::string_view text) { return LegibleLines(text, "\n"); }
std::string LogText(std::string_view message) { return LegibleLines(message, "\n  "); }

void SetLogSink(std::function<void(LogLevel, std::string_view)> sink) {
  const std::lock_guard lock(g_mutex);
  g_sink = std::move(sink);
}

void SetLogLevel(LogLevel lowest) { g_lowest = lowest; }

void Log(LogLevel level, std::string_view message) {
  if (level < g_lowest.load()) return;
  const std::lock_guard lock(g_mutex);
  if (g_sink) {
    g_sink(level, message);
    return;
  }
  const std::string_view name = LevelText(level);
  std::fprintf(stderr, "%.*s %s\n", static_cast<int>(name.size()), name.data(),
               LogText(message).c_str());
}

void LimitedLog::Warn(std::string_view message) {
  std::string text(message);
  {
    const std::lock_guard lock(mutex_);
    ++total_;
    const int64_t now_ms = Clock::System().MonotonicMicros() / 1000;
    if (total_ > burst_ && now_ms < next_ms_) {
      ++held_back_;
      return;
    }
    if (total_ >= burst_) next_ms_ = now_ms + interval_ms_;
    if (held_back_ > 0) text += " (" + std::to_string(held_back_) + " similar messages held back)";
    held_back_ = 0;
  }
  Log(LogLevel::kWarning, text);
}

int64_t LimitedLog::total() const {
  const std::lock_guard lock(mutex_);
  return total_;
}

}  // namespace sluice
