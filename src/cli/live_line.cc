#include "cli/live_line.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <vector>

#include "cli/output/cell.h"
#include "common/clock.h"
#include "common/text.h"
#include "connectors/filesystem/sink/sink_metrics.h"
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

namespace {

/// A piece of the line; the higher its rank, the sooner it gives way on a narrow terminal.
struct Piece {
  int rank;
  std::string text;
};

std::string WatermarkText(int64_t watermark_ms) {
  std::string text = "watermark ";
  AppendTimestampText(watermark_ms / 1000 - (watermark_ms % 1000 < 0 ? 1 : 0), 0, 0, &text);
  return text;
}

std::vector<Piece> LivePieces(const runtime::Metrics& metrics, double rows_per_second,
                              int64_t elapsed_ms) {
  using namespace runtime::metric;                      // NOLINT: the names of metrics.
  using namespace connectors::filesystem::sink_metric;  // NOLINT: as above.
  const auto count = [&](std::string_view name) { return WithThousands(metrics.Value(name)); };
  std::vector<Piece> pieces = {
      {3, std::to_string(elapsed_ms / 1000) + " s"},
      {0, "in " + count(kRowsIn) + " (" + RateText(rows_per_second) + ")"},
      {2, "out " + count(kRowsOut)},
  };
  if (metrics.Value(kCheckpoint) > 0) {
    pieces.push_back({5, "checkpoint " + std::to_string(metrics.Value(kCheckpoint)) + " (" +
                             std::to_string(metrics.Value(kCheckpointMs)) + " ms)"});
  }
  const int64_t watermark = metrics.Value(kWatermarkMs);
  if (watermark != 0 && watermark != runtime::kMinWatermarkMs &&
      watermark != runtime::kMaxWatermarkMs) {
    pieces.push_back({6, WatermarkText(watermark)});
  }
  if (metrics.Value(kOpenFiles) > 0) pieces.push_back({7, count(kOpenFiles) + " files open"});
  if (metrics.Value(kPublishedFiles) > 0) {
    pieces.push_back({4, count(kPublishedFiles) + " published"});
  }
  if (metrics.Value(kCommittedPartitions) > 0) {
    pieces.push_back({4, "partitions " + count(kCommittedPartitions)});
  }
  if (metrics.Value(kBadRecords) > 0) pieces.push_back({1, "bad " + count(kBadRecords)});
  if (metrics.Value(kLateRowsDropped) > 0) {
    pieces.push_back({1, "late, dropped " + count(kLateRowsDropped)});
  }
  if (metrics.Value(kLateRowsAside) > 0) {
    pieces.push_back({1, "late, aside " + count(kLateRowsAside)});
  }
  if (metrics.Value(kStoreRetries) > 0) {
    pieces.push_back({1, "store retries " + count(kStoreRetries)});
  }
  for (const auto& [who, what] : metrics.Waiting()) {
    if (!what.empty()) pieces.push_back({1, "waits: " + what});
  }
  return pieces;
}

int WidthOf(const std::vector<Piece>& pieces) {
  int width = 0;
  for (const Piece& piece : pieces) width += CellWidth(piece.text) + 2;
  return width;
}

}  // namespace

std::string LiveText(const runtime::Metrics& metrics, double rows_per_second, int64_t elapsed_ms,
                     int width) {
  std::vector<Piece> pieces = LivePieces(metrics, rows_per_second, elapsed_ms);
  while (WidthOf(pieces) - 2 > width) {
    const auto least = std::ranges::max_element(pieces, {}, &Piece::rank);
    if (least->rank < 2) break;  // What is left matters more than how it looks.
    pieces.erase(least);
  }
  std::string text;
  for (const Piece& piece : pieces) text += (text.empty() ? "" : "  ") + piece.text;
  return text;
}

std::string SummaryText(const runtime::Metrics& metrics, double seconds) {
  using namespace runtime::metric;                      // NOLINT: the names of metrics.
  using namespace connectors::filesystem::sink_metric;  // NOLINT: as above.
  const auto count = [&](std::string_view name) { return WithThousands(metrics.Value(name)); };
  std::string text = count(kRowsIn) + " rows in, " + count(kRowsOut) + " out";
  if (metrics.Value(kRowsSkipped) > 0) text += ", " + count(kRowsSkipped) + " skipped by filters";
  if (metrics.Value(kPublishedFiles) > 0) text += ", " + count(kPublishedFiles) + " files";
  if (metrics.Value(kCommittedPartitions) > 0)
    text += ", " + count(kCommittedPartitions) + " partitions committed";
  if (metrics.Value(kLateCommits) > 0) text += " (" + count(kLateCommits) + " again)";
  if (metrics.Value(kLateRowsDropped) > 0)
    text += ", " + count(kLateRowsDropped) + " late rows dropped";
  if (metrics.Value(kLateRowsAside) > 0)
    text += ", " + count(kLateRowsAside) + " late rows put aside";
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
  const int width = TerminalWidth() - 1;
  // A job named after its table with catalog and database must leave room for what it does.
  const std::string name = FitCells(job_name, width / 3) + ": ";
  const std::string text =
      name + LiveText(metrics, rate_, (now_us - started_us_) / 1000, width - CellWidth(name));
  std::fprintf(stderr, "\r\x1b[K%s", FitCells(text, width).c_str());
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
