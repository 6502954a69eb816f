#include <arrow/json/from_string.h>
#include <arrow/record_batch.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "connectors/kafka/kafka_connector.h"
#include "connectors/kafka/mock_cluster.h"

namespace sluice::connectors::kafka {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

/// What a plain consumer sees in a partition.
std::vector<std::string> Consume(const std::string& bootstrap_servers, const std::string& topic,
                                 int32_t partition, size_t count) {
  const ClientConfig config =
      *TranslateClientProperties({{"bootstrap.servers", bootstrap_servers}}, ClientRole::kConsumer);
  const auto client = *KafkaClient::Make(config, ClientRole::kConsumer);
  const TopicPtr handle(rd_kafka_topic_new(client->handle(), topic.c_str(), nullptr));
  rd_kafka_consume_start(handle.get(), partition, RD_KAFKA_OFFSET_BEGINNING);
  std::vector<std::string> messages;
  for (int tries = 0; tries < 50 && messages.size() < count; ++tries) {
    const std::unique_ptr<rd_kafka_message_t, MessageDeleter> message(
        rd_kafka_consume(handle.get(), partition, 200));
    if (!message || message->err != RD_KAFKA_RESP_ERR_NO_ERROR) continue;
    std::string text;
    if (message->key != nullptr)
      text += std::string(static_cast<const char*>(message->key), message->key_len) + ":";
    text += message->payload == nullptr
                ? "<null>"
                : std::string(static_cast<const char*>(message->payload), message->len);
    rd_kafka_headers_t* headers = nullptr;
    if (rd_kafka_message_headers(message.get(), &headers) == RD_KAFKA_RESP_ERR_NO_ERROR) {
      const char* name = nullptr;
      const void* value = nullptr;
      size_t size = 0;
      for (size_t i = 0;
           rd_kafka_header_get_all(headers, i, &name, &value, &size) == RD_KAFKA_RESP_ERR_NO_ERROR;
           ++i) {
        text += std::string(" ") + name + "=" + std::string(static_cast<const char*>(value), size);
      }
      rd_kafka_timestamp_type_t type;
      text += " @" + std::to_string(rd_kafka_message_timestamp(message.get(), &type));
    }
    messages.push_back(text);
  }
  rd_kafka_consume_stop(handle.get(), partition);
  return messages;
}

class KafkaSinkTest : public ::testing::Test {
 protected:
  /// Makes the operator of subtask `subtask` for a table of (k STRING, v INT) and metadata columns.
  Status Open(OptionMap options, std::vector<Column> metadata = {}, int subtask = 0) {
    options.emplace("connector", "kafka");
    options.emplace("properties.bootstrap.servers", cluster_.bootstrap_servers());
    if (!options.contains("value.format")) options.emplace("format", "json");
    if (!options.contains("topic-pattern")) options.emplace("topic", "t");
    TableInfo table;
    table.identifier = "default_catalog.default_database.t";
    table.physical = Schema({{"k", SqlType::String()}, {"v", SqlType::Int()}});
    table.options = options;
    std::vector<Column> columns = table.physical.columns();
    std::vector<std::string> keys;
    for (const Column& column : metadata) {
      columns.push_back(column);
      keys.push_back(column.name);
    }
    schema_ = Schema(columns);
    SLUICE_ASSIGN_OR_RETURN(const std::unique_ptr<TableSink> sink,
                            kKafkaConnector.make_sink(table, {}));
    SLUICE_ASSIGN_OR_RETURN(const SinkPlan plan,
                            sink->MakePlan({.metadata_keys = keys, .operator_id = "sink:t"}));
    SLUICE_ASSIGN_OR_RETURN(operator_, plan.stages[0].operator_spec.make(subtask));
    task_.subtask = subtask;
    task_.clock = &Clock::System();
    task_.metrics = &metrics_;
    task_.wake = [waker = waker_] { waker->Wake(); };
    task_.wake_at = [](int64_t) {};
    return operator_->Open(task_);
  }

  Status Write(const std::string& json, const std::string& kinds = "") {
    const auto rows =
        arrow::json::ArrayFromJSONString(arrow::struct_(schema_.ToArrow()->fields()), json)
            .ValueOrDie();
    std::shared_ptr<arrow::Int8Array> row_kinds;
    if (!kinds.empty()) {
      row_kinds = std::static_pointer_cast<arrow::Int8Array>(
          arrow::json::ArrayFromJSONString(arrow::int8(), kinds).ValueOrDie());
    }
    SLUICE_RETURN_NOT_OK(operator_->Process(
        Batch(arrow::RecordBatch::FromStructArray(rows).ValueOrDie(), row_kinds), out_));
    return Settle();
  }
  /// Step 1 of a checkpoint, and the wait for step 2.
  Status Prepare() {
    SLUICE_RETURN_NOT_OK(operator_->PrepareSnapshot({.id = 1}, out_));
    return Settle();
  }
  Status Settle() {
    for (int tries = 0; tries < 400 && !operator_->Ready(); ++tries) {
      waker_->WaitFor(50);
      SLUICE_RETURN_NOT_OK(operator_->Poll(out_));
    }
    return operator_->Ready() ? Status() : Status::Unavailable("The test has waited too long.");
  }

  MockCluster cluster_;
  Schema schema_;
  runtime::Metrics metrics_;
  runtime::TaskContext task_;
  std::shared_ptr<Waker> waker_ = std::make_shared<Waker>();
  RowsOutput out_{Schema()};
  std::unique_ptr<runtime::Operator> operator_;
};

TEST_F(KafkaSinkTest, WritesChanges) {
  cluster_.CreateTopic("t", 1);
  const Status status = Open({{"key.format", "raw"},
                              {"key.fields", "k"},
                              {"value.format", "debezium-json"},
                              {"value.fields-include", "EXCEPT_KEY"}});
  ASSERT_TRUE(status.ok()) << status.ToString();
  ASSERT_TRUE(Write(R"([["a", 1], ["a", 1], ["a", 2], ["a", 2]])", "[0, 1, 2, 3]").ok());
  ASSERT_TRUE(Prepare().ok());
  EXPECT_THAT(Consume(cluster_.bootstrap_servers(), "t", 0, 4),
              ElementsAre(R"(a:{"before":null,"after":{"v":1},"op":"c"})",
                          R"(a:{"before":{"v":1},"after":null,"op":"d"})",
                          R"(a:{"before":null,"after":{"v":2},"op":"c"})",
                          R"(a:{"before":{"v":2},"after":null,"op":"d"})"));
}

TEST_F(KafkaSinkTest, WritesKeysAndValues) {
  cluster_.CreateTopic("t", 1);
  const Status status = Open({{"key.format", "raw"},
                              {"key.fields", "k"},
                              {"value.format", "json"},
                              {"value.fields-include", "EXCEPT_KEY"}});
  ASSERT_TRUE(status.ok()) << status.ToString();
  ASSERT_TRUE(Write(R"([["a", 1], [null, 2]])").ok());
  ASSERT_TRUE(Prepare().ok());
  EXPECT_THAT(Consume(cluster_.bootstrap_servers(), "t", 0, 2),
              ElementsAre("a:{\"v\":1}", "{\"v\":2}"));
  EXPECT_EQ(metrics_.Value(runtime::metric::kRowsOut), 2);
}

TEST_F(KafkaSinkTest, WritesAvroInBothEncodings) {
  cluster_.CreateTopic("t", 1);
  ASSERT_TRUE(Open({{"key.format", "avro"},
                    {"key.avro.encoding", "json"},
                    {"key.fields", "v"},
                    {"value.format", "avro"}})
                  .ok());
  ASSERT_TRUE(Write(R"([["ab", 1]])").ok());
  ASSERT_TRUE(Prepare().ok());
  EXPECT_THAT(Consume(cluster_.bootstrap_servers(), "t", 0, 1),
              ElementsAre(std::string("{\"v\":{\"int\":1}}:") + "\x02\x04"
                                                                "ab"
                                                                "\x02\x02"));
}

TEST_F(KafkaSinkTest, WritesMetadata) {
  cluster_.CreateTopic("a", 1);
  cluster_.CreateTopic("b", 1);
  const std::vector<Column> metadata = {
      {"topic", SqlType::String()},
      {"timestamp", SqlType::TimestampLtz(3)},
      {"headers", SqlType::Map(SqlType::String(), SqlType::Bytes())}};
  ASSERT_TRUE(Open({{"topic", "a;b"}}, metadata).ok());
  ASSERT_TRUE(Write(R"([["x", 1, "b", 1234, [["h", "v"], ["n", null]]]])").ok());
  ASSERT_TRUE(Prepare().ok());
  EXPECT_THAT(Consume(cluster_.bootstrap_servers(), "b", 0, 1),
              ElementsAre("{\"k\":\"x\",\"v\":1} h=v @1234"));
  EXPECT_THAT(Write(R"([["x", 1, "c", null, null]])").ToString(),
              HasSubstr("Expected topic to be in: [a, b] but was: c"));
}

TEST_F(KafkaSinkTest, FixedPartitionerKeepsASubtaskToOnePartition) {
  cluster_.CreateTopic("t", 3);
  ASSERT_TRUE(Open({{"sink.partitioner", "fixed"}}, {}, 4).ok());
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(Write(R"([["x", 1], ["y", 2]])").ok());
  ASSERT_TRUE(Prepare().ok());
  EXPECT_THAT(Consume(cluster_.bootstrap_servers(), "t", 1, 10), SizeIs(10));
}

TEST_F(KafkaSinkTest, KeysGoWhereJavaPutsThem) {
  cluster_.CreateTopic("t", 4);
  ASSERT_TRUE(Open({{"key.format", "raw"}, {"key.fields", "k"}, {"value.format", "json"}}).ok());
  // Java: toPositive(murmur2("21")) % 4 and so on; the hashes are those of Kafka's own test of
  // murmur2.
  ASSERT_TRUE(Write(R"([["21", 1], ["foobar", 2]])").ok());
  ASSERT_TRUE(Prepare().ok());
  const auto partition = [](int32_t hash) { return (hash & 0x7fffffff) % 4; };
  EXPECT_THAT(Consume(cluster_.bootstrap_servers(), "t", partition(-973932308), 1),
              ElementsAre("21:{\"k\":\"21\",\"v\":1}"));
  EXPECT_THAT(Consume(cluster_.bootstrap_servers(), "t", partition(-790332482), 1),
              ElementsAre("foobar:{\"k\":\"foobar\",\"v\":2}"));
}

TEST_F(KafkaSinkTest, ACheckpointWaitsForEveryAcknowledgement) {
  cluster_.CreateTopic("t", 1);
  ASSERT_TRUE(Open({}).ok());
  rd_kafka_mock_broker_set_down(cluster_.cluster(), 1);
  ASSERT_TRUE(Write(R"([["x", 1]])").ok());
  ASSERT_TRUE(operator_->PrepareSnapshot({.id = 1}, out_).ok());
  for (int i = 0; i < 5; ++i) {
    waker_->WaitFor(20);
    ASSERT_TRUE(operator_->Poll(out_).ok());
    EXPECT_FALSE(operator_->Ready());
  }
  rd_kafka_mock_broker_set_up(cluster_.cluster(), 1);
  const Status status = Settle();
  EXPECT_TRUE(status.ok()) << status.ToString();
  EXPECT_THAT(Consume(cluster_.bootstrap_servers(), "t", 0, 1), SizeIs(1));
}

TEST_F(KafkaSinkTest, FailedDeliveryNamesTopicAndReason) {
  cluster_.CreateTopic("t", 1);
  ASSERT_TRUE(
      Open({{"properties.delivery.timeout.ms", "300"}, {"properties.linger.ms", "0"}}).ok());
  rd_kafka_mock_broker_set_down(cluster_.cluster(), 1);
  Status status = Write(R"([["x", 1]])");
  if (status.ok()) status = Prepare();
  EXPECT_TRUE(status.retriable());
  EXPECT_THAT(status.ToString(), HasSubstr("Cannot write to Kafka topic 't'"));
  EXPECT_THAT(status.ToString(), HasSubstr("properties.delivery.timeout.ms"));
}

TEST_F(KafkaSinkTest, SeveralTopicsNeedTheirColumn) {
  EXPECT_THAT(Open({{"topic", "a;b"}}).ToString(), HasSubstr("METADATA FROM 'topic'"));
  EXPECT_THAT(Open({{"topic-pattern", "a.*"}}).ToString(), HasSubstr("METADATA FROM 'topic'"));
}

}  // namespace
}  // namespace sluice::connectors::kafka
