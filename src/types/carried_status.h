// Our errors on their way through Arrow: what code of ours that Arrow calls (streams, files)
// answers with.
#pragma once

#include <arrow/status.h>

#include "common/status.h"

namespace sluice {

/// FromArrow gives back this very status, whether a retry can help included.
arrow::Status ToArrow(const Status& status);

}  // namespace sluice
