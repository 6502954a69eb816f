// Looks at the files as any reader would and says what is wrong with them.
#pragma once

#include <string>

#include "fs/faulty/faulty_disk.h"
#include "scenario.h"

namespace sluice::sim {

/// Empty when all is well at this instant: every visible row is whole, true and there once; a
/// partition with _SUCCESS has all its rows.
std::string CheckVisible(const Scenario& scenario, const fs::FaultyDisk& disk);

/// Empty when all is well after the normal end: also every row is there, nothing to resume from,
/// and, unless the disk failed while the job cleaned up (which it says), nothing hidden.
std::string CheckEnd(const Scenario& scenario, const fs::FaultyDisk& disk, bool disk_was_well);

}  // namespace sluice::sim
