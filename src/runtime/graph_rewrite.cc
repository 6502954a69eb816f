#include "runtime/graph_rewrite.h"

#include <algorithm>
#include <set>
#include <string>

namespace sluice::runtime {
namespace {

Status BadGraph(const std::string& what) {
  return Status::Internal("The plan cannot run: " + what + ".");
}

Status CheckIds(const JobGraph& graph) {
  std::set<std::string> seen;
  for (const Vertex& vertex : graph.vertices) {
    if (vertex.make_source && vertex.source_id.empty()) {
      return BadGraph("source " + vertex.name + " has no id");
    }
    if (vertex.make_source && !seen.insert(vertex.source_id).second) {
      return BadGraph("id " + vertex.source_id + " is used twice");
    }
    for (const OperatorSpec& spec : vertex.chain) {
      if (!spec.id.empty() && !seen.insert(spec.id).second) {
        return BadGraph("id " + spec.id + " is used twice");
      }
    }
  }
  return {};
}

bool IsFusible(const JobGraph& graph, const Edge& edge) {
  const Vertex& from = graph.vertices[static_cast<size_t>(edge.from)];
  const Vertex& to = graph.vertices[static_cast<size_t>(edge.to)];
  if (from.parallelism != to.parallelism || to.make_source || edge.input_index != 0) return false;
  const bool direct = edge.exchange == Exchange::kForward ||
                      (from.parallelism == 1 &&
                       (edge.exchange == Exchange::kRebalance || edge.exchange == Exchange::kHash));
  if (!direct) return false;
  const auto count = [&graph](auto predicate) {
    return std::count_if(graph.edges.begin(), graph.edges.end(), predicate);
  };
  return count([&edge](const Edge& other) { return other.from == edge.from; }) == 1 &&
         count([&edge](const Edge& other) { return other.to == edge.to; }) == 1;
}

/// Gives vertex `index`, and what follows it subtask by subtask, `parallelism` subtasks.
void Narrow(JobGraph* graph, int index, int parallelism) {
  graph->vertices[static_cast<size_t>(index)].parallelism = parallelism;
  for (Edge& edge : graph->edges) {
    if (edge.from != index || edge.exchange != Exchange::kForward) continue;
    const auto inputs = std::count_if(graph->edges.begin(), graph->edges.end(),
                                      [&edge](const Edge& other) { return other.to == edge.to; });
    if (inputs == 1) {
      Narrow(graph, edge.to, parallelism);
    } else {
      edge.exchange = Exchange::kGather;
    }
  }
}

void RemoveVertex(JobGraph* graph, int index) {
  graph->vertices.erase(graph->vertices.begin() + index);
  for (Edge& edge : graph->edges) {
    if (edge.from > index) --edge.from;
    if (edge.to > index) --edge.to;
  }
}

}  // namespace

Status CheckGraph(const JobGraph& graph) {
  const int count = static_cast<int>(graph.vertices.size());
  if (count == 0) return BadGraph("it has no vertex");
  std::vector<bool> has_input(graph.vertices.size());
  for (const Edge& edge : graph.edges) {
    if (edge.from < 0 || edge.from >= count || edge.to < 0 || edge.to >= count) {
      return BadGraph("an edge leads to vertex " + std::to_string(std::max(edge.from, edge.to)) +
                      " of " + std::to_string(count));
    }
    has_input[static_cast<size_t>(edge.to)] = true;
    const Vertex& from = graph.vertices[static_cast<size_t>(edge.from)];
    const Vertex& to = graph.vertices[static_cast<size_t>(edge.to)];
    if (edge.exchange == Exchange::kForward && from.parallelism != to.parallelism) {
      return BadGraph("the forward edge from " + from.name + " to " + to.name + " joins " +
                      std::to_string(from.parallelism) + " subtasks to " +
                      std::to_string(to.parallelism));
    }
  }
  for (size_t i = 0; i < graph.vertices.size(); ++i) {
    const Vertex& vertex = graph.vertices[i];
    if (vertex.parallelism < 1) return BadGraph(vertex.name + " has no subtasks");
    if (static_cast<bool>(vertex.make_source) == has_input[i]) {
      return BadGraph(vertex.name + (has_input[i] ? " has a source and inputs" : " has no input"));
    }
  }
  return CheckIds(graph);
}

JobGraph FuseForwardEdges(JobGraph graph) {
  while (true) {
    const auto edge = std::find_if(graph.edges.begin(), graph.edges.end(),
                                   [&graph](const Edge& e) { return IsFusible(graph, e); });
    if (edge == graph.edges.end()) return graph;
    const int from = edge->from;
    const int to = edge->to;
    graph.edges.erase(edge);
    Vertex& target = graph.vertices[static_cast<size_t>(from)];
    Vertex& source = graph.vertices[static_cast<size_t>(to)];
    target.name += " -> " + source.name;
    std::move(source.chain.begin(), source.chain.end(), std::back_inserter(target.chain));
    for (Edge& other : graph.edges) {
      if (other.from == to) other.from = from;
    }
    RemoveVertex(&graph, to);
  }
}

JobGraph SplitSources(JobGraph graph, const std::vector<int>& reader_counts) {
  const size_t old_count = graph.vertices.size();
  for (size_t v = 0; v < old_count; ++v) {
    if (!graph.vertices[v].make_source) continue;
    const int readers = std::max(reader_counts[v], 1);
    if (readers >= graph.vertices[v].parallelism) continue;
    const int index = static_cast<int>(v);
    if (graph.vertices[v].keeps_order) {
      Narrow(&graph, index, readers);
      continue;
    }
    if (graph.vertices[v].chain.empty()) {
      // Nothing to cut: what follows takes its batches from whichever reader has some.
      graph.vertices[v].parallelism = readers;
      for (Edge& edge : graph.edges) {
        if (edge.from == index && edge.exchange == Exchange::kForward) {
          edge.exchange = Exchange::kRebalance;
        }
      }
      continue;
    }
    Vertex chain = graph.vertices[v];
    chain.make_source = nullptr;
    chain.source_id.clear();
    graph.vertices[v].chain.clear();
    graph.vertices[v].parallelism = readers;
    const int chain_index = static_cast<int>(graph.vertices.size());
    for (Edge& edge : graph.edges) {
      if (edge.from == index) edge.from = chain_index;
    }
    graph.vertices.push_back(std::move(chain));
    graph.edges.push_back({.from = index, .to = chain_index, .exchange = Exchange::kRebalance});
  }
  return graph;
}

}  // namespace sluice::runtime
