#include "runtime/graph_rewrite.h"

#include <gtest/gtest.h>

#include "runtime/job_test_support.h"

namespace sluice::runtime {
namespace {

OperatorSpec Op(const std::string& id) {
  return testing::SinkSpec(nullptr).make ? OperatorSpec{id, id, testing::SinkSpec(nullptr).make}
                                         : OperatorSpec{};
}

Vertex Chain(const std::string& id, int parallelism) {
  Vertex vertex;
  vertex.name = id;
  vertex.parallelism = parallelism;
  vertex.chain.push_back(Op(id));
  return vertex;
}

TEST(GraphRewriteTest, FusesForwardEdgesOfEqualParallelism) {
  JobGraph graph;
  graph.vertices = {testing::SourceVertex({}, 2), Chain("a", 2), Chain("b", 2), Chain("c", 1)};
  graph.edges = {{0, 1}, {1, 2}, {2, 3, Exchange::kGather}};
  const JobGraph fused = FuseForwardEdges(graph);
  ASSERT_EQ(fused.vertices.size(), 2u);
  EXPECT_EQ(fused.vertices[0].name, "numbers -> a -> b");
  EXPECT_EQ(fused.vertices[0].chain.size(), 2u);
  ASSERT_EQ(fused.edges.size(), 1u);
  EXPECT_EQ(fused.edges[0].from, 0);
  EXPECT_EQ(fused.edges[0].to, 1);
}

TEST(GraphRewriteTest, DoesNotFuseForksAndUnions) {
  JobGraph graph;
  graph.vertices = {testing::SourceVertex({}, 1), Chain("a", 1), Chain("b", 1), Chain("u", 1)};
  graph.edges = {{0, 1}, {0, 2}, {1, 3}, {2, 3}};
  EXPECT_EQ(FuseForwardEdges(graph).vertices.size(), 4u);
}

TEST(GraphRewriteTest, CutsTheChainOffASourceWithFewReaders) {
  JobGraph graph;
  graph.vertices = {testing::SourceVertex({}, 4), Chain("s", 1)};
  graph.vertices[0].chain.push_back(Op("a"));
  graph.edges = {{0, 1, Exchange::kGather}};
  EXPECT_EQ(SplitSources(graph, {4, 0}).vertices.size(), 2u);
  const JobGraph split = SplitSources(graph, {1, 0});
  ASSERT_EQ(split.vertices.size(), 3u);
  EXPECT_EQ(split.vertices[0].parallelism, 1);
  EXPECT_TRUE(split.vertices[0].chain.empty());
  EXPECT_EQ(split.vertices[2].parallelism, 4);
  EXPECT_FALSE(split.vertices[2].make_source);
  EXPECT_EQ(split.edges[0].from, 2);
  EXPECT_EQ(split.edges[1].exchange, Exchange::kRebalance);
  EXPECT_TRUE(CheckGraph(split).ok());
}

TEST(GraphRewriteTest, WithoutAChainTheForwardEdgeBecomesARebalance) {
  JobGraph graph;
  graph.vertices = {testing::SourceVertex({}, 4), Chain("a", 4), Chain("b", 4)};
  graph.edges = {{0, 1}, {0, 2}};
  const JobGraph split = SplitSources(graph, {0, 0, 0});
  EXPECT_EQ(split.vertices[0].parallelism, 1);
  EXPECT_EQ(split.edges[0].exchange, Exchange::kRebalance);
  EXPECT_TRUE(CheckGraph(split).ok());
}

TEST(GraphRewriteTest, ASourceOfChangesKeepsTheirOrder) {
  JobGraph graph;
  graph.vertices = {testing::SourceVertex({}, 4), Chain("a", 4), Chain("u", 4), Chain("k", 4),
                    testing::SourceVertex({}, 4)};
  graph.vertices[0].keeps_order = true;
  graph.vertices[4].source_id = "others";
  graph.edges = {{0, 1}, {1, 2}, {4, 2}, {2, 3, Exchange::kHash}};
  const JobGraph split = SplitSources(graph, {1, 0, 0, 0, 4});
  EXPECT_EQ(split.vertices[0].parallelism, 1);
  EXPECT_EQ(split.vertices[1].parallelism, 1);
  EXPECT_EQ(split.vertices[2].parallelism, 4);
  EXPECT_EQ(split.edges[0].exchange, Exchange::kForward);
  EXPECT_EQ(split.edges[1].exchange, Exchange::kGather);
  EXPECT_EQ(split.edges[2].exchange, Exchange::kForward);
  EXPECT_TRUE(CheckGraph(split).ok());
}

TEST(GraphRewriteTest, RefusesWhatCannotRun) {
  JobGraph good;
  good.vertices = {testing::SourceVertex({}, 2), Chain("a", 2)};
  good.edges = {{0, 1}};
  EXPECT_TRUE(CheckGraph(good).ok());
  JobGraph bad = good;
  bad.vertices[1].parallelism = 3;
  EXPECT_FALSE(CheckGraph(bad).ok());
  bad = good;
  bad.edges[0].to = 5;
  EXPECT_FALSE(CheckGraph(bad).ok());
  bad = good;
  bad.edges.clear();
  EXPECT_FALSE(CheckGraph(bad).ok());
  bad = good;
  bad.vertices[1].chain[0].id = "source";
  EXPECT_FALSE(CheckGraph(bad).ok());
  EXPECT_FALSE(CheckGraph({}).ok());
}

}  // namespace
}  // namespace sluice::runtime
