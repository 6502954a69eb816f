// Plans as text, near to Flink's: an operator a line, children under "+-" and ":-".
#pragma once

#include <string>

#include "sql/logical/plan.h"

namespace sluice::sql {

/// One node: "Calc(select=[a, b], where=[(a > 1)])".
std::string NodeText(const PlanNode& node);

struct ExplainOptions {
  bool streaming = true;
  bool changelog_mode = false;
  bool physical = false;  // Exchanges and merged projections and filters; else node by node with
                          // Flink's Logical… names.
};

/// The tree below `plan`, each line ended. `sink` is the line of an INSERT above it, may be empty.
std::string ExplainPlan(const PlanPtr& plan, const std::string& sink,
                        const ExplainOptions& options);

}  // namespace sluice::sql
