// The line that shows on a terminal what a long job is doing.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/metrics.h"

namespace sluice::cli {

/// Redraws one line on stderr while a job runs; silent when stderr is no terminal. Not thread-safe.
class LiveLine {
 public:
  LiveLine();
  /// Call about twice a second.
  void Update(const std::string& job_name, const runtime::Metrics& metrics);
  /// Removes the line: before anything else is printed.
  void Clear();
  bool enabled() const { return enabled_; }

 private:
  bool enabled_;
  bool shown_ = false;
  int64_t started_us_;
  int64_t last_us_;
  int64_t last_rows_ = 0;
  double rate_ = 0;
};

/// The text of the line: rows in and out, rate, checkpoint, watermark, files, partitions, and what
/// the job waits for. Pieces are left out, the least important first, until it takes at most
/// `width` cells.
std::string LiveText(const runtime::Metrics& metrics, double rows_per_second, int64_t elapsed_ms,
                     int width);

/// One line for the end of a job: "10,000 rows in, 10,000 out, 24 files, 24 partitions committed
/// in 1.2 s".
std::string SummaryText(const runtime::Metrics& metrics, double seconds);

}  // namespace sluice::cli
