// Row indexes and bloom filters of a stripe: whether any stride can hold a row that passes.
#pragma once

#include <span>

#include "expr/expr.h"
#include "formats/orc/orc_file.h"

namespace sluice::formats::orc_format {

/// False when every stride of the stripe is excluded by one filter or another. Reads the footer of
/// the stripe and the indexes of the filters' columns; what cannot be read excludes nothing.
bool StridesMayMatch(const OrcFile& file, int part, std::span<const expr::ExprPtr> filters);

}  // namespace sluice::formats::orc_format
