#include "connectors/filesystem/filesystem_connector.h"

#include <gtest/gtest.h>

#include "fs/faulty/faulty_file_systems.h"

namespace sluice::connectors {
namespace {

TableInfo Table(OptionMap options) {
  TableInfo table;
  table.identifier = "c.d.t";
  table.physical = Schema({{"id", SqlType::Bigint()}, {"dt", SqlType::String()}});
  table.partition_keys = {"dt"};
  table.options = std::move(options);
  table.options.emplace("connector", "filesystem");
  return table;
}

Status Validate(const TableInfo& table) {
  fs::FaultyFileSystems files(1);
  ConnectorContext context;
  context.file_systems = &files;
  return kFilesystemConnector.validate(table, context);
}

TEST(FilesystemConnector, AcceptsTheDocumentedTable) {
  const Status status =
      Validate(Table({{"path", "/data/t"},
                      {"format", "csv"},
                      {"csv.field-delimiter", ";"},
                      {"partition.time-extractor.timestamp-pattern", "$dt 00:00:00"},
                      {"sink.partition-commit.trigger", "partition-time"},
                      {"sink.partition-commit.delay", "1 d"},
                      {"sink.partition-commit.watermark-time-zone", "Asia/Shanghai"},
                      {"sink.partition-commit.policy.kind", "success-file"},
                      {"source.monitor-interval", "1 s"},
                      {"scan.watermark.idle-timeout", "1 s"}}));
  EXPECT_TRUE(status.ok()) << status.ToString();
}

TEST(FilesystemConnector, RefusesAtCreate) {
  struct Case {
    OptionMap options;
    const char* part;
  };
  const Case cases[] = {
      {{{"format", "csv"}}, "Missing required options are:\n\npath"},
      {{{"path", "/t"}}, "Missing required options are:\n\nformat"},
      {{{"path", "/t"}, {"format", "cvs"}}, "csv"},
      {{{"path", "/t"}, {"format", "csv"}, {"sink.paralelism", "1"}},
       "Did you mean 'sink.parallelism'?"},
      {{{"path", "/t"}, {"format", "csv"}, {"scan.parallelism", "0"}}, "It must be from 1"},
      {{{"path", "/t"}, {"format", "csv"}, {"csv.foo", "1"}}, "csv.foo"},
      {{{"path", "/t"}, {"format", "csv"}, {"json.ignore-parse-errors", "true"}},
       "json.ignore-parse-errors"},
      {{{"path", ""}, {"format", "csv"}}, "Can not create a Path from an empty string"},
      {{{"path", "/t"}, {"format", "csv"}, {"sink.partition-commit.trigger", "nope"}},
       "[[process-time, partition-time]]"},
      {{{"path", "/t"}, {"format", "csv"}, {"sink.partition-commit.delay", "soon"}},
       "sink.partition-commit.delay"},
      {{{"path", "/t"}, {"format", "csv"}, {"sink.partition-commit.policy.kind", "succes-file"}},
       "Did you mean 'success-file'?"},
      {{{"path", "/t"}, {"format", "csv"}, {"source.path.regex-pattern", "["}},
       "source.path.regex-pattern"},
  };
  for (const Case& c : cases) {
    const Status status = Validate(Table(c.options));
    ASSERT_FALSE(status.ok()) << c.part;
    EXPECT_NE(status.message().find(c.part), std::string::npos) << status.message();
  }
}

TEST(FilesystemConnector, PartitionKeys) {
  TableInfo twice = Table({{"path", "/t"}, {"format", "csv"}});
  twice.partition_keys = {"dt", "dt"};
  EXPECT_FALSE(Validate(twice).ok());
  TableInfo unknown = Table({{"path", "/t"}, {"format", "csv"}});
  unknown.partition_keys = {"q"};
  EXPECT_NE(Validate(unknown).message().find("Partition column 'q' not defined"),
            std::string::npos);
}

TEST(FilesystemConnector, EveryOptionHasItsDoc) {
  for (const OptionSpec& spec : kFilesystemConnector.options) {
    EXPECT_FALSE(spec.doc.empty()) << spec.key;
  }
}

}  // namespace
}  // namespace sluice::connectors
