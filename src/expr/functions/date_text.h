// Printing times by a pattern, for whole batches: shared by DATE_FORMAT and FROM_UNIXTIME.
#pragma once

#include <string>
#include <string_view>

#include "expr/date_pattern.h"
#include "expr/kernel_support.h"

namespace sluice::expr {

/// The compiled pattern of a row; compiled anew only when the text changes.
class PatternSource {
 public:
  explicit PatternSource(PatternStyle style) : style_(style) {}
  Result<const DatePattern*> Get(std::string_view pattern);

 private:
  PatternStyle style_;
  std::string last_text_;
  bool have_last_ = false;
  DatePattern last_;
};

WallTime WallTimeOf(int64_t local_seconds, int32_t nanos, int32_t offset_seconds,
                    const TimeZone* zone);

/// Formats the first argument, int64 values of `units_per_second`, by the pattern in the second
/// (`fallback` without it). With `zone` they are instants shown in it, else wall times.
Result<ArrayPtr> FormatTimes(const KernelCall& call, int64_t units_per_second, const TimeZone* zone,
                             PatternStyle style, std::string_view fallback);

}  // namespace sluice::expr
