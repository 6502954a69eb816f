// Encodes a column of texts, with a dictionary when they repeat.
#pragma once

#include <memory>

#include "formats/orc/column_writer.h"

namespace sluice::formats::orc_format {

/// For CHAR, VARCHAR and STRING.
std::unique_ptr<ColumnWriter> MakeTextWriter(uint64_t column, const OrcType& type,
                                             const EncodeSettings* settings);

}  // namespace sluice::formats::orc_format
