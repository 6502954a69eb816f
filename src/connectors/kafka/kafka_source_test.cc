#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include <arrow/array/array_primitive.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "connectors/kafka/kafka_connector.h"
#include "connectors/kafka/mock_cluster.h"
#include "connectors/kafka/record_decoder.h"

namespace sluice::connectors::kafka {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

constexpr int64_t kLongMs = 20'000;  // No test waits so long unless it fails.

/// Who fetches in the test that runs.
std::string g_fetch = "librdkafka";

/// A kafka table being read by as many readers as the source wants, polled in turn on the test's
/// thread.
class Reading {
 public:
  struct Options {
    Schema schema{{{"id", SqlType::Int()}}};
    OptionMap options;
    std::vector<std::string> metadata;
    int parallelism = 1;
    std::vector<runtime::StateFields> state;  // Of the readers before.
    bool row_time_from_id = false;
    const std::atomic<bool>* ending = nullptr;
  };

  Reading(const std::string& bootstrap_servers, Options options) : options_(std::move(options)) {
    OptionMap& with = options_.options;
    with.emplace("connector", "kafka");
    with.emplace("properties.bootstrap.servers", bootstrap_servers);
    with.emplace("scan.fetch.implementation", g_fetch);
    if (!with.contains("value.format")) with.emplace("format", "json");
    if (!with.contains("topic-pattern")) with.emplace("topic", "t");
    with.emplace("scan.startup.mode", "earliest-offset");
    status_ = Start();
  }
  ~Reading() { readers_.clear(); }

  Status Start() {
    TableInfo table;
    table.identifier = "default_catalog.default_database.t";
    table.physical = options_.schema;
    table.options = options_.options;
    SLUICE_ASSIGN_OR_RETURN(const std::unique_ptr<TableSource> table_source,
                            kKafkaConnector.make_source(table, {}));
    std::vector<Column> columns = options_.schema.columns();
    std::vector<int> physical;
    for (int i = 0; i < options_.schema.column_count(); ++i) physical.push_back(i);
    for (const std::string& key : options_.metadata) {
      for (const MetadataColumn& column : kKafkaConnector.metadata(table)) {
        if (column.key == key) columns.push_back({key, column.type});
      }
    }
    out = std::make_unique<RowsOutput>(Schema(columns));
    SLUICE_RETURN_NOT_OK(table_source->ApplyProjection(physical, options_.metadata));
    SLUICE_ASSIGN_OR_RETURN(source_, table_source->MakeSource(RuntimeOptions()));
    runtime::SourceContext context;
    context.parallelism = options_.parallelism;
    context.clock = &Clock::System();
    context.io_pool = &io_pool_;
    context.metrics = &metrics;
    context.ending = options_.ending;
    runtime::RestoredSourceState restored;
    for (const runtime::StateFields& fields : options_.state)
      restored.readers.emplace_back("source:t", fields);
    SLUICE_RETURN_NOT_OK(source_->Open(context, options_.state.empty() ? nullptr : &restored));
    task_.clock = &Clock::System();
    task_.io_pool = &io_pool_;
    task_.compute_pool = &compute_pool_;
    task_.metrics = &metrics;
    task_.budget = &budget_;
    task_.wake = [waker = waker_] { waker->Wake(); };
    task_.wake_at = [](int64_t) {};
    for (int i = 0; i < source_->reader_count(); ++i) {
      SLUICE_ASSIGN_OR_RETURN(std::unique_ptr<runtime::SourceReader> reader,
                              source_->MakeReader(i));
      SLUICE_RETURN_NOT_OK(reader->Open(task_));
      readers_.push_back(std::move(reader));
    }
    return {};
  }

  runtime::SourceRuntimeOptions RuntimeOptions() const {
    runtime::SourceRuntimeOptions runtime;
    runtime.watermark.enabled = options_.row_time_from_id;
    runtime.watermark.on_event = true;
    runtime.transform =
        [row_time = options_.row_time_from_id](Batch batch) -> Result<runtime::SourceBatch> {
      runtime::SourceBatch result{.rows = batch};
      for (int64_t row = 0; row_time && row < batch.row_count(); ++row) {
        const int64_t time = static_cast<const arrow::Int32Array&>(*batch.column(0)).Value(row);
        result.watermark_ms = std::max(result.watermark_ms.value_or(time), time);
      }
      return result;
    };
    return runtime;
  }

  /// Polls until `enough` holds or all readers have finished; the failure of a reader otherwise.
  Status RunUntil(const std::function<bool()>& enough) {
    SLUICE_RETURN_NOT_OK(status_);
    const int64_t end_us = Clock::System().MonotonicMicros() + kLongMs * 1000;
    while (Clock::System().MonotonicMicros() < end_us) {
      bool finished = true;
      bool waiting = true;
      for (const auto& reader : readers_) {
        SLUICE_ASSIGN_OR_RETURN(const auto polled, reader->Poll(*out));
        finished &= polled == runtime::SourceReader::PollResult::kFinished;
        waiting &= polled != runtime::SourceReader::PollResult::kEmitted;
      }
      if (enough() || finished) return {};
      if (waiting) waker_->WaitFor(10);
    }
    return Status::Unavailable("The test has waited too long.");
  }
  Status RunToEnd() {
    return RunUntil([] { return false; });
  }
  Status RunUntilRows(size_t count) {
    return RunUntil([&] { return out->rows.size() >= count; });
  }

  std::vector<runtime::StateFields> Snapshot(int64_t id = 1) {
    source_->FreezeSplits();
    std::vector<runtime::StateFields> state;
    for (const auto& reader : readers_) {
      runtime::StateWriter writer;
      EXPECT_TRUE(reader->Snapshot({.id = id}, writer).ok());
      state.push_back(std::move(writer).Take());
    }
    runtime::StateWriter coordinator;
    EXPECT_TRUE(source_->Snapshot({.id = id}, coordinator).ok());
    source_->ThawSplits();
    return state;
  }
  void Complete(int64_t id) {
    for (const auto& reader : readers_) EXPECT_TRUE(reader->CheckpointComplete(id).ok());
  }

  std::unique_ptr<RowsOutput> out;
  runtime::Metrics metrics;
  const std::shared_ptr<runtime::Source>& source() const { return source_; }
  const MemoryBudget* budget() const { return &budget_; }

 private:
  Options options_;
  MemoryBudget budget_{1 << 30};
  ThreadIoPool io_pool_{2};
  ThreadIoPool compute_pool_{2};
  std::shared_ptr<Waker> waker_ = std::make_shared<Waker>();
  Status status_;
  std::shared_ptr<runtime::Source> source_;
  runtime::TaskContext task_;
  std::vector<std::unique_ptr<runtime::SourceReader>> readers_;
};

std::vector<std::string> Ids(int from, int to) {
  std::vector<std::string> values;
  for (int i = from; i < to; ++i) values.push_back("{\"id\":" + std::to_string(i) + "}");
  return values;
}

OptionMap Bounded(OptionMap more = {}) {
  more.emplace("scan.bounded.mode", "latest-offset");
  return more;
}

/// Everything is the same whoever fetches.
class KafkaSourceTest : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { g_fetch = GetParam(); }
  MockCluster cluster_;
};
INSTANTIATE_TEST_SUITE_P(Fetch, KafkaSourceTest, ::testing::Values("librdkafka", "native"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(KafkaSourceTest, ReadsAllPartitionsToTheEndAndKeepsTheirOrder) {
  cluster_.CreateTopic("t", 3);
  for (int p = 0; p < 3; ++p) cluster_.ProduceValues("t", p, Ids(p * 1000, p * 1000 + 500));
  for (const int parallelism : {1, 2, 8}) {
    Reading reading(cluster_.bootstrap_servers(),
                    {.options = Bounded(), .parallelism = parallelism});
    const Status status = reading.RunToEnd();
    ASSERT_TRUE(status.ok()) << status.ToString();
    EXPECT_EQ(reading.source()->reader_count(), std::min(parallelism, 3));
    EXPECT_TRUE(reading.source()->bounded());
    ASSERT_EQ(reading.out->rows.size(), 1500u);
    std::map<int, int> last;
    for (const std::string& row : reading.out->rows) {
      const int id = std::stoi(row.substr(3));
      const auto [place, first] = last.try_emplace(id / 1000, id);
      EXPECT_TRUE(first || id == place->second + 1) << id;
      place->second = id;
    }
    EXPECT_EQ(reading.metrics.Value(runtime::metric::kRowsIn), 1500);
  }
}

TEST_P(KafkaSourceTest, EndsAtOnceWithoutRecords) {
  cluster_.CreateTopic("t", 2);
  Reading reading(cluster_.bootstrap_servers(), {.options = Bounded(), .parallelism = 2});
  ASSERT_TRUE(reading.RunToEnd().ok());
  EXPECT_THAT(reading.out->rows, IsEmpty());
}

TEST_P(KafkaSourceTest, MetadataColumns) {
  cluster_.CreateTopic("t", 1);
  cluster_.Produce(
      "t", 0,
      {{.value = "{\"id\":7}", .headers = {{"h", "\x01\x02"}}, .timestamp_ms = 1'589'947'262'003}});
  Reading reading(cluster_.bootstrap_servers(),
                  {.options = Bounded(),
                   .metadata = {"topic", "partition", "offset", "timestamp", "timestamp-type",
                                "headers", "header-list", "leader-epoch"}});
  ASSERT_TRUE(reading.RunToEnd().ok());
  // librdkafka 2.0 keeps the epoch to itself.
  const std::string epoch = g_fetch == "native" ? "0" : "null";
  EXPECT_THAT(reading.out->rows, ElementsAre("+I[7, t, 0, 0, 2020-05-20T04:01:02.003Z, CreateTime, "
                                             "{h=[1, 2]}, [+I[h, [1, 2]]], " +
                                             epoch + "]"));
}

TEST_P(KafkaSourceTest, KeysAndValues) {
  cluster_.CreateTopic("t", 1);
  cluster_.Produce("t", 0,
                   {{.key = "{\"id\":1}", .value = "{\"v\":\"a\"}"},
                    {.key = std::nullopt, .value = "{\"v\":\"no key, no row\"}"},
                    {.key = "{\"id\":3}", .value = std::nullopt},
                    {.key = "{\"id\":4}", .value = "{\"v\":\"d\"}"}});
  Reading reading(cluster_.bootstrap_servers(),
                  {.schema = Schema({{"v", SqlType::String()}, {"k_id", SqlType::Int()}}),
                   .options = Bounded({{"key.format", "json"},
                                       {"key.fields", "k_id"},
                                       {"key.fields-prefix", "k_"},
                                       {"value.format", "json"},
                                       {"value.fields-include", "EXCEPT_KEY"}}),
                   .metadata = {"offset"}});
  const Status status = reading.RunToEnd();
  ASSERT_TRUE(status.ok()) << status.ToString();
  EXPECT_THAT(reading.out->rows, ElementsAre("+I[a, 1, 0]", "+I[d, 4, 3]"));
  EXPECT_EQ(reading.metrics.Value(runtime::metric::kNullMessages), 1);
}

// Known pitfalls 14.3: in every format.
TEST_P(KafkaSourceTest, AvroValuesAndKeys) {
  cluster_.CreateTopic("k", 1);
  // A nullable INT is the branch (zigzag 1) and the number.
  cluster_.Produce("k", 0,
                   {{.key = "\x02\x04", .value = "\x02\x0E"},
                    {.key = "\x02\x06", .value = "\x30\x31\x32"},
                    {.key = "\x02\x08", .value = std::nullopt},
                    {.key = "\x02\x0A", .value = std::string(1, '\0')}});
  const Schema schema({{"id", SqlType::Int()}, {"k_id", SqlType::Int()}});
  OptionMap options = Bounded({{"topic", "k"},
                               {"key.format", "avro"},
                               {"key.fields", "k_id"},
                               {"key.fields-prefix", "k_"},
                               {"value.format", "avro"},
                               {"value.fields-include", "EXCEPT_KEY"}});
  {
    Reading reading(cluster_.bootstrap_servers(), {.schema = schema, .options = options});
    const Status status = reading.RunToEnd();
    EXPECT_EQ(status.code(), StatusCode::kDataError);
    EXPECT_THAT(status.ToString(), HasSubstr("record k-0@1"));
    EXPECT_THAT(status.ToString(), HasSubstr("The record begins with: 012"));
    EXPECT_THAT(status.ToString(), HasSubstr("'value.avro.ignore-parse-errors' = 'true'"));
  }
  options.emplace("value.avro.ignore-parse-errors", "true");
  Reading reading(cluster_.bootstrap_servers(), {.schema = schema, .options = options});
  const Status status = reading.RunToEnd();
  ASSERT_TRUE(status.ok()) << status.ToString();
  EXPECT_THAT(reading.out->rows, ElementsAre("+I[7, 2]", "+I[null, 5]"));
  EXPECT_EQ(reading.metrics.Value(runtime::metric::kNullMessages), 1);
}

TEST_P(KafkaSourceTest, ChangesWithMetadataOfTheEnvelope) {
  cluster_.CreateTopic("t", 1);
  cluster_.ProduceValues(
      "t", 0,
      {R"({"before":null,"after":{"id":1},"source":{"table":"orders","db":"shop"},"op":"c"})",
       R"({"before":{"id":1},"after":{"id":2},"op":"u","ts_ms":1589978098000})",
       R"({"before":{"id":2},"after":null,"op":"d"})"});
  cluster_.Produce("t", 0, {{.key = "k", .value = std::nullopt}, {.value = ""}});  // Tombstones.
  Reading reading(cluster_.bootstrap_servers(),
                  {.options = Bounded({{"format", "debezium-json"}}),
                   .metadata = {"offset", "value.source.table", "value.ingestion-timestamp",
                                "value.source.properties"}});
  const Status status = reading.RunToEnd();
  ASSERT_TRUE(status.ok()) << status.ToString();
  EXPECT_THAT(reading.out->rows, ElementsAre("+I[1, 0, orders, null, {table=orders, db=shop}]",
                                             "-U[1, 1, null, 2020-05-20T12:34:58Z, null]",
                                             "+U[2, 1, null, 2020-05-20T12:34:58Z, null]",
                                             "-D[2, 2, null, null, null]"));
  EXPECT_EQ(reading.metrics.Value(runtime::metric::kNullMessages), 1);
  EXPECT_EQ(reading.metrics.Value("ignored_records"), 1);
}

TEST_P(KafkaSourceTest, ChangesBesideKeys) {
  cluster_.CreateTopic("t", 1);
  cluster_.Produce(
      "t", 0,
      {{.key = "{\"id\":1}", .value = R"({"type":"insert","data":{"v":"a"}})"},
       {.key = "{\"id\":1}", .value = R"({"type":"update","data":{"v":"b"},"old":{"v":"a"}})"},
       {.key = "{\"id\":1}", .value = std::nullopt}});
  Reading reading(cluster_.bootstrap_servers(),
                  {.schema = Schema({{"v", SqlType::String()}, {"id", SqlType::Int()}}),
                   .options = Bounded({{"key.format", "json"},
                                       {"key.fields", "id"},
                                       {"value.format", "maxwell-json"},
                                       {"value.fields-include", "EXCEPT_KEY"}}),
                   .metadata = {"value.database", "partition"}});
  const Status status = reading.RunToEnd();
  ASSERT_TRUE(status.ok()) << status.ToString();
  EXPECT_THAT(reading.out->rows,
              ElementsAre("+I[a, 1, null, 0]", "-U[a, 1, null, 0]", "+U[b, 1, null, 0]"));
}

TEST_P(KafkaSourceTest, BadChangesNameTheirPlace) {  // Known pitfalls 14.3.
  cluster_.CreateTopic("t", 1);
  cluster_.ProduceValues("t", 0,
                         {R"({"op_type":"I","after":{"id":1}})", R"({"op_type":"X"})",
                          R"({"op_type":"I","after":{"id":3}})"});
  {
    Reading reading(cluster_.bootstrap_servers(), {.options = Bounded({{"format", "ogg-json"}})});
    const Status status = reading.RunToEnd();
    EXPECT_EQ(status.code(), StatusCode::kDataError);
    EXPECT_THAT(status.ToString(), HasSubstr("t-0@1"));
    EXPECT_THAT(status.ToString(), HasSubstr("Unknown \"op_type\" value \"X\"."));
  }
  Reading reading(
      cluster_.bootstrap_servers(),
      {.options = Bounded({{"format", "ogg-json"}, {"ogg-json.ignore-parse-errors", "true"}})});
  ASSERT_TRUE(reading.RunToEnd().ok());
  EXPECT_THAT(reading.out->rows, ElementsAre("+I[1]", "+I[3]"));
  EXPECT_EQ(reading.metrics.Value(runtime::metric::kBadRecords), 1);
}

// Known pitfalls 14.2.
TEST_P(KafkaSourceTest, NullValuesAreNoRows) {
  cluster_.CreateTopic("t", 1);
  cluster_.Produce("t", 0, {{.value = "{\"id\":1}"}, {}, {.value = "{\"id\":2}"}});
  Reading reading(cluster_.bootstrap_servers(), {.options = Bounded()});
  ASSERT_TRUE(reading.RunToEnd().ok());
  EXPECT_THAT(reading.out->rows, ElementsAre("+I[1]", "+I[2]"));
  EXPECT_EQ(reading.metrics.Value(runtime::metric::kNullMessages), 1);
}

// Known pitfalls 14.3 and 17.1.
TEST_P(KafkaSourceTest, BadRecordsNameTheirPlace) {
  cluster_.CreateTopic("t", 1);
  cluster_.ProduceValues("t", 0, {"{\"id\":1}", "{\"id\":\"x\"}", "{\"id\":3}"});
  {
    Reading reading(cluster_.bootstrap_servers(), {.options = Bounded()});
    const Status status = reading.RunToEnd();
    EXPECT_EQ(status.code(), StatusCode::kDataError);
    EXPECT_THAT(status.ToString(), HasSubstr("t-0@1"));
    EXPECT_THAT(status.ToString(), HasSubstr("{\"id\":\"x\"}"));
    EXPECT_THAT(status.ToString(), HasSubstr("id"));
  }
  Reading reading(cluster_.bootstrap_servers(),
                  {.options = Bounded({{"json.ignore-parse-errors", "true"}})});
  ASSERT_TRUE(reading.RunToEnd().ok());
  EXPECT_THAT(reading.out->rows, ElementsAre("+I[1]", "+I[null]", "+I[3]"));
  EXPECT_EQ(reading.metrics.Value(runtime::metric::kBadRecords), 1);
}

TEST_P(KafkaSourceTest, PutsBadRecordsAsideOnceTheCheckpointHoldsThem) {
  cluster_.CreateTopic("t", 1);
  cluster_.ProduceValues("t", 0, {"{\"id\":1}", "{\"id\":\"x\"}", "{\"id\":3}", "nonsense"});
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("sluice_quarantine_" + std::to_string(::getpid()));
  std::filesystem::remove_all(folder);
  const OptionMap options = Bounded({{"bad-records.path", folder.string()}});
  std::vector<runtime::StateFields> state;
  {
    Reading reading(cluster_.bootstrap_servers(), {.options = options});
    const Status status = reading.RunToEnd();
    ASSERT_TRUE(status.ok()) << status.ToString();
    EXPECT_THAT(reading.out->rows, ElementsAre("+I[1]", "+I[3]"));
    state = reading.Snapshot();
  }
  // Killed before it heard that the checkpoint is complete: nothing is there yet.
  EXPECT_TRUE(std::filesystem::is_empty(folder));
  for (int run = 0; run < 2; ++run) {
    Reading again(cluster_.bootstrap_servers(), {.options = options, .state = state});
    ASSERT_TRUE(again.RunToEnd().ok());
  }
  std::vector<std::string> lines;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream file(entry.path());
    for (std::string line; std::getline(file, line);) lines.push_back(line);
  }
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_THAT(lines[0], HasSubstr("\"source\":\"t-0\",\"position\":1,\"column\":\"id\""));
  EXPECT_THAT(lines[0], HasSubstr("\"raw\":\"{\\\"id\\\":\\\"x\\\"}\""));
  EXPECT_THAT(lines[1], HasSubstr("\"position\":3"));
  std::filesystem::remove_all(folder);
}

TEST_P(KafkaSourceTest, ContinuesFromItsStateAtAnyParallelism) {
  cluster_.CreateTopic("t", 4);
  for (int p = 0; p < 4; ++p) cluster_.ProduceValues("t", p, Ids(p * 100, p * 100 + 50));
  for (const auto& [before, after] : {std::pair{1, 1}, {2, 4}, {4, 1}}) {
    std::multiset<std::string> rows;
    std::vector<runtime::StateFields> state;
    {
      Reading first(cluster_.bootstrap_servers(), {.parallelism = before});
      const Status status = first.RunUntilRows(60);
      ASSERT_TRUE(status.ok()) << status.ToString();
      state = first.Snapshot();
      rows.insert(first.out->rows.begin(), first.out->rows.end());
    }
    Reading second(cluster_.bootstrap_servers(),
                   {.options = Bounded(), .parallelism = after, .state = state});
    const Status status = second.RunToEnd();
    ASSERT_TRUE(status.ok()) << status.ToString();
    rows.insert(second.out->rows.begin(), second.out->rows.end());
    EXPECT_EQ(rows.size(), 200u);
    EXPECT_EQ(std::set<std::string>(rows.begin(), rows.end()).size(), 200u);
  }
}

TEST_P(KafkaSourceTest, StateBeyondTheLogIsAnError) {
  cluster_.CreateTopic("t", 1);
  cluster_.ProduceValues("t", 0, Ids(0, 3));
  runtime::StateWriter writer;
  writer.PutI64("version", 1);
  writer.PutStrings("splits", {"t,0,17,-"});
  Reading reading(cluster_.bootstrap_servers(), {.state = {std::move(writer).Take()}});
  const std::string error = reading.RunToEnd().ToString();
  EXPECT_THAT(error, HasSubstr("Cannot continue reading t-0 at offset 17"));
  EXPECT_THAT(error, HasSubstr("offsets 0 to 3"));
}

TEST_P(KafkaSourceTest, StartAndStopOffsets) {
  cluster_.CreateTopic("t", 2);
  cluster_.ProduceValues("t", 0, Ids(0, 5));
  cluster_.ProduceValues("t", 1, Ids(10, 15));
  Reading given(cluster_.bootstrap_servers(),
                {.options = {{"scan.startup.mode", "specific-offsets"},
                             {"scan.startup.specific-offsets", "partition:0,offset:3"},
                             {"scan.bounded.mode", "specific-offsets"},
                             {"scan.bounded.specific-offsets",
                              "partition:0,offset:4;partition:1,offset:2"}}});
  ASSERT_TRUE(given.RunToEnd().ok());
  EXPECT_THAT(given.out->rows, UnorderedElementsAre("+I[3]", "+I[10]", "+I[11]"));

  // A partition that a bounded list leaves out is not read.
  Reading unlisted(cluster_.bootstrap_servers(),
                   {.options = {{"scan.bounded.mode", "specific-offsets"},
                                {"scan.bounded.specific-offsets", "partition:1,offset:1"}}});
  ASSERT_TRUE(unlisted.RunToEnd().ok());
  EXPECT_THAT(unlisted.out->rows, ElementsAre("+I[10]"));

  Reading wrong(cluster_.bootstrap_servers(),
                {.options = Bounded({{"scan.startup.mode", "specific-offsets"},
                                     {"scan.startup.specific-offsets", "partition:7,offset:3"}})});
  EXPECT_THAT(wrong.RunToEnd().ToString(), HasSubstr("names partition 7, but topic 't' has 2"));
}

TEST_P(KafkaSourceTest, LatestOffsetBeginsWithWhatComesLater) {
  cluster_.CreateTopic("t", 1);
  cluster_.ProduceValues("t", 0, Ids(0, 5));
  Reading reading(cluster_.bootstrap_servers(),
                  {.options = {{"scan.startup.mode", "latest-offset"}}});
  cluster_.ProduceValues("t", 0, Ids(5, 7));
  ASSERT_TRUE(reading.RunUntilRows(2).ok());
  EXPECT_THAT(reading.out->rows, ElementsAre("+I[5]", "+I[6]"));
}

// Known pitfalls 1.8: offsets are committed for display, after the checkpoint.
TEST_P(KafkaSourceTest, CommitsOffsetsOfCompletedCheckpoints) {
  cluster_.CreateTopic("t", 1);
  cluster_.ProduceValues("t", 0, Ids(0, 5));
  const OptionMap group = {{"properties.group.id", "g"}, {"scan.startup.mode", "group-offsets"}};
  Reading none(cluster_.bootstrap_servers(), {.options = group});
  const std::string error = none.RunToEnd().ToString();
  EXPECT_THAT(error, HasSubstr("Undefined offset with no reset policy for partitions: [t-0]"));
  EXPECT_THAT(error, HasSubstr("properties.auto.offset.reset"));
  {
    OptionMap earliest = group;
    earliest.emplace("properties.auto.offset.reset", "earliest");
    Reading reading(cluster_.bootstrap_servers(), {.options = earliest});
    ASSERT_TRUE(reading.RunUntilRows(5).ok());
    reading.Snapshot(4);
    reading.Complete(4);
    ASSERT_TRUE(
        reading.RunUntil([&] { return reading.metrics.Value("kafka_commits_succeeded") > 0; })
            .ok());
  }
  cluster_.ProduceValues("t", 0, Ids(5, 6));
  OptionMap bounded = group;
  bounded.emplace("scan.bounded.mode", "latest-offset");
  Reading next(cluster_.bootstrap_servers(), {.options = bounded});
  const Status status = next.RunToEnd();
  ASSERT_TRUE(status.ok()) << status.ToString();
  EXPECT_THAT(next.out->rows, ElementsAre("+I[5]"));
}

class KnownPitfalls : public KafkaSourceTest {
 protected:
  /// Commits `offset` for partition 0 of topic t, as a tool for groups does.
  void SetGroupOffset(const char* group, int64_t offset) {
    rd_kafka_conf_t* conf = rd_kafka_conf_new();
    char error[512];
    rd_kafka_conf_set(conf, "bootstrap.servers", cluster_.bootstrap_servers().c_str(), error,
                      sizeof(error));
    rd_kafka_conf_set(conf, "group.id", group, error, sizeof(error));
    rd_kafka_t* consumer = rd_kafka_new(RD_KAFKA_CONSUMER, conf, error, sizeof(error));
    ASSERT_NE(consumer, nullptr) << error;
    rd_kafka_topic_partition_list_t* offsets = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(offsets, "t", 0)->offset = offset;
    EXPECT_EQ(rd_kafka_commit(consumer, offsets, 0), RD_KAFKA_RESP_ERR_NO_ERROR);
    rd_kafka_topic_partition_list_destroy(offsets);
    rd_kafka_destroy(consumer);
  }
};

INSTANTIATE_TEST_SUITE_P(Fetch, KnownPitfalls, ::testing::Values("librdkafka", "native"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(KnownPitfalls, Rule1_8_PositionsComeFromTheCheckpoint) {
  cluster_.CreateTopic("t", 1);
  cluster_.ProduceValues("t", 0, Ids(0, 5));
  const OptionMap group = {{"properties.group.id", "g"},
                           {"scan.startup.mode", "group-offsets"},
                           {"properties.auto.offset.reset", "earliest"}};
  std::vector<runtime::StateFields> state;
  {
    Reading reading(cluster_.bootstrap_servers(), {.options = group});
    ASSERT_TRUE(reading.RunUntilRows(5).ok());
    state = reading.Snapshot(4);
    reading.Complete(4);
    ASSERT_TRUE(
        reading.RunUntil([&] { return reading.metrics.Value("kafka_commits_succeeded") > 0; })
            .ok());
  }
  SetGroupOffset("g", 0);
  cluster_.ProduceValues("t", 0, Ids(5, 7));
  Reading resumed(cluster_.bootstrap_servers(), {.options = group, .state = state});
  ASSERT_TRUE(resumed.RunUntilRows(2).ok());
  EXPECT_THAT(resumed.out->rows, ElementsAre("+I[5]", "+I[6]"));
}

// No group of the broker's that would take partitions away from a reader which a slow sink holds
// up.
TEST_P(KnownPitfalls, Rule14_6_ASinkThatWaitsLosesNoPartition) {
  cluster_.CreateTopic("t", 2);
  for (int p = 0; p < 2; ++p) cluster_.ProduceValues("t", p, Ids(p * 1000, p * 1000 + 1000));
  Reading reading(cluster_.bootstrap_servers(),
                  {.options = Bounded({{"properties.group.id", "g"},
                                       {"properties.session.timeout.ms", "1000"},
                                       {"properties.max.poll.interval.ms", "1000"}})});
  ASSERT_TRUE(reading.RunUntilRows(1).ok());
  std::this_thread::sleep_for(std::chrono::milliseconds(2'500));
  const Status status = reading.RunToEnd();
  ASSERT_TRUE(status.ok()) << status.ToString();
  const std::set<std::string> once(reading.out->rows.begin(), reading.out->rows.end());
  EXPECT_EQ(once.size(), 2000u);
  EXPECT_EQ(reading.out->rows.size(), 2000u);
}

// Known pitfalls 14.4.
TEST_P(KafkaSourceTest, TopicsFoundLaterAreReadFromTheirBeginning) {
  cluster_.CreateTopic("orders-1", 1);
  cluster_.ProduceValues("orders-1", 0, Ids(0, 3));
  cluster_.CreateTopic("other", 1);
  cluster_.ProduceValues("other", 0, Ids(50, 53));
  const OptionMap options = {{"topic-pattern", "orders-[0-9]+"},
                             {"scan.startup.mode", "latest-offset"},
                             {"scan.topic-partition-discovery.interval", "50 ms"}};
  std::vector<runtime::StateFields> state;
  {
    Reading reading(cluster_.bootstrap_servers(), {.options = options, .parallelism = 2});
    cluster_.ProduceValues("orders-1", 0, Ids(3, 4));
    ASSERT_TRUE(reading.RunUntilRows(1).ok());
    cluster_.CreateTopic("orders-2", 1);
    cluster_.ProduceValues("orders-2", 0, Ids(10, 12));
    ASSERT_TRUE(reading.RunUntilRows(3).ok());
    EXPECT_THAT(reading.out->rows, ElementsAre("+I[3]", "+I[10]", "+I[11]"));
    state = reading.Snapshot();
  }
  // One that appeared while the job was down, too.
  cluster_.CreateTopic("orders-3", 1);
  cluster_.ProduceValues("orders-3", 0, Ids(20, 21));
  Reading reading(cluster_.bootstrap_servers(),
                  {.options = options, .parallelism = 2, .state = state});
  ASSERT_TRUE(reading.RunUntilRows(1).ok());
  EXPECT_THAT(reading.out->rows, ElementsAre("+I[20]"));
}

TEST_P(KafkaSourceTest, WatermarkIsTheLowestOfThePartitions) {
  cluster_.CreateTopic("t", 2);
  cluster_.ProduceValues("t", 0, Ids(100, 101));
  Reading reading(cluster_.bootstrap_servers(), {.row_time_from_id = true});
  ASSERT_TRUE(reading.RunUntilRows(1).ok());
  EXPECT_THAT(reading.out->watermarks, IsEmpty());
  cluster_.ProduceValues("t", 1, Ids(50, 51));
  ASSERT_TRUE(reading.RunUntil([&] { return !reading.out->watermarks.empty(); }).ok());
  EXPECT_THAT(reading.out->watermarks, ElementsAre(50));
}

TEST_P(KafkaSourceTest, AbsentTopic) {
  // The mock brokers make topics when asked; a real one answers so.
  rd_kafka_mock_topic_set_error(cluster_.cluster(), "nosuch",
                                RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
  Reading reading(cluster_.bootstrap_servers(), {.options = {{"topic", "nosuch"}}});
  const std::string error = reading.RunToEnd().ToString();
  EXPECT_THAT(error, HasSubstr("Failed to get metadata for topics [nosuch]"));
}

TEST_P(KafkaSourceTest, EveryCompression) {
  cluster_.CreateTopic("t", 1);
  int end = 0;
  for (const char* codec : {"none", "gzip", "snappy", "lz4", "zstd"}) {
    cluster_.UseCompression(codec);
    cluster_.ProduceValues("t", 0, Ids(end, end + 300));
    end += 300;
  }
  Reading reading(cluster_.bootstrap_servers(), {.options = Bounded(), .metadata = {"offset"}});
  const Status status = reading.RunToEnd();
  ASSERT_TRUE(status.ok()) << status.ToString();
  ASSERT_EQ(reading.out->rows.size(), static_cast<size_t>(end));
  for (int i = 0; i < end; ++i) {
    const std::string number = std::to_string(i);
    EXPECT_EQ(reading.out->rows[static_cast<size_t>(i)], "+I[" + number + ", " + number + "]");
  }
}

// A position in the middle of a record batch: the broker sends the whole batch.
TEST_P(KafkaSourceTest, BeginsAndEndsInsideOfBatches) {
  cluster_.CreateTopic("t", 1);
  cluster_.UseCompression("lz4");
  cluster_.ProduceValues("t", 0, Ids(0, 100));
  cluster_.ProduceValues("t", 0, Ids(100, 200));
  Reading reading(cluster_.bootstrap_servers(),
                  {.options = {{"scan.startup.mode", "specific-offsets"},
                               {"scan.startup.specific-offsets", "partition:0,offset:37"},
                               {"scan.bounded.mode", "specific-offsets"},
                               {"scan.bounded.specific-offsets", "partition:0,offset:151"}}});
  const Status status = reading.RunToEnd();
  ASSERT_TRUE(status.ok()) << status.ToString();
  ASSERT_EQ(reading.out->rows.size(), 114u);
  EXPECT_EQ(reading.out->rows.front(), "+I[37]");
  EXPECT_EQ(reading.out->rows.back(), "+I[150]");
}

TEST_P(KafkaSourceTest, ErrorsOfTheBrokerAreTriedAgain) {
  cluster_.CreateTopic("t", 2);
  cluster_.ProduceValues("t", 0, Ids(0, 50));
  Reading reading(cluster_.bootstrap_servers(), {});
  ASSERT_TRUE(reading.RunUntilRows(50).ok());
  constexpr int16_t kFetch = 1;
  rd_kafka_mock_push_request_errors(
      cluster_.cluster(), kFetch, 4, RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION,
      RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART, RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE,
      RD_KAFKA_RESP_ERR__TRANSPORT);  // Cuts the connection.
  cluster_.ProduceValues("t", 0, Ids(50, 100));
  cluster_.ProduceValues("t", 1, Ids(100, 150));
  const Status status = reading.RunUntilRows(150);
  ASSERT_TRUE(status.ok()) << status.ToString();
  const auto& rows = reading.out->rows;
  EXPECT_EQ(rows.size(), 150u);
  EXPECT_EQ(std::set<std::string>(rows.begin(), rows.end()).size(), 150u);
}

TEST_P(KafkaSourceTest, FollowsALeaderThatMoves) {
  MockCluster cluster(2);
  cluster.CreateTopic("t", 1);
  rd_kafka_mock_partition_set_leader(cluster.cluster(), "t", 0, 1);
  cluster.ProduceValues("t", 0, Ids(0, 10));
  Reading reading(cluster.bootstrap_servers(), {});
  ASSERT_TRUE(reading.RunUntilRows(10).ok());
  for (int move = 1; move <= 4; ++move) {
    rd_kafka_mock_partition_set_leader(cluster.cluster(), "t", 0, move % 2 + 1);
    cluster.ProduceValues("t", 0, Ids(move * 10, move * 10 + 10));
    const Status status = reading.RunUntilRows(static_cast<size_t>(move) * 10 + 10);
    ASSERT_TRUE(status.ok()) << status.ToString();
  }
  ASSERT_EQ(reading.out->rows.size(), 50u);
  for (int i = 0; i < 50; ++i)
    EXPECT_EQ(reading.out->rows[static_cast<size_t>(i)], "+I[" + std::to_string(i) + "]");
}

TEST_P(KafkaSourceTest, ABrokerThatIsAwayIsNamedAndWaitedFor) {
  cluster_.CreateTopic("t", 1);
  cluster_.ProduceValues("t", 0, Ids(0, 10));
  Reading reading(cluster_.bootstrap_servers(), {});
  ASSERT_TRUE(reading.RunUntilRows(10).ok());
  rd_kafka_mock_broker_set_down(cluster_.cluster(), 1);
  std::string waiting;
  const Status told = reading.RunUntil([&] {
    for (const auto& [who, what] : reading.metrics.Waiting()) waiting = what;
    return !waiting.empty();
  });
  ASSERT_TRUE(told.ok()) << told.ToString();
  EXPECT_THAT(waiting, HasSubstr("table default_catalog.default_database.t"));
  EXPECT_THAT(waiting, HasSubstr("topic t"));
  EXPECT_THAT(waiting, HasSubstr(cluster_.bootstrap_servers()));
  rd_kafka_mock_broker_set_up(cluster_.cluster(), 1);
  cluster_.ProduceValues("t", 0, Ids(10, 20));
  const Status status = reading.RunUntilRows(20);
  ASSERT_TRUE(status.ok()) << status.ToString();
  EXPECT_EQ(reading.out->rows.size(), 20u);
  EXPECT_EQ(reading.out->rows.back(), "+I[19]");
}

// Known pitfalls 15.3: what is fetched counts in the budget until it is decoded.
TEST_P(KafkaSourceTest, GivesBackTheMemoryOfWhatItRead) {
  cluster_.CreateTopic("t", 1);
  std::vector<std::string> values;
  for (int i = 0; i < 40; ++i) {  // The mock brokers keep 5 MiB.
    values.push_back("{\"id\":" + std::to_string(i) + ",\"x\":\"" + std::string(100'000, 'x') +
                     "\"}");
  }
  cluster_.ProduceValues("t", 0, values);
  Reading reading(cluster_.bootstrap_servers(), {.options = Bounded()});
  const Status status = reading.RunToEnd();
  ASSERT_TRUE(status.ok()) << status.ToString();
  EXPECT_EQ(reading.out->rows.size(), 40u);
  EXPECT_GT(reading.budget()->peak_bytes(), 100'000);
  // The thread that has decoded the last records may let go of them a moment after they are out.
  for (int i = 0; i < 1'000 && reading.budget()->used_bytes() != 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_EQ(reading.budget()->used_bytes(), 0);
}

TEST(KafkaSource, WhoFetches) {
  MockCluster cluster;
  cluster.CreateTopic("t", 1);
  const auto run = [&](const char* fetch, OptionMap more) {
    more.emplace("scan.fetch.implementation", fetch);
    Reading reading(cluster.bootstrap_servers(), {.options = Bounded(std::move(more))});
    return reading.RunToEnd();
  };
  const OptionMap rack = {{"properties.client.rack", "r1"}};
  EXPECT_TRUE(run("native", {}).ok());
  EXPECT_TRUE(run("auto", {}).ok());
  EXPECT_TRUE(run("auto", rack).ok());
  EXPECT_TRUE(run("librdkafka", rack).ok());
  const Status refused = run("native", rack);
  EXPECT_EQ(refused.code(), StatusCode::kUnsupported);
  EXPECT_THAT(refused.ToString(), HasSubstr("setting 'client.rack'"));
  EXPECT_THAT(run("fast", {}).ToString(), HasSubstr("native"));
}

TEST(KafkaSource, BrokerDownIsARetriableError) {
  Reading reading("127.0.0.1:1", {.options = {{"properties.default.api.timeout.ms", "400"}}});
  const Status status = reading.RunToEnd();
  EXPECT_EQ(status.code(), StatusCode::kUnavailable);
  EXPECT_TRUE(status.retriable());
  EXPECT_THAT(status.ToString(), HasSubstr("127.0.0.1:1"));
  EXPECT_THAT(status.ToString(), HasSubstr("Connection refused"));
  EXPECT_THAT(status.ToString(), HasSubstr("table default_catalog.default_database.t (topic t)"));
}

TEST(KafkaSource, AJobThatIsToldToStopWaitsForNoBroker) {
  const std::atomic<bool> ending{true};
  const int64_t start_us = Clock::System().MonotonicMicros();
  Reading reading("127.0.0.1:1", {.ending = &ending});
  EXPECT_EQ(reading.RunToEnd().code(), StatusCode::kUnavailable);
  EXPECT_LT(Clock::System().MonotonicMicros() - start_us, 2'500'000);
}

}  // namespace
}  // namespace sluice::connectors::kafka
