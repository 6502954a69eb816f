// Row indexes and bloom filters of a stripe: which strides can hold a row that passes.
#pragma once

#include <span>

#include "expr/expr.h"
#include "formats/orc/orc_file.h"
#include "formats/pruning/row_ranges.h"

namespace sluice::formats::orc_format {

/// The rows of the strides that no filter excludes. Reads the footer of the stripe and the indexes
/// of the filters' columns; what cannot be read excludes nothing.
pruning::RowRanges MatchingStrides(const OrcFile& file, int part,
                                   std::span<const expr::ExprPtr> filters);

}  // namespace sluice::formats::orc_format
