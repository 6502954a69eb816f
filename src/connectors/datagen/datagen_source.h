// The source behind datagen tables.
//
// Rows of a table are numbered from 0. A split is an arithmetic progression of row numbers; reader
// t of P begins with t, t + P, t + 2P, … State: for each split its next row number and stride, so
// that neither a sequence nor a count is repeated after a restore, whatever the parallelism then.
#pragma once

#include <memory>

#include "connectors/datagen/datagen_options.h"
#include "runtime/source.h"
#include "types/schema.h"
#include "types/time_zone.h"

namespace sluice::connectors {

struct DatagenScan {
  DatagenPlan plan;
  Schema schema;                // All columns of the table.
  std::vector<int> projection;  // Those wanted.
  TimeZone session_zone;
};

std::shared_ptr<runtime::Source> MakeDatagenSource(DatagenScan scan,
                                                   runtime::SourceRuntimeOptions options);

}  // namespace sluice::connectors
