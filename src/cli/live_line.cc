#include "cli/live_line.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>

#include "cli/output/cell.h"
#include "common/clock.h"
#include "common/text.h"
#include "runtime/element.h"
#include "types/value_text.h"

namespace sluice::cli {
namespace {

std::string RateText(double rows_per_second) {
  char text[32];
  if (rows_per_second >= 1e6) {
    std::snprintf(text, sizeof(text), "%.1f M/s", rows_per_second / 1e6);
  } else if (rows_per_second >= 1e3) {
    std::snprintf(text, sizeof(text), "%.0f k/s", rows_per_second / 1e3);
  } else {
    std::snprintf(text, sizeof(text), "%.0f/s", rows_per_second);
  }
  return text;
}

int TerminalWidth() {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20) return size.ws_col;
  return 120;
}

}  // namespace

std::string LiveText(const runtime::Metrics& metrics, double rows_per_second, int64_t elapsed_ms) {
  using namespace runtime::metric;  // NOLINT: the names of metrics.
  const auto count = [&](std::string_view name) { return WithThousands(metrics.Value(name)); };
  std::string text = std::to_string(elapsed_ms / 1000) + " s  in " + count(kRowsIn) + " (" +
                     RateText(rows_per_second) + ")  out " + count(kRowsOut);
  if (metrics.Value(kCheckpoint) > 0) {
    text += "  checkpoint " + std::to_string(metrics.Value(kCheckpoint)) + " (" +
            std::to_string(metrics.Value(kCheckpointMs)) + " ms)";
  }
  const int64_t watermark = metrics.Value(kWatermarkMs);
  if (watermark != 0 && watermark != runtime::kMinWatermarkMs &&
      watermark != runtime::kMaxWatermarkMs) {
    text += "  watermark ";
    AppendTimestampText(watermark / 1000 - (watermark % 1000 < 0 ? 1 : 0), 0, 0, &text);
  }
  text += "  files " + count(kOpenFiles) + " open, " + count(kPublishedFiles) + " published";
  if (metrics.Value(kCommittedPartitions) > 0)
    text += "  partitions " + count(kCommittedPartitions);
  if (metrics.Value(kBadRecords) > 0) text += "  bad " + count(kBadRecords);
  if (metrics.Value(kStoreRetries) > 0) text += "  store retries " + count(kStoreRetries);
  for (const auto& [who, what] : metrics.Waiting()) {
    if (!what.empty()) text += "  waits: " + what;
  }
  return text;
}

std::string SummaryText(const runtime::Metrics& metrics, double seconds) {
  using namespace runtime::metric;  // NOLINT: the names of metrics.
  const auto count = [&](std::string_view name) { return WithThousands(metrics.Value(name)); };
  std::string text = count(kRowsIn) + " rows in, " + count(kRowsOut) + " out";
  if (metrics.Value(kPublishedFiles) > 0) text += ", " + count(kPublishedFiles) + " files";
  if (metrics.Value(kCommittedPartitions) > 0)
    text += ", " + count(kCommittedPartitions) + " partitions committed";
  if (metrics.Value(kBadRecords) > 0) text += ", " + count(kBadRecords) + " bad records";
  if (metrics.Value(kRowTimeNull) > 0)
    text += ", " + count(kRowTimeNull) + " rows without row time";
  if (metrics.Value(kStoreRetries) > 0)
    text += ", " + count(kStoreRetries) + " requests to the store sent again";
  char time[48];
  std::snprintf(time, sizeof(time), " in %.2f s", seconds);
  return text + time;
}

LiveLine::LiveLine()
    : enabled_(::isatty(STDERR_FILENO) != 0),
      started_us_(Clock::System().MonotonicMicros()),
      last_us_(started_us_) {}

void LiveLine::Update(const std::string& job_name, const runtime::Metrics& metrics) {
  if (!enabled_) return;
  const int64_t now_us = Clock::System().MonotonicMicros();
  if (now_us - started_us_ < 1'000'000) return;  // Short work needs no line.
  const int64_t rows = metrics.Value(runtime::metric::kRowsIn);
  if (now_us - last_us_ >= 400'000) {
    rate_ = static_cast<double>(rows - last_rows_) * 1e6 / static_cast<double>(now_us - last_us_);
    last_us_ = now_us;
    last_rows_ = rows;
  }
  const std::string text =
      job_name + ": " + LiveText(metrics, rate_, (now_us - started_us_) / 1000);
  std::fprintf(stderr, "\r\x1b[K%s", FitCells(text, TerminalWidth() - 1).c_str());
  std::fflush(stderr);
  shown_ = true;
}

void LiveLine::Clear() {
  if (!shown_) return;
  std::fprintf(stderr, "\r\x1b[K");
  std::fflush(stderr);
  shown_ = false;
}

}  // namespace sluice::cli
