// Completing the positions of bad records once all are known.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "formats/format.h"
#include "formats/text/vector_level.h"

namespace sluice::formats::text {

/// Bad records kept in one DecodedRows; the rest is counted.
constexpr size_t kMaxKeptBadRecords = 1000;

/// LF, CR LF and, with `bare_cr`, CR alone.
int64_t CountLineEnds(std::string_view text, bool bare_cr, VectorLevel level = BestVectorLevel());

/// Sorts by position and fills `line` from `byte_offset` within `chunk`.
void FillLines(std::string_view chunk, bool bare_cr, std::vector<BadRecord>* bad);

}  // namespace sluice::formats::text
