// A job as the planner hands it to the runtime: vertices (a source and/or a chain of operators, run
// as `parallelism` tasks) and the exchanges between them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/result.h"
#include "runtime/operator.h"
#include "runtime/source.h"

namespace sluice::runtime {

/// One operator of a chain. `make` is called once per subtask and attempt.
struct OperatorSpec {
  std::string id;  // Stable address of its state: "sink:default_catalog.default_database.t:writer".
  std::string name;  // For EXPLAIN and messages.
  std::function<Result<std::unique_ptr<Operator>>(int subtask)> make;
};

struct Vertex {
  std::string name;
  int parallelism = 1;
  /// Set for sources. `source_id` addresses its state.
  std::function<Result<std::shared_ptr<Source>>()> make_source;
  std::string source_id;
  /// Rows of one subtask must not be spread over several: changes of a row have an order.
  bool keeps_order = false;
  std::vector<OperatorSpec> chain;
};

enum class Exchange {
  kForward,    // Subtask i to subtask i; needs equal parallelism.
  kRebalance,  // Whole batches, round-robin to the channel with most room.
  kHash,       // Rows by hash of key columns.
  kGather,     // Everything to subtask 0.
  kBroadcast,
};

struct Edge {
  int from = 0;
  int to = 0;
  Exchange exchange = Exchange::kForward;
  std::vector<int> key_columns;  // kHash.
  int input_index = 0;           // For operators with inputs that differ.
};

struct JobGraph {
  std::vector<Vertex> vertices;
  std::vector<Edge> edges;
};

}  // namespace sluice::runtime
