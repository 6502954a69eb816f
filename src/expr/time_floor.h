// Rounding wall times down to calendar units, and adding units.
#pragma once

#include <cstdint>

#include "expr/time_unit.h"

namespace sluice::expr {

/// First day of the unit (WEEK to MILLENNIUM; weeks start on Sunday) that holds `day`.
int64_t FloorDay(int64_t day, TimeUnit unit);
/// First day of the next unit after the one that begins at `day`.
int64_t NextDay(int64_t day, TimeUnit unit);
/// True for DAY and smaller units, which have a fixed length (UnitMillis).
bool IsFixedUnit(TimeUnit unit);

}  // namespace sluice::expr
