// What a seed runs and looks at: a job over the failing disk, and what its files must hold.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "fs/faulty/faulty_file_systems.h"
#include "runtime/job.h"
#include "scenario.h"

namespace sluice::sim {

class Subject {
 public:
  virtual ~Subject() = default;
  virtual const std::vector<Life>& lives() const = 0;
  virtual const runtime::JobSettings& settings() const = 0;
  virtual std::string ToString() const = 0;
  /// False when nothing will ever be written: then the end cannot be told from the beginning.
  virtual bool has_rows() const = 0;
  /// Puts the inputs on the disk, durably.
  virtual Status Prepare(fs::FileSystem& disk) = 0;
  virtual Result<runtime::JobGraph> MakeGraph(const Life& life, fs::FileSystems* file_systems,
                                              const Clock* clock) = 0;
  /// Empty when all is well at this instant, at the end; see oracle.h.
  virtual std::string CheckVisible(const fs::FaultyDisk& disk) const = 0;
  virtual std::string CheckEnd(const fs::FaultyDisk& disk, bool disk_was_well) const = 0;
};

std::unique_ptr<Subject> MakeScenarioSubject(uint64_t seed);
std::unique_ptr<Subject> MakeStatementSubject(uint64_t seed);

}  // namespace sluice::sim
