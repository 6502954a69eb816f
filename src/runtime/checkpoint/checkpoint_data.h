// One checkpoint: the state of every operator and source of a job at one cut through its streams.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "runtime/element.h"
#include "runtime/metrics.h"
#include "runtime/state.h"

namespace sluice::runtime {

/// State of one subtask as it answers a barrier.
struct OperatorState {
  std::string operator_id;
  int subtask = 0;
  StateFields fields;
};

/// Subtask number under which the coordinator part of a source is kept.
constexpr int kCoordinatorSubtask = -1;

struct CheckpointData {
  CheckpointId id = 0;
  std::string job_id;
  std::string job_name;
  int64_t created_ms = 0;
  bool stopping = false;  // Barrier::stopping.
  /// All that it names was published and committed before the job ended. Not in the files: a mark
  /// beside them.
  bool published = false;
  bool final = false;  // Barrier::final: nothing is left but publishing.
  /// The checkpoint or savepoint folder that the job was started from by name, whatever it has
  /// written since; empty when it began by itself.
  std::string started_from;
  /// Operator or source id -> subtask -> fields. Operators without any state are left out.
  std::map<std::string, std::map<int, StateFields>> operators;
  /// What the tasks of this attempt had counted at the barrier. Not in the files: a job counts what
  /// its process does.
  Counts counts;
};

}  // namespace sluice::runtime
