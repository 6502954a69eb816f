#include "sql/physical/explain.h"

#include <vector>

#include "common/text.h"
#include "sql/physical/changelog.h"
#include "sql/physical/job_builder.h"

namespace sluice::sql {
namespace {

std::string Names(const Schema& schema) {
  std::vector<std::string> names;
  for (const Column& column : schema.columns()) names.push_back(column.name);
  return Join(names, ", ");
}

std::string SelectList(const std::vector<expr::ExprPtr>& expressions, const Schema& input,
                       const Schema& output) {
  std::vector<std::string> items;
  for (size_t i = 0; i < expressions.size(); ++i) {
    std::string text = expressions[i]->ToString(input);
    const std::string& name = output.column(static_cast<int>(i)).name;
    if (text != name && text != "`" + name + "`") text += " AS " + name;
    items.push_back(std::move(text));
  }
  return Join(items, ", ");
}

std::string PartitionText(const ScanNode& scan) {
  std::vector<std::string> partitions;
  for (const connectors::PartitionValues& values : *scan.partitions) {
    std::vector<std::string> pairs;
    for (size_t i = 0; i < values.size(); ++i) {
      pairs.push_back(scan.table->partition_keys[i] + "=" + values[i].value_or("NULL"));
    }
    partitions.push_back("{" + Join(pairs, ", ") + "}");
  }
  return "partitions=[" + Join(partitions, ", ") + "]";
}

/// What the source makes instead of rows, and the names of that.
std::string AggregatesText(const ScanNode& scan, std::string* fields) {
  const Schema physical = scan.table->PhysicalSchema();
  std::vector<std::string> keys;
  for (const int key : scan.aggregates->keys) keys.push_back(physical.column(key).name);
  std::vector<std::string> functions;
  for (const expr::AggregateCall& call : scan.aggregates->calls)
    functions.push_back(call.ToString(physical));
  std::vector<std::string> names = keys;
  names.insert(names.end(), functions.begin(), functions.end());
  *fields = Join(names, ", ");
  const bool told = scan.source != nullptr && scan.source->metadata_tells_aggregates();
  return "aggregates=[grouping=[" + Join(keys, ", ") + "], functions=[" + Join(functions, ", ") +
         "], from=[" + (told ? "footers" : "rows") + "]]";
}

std::string ScanText(const ScanNode& scan, bool physical) {
  std::string table = "[" + scan.path.catalog + ", " + scan.path.database + ", " + scan.path.object;
  if (!physical) return "LogicalTableScan(table=[" + table + "]])";
  if (scan.partitions) {
    if (scan.partitions->empty()) return "Values(tuples=[[]], values=[" + Names(scan.schema) + "])";
    table += ", " + PartitionText(scan);
  }
  if (!scan.used_filters.empty()) {
    std::vector<std::string> filters;
    for (const expr::ExprPtr& filter : scan.used_filters)
      filters.push_back(filter->ToString(scan.table->PhysicalSchema()));
    table += ", filter=[" + Join(filters, " AND ") + "]";
  }
  if (!scan.aggregates &&
      scan.schema.column_count() < static_cast<int>(scan.table->columns.size())) {
    table += ", project=[" + Names(scan.schema) + "]";
  }
  std::string fields = Names(scan.schema);
  if (scan.aggregates) table += ", " + AggregatesText(scan, &fields);
  if (scan.limit && scan.limit_used) table += ", limit=[" + std::to_string(*scan.limit) + "]";
  if (scan.watermark) {
    table += ", watermark=[" + scan.watermark->ToString(scan.table->SourceSchema()) + "]";
  }
  return "TableSourceScan(table=[" + table + "]], fields=[" + fields + "])";
}

std::string AggregateText(const AggregateNode& aggregate) {
  const Schema& input = aggregate.inputs[0]->schema;
  std::vector<std::string> keys;
  for (const expr::ExprPtr& key : aggregate.keys) keys.push_back(key->ToString(input));
  std::vector<std::string> select = keys;
  for (size_t i = 0; i < aggregate.calls.size(); ++i) {
    select.push_back(aggregate.calls[i].ToString(input) + " AS " +
                     aggregate.schema.column(static_cast<int>(aggregate.keys.size() + i)).name);
  }
  const std::string group_by = keys.empty() ? "" : "groupBy=[" + Join(keys, ", ") + "], ";
  return "GroupAggregate(" + group_by + "select=[" + Join(select, ", ") + "])";
}

std::string SortText(const SortNode& sort) {
  std::vector<std::string> keys;
  for (const SortKey& key : sort.keys) {
    std::string text = key.expression->ToString(sort.schema) + (key.ascending ? " ASC" : " DESC");
    if (key.nulls_first != key.ascending) text += key.nulls_first ? " NULLS FIRST" : " NULLS LAST";
    keys.push_back(std::move(text));
  }
  std::string text =
      (sort.limit ? "SortLimit(orderBy=[" : "Sort(orderBy=[") + Join(keys, ", ") + "]";
  if (sort.limit) text += ", offset=[0], fetch=[" + std::to_string(*sort.limit) + "]";
  return text + ")";
}

std::string JoinText(const JoinNode& join) {
  static constexpr std::string_view kNames[] = {"InnerJoin",     "LeftOuterJoin", "RightOuterJoin",
                                                "FullOuterJoin", "SingleJoin",    "MarkJoin"};
  std::vector<Column> columns = join.inputs[0]->schema.columns();
  for (const Column& column : join.inputs[1]->schema.columns()) columns.push_back(column);
  const Schema pair(std::move(columns));
  std::vector<std::string> conditions;
  if (join.condition) conditions.push_back(join.condition->ToString(pair));
  for (const expr::ExprPtr& equality : join.membership) {
    conditions.push_back(equality->ToString(pair));
  }
  const std::string condition = conditions.empty() ? "true" : Join(conditions, " AND ");
  return "Join(joinType=[" + std::string(kNames[static_cast<size_t>(join.type)]) + "], where=[" +
         condition + "], select=[" + Names(join.schema) + "])";
}

std::string Text(const PlanNode& node, bool physical) {
  switch (node.kind) {
    case PlanKind::kScan:
      return ScanText(static_cast<const ScanNode&>(node), physical);
    case PlanKind::kValues:
      return std::string(physical ? "Values" : "LogicalValues") + "(rows=[" +
             std::to_string(static_cast<const ValuesNode&>(node).rows.size()) + "], values=[" +
             Names(node.schema) + "])";
    case PlanKind::kProject:
      return std::string(physical ? "Calc(select=[" : "LogicalProject(select=[") +
             SelectList(static_cast<const ProjectNode&>(node).expressions, node.inputs[0]->schema,
                        node.schema) +
             "])";
    case PlanKind::kFilter:
      return (physical ? "Calc(select=[" + Names(node.schema) + "], where=["
                       : std::string("LogicalFilter(condition=[")) +
             static_cast<const FilterNode&>(node).condition->ToString(node.inputs[0]->schema) +
             "])";
    case PlanKind::kAggregate:
      return AggregateText(static_cast<const AggregateNode&>(node));
    case PlanKind::kSort:
      return SortText(static_cast<const SortNode&>(node));
    case PlanKind::kLimit: {
      const LimitNode& limit = static_cast<const LimitNode&>(node);
      return "Limit(offset=[" + std::to_string(limit.offset) + "], fetch=[" +
             (limit.limit ? std::to_string(*limit.limit) : "unlimited") + "])";
    }
    case PlanKind::kUnion:
      return "Union(all=[true], union=[" + Names(node.schema) + "])";
    case PlanKind::kJoin:
      return JoinText(static_cast<const JoinNode&>(node));
    case PlanKind::kReplicate:
      return "Replicate(select=[" + Names(node.schema) + "])";
  }
  return "?";
}

/// The exchange in front of `node` in the physical plan, "" for none.
std::string ExchangeText(const PlanNode& node) {
  if (node.kind == PlanKind::kAggregate) {
    const AggregateNode& aggregate = static_cast<const AggregateNode&>(node);
    if (aggregate.keys.empty()) return "Exchange(distribution=[single])";
    std::vector<std::string> keys;
    for (const expr::ExprPtr& key : aggregate.keys)
      keys.push_back(key->ToString(node.inputs[0]->schema));
    return "Exchange(distribution=[hash[" + Join(keys, ", ") + "]])";
  }
  if (node.kind == PlanKind::kSort || node.kind == PlanKind::kLimit)
    return "Exchange(distribution=[single])";
  return "";
}

struct Printer {
  const ExplainOptions& options;
  std::string out;

  void Line(const std::string& prefix, std::string text, const PlanNode& node) {
    if (options.changelog_mode && text.back() == ')') {
      text.pop_back();
      text += ", changelogMode=[" + KindsText(KindsOf(node, options.streaming)) + "])";
    }
    out += prefix + text + "\n";
  }

  void Children(const PlanNode& node, const std::string& indent) {
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const bool last = i + 1 == node.inputs.size();
      Print(*node.inputs[i], indent + (last ? "+- " : ":- "), indent + (last ? "   " : ":  "));
    }
  }

  void Print(const PlanNode& node, const std::string& prefix, const std::string& indent) {
    // In the physical plan a projection above a filter is one Calc.
    if (options.physical && node.kind == PlanKind::kProject &&
        node.inputs[0]->kind == PlanKind::kFilter) {
      const PlanNode& filter = *node.inputs[0];
      std::string text = Text(node, true);
      text.pop_back();
      text += ", where=[" +
              static_cast<const FilterNode&>(filter).condition->ToString(filter.inputs[0]->schema) +
              "])";
      Line(prefix, std::move(text), node);
      return Children(filter, indent);
    }
    Line(prefix, Text(node, options.physical), node);
    const std::string exchange = options.physical ? ExchangeText(node) : "";
    if (exchange.empty()) return Children(node, indent);
    Line(indent + "+- ", exchange, *node.inputs[0]);
    Children(node, indent + "   ");
  }
};

}  // namespace

std::string NodeText(const PlanNode& node) { return Text(node, true); }

std::string ExplainPlan(const PlanPtr& plan, const std::string& sink,
                        const ExplainOptions& options) {
  Printer printer{options, ""};
  if (sink.empty()) {
    printer.Print(*plan, "", "");
  } else {
    printer.out = sink + "\n";
    printer.Print(*plan, "+- ", "   ");
  }
  return printer.out;
}

}  // namespace sluice::sql
