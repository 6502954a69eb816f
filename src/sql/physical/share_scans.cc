#include <algorithm>

#include "expr/builder.h"
#include "sql/physical/job_builder.h"

namespace sluice::sql {
namespace {

void CollectScans(PlanPtr* plan, std::vector<PlanPtr*>* scans) {
  if ((*plan)->kind == PlanKind::kScan) scans->push_back(plan);
  for (PlanPtr& input : (*plan)->inputs) CollectScans(&input, scans);
}

bool SameTable(ScanNode& a, ScanNode& b) { return a.path == b.path && a.options == b.options; }

/// One scan with every column that a group of scans needs. Push-downs that only some of them may
/// use are left out.
std::shared_ptr<ScanNode> Merge(const std::vector<PlanPtr*>& group) {
  ScanNode& first = (*group[0])->As<ScanNode>();
  auto merged = std::make_shared<ScanNode>(first);
  merged->columns.clear();
  merged->pushed_filters.clear();
  merged->limit.reset();
  for (PlanPtr* use : group) {
    for (const int column : (*use)->As<ScanNode>().columns) merged->columns.push_back(column);
  }
  std::sort(merged->columns.begin(), merged->columns.end());
  merged->columns.erase(std::unique(merged->columns.begin(), merged->columns.end()),
                        merged->columns.end());
  merged->schema = first.table->SourceSchema().Select(merged->columns);
  merged->time_attributes.assign(merged->columns.size(), TimeAttribute::kNone);
  for (PlanPtr* use : group) {
    ScanNode& scan = (*use)->As<ScanNode>();
    for (size_t i = 0; i < scan.columns.size(); ++i) {
      const auto at =
          std::lower_bound(merged->columns.begin(), merged->columns.end(), scan.columns[i]);
      merged->time_attributes[static_cast<size_t>(at - merged->columns.begin())] =
          scan.time_attributes[i];
    }
  }
  return merged;
}

PlanPtr ColumnsOf(const std::shared_ptr<ScanNode>& merged, const ScanNode& use) {
  auto project = std::make_shared<ProjectNode>();
  project->schema = use.schema;
  project->time_attributes = use.time_attributes;
  for (size_t i = 0; i < use.columns.size(); ++i) {
    const auto at =
        std::lower_bound(merged->columns.begin(), merged->columns.end(), use.columns[i]);
    project->expressions.push_back(expr::MakeColumn(static_cast<int>(at - merged->columns.begin()),
                                                    use.schema.column(static_cast<int>(i)).type));
  }
  project->inputs.push_back(merged);
  return project;
}

}  // namespace

void ShareScans(std::vector<PlanPtr*> plans) {
  std::vector<PlanPtr*> scans;
  for (PlanPtr* plan : plans) CollectScans(plan, &scans);
  std::vector<bool> done(scans.size(), false);
  for (size_t i = 0; i < scans.size(); ++i) {
    if (done[i]) continue;
    std::vector<PlanPtr*> group;
    for (size_t j = i; j < scans.size(); ++j) {
      if (done[j] || !SameTable((*scans[i])->As<ScanNode>(), (*scans[j])->As<ScanNode>())) continue;
      group.push_back(scans[j]);
      done[j] = true;
    }
    if (group.size() < 2) continue;
    const std::shared_ptr<ScanNode> merged = Merge(group);
    for (PlanPtr* use : group) *use = ColumnsOf(merged, (*use)->As<ScanNode>());
  }
}

}  // namespace sluice::sql
