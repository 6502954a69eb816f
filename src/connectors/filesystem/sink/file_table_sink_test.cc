// What is refused or warned about when an INSERT is planned.
#include "connectors/filesystem/sink/file_table_sink.h"

#include "connectors/filesystem/sink/sink_test_util.h"

namespace sluice::connectors::filesystem {
namespace {

struct PlanCase {
  OptionMap options;
  SinkRequest request;
  bool streaming = true;
  bool partitioned = true;
  const formats::Format* format = &kLines;
};

Result<SinkPlan> PlanOf(const PlanCase& c, fs::FileSystems* files = nullptr) {
  fs::FaultyFileSystems own(1);
  TableInfo table;
  table.identifier = "c.d.t";
  table.physical = Schema({{"id", SqlType::Bigint()}, {"k", SqlType::String()}});
  if (c.partitioned) table.partition_keys = {"k"};
  table.options = c.options;
  table.options.emplace("path", "/table");
  ConnectorContext context;
  context.streaming = c.streaming;
  context.file_systems = files != nullptr ? files : &own;
  SLUICE_ASSIGN_OR_RETURN(auto sink, MakeFileTableSink(table, context, *c.format));
  return sink->MakePlan(c.request);
}

TEST(FileTableSink, RefusesAtPlanning) {
  struct Case {
    PlanCase plan;
    const char* part;  // Of the message.
  };
  SinkRequest overwrite;
  overwrite.overwrite = true;
  SinkRequest changes;
  changes.input_kinds = RowKindSet::All();
  SinkRequest unknown;
  unknown.static_partition = {{"q", "1"}};
  const Case cases[] = {
      {{.request = overwrite}, "Streaming mode not support overwrite"},
      {{.options = {{"sink.parallelism", "2"}}, .request = changes}, "INSERT only"},
      {{.options = {{"sink.parallelism", "0"}}}, "at least 1"},
      {{.options = {{"sink.parallelism", "-2"}}}, "at least 1"},
      {{.options = {{"sink.partition-commit.policy.kind", "metastore,success-file"}}},
       "Can not configure a 'metastore' partition commit policy"},
      {{.options = {{"sink.partition-commit.policy.kind", "nope"}}}, "Unsupported policy: 'nope'"},
      {{.options = {{"sink.partition-commit.policy.kind", "custom"}}}, "policy.class"},
      {{.options = {{"partition.time-extractor.kind", "Default"}}}, "Unsupported extractor kind"},
      {{.options = {{"partition.time-extractor.kind", "custom"}}}, "time-extractor.class"},
      {{.options = {{"sink.partition-commit.watermark-time-zone", "Asia/Shanghia"}}},
       "Asia/Shanghia"},
      {{.options = {{"sink.rolling-policy.file-size", "0"}}}, "sink.rolling-policy.file-size"},
      {{.options = {{"sink.rolling-policy.check-interval", "0 s"}}}, "check-interval"},
      {{.options = {{"compaction.scope", "partition"}}}, "no effect without"},
      {{.options = {{"sink.partition-commit.success-file.name", "a/b"}}}, "success-file.name"},
      {{.options = {{"partition.time-extractor.timestamp-pattern", "$dt"}}}, "no partition key"},
      {{.options = {{"partition.time-extractor.timestamp-formatter", "HH"}}}, "formatter"},
      {{.options = {{"sink.rolling-policy.on-checkpoint", "false"}}, .format = &kSealed},
       "on-checkpoint"},
      {{.request = unknown}, "Unknown target column 'q'"},
  };
  for (const Case& c : cases) {
    const auto plan = PlanOf(c.plan);
    ASSERT_FALSE(plan.ok()) << c.part;
    EXPECT_NE(plan.status().message().find(c.part), std::string::npos) << plan.status().message();
  }
}

TEST(FileTableSink, AcceptsAtPlanning) {
  // -1 is the default; names are trimmed and of any case; metastore in batch does nothing.
  EXPECT_TRUE(PlanOf({.options = {{"sink.parallelism", "-1"}}}).ok());
  EXPECT_TRUE(
      PlanOf({.options = {{"sink.partition-commit.policy.kind", "Success-File, success-file"}}})
          .ok());
  EXPECT_TRUE(
      PlanOf({.options = {{"sink.partition-commit.policy.kind", "metastore"}}, .streaming = false})
          .ok());
  EXPECT_TRUE(
      PlanOf({.options = {{"sink.partition-commit.watermark-time-zone", "GMT-08:00"}}}).ok());
}

TEST(FileTableSink, Exchange) {
  auto plain = PlanOf({});
  ASSERT_TRUE(plain.ok());
  EXPECT_EQ(plain->exchange, runtime::Exchange::kForward);
  EXPECT_TRUE(plain->needs_checkpoints);
  ASSERT_EQ(plain->stages.size(), 2u);
  EXPECT_EQ(plain->stages[1].exchange, runtime::Exchange::kGather);
  EXPECT_EQ(plain->stages[1].parallelism, 1);

  auto shuffled = PlanOf({.options = {{"sink.shuffle-by-partition.enable", "true"}}});
  ASSERT_TRUE(shuffled.ok());
  EXPECT_EQ(shuffled->exchange, runtime::Exchange::kHash);
  EXPECT_EQ(shuffled->key_columns, std::vector<int>{1});

  // Static keys are no part of the shuffle.
  SinkRequest fixed;
  fixed.static_partition = {{"k", "1"}};
  auto nothing_to_shuffle =
      PlanOf({.options = {{"sink.shuffle-by-partition.enable", "true"}}, .request = fixed});
  ASSERT_TRUE(nothing_to_shuffle.ok());
  EXPECT_EQ(nothing_to_shuffle->exchange, runtime::Exchange::kForward);
}

TEST(KnownPitfalls, Rule2_2_NoPolicyIsAWarning) {
  auto plan = PlanOf({});
  ASSERT_TRUE(plan.ok());
  ASSERT_EQ(plan->warnings.size(), 1u);
  EXPECT_NE(plan->warnings[0].find("sink.partition-commit.policy.kind"), std::string::npos);
  EXPECT_TRUE(PlanOf({.partitioned = false})->warnings.empty());
}

TEST(FileTableSink, PathIsAFile) {
  fs::FaultyFileSystems files(1);
  ASSERT_OK(files.current().WriteWhole("/table", "x"));
  const auto plan = PlanOf({.streaming = false}, &files);
  ASSERT_FALSE(plan.ok());
  EXPECT_NE(plan.status().message().find("is a file"), std::string::npos);
}

TEST(FileTableSink, StaticValueMustFitItsType) {
  TableInfo table;
  table.identifier = "c.d.t";
  table.physical = Schema({{"id", SqlType::Bigint()}, {"n", SqlType::Int()}});
  table.partition_keys = {"n"};
  table.options = {{"path", "/table"}};
  fs::FaultyFileSystems files(1);
  ConnectorContext context;
  context.file_systems = &files;
  auto sink = MakeFileTableSink(table, context, kLines);
  ASSERT_TRUE(sink.ok());
  SinkRequest request;
  request.static_partition = {{"n", "007"}};
  EXPECT_TRUE((*sink)->MakePlan(request).ok());
  request.static_partition = {{"n", "seven"}};
  EXPECT_FALSE((*sink)->MakePlan(request).ok());
}

TEST(FileTableSink, PartitionColumnsOnly) {
  TableInfo table;
  table.identifier = "c.d.t";
  table.physical = Schema({{"k", SqlType::String()}});
  table.partition_keys = {"k"};
  table.options = {{"path", "/table"}};
  fs::FaultyFileSystems files(1);
  ConnectorContext context;
  context.file_systems = &files;
  auto sink = MakeFileTableSink(table, context, kLines);
  ASSERT_TRUE(sink.ok());
  const auto plan = (*sink)->MakePlan({});
  ASSERT_FALSE(plan.ok());
  EXPECT_NE(plan.status().message().find("partition columns only"), std::string::npos);
}

}  // namespace
}  // namespace sluice::connectors::filesystem
