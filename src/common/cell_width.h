// Cells of a terminal that characters take.
#pragma once

#include <cstdint>

namespace sluice {

/// 2 for East Asian wide and full-width characters and emoji, 0 for combining marks and joiners,
/// else 1. Unicode's East Asian Width W and F, by block.
int CellWidth(char32_t code_point);

}  // namespace sluice
