// Lengths of time units.
#pragma once

#include "types/time_unit.h"

namespace sluice::expr {

/// Milliseconds of a unit of fixed length (WEEK to MILLISECOND), 0 for others.
int64_t UnitMillis(TimeUnit unit);
/// Months of a unit of the calendar (MILLENNIUM to MONTH), 0 for others.
int32_t UnitMonths(TimeUnit unit);

}  // namespace sluice::expr
