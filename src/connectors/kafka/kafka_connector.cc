#include "connectors/kafka/kafka_connector.h"

#include <algorithm>
#include <numeric>

#include "connectors/kafka/kafka_options.h"
#include "connectors/kafka/kafka_sink.h"
#include "connectors/kafka/kafka_source.h"
#include "connectors/kafka/record_decoder.h"
#include "formats/all_formats.h"

namespace sluice::connectors {
namespace kafka {
namespace {

class KafkaTableSource final : public TableSource {
 public:
  explicit KafkaTableSource(ScanSetup setup) : setup_(std::move(setup)) {}

  bool bounded() const override { return setup_.table.is_bounded(); }
  RowKindSet row_kinds() const override { return setup_.table.value.format->read_kinds; }

  Status ApplyProjection(std::vector<int> columns,
                         std::vector<std::string> metadata_keys) override {
    for (const std::string& key : metadata_keys) {
      std::vector<MetadataColumn> known = KafkaMetadataColumns(true);
      const auto more = FormatMetadataColumns(setup_.table.value.format);
      known.insert(known.end(), more.begin(), more.end());
      if (std::none_of(known.begin(), known.end(),
                       [&](const auto& column) { return column.key == key; })) {
        return Status::Validation("Kafka tables have no metadata column '" + key + "'.");
      }
    }
    setup_.columns = {std::move(columns), std::move(metadata_keys)};
    return {};
  }

  Result<std::shared_ptr<runtime::Source>> MakeSource(
      const runtime::SourceRuntimeOptions& options) override {
    ScanSetup setup = setup_;
    setup.options = options;
    return MakeKafkaSource(std::move(setup));
  }

 private:
  ScanSetup setup_;
};

class KafkaTableSink final : public TableSink {
 public:
  explicit KafkaTableSink(SinkSetup setup) : setup_(std::move(setup)) {}

  RowKindSet accepted_kinds() const override { return setup_.table.value.format->write_kinds; }

  Result<SinkPlan> MakePlan(const SinkRequest& request) override {
    const KafkaTable& table = setup_.table;
    const auto has = [&](std::string_view key) {
      return std::find(request.metadata_keys.begin(), request.metadata_keys.end(), key) !=
             request.metadata_keys.end();
    };
    if (has("headers") && has("header-list")) {
      return Status::Validation(
          "The writable metadata is ambiguous: table " + table.identifier +
          " writes both 'headers' and 'header-list'. Declare one of them VIRTUAL.");
    }
    if (table.topics.size() != 1 && !has("topic")) {
      return Status::Validation(
          "Table " + table.identifier + " has several topics (" + table.TopicsText() +
          "): writing needs a column STRING METADATA FROM 'topic' that names one for each row.");
    }
    auto setup = std::make_shared<SinkSetup>(setup_);
    setup->metadata_keys = request.metadata_keys;
    SinkPlan plan;
    plan.warnings = table.warnings;
    SinkPlan::Stage stage;
    stage.parallelism = table.sink_parallelism.value_or(0);
    stage.operator_spec = {
        .id = request.operator_id,
        .name = "kafka sink " + table.TopicsText(),
        .make = [setup = std::shared_ptr<const SinkSetup>(std::move(setup))](int)
            -> Result<std::unique_ptr<runtime::Operator>> { return MakeKafkaSinkOperator(setup); },
    };
    plan.stages.push_back(std::move(stage));
    return plan;
  }

 private:
  const SinkSetup setup_;
};

std::vector<MetadataColumn> Metadata(const TableInfo& table) {
  const auto topic = table.options.find("topic");
  const bool several = topic == table.options.end() || SplitListOption(topic->second).size() > 1;
  // A format that does not exist is complained about where the options are checked.
  const formats::Format* format = nullptr;
  for (const std::string_view option : {"value.format", "format"}) {
    const auto name = table.options.find(option);
    if (name == table.options.end()) continue;
    const auto found = formats::FindFormat(name->second);
    if (found.ok()) format = *found;
    break;
  }
  std::vector<MetadataColumn> columns = FormatMetadataColumns(format);
  const auto own = KafkaMetadataColumns(several);
  columns.insert(columns.end(), own.begin(), own.end());
  return columns;
}

Status Validate(const TableInfo& table, const ConnectorContext& context) {
  return PlanKafkaTable(table, context, Use::kAny).status();
}

/// Settles who fetches.
Status ChooseFetch(ScanSetup* setup) {
  if (setup->table.fetch == FetchImplementation::kLibrdkafka) return {};
  std::string reason;
  SLUICE_ASSIGN_OR_RETURN(setup->native, fetch::ReadFetchSettings(setup->config.settings, &reason));
  if (setup->native) return {};
  if (setup->table.fetch == FetchImplementation::kNative) {
    return Status::Unsupported(
        "Option 'scan.fetch.implementation' = 'native': the Kafka client setting " + reason +
        " of table " + setup->table.identifier +
        " is honoured by librdkafka only. Use 'auto' or 'librdkafka', or leave "
        "that property out.");
  }
  setup->native_refusal = reason;
  return {};
}

Result<std::unique_ptr<TableSource>> MakeSource(const TableInfo& table,
                                                const ConnectorContext& context) {
  ScanSetup setup;
  SLUICE_ASSIGN_OR_RETURN(setup.table, PlanKafkaTable(table, context, Use::kRead));
  SLUICE_ASSIGN_OR_RETURN(setup.config,
                          MakeClientConfig(setup.table, context, ClientRole::kConsumer));
  SLUICE_RETURN_NOT_OK(ChooseFetch(&setup));
  setup.session_zone = context.session_zone;
  setup.columns.physical.resize(static_cast<size_t>(table.physical.column_count()));
  std::iota(setup.columns.physical.begin(), setup.columns.physical.end(), 0);
  return std::make_unique<KafkaTableSource>(std::move(setup));
}

Result<std::unique_ptr<TableSink>> MakeSink(const TableInfo& table,
                                            const ConnectorContext& context) {
  SinkSetup setup;
  SLUICE_ASSIGN_OR_RETURN(setup.table, PlanKafkaTable(table, context, Use::kWrite));
  SLUICE_ASSIGN_OR_RETURN(setup.config,
                          MakeClientConfig(setup.table, context, ClientRole::kProducer));
  setup.session_zone = context.session_zone;
  return std::make_unique<KafkaTableSink>(std::move(setup));
}

}  // namespace
}  // namespace kafka

const Connector kKafkaConnector{
    .name = "kafka",
    .doc = "Topics of Apache Kafka as tables: of rows, or of changes with a changelog format.",
    .options = kafka::KafkaOptions(),
    .metadata = &kafka::Metadata,
    .validate = &kafka::Validate,
    .make_source = &kafka::MakeSource,
    .make_sink = &kafka::MakeSink,
};

}  // namespace sluice::connectors
