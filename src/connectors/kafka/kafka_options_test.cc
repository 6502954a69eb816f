#include "connectors/kafka/kafka_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "connectors/kafka/kafka_connector.h"
#include "connectors/kafka/topic_pattern.h"

namespace sluice::connectors::kafka {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TableInfo Table(OptionMap options, bool defaults = true) {
  TableInfo table;
  table.identifier = "default_catalog.default_database.t";
  table.physical =
      Schema({{"k_id", SqlType::Int()}, {"v", SqlType::String()}, {"w", SqlType::Double()}});
  table.options = std::move(options);
  table.options.emplace("connector", "kafka");
  if (!defaults) return table;
  table.options.emplace("properties.bootstrap.servers", "127.0.0.1:1");
  if (!table.options.contains("value.format")) table.options.emplace("format", "json");
  if (!table.options.contains("topic-pattern")) table.options.emplace("topic", "t");
  if (!table.options.contains("scan.startup.mode"))
    table.options.emplace("scan.startup.mode", "earliest-offset");
  return table;
}

TEST(KafkaOptions, RefusesWithFlinksWords) {
  struct Case {
    OptionMap options;
    Use use;
    const char* message;
  };
  const Case kCases[] = {
      {{{"topic", "t"}, {"topic-pattern", "t.*"}},
       Use::kRead,
       "Option 'topic' and 'topic-pattern' shouldn't be set together."},
      {{{"topic", ""}}, Use::kRead, "Either 'topic' or 'topic-pattern' must be set."},
      {{{"topic-pattern", "a("}}, Use::kRead, "Option 'topic-pattern' = 'a('"},
      {{{"scan.startup.mode", "foo"}},
       Use::kRead,
       "Could not parse value 'foo' for key 'scan.startup.mode'. Expected one of: "
       "[[earliest-offset, latest-offset, "
       "group-offsets, timestamp, specific-offsets]]"},
      {{{"scan.startup.mode", "timestamp"}},
       Use::kRead,
       "'scan.startup.timestamp-millis' is required in 'timestamp' startup mode but missing."},
      {{{"scan.bounded.mode", "timestamp"}},
       Use::kRead,
       "'scan.bounded.timestamp-millis' is required in 'timestamp' bounded mode but missing."},
      {{{"scan.startup.mode", "specific-offsets"}},
       Use::kRead,
       "'scan.startup.specific-offsets' is required in 'specific-offsets' startup mode but "
       "missing."},
      {{{"scan.startup.mode", "specific-offsets"},
        {"scan.startup.specific-offsets", "partition:0,offset:1"},
        {"topic", "a;b"}},
       Use::kRead,
       "Currently Kafka source only supports specific offset for single topic."},
      {{{"scan.startup.mode", "specific-offsets"}, {"scan.startup.specific-offsets", "0:1"}},
       Use::kRead,
       "should follow the format 'partition:0,offset:42;partition:1,offset:300', but is '0:1'."},
      {{{"scan.startup.mode", "group-offsets"}},
       Use::kRead,
       "Property group.id is required when using committed offset for offsets initializer"},
      {{{"sink.partitioner", "round-robin"}, {"key.format", "json"}, {"key.fields", "v"}},
       Use::kWrite,
       "Currently 'round-robin' partitioner only works when option 'key.fields' is not specified."},
      {{{"sink.partitioner", "org.x.P"}}, Use::kWrite, "Use 'default', 'fixed' or 'round-robin'."},
      {{{"key.fields", "v"}},
       Use::kRead,
       "The option 'key.fields' can only be declared if a key format is defined using "
       "'key.format'."},
      {{{"key.format", "json"}},
       Use::kRead,
       "A key format 'key.format' requires the declaration of one or more of key fields using "
       "'key.fields'."},
      {{{"key.format", "json"}, {"key.fields", "z"}},
       Use::kRead,
       "Could not find the field 'z' in the table schema for usage in the key format."},
      {{{"key.format", "json"},
        {"key.fields", "v"},
        {"key.fields-prefix", "k_"},
        {"value.fields-include", "EXCEPT_KEY"}},
       Use::kRead,
       "All fields in 'key.fields' must be prefixed with 'k_' when option 'key.fields-prefix' is "
       "set but field 'v' is not "
       "prefixed."},
      {{{"key.format", "json"}, {"key.fields", "k_id"}, {"key.fields-prefix", "k_"}},
       Use::kRead,
       "A key prefix is not allowed when option 'value.fields-include' is set to 'ALL'."},
      {{{"sink.delivery-guarantee", "exactly-once"}},
       Use::kWrite,
       "sink.transactional-id-prefix must be specified when using DeliveryGuarantee.EXACTLY_ONCE."},
      {{{"sink.delivery-guarantee", "exactly-once"}, {"sink.transactional-id-prefix", "p"}},
       Use::kWrite,
       "comes with a later version"},
      {{{"scan.startup.mod", "x"}},
       Use::kRead,
       "Unsupported options found for 'kafka'. Did you mean 'scan.startup.mode'?"},
      {{{"json.no-such", "x"}}, Use::kRead, "json.no-such"},
      {{{"csv.field-delimiter", "x"}}, Use::kRead, "Unsupported options found for 'kafka'."},
      {{{"value.format", "parquet"}}, Use::kRead, "is for files"},
      {{{"properties.kerberos.domain.name", "x"}}, Use::kAny, "properties.kerberos.domain.name"},
      {{{"scan.parallelism", "0"}}, Use::kRead, "It must be at least 1"},
  };
  for (const Case& c : kCases) {
    const Status status = PlanKafkaTable(Table(c.options), {}, c.use).status();
    EXPECT_THAT(status.ToString(), HasSubstr(c.message));
  }
  EXPECT_THAT(PlanKafkaTable(Table({{"topic", "t"}}, false), {}, Use::kRead).status().ToString(),
              HasSubstr("Could not find required scan format 'value.format'."));
  EXPECT_THAT(PlanKafkaTable(Table({{"topic", "t"}, {"format", "json"}}, false), {}, Use::kRead)
                  .status()
                  .ToString(),
              HasSubstr("properties.bootstrap.servers"));
  TableInfo keyed = Table({});
  keyed.primary_key = {"k_id"};
  EXPECT_THAT(
      PlanKafkaTable(keyed, {}, Use::kRead).status().ToString(),
      HasSubstr("with 'json' format doesn't support defining PRIMARY KEY constraint on the table"));
}

TEST(KafkaOptions, ResolvesKeyAndValue) {
  const auto table = PlanKafkaTable(Table({{"key.format", "csv"},
                                           {"key.csv.field-delimiter", "|"},
                                           {"key.fields", "k_id"},
                                           {"key.fields-prefix", "k_"},
                                           {"value.format", "json"},
                                           {"value.json.ignore-parse-errors", "true"},
                                           {"value.fields-include", "EXCEPT_KEY"}}),
                                    {}, Use::kRead);
  ASSERT_TRUE(table.ok()) << table.status().ToString();
  EXPECT_EQ(table->key->schema.column(0).name, "id");
  EXPECT_THAT(table->key->table_columns, ElementsAre(0));
  EXPECT_THAT(table->value.table_columns, ElementsAre(1, 2));
  EXPECT_EQ(table->value.options.prefix, "value.json.");
  EXPECT_EQ(table->key->options.options.at("field-delimiter"), "|");
}

TEST(KafkaOptions, ParsesSpecificOffsets) {
  const auto offsets = ParseSpecificOffsets("k", "partition:0,offset:42; partition:1,offset:300;");
  ASSERT_TRUE(offsets.ok());
  EXPECT_EQ(*offsets, (std::map<int32_t, int64_t>{{0, 42}, {1, 300}}));
  for (const char* text : {"", "partition:0", "partition:x,offset:1", "partition:0,offset:-1",
                           "offset:1,partition:", "partition:0,offset:1;partition:0,offset:2"}) {
    EXPECT_FALSE(ParseSpecificOffsets("k", text).ok()) << text;
  }
}

TEST(KafkaOptions, MetadataColumns) {
  const auto writable = [](const OptionMap& options) {
    std::string keys;
    for (const MetadataColumn& column : kKafkaConnector.metadata(Table(options))) {
      if (column.writable) keys += column.key + " ";
    }
    return keys;
  };
  EXPECT_EQ(writable({}), "headers header-list timestamp ");
  EXPECT_EQ(writable({{"topic", "a;b"}}), "topic headers header-list timestamp ");
}

TEST(KafkaOptions, BoundedTablesDoNotDiscover) {
  const auto bounded =
      PlanKafkaTable(Table({{"scan.bounded.mode", "latest-offset"}}), {}, Use::kRead);
  ASSERT_TRUE(bounded.ok());
  EXPECT_TRUE(bounded->is_bounded());
  EXPECT_EQ(bounded->discovery_interval_ms, 0);
  EXPECT_EQ(PlanKafkaTable(Table({}), {}, Use::kRead)->discovery_interval_ms, 300'000);
}

TEST(TopicPattern, MatchesWholeNames) {
  const auto pattern = TopicPattern::Compile("orders-[0-9]+|x");
  ASSERT_TRUE(pattern.ok());
  EXPECT_TRUE(pattern->Matches("orders-12"));
  EXPECT_TRUE(pattern->Matches("x"));
  EXPECT_FALSE(pattern->Matches("orders-12a"));
  EXPECT_FALSE(pattern->Matches("xy"));
}

}  // namespace
}  // namespace sluice::connectors::kafka
