#include "common/cell_width.h"

#include <algorithm>
#include <array>

namespace sluice {
namespace {

struct Range {
  char32_t first;
  char32_t last;
};
constexpr std::array kWide{
    Range{0x1100, 0x115F},   Range{0x2E80, 0x303E},   Range{0x3041, 0x33FF},
    Range{0x3400, 0x4DBF},   Range{0x4E00, 0x9FFF},   Range{0xA000, 0xA4CF},
    Range{0xA960, 0xA97F},   Range{0xAC00, 0xD7A3},   Range{0xF900, 0xFAFF},
    Range{0xFE30, 0xFE6F},   Range{0xFF00, 0xFF60},   Range{0xFFE0, 0xFFE6},
    Range{0x1F300, 0x1F64F}, Range{0x1F680, 0x1F6FF}, Range{0x1F900, 0x1F9FF},
    Range{0x1FA70, 0x1FAFF}, Range{0x20000, 0x3FFFD}};
constexpr std::array kNone{Range{0x300, 0x36F}, Range{0x200B, 0x200F}, Range{0x20D0, 0x20FF},
                           Range{0xFE00, 0xFE0F}, Range{0xFE20, 0xFE2F}};

bool Within(char32_t c, const auto& ranges) {
  return std::ranges::any_of(ranges,
                             [c](Range range) { return c >= range.first && c <= range.last; });
}

}  // namespace

int CellWidth(char32_t code_point) {
  if (code_point < 0x300) return 1;
  if (Within(code_point, kNone)) return 0;
  return Within(code_point, kWide) ? 2 : 1;
}

}  // namespace sluice
